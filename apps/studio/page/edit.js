// Edit: a photo, forty sliders, and the picture as it forms.

import * as api from "./client.js";
import { showCommand, showCommandFor } from "./command.js";
import { chooseCrop } from "./crop.js";
import { save, seconds, toast } from "./dom.js";
import { buildEdit, drawEdit, drawResult } from "./edit-view.js";
import { History } from "./history.js";
import * as photos from "./photo.js";
import { dataUrl } from "./png.js";

const REMEMBERED = "spnn-edit";
const same = (a, b) => {
  const names = Object.keys(a);
  return names.length === Object.keys(b).length && names.every((name) => a[name] === b[name]);
};
const sameWork = (s) => JSON.stringify([s.photo?.id, s.crop, s.wishes, s.keep, s.fast, s.steps]);

export class Edit {
  constructor(root, info) {
    Object.assign(this, { root, info, job: null, variants: new Map() });
    const field = info.fields.edit;
    this.defaults = {
      wishes: {},
      keep: field.keep.default,
      fast: field.fast.default,
      seed: field.seed.default,
      steps: field.steps.default,
    };
    this.state = { photo: null, crop: null, base: null, result: null, ...this.defaults };
    this.history = new History((snapshot) => this.go(snapshot));
    this.live = api.newest((wishes) => this.preview(wishes));
    buildEdit(this, field);
    this.recall();
  }

  draw() {
    drawEdit(this);
  }
  drawResult() {
    return drawResult(this);
  }
  // Do the sliders say what is worked on? Not while one is being dragged.
  get settled() {
    return same(this.wishes.wishes, this.state.wishes);
  }

  number(input, { min, max, default: otherwise }) {
    const value = Math.round(Number(input.value));
    const fine = Number.isFinite(value) ? Math.max(min, Math.min(max, value)) : otherwise;
    input.value = fine;
    return fine;
  }

  // --- photos
  async open(file) {
    const mine = (this.opening = {}); // of several photos that come at once the last is taken
    try {
      this.say("Reading the photo…");
      const { photo, settings, saved } = await photos.open(file);
      if (this.opening !== mine) return;
      if (!settings) {
        await this.take(photo);
      } else if (settings.kind !== "edit") {
        toast("This picture was not made by an edit: it is taken as a photo");
        await this.take(await photos.put(file, file.name));
      } else {
        const { wishes = {}, keep, fast, seed, steps } = settings;
        if (await this.take(photo, { wishes, keep, fast, seed, steps }, saved)) toast("The picture and its settings are back");
      }
    } catch (error) {
      if (this.opening === mine) this.say("");
      toast(error.message, "bad");
    }
  }

  async take(photo, settings = {}, saved = null) {
    this.cancel();
    const mine = (this.opening = {});
    const crop = photos.defaultCrop(photo);
    const base = await api.ask("look", { photo: photo.id, crop });
    let result = null;
    if (saved) {
      const said = await photos
        .put(saved, "saved.png")
        .then((p) => api.ask("look", { photo: p.id, crop: photos.defaultCrop(p) }));
      result = { url: URL.createObjectURL(saved), blob: saved, g: said.g, judge: said.judge, command: null };
    }
    if (this.opening !== mine) return false;
    this.cancel(); // what was begun with the photo before, while this one was looked at
    this.state = { ...this.defaults, ...settings, photo, crop, base, result };
    this.history.push({ ...this.state });
    this.draw();
    this.say("");
    this.remember();
    if (saved) this.run(); // the same bits again, now with their command and variants
    return true;
  }

