// Restore: say what happened to a photo (or damage a clean one to try), choose methods, compare.

import * as api from "./client.js";
import { showCommandFor } from "./command.js";
import { chooseCrop } from "./crop.js";
import { save, toast } from "./dom.js";
import * as photos from "./photo.js";
import { dataUrl } from "./png.js";
import { buildRestore, drawAmount, drawCard, drawResults } from "./restore-view.js";

export class Restore {
  constructor(root, info) {
    Object.assign(this, { root, info, photo: null, crop: null, base: null, damaged: null, job: null, results: [] });
    this.kind = info.damages[0].name;
    this.amounts = Object.fromEntries(info.damages.map((d) => [d.name, d.amount?.default]));
    this.noise = 0;
    this.mine = false;
    this.methods = new Set([info.methods[0].name]);
    this.refresh = api.newest(() => this.damage());
    buildRestore(this);
  }

  say(text) {
    this.status.textContent = text;
  }
  get damageInfo() {
    return this.info.damages.find((d) => d.name === this.kind);
  }

  async open(file) {
    try {
      const { photo, settings } = await photos.open(file);
      if (settings?.kind === "restore" && photo) this.recall(settings);
      await this.take(photo || (await photos.put(file, file.name)));
    } catch (error) {
      toast(error.message, "bad");
    }
  }
  recall({ damage, noise = 0, degraded = false, method, steps }) {
    this.kind = damage.kind;
    if (damage.amount !== undefined) this.amounts[this.kind] = damage.amount;
    this.noise = this.noiseSlider.value = noise;
    if (steps) this.steps.value = steps;
    this.mine = degraded;
    this.whose.value = degraded ? "mine" : "try";
    this.methods = new Set([method]);
    for (const [name, input] of this.chips) input.checked = name === method;
    this.root.querySelector(`input[name=damage][value="${CSS.escape(this.kind)}"]`).checked = true;
    if (damage.mask) this.pending = damage.mask;
  }
  async take(photo) {
    this.cancel();
    const mine = (this.opening = {}); // of several photos that come at once the last is taken
    const crop = photos.defaultCrop(photo);
    const base = await api.ask("look", { photo: photo.id, crop });
    if (this.opening !== mine) return;
    Object.assign(this, { photo, crop, base, results: [] });
    this.welcome.hidden = true;
    this.desk.hidden = false;
    if (this.pending) {
      const bits = this.pending;
      this.pending = null;
      this.mask.fill((c) => {
        for (let i = 0; i < bits.length; ++i)
          if (bits[i] === "1") c.fillRect(i % this.info.size, Math.floor(i / this.info.size), 1, 1);
      });
    }
    this.changed();
  }
  async surprise() {
    this.cancel();
    this.opening = {};
    this.say("Drawing a face…");
    this.desk.hidden = false;
    this.welcome.hidden = true;
    const seed = crypto.getRandomValues(new Uint32Array(1))[0] % 1000000;
    try {
      this.job = await api.start(
        { kind: "sample", seed, steps: this.info.fields.sample.steps.default },
        {
          preview: ({ image }) => {
            this.compare.setAfter(null);
            this.compare.setBefore(dataUrl(image), "A face forming");
          },
          done: async (result) =>
            this.take({
              id: result.photo,
              name: `face-${seed}.png`,
              width: this.info.size,
              height: this.info.size,
              blob: await api.picture(result.job),
              command: result.command,
              file: result.file,
            }),
          failed: ({ error }) => this.drawnNothing(error),
        },
      );
    } catch (error) {
      this.drawnNothing(error.message);
    }
  }
  drawnNothing(why) {
    this.say("");
    toast(why, "bad");
    this.desk.hidden = !this.photo;
    this.welcome.hidden = Boolean(this.photo);
  }
  async recrop() {
    const crop = await chooseCrop(this.photo, this.crop);
    if (!crop) return;
    try {
      this.base = await api.ask("look", { photo: this.photo.id, crop });
      this.crop = crop;
      this.changed();
    } catch (error) {
      toast(error.message, "bad");
    }
  }

