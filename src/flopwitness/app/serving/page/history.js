// The history: drag, wheel, arrow keys, + and -. One frame a screen refresh, and only where something moved.

import { byId, calm, element, setText } from "./dom.js";
import { CHANNELS, duration, instant, plural, reading, shortName } from "./format.js";
import { LANE, commonTop, drawLanes, lanesHeight } from "./lanes.js";
import { Tiles } from "./tiles.js";

const MAX_LANES = 16;
const LEAST_SECONDS = 10;
const EASE = 0.28; // share of the way to the aim that one frame goes
const REFRESH_MS = 10_000;
const FOLLOW_MS = 500;
const BEHIND = 0.006; // share of the view that may be missing at its newest end

export class History {
  constructor(channels) {
    Object.assign(this, { channel: channels[0], uuids: [], spans: new Map(), cursor: null, isFollowing: true, whole: [0, 0] });
    this.view = { start: 0, stop: 0 };
    this.aim = { start: 0, stop: 0 };
    this.tiles = new Tiles(() => this.wake());
    this.overviewAt = this.refinedAt = -Infinity;
    this.#build(channels);
    this.#listen();
  }

  // Takes a newer state: how far the history reaches, and which workloads were found.
  update(now) {
    if (!now.at || now.at <= now.first) return;
    const { whole } = this;
    this.whole = [now.first, now.at];
    this.limits = Object.fromEntries(now.devices.map((device) => [device.uuid, device.tops]));
    this.running = now.running;
    this.uuids = now.devices.slice(0, MAX_LANES).map((device) => device.uuid);
    this.canvas.style.height = `${lanesHeight(this.uuids.length)}px`;
    this.hidden.hidden = now.devices.length <= MAX_LANES;
    setText(this.hidden, `The first ${MAX_LANES} of ${now.devices.length} GPUs.`);
    if (!whole[1]) this.#go(...this.whole, { jump: true });
    else if (this.isFollowing) this.#follow(whole[1]);
    const time = performance.now();
    if (time - this.overviewAt > REFRESH_MS || this.whole[1] - this.whole[0] > 1.5 * (whole[1] - whole[0])) {
      this.overviewAt = time;
      this.tiles.look(this.channel, this.uuids, this.whole);
    }
    this.#mark();
    this.wake();
  }

  workloads(finished) {
    this.found = finished;
    this.#mark();
    this.wake();
  }

  wake() {
    this.frame ??= requestAnimationFrame(() => this.#frame());
  }

  #mark() {
    this.spans = new Map(this.uuids.map((uuid) => [uuid, []]));
    for (const work of [...(this.found ?? []), ...(this.running ?? [])]) {
      for (const uuid of work.uuids) this.spans.get(uuid)?.push([work.start, work.stop ?? work.last]);
    }
  }

