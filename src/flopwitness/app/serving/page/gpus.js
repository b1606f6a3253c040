// GPUs now: a row each, five small plots, one cursor through all five.

import { WINDOW_SECONDS, extent, newest } from "./curves.js";
import { byId, element, setText } from "./dom.js";
import { CHANNELS, clock, duration, isKnown, plural, reading, shortName } from "./format.js";
import { colour, drawCurve, niceTop, prepare, rule, write } from "./plot.js";

const N_SHOWN = 16;
const LABEL_EVERY_MS = 5000;
const AXIS = { top: 4, bottom: 14 };

function gauge(gauges, channel) {
  if (channel === "power_watts") return gauges.power_instant_watts ?? gauges.power_watts;
  return gauges[channel];
}

class Plot {
  constructor(channel) {
    this.channel = channel;
    const { title } = CHANNELS[channel];
    this.value = element("span", { class: "reading" });
    this.canvas = element("canvas", { role: "img", "aria-label": title });
    this.figure = element("figure", { class: "plot" },
      element("figcaption", {}, element("span", {}, title), this.value), this.canvas);
    this.labelledAt = -Infinity;
  }

  // One instant where the cursor stands, else the newest; before the curves came, what the last batch showed.
  read(curve, cursor, device) {
    const value = cursor === null ? newest(curve.mean) : curve.mean[cursor];
    const isKept = cursor !== null || !Number.isNaN(value) || device.is_lost;
    setText(this.value, reading(this.channel, isKept ? value : gauge(device.gauges, this.channel)));
  }

  draw(curve, limit, cursor) {
    const { context, width, height } = prepare(this.canvas);
    const [, most] = extent(curve.high);
    const isRatio = CHANNELS[this.channel].unit === "%";
    const top = isRatio ? 1 : Math.max(limit ?? 0, niceTop(most));
    const floor = height - AXIS.bottom;
    const x = (at) => (at / (WINDOW_SECONDS - 1)) * width;
    const y = (value) => floor - (Math.min(value, top) / top) * (floor - AXIS.top);
    context.clearRect(0, 0, width, height);
    rule(context, 0, floor + 0.5, width, floor + 0.5);
    rule(context, 0, AXIS.top + 0.5, width, AXIS.top + 0.5);
    drawCurve(context, curve, { first: 0, last: WINDOW_SECONDS - 1, x, y, stroke: colour(CHANNELS[this.channel].colour) });
    write(context, `−${WINDOW_SECONDS / 60} min`, 0, height - 1, { size: 10 });
    write(context, `0 to ${reading(this.channel, top)}`, width / 2, height - 1, { align: "center", size: 10 });
    write(context, "now", width, height - 1, { align: "right", size: 10 });
    if (cursor !== null) rule(context, x(cursor), AXIS.top, x(cursor), floor, "--ink");
    this.#label(curve, most);
  }

  #label(curve, most) {
    if (performance.now() - this.labelledAt < LABEL_EVERY_MS) return;
    if (isKnown(most)) this.labelledAt = performance.now();
    const [least] = extent(curve.low);
    const { title } = CHANNELS[this.channel];
    const said = isKnown(most)
      ? `now ${reading(this.channel, newest(curve.mean))}, least ${reading(this.channel, least)}, most ${reading(this.channel, most)}`
      : "no answer";
    this.canvas.setAttribute("aria-label", `${title} in the last five minutes: ${said}`);
  }
}

class Row {
  constructor(device, channels) {
    this.uuid = device.uuid;
    this.cursor = null;
    this.plots = channels.map((channel) => new Plot(channel));
    this.state = element("span", { class: "state" });
    this.said = element("p", { class: "unseen", role: "status" });
    this.group = element("div", { class: "plots", role: "group", tabindex: "0",
      "aria-label": `Plots of GPU ${shortName(device.uuid)}; arrow keys read instants` },
      ...this.plots.map((plot) => plot.figure));
    this.article = element("article", { class: "gpu" },
      element("h3", { title: device.uuid }, shortName(device.uuid), element("small", {}, ` ${device.chip}${device.host ? ` · ${device.host}` : ""}`)),
      this.state, this.group, this.said);
    this.group.addEventListener("pointermove", (event) => this.#point(event));
    this.group.addEventListener("pointerleave", () => this.#move(null));
    this.group.addEventListener("blur", () => this.#move(null));
    this.group.addEventListener("keydown", (event) => this.#press(event));
  }

  update(device, recent) {
    this.device = device;
    this.recent = recent;
    this.draw();
  }

  draw() {
    if (!this.recent) return;
    const end = this.recent.until;
    for (const plot of this.plots) {
      const curve = this.recent.window(this.uuid, plot.channel);
      plot.read(curve, this.cursor, this.device);
      plot.draw(curve, this.device.tops[plot.channel], this.cursor);
    }
    const since = this.device.running_since;
    let text = since ? `at work for ${duration(this.device.time - since)}` : "idle";
    if (this.device.is_lost) text = `no answer since ${clock(this.device.time)} UTC`;
    const at = this.cursor === null ? "" : ` · read at ${clock(this.#second(end))} UTC`;
    setText(this.state, text + at);
    this.article.dataset.state = this.device.is_lost ? "lost" : since ? "busy" : "idle";
  }

  #second(end) {
    return Math.floor(end) - WINDOW_SECONDS + 1 + this.cursor;
  }

  #point(event) {
    const canvas = event.target.closest("canvas");
    if (!canvas) return;
    const box = canvas.getBoundingClientRect();
    this.#move(Math.round(((event.clientX - box.left) / box.width) * (WINDOW_SECONDS - 1)));
  }

  #press(event) {
    const steps = { ArrowLeft: -1, ArrowRight: 1, PageUp: -30, PageDown: 30, Home: -Infinity, End: Infinity };
    if (event.key === "Escape") this.#move(null);
    if (!(event.key in steps)) return;
    event.preventDefault();
    this.#move((this.cursor ?? WINDOW_SECONDS - 1) + steps[event.key] * (event.shiftKey ? 10 : 1));
    const values = this.plots.map((plot) => `${CHANNELS[plot.channel].title} ${plot.value.textContent}`);
    setText(this.said, `${clock(this.#second(this.recent.until))} UTC: ${values.join(", ")}`);
  }

  #move(cursor) {
    const bounded = cursor === null ? null : Math.min(Math.max(cursor, 0), WINDOW_SECONDS - 1);
    if (bounded === this.cursor) return;
    this.cursor = bounded;
    this.draw();
  }
}

export class Gpus {
  constructor(channels) {
    Object.assign(this, { channels, rows: new Map(), limit: N_SHOWN });
    this.more = byId("gpus-more");
    this.more.addEventListener("click", () => {
      this.limit = Infinity;
      this.update(this.devices, this.recent);
    });
    new ResizeObserver(() => this.redraw()).observe(byId("gpus"));
  }

  update(devices, recent) {
    Object.assign(this, { devices, recent });
    for (const device of devices.slice(0, this.limit)) {
      if (!this.rows.has(device.uuid)) {
        this.rows.set(device.uuid, new Row(device, this.channels));
        byId("gpus").append(this.rows.get(device.uuid).article);
      }
      this.rows.get(device.uuid).update(device, recent);
    }
    const hidden = devices.length - this.rows.size;
    this.more.hidden = hidden <= 0;
    setText(this.more, `Show ${plural(hidden, "more GPU")}`);
  }

  redraw({ isNew = false } = {}) {
    for (const row of this.rows.values()) {
      if (isNew) for (const plot of row.plots) plot.labelledAt = -Infinity;
      row.draw();
    }
  }
}
