/** Numbers as people read them: rounded to what is meaningful, with their unit. */

// A number and its unit stay on one line.
export const gap = "\u00a0";

/** Three significant digits, whole from 1000 on, thousands apart. */
export function formatNumber(value: number): string {
  if (!Number.isFinite(value)) return "–";
  if (value === 0) return "0";
  const magnitude = Math.abs(value);
  if (magnitude >= 1e15 || magnitude < 1e-4) return value.toExponential(2);
  if (magnitude >= 1000) return groupThousands(Math.round(value));
  const digits = Math.max(0, 2 - Math.floor(Math.log10(magnitude)));
  const text = value.toFixed(digits);
  // 99.96 rounds to 100.0: one digit too many.
  return Math.abs(Number(text)) >= 10 ** (3 - digits) && digits > 0 ? value.toFixed(digits - 1) : text;
}

/** Every digit of an integer, thousands apart. */
export function groupThousands(value: number): string {
  const [whole = "", fraction] = String(value).split(".");
  const grouped = whole.replace(/\B(?=(\d{3})+(?!\d))/g, ",");
  return fraction === undefined ? grouped : `${grouped}.${fraction}`;
}

const binaryUnits = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"];

/** Bytes in the largest binary unit that keeps the number at 1 or more; exact up to two decimals. */
export function formatBytes(bytes: number): string {
  return scaledBytes(bytes, 1024, binaryUnits);
}

const decimalUnits = ["", "k", "M", "G", "T"];

/** Bytes that somebody chose, in the kind of unit in which they are round: 200 MB is not 190.73 MiB, and 7.75 MiB is not 8.13 MB. */
export function formatRoundBytes(bytes: number): string {
  const decimal = scaledBytes(
    bytes,
    1000,
    decimalUnits.map((unit) => `${unit}B`),
  );
  const binary = formatBytes(bytes);
  const isExact = (text: string) => parseBytes(text) === bytes;
  if (!isExact(decimal)) return binary;
  return !isExact(binary) || decimal.length < binary.length ? decimal : binary;
}

/** The bytes that a text of {@link scaledBytes} says. */
function parseBytes(text: string): number {
  const [digits = "", unit = ""] = text.split(gap);
  const power = binaryUnits.indexOf(unit);
  const scale = power >= 0 ? 1024 ** power : 1000 ** decimalUnits.indexOf(unit.slice(0, -1));
  // The product of two decimals and a power of ten is whole, but for the last bit.
  return Number((Number(digits) * scale).toPrecision(15));
}

function scaledBytes(bytes: number, base: number, units: readonly string[]): string {
  let value = bytes;
  let unit = 0;
  while (Math.abs(value) >= base && unit < units.length - 1) {
    value /= base;
    unit += 1;
  }
  return `${Number(value.toFixed(2))}${gap}${units[unit]!}`;
}

/** A link's rate, in the decimal unit that networks use. */
export function formatBits(bits_per_s: number): string {
  const power = Math.floor(Math.log10(Math.max(1, bits_per_s)) / 3 + 1e-9);
  const unit = Math.min(decimalUnits.length - 1, power);
  return `${Number((bits_per_s / 1000 ** unit).toPrecision(3))}${gap}${decimalUnits[unit]!}bit/s`;
}

/** A number in words without digits that say nothing: 2.50 ms is 2.5 ms, 2.00 is 2. */
export function trimZeros(text: string): string {
  return text.replace(/\.(\d*?)0+(?!\d)/, (_, digits: string) => (digits === "" ? "" : `.${digits}`));
}

/** A time in the unit in which it has one to three digits before the point. */
export function formatNanos(nanos: number): string {
  const magnitude = Math.abs(nanos);
  if (magnitude < 1e3) return `${formatNumber(nanos)}${gap}ns`;
  if (magnitude < 1e6) return `${formatNumber(nanos / 1e3)}${gap}µs`;
  if (magnitude < 1e9) return `${formatNumber(nanos / 1e6)}${gap}ms`;
  return `${formatNumber(nanos / 1e9)}${gap}s`;
}