  async surprise() {
    this.opening = {};
    this.cancel();
    const seed = crypto.getRandomValues(new Uint32Array(1))[0] % 1000000;
    this.start(
      { kind: "sample", seed, steps: this.info.fields.sample.steps.default },
      {
        preview: ({ image }) => {
          this.halfDrawn = true;
          this.desk.hidden = false;
          this.welcome.hidden = true;
          this.compare.setAfter(null);
          this.compare.setBefore(dataUrl(image), "A face forming");
        },
        done: async (result) => {
          const blob = await api.picture(result.job);
          this.halfDrawn = false;
          const taken = await this.take({
            id: result.photo,
            name: `face-${seed}.png`,
            width: this.info.size,
            height: this.info.size,
            blob,
            command: result.command,
            file: result.file,
          });
          if (taken) this.say(`A face that does not exist, from seed ${seed}`);
        },
      },
    );
  }

  async crop() {
    const crop = await chooseCrop(this.state.photo, this.state.crop);
    if (!crop || JSON.stringify(crop) === JSON.stringify(this.state.crop)) return;
    try {
      this.change({ crop, base: await api.ask("look", { photo: this.state.photo.id, crop }) });
    } catch (error) {
      toast(error.message, "bad");
    }
  }

  // --- changes and history
  change(part) {
    this.state = { ...this.state, ...part, result: null };
    this.history.push({ ...this.state });
    this.draw();
    this.run();
  }
  go(snapshot) {
    this.cancel();
    this.state = { ...snapshot, wishes: { ...snapshot.wishes } };
    this.draw();
    if (!this.state.result && Object.keys(this.state.wishes).length) this.run();
    this.remember();
  }

  // --- work
  async preview(wishes) {
    if (!this.state.photo || !this.info.live) return;
    const { photo, crop, keep } = this.state;
    try {
      const { image } = await api.ask("live", { photo: photo.id, crop, wishes, keep });
      // The answer may come after the sliders moved on, or after what it is a preview of.
      if (this.state.photo !== photo || !same(wishes, this.wishes.wishes)) return;
      if ((this.forming || this.state.result) && this.settled) return;
      await this.compare.setAfter(dataUrl(image), "The wish in one pass", "Live");
    } catch {
      /* the job that follows will say what is wrong */
    }
  }
  form({ image }) {
    if (!this.settled) return; // a slider is being dragged, and its own preview is shown
    this.forming = true;
    this.compare.setAfter(dataUrl(image), "The result as it forms", "Forming");
  }

  request(state = this.state) {
    const { photo, crop, wishes, keep, fast, seed, steps } = state;
    return { kind: "edit", photo: photo.id, crop, wishes, keep, fast, seed, steps };
  }

  async run() {
    this.cancel();
    if (!Object.keys(this.state.wishes).length) {
      this.say("");
      this.remember();
      return;
    }
    const snapshot = this.history.now;
    await this.start(this.request(), {
      preview: (step) => this.form(step),
      done: async (result) => this.finish(snapshot, result),
    });
  }

  async finish(snapshot, result) {
    const blob = await api.picture(result.job);
    const got = { ...result, blob, url: URL.createObjectURL(blob) };
    snapshot.result = got;
    this.keepVariant(snapshot);
    if (this.history.now !== snapshot) return;
    this.state.result = got;
    await this.drawResult();
    if (this.history.now !== snapshot) return;
    this.say(`Done in ${seconds(result.seconds)}`);
    this.remember();
  }

  async start(wanted, on) {
    const mine = (this.token = {});
    const current = (act) => (data) => (this.token === mine ? act(data) : undefined);
    this.forming = false;
    this.stop.hidden = false;
    this.compare.setProgress(0);
    this.say("Starting…");
    const handlers = this.handlers(on, current);
    try {
      const job = await api.start(wanted, handlers);
      if (this.token !== mine) {
        job.cancel();
        return;
      }
      this.job = job;
      this.remember();
    } catch (error) {
      if (this.token !== mine) return;
      this.idle();
      this.say("");
      toast(error.message, "bad");
    }
  }
  handlers(on, current) {
    return {
      queued: current(({ place }) => {
        if (place > 0) this.say(`Waiting: place ${place} in the queue`);
      }),
      started: current(() => this.say("Working…")),
      progress: current(({ done, total }) => {
        this.compare.setProgress(total ? done / total : 0);
        this.say(`Step ${done} of ${total}`);
      }),
      preview: current(on.preview || (() => {})),
      done: current(async (result) => {
        this.idle();
        try {
          await on.done(result);
        } catch (error) {
          toast(error.message, "bad");
        }
      }),
      failed: current(({ error }) => {
        this.idle();
        this.say("");
        toast(error, "bad");
        this.undrawn();
      }),
      cancelled: current(() => {
        this.idle();
        this.say("Stopped");
      }),
    };
  }
  cancel() {
    const job = this.job;
    this.token = null;
    this.idle();
    if (job && !job.over) {
      job.cancel();
      this.say("Stopped");
    }
    this.undrawn();
  }
  // A face that was left half drawn is no photo: what was there before is shown again.
  undrawn() {
    if (!this.halfDrawn) return;
    this.halfDrawn = false;
    this.draw();
  }
  idle() {
    this.job = null;
    this.stop.hidden = true;
    this.compare.setProgress(null);
  }

