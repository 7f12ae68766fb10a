// "Copy as command": the line that makes the same bits.

import { h, copy, save } from "./dom.js";
import { fromBase64 } from "./png.js";

const quote = (word) => (/^[\w.,:/=+-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`);

// Shows the line for a result of this photo; `square` is the photo as the networks took it, in base64. A photo that had to
// be cut or resized is saved as that square, and the line names it: no resizing stands between the two pictures.
export function showCommandFor(result, photo, square, also = []) {
  const files = [...also];
  let name = photo.file || photo.name;
  if (result.needs_square || photo.embedded) {
    name = `${photo.name.replace(/\.\w+$/, "")}-square.png`;
    save(fromBase64(square), name);
    files.unshift(name);
  }
  const line = result.command.replaceAll("{photo}", quote(name)).replaceAll("{mask}", "mask.png");
  const saved = files.length ? ` ${files.join(" and ")} ${files.length > 1 ? "were" : "was"} saved just now.` : "";
  const text = photo.command && !files.includes(name) ? `${photo.command}\n${line}` : line;
  showCommand(text, `In the folder of the photo, this makes the same picture, bit for bit.${saved}`);
}

export function showCommand(text, note) {
  const dialog = h("dialog", { "aria-label": "Command" });
  dialog.append(
    h(
      "div",
      { class: "inside" },
      h(
        "div",
        { class: "stack tight" },
        h("h2", {}, "The same picture from the command line"),
        h("p", { class: "small soft" }, note),
      ),
      h("pre", { class: "command", tabindex: 0 }, text),
      h(
        "div",
        { class: "row between" },
        h("button", { type: "button", class: "quiet", onclick: () => dialog.close() }, "Close"),
        h("button", { type: "button", class: "main", onclick: () => copy(text) }, "Copy"),
      ),
    ),
  );
  dialog.addEventListener("close", () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
}
