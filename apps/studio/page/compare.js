// The picture: before and after, by a line that can be dragged, by holding, or side by side.

import { h, icon, icons, segments, show } from "./dom.js";

export class Compare {
  constructor({ onMode } = {}) {
    this.before = h("img", { class: "before", alt: "", draggable: "false" });
    this.after = h("img", { class: "after", alt: "", draggable: "false", hidden: true });
    this.slide = h("input", {
      class: "slide",
      type: "range",
      min: 0,
      max: 100,
      step: 0.5,
      value: 50,
      "aria-label": "Before and after: how much of the photo is shown",
      hidden: true,
    });
    this.line = h("div", { class: "line", hidden: true });
    this.left = h("span", { class: "tag left", hidden: true }, "Before");
    this.right = h("span", { class: "tag right", hidden: true }, "After");
    this.bar = h("i");
    this.progress = h(
      "div",
      { class: "progress", role: "progressbar", "aria-label": "Progress", "aria-valuemin": 0, "aria-valuemax": 100 },
      this.bar,
    );
    this.element = h(
      "div",
      { class: "stage", "data-mode": "slide" },
      this.before,
      this.after,
      this.slide,
      this.line,
      this.left,
      this.right,
      this.progress,
    );
    this.slide.addEventListener("input", () => this.cut(Number(this.slide.value)));
    // The line follows the pointer wherever it is pressed, not only the range's invisible thumb.
    const follow = (event) => {
      const box = this.element.getBoundingClientRect();
      this.slide.value = Math.max(0, Math.min(100, (100 * (event.clientX - box.left)) / box.width));
      this.cut(Number(this.slide.value));
    };
    this.slide.addEventListener("pointerdown", (event) => {
      this.slide.setPointerCapture(event.pointerId);
      follow(event);
    });
    this.slide.addEventListener("pointermove", (event) => {
      if (event.buttons & 1) follow(event);
    });
    this.mode = "slide";
    this.modes = segments(
      "mode",
      "How before and after are shown",
      [
        ["slide", "Slide"],
        ["side", "Side by side"],
        ["after", "Result"],
      ],
      "slide",
      (mode) => {
        this.setMode(mode);
        onMode?.(mode);
      },
    );
    this.hold = h(
      "button",
      {
        type: "button",
        class: "quiet icon",
        title: "Hold to see the photo",
        "aria-label": "Hold to see the photo before",
      },
      icon(icons.eye),
    );
    const held = (on) => () => this.element.classList.toggle("held", on);
    this.hold.addEventListener("pointerdown", held(true));
    this.hold.addEventListener("keydown", (event) => {
      if (event.key === " " || event.key === "Enter") held(true)();
    });
    for (const end of ["pointerup", "pointerleave", "pointercancel", "keyup", "blur"])
      this.hold.addEventListener(end, held(false));
    this.enable(false);
  }
  cut(percent) {
    this.element.style.setProperty("--cut", `${percent}%`);
  }
  setMode(mode) {
    this.mode = mode;
    this.modes.value = mode;
    this.element.dataset.mode = this.two ? mode : "before";
  }
  enable(two) {
    this.two = two;
    for (const part of [this.after, this.slide, this.line, this.left, this.right]) part.hidden = !two;
    this.hold.disabled = !two;
    for (const input of this.modes.element.querySelectorAll("input")) input.disabled = !two;
    this.element.dataset.mode = two ? this.mode : "before";
  }
  async setBefore(url, alt) {
    await show(this.before, url, alt);
  }
  async setAfter(url, alt, label = "After") {
    this.right.textContent = label;
    if (!url) {
      this.enable(false);
      await show(this.after, null);
      return;
    }
    await show(this.after, url, alt);
    if (!this.two && this.after.dataset.url) this.enable(true);
  }
  setProgress(part) {
    this.progress.classList.toggle("on", part !== null);
    this.bar.style.setProperty("--done", part ?? 0);
    this.progress.setAttribute("aria-valuenow", Math.round(100 * (part ?? 0)));
  }
}
