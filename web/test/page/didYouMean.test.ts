import { describe, expect, it } from "vitest";
import { distanceOf, nearestNames } from "../../src/page/front/didYouMean.ts";

const names = ["odx-prefetch", "media-prefetch", "throttle-2008", "openzfs-throttle"];

describe("what an address may have meant", () => {
  it("is the name with fewest letters changed", () => {
    expect(distanceOf("kitten", "sitting")).toBe(3);
    expect(distanceOf("", "abc")).toBe(3);
    expect(nearestNames("odx-prefecth", names)).toEqual(["odx-prefetch"]);
    expect(nearestNames("Throttle-2009", names)).toEqual(["throttle-2008"]);
    expect(nearestNames("throttle", names)).toEqual(["throttle-2008", "openzfs-throttle"]);
  });

  it("is nothing where nothing is near, and a very long address costs nothing", () => {
    expect(nearestNames("wp-login", names)).toEqual([]);
    expect(nearestNames("", names)).toEqual([]);
    expect(nearestNames("x".repeat(1e6), names)).toEqual([]);
  });
});
