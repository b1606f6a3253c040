// Drawing on canvases: a mean as a line, least and most as a shade, gaps as gaps.

let theme = {};

export function readTheme() {
  const style = getComputedStyle(document.documentElement);
  const names = ["ink", "muted", "grid", "band", "paper", ...Array.from({ length: 8 }, (_, at) => `c${at + 1}`)];
  theme = Object.fromEntries(names.map((name) => [`--${name}`, style.getPropertyValue(`--${name}`).trim()]));
}

export const colour = (name) => theme[name];

// Makes a canvas as sharp as the screen; returns its context, in CSS pixels, and its size.
export function prepare(canvas, width = canvas.clientWidth, height = canvas.clientHeight) {
  const scale = Math.min(devicePixelRatio || 1, 2);
  const [wide, high] = [Math.round(width * scale), Math.round(height * scale)];
  if (canvas.width !== wide || canvas.height !== high) [canvas.width, canvas.height] = [wide, high];
  const context = canvas.getContext("2d");
  context.setTransform(scale, 0, 0, scale, 0, 0);
  return { context, width, height };
}

// Rounds up to 1, 2 or 5 times a power of ten.
export function niceTop(value) {
  if (!(value > 0)) return 1;
  const base = 10 ** Math.floor(Math.log10(value));
  return [1, 2, 5, 10].map((factor) => factor * base).find((top) => top >= value * 0.9999);
}

// Draws points first to last of a curve: x(index) and y(value) are in pixels.
export function drawCurve(context, { mean, low, high }, { first, last, x, y, stroke, fill = true }) {
  if (fill) {
    context.beginPath();
    shade(context, low, high, first, last, x, y);
    context.globalAlpha = 0.22;
    context.fillStyle = stroke;
    context.fill();
    context.globalAlpha = 1;
  }
  context.beginPath();
  let isOpen = false;
  for (let at = first; at <= last; at += 1) {
    const value = mean[at];
    if (Number.isNaN(value)) isOpen = false;
    else if (isOpen) context.lineTo(x(at), y(value));
    else {
      context.moveTo(x(at), y(value));
      if (!(at < last) || Number.isNaN(mean[at + 1])) context.lineTo(x(at) + 1, y(value)); // alone among gaps
      isOpen = true;
    }
  }
  context.strokeStyle = stroke;
  context.lineWidth = 1.5;
  context.lineJoin = "bevel";
  context.stroke();
}

function shade(context, low, high, first, last, x, y) {
  for (let at = first; at <= last; at += 1) {
    if (Number.isNaN(high[at])) continue;
    const start = at;
    context.moveTo(x(at), y(high[at]));
    while (at < last && !Number.isNaN(high[at + 1])) {
      at += 1;
      context.lineTo(x(at), y(high[at]));
    }
    for (let back = at; back >= start; back -= 1) context.lineTo(x(back), y(low[back]));
    context.closePath();
  }
}

export function rule(context, x0, y0, x1, y1, name = "--grid") {
  context.beginPath();
  context.moveTo(x0, y0);
  context.lineTo(x1, y1);
  context.strokeStyle = colour(name);
  context.lineWidth = 1;
  context.stroke();
}

export function write(context, text, x, y, { align = "left", base = "alphabetic", name = "--muted", size = 11 } = {}) {
  context.font = `${size}px system-ui, -apple-system, "Segoe UI", Roboto, "DejaVu Sans", sans-serif`;
  context.textAlign = align;
  context.textBaseline = base;
  context.fillStyle = colour(name);
  context.fillText(text, x, y);
}
