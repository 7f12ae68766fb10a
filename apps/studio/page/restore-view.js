// What the place Restore looks like: its parts, and a card for each result.

import { Compare } from "./compare.js";
import { h, icon, icons, save, seconds, segments, slider } from "./dom.js";
import { Mask } from "./mask.js";
import * as photos from "./photo.js";
import { dataUrl } from "./png.js";

const ICONS = {
  small: ["M4 4h16v16H4z", "M4 14h6v6"],
  blur: ["M12 4v16", "M8 7v10", "M16 7v10", "M4 10v4", "M20 10v4"],
  holes: ["M4 4h16v16H4z", "M8 13c1-4 3 2 5-2s3 1 3 1"],
  grey: ["M12 3a9 9 0 1 0 0 18z", "M12 3a9 9 0 0 1 0 18"],
  jpeg: ["M4 4h7v7H4z", "M13 4h7v7h-7z", "M4 13h7v7H4z", "M13 13h7v7h-7z"],
  noise: [
    "M5 6h.01",
    "M10 4h.01",
    "M15 8h.01",
    "M19 5h.01",
    "M7 12h.01",
    "M12 11h.01",
    "M18 13h.01",
    "M5 18h.01",
    "M11 17h.01",
    "M16 19h.01",
    "M20 18h.01",
  ],
};

export function buildRestore(place) {
  place.welcome = photos.empty({
    title: "Bring a photo back",
    onFile: (file) => place.open(file),
    onSurprise: () => place.surprise(),
    text: "Small, blurred, with holes, without colour, or full of noise: say what happened to it, and see what several methods make of it.",
  });
  place.compare = new Compare({
    onMode: (mode) => {
      place.left.dataset.mode = mode;
    },
  });
  place.mask = new Mask(place.info.size, () => place.refresh());
  place.compare.element.append(place.mask.canvas);
  place.status = h("span", { role: "status", "aria-live": "polite" });
  place.stop = h(
    "button",
    { type: "button", class: "quiet", hidden: true, onclick: () => place.cancel() },
    icon(icons.stop),
    "Stop",
  );
  place.left = h(
    "div",
    { class: "easel", "data-mode": "slide" },
    h("div", { class: "stage-holder" }, place.compare.element),
    h("div", { class: "status" }, place.status, place.stop),
    h("div", { class: "tools" }, h("div", { class: "row" }, place.compare.hold), place.compare.modes.element),
  );

  const kinds = h(
    "fieldset",
    { class: "damage" },
    h("legend", { class: "hidden-visually" }, "What happened to the photo"),
  );
  for (const damage of place.info.damages) {
    const input = h("input", {
      type: "radio",
      name: "damage",
      value: damage.name,
      checked: damage.name === place.kind,
      disabled: damage.available === false,
      "aria-label": damage.label,
      onchange: () => {
        place.kind = damage.name;
        place.changed();
      },
    });
    kinds.append(h("label", {}, input, h("span", {}, icon(ICONS[damage.name] || ICONS.small), damage.label)));
  }
  place.amount = h("div");
  place.noiseSlider = slider({
    label: "Noise",
    min: 0,
    max: place.info.fields.restore.noise.max,
    step: 0.01,
    value: 0,
    format: (v) => (v ? `σ ${v.toFixed(2)}` : "none"),
    onInput: (v) => {
      place.noise = v;
      place.refresh();
    },
    onChange: (v) => {
      place.noise = v;
      place.changed();
    },
  });
  place.whose = segments(
    "whose",
    "Is the photo damaged already?",
    [
      ["try", "Damage it to try"],
      ["mine", "It is damaged"],
    ],
    "try",
    (v) => {
      place.mine = v === "mine";
      place.changed();
    },
  );
  const chips = h("fieldset", { class: "chips" }, h("legend", { class: "hidden-visually" }, "Methods"));
  place.chips = new Map();
  for (const method of place.info.methods) {
    const input = h("input", {
      type: "checkbox",
      value: method.name,
      checked: place.methods.has(method.name),
      "aria-label": `${method.name}: ${method.what}`,
      onchange: () => {
        if (input.checked) place.methods.add(method.name);
        else place.methods.delete(method.name);
        place.buttons();
      },
    });
    place.chips.set(method.name, input);
    chips.append(h("label", { title: method.what }, input, h("span", {}, method.label || method.name)));
  }
  place.go = h("button", { type: "button", class: "main", onclick: () => place.run() }, "Restore");
  place.steps = slider({
    label: "Steps",
    min: place.info.fields.restore.steps.min,
    max: Math.min(200, place.info.fields.restore.steps.max),
    step: 1,
    value: place.info.fields.restore.steps.default,
  });
  const panel = h(
    "div",
    { class: "panel" },
    h(
      "div",
      { class: "row" },
      h(
        "button",
        { type: "button", onclick: () => photos.chooseFile((f) => place.open(f)) },
        icon(icons.image),
        "Photo",
      ),
      h("button", { type: "button", onclick: () => place.surprise() }, icon(icons.dice), "Surprise me"),
      (place.cropButton = h("button", { type: "button", onclick: () => place.recrop() }, icon(icons.crop), "Crop")),
    ),
    h(
      "div",
      { class: "card stack" },
      h("div", { class: "row between" }, h("h2", {}, "What happened"), place.whose.element),
      kinds,
      place.amount,
      place.noiseSlider.element,
    ),
    h("div", { class: "card stack" }, h("h2", {}, "Methods"), chips, place.steps.element, place.go),
  );
  place.grid = h("div", { class: "results" });
  place.below = h("div", { class: "whole", hidden: true }, h("h2", {}, "Side by side"), place.grid);
  place.desk = h("div", { class: "desk", hidden: true }, place.left, panel);
  place.root.append(place.welcome, place.desk, place.below);
}

