import { describe, expect, it } from "vitest";
import { html } from "../../src/base/elements.ts";
import { sentenceNodes, untold } from "../../src/lab/sentence.ts";

const told = (...args: Parameters<typeof sentenceNodes>) => html("p", {}, ...sentenceNodes(...args));

describe("a case's sentence", () => {
  it("has numbers that were measured, bytes with their unit, and no clause of what was not", () => {
    const said = told("The commit of {commit_bytes} took {commit_s} s; {late} late.", {
      commit_bytes: 1_003_270_136,
      commit_s: 9.08,
    });
    expect(said.textContent).toBe("The commit of 956.79\u00a0MiB took 9.08 s.");
    expect(said.querySelector("b")!.title).toBe("1003270136");
  });

  const numbers = { a: 100, b: 200, c: 300 };

  it.each([
    ["{c} reads. {a} of {b} dropped.", "100 of 200 dropped."],
    ["{a} dropped, timers expired {c} times, and {b} waited.", "100 dropped."],
    ["{a} committed; {c} waited.", "100 committed."],
    ["{c} waited; {a} committed.", "100 committed."],
    ["{c} waited.", untold],
  ])("of which c is covered: %s", (template, words) => {
    expect(told(template, numbers, (metric) => metric === "c").textContent).toBe(words);
  });
});
