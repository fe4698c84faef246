/** The picture of a controller's battery: charge, policy and crowd are those of the engine's tables, and log lines come in time. */
import { describe, expect, it } from "vitest";

import type { Result } from "../../src/engine/api.ts";
import { journeysOf } from "../../src/engine/journeys.ts";
import { batteryOf, logLines } from "../../src/charts/rows/battery.ts";
import { batteryScene } from "../../src/stage/scenes/battery.ts";
import { numbersIn } from "../fixtures/numbers.ts";

// Three intervals of 10 s: the charge falls below 28% at the start of the second; write-back resumes at the start of the third.
const columns = {
  "raid_cache.time_ns": [0, 10e9, 20e9],
  "raid_cache.charge": [1, 0.28, 0],
  "raid_cache.write_through": [0, 1, 0],
  "series.writes": [1000, 590, 1410],
  "backlog.waiting": [0, 410, 0],
  "learn_cycles.cycle": [0, 0, 0, 0, 0, 0],
  "learn_cycles.time_ns": [0, 1e9, 10e9, 10e9, 20e9, 20e9],
  "learn_cycles.line": [0, 1, 2, 3, 4, 5],
};

function made(of: Record<string, readonly number[]>, raid_cache: unknown): Result {
  const typed = Object.entries(of).map(([name, values]) => [name, Float64Array.from(values)] as const);
  return {
    scenario: { raid_cache, devices: [], jobs: [] },
    summary: { simulated_ns: 30e9, jobs: ["clients"], devices: ["log"], metrics: {} },
    columns: Object.fromEntries(typed),
  } as unknown as Result;
}

const build = (result: Result) =>
  batteryScene.build({ result, journeys: journeysOf(result), focus: { job: "clients", op: "write" }, width: 900 });

describe("a controller's battery", () => {
  const result = made(columns, { battery: { learn_at: 0 } });

  it("tells charge, policy, rate and crowd of a moment", () => {
    const built = build(result);
    const [before, during, after] = [5e9, 15e9, 25e9].map((time_ns) => built.describe(time_ns));
    // After the clock: the charge, commits a second, waiting.
    expect(numbersIn(before)).toEqual(["0", "00", "05", "64%", "100", "0"]);
    expect(numbersIn(during)).toEqual(["0", "00", "15", "14%", "59.0", "205"]);
    expect(numbersIn(after)).toEqual(["0", "00", "25", "0%", "141", "205"]);
    expect([before, during, after].map((words) => words!.includes("write-through"))).toEqual([false, true, false]);
  });

  it("has the lines of the controller's log, in order", () => {
    const lines = batteryOf(result)!.log;
    expect(lines.map(({ at_s }) => at_s)).toEqual([0, 1, 10, 10, 20, 20]);
    expect(lines.map(({ words }) => words)).toEqual(logLines.slice(0, 6));
  });

  it("tells the rate of the last whole interval where one has hardly begun", () => {
    const late = made(columns, { battery: { learn_at: 0 } });
    (late.summary as { simulated_ns: number }).simulated_ns = 21e9;
    expect(numbersIn(build(late).describe(20.5e9)).at(-2)).toBe("59.0");
  });

  it("needs no battery, and says so where there is no cache", () => {
    expect(numbersIn(build(made(columns, {})).describe(5e9))).toEqual(["0", "00", "05", "100", "0"]);
    const { key, describe: say } = build(made({}, undefined));
    expect(key).toEqual([]);
    expect(say(5e9)).toMatch(/^\D+$/);
  });
});
