import { describe, expect, it } from "vitest";
import { missedFrom, phaseOf, readsOf, uncovered } from "../../src/charts/rows/reads.ts";
import { q1Result } from "../fixtures/q1.ts";

const mib = 2 ** 20;

describe("reads of a job", () => {
  it("have a missing tail that begins where the prefetch before them ended", () => {
    const reads = readsOf(q1Result(), "odx");
    expect(reads).toHaveLength(248);
    for (const [at, read] of reads.entries()) {
      if (at === 0) continue;
      const before = reads[at - 1]!.prefetched[0]!;
      expect(read.missing).toEqual([{ from: before.to, to: read.to }]);
      expect(before.to - read.from).toBe(8_388_608);
      expect(read.to - before.to).toBe(262_144);
    }
  });

  it("miss everything at first and nothing when the chunk is large enough", () => {
    const reads = readsOf(q1Result({ chunk_bytes: 9 * mib }), "odx");
    expect(reads[0]!.missing).toEqual([{ from: 0, to: 8.25 * mib }]);
    expect(reads.slice(1).every((read) => read.missing.length === 0)).toBe(true);
  });

  it("have phases that add up to their latency", () => {
    for (const read of readsOf(q1Result(), "odx")) {
      expect(read.phase_ns.reduce((a, b) => a + b)).toBe(read.latency_ns);
    }
  });

  it("draw the missing part at the end when prefetches do not account for it", () => {
    const result = q1Result({ reads: 3 });
    (result.columns["ops.missed_bytes"] as Float64Array)[2] = 4096;
    const read = readsOf(result, "odx")[2]!;
    expect(read.missing).toEqual([{ from: read.to - 4096, to: read.to }]);
  });

  it("are none for a job that the run does not have, or without a log", () => {
    expect(readsOf(q1Result(), "nobody")).toEqual([]);
    expect(readsOf({ ...q1Result(), columns: {} }, "odx")).toEqual([]);
  });

  it("tell flash from disk by the phases", () => {
    expect(missedFrom(readsOf(q1Result(), "odx")[5]!)).toBe("disk");
    const fromFlash = readsOf(q1Result({ source: "flash" }), "odx")[5]!;
    expect(missedFrom(fromFlash)).toBe("flash");
    expect(phaseOf(fromFlash, "flash_read")).toBe(300_000);
  });
});

describe("the parts that ranges leave uncovered", () => {
  it.each([
    [[], [{ from: 0, to: 10 }]],
    [[{ from: 0, to: 10 }], []],
    [
      [
        { from: 6, to: 8 },
        { from: -5, to: 2 },
      ],
      [
        { from: 2, to: 6 },
        { from: 8, to: 10 },
      ],
    ],
    [
      [
        { from: 2, to: 9 },
        { from: 3, to: 4 },
      ],
      [
        { from: 0, to: 2 },
        { from: 9, to: 10 },
      ],
    ],
  ])("of 0 to 10 with %j are %j", (ranges, gaps) => {
    expect(uncovered({ from: 0, to: 10 }, ranges)).toEqual(gaps);
  });
});
