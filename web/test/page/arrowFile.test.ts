import { RecordBatchReader, tableFromIPC } from "apache-arrow";
import { expect, it, vi } from "vitest";
import { operationsArrow } from "../../src/page/case/arrowFile.ts";
import { q1Result } from "../fixtures/q1.ts";

it("the operation log as an Arrow file holds every column with its values, jobs and operations by name", () => {
  const run = q1Result({ reads: 3 });
  const bytes = operationsArrow(run);
  expect(new TextDecoder().decode(bytes.slice(0, 6))).toBe("ARROW1");

  const table = tableFromIPC(bytes);
  const names = Object.keys(run.columns).filter((name) => name.startsWith("ops."));
  expect(table.schema.fields.map(({ name }) => `ops.${name}`)).toEqual(names);
  expect(table.numRows).toBe(3);
  expect([...table.getChild("latency_ns")!]).toEqual([...run.columns["ops.latency_ns"]!]);
  expect([...table.getChild("id")!]).toEqual([...run.columns["ops.id"]!]);
  expect(String(table.schema.fields.find(({ name }) => name === "id")!.type)).toBe("Uint32");
  expect([...table.getChild("op")!]).toEqual(["read", "read", "read"]);
  expect([...table.getChild("job")!]).toEqual(
    run.summary.jobs.length > 0 ? Array(3).fill(run.summary.jobs[0]) : ["0", "0", "0"],
  );
});

it("a run without operations is a file without rows, with its dictionaries", () => {
  const bytes = operationsArrow(q1Result({ reads: 0 }));
  expect(tableFromIPC(bytes).numRows).toBe(0);
  // Dictionaries are written with a batch; pyarrow refuses a file without them.
  expect([...RecordBatchReader.from(bytes)]).toHaveLength(1);
});

it("columns that share one array are written one by one", () => {
  const run = q1Result({ reads: 3 });
  const zeros = new Float64Array(8).subarray(0, 3);
  const shared = Object.fromEntries(
    Object.entries(run.columns).map(([name, values]) => [name, name.endsWith("_ns") ? zeros : values]),
  );
  const table = tableFromIPC(operationsArrow({ ...run, columns: shared }));
  expect([...table.getChild("transfer_ns")!]).toEqual([0, 0, 0]);
});

it("no text becomes code while the file is written: the page's policy forbids it", () => {
  const construct = () => {
    throw new EvalError("blocked by the policy");
  };
  vi.stubGlobal("Function", new Proxy(Function, { construct, apply: construct }));
  try {
    expect(operationsArrow(q1Result({ reads: 3 })).length).toBeGreaterThan(0);
  } finally {
    vi.unstubAllGlobals();
  }
});
