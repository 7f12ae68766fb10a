// Small helpers to build the page without a framework.

// h("button", {class: "main", onclick}, "Save"): attributes, properties that begin with "on", and children.
export function h(tag, props = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(props || {})) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "value" || name === "checked" || name === "disabled" || name === "hidden")
      element[name] = value;
    else element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.flat().filter((child) => child !== null && child !== undefined));
  return element;
}

const SVG = "http://www.w3.org/2000/svg";
export function icon(path) {
  const svg = document.createElementNS(SVG, "svg");
  svg.setAttribute("viewBox", "0 0 24 24");
  svg.setAttribute("aria-hidden", "true");
  for (const d of [].concat(path)) {
    const line = document.createElementNS(SVG, "path");
    line.setAttribute("d", d);
    svg.append(line);
  }
  return svg;
}

export const icons = {
  undo: ["M9 14 4 9l5-5", "M4 9h10a6 6 0 0 1 0 12h-3"],
  redo: ["m15 14 5-5-5-5", "M20 9H10a6 6 0 0 0 0 12h3"],
  save: ["M12 3v12", "m7 10 5 5 5-5", "M4 20h16"],
  command: ["m5 8 4 4-4 4", "M12 17h7"],
  crop: ["M6 2v16h16", "M2 6h16v16"],
  eye: ["M2 12s4-7 10-7 10 7 10 7-4 7-10 7S2 12 2 12z", "M12 9a3 3 0 1 0 0 6 3 3 0 0 0 0-6z"],
  dice: ["M4 4h16v16H4z", "M8.5 8.5h.01", "M15.5 15.5h.01", "M12 12h.01"],
  image: ["M4 5h16v14H4z", "m4 16 5-5 4 4 3-3 4 4"],
  stop: ["M7 7h10v10H7z"],
  more: ["M12 5v14", "M5 12h14"],
};

let nextId = 0;
export const uid = (stem) => `${stem}-${++nextId}`;

export function toast(text, kind = "") {
  const place = document.getElementById("toasts");
  const note = h("div", { class: `toast ${kind}` }, text);
  place.append(note);
  while (place.children.length > 3) place.firstChild.remove();
  setTimeout(() => note.remove(), kind === "bad" ? 8000 : 3500);
}

// A labelled slider. onInput while it moves, onChange when it is let go.
export function slider({ label, min, max, step, value, format = String, onInput, onChange, help }) {
  const id = uid("slider");
  const output = h("output", { for: id }, format(value));
  const input = h("input", { id, type: "range", min, max, step, value });
  const say = () => {
    output.textContent = format(Number(input.value));
    input.setAttribute("aria-valuetext", output.textContent);
  };
  input.addEventListener("input", () => {
    say();
    onInput?.(Number(input.value));
  });
  input.addEventListener("change", () => onChange?.(Number(input.value)));
  say();
  const element = h(
    "div",
    { class: "field" },
    h("div", { class: "row" }, h("label", { for: id }, label), output),
    h("div", { class: "range" }, input),
    help ? h("p", { class: "small soft" }, help) : null,
  );
  return {
    element,
    input,
    get value() {
      return Number(input.value);
    },
    set value(v) {
      input.value = v;
      say();
    },
  };
}

// One of several, as radio buttons: [[value, label], …].
export function segments(name, label, choices, value, onChange) {
  const group = uid(name);
  const element = h("fieldset", { class: "segments" }, h("legend", { class: "hidden-visually" }, label));
  for (const [choice, text] of choices) {
    const input = h("input", {
      type: "radio",
      name: group,
      value: choice,
      checked: choice === value,
      "aria-label": text,
      onchange: () => onChange(choice),
    });
    element.append(h("label", {}, input, h("span", {}, text)));
  }
  return {
    element,
    set value(v) {
      for (const input of element.querySelectorAll("input")) input.checked = input.value === v;
    },
    get value() {
      return element.querySelector("input:checked")?.value;
    },
  };
}

// Shows a picture only once it is decoded, so that nothing flickers or jumps.
export async function show(img, url, alt) {
  if (alt !== undefined) img.alt = alt;
  if (!url) {
    img.removeAttribute("src");
    img.dataset.url = "";
    return;
  }
  if (img.dataset.url === url && img.src === url) return;
  img.dataset.url = url;
  const next = new Image();
  next.src = url;
  try {
    await next.decode();
  } catch {
    /* shown as it is */
  }
  if (img.dataset.url === url) img.src = url;
}

export const percent = (p) => `${(100 * p).toFixed(p > 0.995 || p < 0.005 ? 1 : 0)} %`;
export const seconds = (s) => (s < 1 ? `${Math.round(1000 * s)} ms` : `${s.toFixed(1)} s`);

export async function copy(text) {
  try {
    await navigator.clipboard.writeText(text);
    toast("Copied");
  } catch {
    toast("Select the text and copy it: the browser did not allow it", "bad");
  }
}

export function save(blob, name) {
  const url = URL.createObjectURL(blob);
  const link = h("a", { href: url, download: name });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(url), 10000);
}
