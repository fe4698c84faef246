import { describe, expect, it } from "vitest";
import { isOffered } from "../../src/charts/catalogue.ts";
import { commitSizes, distinct } from "../../src/charts/commitSizes.ts";
import {
  commitsOf,
  datasetName,
  describeCommits,
  extremes,
  largest,
  logDevices,
  logDevicesChart,
} from "../../src/charts/logDevices.ts";
import { powerTicks } from "../../src/charts/ticks.ts";
import { numbersIn } from "../fixtures/numbers.ts";
import { zfsResult } from "../fixtures/zfs.ts";

const run = zfsResult();

describe("commits", () => {
  it("come with their times in seconds and their bytes on the log and beside it", () => {
    expect(commitsOf(run)).toHaveLength(4);
    expect(commitsOf(run)[2]).toEqual({
      dataset: 1,
      from_s: 0.05,
      to_s: 0.55,
      writes: 1,
      bytes: 3 * 2 ** 20,
      diverted_bytes: 50 * 2 ** 20,
    });
  });

  it("are thinned to the shortest and longest of each file system in each stretch of time", () => {
    const [first] = commitsOf(run);
    const between = { ...first!, to_s: 0.0015 };
    const kept = extremes([...commitsOf(run), between], 1.2, 12);
    expect(kept.map(({ from_s }) => from_s).sort()).toEqual([0, 0.001, 0.05, 0.6]);
    expect(kept).not.toContain(between);
    expect(extremes(commitsOf(run), 1.2, 1e6)).toHaveLength(4);
  });

  it("are told by the largest", () => {
    expect(largest(commitsOf(run), 1)[0]!.dataset).toBe(1);
    // How many; the largest one's bytes, those diverted, its time; the most that the log devices held.
    expect(numbersIn(describeCommits(run))).toEqual(["4", "53 MiB", "50 MiB", "500 ms", "57.22 MiB"]);
    expect(numbersIn(describeCommits({ ...run, columns: {} }))).toEqual([]);
  });

  it("bear the job's name when each job has a file system of its own", () => {
    const own = { ...zfsResult({ log: { datasets: "job" } }) };
    const jobs = [{ name: "database" }, { name: "fsflush" }];
    const named = { ...own, scenario: { ...own.scenario, jobs } } as typeof own;
    expect(datasetName(named, 1)).toBe("fsflush");
    expect(datasetName(run, 1)).toBe("all");
  });
});

describe("the picture", () => {
  const labels = (element: Element) =>
    [...element.querySelectorAll("[aria-label]")].map((node) => node.getAttribute("aria-label"));

  it("has the devices' rate, the commits, and what is still needed", () => {
    const said = labels(logDevices(run, { width: 700 }));
    expect(said.map(numbersIn)).toEqual([["100"], numbersIn(describeCommits(run)), ["57.22 MiB"]]);
  });

  it("has the commits alone when the log is in the pool", () => {
    const none = new Float64Array(12);
    const pool = { ...run, columns: { ...run.columns, "zfs.log_bytes": none, "zfs.log_live_bytes": none } };
    expect(labels(logDevices(pool, { width: 700 }))).toHaveLength(1);
  });

  it("is offered for any scenario with log devices", () => {
    const scenario = { ...run.scenario, zfs: { log: { devices: { count: 1 } } } } as typeof run.scenario;
    expect(isOffered(logDevicesChart, { view: "dirty", views: [], scenario })).toBe(true);
    expect(isOffered(logDevicesChart, { view: "dirty", views: [], scenario: run.scenario })).toBe(false);
    const shown = { result: run, focus: { job: "writers", op: "write" }, request: 0 } as const;
    expect(logDevicesChart.table(shown).querySelectorAll("tbody tr")).toHaveLength(4);
  });
});

describe("time by size", () => {
  it("keeps one commit for each place", () => {
    const [first] = commitsOf(run);
    expect(distinct([first!, first!, { ...first!, to_s: 1 }], 12)).toHaveLength(2);
    expect(distinct([{ ...first!, to_s: first!.from_s }], 12)).toEqual([]);
  });

  it("says the rate of the largest", () => {
    const drawn = commitSizes(run, { width: 400 })!;
    const label = drawn.getAttribute("aria-label") ?? drawn.querySelector("[aria-label]")?.getAttribute("aria-label");
    expect(numbersIn(label)).toEqual(["12 KiB", "1.00 ms", "53 MiB", "500 ms", "111"]);
    expect(commitSizes({ ...run, columns: {} }, { width: 400 })).toBeUndefined();
  });
});

describe("ticks on a scale of ratios", () => {
  it("are powers of ten, and parts of them where there are not two", () => {
    expect(powerTicks(0.12, 9300)).toEqual([1, 10, 100, 1000]);
    expect(powerTicks(1.1, 6.4)).toEqual([2, 5]);
    expect(powerTicks(0.9, 12)).toEqual([1, 10]);
  });
});