  // --- what happened
  wanted() {
    const damage = { kind: this.kind };
    if (this.damageInfo.amount) damage.amount = this.amounts[this.kind];
    if (this.kind === "holes") damage.mask = this.mask.bits();
    return { photo: this.photo.id, crop: this.crop, damage, noise: this.noise, degraded: this.mine };
  }
  changed() {
    this.cancel();
    this.results = [];
    drawAmount(this);
    const holes = this.kind === "holes";
    this.mask.canvas.hidden = !holes || !this.photo;
    drawResults(this);
    this.buttons();
    if (this.photo) this.refresh();
  }
  async damage() {
    if (!this.photo) return; // a face is still being drawn
    try {
      this.buttons();
      if (this.kind === "holes" && !this.mask.missing) {
        this.damaged = this.base.image;
        await this.show();
        return;
      }
      const { image } = await api.ask("damage", this.wanted());
      this.damaged = image;
      await this.show();
    } catch (error) {
      toast(error.message, "bad");
    }
  }
  async show() {
    if (this.results.length) return;
    this.compare.left.textContent = this.mine ? "The photo" : "The truth";
    const holes = this.kind === "holes";
    await this.compare.setBefore(dataUrl(this.base.image), "The photo");
    if (this.mine || holes) await this.compare.setAfter(null);
    else await this.compare.setAfter(dataUrl(this.damaged), "The damaged photo", "Damaged");
    drawResults(this);
  }
  applies(method) {
    return !(method.linear_only && this.damageInfo.linear === false);
  }
  buttons() {
    for (const method of this.info.methods) this.chips.get(method.name).disabled = !this.applies(method);
    const holesMissing = this.kind === "holes" && !this.mask.missing;
    this.go.disabled = !this.photo || !this.chosen().length || holesMissing;
    this.go.textContent = holesMissing
      ? "Paint a hole first"
      : this.chosen().length > 1
        ? `Restore by ${this.chosen().length} methods`
        : "Restore";
    this.cropButton.disabled =
      !this.photo || (this.photo.width === this.photo.height && this.photo.width <= this.info.size);
  }
  chosen() {
    return this.info.methods.filter((m) => this.methods.has(m.name) && this.applies(m));
  }

  // --- work: one job a method, side by side
  async run() {
    this.cancel();
    this.mask.canvas.hidden = true;
    const wanted = this.wanted();
    this.results = this.chosen().map((method) => ({ method, state: "waiting" }));
    this.stop.hidden = false;
    drawResults(this);
    const round = (this.round = {});
    const mine = (act) => (data) => (this.round === round ? act(data) : undefined);
    // All are queued at once and followed one after the other: a browser has few connections to a server.
    for (const entry of this.results) {
      try {
        entry.job = (
          await api.queue({ kind: "restore", ...wanted, method: entry.method.name, seed: 0, steps: this.steps.value })
        ).job;
        if (this.round !== round) {
          api.drop(entry.job);
          return;
        }
      } catch (error) {
        Object.assign(entry, { state: "failed", note: error.message });
      }
    }
    for (const entry of this.results) {
      if (this.round !== round) return;
      if (entry.state === "waiting") await this.follow(entry, mine);
      if (this.round === round) this.finished();
    }
  }
  follow(entry, mine) {
    const name = entry.method.label || entry.method.name;
    return new Promise((over) => {
      this.job = api.attach(entry.job, {
        queued: mine(({ place }) => {
          if (place) {
            entry.note = `place ${place}`;
            drawCard(this, entry);
          }
        }),
        progress: mine(({ done, total }) => {
          this.say(`${name}: step ${done} of ${total}`);
          this.compare.setProgress(total ? done / total : 0);
        }),
        preview: mine(({ image }) => {
          entry.url = dataUrl(image);
          entry.note = "forming";
          drawCard(this, entry);
        }),
        done: mine(async (result) => {
          try {
            const blob = await api.picture(result.job);
            Object.assign(entry, { state: "done", note: "", result, blob, url: URL.createObjectURL(blob) });
          } catch (error) {
            Object.assign(entry, { state: "failed", note: error.message });
          }
          over();
        }),
        failed: mine(({ error }) => {
          Object.assign(entry, { state: "failed", note: error });
          over();
        }),
        cancelled: () => over(),
      });
    });
  }
  finished() {
    drawResults(this);
    const done = this.results.filter((r) => r.state === "done");
    if (done.length && !this.chosenResult) this.choose(done[0]);
    if (this.results.some((r) => r.state === "waiting")) return;
    this.stop.hidden = true;
    this.compare.setProgress(null);
    this.say(done.length ? "Done" : "");
  }
  async choose(entry) {
    this.chosenResult = entry;
    this.compare.left.textContent = "Damaged";
    await this.compare.setBefore(dataUrl(this.damaged || this.base.image), "The damaged photo");
    await this.compare.setAfter(
      entry.url,
      `Restored by ${entry.method.name}`,
      entry.method.label || entry.method.name,
    );
  }
  cancel() {
    this.round = null;
    this.chosenResult = null;
    this.job?.cancel();
    this.job = null;
    for (const entry of this.results) if (entry.state === "waiting" && entry.job) api.drop(entry.job);
    for (const entry of this.results)
      if (entry.state === "waiting") Object.assign(entry, { state: "stopped", note: "stopped" });
    this.stop.hidden = true;
    this.compare.setProgress(null);
    this.say("");
    if (this.kind === "holes" && this.photo) this.mask.canvas.hidden = false;
    drawResults(this);
  }

  // --- out
  async command(entry) {
    const holes = this.kind === "holes";
    if (holes) save(await this.mask.png(), "mask.png");
    showCommandFor(entry.result, this.photo, this.base.image, holes ? ["mask.png"] : []);
  }
}
