// Understand: the map itself. g†(y) while the sliders move, range and null space of a photo, back-projection at λ, the residuals.

import * as api from "./client.js";
import { h, icon, icons, seconds, segments, show, slider, toast } from "./dom.js";
import * as photos from "./photo.js";
import { dataUrl } from "./png.js";
import { Wishes } from "./wishes.js";

export class Understand {
  constructor(root, info) {
    Object.assign(this, {
      root,
      info,
      photo: null,
      crop: null,
      values: {},
      inverse: info.inverses[0],
      lambda: 1,
      frames: [],
    });
    this.moved = api.newest(() => this.pinv());
    this.project = api.newest(() => this.nlbp());
    this.build();
    this.moved();
  }

  picture(title, text) {
    const img = h("img", { alt: title });
    const caption = h("span", {}, text);
    return {
      img,
      caption,
      element: h("figure", {}, h("div", { class: "pic" }, img), h("figcaption", {}, h("b", {}, title), caption)),
    };
  }

  build() {
    this.made = h("img", { alt: "g†(y): the picture that the pseudo-inverse makes of the sliders" });
    this.stage = h("div", { class: "stage" }, this.made);
    this.rate = h("span", { class: "number" }, "");
    this.exact = h("span", { class: "number" }, "");
    const left = h(
      "div",
      { class: "easel" },
      h("div", { class: "stage-holder" }, this.stage),
      h("div", { class: "status" }, this.exact, this.rate),
      h(
        "p",
        { class: "soft" },
        "Forty numbers go in, a picture comes out in one pass, and the network says exactly these forty numbers of it. No diffusion here: this is the bare pseudo-inverse g†.",
      ),
    );
    const statistics = new Map(this.info.attributes.map((a) => [a.name, a]));
    this.sliders = new Wishes({
      attributes: this.info.attributes,
      title: "y, the forty outputs",
      open: 2,
      hint: "In standard deviations from the mean of the training images. Double click brings one back.",
      range: { min: -4, max: 4, step: 0.05, format: (v) => (v > 0 ? `+${v.toFixed(1)}` : v.toFixed(1)) },
      onInput: (wishes) => this.set(wishes, statistics),
      onChange: (wishes) => this.set(wishes, statistics),
    });
    this.sliders.setOwn(Object.fromEntries(this.info.attributes.map((a) => [a.name, 0])));
    this.inverses = segments(
      "inverse",
      "Which pseudo-inverse",
      this.info.inverses.map((name) => [name, name]),
      this.inverse,
      (name) => {
        this.inverse = name;
        this.moved();
        this.split();
        this.project();
      },
    );
    const panel = h(
      "div",
      { class: "panel" },
      h(
        "div",
        { class: "card stack tight" },
        h("h2", {}, "Pseudo-inverse"),
        h(
          "p",
          { class: "small soft" },
          "Which missing part z completes y: what a network learned (learned, anchored), or that of a grey picture (origin).",
        ),
        this.inverses.element,
      ),
      this.sliders.element,
    );
    this.root.append(h("div", { class: "desk" }, left, panel));

    this.source = this.picture("Photo x", "…");
    this.range = this.picture("Range: g†(g(x))", "all that the network can say of it");
    this.null = this.picture("Null space: x − g†(g(x))", "what it throws away, around grey");
    this.again = this.picture("x", "the photo");
    this.projected = this.picture("x′ on the way to y", "…");
    this.lambdaSlider = slider({
      label: "λ",
      min: 0,
      max: 1,
      step: 0.01,
      value: 1,
      format: (v) => v.toFixed(2),
      onInput: (v) => {
        this.lambda = v;
        this.project();
      },
      help: "0 is the photo, 1 the nearest picture of which the network says y: the sliders above, where they were moved.",
    });
    this.choose = h(
      "div",
      { class: "row" },
      h(
        "button",
        { type: "button", onclick: () => photos.chooseFile((f) => this.open(f)) },
        icon(icons.image),
        "Choose a photo",
      ),
      h("button", { type: "button", onclick: () => this.surprise() }, icon(icons.dice), "Surprise me"),
    );
    this.parts = h(
      "div",
      { class: "triple", hidden: true },
      this.source.element,
      this.range.element,
      this.null.element,
    );
    this.back = h(
      "div",
      { class: "card stack", hidden: true },
      h("h2", {}, "Non-linear back-projection"),
      h(
        "div",
        { class: "triple two" },
        this.again.element,
        this.projected.element,
        h("div", { class: "stack" }, this.lambdaSlider.element, (this.told = h("p", { class: "small soft" }))),
      ),
    );
    this.table = h("div", { class: "soft small" }, "Not measured yet.");
    this.verifyButton = h("button", { type: "button", onclick: () => this.verify() }, "Measure");
    this.root.append(
      h(
        "div",
        { class: "whole" },
        h(
          "div",
          { class: "card stack" },
          h("div", { class: "row between" }, h("h2", {}, "Range and null space of a photo"), this.choose),
          this.parts,
        ),
        this.back,
        h(
          "div",
          { class: "card stack" },
          h(
            "div",
            { class: "row between" },
            h(
              "div",
              {},
              h("h2", {}, "Does it hold?"),
              h(
                "p",
                { class: "small soft" },
                "The Penrose identities, the round trip and back-projection, on random pictures.",
              ),
            ),
            this.verifyButton,
          ),
          this.table,
        ),
      ),
    );
  }

