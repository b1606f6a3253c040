// Stretches of history that were fetched: one overview of everything, and finer ones of what was looked at.

import { get } from "./link.js";

const N_KEPT = 6;
const OVERVIEW_POINTS = 1500;
const WAIT_MS = 120;
const ROUGHLY = 0.02;
const STATS = ["mean", "low", "high"];

const numbers = (values) => Float32Array.from(values, (value) => value ?? NaN);

class Tile {
  constructor(channel, [start, stop], curves) {
    Object.assign(this, { channel, start, stop, curves: new Map(), step: Infinity });
    for (const [uuid, curve] of Object.entries(curves)) {
      const stats = curve.channels[channel];
      this.curves.set(uuid, { start: curve.start, step: curve.step, ...Object.fromEntries(STATS.map((stat) => [stat, numbers(stats[stat])])) });
      this.step = Math.min(this.step, curve.step);
    }
  }

  // Share of a stretch that it holds, 0 to 1.
  share(start, stop) {
    return Math.max(Math.min(this.stop, stop) - Math.max(this.start, start), 0) / (stop - start);
  }

  covers(start, stop) {
    return this.start <= start && this.stop >= stop;
  }
}

export class Tiles {
  constructor(changed) {
    Object.assign(this, { changed, tiles: [], overview: null });
  }

  // The finest of the tiles that hold about the most of a view.
  best(channel, start, stop) {
    const tiles = [...this.tiles, this.overview].filter((tile) => tile?.channel === channel);
    const most = Math.max(...tiles.map((tile) => tile.share(start, stop)));
    const good = tiles.filter((tile) => tile.share(start, stop) >= most - ROUGHLY);
    return good.reduce((one, other) => (other.step < one.step ? other : one), good[0]) ?? null;
  }

  async look(channel, uuids, whole) {
    const tile = await this.#fetch(channel, uuids, whole, OVERVIEW_POINTS);
    if (!tile) return;
    this.overview = tile;
    this.changed();
  }

  // Asks for a view and as much on either side, unless something as fine is there; waits until moving pauses.
  want(channel, uuids, { start, stop, whole, width }) {
    clearTimeout(this.timer);
    const known = this.best(channel, Math.max(start, whole[0]), Math.min(stop, whole[1]));
    if (known && known.step <= (1.5 * (stop - start)) / width && known.share(start, stop) > 1 - ROUGHLY) return;
    this.timer = setTimeout(() => this.refine(channel, uuids, { start, stop, whole, width }), WAIT_MS);
  }

  async refine(channel, uuids, { start, stop, whole, width }) {
    const span = stop - start;
    const stretch = [Math.max(start - span, whole[0]), Math.min(stop + span, whole[1])];
    if (!(stretch[1] > stretch[0])) return;
    const n = Math.min(Math.ceil((width * (stretch[1] - stretch[0])) / span), 4000);
    const tile = await this.#fetch(channel, uuids, stretch, n);
    if (!tile) return;
    // What it covers as finely need not be kept.
    this.tiles = this.tiles.filter((one) => !(one.channel === channel && tile.covers(one.start, one.stop) && tile.step <= one.step));
    this.tiles = [...this.tiles, tile].slice(-N_KEPT);
    this.changed();
  }

  async #fetch(channel, uuids, stretch, points) {
    try {
      const query = { uuid: uuids.join(","), channel, start: stretch[0], stop: stretch[1], points };
      const { curves } = await get("/api/history", query);
      return new Tile(channel, stretch, curves);
    } catch {
      return null; // the line says that the server is away; what is drawn stays
    }
  }
}
