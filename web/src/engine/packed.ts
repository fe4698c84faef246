/** Results as text: for clips, which the site's build stores and a page plays before the engine is there. */
import type { Column, Result } from "./api.ts";

/** Whole numbers as differences from the one before, which compress well; others as they are. */
interface PackedColumn {
  readonly type: "u32" | "f64";
  readonly steps?: readonly number[];
  readonly values?: readonly (number | null)[];
}

export interface PackedResult extends Omit<Result, "columns" | "folded"> {
  readonly columns: Readonly<Record<string, PackedColumn>>;
}

/** Return a result as data that JSON preserves exactly. */
export function pack({ scenario, summary, columns }: Result): PackedResult {
  const packed = Object.entries(columns).map(([name, column]) => {
    const begin = columns[beginOf(name)];
    // An end near its begin is a small number.
    const isEnd = begin?.length === column.length && [...begin, ...column].every(Number.isSafeInteger);
    return [name, packColumn(name, isEnd ? column.map((value, row) => value - begin[row]!) : column)] as const;
  });
  return { scenario, summary, columns: Object.fromEntries(packed) };
}

export function unpack({ scenario, summary, columns: packed }: PackedResult): Result {
  const columns: Record<string, Column> = {};
  for (const [name, column] of Object.entries(packed)) columns[name] = unpackColumn(column);
  for (const [name, column] of Object.entries(columns)) {
    const begin = columns[beginOf(name)];
    const isEnd =
      begin?.length === column.length && packed[name]!.steps !== undefined && [...begin].every(Number.isSafeInteger);
    if (isEnd) columns[name] = column.map((value, row) => value + begin[row]!);
  }
  return { scenario, summary, columns };
}

/** The column with the begins of a column of ends; no column's name for any other. */
function beginOf(name: string): string {
  return name.endsWith(".to_ns") ? name.replace(/to_ns$/, "from_ns") : "";
}

function packColumn(name: string, column: Column): PackedColumn {
  const type = column instanceof Uint32Array ? "u32" : "f64";
  const values = Array.from(column);
  if (values.every(Number.isSafeInteger))
    return { type, steps: values.map((value, nth) => value - (values[nth - 1] ?? 0)) };
  // JSON has no NaN, and no way at all to tell infinities apart.
  if (values.some((value) => Math.abs(value) === Infinity)) throw new Error(`${name} has an infinite value`);
  return { type, values: values.map((value) => (Number.isNaN(value) ? null : value)) };
}

function unpackColumn({ type, steps, values = [] }: PackedColumn): Column {
  let sum = 0;
  const numbers = steps?.map((step) => (sum += step)) ?? values.map((value) => value ?? Number.NaN);
  return type === "u32" ? Uint32Array.from(numbers) : Float64Array.from(numbers);
}
