// Painting holes: a canvas of the model's size over the picture. White is missing while painting; the file says black is missing.

import { h } from "./dom.js";

export class Mask {
  constructor(size, onChange) {
    Object.assign(this, { size, onChange, brush: Math.max(2, Math.round(size / 10)), erase: false });
    this.canvas = h("canvas", {
      class: "paint",
      width: size,
      height: size,
      tabindex: 0,
      role: "application",
      hidden: true,
      "aria-label": "Paint the missing part. Arrow keys move the brush, space paints.",
    });
    this.context = this.canvas.getContext("2d", { willReadFrequently: true });
    this.at = { x: size / 2, y: size / 2 };
    let last = null;
    const point = (event) => {
      const box = this.canvas.getBoundingClientRect();
      return {
        x: ((event.clientX - box.left) / box.width) * size,
        y: ((event.clientY - box.top) / box.height) * size,
      };
    };
    this.canvas.addEventListener("pointerdown", (event) => {
      this.canvas.setPointerCapture(event.pointerId);
      last = point(event);
      this.stroke(last, last);
    });
    this.canvas.addEventListener("pointermove", (event) => {
      if (!last) return;
      const next = point(event);
      this.stroke(last, next);
      last = next;
    });
    const end = () => {
      if (last) {
        last = null;
        this.onChange?.();
      }
    };
    this.canvas.addEventListener("pointerup", end);
    this.canvas.addEventListener("pointercancel", end);
    this.canvas.addEventListener("keydown", (event) => {
      const moves = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
      if (moves[event.key]) {
        this.at.x = Math.max(0, Math.min(size, this.at.x + (moves[event.key][0] * this.brush) / 2));
        this.at.y = Math.max(0, Math.min(size, this.at.y + (moves[event.key][1] * this.brush) / 2));
      } else if (event.key === " ") {
        this.stroke(this.at, this.at);
        this.onChange?.();
      } else return;
      event.preventDefault();
    });
  }
  stroke(from, to) {
    const c = this.context;
    c.globalCompositeOperation = this.erase ? "destination-out" : "source-over";
    c.strokeStyle = "rgb(255 92 122)";
    c.lineWidth = this.brush;
    c.lineCap = "round";
    c.beginPath();
    c.moveTo(from.x, from.y);
    c.lineTo(to.x + 0.01, to.y);
    c.stroke();
  }
  clear() {
    this.context.clearRect(0, 0, this.size, this.size);
    this.onChange?.();
  }
  fill(draw) {
    this.context.globalCompositeOperation = "source-over";
    this.context.fillStyle = "rgb(255 92 122)";
    draw(this.context);
    this.onChange?.();
  }
  // One character a pixel row by row, "1" missing: small, exact, and no image format to decode.
  bits() {
    const { data } = this.context.getImageData(0, 0, this.size, this.size);
    let text = "";
    for (let i = 3; i < data.length; i += 4) text += data[i] > 127 ? "1" : "0";
    return text;
  }
  get missing() {
    return [...this.bits()].filter((b) => b === "1").length;
  }
  async png() {
    const bits = this.bits();
    const image = new ImageData(this.size, this.size);
    for (let i = 0; i < bits.length; ++i) {
      const value = bits[i] === "1" ? 0 : 255;
      image.data.set([value, value, value, 255], 4 * i);
    }
    const canvas = new OffscreenCanvas(this.size, this.size);
    canvas.getContext("2d").putImageData(image, 0, 0);
    return canvas.convertToBlob({ type: "image/png" });
  }
}
