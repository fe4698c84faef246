import { describe, expect, it } from "vitest";
import type { Frame } from "../../src/stage/scenes/scene.ts";
import { type Stroke, turnScore, turnsShown } from "../../src/stage/scenes/turnScore.ts";

const box = { x: 100, y: 0, width: 200, height: 10 * turnsShown };
const turn_ns = 10e6;
const stroke = (kind: Stroke["kind"], from: number, to: number): Stroke => ({
  kind,
  from_ns: from * turn_ns,
  to_ns: to * turn_ns,
  from_turns: from,
  to_turns: to,
});

/** A write whose first block is read first, one turn before it can be written. */
const strokes = [
  stroke("wait", 0.25, 0.5),
  stroke("read", 0.5, 0.5002),
  stroke("wait", 0.5002, 1.5),
  stroke("write", 1.5, 2.1),
  stroke("read", turnsShown + 0.1, turnsShown + 0.1002),
];

function drawnAt(turns: number) {
  const rects: { paint: string; x: number; row: number; width: number }[] = [];
  const numbers: string[] = [];
  const context = {
    fillStyle: "",
    fillRect(x: number, y: number, width: number) {
      rects.push({ paint: this.fillStyle, x, row: Math.floor(y / 10), width });
    },
    fillText: (words: string) => numbers.push(words),
    beginPath: () => undefined,
    moveTo: () => undefined,
    lineTo: () => undefined,
    stroke: () => undefined,
  };
  const score = turnScore(strokes, box);
  const frame = { context, time_ns: turns * turn_ns, paint: (meaning: string) => meaning } as unknown as Frame;
  score.draw(frame);
  return { rects, numbers, count: score.countAt(turns * turn_ns) };
}

describe("the score of a disk's turns", () => {
  it("has a row for each turn, with the angle from left to right", () => {
    const { rects } = drawnAt(2.1);
    const write = rects.filter(({ paint }) => paint === "transfer");
    expect(write.map(({ row }) => row)).toEqual([1, 2]);
    expect(write[0]).toMatchObject({ x: 200, width: 100 });
    expect(write[1]!.x).toBe(100);
    expect(write[1]!.width).toBeCloseTo(20);
  });

  it("shows data of a few kilobytes in a width that is seen, at the angle at which they are written a turn later", () => {
    const { rects } = drawnAt(2.1);
    const read = rects.find(({ paint }) => paint === "disk")!;
    expect(read.width).toBeGreaterThanOrEqual(3);
    expect(read.x).toBe(rects.find(({ paint, row }) => paint === "transfer" && row === 1)!.x);
  });

  it("is written up to the present, and counts turns and ended writes", () => {
    expect(drawnAt(0.4).rects.map(({ paint }) => paint)).toEqual(["rotation"]);
    expect(drawnAt(0.4).rects[0]!.width).toBeCloseTo(30);
    expect(drawnAt(1.8)).toMatchObject({ numbers: [], count: { turns: 2, writes: 0 } });
    expect(drawnAt(2.2)).toMatchObject({ numbers: ["1"], count: { turns: 3, writes: 1 } });
  });

  it("goes on at the top once all rows are written", () => {
    const { rects } = drawnAt(turnsShown + 0.2);
    expect(rects).toHaveLength(1);
    expect(rects[0]).toMatchObject({ paint: "disk", row: 0 });
  });
});
