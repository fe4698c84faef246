import { describe, expect, it } from "vitest";
import type { NetworkSpec, ServerSpec } from "../../src/generated/scenario.ts";
import { coreLimit, coreLimitOf, requestCosts } from "../../src/charts/coreLimit.ts";
import { controllerResult } from "../fixtures/controller.ts";

const server = { cores: 16, hz: 2e9, buffers: { keeps: 131072, call_cycles: 2000, answer_cycles: 1000 } } as ServerSpec;
const network = { bits_per_s: 1e9, server_bits_per_s: 1e10, round_trip: 0 } as NetworkSpec;
const options = { job: "reads", op: "read", server, network } as const;

function resultOf(metrics: Record<string, number>) {
  const base = controllerResult();
  return { ...base, summary: { ...base.summary, metrics } };
}

const unmapping = resultOf({
  "reads.read_ios": 1000,
  "reads.read_bytes": 8192 * 1000,
  "reads.read_iops": 60_000,
  "server.unmaps": 1000,
  "server.cycles_per_byte": (300_000 + 15 * 3000) / 8192,
  "network.to_client_payload_bytes": 8000,
  "network.to_client_wire_bytes": 10_000,
});

describe("what a server can do with its cores", () => {
  it("takes a request's own cycles from the run, without the calls", () => {
    expect(requestCosts(unmapping, options).own_cycles).toBeCloseTo(300_000, 6);
  });

  it("rises with cores, and falls where calls are the limit", () => {
    const costs = requestCosts(unmapping, options);
    expect(coreLimitOf(costs, 1)).toBeCloseTo(2e9 / 300_000, 6);
    expect(coreLimitOf(costs, 8)).toBeCloseTo((8 * 2e9) / (300_000 + 7 * 3000), 6);
    expect(coreLimitOf(costs, 32)).toBeCloseTo(2e9 / (31 * 2000), 6);
  });

  it("is linear up to the link when nothing is unmapped", () => {
    const metrics = { ...unmapping.summary.metrics, "server.unmaps": 0, "server.cycles_per_byte": 300_000 / 8192 };
    const costs = requestCosts(resultOf(metrics), options);
    expect(coreLimitOf(costs, 16)).toBeCloseTo((16 * 2e9) / 300_000, 6);
    expect(coreLimitOf(costs, 64)).toBeCloseTo((1e10 / 8 / 8192) * 0.8, 6);
  });

  it("says the run in its label", () => {
    expect(coreLimit(unmapping, { ...options, width: 600 }).outerHTML).toContain("60,000 with 16");
  });
});
