import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { type Explanation, fewestSteps, mostWords, spanOf } from "../../src/stage/beats.ts";
import { zfsResult } from "../fixtures/zfs.ts";

const folder = join(import.meta.dirname, "../../beats");
const cases = readdirSync(join(import.meta.dirname, "../../../engine/cases")).filter((name) => name.endsWith(".toml"));

describe("the moments of a beat", () => {
  const result = zfsResult();
  const starts = result.columns["groups.sync_started_ns"]!;

  it("are times of a table, from the nth on", () => {
    const from = { column: "groups.sync_started_ns", nth: 1 };
    expect(spanOf(result, { say: "", from, after_s: 0.001 })).toEqual({
      from_ns: starts[0],
      to_ns: Math.min(starts[0]! + 1e6, result.summary.simulated_ns),
    });
  });

  it("are missing where the run has none, and where they would run backwards", () => {
    const far = { column: "groups.sync_started_ns", nth: 1000 };
    expect(spanOf(result, { say: "", from: far })).toBeUndefined();
    expect(spanOf(result, { say: "", from: { run: "end" }, to: { run: "start" } })).toBeUndefined();
    expect(() => spanOf(result, { say: "", from: { column: "groups.nothing" } })).toThrow("groups.nothing");
  });
});

describe("the beats of the cases", () => {
  it("are at least three for each, none longer than its room", () => {
    for (const name of cases) {
      const text = readFileSync(join(folder, name.replace(".toml", ".json")), "utf8");
      const { dial, steps } = JSON.parse(text) as Explanation;
      expect(dial, name).toBeDefined();
      expect(steps.length, name).toBeGreaterThanOrEqual(fewestSteps);
      for (const { say } of steps) expect(say.split(" ").length, say).toBeLessThanOrEqual(mostWords);
    }
  });
});
