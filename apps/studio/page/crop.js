// Choosing the square of a photo that holds the face: drag to move, a corner or the wheel to resize, arrow keys work.

import { h } from "./dom.js";

const SMALLEST = 16;

export async function chooseCrop(photo, start) {
  const bitmap = await createImageBitmap(photo.blob, { imageOrientation: "from-image" });
  const canvas = h("canvas", {
    tabindex: 0,
    role: "application",
    "aria-label": "The square of the face. Arrow keys move it, plus and minus resize it, Enter takes it.",
  });
  const area = h("div", { class: "crop-area" }, canvas);
  const dialog = h("dialog", { "aria-label": "Crop" });
  let crop = { ...start };
  let view = null;

  const clamp = () => {
    crop.side = Math.round(
      Math.max(Math.min(SMALLEST, photo.width, photo.height), Math.min(crop.side, photo.width, photo.height)),
    );
    crop.x = Math.round(Math.max(0, Math.min(crop.x, photo.width - crop.side)));
    crop.y = Math.round(Math.max(0, Math.min(crop.y, photo.height - crop.side)));
  };
  const draw = () => {
    clamp();
    const { width, height } = area.getBoundingClientRect();
    const ratio = devicePixelRatio || 1;
    canvas.width = width * ratio;
    canvas.height = height * ratio;
    const scale = Math.min(canvas.width / photo.width, canvas.height / photo.height);
    view = {
      scale,
      left: (canvas.width - photo.width * scale) / 2,
      top: (canvas.height - photo.height * scale) / 2,
      ratio,
    };
    const c = canvas.getContext("2d");
    c.drawImage(bitmap, view.left, view.top, photo.width * scale, photo.height * scale);
    const x = view.left + crop.x * scale,
      y = view.top + crop.y * scale,
      s = crop.side * scale;
    c.fillStyle = "rgb(10 10 12 / 58%)";
    c.beginPath();
    c.rect(0, 0, canvas.width, canvas.height);
    c.rect(x, y, s, s);
    c.fill("evenodd");
    c.strokeStyle = "#fff";
    c.lineWidth = 2 * ratio;
    c.strokeRect(x, y, s, s);
    c.strokeStyle = "rgb(255 255 255 / 45%)";
    c.lineWidth = ratio;
    c.beginPath();
    c.ellipse(x + s / 2, y + s * 0.52, s * 0.27, s * 0.37, 0, 0, 7); // where a face of the training images is
    c.stroke();
    c.fillStyle = "#fff";
    for (const [cx, cy] of [
      [x, y],
      [x + s, y],
      [x, y + s],
      [x + s, y + s],
    ]) {
      c.beginPath();
      c.arc(cx, cy, 7 * ratio, 0, 7);
      c.fill();
    }
  };
  const toPhoto = (event) => {
    const box = canvas.getBoundingClientRect();
    return {
      x: ((event.clientX - box.left) * view.ratio - view.left) / view.scale,
      y: ((event.clientY - box.top) * view.ratio - view.top) / view.scale,
    };
  };
  const resize = (factor) => {
    const side = crop.side * factor;
    crop = { x: crop.x + (crop.side - side) / 2, y: crop.y + (crop.side - side) / 2, side };
    draw();
  };
  let drag = null;
  canvas.addEventListener("pointerdown", (event) => {
    canvas.setPointerCapture(event.pointerId);
    const p = toPhoto(event);
    const near = (18 * view.ratio) / view.scale;
    const corner = [
      [0, 0],
      [1, 0],
      [0, 1],
      [1, 1],
    ].find(([i, j]) => Math.hypot(p.x - crop.x - i * crop.side, p.y - crop.y - j * crop.side) < near);
    drag = { p, crop: { ...crop }, corner };
  });
  canvas.addEventListener("pointermove", (event) => {
    if (!drag) return;
    const p = toPhoto(event);
    if (drag.corner) {
      const [i, j] = drag.corner;
      const fixed = { x: drag.crop.x + (1 - i) * drag.crop.side, y: drag.crop.y + (1 - j) * drag.crop.side };
      const room = Math.min(i ? photo.width - fixed.x : fixed.x, j ? photo.height - fixed.y : fixed.y);
      const side = Math.min(room, Math.max(SMALLEST, Math.abs(p.x - fixed.x), Math.abs(p.y - fixed.y)));
      crop = { side, x: i ? fixed.x : fixed.x - side, y: j ? fixed.y : fixed.y - side };
    } else {
      crop = { ...drag.crop, x: drag.crop.x + p.x - drag.p.x, y: drag.crop.y + p.y - drag.p.y };
    }
    draw();
  });
  canvas.addEventListener("pointerup", () => {
    drag = null;
  });
  canvas.addEventListener(
    "wheel",
    (event) => {
      event.preventDefault();
      resize(Math.exp(event.deltaY / 600));
    },
    { passive: false },
  );
  canvas.addEventListener("keydown", (event) => {
    const step = Math.max(1, crop.side / (event.shiftKey ? 10 : 50));
    const moves = { ArrowLeft: [-step, 0], ArrowRight: [step, 0], ArrowUp: [0, -step], ArrowDown: [0, step] };
    if (moves[event.key]) {
      crop.x += moves[event.key][0];
      crop.y += moves[event.key][1];
      draw();
    } else if (event.key === "+" || event.key === "=") resize(1.05);
    else if (event.key === "-") resize(1 / 1.05);
    else if (event.key === "Enter") dialog.close("take");
    else return;
    event.preventDefault();
  });

  dialog.append(
    h(
      "div",
      { class: "inside" },
      h(
        "div",
        { class: "stack tight" },
        h("h2", {}, "Where is the face?"),
        h(
          "p",
          { class: "small soft" },
          "Eyes a little above the middle, the whole head inside. Drag the square or its corners.",
        ),
      ),
      area,
      h(
        "div",
        { class: "row between" },
        h("button", { type: "button", class: "quiet", onclick: () => dialog.close("") }, "Cancel"),
        h("button", { type: "button", class: "main", onclick: () => dialog.close("take") }, "Use this square"),
      ),
    ),
  );
  document.body.append(dialog);
  dialog.showModal();
  draw();
  canvas.focus();
  const again = new ResizeObserver(draw);
  again.observe(area);
  return new Promise((resolve) => {
    dialog.addEventListener("close", () => {
      again.disconnect();
      bitmap.close();
      dialog.remove();
      resolve(dialog.returnValue === "take" ? crop : null);
    });
  });
}
