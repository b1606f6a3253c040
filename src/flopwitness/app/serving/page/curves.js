// The last minutes of each GPU, second by second, in rings: what was not sampled is NaN and draws nothing.

export const WINDOW_SECONDS = 300;
const SIZE = WINDOW_SECONDS + 2;
const STATS = ["mean", "low", "high"];

class Ring {
  constructor(channels) {
    this.held = new Float64Array(SIZE).fill(-1);
    this.values = Object.fromEntries(
      channels.map((name) => [name, Object.fromEntries(STATS.map((stat) => [stat, new Float64Array(SIZE).fill(NaN)]))]),
    );
  }

  take(curve) {
    const first = Math.round(curve.start);
    for (const [name, stats] of Object.entries(curve.channels)) {
      const kept = this.values[name];
      for (const stat of STATS) {
        stats[stat].forEach((value, at) => {
          kept[stat][(first + at) % SIZE] = value ?? NaN;
        });
      }
    }
    const length = Object.values(curve.channels)[0].mean.length;
    for (let at = 0; at < length; at += 1) this.held[(first + at) % SIZE] = first + at;
  }

  at(name, stat, second) {
    const slot = second % SIZE;
    return this.held[slot] === second ? this.values[name][stat][slot] : NaN;
  }
}

export class Recent {
  constructor(channels) {
    this.channels = channels;
    this.rings = new Map();
    this.until = 0;
  }

  take(curves, until) {
    for (const [uuid, curve] of Object.entries(curves)) {
      if (curve.step !== 1) continue;
      if (!this.rings.has(uuid)) this.rings.set(uuid, new Ring(this.channels));
      this.rings.get(uuid).take(curve);
    }
    this.until = Math.max(this.until, until);
  }

  // Means, lows and highs of the window up to the last second, oldest first.
  window(uuid, name) {
    const ring = this.rings.get(uuid);
    const last = Math.floor(this.until);
    const found = Object.fromEntries(STATS.map((stat) => [stat, new Float64Array(WINDOW_SECONDS).fill(NaN)]));
    for (let at = 0; ring && at < WINDOW_SECONDS; at += 1) {
      for (const stat of STATS) found[stat][at] = ring.at(name, stat, last - WINDOW_SECONDS + 1 + at);
    }
    return found;
  }
}

// The last value that is known in a window's final seconds; NaN where the GPU fell silent.
export function newest(values, patience = 3) {
  for (let at = values.length - 1; at >= Math.max(values.length - patience, 0); at -= 1) {
    if (!Number.isNaN(values[at])) return values[at];
  }
  return NaN;
}

export function extent(values) {
  let least = Infinity;
  let most = -Infinity;
  for (const value of values) {
    if (value < least) least = value;
    if (value > most) most = value;
  }
  return most < least ? [NaN, NaN] : [least, most];
}
