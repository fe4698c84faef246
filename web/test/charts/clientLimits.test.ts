import { describe, expect, it } from "vitest";
import type { Result } from "../../src/engine/api.ts";
import { clientLimits, clientTable, describeClient, testsOf } from "../../src/charts/clientLimits.ts";

/** A made-up run of three tests, each with another limit. */
function made(): Result {
  const test = (job: string, limiter: number, more: Readonly<Record<string, number>>) =>
    Object.entries({ limiter, elapsed_s: 2, cp_percent: 38, process_busy_share_percent: 38, ...more }).map(
      ([name, value]) => [`${job}.${name}`, value] as const,
    );
  return {
    columns: {},
    summary: {
      case: "bonnie-decoded",
      variant: "one-eighth",
      seed: 1,
      fingerprint: "0123456789abcdef",
      metrics: Object.fromEntries([
        ...test("put_block", 2, {
          printed_k_per_s: 114313.4,
          network_busy_share_percent: 100,
          to_server_mb_per_s: 125,
          to_client_mb_per_s: 4.5,
        }),
        ...test("seq_create", 0, { write_iops: 679.9, process_busy_share_percent: 10 }),
        ...test("seq_stat", 1, { read_iops: 500_000, elapsed_s: 0.01, process_busy_share_percent: 100 }),
      ]),
      units: {},
      events: 1000,
      simulated_ns: 2e9,
      jobs: ["put_block", "seq_create", "seq_stat", "other"],
      devices: ["server0"],
      warnings: [],
    },
  };
}

describe("the limits of a client", () => {
  it("prints what Bonnie++ would, and the limit by name", () => {
    const [write, create, stat] = testsOf(made());
    expect(testsOf(made())).toHaveLength(3);
    expect([write!.printed, write!.limiter, write!.seen_mb_per_s]).toEqual(["114,313 K/s", "network", 125]);
    expect([create!.printed, create!.limiter]).toEqual(["680 a second", "latency"]);
    expect(stat!.printed).toBe("+++++");
  });

  it("says who is limited by what", () => {
    expect(describeClient(made())).toBe(
      "Limited by latency: create. Limited by client CPU: stat. Limited by network: write by block.",
    );
  });

  it("draws computing and waiting that fill each bar, and a mark for each resource", () => {
    const drawn = clientLimits(made(), 900);
    const widths = Array.from(drawn.querySelectorAll("figure rect, svg[role=img] rect"), (rect) =>
      Number(rect.getAttribute("width")),
    ).filter((width) => width > 0);
    // 38 + 62, 10 + 90 and 100 of the same length.
    expect(widths.reduce((sum, width) => sum + width, 0)).toBeGreaterThan(3 * 850);
    const titles = Array.from(drawn.querySelectorAll("title"), (title) => title.textContent);
    expect(titles).toContain("write by block: network busy 100 %");
    expect(titles).toContain("create: processes wait 90.0 %");
  });

  it("has a table with a row for each test", () => {
    expect(clientTable(made()).querySelectorAll("tbody tr")).toHaveLength(3);
  });

  it("says so when there is no client", () => {
    const empty = { ...made(), summary: { ...made().summary, metrics: {} } };
    expect(describeClient(empty)).toBe("This run has no NFS client.");
    expect(clientLimits(empty, 900).textContent).toBe("This run has no NFS client.");
  });
});