  set(wishes, statistics) {
    this.values = Object.fromEntries(
      Object.entries(wishes).map(([name, v]) => [name, statistics.get(name).mean + v * statistics.get(name).sigma]),
    );
    this.moved();
    if (this.photo) this.project();
  }

  async pinv() {
    try {
      const began = performance.now();
      const { image, consistency } = await api.ask("pinv", { values: this.values, inverse: this.inverse });
      await show(this.made, dataUrl(image));
      const now = performance.now();
      this.frames = [...this.frames.filter((t) => now - t < 1000), now];
      this.exact.textContent = `max |g(g†(y)) − y| = ${consistency.toExponential(1)}`;
      this.rate.textContent =
        this.frames.length > 2
          ? `${this.frames.length} pictures in the last second`
          : `${Math.round(now - began)} ms`;
      this.rate.dataset.milliseconds = (now - began).toFixed(1);
    } catch (error) {
      toast(error.message, "bad");
    }
  }

  // --- a photo
  async open(file) {
    try {
      const { photo } = await photos.open(file);
      await this.take(photo || (await photos.put(file, file.name)));
    } catch (error) {
      toast(error.message, "bad");
    }
  }
  async surprise() {
    const seed = crypto.getRandomValues(new Uint32Array(1))[0] % 1000000;
    this.parts.hidden = this.back.hidden = false; // its place is there before it is
    try {
      await api.start(
        { kind: "sample", seed, steps: this.info.fields.sample.steps.default },
        {
          preview: ({ image }) => show(this.source.img, dataUrl(image)),
          done: (result) => this.take({ id: result.photo, width: this.info.size, height: this.info.size }),
          failed: ({ error }) => toast(error, "bad"),
        },
      );
    } catch (error) {
      toast(error.message, "bad");
    }
  }
  async take(photo) {
    this.photo = photo;
    this.crop = photos.defaultCrop(photo);
    this.parts.hidden = this.back.hidden = false;
    await this.split();
    this.project();
  }
  async split() {
    const { photo, inverse } = this;
    if (!photo) return;
    try {
      const split = await api.ask("split", { photo: photo.id, crop: this.crop, inverse });
      if (this.photo !== photo || this.inverse !== inverse) return; // another was chosen meanwhile
      await Promise.all([
        show(this.source.img, dataUrl(split.image)),
        show(this.again.img, dataUrl(split.image)),
        show(this.range.img, dataUrl(split.range)),
        show(this.null.img, dataUrl(split.null)),
      ]);
      this.source.caption.textContent = `its range is ${split.apart.toFixed(2)} away (root mean square, of −1 to 1)`;
    } catch (error) {
      toast(error.message, "bad");
    }
  }
  async nlbp() {
    if (!this.photo) return;
    try {
      const {
        image,
        moved,
        consistency,
        seconds: took,
      } = await api.ask("project", {
        photo: this.photo.id,
        crop: this.crop,
        values: this.values,
        lambda: this.lambda,
        inverse: this.inverse,
      });
      await show(this.projected.img, dataUrl(image));
      this.projected.caption.textContent = `moved by ${moved.toFixed(3)} (root mean square, of −1 to 1)`;
      this.told.textContent = `max |g(x′) − ((1 − λ) g(x) + λ y)| = ${consistency.toExponential(1)}, in ${seconds(took)}`;
    } catch (error) {
      toast(error.message, "bad");
    }
  }
  async verify() {
    this.verifyButton.disabled = true;
    try {
      const { network, residuals, passed } = await api.ask("verify", {});
      const head = h(
        "tr",
        {},
        h("th", { scope: "col" }, "Identity"),
        h("th", { scope: "col", class: "number" }, "Residual"),
        h("th", { scope: "col", class: "number" }, "Allowed"),
        h("th", { scope: "col", class: "number" }, ""),
      );
      const rows = residuals.map((r) =>
        h(
          "tr",
          {},
          h("td", {}, r.name),
          h("td", { class: "number" }, r.relative.toExponential(1)),
          h("td", { class: "number" }, r.tolerance.toExponential(0)),
          h("td", { class: `number ${r.passed ? "ok" : "not"}` }, r.passed ? "holds" : "fails"),
        ),
      );
      this.table.className = "stack tight";
      this.table.replaceChildren(
        h("p", { class: passed ? "ok" : "not" }, passed ? "All identities hold." : "Not all identities hold."),
        h("p", { class: "small soft" }, network),
        h("table", {}, h("thead", {}, head), h("tbody", {}, rows)),
      );
    } catch (error) {
      toast(error.message, "bad");
    }
    this.verifyButton.disabled = false;
  }
}
