import { describe, expect, it } from "vitest";
import type { Result } from "../../src/engine/api.ts";
import { analytics, describeAnalytics, intervalsOf, sharesOf } from "../../src/charts/analytics.ts";
import { controllerResult } from "../fixtures/controller.ts";

/** Two intervals of 100 ms; a client, a job and two devices in each. */
function kept(): Result {
  const rows = [0, 1e8].flatMap((time_ns, at) => [
    { time_ns, of: 0, who: 0, ios: 10 * (at + 1), bytes: 2 ** 20 * (at + 1), total_ns: 1e7 * (at + 1) },
    { time_ns, of: 1, who: 0, ios: 10 * (at + 1), bytes: 2 ** 20 * (at + 1), total_ns: 3e7 * (at + 1) },
    { time_ns, of: 2, who: 0, ios: 5, bytes: 2 ** 19, total_ns: 4e7 },
    { time_ns, of: 2, who: 1, ios: 5, bytes: 2 ** 19, total_ns: 9e7 },
  ]);
  const numbers = (name: "time_ns" | "ios" | "bytes" | "total_ns") => Float64Array.from(rows, (row) => row[name]);
  return {
    ...controllerResult(),
    scenario: { server: { cores: 2, hz: 1e9 } } as Result["scenario"] & object,
    columns: {
      "analytics.time_ns": numbers("time_ns"),
      "analytics.width_ns": Float64Array.from(rows, () => 1e8),
      "analytics.of": Uint32Array.from(rows, (row) => row.of),
      "analytics.who": Uint32Array.from(rows, (row) => row.who),
      "analytics.ios": numbers("ios"),
      "analytics.bytes": numbers("bytes"),
      "analytics.total_ns": numbers("total_ns"),
      "cores.time_ns": Float64Array.of(0, 1e8),
      "cores.width_ns": Float64Array.of(1e8, 1e8),
      "cores.cycles": Float64Array.of(1e8, 2e8),
    },
  };
}

describe("a server's analytics", () => {
  it("are rates of each interval, the server's beside the clients'", () => {
    const [first, second] = intervalsOf(kept());
    expect(first).toMatchObject({ server_ios: 100, server_mib_per_s: 10, server_ms: 1, clients_ms: 3 });
    expect(first).toMatchObject({ cores_percent: 50, device_percent: 90 });
    expect(second).toMatchObject({ server_ios: 200, clients_mib_per_s: 20, cores_percent: 100 });
  });

  it("are kept for each client and each device", () => {
    expect(sharesOf(kept(), 2).map(({ who, value }) => [who, value])).toEqual([
      [0, 40],
      [1, 90],
      [0, 40],
      [1, 90],
    ]);
    expect(sharesOf(kept(), 0).map(({ value }) => value)).toEqual([10, 20]);
  });

  it("are drawn with a name for each picture, and said in a sentence", () => {
    const pictures = analytics(kept(), { width: 600 }).querySelectorAll("[role=img]");
    expect(pictures).toHaveLength(4);
    expect(describeAnalytics(kept())).toContain("20.0 MiB/s with 100 % of its cores");
  });

  it("say so when none were kept", () => {
    const none = { ...kept(), columns: {} };
    expect(analytics(none, { width: 600 }).textContent).toBe("This run kept no analytics.");
  });
});