  #build(channels) {
    this.select = element("select", { id: "history-channel" }, ...channels.map((name) =>
      element("option", { value: name }, `${CHANNELS[name].title} (${CHANNELS[name].unit})`)));
    const button = (text, label, act) => {
      const made = element("button", { type: "button", "aria-label": label }, text);
      made.addEventListener("click", act);
      return made;
    };
    this.follow = button("Follow", "Follow the newest samples", () => this.#follow(this.whole[1], true));
    const controls = element("div", { class: "controls" },
      element("label", { for: "history-channel" }, "Signal"), this.select,
      button("←", "Earlier", () => this.#pan(-0.5)), button("→", "Later", () => this.#pan(0.5)),
      button("+", "Zoom in", () => this.#zoom(0.5)), button("−", "Zoom out", () => this.#zoom(2)),
      button("All", "Show everything", () => this.#all()), this.follow);
    this.canvas = element("canvas", { "aria-hidden": "true" });
    this.text = element("p", { class: "hint", id: "history-text" });
    this.said = element("p", { class: "unseen", role: "status" });
    this.readout = element("p", { class: "readout" }, "\u00a0");
    this.hidden = element("p", { class: "hint", hidden: true });
    this.pane = element("div", { class: "pane", tabindex: "0", role: "group", "aria-label": "History plot", "aria-describedby": "history-text history-keys" }, this.canvas);
    const keys = "Drag to move; wheel to zoom while the plot is focused or Ctrl is held. Keys: ← → move, + − zoom, Home the first, End the newest, 0 everything. Shaded: workloads that were found.";
    byId("history").replaceChildren(controls, this.pane, this.readout, this.text, this.hidden, element("p", { class: "hint", id: "history-keys" }, keys), this.said);
  }

  #listen() {
    const { pane } = this;
    const dragging = new Map();
    pane.addEventListener("pointerdown", (event) => {
      if (event.button !== 0) return;
      pane.setPointerCapture(event.pointerId);
      dragging.set(event.pointerId, event.clientX);
      pane.classList.add("dragging");
    });
    pane.addEventListener("pointermove", (event) => {
      if (!dragging.has(event.pointerId)) {
        this.#point(event);
        return;
      }
      this.#drag(dragging, event);
    });
    for (const name of ["pointerup", "pointercancel"]) {
      pane.addEventListener(name, (event) => {
        dragging.delete(event.pointerId);
        if (!dragging.size) pane.classList.remove("dragging");
      });
    }
    pane.addEventListener("pointerleave", () => this.#read(null));
    pane.addEventListener("wheel", (event) => this.#wheel(event), { passive: false });
    pane.addEventListener("keydown", (event) => this.#press(event));
    this.select.addEventListener("change", () => this.#choose(this.select.value));
    new ResizeObserver(() => this.wake()).observe(pane);
  }

  // One finger moves, two zoom around their middle.
  #drag(dragging, event) {
    const before = [...dragging.values()];
    dragging.set(event.pointerId, event.clientX);
    const after = [...dragging.values()];
    const { left, width } = this.pane.getBoundingClientRect();
    const span = this.aim.stop - this.aim.start;
    if (after.length === 1) {
      const moved = ((before[0] - after[0]) / width) * span;
      this.#go(this.aim.start + moved, this.aim.stop + moved, { jump: true });
    } else {
      const spread = (xs) => Math.max(Math.abs(xs[0] - xs[1]), 20);
      this.#zoom(spread(before) / spread(after), ((after[0] + after[1]) / 2 - left) / width, { jump: true });
    }
  }

  #wheel(event) {
    const isSideways = Math.abs(event.deltaX) > Math.abs(event.deltaY);
    if (!isSideways && !event.ctrlKey && document.activeElement !== this.pane) return; // the page scrolls
    event.preventDefault();
    const { left, width } = this.pane.getBoundingClientRect();
    if (isSideways) this.#pan(event.deltaX / width);
    else this.#zoom(1.0015 ** event.deltaY, (event.clientX - left) / width);
  }

  #press(event) {
    const acts = {
      ArrowLeft: () => this.#pan(event.shiftKey ? -1 : -0.2),
      ArrowRight: () => this.#pan(event.shiftKey ? 1 : 0.2),
      "+": () => this.#zoom(0.6), "=": () => this.#zoom(0.6), "-": () => this.#zoom(1 / 0.6),
      Home: () => this.#pan(-Infinity), End: () => this.#follow(this.whole[1], true), 0: () => this.#all(),
    };
    if (event.ctrlKey || event.metaKey || event.altKey || !(event.key in acts)) return;
    event.preventDefault();
    acts[event.key]();
    setText(this.said, this.#words(this.aim));
  }

  #pan(share) {
    const span = this.aim.stop - this.aim.start;
    const start = Math.max(this.aim.start + share * span, this.whole[0]);
    this.#go(start, start + span);
  }

  #zoom(factor, at = 0.5, options = {}) {
    const span = this.aim.stop - this.aim.start;
    const wanted = Math.min(Math.max(span * factor, LEAST_SECONDS), this.whole[1] - this.whole[0]);
    const start = this.aim.start + (span - wanted) * at;
    this.#go(start, start + wanted, options);
  }

  #all() {
    this.#go(...this.whole);
  }

  #follow(before, isAsked = false) {
    const isAll = this.aim.start <= this.whole[0] && this.aim.stop >= before;
    const span = this.aim.stop - this.aim.start;
    this.#go(isAll && !isAsked ? this.whole[0] : this.whole[1] - span, this.whole[1], { jump: !isAsked });
  }

  // Moves the aim, kept inside what there is; the view follows over some frames.
  #go(start, stop, { jump = false } = {}) {
    const span = Math.min(stop - start, Math.max(this.whole[1] - this.whole[0], LEAST_SECONDS));
    const first = Math.max(Math.min(start, this.whole[1] - span), this.whole[0]);
    this.aim = { start: first, stop: first + span };
    this.isFollowing = this.aim.stop >= this.whole[1] - 0.001 * span;
    this.follow.setAttribute("aria-pressed", String(this.isFollowing));
    if (jump || calm()) this.view = { ...this.aim };
    this.wake();
  }

