import { describe, expect, it } from "vitest";
import { formatBytes } from "../../src/base/format.ts";
import { coarserWarmth, describeWarmth, describeWarmthAt, warmth, warmthOf } from "../../src/charts/warmth.ts";
import { each, warming } from "../fixtures/warmth.ts";
import { zfsResult } from "../fixtures/zfs.ts";

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
    expect(served!.getAttribute("aria-label")).toBe("Rate of reads served, by source: memory, flash, disk");
    expect(served!.textContent).not.toContain("in flight");
    expect(held!.textContent).toContain("cache device");
    expect(held!.textContent).not.toContain("discarded");
  });

  it("tells the run and a moment in words", () => {
    const told = describeWarmth(warming());
    expect(told).toContain("16.7% memory, 0% in flight, 41.7% flash, 41.7% disk.");
    expect(told).toContain(`The cache device holds ${formatBytes(3 * 2 ** 30)} at the end.`);
    expect(describeWarmthAt(warming(), 4.5)).toContain("66.7% from flash");
    const wasting = warming({
      "sources.ahead_bytes": each(() => 2 ** 30),
      "sources.wasted_bytes": each(() => 2 ** 29),
    });
    expect(describeWarmth(wasting)).toContain(
      `Of ${formatBytes(6 * 2 ** 30)} read ahead, ${formatBytes(3 * 2 ** 30)} were discarded`,
    );
  });

  it("says so when a run has no ARC", () => {
    expect(warmth(zfsResult(), { width: 800 }).textContent).toContain("no ARC");
  });
});
