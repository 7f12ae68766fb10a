// Texts inside PNG files: results carry the settings that made them.

const SIGNATURE = [137, 80, 78, 71, 13, 10, 26, 10];

// The text of the iTXt or tEXt chunk with this key, or null.
export async function readText(blob, key) {
  if (blob.size > 64 * 1024 * 1024) return null;
  const bytes = new Uint8Array(await blob.arrayBuffer());
  if (SIGNATURE.some((byte, i) => bytes[i] !== byte)) return null;
  const view = new DataView(bytes.buffer);
  for (let at = 8; at + 12 <= bytes.length;) {
    const length = view.getUint32(at);
    const type = String.fromCharCode(...bytes.subarray(at + 4, at + 8));
    const data = bytes.subarray(at + 8, at + 8 + length);
    if (type === "tEXt" || type === "iTXt") {
      const zero = data.indexOf(0);
      if (new TextDecoder().decode(data.subarray(0, zero)) === key) {
        // iTXt: compression flag and method, then language and translated key, each ended by a zero.
        let from = zero + 1;
        if (type === "iTXt") {
          if (data[from] !== 0) return null;
          from = data.indexOf(0, from + 2) + 1;
          from = data.indexOf(0, from) + 1;
        }
        return new TextDecoder().decode(data.subarray(from));
      }
    }
    at += 12 + length;
  }
  return null;
}

export function fromBase64(text, type = "image/png") {
  const raw = atob(text);
  return new Blob([Uint8Array.from(raw, (c) => c.charCodeAt(0))], { type });
}

export const dataUrl = (base64) => `data:image/png;base64,${base64}`;
