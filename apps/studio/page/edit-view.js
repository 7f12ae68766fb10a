// What the place Edit looks like: its parts, and how they follow its state.

import { Compare } from "./compare.js";
import { h, icon, icons, percent, segments, slider } from "./dom.js";
import * as photos from "./photo.js";
import { dataUrl } from "./png.js";
import { Wishes, legend } from "./wishes.js";

const KEEP = 0.6; // where the slider stands while nobody chose

export function buildEdit(edit, field) {
  edit.welcome = photos.empty({
    title: "A photo and a wish",
    onFile: (file) => edit.open(file),
    onSurprise: () => edit.surprise(),
    text: "Add a smile, change the hair, take the glasses off. Move a slider and watch the picture form.",
  });
  edit.compare = new Compare({
    onMode: (mode) => {
      edit.left.dataset.mode = mode;
    },
  });
  edit.status = h("span", { role: "status", "aria-live": "polite" });
  edit.stop = h(
    "button",
    { type: "button", class: "quiet", hidden: true, onclick: () => edit.cancel() },
    icon(icons.stop),
    "Stop",
  );
  const tool = (name, label, act, text) =>
    h(
      "button",
      { type: "button", class: text ? "quiet" : "quiet icon", "aria-label": label, title: label, onclick: act },
      icon(icons[name]),
      text ? h("span", { class: "text-only" }, text) : null,
    );
  edit.asked = h("div", { class: "card asked", role: "group", "aria-label": "What was asked for, and what came of it" });
  edit.undo = tool("undo", "Undo", () => edit.history.undo());
  edit.redo = tool("redo", "Redo", () => edit.history.redo());
  edit.saveButton = tool("save", "Save as PNG with its settings", () => edit.save(), "Save");
  edit.commandButton = tool("command", "Copy as command", () => edit.command(), "Command");
  edit.strip = h("div", { class: "strip", role: "group", "aria-label": "Variants by seed" });
  edit.left = h(
    "div",
    { class: "easel", "data-mode": "slide" },
    h("div", { class: "stage-holder" }, edit.compare.element),
    h("div", { class: "status" }, edit.status, edit.stop),
    h(
      "div",
      { class: "tools" },
      h("div", { class: "row" }, edit.undo, edit.redo, edit.compare.hold),
      edit.compare.modes.element,
      h("div", { class: "row" }, edit.commandButton, edit.saveButton),
    ),
    edit.strip,
  );

  edit.wishes = new Wishes({
    attributes: edit.info.attributes,
    title: "Wishes",
    legend: legend(edit.info.judge),
    open: 2,
    hint: "Each slider stands where the photo is. Double click brings it back.",
    range: { min: 0.01, max: 0.99, step: 0.01, format: percent },
    onInput: (wishes) => edit.live({ ...wishes }),
    onChange: (wishes) => edit.change({ wishes: { ...wishes } }),
    onRelease: () => edit.drawResult(),
  });
  edit.keep = slider({
    label: "Keep of the photo",
    min: 0,
    max: 1,
    step: 0.05,
    value: KEEP,
    format: (v) => (edit.state.keep === null && v === KEEP ? "as found best" : percent(v)),
    help: "All of it: the photo takes the move alone. Less: the prior draws the place of a wish again.",
    onChange: (keep) => edit.change({ keep }),
  });
  edit.quality = segments(
    "quality",
    "Quality",
    [
      ["fine", "Fine"],
      ["instant", "Instant"],
    ],
    edit.defaults.fast ? "instant" : "fine",
    (value) => edit.change({ fast: value === "instant" }),
  );
  edit.seed = h("input", {
    type: "number",
    min: 0,
    max: field.seed.max,
    step: 1,
    value: 0,
    id: "edit-seed",
    onchange: () => edit.change({ seed: edit.number(edit.seed, field.seed) }),
  });
  edit.steps = h("input", {
    type: "number",
    min: field.steps.min,
    max: field.steps.max,
    step: 1,
    value: field.steps.default,
    id: "edit-steps",
    onchange: () => edit.change({ steps: edit.number(edit.steps, field.steps) }),
  });
  const panel = h(
    "div",
    { class: "panel" },
    h(
      "div",
      { class: "row between" },
      h(
        "div",
        { class: "row" },
        h(
          "button",
          { type: "button", onclick: () => photos.chooseFile((f) => edit.open(f)) },
          icon(icons.image),
          "Photo",
        ),
        (edit.another = h(
          "button",
          { type: "button", onclick: () => edit.surprise() },
          icon(icons.dice),
          "Surprise me",
        )),
        (edit.cropButton = h("button", { type: "button", onclick: () => edit.crop() }, icon(icons.crop), "Crop")),
      ),
    ),
    edit.asked,
    edit.wishes.element,
    (edit.settings = h(
      "div",
      { class: "card stack" },
      edit.keep.element,
      h("div", { class: "row between" }, h("span", {}, "Quality"), edit.quality.element),
      h("div", { class: "row between" }, h("label", { for: "edit-seed" }, "Seed"), edit.seed),
      h("div", { class: "row between" }, h("label", { for: "edit-steps" }, "Steps"), edit.steps),
    )),
  );
  edit.desk = h("div", { class: "desk", hidden: true }, edit.left, panel);
  edit.root.append(edit.welcome, edit.desk);
  withoutPhoto(edit);
  edit.root.addEventListener("keydown", (event) => {
    if (!(event.ctrlKey || event.metaKey) || event.target.matches("input[type=search], input[type=number]")) return;
    const key = event.key.toLowerCase();
    if (key === "z" && !event.shiftKey) edit.history.undo();
    else if (key === "y" || (key === "z" && event.shiftKey)) edit.history.redo();
    else return;
    event.preventDefault();
  });
}

