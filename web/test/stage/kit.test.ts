// @vitest-environment node
import { describe, expect, it } from "vitest";
import type { Frame } from "../../src/stage/scenes/scene.ts";
import { along } from "../../src/stage/kit/lane.ts";
import { layoutOf } from "../../src/stage/kit/layout.ts";
import { layBricks } from "../../src/stage/kit/wall.ts";

describe("what is on its way", () => {
  it("lies at equal distances along a line with a corner, and moves on by a share of them", () => {
    const line = [0, 0, 25, 0, 25, 20];
    expect([...along(line, 0, 10)]).toEqual([
      [0, 0],
      [10, 0],
      [20, 0],
      [25, 5],
      [25, 15],
    ]);
    expect([...along(line, 3.5, 10)].at(0)).toEqual([5, 0]);
    expect([...along(line, -0.25, 10)].at(0)).toEqual([7.5, 0]);
  });
});

describe("a wall", () => {
  it("is laid from the bottom up, from any brick on, and its last brick is as pale as it is short", () => {
    const laid: unknown[] = [];
    const context = {
      globalAlpha: 0.5,
      fillRect: (...place: number[]) => laid.push([...place, context.globalAlpha]),
    };
    const frame = { context } as unknown as Frame;
    layBricks(frame, { x: 0, y: 0, width: 20, height: 20 }, { columns: 2, rows: 2, gap: 1 }, 1, 2.5);
    expect(laid).toEqual([
      [11, 11, 8, 8, 0.5],
      [1, 1, 8, 8, 0.25],
    ]);
    expect(context.globalAlpha).toBe(0.5);
  });
});

describe("a plot", () => {
  const [below, beside] = [
    { left: 46, right: 10, y: 420, height: 140 },
    { left: 62, right: 12, y: 64, height: 230 },
  ];

  it("lies beside the picture where there is room, else below it", () => {
    const narrow = layoutOf(619, 0.5);
    expect([narrow.narrow, narrow.right]).toEqual([true, 619]);
    expect(narrow.plot(below, beside)).toEqual({ x: 46, y: 420, width: 563, height: 140 });
    const wide = layoutOf(620, 0.5);
    expect([wide.narrow, wide.right]).toEqual([false, 310]);
    expect(wide.plot(below, beside)).toEqual({ x: 372, y: 64, width: 236, height: 230 });
  });
});