  #frame() {
    this.frame = null;
    const span = this.aim.stop - this.aim.start;
    if (!(span > 0)) return;
    const far = Math.abs(this.aim.start - this.view.start) + Math.abs(this.aim.stop - this.view.stop);
    if (far < 0.0005 * span) this.view = { ...this.aim };
    else {
      this.view.start += (this.aim.start - this.view.start) * EASE;
      this.view.stop += (this.aim.stop - this.view.stop) * EASE;
      this.wake();
    }
    this.#draw();
  }

  #draw() {
    const { start, stop } = this.view;
    const width = this.canvas.clientWidth;
    if (!width) return;
    const tile = this.tiles.best(this.channel, Math.max(start, this.whole[0]), Math.min(stop, this.whole[1]));
    const limit = Math.max(...this.uuids.map((uuid) => this.limits[uuid]?.[this.channel] ?? 0));
    if (tile !== this.topOf || this.channel !== this.topChannel) {
      [this.topOf, this.topChannel] = [tile, this.channel];
      this.top = tile ? commonTop(this.tiles.overview ?? tile, this.channel, this.channel === "nvlink_bytes_per_second" ? 0 : limit) : 1;
    }
    drawLanes(this.canvas, { view: this.view, tile, uuids: this.uuids, channel: this.channel, top: this.top, spans: this.spans, cursor: this.cursor });
    setText(this.text, this.#words(this.view));
    this.#ask(width);
  }

  #ask(width) {
    const request = { ...this.aim, whole: this.whole, width };
    const time = performance.now();
    if (!this.isFollowing) this.tiles.want(this.channel, this.uuids, request);
    else if (time - this.refinedAt > FOLLOW_MS && !(this.topOf?.share(this.aim.start, this.aim.stop) > 1 - BEHIND)) {
      this.refinedAt = time;
      this.tiles.refine(this.channel, this.uuids, request);
    }
  }

  #words({ start, stop }) {
    const { title } = CHANNELS[this.channel];
    return `${title} of ${plural(this.uuids.length, "GPU")}, ${instant(start)} to ${instant(stop)} UTC (${duration(stop - start)}).`;
  }

  #choose(channel) {
    this.channel = channel;
    this.refinedAt = -Infinity;
    this.tiles.look(channel, this.uuids, this.whole);
  }

  #point(event) {
    const { left, top, width } = this.pane.getBoundingClientRect();
    const time = this.view.start + ((event.clientX - left) / width) * (this.view.stop - this.view.start);
    this.#read(time, this.uuids[Math.floor((event.clientY - top) / LANE.height)]);
  }

  #read(time, uuid) {
    this.cursor = time;
    const curve = uuid && this.topOf?.curves.get(uuid);
    const at = curve ? Math.floor((time - curve.start) / curve.step) : -1;
    const text = curve && at >= 0 && at < curve.mean.length
      ? `${instant(time)} UTC, ${shortName(uuid)}: ${reading(this.channel, curve.mean[at])} (${reading(this.channel, curve.low[at])} to ${reading(this.channel, curve.high[at])}) over ${duration(curve.step)}`
      : "\u00a0";
    setText(this.readout, text);
    this.wake();
  }
}
