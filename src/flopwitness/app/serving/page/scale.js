// The total against the thresholds: one logarithmic axis, a row a rule.

import { byId, element, setText } from "./dom.js";
import { bounds, isKnown, power10, share } from "./format.js";
import { total } from "./lists.js";

const TOP = 27;
const TICK_DECADES = 3;

export class Scale {
  constructor(thresholds) {
    this.thresholds = thresholds;
    this.floor = 12;
    this.axis = element("div", { class: "track axis", "aria-hidden": "true" });
    this.rows = thresholds.map((rule) => {
      const track = element("div", { class: "track", "aria-hidden": "true" },
        element("span", { class: "interval" }), element("span", { class: "point" }), element("span", { class: "limit" }));
      const ratio = element("span", { class: "value" });
      const name = element("th", { role: "rowheader", scope: "row" }, rule.title, element("small", {}, ` ${rule.status}`));
      const row = element("tr", { role: "row" }, name,
        element("td", { role: "cell", class: "number" }, power10(rule.flop, Number.isInteger(Math.log10(rule.flop)) ? 0 : 1)),
        element("td", { role: "cell", class: "number" }, ratio),
        element("td", { role: "cell", class: "draw" }, track));
      return { rule, track, ratio, row };
    });
    const head = ["Rule", "FLOP", "Total is"].map((title, at) =>
      element("th", { role: "columnheader", scope: "col", class: at ? "number" : "" }, title));
    byId("scale").replaceChildren(element("table", { role: "table", class: "scale" },
      element("caption", {}, "Thresholds, the lowest first. In each row the bar is the total from low to high, the dot its point, the mark the threshold."),
      element("thead", { role: "rowgroup" }, element("tr", { role: "row" }, ...head,
        element("th", { role: "columnheader", scope: "col", class: "draw" }, element("span", { class: "unseen" }, "On a log scale"), this.axis))),
      element("tbody", { role: "rowgroup" }, ...this.rows.map((each) => each.row))));
    this.#ticks();
    for (const { rule, track } of this.rows) track.querySelector(".limit").style.left = this.#at(rule.flop);
  }

  #at(flop) {
    const decades = Math.log10(Math.max(flop, 10 ** this.floor));
    return `${(100 * Math.min((decades - this.floor) / (TOP - this.floor), 1)).toFixed(2)}%`;
  }

  #ticks() {
    const ticks = [];
    for (let decade = this.floor; decade <= TOP; decade += TICK_DECADES) {
      const tick = element("span", { class: "tick" }, power10(10 ** decade, 0));
      tick.style.left = this.#at(10 ** decade);
      ticks.push(tick);
    }
    this.axis.replaceChildren(...ticks);
  }

  update(now) {
    const all = total(now);
    const open = now.running.filter((work) => !work.flop[now.target]).length;
    const without = open ? `; ${open} running without an estimate` : "";
    setText(byId("total"), all ? `${power10(all.point)} ${now.target} FLOP, ${bounds(all)}${without}` : `Nothing was estimated yet${without}.`);
    for (const { rule, track, ratio } of this.rows) {
      setText(ratio, all ? share(all.point / rule.flop) : "–");
      const [interval, point] = track.children;
      interval.hidden = point.hidden = !all || !(all.point > 0);
      if (point.hidden) continue;
      point.style.left = this.#at(all.point);
      interval.style.left = this.#at(all.low);
      interval.style.right = `calc(100% - ${this.#at(isKnown(all.high) ? all.high : 10 ** TOP)})`;
    }
  }
}
