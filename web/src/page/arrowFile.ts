/** The operation log as an Arrow file, which data libraries read without parsing: columns with their types, jobs by name. */
import { Dictionary, Table, tableToIPC, Uint32, Utf8, type Vector, vectorFromArray } from "apache-arrow";
import { column, type Column, type Result } from "../engine/api.ts";

const prefix = "ops.";

/** An Arrow IPC file of the columns `ops.*`, without the prefix; `job` and `op` are dictionaries of words. */
export function operationsArrow(result: Result): Uint8Array<ArrayBuffer> {
  const columns: Record<string, Vector> = {};
  for (const name of Object.keys(result.columns).filter((key) => key.startsWith(prefix))) {
    const short = name.slice(prefix.length);
    columns[short] = vectorOf(short, column(result, name), result.summary.jobs);
  }
  return Uint8Array.from(tableToIPC(new Table(columns), "file"));
}

function vectorOf(name: string, values: Column, jobs: readonly string[]): Vector {
  switch (name) {
    case "job":
      return words(Array.from(values, (job) => jobs[job] ?? String(job)));
    case "op":
      return words(Array.from(values, (op) => (op === 0 ? "read" : "write")));
    default:
      return vectorFromArray(values);
  }
}

function words(values: readonly string[]): Vector {
  return vectorFromArray(values, new Dictionary(new Utf8(), new Uint32()));
}
