// @vitest-environment jsdom
import { describe, expect, it } from "vitest";
import { fitOf, curveSketch } from "../../src/page/case/curveSketch.ts";

const build = (given: Partial<Parameters<typeof curveSketch>[0]> = {}) =>
  curveSketch({
    width: 400,
    control: "Block size",
    controlUnit: "B",
    isLog: true,
    values: [1, 2, 4, 8, 16, 32, 64].map((times) => times * 4096),
    metric: "read latency mean",
    metricUnit: "ms",
    present: 8,
    ...given,
  });
const points = (built: ReturnType<typeof curveSketch>) => [...built.element.querySelectorAll("[role=slider]")];
const press = (point: Element, key: string, times = 1) => {
  for (let presses = 0; presses < times; presses++) point.dispatchEvent(new KeyboardEvent("keydown", { key }));
};

describe("a drawn curve", () => {
  it("begins flat at the value on the stage", () => {
    expect(
      build()
        .curve()
        .map(({ metric }) => metric),
    ).toEqual(Array.from({ length: 7 }, () => 8));
  });

  it("is bent by the keys of a slider, four steps to a doubling, and says each value", () => {
    const built = build();
    const last = points(built).at(-1)!;
    press(last, "ArrowUp", 4);
    press(points(built)[0]!, "PageDown");
    expect(built.curve()[0]).toEqual({ value: 4096, metric: 4 });
    expect(built.curve().at(-1)).toEqual({ value: 64 * 4096, metric: 16 });
    expect(last.getAttribute("aria-valuetext")).toBe("16.0\u00a0ms");
    expect(last.getAttribute("aria-label")).toContain("256\u00a0KiB");
  });

  it("lies between its points in equal ratios", () => {
    const built = build({ values: [1, 2, 3], isLog: false, controlUnit: null });
    press(points(built)[2]!, "ArrowUp", 8);
    expect(built.curve().map(({ metric }) => metric)).toEqual([8, 8, 32]);
  });

  it("of shares ends at 100 %", () => {
    const built = build({ metricUnit: "%", present: 50 });
    press(points(built)[3]!, "PageUp", 9);
    expect(Math.max(...built.curve().map(({ metric }) => metric))).toBeCloseTo(100, 9);
  });
});

describe("how a drawn curve fits", () => {
  const at = (...metrics: number[]) => metrics.map((metric, nth) => ({ value: nth + 1, metric }));

  it.each([
    [at(10, 10), at(10, 11), "Your curve is within 25% at 2 of 2 values."],
    [at(10, 10), at(10, 40), "Your curve is within 25% at 1 of 2 values; furthest off at 2, 4.0 times too low."],
    [at(300, 10), at(10, 10), "Your curve is within 25% at 1 of 2 values; furthest off at 1, 30 times too high."],
    [at(10, 10), at(Number.NaN, 10), "Your curve is within 25% at 1 of 1 values."],
    [at(10), at(0), ""],
  ])("is told by its furthest value", (drawn, simulated, words) => expect(fitOf(drawn, simulated, null)).toBe(words));
});
