/** The operation log as an Arrow file, which data libraries read without parsing: columns with their types, jobs by name. */
import {
  type Data,
  Dictionary,
  makeData,
  makeVector,
  RecordBatch,
  Table,
  tableToIPC,
  Uint32,
  Utf8,
} from "apache-arrow";
import { column, type Column, type Result } from "../../engine/api.ts";

const prefix = "ops.";

/** An Arrow IPC file of the columns `ops.*`, without the prefix; `job` and `op` are dictionaries of words. */
export function operationsArrow(result: Result): Uint8Array<ArrayBuffer> {
  const columns: Record<string, Data> = {};
  for (const name of Object.keys(result.columns).filter((key) => key.startsWith(prefix))) {
    const short = name.slice(prefix.length);
    columns[short] = dataOf(short, column(result, name), result.summary.jobs);
  }
  // As a batch, since a table of columns without rows has none, and readers look for the dictionaries in it.
  return Uint8Array.from(tableToIPC(new Table(new RecordBatch(columns)), "file"));
}

function dataOf(name: string, values: Column, jobs: readonly string[]): Data {
  switch (name) {
    case "job":
      return words(Array.from(values, (job) => jobs[job] ?? String(job)));
    case "op":
      return words(Array.from(values, (op) => (op === 0 ? "read" : "write")));
    default:
      // Copied: columns of zeros share an array, and the writer takes neighbours in one array for one piece.
      return makeVector(values.slice()).data[0]!;
  }
}

/** A dictionary of words, put together by hand: the library's builders make functions from text, which the page's policy forbids. */
function words(values: readonly string[]): Data {
  const places = new Map<string, number>();
  const indices = Uint32Array.from(values, (word) => {
    const place = places.get(word) ?? places.size;
    places.set(word, place);
    return place;
  });
  const texts = [...places.keys()].map((word) => new TextEncoder().encode(word));
  const valueOffsets = new Int32Array(texts.length + 1);
  for (const [at, text] of texts.entries()) valueOffsets[at + 1] = valueOffsets[at]! + text.length;
  const data = new Uint8Array(valueOffsets.at(-1)!);
  for (const [at, text] of texts.entries()) data.set(text, valueOffsets[at]);
  const dictionary = makeVector(makeData({ type: new Utf8(), data, valueOffsets }));
  const type = new Dictionary(new Utf8(), new Uint32());
  return makeData({ type, data: indices, dictionary });
}