export function drawAmount(place) {
  const { amount } = place.damageInfo;
  place.amount.replaceChildren();
  if (place.kind === "holes") {
    const brush = slider({
      label: "Brush",
      min: 1,
      max: Math.round(place.info.size / 3),
      step: 1,
      value: place.mask.brush,
      format: (v) => `${v} px`,
      onInput: (v) => {
        place.mask.brush = v;
      },
    });
    const tool = segments(
      "brush",
      "Paint or erase",
      [
        ["paint", "Paint"],
        ["erase", "Erase"],
      ],
      place.mask.erase ? "erase" : "paint",
      (v) => {
        place.mask.erase = v === "erase";
      },
    );
    place.amount.append(
      h(
        "div",
        { class: "stack tight" },
        h("p", { class: "small soft" }, "Paint over what is missing, on the picture."),
        brush.element,
        h(
          "div",
          { class: "row between" },
          tool.element,
          h("button", { type: "button", class: "quiet", onclick: () => place.mask.clear() }, "Clear"),
        ),
      ),
    );
  } else if (amount) {
    place.amount.append(
      slider({
        label: amount.label,
        min: amount.min,
        max: amount.max,
        step: amount.step,
        value: place.amounts[place.kind],
        format: (v) => `${amount.prefix || ""}${v}${amount.suffix || ""}`,
        onInput: (v) => {
          place.amounts[place.kind] = v;
          place.refresh();
        },
        onChange: (v) => {
          place.amounts[place.kind] = v;
          place.changed();
        },
      }).element,
    );
  }
}

// The truth, what is left of it, and what each method made.
export function drawResults(place) {
  place.below.hidden = !place.results.length;
  if (!place.results.length) {
    place.grid.replaceChildren();
    return;
  }
  const fixed = [];
  if (!place.mine) fixed.push(still("The truth", place.base.image));
  if (place.damaged) fixed.push(still(place.mine ? "The photo" : "Damaged", place.damaged));
  for (const entry of place.results) drawCard(place, entry); // made once: a picture that is shown does not blink
  place.grid.replaceChildren(...fixed, ...place.results.map((entry) => entry.element));
}

function still(name, image) {
  return h(
    "div",
    { class: "result" },
    h("div", { class: "pic" }, h("img", { src: dataUrl(image), alt: name })),
    h("h3", {}, name),
    h("div", { class: "figures" }),
  );
}

export function drawCard(place, entry) {
  const best = Math.max(...place.results.map((r) => r.result?.psnr ?? -1));
  if (!entry.element) {
    entry.img = h("img", { alt: `Restored by ${entry.method.name}` });
    entry.pic = h(
      "button",
      {
        type: "button",
        class: "pic",
        "aria-label": `Show the result of ${entry.method.name} above`,
        onclick: () => {
          if (entry.state === "done") place.choose(entry);
        },
      },
      entry.img,
    );
    entry.figures = h("div", { class: "figures" });
    entry.buttons = h(
      "div",
      { class: "row" },
      h(
        "button",
        {
          type: "button",
          class: "quiet icon",
          "aria-label": `Save the result of ${entry.method.name}`,
          onclick: () => save(entry.blob, `restored-${entry.method.name}.png`),
        },
        icon(icons.save),
      ),
      h(
        "button",
        {
          type: "button",
          class: "quiet icon",
          "aria-label": `Copy the result of ${entry.method.name} as command`,
          onclick: () => place.command(entry),
        },
        icon(icons.command),
      ),
    );
    entry.element = h(
      "div",
      { class: "result" },
      entry.pic,
      h("h3", {}, entry.method.label || entry.method.name, entry.buttons),
      entry.figures,
    );
  }
  if (entry.url && entry.img.src !== entry.url) entry.img.src = entry.url;
  entry.img.hidden = !entry.url;
  for (const button of entry.buttons.children) button.disabled = entry.state !== "done";
  entry.buttons.lastChild.disabled ||= !entry.result?.command;
  const { result } = entry;
  entry.figures.replaceChildren();
  if (entry.note) entry.figures.append(h("span", {}, entry.note));
  if (result?.psnr !== undefined)
    entry.figures.append(
      h("span", { class: result.psnr === best ? "best" : "" }, `${result.psnr.toFixed(2)} dB`),
      h("span", {}, `SSIM ${result.ssim.toFixed(3)}`),
    );
  if (result) entry.figures.append(h("span", {}, seconds(result.seconds)));
}