  // --- variants
  keepVariant(snapshot) {
    const key = sameWork(snapshot);
    if (!this.variants.has(key)) this.variants.set(key, new Map());
    this.variants.get(key).set(snapshot.seed, snapshot.result);
    if (this.variants.size > 30) this.variants.delete(this.variants.keys().next().value);
  }
  sameWork() {
    return sameWork(this.state);
  }
  more() {
    const seeds = [...(this.variants.get(sameWork(this.state))?.keys() || [this.state.seed])];
    this.change({ seed: Math.max(...seeds) + 1 });
  }
  // --- out
  // A face that was drawn here is a result too, as long as nothing is asked of it.
  get drawn() {
    return Boolean(this.state.photo?.command) && !Object.keys(this.state.wishes).length;
  }
  save() {
    const { result, photo, wishes } = this.state;
    const name = photo.name.replace(/\.\w+$/, "");
    const wished = Object.keys(wishes).join("-").toLowerCase() || "edit";
    if (result) save(result.blob, `${name.slice(0, 60)}-${wished.slice(0, 60)}.png`);
    else if (this.drawn) save(photo.blob, photo.name);
  }
  command() {
    const { result, photo, base } = this.state;
    if (result) showCommandFor(result, photo, base.image);
    else if (this.drawn) showCommand(photo.command, `This draws the same face, bit for bit, into ${photo.file}.`);
  }

  say(text) {
    this.status.textContent = text;
  }

  // --- a reload in the middle of a job finds its way back
  remember() {
    const { photo, crop, wishes, keep, fast, seed, steps } = this.state;
    if (!photo) return;
    const { blob, ...known } = photo;
    sessionStorage.setItem(
      REMEMBERED,
      JSON.stringify({
        photo: known,
        crop,
        wishes,
        keep,
        fast,
        seed,
        steps,
        job: this.job?.id,
        last: this.state.result?.job,
      }),
    );
  }
  async recall() {
    let kept;
    try {
      kept = JSON.parse(sessionStorage.getItem(REMEMBERED));
    } catch {
      return;
    }
    if (!kept?.photo) return;
    const opening = (this.opening = {});
    const { job, last, ...state } = kept;
    try {
      const base = await api.ask("look", { photo: state.photo.id, crop: state.crop });
      state.photo.blob = await api.photo(state.photo.id);
      if (this.opening !== opening) return; // another photo came meanwhile
      this.state = { ...this.state, ...state, base, result: null };
      this.history.push({ ...this.state });
      this.draw();
      const id = job || last;
      if (!id) return;
      const mine = (this.token = {});
      const snapshot = this.history.now;
      this.stop.hidden = false;
      const current = (act) => (data) => (this.token === mine ? act(data) : undefined);
      const on = { preview: (step) => this.form(step), done: (result) => this.finish(snapshot, result) };
      // A job that is not known any more is asked for again.
      this.job = api.attach(id, { ...this.handlers(on, current), failed: current(() => this.run()) });
    } catch {
      sessionStorage.removeItem(REMEMBERED);
    }
  }
}
