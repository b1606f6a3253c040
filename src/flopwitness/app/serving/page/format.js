// Numbers and instants as people read them. Base units come in; nothing unknown is shown as a number.

const DASH = "–";
const RAISED = "⁰¹²³⁴⁵⁶⁷⁸⁹";
const PREFIXES = [[1e18, "E"], [1e15, "P"], [1e12, "T"], [1e9, "G"], [1e6, "M"], [1e3, "k"], [1, ""]];

export const CHANNELS = {
  power_watts: { title: "Power", unit: "W", colour: "--c1" },
  tensor_active_ratio: { title: "Tensor", unit: "%", colour: "--c4" },
  dram_active_ratio: { title: "DRAM", unit: "%", colour: "--c3" },
  nvlink_bytes_per_second: { title: "NVLink", unit: "B/s", colour: "--c8" },
  sm_clock_hertz: { title: "Clock", unit: "Hz", colour: "--c7" },
};

export const isKnown = (value) => value !== null && value !== undefined && Number.isFinite(value);

const digits = (value) => (value >= 100 ? value.toFixed(0) : value >= 10 ? value.toFixed(1) : value.toFixed(2));

// 1234567 with "B/s" is "1.23 MB/s".
export function si(value, unit) {
  if (!isKnown(value)) return DASH;
  const [scale, prefix] = PREFIXES.find(([least]) => Math.abs(value) >= least) ?? [1, ""];
  const text = value === 0 ? "0" : Math.abs(value) < 1 ? value.toPrecision(2) : digits(value / scale);
  return `${text} ${prefix}${unit}`;
}

export function reading(channel, value) {
  if (!isKnown(value)) return DASH;
  const { unit } = CHANNELS[channel];
  if (unit === "%") return `${(100 * value).toFixed(value < 0.0995 ? 1 : 0)} %`;
  if (unit === "W") return `${value.toFixed(0)} W`;
  return si(value, unit);
}

// 1.234e17 is "1.234 × 10¹⁷".
export function power10(value, n = 3) {
  if (!isKnown(value)) return DASH;
  if (value === 0) return "0";
  const [mantissa, exponent] = value.toExponential(n).split("e");
  const raised = [...String(Math.abs(Number(exponent)))].map((digit) => RAISED[digit]).join("");
  const head = Number(mantissa) === 1 && n === 0 ? "" : `${mantissa} × `;
  return `${head}10${Number(exponent) < 0 ? "⁻" : ""}${raised}`;
}

export const bounds = (flop) => `${power10(flop.low, 2)} to ${isKnown(flop.high) ? power10(flop.high, 2) : "no upper end"}`;

export function share(ratio) {
  if (!isKnown(ratio)) return DASH;
  if (ratio >= 0.001) return `${(100 * ratio).toPrecision(ratio >= 0.1 ? 3 : 2)} %`;
  return ratio === 0 ? "0 %" : `${power10(100 * ratio, 1)} %`;
}

export function duration(seconds) {
  const whole = Math.max(Math.round(seconds), 0);
  if (seconds < 10) return `${Math.max(seconds, 0).toFixed(1)} s`;
  if (whole < 120) return `${whole} s`;
  const parts = [[86400, "d"], [3600, "h"], [60, "min"], [1, "s"]];
  let left = whole;
  const found = [];
  for (const [length, name] of parts) {
    const count = Math.floor(left / length);
    left -= count * length;
    if (count) found.push(`${count} ${name}`);
  }
  return found.slice(0, 2).join(" ");
}

const iso = (seconds) => new Date(seconds * 1000).toISOString();
export const clock = (seconds) => iso(seconds).slice(11, 19);
export const day = (seconds) => iso(seconds).slice(0, 10);
export const instant = (seconds) => `${day(seconds)} ${clock(seconds)}`;

export const shortName = (uuid) => (uuid.length > 18 ? `…${uuid.slice(-12)}` : uuid);
export const plural = (n, one, many = `${one}s`) => `${n.toLocaleString("en")} ${n === 1 ? one : many}`;
