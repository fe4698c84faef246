import { describe, expect, it } from "vitest";
import type { Result } from "../../src/engine/api.ts";
import { Journeys } from "../../src/engine/journeys.ts";

/** Requests that begin 10 ns apart, of which each third lasts a hundred times as long. */
function run(count: number): Result {
  const rows = Array.from({ length: count }, (_, row) => row);
  const begin = (row: number) => row * 10;
  const end = (row: number) => begin(row) + (row % 3 === 0 ? 5000 : 50);
  const zeros = new Uint32Array(count);
  return {
    summary: { simulated_ns: 1e6, jobs: ["a"], devices: [] },
    columns: {
      "journeys.request": Uint32Array.from(rows),
      "journeys.begin_ns": Float64Array.from(rows, begin),
      "journeys.op": zeros,
      "journeys.parent": zeros.map(() => 0xffffffff),
      "stays.request": Uint32Array.from(rows),
      "stays.layer": zeros,
      "stays.part": zeros,
      "stays.phase": zeros,
      "stays.from_ns": Float64Array.from(rows, begin),
      "stays.to_ns": Float64Array.from(rows, end),
    },
  } as unknown as Result;
}

describe("journeys", () => {
  it("tell what is under way at a moment, the same when they are looked at again and again", () => {
    const journeys = new Journeys(run(1000));
    const at = (time_ns: number) => {
      const rows: number[] = [];
      journeys.each(time_ns, (row) => rows.push(row));
      return rows;
    };
    const moments = [0, 49, 50, 4999, 5000, 9990, 14_989];
    const first = moments.map(at);
    expect(first[0]).toEqual([0]);
    expect(first[2]).toEqual([0, 1, 2, 3, 4, 5]);
    for (let look = 0; look < 20; look++) expect(moments.map(at)).toEqual(first);
    expect(at(1e9)).toEqual([]);
  });
});