// While the first face forms there is nothing yet that a slider or a button could act on.
function withoutPhoto(edit) {
  for (const part of [edit.wishes.element, edit.settings]) part.inert = true;
  for (const button of [edit.undo, edit.redo, edit.saveButton, edit.commandButton, edit.cropButton])
    button.disabled = true;
}

export function drawEdit(edit) {
  const { photo, base, wishes, keep, fast, seed, steps } = edit.state;
  const asking = edit.welcome.contains(document.activeElement);
  edit.welcome.hidden = Boolean(photo);
  edit.desk.hidden = !photo;
  if (!photo) return;
  if (asking) edit.another.focus({ preventScroll: true }); // what had the focus is gone
  for (const part of [edit.wishes.element, edit.settings]) part.inert = false;
  edit.compare.setBefore(dataUrl(base.image), "The photo");
  edit.wishes.setOwn(base.g);
  edit.wishes.set(wishes);
  edit.keep.value = keep ?? KEEP;
  edit.quality.value = fast ? "instant" : "fine";
  edit.seed.value = seed;
  edit.steps.value = steps;
  edit.undo.disabled = !edit.history.canUndo;
  edit.redo.disabled = !edit.history.canRedo;
  edit.cropButton.disabled = photo.width === photo.height && photo.width <= edit.info.size;
  drawResult(edit);
}

// What a result changes, and nothing else: a slider that is being dragged and a number that is being typed stay as they are.
export function drawResult(edit) {
  const { photo, result, wishes } = edit.state;
  if (!photo) return;
  const wished = Object.keys(wishes);
  let shown;
  if (edit.settled) {
    if (result)
      shown = edit.compare.setAfter(result.url, `The photo with ${wished.map((name) => edit.wishes.label(name)).join(", ")}`);
    else if (!wished.length) edit.compare.setAfter(null);
  }
  edit.wishes.says(result?.g, result?.judge);
  edit.saveButton.disabled = !result && !edit.drawn;
  edit.commandButton.disabled = !result?.command && !edit.drawn;
  drawAsked(edit, wished);
  drawStrip(edit);
  return shown; // a promise: a picture is shown when it is decoded
}

// As high with ten wishes as with none: the sliders below stay under the hand that moves them. The newest is on top.
function drawAsked(edit, wished) {
  const { wishes, result } = edit.state;
  const judge = edit.info.judge ? ", and the judge, a second one that takes no part," : "";
  if (!wished.length) {
    edit.asked.replaceChildren(
      h("p", { class: "small soft" }, `Move a slider. What g, the network that moves the picture${judge} say of the result is shown here.`),
    );
    return;
  }
  const cell = (value) => (value === undefined ? "…" : percent(value));
  edit.asked.replaceChildren(
    h(
      "div",
      { class: "line heads" },
      h("span", {}, "Asked for"),
      h("span", {}, "asked"),
      h("span", {}, "g says"),
      h("span", {}, edit.info.judge ? "judge" : ""),
    ),
    ...wished.reverse().map((name) =>
      h(
        "div",
        { class: "line" },
        h("span", {}, edit.wishes.label(name)),
        h("span", {}, percent(wishes[name])),
        h("span", {}, cell(result?.g?.[name])),
        h("span", {}, edit.info.judge ? cell(result?.judge?.[name]) : ""),
      ),
    ),
  );
}

// Its place is there from the beginning: variants that arrive push nothing down.
function drawStrip(edit) {
  const mine = edit.variants.get(edit.sameWork()) || new Map();
  const choose = (seed, result) => {
    edit.state = { ...edit.state, seed, result };
    edit.history.push({ ...edit.state });
    edit.draw();
  };
  const more = h(
    "button",
    { type: "button", "aria-label": "Another variant", title: "Another variant", onclick: () => edit.more() },
    icon(icons.more),
  );
  more.disabled = !edit.state.result?.command || edit.state.fast;
  edit.strip.replaceChildren(
    ...[...(edit.state.fast ? [] : mine)].map(([seed, result]) =>
      h(
        "button",
        {
          type: "button",
          "aria-pressed": String(seed === edit.state.seed),
          "aria-label": `Variant of seed ${seed}`,
          onclick: () => choose(seed, result),
        },
        h("img", { src: result.url, alt: "" }),
        h("span", { class: "seed" }, seed),
      ),
    ),
    more,
  );
}
