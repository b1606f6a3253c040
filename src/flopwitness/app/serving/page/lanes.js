// Lanes of one channel over time, a lane a GPU, and the workloads that were found behind them.

import { extent } from "./curves.js";
import { CHANNELS, clock, day, reading, shortName } from "./format.js";
import { colour, drawCurve, niceTop, prepare, rule, write } from "./plot.js";

export const LANE = { height: 58, gap: 6, left: 4, axis: 30 };
const TICKS = [1, 2, 5, 10, 30, 60, 120, 300, 600, 1800, 3600, 7200, 10800, 21600, 43200, 86400];

export const lanesHeight = (n) => n * LANE.height + LANE.axis;

// The channel's top over all lanes, so that lanes can be compared.
export function commonTop(tile, channel, limit) {
  if (CHANNELS[channel].unit === "%") return 1;
  let most = 0;
  for (const curve of tile.curves.values()) most = Math.max(most, extent(curve.high)[1] || 0);
  return Math.max(limit ?? 0, niceTop(most));
}

export function drawLanes(canvas, { view, tile, uuids, channel, top, spans, cursor }) {
  const { context, width, height } = prepare(canvas);
  const seconds = view.stop - view.start;
  const toX = (time) => ((time - view.start) / seconds) * width;
  context.clearRect(0, 0, width, height);
  drawAxis(context, { view, width, height, toX });
  uuids.forEach((uuid, at) => {
    const y0 = at * LANE.height + LANE.gap;
    const y1 = (at + 1) * LANE.height - 1;
    drawSpans(context, spans.get(uuid) ?? [], { toX, width, y0, y1 });
    rule(context, 0, y1 + 0.5, width, y1 + 0.5);
    const curve = tile?.curves.get(uuid);
    if (curve) {
      const y = (value) => y1 - (Math.min(value, top) / top) * (y1 - y0 - 12);
      drawCurve(context, curve, {
        first: Math.max(Math.floor((view.start - curve.start) / curve.step) - 1, 0),
        last: Math.min(Math.ceil((view.stop - curve.start) / curve.step) + 1, curve.mean.length - 1),
        x: (index) => toX(curve.start + (index + 0.5) * curve.step),
        y,
        stroke: colour(CHANNELS[channel].colour),
      });
    }
    label(context, `${shortName(uuid)} · 0 to ${reading(channel, top)}`, LANE.left, y0 + 9);
  });
  if (cursor !== null) rule(context, toX(cursor), 0, toX(cursor), height - LANE.axis, "--ink");
}

function label(context, text, x, y) {
  context.lineWidth = 3;
  context.strokeStyle = colour("--paper");
  context.font = '11px system-ui, -apple-system, "Segoe UI", Roboto, "DejaVu Sans", sans-serif';
  context.textAlign = "left";
  context.textBaseline = "alphabetic";
  context.strokeText(text, x, y);
  write(context, text, x, y);
}

function drawSpans(context, spans, { toX, width, y0, y1 }) {
  context.fillStyle = colour("--band");
  context.globalAlpha = 0.16;
  for (const [start, stop] of spans) {
    const [from, to] = [Math.max(toX(start), 0), Math.min(toX(stop), width)];
    if (to > from) context.fillRect(from, y0 + 12, Math.max(to - from, 1), y1 - y0 - 12);
  }
  context.globalAlpha = 1;
}

function drawAxis(context, { view, width, height, toX }) {
  const seconds = view.stop - view.start;
  const room = 76; // pixels that a label takes
  const step = TICKS.find((tick) => (tick / seconds) * width >= room) ?? 86400 * Math.ceil((seconds * room) / width / 86400);
  const floor = height - LANE.axis;
  for (let time = Math.ceil(view.start / step) * step; time <= view.stop; time += step) {
    const x = toX(time);
    rule(context, Math.round(x) + 0.5, 0, Math.round(x) + 0.5, floor);
    const text = time % 86400 === 0 ? day(time) : step < 60 ? clock(time) : clock(time).slice(0, 5);
    if (x > 26 && x < width - 26) write(context, text, x, floor + 13, { align: "center" });
  }
  write(context, "UTC", width, height - 2, { align: "right", size: 10 });
  write(context, day(view.start), 0, height - 2, { size: 10 });
}