/** A time in a long run: hours, minutes and seconds. */
export function formatClock(time_s: number): string {
  const whole = Math.floor(time_s);
  const two = (number: number) => String(number).padStart(2, "0");
  return `${Math.floor(whole / 3600)}:${two(Math.floor(whole / 60) % 60)}:${two(whole % 60)}`;
}

/** A round time, for the tick of an axis: no digits but those it has. */
export function formatTick(nanos: number): string {
  return trimZeros(formatNanos(nanos));
}

/** A value with a unit of the schema: B, ns, B/s, 1/s, %, rpm, ... */
export function formatValue(value: number, unit: string | null | undefined): string {
  switch (unit) {
    case "B":
      return formatBytes(value);
    case "B/s":
      return `${formatBytes(value)}/s`;
    case "bit/s":
      return formatBits(value);
    case "ns":
      return value === 0 ? `0${gap}ms` : formatNanos(value);
    case "1/s":
      return `${formatNumber(value)}${gap}/s`;
    case "%":
    case "percent":
      return `${formatNumber(value)}%`;
    case "":
    case null:
    case undefined:
      return formatNumber(value);
    default:
      return unit === "x" || unit === "×" ? `${formatNumber(value)}×` : `${formatNumber(value)}${gap}${unit}`;
  }
}

/** A value that somebody set, such as a control's. */
export function formatSetting(value: number, unit: string | null | undefined): string {
  if (unit === "B") return formatRoundBytes(value);
  if (unit === "B/s") return `${formatRoundBytes(value)}/s`;
  return trimZeros(formatValue(value, unit));
}

/** A value as its source gives it: every digit, none added; bytes in full unless they are round. */
export function formatExact(value: number, unit: string): string {
  if (unit === "B" && Math.abs(value) >= 1e6 && value % 1e4 === 0) return formatRoundBytes(value);
  const digits = groupThousands(Number(value.toPrecision(12)));
  if (unit === "%" || unit === "percent") return `${digits}%`;
  if (unit === "x") return `${digits}×`;
  return unit === "" ? digits : `${digits}${gap}${unit}`;
}

/** A metric's value in a sentence, bytes with their unit; a dash for a metric that the run lacks. */
export function formatMetric(name: string, value: number | undefined): string {
  if (value === undefined) return "–";
  if (name.endsWith("_bytes")) return formatBytes(value);
  // A count is whole: 29 reads, not 29.0.
  return Number.isInteger(value) ? groupThousands(value) : formatNumber(value);
}

/** A count with what is counted: 1 write, 40 writes. */
export function counted(count: number, one: string, many = `${one}s`): string {
  return `${groupThousands(count)} ${count === 1 ? one : many}`;
}

/** Fills `{metric_name}` in a sentence with the metric's value. */
export function fillSentence(template: string, metrics: Readonly<Record<string, number>>): string {
  return template.replace(/\{([^{}]+)\}/g, (_, name: string) => {
    const metric = name.trim();
    return formatMetric(metric, metrics[metric]);
  });
}

/** What is left of a sentence's template without the clauses that name a covered metric; empty if each of them does. */
export function withoutCovered(template: string, isCovered: (metric: string) => boolean): string {
  const isTellable = (clause: string) =>
    Array.from(clause.matchAll(/\{([^{}]+)\}/g)).every(([, name]) => !isCovered(name!.trim()));
  const parts = template.split(/(?<=[.;]) /).flatMap((part) => {
    if (isTellable(part)) return [part];
    const clauses = part.split(/, (?:and )?/);
    const covered = clauses.findIndex((clause) => !isTellable(clause));
    return covered === 0 ? [] : [`${clauses.slice(0, covered).join(", ")}.`];
  });
  const text = parts.join(" ").replace(/;$/, ".");
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** Keeps a number and its unit on one line. */
export function keepUnits(text: string): string {
  return text.replace(/(\d) (?=(?:ns|µs|us|ms|s|h|%|B|KiB|MiB|GiB|TiB|kB|MB|GB)\b|%)/g, "$1\u00a0");
}
