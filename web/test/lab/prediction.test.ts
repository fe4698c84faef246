import { describe, expect, it } from "vitest";
import type { Ask } from "../../src/engine/types.ts";
import { distance, isNear, type Memory, near, predictionOf } from "../../src/lab/prediction.ts";

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

  it("covers nothing in the run that the page opens on, if it is about another run alone", () => {
    const covers = ["m"];
    const coveredIn = (measure: unknown, run: { variant: string; set: object }) =>
      predictionOf({ ...doc, ask: { measure, covers } as unknown as Ask }, memoryWith()).coveredIn({
        ...run,
        set: run.set as Record<string, number>,
      })("m");
    const opening = { variant: "broken", set: {} };
    expect(coveredIn({ metric: "m", variant: "fixed" }, opening)).toBe(false);
    expect(coveredIn({ metric: "m", variant: "fixed" }, { ...opening, set: { a: 1 } })).toBe(true);
    expect(coveredIn({ metric: "m", variant: "fixed" }, { ...opening, variant: "other" })).toBe(true);
    expect(coveredIn({ metric: "m", variant: "broken" }, opening)).toBe(true);
    expect(coveredIn(ask.measure, opening)).toBe(true);
  });

  it.each(["", "{", "7", '{"guess":"much"}', "{}"])("is open when what was remembered is %j", (text) => {
    expect(predictionOf(doc, memoryWith(text)).answer).toEqual({ kind: "open" });
  });
});

describe("a guess beside the answer", () => {
  it.each([
    [10, 10.001, "exactly"],
    [5, 10, "off by a factor 2"],
    [100, 5, "off by a factor 20"],
    [0, 10, ""],
    [-1, 10, ""],
  ])("of %d for %d is %s", (guess, answer, text) => expect(distance(guess, answer)).toBe(text));

  it("is right within a factor in both directions", () => {
    const guesses = [10 * near, 10 / near, 10.01 * near, 9.9 / near, 0];
    expect(guesses.map((guess) => isNear(guess, 10))).toEqual([true, true, false, false, false]);
    expect(isNear(0, 0)).toBe(true);
  });
});
