// The attribute sliders, in groups. A slider that nobody touched shows the photo's own value; one that was moved is a wish.

import { h, uid } from "./dom.js";

export class Wishes {
  // attributes: [{name, label, group}]; range: {min, max, step, format}; onInput while moving, onChange when let go or reset,
  // onRelease when let go, wherever it is then.
  constructor({ attributes, range, title, hint, legend, onInput, onChange, onRelease, open = 1 }) {
    Object.assign(this, { range, onInput, onChange, onRelease });
    this.own = {};
    this.wishes = {};
    this.rows = new Map();
    this.groups = new Map();
    this.clear = h(
      "button",
      { type: "button", class: "quiet", disabled: true, onclick: () => this.reset(Object.keys(this.wishes)) },
      "Reset all",
    );
    const search = h("input", {
      type: "search",
      placeholder: "Find an attribute",
      "aria-label": "Find an attribute",
      oninput: () => this.filter(search.value),
    });
    this.element = h(
      "div",
      { class: "card wishes" },
      h(
        "div",
        { class: "head" },
        h("div", { class: "row between" }, h("h2", {}, title), this.clear),
        hint ? h("p", { class: "small soft" }, hint) : null,
        search,
        legend || null,
      ),
    );
    for (const attribute of attributes) this.add(attribute, open);
  }
  add(attribute, open) {
    if (!this.groups.has(attribute.group)) {
      const body = h("div", { class: "attributes" });
      const count = h("span", { class: "count", hidden: true });
      const details = h("details", {}, h("summary", {}, attribute.group, count), body);
      details.open = this.groups.size < open;
      this.groups.set(attribute.group, { details, body, count, names: [] });
      this.element.append(details);
    }
    const group = this.groups.get(attribute.group);
    group.names.push(attribute.name);
    const id = uid("attribute");
    const { min, max, step } = this.range;
    const input = h("input", {
      id,
      type: "range",
      min,
      max,
      step,
      value: (min + max) / 2,
      "data-attribute": attribute.name,
    });
    const marks = {
      own: h("i", { class: "mark own", hidden: true }),
      g: h("i", { class: "mark g", hidden: true }),
      judge: h("i", { class: "mark judge", hidden: true }),
    };
    const value = h("span", { class: "value" });
    const element = h(
      "div",
      { class: "attribute" },
      h("label", { for: id, title: attribute.label }, attribute.label),
      h("div", { class: "range" }, marks.own, marks.g, marks.judge, input),
      value,
    );
    this.rows.set(attribute.name, { ...attribute, input, marks, value, element });
    group.body.append(element);
    input.addEventListener("input", () => {
      this.wishes[attribute.name] = Number(input.value);
      this.draw(attribute.name);
      this.onInput?.(this.wishes);
    });
    input.addEventListener("change", () => this.onChange?.(this.wishes));
    input.addEventListener("pointerup", () => setTimeout(() => this.onRelease?.())); // after `change`, if there is one
    input.addEventListener("dblclick", () => this.reset([attribute.name]));
    input.addEventListener("keydown", (event) => {
      if (event.key !== "Delete" && event.key !== "Backspace" && event.key !== "Escape") return;
      event.preventDefault();
      this.reset([attribute.name]);
    });
    this.draw(attribute.name);
  }
  reset(names) {
    const known = names.filter((name) => name in this.wishes);
    for (const name of known) {
      delete this.wishes[name];
      this.draw(name);
    }
    if (known.length) this.onChange?.(this.wishes);
  }
  set(wishes) {
    this.wishes = { ...wishes };
    for (const name of this.rows.keys()) this.draw(name);
    for (const { details, names } of this.groups.values())
      if (names.some((name) => name in this.wishes)) details.open = true;
  }
  setOwn(own) {
    this.own = own || {};
    for (const name of this.rows.keys()) this.draw(name);
  }
  says(g, judge) {
    for (const [name, row] of this.rows) {
      this.place(row.marks.g, g?.[name]);
      this.place(row.marks.judge, judge?.[name]);
    }
  }
  place(mark, value) {
    mark.hidden = value === undefined;
    if (value === undefined) return;
    const { min, max } = this.range;
    mark.style.setProperty("--at", Math.max(0, Math.min(1, (value - min) / (max - min))));
  }
  draw(name) {
    const row = this.rows.get(name);
    const wished = name in this.wishes;
    const value = wished ? this.wishes[name] : this.own[name];
    row.element.classList.toggle("wish", wished);
    this.place(row.marks.own, this.own[name]);
    if (value !== undefined) row.input.value = value;
    row.value.textContent = value === undefined ? "" : this.range.format(value);
    row.input.setAttribute("aria-valuetext", `${row.value.textContent}${wished ? ", wished" : ""}`);
    for (const { count, names } of this.groups.values()) {
      const n = names.filter((other) => other in this.wishes).length;
      count.hidden = n === 0;
      count.textContent = n;
    }
    this.clear.disabled = Object.keys(this.wishes).length === 0;
  }
  filter(text) {
    const words = text.toLowerCase().trim();
    for (const { details, names } of this.groups.values()) {
      let any = false;
      for (const name of names) {
        const row = this.rows.get(name);
        const match = row.label.toLowerCase().includes(words);
        row.element.hidden = !match;
        any ||= match;
      }
      details.hidden = !any;
      if (words) details.open = any;
    }
  }
  label(name) {
    return this.rows.get(name)?.label ?? name;
  }
}

export const legend = (judge) =>
  h(
    "div",
    { class: "legend" },
    h("span", {}, h("i", { class: "k-own" }), "the photo"),
    h("span", {}, h("i", { class: "k-g" }), "the result, by g"),
    judge ? h("span", {}, h("i", { class: "k-judge" }), "… by the judge") : null,
  );
