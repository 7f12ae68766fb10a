// Where photos come from: dropped, pasted, chosen, or drawn by the prior from a seed.

import * as api from "./client.js";
import { h, icon, icons, toast } from "./dom.js";
import { readText, fromBase64 } from "./png.js";

let limits = { body: 2 ** 24, pixels: 5e7 };
export const setLimits = (from) => {
  limits = from;
};

// A photo that the server would refuse for its size is made smaller here.
async function withinLimits(blob) {
  let bitmap;
  try {
    bitmap = await createImageBitmap(blob, { imageOrientation: "from-image" });
  } catch {
    throw new Error("This file is no picture that can be read. PNG, JPEG and WebP work.");
  }
  const { width, height } = bitmap;
  const fine =
    blob.size <= limits.body && width * height <= limits.pixels && /^image\/(png|jpeg|webp)$/.test(blob.type);
  if (fine) {
    bitmap.close();
    return blob;
  }
  const scale = Math.min(1, 2048 / Math.max(width, height));
  const canvas = new OffscreenCanvas(Math.max(1, Math.round(width * scale)), Math.max(1, Math.round(height * scale)));
  const context = canvas.getContext("2d");
  context.imageSmoothingQuality = "high";
  context.drawImage(bitmap, 0, 0, canvas.width, canvas.height);
  bitmap.close();
  toast(`The photo was reduced to ${canvas.width} × ${canvas.height}`);
  return canvas.convertToBlob({ type: "image/png" });
}

// A file of the user's: {photo} or, for a picture that the studio saved, {photo, settings, saved}.
export async function open(file) {
  if (!file.type.startsWith("image/"))
    throw new Error(`Expected a picture, got ${file.type || "another kind of file"}.`);
  const text = await readText(file, "spnn");
  if (text) {
    try {
      const settings = JSON.parse(text);
      const source = settings.source ? await put(fromBase64(settings.source), file.name) : null;
      if (source) source.embedded = true; // it exists in this file only
      return { photo: source, settings, saved: file };
    } catch {
      toast("The settings inside this picture cannot be read; it is taken as a photo", "bad");
    }
  }
  return { photo: await put(await withinLimits(file), file.name || "photo.png") };
}

// The place that made a saved picture ("edit", "restore"), or undefined.
export async function madeBy(file) {
  try {
    return JSON.parse(await readText(file, "spnn"))?.kind;
  } catch {
    return undefined;
  }
}

export async function put(blob, name) {
  const { photo } = await api.upload(blob);
  const bitmap = await createImageBitmap(blob, { imageOrientation: "from-image" }); // upright, as the server takes it
  const { width, height } = bitmap;
  bitmap.close();
  return { id: photo, name, width, height, blob };
}

export function defaultCrop({ width, height }) {
  const side = Math.min(width, height);
  // Faces are above the middle of a portrait.
  return { x: Math.floor((width - side) / 2), y: Math.floor((height - side) * (height > width ? 0.3 : 0.5)), side };
}

export function chooseFile(onFile) {
  const input = h("input", { type: "file", accept: "image/png,image/jpeg,image/webp", hidden: true });
  input.addEventListener("change", () => {
    if (input.files[0]) onFile(input.files[0]);
    input.remove();
  });
  document.body.append(input);
  input.click();
}

// Drop and paste work anywhere on the page; the place that is shown gets the file.
export function listen(onFile) {
  let depth = 0;
  document.body.append(h("div", { class: "veil", "aria-hidden": "true" }, "Drop the photo anywhere"));
  const drag = (on) => document.body.classList.toggle("dragging", on);
  addEventListener("dragenter", (event) => {
    if (event.dataTransfer?.types.includes("Files")) {
      depth++;
      drag(true);
    }
  });
  addEventListener("dragleave", () => {
    depth = Math.max(0, depth - 1);
    if (!depth) drag(false);
  });
  addEventListener("dragover", (event) => event.preventDefault());
  addEventListener("drop", (event) => {
    event.preventDefault();
    depth = 0;
    drag(false);
    const file = event.dataTransfer?.files[0];
    if (file) onFile(file);
  });
  addEventListener("paste", (event) => {
    const file = [...(event.clipboardData?.files || [])].find((f) => f.type.startsWith("image/"));
    if (file) onFile(file);
  });
}

// The first thing that a place shows.
export function empty({ title, text, onFile, onSurprise }) {
  const face = icon([
    "M4 8V6a2 2 0 0 1 2-2h2",
    "M16 4h2a2 2 0 0 1 2 2v2",
    "M20 16v2a2 2 0 0 1-2 2h-2",
    "M8 20H6a2 2 0 0 1-2-2v-2",
    "M12 7.200a3 3 0 1 0 0 6 3 3 0 0 0 0-6z",
    "M7 17.200c1-2.300 2.800-3.200 5-3.200s4 .9 5 3.200",
  ]);
  face.classList.add("portrait");
  return h(
    "div",
    { class: "drop" },
    face,
    h("div", { class: "stack tight" }, h("h1", {}, title), h("p", { class: "soft" }, text)),
    h(
      "div",
      { class: "row" },
      h(
        "button",
        { type: "button", class: "main", onclick: () => chooseFile(onFile) },
        icon(icons.image),
        "Choose a photo",
      ),
      h("button", { type: "button", onclick: onSurprise }, icon(icons.dice), "Surprise me"),
    ),
    h("p", { class: "small soft" }, "Or drop or paste one. Photos stay in this machine's memory and are forgotten."),
  );
}
