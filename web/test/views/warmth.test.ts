import { describe, expect, it } from "vitest";
import type { Result } from "../../src/engine/api.ts";
import { formatBytes } from "../../src/views/format.ts";
import { coarserWarmth, describeWarmth, describeWarmthAt, warmth, warmthOf } from "../../src/views/warmth.ts";
import { zfsResult } from "../fixtures/zfs.ts";

const rows = 6;
const each = (value: (row: number) => number) => Float64Array.from({ length: rows }, (_, row) => value(row));

/** Six seconds in which a device warms: from disk at first, from flash at last. */
function warming(changes: Record<string, Float64Array> = {}): Result {
  const columns = {
    "sources.time_ns": each((row) => row * 1e9),
    "sources.memory_bytes": each(() => 1e6),
    "sources.on_its_way_bytes": each(() => 0),
    "sources.flash_bytes": each((row) => row * 1e6),
    "sources.pool_bytes": each((row) => (5 - row) * 1e6),
    "sources.ahead_bytes": each(() => 0),
    "sources.wasted_bytes": each(() => 0),
    "sources.arc_bytes": each(() => 2 ** 30),
    "sources.l2_bytes": each((row) => (row + 1) * 2 ** 29),
    ...changes,
  };
  const base = zfsResult();
  return { ...base, columns, summary: { ...base.summary, simulated_ns: 6e9 } };
}

describe("warmth", () => {
  it("keeps every byte when neighbours are put together, and the last level", () => {
    const fine = warmthOf(warming());
    const coarse = coarserWarmth(fine, 2);
    expect(coarse).toHaveLength(2);
    const flash = (list: typeof fine) => list.reduce((sum, { read }) => sum + read[2]!, 0);
    expect(flash(coarse)).toBe(flash(fine));
    expect(coarse[1]).toMatchObject({ from_s: 3, to_s: 6, l2: 3 * 2 ** 30 });
  });

  it("names what reads were served from, and only that", () => {
    const [served, held] = warmth(warming(), { width: 800 }).querySelectorAll("svg");
    expect(served!.getAttribute("aria-label")).toBe("Rate at which reads were served, by source: memory, flash, disk");
    expect(served!.textContent).not.toContain("on its way");
    expect(held!.textContent).toContain("cache device");
    expect(held!.textContent).not.toContain("thrown away");
  });

  it("tells the run and a moment in words", () => {
    const told = describeWarmth(warming());
    expect(told).toContain("16.7 % memory, 0 % on its way, 41.7 % flash, 41.7 % disk.");
    expect(told).toContain(`The cache device holds ${formatBytes(3 * 2 ** 30)} at the end.`);
    expect(describeWarmthAt(warming(), 4.5)).toContain("66.7 % from flash");
    const wasting = warming({
      "sources.ahead_bytes": each(() => 2 ** 30),
      "sources.wasted_bytes": each(() => 2 ** 29),
    });
    expect(describeWarmth(wasting)).toContain(
      `Of ${formatBytes(6 * 2 ** 30)} read ahead ${formatBytes(3 * 2 ** 30)} were thrown away`,
    );
  });

  it("says so when a run has no ARC", () => {
    expect(warmth(zfsResult(), { width: 800 }).textContent).toContain("no ARC");
  });
});
