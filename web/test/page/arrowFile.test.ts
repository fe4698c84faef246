import { tableFromIPC } from "apache-arrow";
import { expect, it } from "vitest";
import { operationsArrow } from "../../src/page/arrowFile.ts";
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

it("a run without operations is a file without rows", () => {
  const run = q1Result({ reads: 0 });
  expect(tableFromIPC(operationsArrow(run)).numRows).toBe(0);
});
