import { describe, expect, it } from "vitest";
import { coverage, operatingPoint } from "../../src/charts/coverage.ts";
import { cellsOf, heatmap } from "../../src/charts/heatmap.ts";
import { binsOf, focusIn, histogram } from "../../src/charts/histogram.ts";
import { latencyOverview } from "../../src/charts/latencyOverview.ts";
import { lifetimes, meanPhases, pickRequests } from "../../src/charts/lifetimes.ts";
import { latencyAxisEnd, readsOf } from "../../src/charts/rows/reads.ts";
import { q1Result } from "../fixtures/q1.ts";
import { zfsResult } from "../fixtures/zfs.ts";

const broken = q1Result();
const fixed = q1Result({ request_bytes: 8 * 2 ** 20 });

describe("the histogram", () => {
  it("counts every request once and every nanosecond once", () => {
    const bins = binsOf(broken, "odx", "read");
    expect(bins.reduce((sum, bin) => sum + bin.count, 0)).toBe(248);
    expect(bins.reduce((sum, bin) => sum + bin.count_percent, 0)).toBeCloseTo(100, 9);
    expect(bins.reduce((sum, bin) => sum + bin.time_percent, 0)).toBeCloseTo(100, 9);
    const total = readsOf(broken, "odx").reduce((sum, read) => sum + read.latency_ns, 0);
    expect(bins.reduce((sum, bin) => sum + bin.total_ns, 0)).toBeCloseTo(total, -3);
  });

  it("draws the same bins by count and by time, and another run as an outline", () => {
    const figure = histogram(broken, { job: "odx", width: 1000, reference: { result: fixed, label: "fixed" } });
    const charts = figure.querySelectorAll("svg");
    expect(charts).toHaveLength(2);
    for (const chart of charts) expect(chart.textContent).toContain("fixed");
    expect(charts[0]!.textContent).toContain("median");
    expect(charts[1]!.textContent).toContain("p99");
  });

  it("says so when there is nothing to count", () => {
    expect(histogram(broken, { job: "odx", op: "write", width: 800 }).textContent).toBe("No writes to count.");
  });
});

describe("lifetimes", () => {
  it("begin with the mean, and name its phases on the marks", () => {
    const chart = lifetimes(broken, { job: "odx", width: 1000 });
    expect(chart.textContent).toContain("queue");
    expect(chart.textContent).toContain("seek");
    expect(chart.getAttribute("role")).toBe("img");
    expect(chart.querySelector("[aria-label] [aria-label]")).toBeNull();
  });

  it("have a mean that adds up to the mean latency", () => {
    const mean = meanPhases(readsOf(broken, "odx")).reduce((a, b) => a + b);
    expect(mean / 1e6).toBeCloseTo(broken.summary.metrics["odx.read_latency_mean_ms"]!, 9);
  });

  it("pick the requests around one, never beyond the ends, or the slowest", () => {
    const around = (at: number) =>
      pickRequests(broken, { job: "odx", width: 0, around: at, count: 12 }).map(({ index }) => index);
    expect(around(0)[0]).toBe(0);
    expect(around(100)).toContain(100);
    expect(around(247).at(-1)).toBe(247);
    const slowest = pickRequests(broken, { job: "odx", width: 0, pick: "slowest", count: 5 });
    const most = Math.max(...readsOf(broken, "odx").map((read) => read.latency_ns));
    expect(slowest[0]!.read.latency_ns).toBe(most);
  });
});

describe("the heat map", () => {
  it("counts every request in one cell", () => {
    const cells = cellsOf(broken, { job: "odx", width: 0 }, 40);
    expect(cells.reduce((sum, cell) => sum + cell.count, 0)).toBe(248);
    expect(cells.every((cell) => cell.from_s < cell.to_s && cell.lower_ns < cell.upper_ns)).toBe(true);
  });

  it("draws a cell for each, and an empty run without failing", () => {
    const cells = cellsOf(broken, { width: 0 }, Math.round(900 / 9));
    expect(heatmap(broken, { width: 900 }).querySelectorAll("rect")).toHaveLength(cells.length);
    expect(heatmap({ ...broken, columns: {} }, { width: 900 }).querySelectorAll("rect")).toHaveLength(0);
  });
});

describe("the curve of coverage", () => {
  it("has its point where the run was measured", () => {
    expect(operatingPoint(broken, "odx")).toEqual({ size_bytes: 8_650_752, missing_bytes: 262_144 });
    expect(operatingPoint(fixed, "odx")).toEqual({ size_bytes: 8_388_608, missing_bytes: 0 });
    const drawn = coverage(broken, { job: "odx", width: 500, chunk_bytes: 8_388_608, per_request: 1 });
    expect(drawn.textContent).toContain("256\u00a0KiB missing");
    expect(drawn.textContent).toContain("prefetch reaches 8\u00a0MiB");
  });
});

describe("the overview", () => {
  it("draws a bar for each request in the colour of what it waited for", () => {
    const paths = latencyOverview(broken, { job: "odx", width: 1200, height: 40 }).querySelectorAll("path");
    const count = Array.from(paths).reduce((sum, path) => sum + path.getAttribute("d")!.split("M").length - 1, 0);
    expect(count).toBe(248);
    expect(Array.from(paths, (path) => path.getAttribute("fill"))).toEqual(["var(--disk)"]);
    const calm = latencyOverview(fixed, { job: "odx", width: 1200, height: 40 }).querySelectorAll("path");
    expect(Array.from(calm, (path) => path.getAttribute("fill"))).toEqual(["var(--disk)", "var(--memory)"]);
  });
});

describe("a time axis for several runs", () => {
  it("ends at a round number above the slowest request of all", () => {
    const slowest = Math.max(...readsOf(broken, "odx").map((read) => read.latency_ns));
    const end = latencyAxisEnd("odx", [fixed, broken]);
    expect(end).toBeGreaterThanOrEqual(slowest);
    expect(end).toBeLessThan(1.5 * slowest);
    expect((end / 1e6) % 1).toBe(0);
  });
});

describe("a run without the case's job", () => {
  it("shows the first job and direction that it has", () => {
    const run = zfsResult();
    expect(focusIn(run, { job: "readers", op: "read" })).toEqual({ job: "writers", op: "write" });
    expect(focusIn(run, { job: "writers", op: "write" })).toEqual({ job: "writers", op: "write" });
    const none = { ...run, columns: {} };
    expect(focusIn(none, { job: "readers", op: "read" })).toEqual({ job: "readers", op: "read" });
  });
});
