import { describe, expect, it } from "vitest";
import type { Result } from "../../src/engine/api.ts";
import { phases } from "../../src/base/colours.ts";
import { copiesOf, copyTimeline, describeCopies } from "../../src/charts/copyTimeline.ts";

const ms = 1e6;
const mib = 2 ** 20;

/** Two copies of 2 MiB, one after the other: the first over the network in 40 ms, the second within the server in 10 ms. */
function twoCopies(): Result {
  const rows = [
    { job: 0, op: 0, at: 0, network_transfer: 9, round_trip: 1 },
    { job: 0, op: 1, at: 10, network_transfer: 9, round_trip: 1 },
    { job: 0, op: 0, at: 20, network_transfer: 9, round_trip: 1 },
    { job: 0, op: 1, at: 30, network_transfer: 4, round_trip: 1, window_wait: 5 },
    { job: 1, op: 0, at: 40, transfer: 5 },
    { job: 1, op: 1, at: 45, transfer: 5 },
  ];
  const each = (value: (row: (typeof rows)[number], at: number) => number) => Float64Array.from(rows, value);
  const inPhase = (row: (typeof rows)[number], name: string) =>
    ((row as Readonly<Record<string, number | undefined>>)[name] ?? 0) * ms;
  const columns: Record<string, Float64Array> = {
    "ops.id": each((_, at) => at),
    "ops.job": each((row) => row.job),
    "ops.op": each((row) => row.op),
    "ops.offset": each((_, at) => at * mib),
    "ops.bytes": each((row) => (row.job === 0 ? mib : 2 * mib)),
    "ops.submit_ns": each((row) => row.at * ms),
    "ops.latency_ns": each((row) => phases.reduce((sum, { name }) => sum + inPhase(row, name), 0)),
  };
  for (const { name } of phases) columns[`ops.${name}_ns`] = each((row) => inPhase(row, name));
  return {
    columns,
    summary: { jobs: ["client", "odx", "idle"], metrics: {}, units: {}, simulated_ns: 50 * ms },
  } as unknown as Result;
}

describe("copies side by side", () => {
  const result = twoCopies();

  it("count each copy from its own start, and leave out jobs that copy nothing", () => {
    expect(
      copiesOf(result).map(({ job, elapsed_ns, bytes, lanes }) => [job, elapsed_ns / ms, bytes / mib, lanes]),
    ).toEqual([
      ["client", 40, 2, 1],
      ["odx", 10, 2, 1],
    ]);
  });

  it("share out every nanosecond of a request, a write's bytes first and a read's last", () => {
    const [client] = copiesOf(result);
    expect(Object.values(client!.shares_ns).reduce((sum, ns) => sum + ns)).toBe(40 * ms);
    expect(client!.shares_ns.window).toBe(5 * ms);
    expect(client!.requests[0]!.parts.map(({ share }) => share)).toEqual(["distance", "network"]);
    expect(client!.requests[1]!.parts.map(({ share }) => share)).toEqual(["network", "distance"]);
  });

  it("say how many times as fast the others are, in words and in the picture", () => {
    expect(describeCopies(result)).toBe("client takes 40.0\u00a0ms; odx is 4.00 times as fast.");
    const figure = copyTimeline(result, { width: 800 });
    expect(figure.querySelectorAll("[role=img]")).toHaveLength(2);
    expect(figure.textContent).toContain("window full");
  });
});
