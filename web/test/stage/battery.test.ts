/** The picture of a controller's battery: charge, policy and crowd are those of the engine's tables, and log lines come in time. */
import { describe, expect, it } from "vitest";

import type { Result } from "../../src/engine/api.ts";
import { journeysOf } from "../../src/engine/journeys.ts";
import { batteryOf } from "../../src/charts/rows/battery.ts";
import { batteryScene } from "../../src/stage/scenes/battery.ts";

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
    expect(built.describe(5e9)).toBe("0:00:05: charge 64%, write-back; 100 commits a second, 0 waiting.");
    expect(built.describe(15e9)).toBe("0:00:15: charge 14%, write-through; 59.0 commits a second, 205 waiting.");
    expect(built.describe(25e9)).toBe("0:00:25: charge 0%, write-back; 141 commits a second, 205 waiting.");
  });

  it("has the lines of the controller's log, in order", () => {
    const lines = batteryOf(result)?.log.map(({ at_s, words }) => `${at_s} ${words}`);
    expect(lines?.[3]).toBe("10 policy changed to write-through");
    expect(lines).toHaveLength(6);
  });

  it("tells the rate of the last whole interval where one has hardly begun", () => {
    const late = made(columns, { battery: { learn_at: 0 } });
    (late.summary as { simulated_ns: number }).simulated_ns = 21e9;
    expect(build(late).describe(20.5e9)).toContain("59.0 commits a second");
  });

  it("needs no battery, and says so where there is no cache", () => {
    expect(build(made(columns, {})).describe(5e9)).toContain("no battery");
    expect(build(made({}, undefined)).describe(5e9)).toBe("No controller of this run has a cache.");
  });
});
