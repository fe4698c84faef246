/** Values as people type and paste them, in any unit of their kind. */

const binary = ["", "k", "m", "g", "t", "p"];

/** What one of a unit is in the unit of the field, in lower case; `s` is a sector, as partitioning tools print it. */
const bytes: ReadonlyMap<string, number> = new Map([
  ...binary.flatMap((prefix, power): [string, number][] => [
    [`${prefix}ib`, 1024 ** power],
    [`${prefix}b`, 1000 ** power],
    [prefix, 1024 ** power],
  ]),
  ["s", 512],
]);
const nanos: ReadonlyMap<string, number> = new Map([
  ["ns", 1],
  ["us", 1e3],
  ["µs", 1e3],
  ["μs", 1e3],
  ["ms", 1e6],
  ["s", 1e9],
  ["min", 60e9],
  ["h", 3600e9],
]);
const bits: ReadonlyMap<string, number> = new Map(
  binary.flatMap((prefix, power): [string, number][] => [
    [`${prefix}bit`, 1000 ** power],
    [prefix, 1000 ** power],
  ]),
);

/** The number that a text stands for in a unit of the schema; undefined for a text that is none. */
export function parseSetting(text: string, unit: string | null | undefined): number | undefined {
  const match = /^([+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?)\s*(.*)$/i.exec(text.trim().replace(/,(?=\d{3})/g, ""));
  if (match === null) return undefined;
  const number = Number(match[1]);
  const named = match[2]!.toLowerCase();
  const factor = factorOf(named, unit ?? "");
  return factor === undefined || !Number.isFinite(number) ? undefined : Number((number * factor).toPrecision(15));
}

function factorOf(named: string, unit: string): number | undefined {
  switch (unit) {
    case "B":
      return bytes.get(named);
    case "B/s":
      return bytes.get(named.replace(/(\/s|ps)$/, ""));
    case "bit/s":
      return bits.get(named.replace(/(\/s|ps)$/, ""));
    case "ns":
      // A time without a unit would be nanoseconds, which nobody means.
      return named === "" ? undefined : nanos.get(named);
    default:
      return ["", unit.toLowerCase(), unit === "1/s" ? "/s" : ""].includes(named) ? 1 : undefined;
  }
}

/** Values that are accepted, for a message. */
export function examplesOf(unit: string | null | undefined): string {
  switch (unit) {
    case "B":
      return "write, for example, 8 MiB, 200 MB or 63s (sectors).";
    case "B/s":
      return "write, for example, 100 MB/s.";
    case "bit/s":
      return "write, for example, 10 Gbit/s.";
    case "ns":
      return "write, for example, 200 ms or 10 us.";
    default:
      return "write a number.";
  }
}
