import { describe, expect, it } from "vitest";
import { analytics, describeAnalytics, intervalsOf, sharesOf } from "../../src/charts/analytics.ts";
import { analyticsResult } from "../fixtures/analytics.ts";
import { numbersIn } from "../fixtures/numbers.ts";

describe("a server's analytics", () => {
  it("are rates of each interval, the server's beside the clients'", () => {
    const [first, second] = intervalsOf(analyticsResult());
    expect(first).toMatchObject({ server_ios: 100, server_mib_per_s: 10, server_ms: 1, clients_ms: 3 });
    expect(first).toMatchObject({ cores_percent: 50, device_percent: 90 });
    expect(second).toMatchObject({ server_ios: 200, clients_mib_per_s: 20, cores_percent: 100 });
  });

  it("are kept for each client and each device", () => {
    expect(sharesOf(analyticsResult(), 2).map(({ who, value }) => [who, value])).toEqual([
      [0, 40],
      [1, 90],
      [0, 40],
      [1, 90],
    ]);
    expect(sharesOf(analyticsResult(), 0).map(({ value }) => value)).toEqual([10, 20]);
  });

  it("are drawn with a name for each picture, and said in a sentence", () => {
    const pictures = analytics(analyticsResult(), { width: 600 }).querySelectorAll("[role=img]");
    expect(pictures).toHaveLength(4);
    // The server's MiB/s, the share of its cores, the busiest device.
    expect(numbersIn(describeAnalytics(analyticsResult()))).toEqual(["20.0", "100%", "90.0%"]);
  });

  it("say so when none were kept", () => {
    const none = { ...analyticsResult(), columns: {} };
    const drawn = analytics(none, { width: 600 });
    expect([drawn.className, drawn.textContent]).toEqual(["empty", describeAnalytics(none)]);
  });
});
