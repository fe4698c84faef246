import { describe, expect, it } from "vitest";
import { html } from "../../src/base/elements.ts";
import { sentenceNodes } from "../../src/lab/sentence.ts";

const told = (...args: Parameters<typeof sentenceNodes>) => html("p", {}, ...sentenceNodes(...args));

describe("a case's sentence", () => {
  it("has numbers that were measured, bytes with their unit, and a dash for what was not", () => {
    const said = told("The commit of {commit_bytes} took {commit_s} s; {late} late.", {
      commit_bytes: 1_003_270_136,
      commit_s: 9.08,
    });
    expect(said.textContent).toBe("The commit of 956.79\u00a0MiB took 9.08 s; – late.");
    expect(said.querySelector("b")!.title).toBe("1003270136");
  });

  it("covers what would answer the open question", () => {
    const said = told("Lost {lost_bytes}.", { lost_bytes: 7 }, (metric) => metric === "lost_bytes");
    expect(said.textContent).not.toContain("7");
    expect(said.querySelector("b")!.textContent).toMatch(/^\?/);
  });
});
