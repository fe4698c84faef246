import { describe, expect, it } from "vitest";
import { curveOn, momentOf, sumsOf } from "../../src/stage/kit/curve.ts";

const plot = { x: 10, y: 20, width: 100, height: 50 };

describe("the curve of an amount over a run", () => {
  const intervals = [
    { from_s: 0, to_s: 1, amount: 2 },
    { from_s: 1, to_s: 1.5, amount: 4 },
  ];

  it("has a level for each interval, the last of which the end of the run cuts off", () => {
    const curve = curveOn(plot, 1.25, (amount) => amount / 4);
    expect(curve.levels(intervals, ({ amount }) => amount)).toBe("M10.0 45.0L90.0 45.0L90.0 20.0L110.0 20.0");
  });

  it("adds up what came by a moment", () => {
    const sum = sumsOf(intervals, ({ from_s, to_s, amount }) => amount * (to_s - from_s));
    expect([0, 0.5, 1, 1.25, 9].map((time_s) => sum(momentOf(intervals, time_s)))).toEqual([0, 1, 2, 3, 4]);
  });

  it("stands at the begin while no time of the run has passed", () => {
    const begun = [{ from_s: 0, to_s: 0, amount: 0 }];
    expect(curveOn(plot, 0, () => 0).levels(begun, ({ amount }) => amount)).toBe("M10.0 70.0L10.0 70.0");
    expect(momentOf(begun, 0)).toEqual({ nth: 0, share: 0 });
  });
});
