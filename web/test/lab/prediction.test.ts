import { describe, expect, it } from "vitest";
import type { Ask } from "../../src/engine/types.ts";
import { type Memory, predictionOf } from "../../src/lab/prediction.ts";

const ask = {
  measure: {
    ratio: [
      { metric: "m", variant: "broken" },
      { metric: "m", variant: "fixed" },
    ],
  },
} as unknown as Ask;
const doc = { ask, default_variant: "broken" };

function memoryWith(text: string | null = null): Memory & { text: string | null } {
  return {
    text,
    read() {
      return this.text;
    },
    write(answer) {
      this.text = answer;
    },
  };
}

describe("the question of a case", () => {
  it("stands before the first variant of its measure that is not shown from the start, and before no other", () => {
    const prediction = predictionOf(doc, memoryWith());
    expect(prediction.revealing).toBe("fixed");
    expect(prediction.isOpenFor("fixed")).toBe(true);
    expect(prediction.isOpenFor("broken")).toBe(false);
    expect(prediction.isOpenFor("two-ahead")).toBe(false);
  });

  it("stands before no variant when its measure names only the first", () => {
    const own = predictionOf(
      { ...doc, ask: { ...ask, measure: { metric: "m", seeds: 1, over: "mean" } } },
      memoryWith(),
    );
    expect(own.revealing).toBeUndefined();
    expect(["broken", "fixed"].some((variant) => own.isOpenFor(variant))).toBe(false);
  });

  it("is closed by a guess, and the guess is there on the next visit", () => {
    const memory = memoryWith();
    predictionOf(doc, memory).commit(4.2);
    const again = predictionOf(doc, memory);
    expect(again.answer).toEqual({ kind: "guess", guess: 4.2 });
    expect(again.isOpenFor("fixed")).toBe(false);
  });

  it("is closed by skipping it, on the next visit too", () => {
    const memory = memoryWith();
    const prediction = predictionOf(doc, memory);
    prediction.skip();
    expect(prediction.isOpenFor("fixed")).toBe(false);
    expect(predictionOf(doc, memory).answer).toEqual({ kind: "skipped" });
  });

  it("covers what would answer it until it is answered, also when no variant reveals it", () => {
    const covered = { measure: { metric: "m", seeds: 1, over: "mean" }, covers: ["m"] } as unknown as Ask;
    const prediction = predictionOf({ ...doc, ask: covered }, memoryWith());
    expect(["m", "other"].map(prediction.isCovered)).toEqual([true, false]);
    prediction.commit(1);
    expect(prediction.isCovered("m")).toBe(false);
  });

  it.each(["", "{", "7", '{"guess":"much"}', "{}"])("is open when what was remembered is %j", (text) => {
    expect(predictionOf(doc, memoryWith(text)).answer).toEqual({ kind: "open" });
  });
});
