import { describe, expect, it } from "vitest";
import { feedRate, fillings } from "../../src/charts/feedRate.ts";
import { warming } from "../fixtures/warmth.ts";

describe("the rate at which a cache device fills", () => {
  it("is what it gained over the time, at the share that it held halfway", () => {
    const full = warming({}, { zfs_l2_bytes: 6 * 2 ** 29, zfs_l2_share_percent: 90 });
    const parts = fillings(full);
    expect(parts).toHaveLength(6);
    expect(parts[0]).toEqual({ share_percent: 7.5, mb_per_s: 2 ** 29 / 1e6 });
    expect(parts[5]!.share_percent).toBe(82.5);
    expect(feedRate(full, { width: 400 })!.querySelectorAll("circle")).toHaveLength(6);
  });

  it("is not drawn where there is no device", () => {
    expect(feedRate(warming(), { width: 400 })).toBeUndefined();
  });
});
