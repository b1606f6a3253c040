// What is told in words: the glance, running and finished workloads, findings, the ledger.

import { byId, element, setText, table } from "./dom.js";
import { bounds, duration, instant, isKnown, plural, power10, shortName, si } from "./format.js";

const N_SHOWN = 20;
const N_SHOWN_NARROW = 5; // a workload takes ten lines there
const NO_FLOP = "no estimate: signals are missing";

export function sum(one, other) {
  if (!one || !other) return one ?? other;
  const high = isKnown(one.high) && isKnown(other.high) ? one.high + other.high : null;
  return { low: one.low + other.low, point: one.point + other.point, high };
}

// Finished and open work together; absent where nothing has an estimate.
export function total(now) {
  const open = now.running.map((work) => work.flop[now.target]).filter(Boolean);
  return open.reduce(sum, now.totals[now.target]);
}

export function showFacts(now) {
  const all = total(now);
  const busy = now.devices.filter((device) => device.running_since && !device.is_lost).length;
  const lost = now.devices.filter((device) => device.is_lost).length;
  const facts = [
    ["GPUs", `${now.devices.length}`, [`${busy} at work`, lost ? `${lost} lost` : ""].filter(Boolean).join(", ")],
    ["Workloads", `${now.running.length} running`, `${now.n_finished.toLocaleString("en")} finished`],
    ["FLOP in all", all ? power10(all.point) : "none yet", all ? bounds(all) : ""],
    ["Samples", now.n_samples.toLocaleString("en"), now.n_missed ? `${plural(now.n_missed, "round")} missed` : "no round missed"],
    ["Last sample", now.at ? instant(now.at).slice(11) : "none yet", now.at ? `${instant(now.at).slice(0, 10)}, UTC` : ""],
  ];
  const list = byId("facts");
  if (list.children.length !== facts.length) {
    list.replaceChildren(...facts.map(([title]) => element("div", {}, element("dt", {}, title), element("dd"), element("dd", { class: "more" }))));
  }
  facts.forEach(([, value, more], at) => {
    const [, first, second] = list.children[at].children;
    setText(first, value);
    setText(second, more);
  });
}

const gpuNames = (uuids) => (uuids.length > 2 ? `${uuids.length} GPUs` : uuids.map(shortName).join(", "));

export function showRunning(now) {
  const place = byId("running");
  if (!now.running.length) {
    if (!place.querySelector(".empty")) place.replaceChildren(element("p", { class: "empty" }, "Nothing is running."));
    return;
  }
  const rows = now.running.map((work) => {
    const flop = work.flop[now.target];
    const seconds = work.last - work.start;
    return [
      gpuNames(work.uuids),
      instant(work.start),
      duration(seconds),
      flop ? power10(flop.point) : NO_FLOP,
      flop ? bounds(flop) : "–",
      flop && seconds > 0 ? si(flop.point / seconds, "FLOP/s") : "–",
    ];
  });
  // As many as before: only their texts change, and a reader's place is kept.
  const cells = place.querySelectorAll("tbody .value");
  if (cells.length === rows.flat().length) {
    rows.flat().forEach((text, at) => setText(cells[at], text));
    return;
  }
  const columns = [["GPUs", "names"], ["Since (UTC)"], ["For", "number"], [`FLOP so far (${now.target})`, "number"], ["Low to high", "number"], ["Mean rate", "number"]];
  const caption = "Work that has not ended. FLOP so far are the calibrated pipe sum with its calibrated bounds; the full estimate comes at the end.";
  place.replaceChildren(table(caption, columns, rows));
}

let finishedLimit = innerWidth < 760 ? N_SHOWN_NARROW : N_SHOWN;

export function showFinished(now) {
  const place = byId("finished");
  if (!now.finished.length) {
    place.replaceChildren(element("p", { class: "empty" }, "None has finished yet."));
    return;
  }
  const newest = [...now.finished].reverse();
  const rows = newest.slice(0, finishedLimit).map((work) => {
    const flop = work.flop[now.target];
    return [
      instant(work.stop),
      work.name || "workload",
      gpuNames(work.uuids),
      duration(work.stop - work.start),
      flop ? power10(flop.point) : NO_FLOP,
      flop ? bounds(flop) : "–",
      flop?.method ?? "–",
      work.work_class,
      si(work.energy_joules, "J"),
      work.job_id || "–",
      work.findings.join(", ") || "–",
    ];
  });
  const columns = [["Ended (UTC)"], ["Name"], ["GPUs", "names"], ["Took", "number"], [`FLOP (${now.target})`, "number"], ["Low to high", "number"],
    ["Method"], ["Kind of work"], ["Energy", "number"], ["Job"], ["Findings"]];
  const kept = now.n_finished > now.finished.length ? ` of ${now.n_finished.toLocaleString("en")}` : "";
  place.replaceChildren(table(`The latest ${plural(rows.length, "workload")}${kept}, newest first. FLOP by the full estimate.`, columns, rows));
  if (newest.length > rows.length) place.append(moreButton(newest.length - rows.length, now));
}

function moreButton(n, now) {
  const button = element("button", { type: "button" }, `Show ${n} more`);
  button.addEventListener("click", () => {
    finishedLimit = Infinity;
    showFinished(now);
    byId("finished-title").setAttribute("tabindex", "-1");
    byId("finished-title").focus();
  });
  return button;
}

export function showFindings(now) {
  const place = byId("findings");
  if (!now.findings.length) {
    place.replaceChildren(element("p", { class: "empty" }, "None so far."));
    return;
  }
  const items = [...now.findings].reverse().slice(0, N_SHOWN).map((finding) =>
    element("li", { class: finding.severity },
      element("strong", {}, finding.severity), ` ${finding.message} `,
      element("small", {}, [finding.code, finding.start ? `${instant(finding.start)} UTC` : ""].filter(Boolean).join(" · "))));
  place.replaceChildren(element("ul", { class: "findings" }, ...items));
}

export function showLedger(now) {
  const place = byId("ledger");
  const { ledger } = now;
  if (!ledger) {
    const text = "No ledger is kept. flopwitness watch --ledger FILE --ledger-key KEY keeps one.";
    if (!place.querySelector(".empty")) place.replaceChildren(element("p", { class: "empty" }, text));
    return;
  }
  const text = `${plural(ledger.n_entries, "entry", "entries")}`;
  if (place.dataset.head === ledger.head_sha256) return;
  place.dataset.head = ledger.head_sha256;
  place.replaceChildren(element("dl", { class: "ledger" },
    element("dt", {}, "File"), element("dd", {}, element("code", {}, ledger.path)),
    element("dt", {}, "Holds"), element("dd", {}, text),
    element("dt", {}, "Head (SHA-256)"), element("dd", {}, element("code", {}, ledger.head_sha256))));
}
