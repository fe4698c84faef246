import { describe, expect, it } from "vitest";
import { coarserWarmth, describeWarmth, describeWarmthAt, sources, warmth, warmthOf } from "../../src/charts/warmth.ts";
import { numbersIn } from "../fixtures/numbers.ts";
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
    const [memory, inFlight, flash, disk] = sources.map(({ label }) => label);
    expect(served!.getAttribute("aria-label")!.split(": ")[1]).toBe([memory, flash, disk].join(", "));
    expect(served!.textContent).not.toContain(inFlight);
    expect(held!.textContent).toContain("cache device");
    expect(held!.textContent).not.toContain("discarded");
  });

  it("tells the run and a moment in words", () => {
    const shares = ["16.7%", "0%", "41.7%", "41.7%"];
    expect(describeWarmth(warming())).toContain(sources.map(({ label }, at) => `${shares[at]!} ${label}`).join(", "));
    // Of each source, and on the cache device at the end.
    expect(numbersIn(describeWarmth(warming()))).toEqual([...shares, "3 GiB"]);
    expect(describeWarmthAt(warming(), 4.5)).toContain("66.7% from flash");
    const wasting = warming({
      "sources.ahead_bytes": each(() => 2 ** 30),
      "sources.wasted_bytes": each(() => 2 ** 29),
    });
    // Read ahead, and discarded of it.
    expect(numbersIn(describeWarmth(wasting)).slice(-2)).toEqual(["6 GiB", "3 GiB"]);
  });

  it("says so when a run has no ARC", () => {
    const drawn = warmth(zfsResult(), { width: 800 });
    expect([drawn.className, drawn.textContent]).toEqual(["empty", describeWarmth(zfsResult())]);
  });
});
