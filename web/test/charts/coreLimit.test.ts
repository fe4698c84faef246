import { describe, expect, it } from "vitest";
import { coreLimit, coreLimitOf, requestCosts } from "../../src/charts/coreLimit.ts";
import { coreOptions, resultOf, unmapping } from "../fixtures/server.ts";

describe("what a server can do with its cores", () => {
  it("takes a request's own cycles from the run, without the calls", () => {
    expect(requestCosts(unmapping, coreOptions).own_cycles).toBeCloseTo(300_000, 6);
  });

  it("rises with cores, and falls where calls are the limit", () => {
    const costs = requestCosts(unmapping, coreOptions);
    expect(coreLimitOf(costs, 1)).toBeCloseTo(2e9 / 300_000, 6);
    expect(coreLimitOf(costs, 8)).toBeCloseTo((8 * 2e9) / (300_000 + 7 * 3000), 6);
    expect(coreLimitOf(costs, 32)).toBeCloseTo(2e9 / (31 * 2000), 6);
  });

  it("is linear up to the link when nothing is unmapped", () => {
    const metrics = { ...unmapping.summary.metrics, "server.unmaps": 0, "server.cycles_per_byte": 300_000 / 8192 };
    const costs = requestCosts(resultOf(metrics), coreOptions);
    expect(coreLimitOf(costs, 16)).toBeCloseTo((16 * 2e9) / 300_000, 6);
    expect(coreLimitOf(costs, 64)).toBeCloseTo((1e10 / 8 / 8192) * 0.8, 6);
  });

  it("says the run in its label", () => {
    expect(coreLimit(unmapping, { ...coreOptions, width: 600 }).outerHTML).toContain("60,000 with 16");
  });
});
