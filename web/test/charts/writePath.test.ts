import { beforeAll, describe, expect, it, vi } from "vitest";
import { formatBytes } from "../../src/base/format.ts";
import { chartNamed, charts, isOffered } from "../../src/charts/catalogue.ts";
import { curvePoints, delayCurve, valueAt } from "../../src/charts/delayCurve.ts";
import { dirty } from "../../src/charts/dirty.ts";
import { groupLimit, rescalings } from "../../src/charts/groupLimit.ts";
import { barsOf, groupGantt } from "../../src/charts/groups.ts";
import { loadCharts } from "../../src/charts/loadCharts.ts";
import { overviewKind, overviewScale, runOverview } from "../../src/charts/runOverview.ts";
import { stageOf } from "../../src/stage/stages.ts";
import {
  clientsEndOf,
  coarser,
  describeMoment,
  describeRun,
  endOf,
  groupsOf,
  held,
  intervalsOf,
  rateAt,
  sevenEighths,
  stateAt,
  targetOf,
  throttleOf,
} from "../../src/charts/rows/writePath.ts";
import { rateOf, writeRate } from "../../src/charts/writeRate.ts";
import { numbersIn } from "../fixtures/numbers.ts";
import { q1Result } from "../fixtures/q1.ts";
import { limit_bytes, zfsResult } from "../fixtures/zfs.ts";

const run = zfsResult();
const focus = { job: "writers", op: "write" } as const;
const chart = (name: string) => chartNamed(name)!;
const shown = { result: run, focus, request: 0 };

describe("intervals", () => {
  it("take their length from the series", () => {
    expect(intervalsOf(run)[3]).toMatchObject({ from_s: 0.30000000000000004, to_s: 0.4, not_delayed: 1000 });
    expect(endOf(run)).toBeCloseTo(1.2, 9);
    const silent = { ...run, summary: { ...run.summary, simulated_ns: 9e9 } };
    expect(endOf(silent)).toBeCloseTo(1.2, 9);
    expect(clientsEndOf(run)).toBeCloseTo(0.9, 9);
  });

  it("lose no write and no byte when neighbours are put together", () => {
    const few = coarser(intervalsOf(run), 5);
    expect(few).toHaveLength(4);
    expect(held(few)).toEqual(held(intervalsOf(run)));
    const written = (list: typeof few) => list.reduce((sum, { written_bytes }) => sum + written_bytes, 0);
    expect(written(few)).toBe(written(intervalsOf(run)));
    expect(Math.max(...few.map(({ dirty_max_bytes }) => dirty_max_bytes))).toBe(limit_bytes);
  });
});

describe("thresholds", () => {
  const levels = (zfs: Parameters<typeof throttleOf>[0]) =>
    throttleOf(zfs).thresholds.map(({ share, bytes, label }) => {
      // Each label starts with its own level.
      expect(numbersIn(label)).toEqual(numbersIn(bytes === undefined ? `${100 * share!}%` : formatBytes(bytes)));
      return bytes ?? share;
    });

  it("are those of the version", () => {
    expect(levels({ era: "openzfs-2.1" })).toEqual([1, 0.6, 0.3, 0.2]);
    expect(levels({ era: "openzfs-2013" }).at(-1)).toBe(64 * 2 ** 20);
  });

  it("follow the scenario's tunables and switches", () => {
    expect(levels({ delay_min_dirty_percent: 40, ramp: false, dirty_data_sync_percent: 5 })).toEqual([1, 0.4, 0.05]);
    expect(levels({ delay: false })).toEqual([1, 0.3, 0.2]);
  });

  it("of 2008 hold for each group, and tell of the shift", () => {
    const old = throttleOf({ era: "zfs-2008-03" });
    expect(old.isPerGroup).toBe(true);
    expect(old.thresholds[1]).toEqual({ share: 0.875, label: sevenEighths.shifted });
    expect(throttleOf({ era: "zfs-2008-03", shift_bug: false }).thresholds[1]!.label).toBe(sevenEighths.intended);
  });

  it("come with the target of a sync", () => {
    expect(targetOf({ era: "zfs-2008-03" })).toBe(5e9);
    expect(targetOf({ era: "zfs-2010" })).toBe(1e9);
    expect(targetOf({ era: "zfs-2010", txg_synctime: 3e9 })).toBe(3e9);
  });
});

describe("the run in words", () => {
  it("says how much was dirty and how writes entered", () => {
    expect(numbersIn(describeRun(run))).toEqual(["400 MiB", "400 MiB", "5,000", "300", "16"]);
  });

  it("says what happens at a moment", () => {
    // Dirty data and their share of the limit, writes in flight, MiB/s, delayed writes and their mean delay, groups.
    expect(numbersIn(describeMoment(run, 0.55))).toEqual([
      "274.4 MiB",
      "68.6%",
      "5.00",
      "95.4",
      "100",
      "400 µs",
      "1",
      "2",
      "3",
    ]);
    expect(describeMoment(run, 0.55)).toMatch(/1 syncing\b.* 2 waiting\b.* 3 open\b/);
    expect(numbersIn(describeMoment(run, 0.85)).slice(4, 6)).toEqual(["16", "500 ms"]);
    // No write enters: no number stands between the devices' rate and the groups.
    expect(numbersIn(describeMoment(run, 1.15)).slice(3)).toEqual(["95.4", "3", "4"]);
  });

  it("tells the devices' rate over the last second, and no rate that a single interval jumps to", () => {
    // 20 MB in every other interval of 0.1 s: 100 MB/s, whichever interval the moment lies in.
    expect(rateAt(run, 1.05)).toBeCloseTo(100e6, 3);
    expect(rateAt(run, 1.15)).toBeCloseTo(100e6, 3);
    // At the start there is less than a second to look back on.
    expect(rateAt(run, 0.15)).toBeCloseTo(100e6, 3);
  });

  it("holds dirty data against the limit that there is", () => {
    const limit = (result: typeof run) => numbersIn(describeMoment(result, 0.55))[1];
    expect(limit(run)).toBe("68.6%");
    // In 2008 each group had the limit, and three groups were under way.
    expect(limit(zfsResult({ era: "zfs-2008-03" }))).toBe("400 MiB");
    const lowered = zfsResult();
    lowered.columns["zfs.limit_bytes"]!.fill(2 ** 20);
    expect(limit(lowered)).toBe("1 MiB");
  });

  it("knows the state of a group", () => {
    const second = groupsOf(run)[1]!;
    expect([0.1, 0.3, 0.505, 0.55, 0.7, 1].map((time) => stateAt(second, time))).toEqual([
      undefined,
      "open",
      "quiescing",
      "waiting",
      "syncing",
      undefined,
    ]);
  });
});

describe("dirty data", () => {
  it("are drawn against the limit with every threshold named, and the held-up writes below", () => {
    const figure = dirty(run, { width: 900 });
    expect(figure.querySelectorAll("svg[role=img]")).toHaveLength(4);
    const { thresholds } = throttleOf(run.scenario.zfs!);
    expect(thresholds).toHaveLength(4);
    for (const { label } of thresholds) expect(figure.textContent).toContain(label);
    const rates = Array.from(figure.querySelectorAll("svg[role=img]"), (part) => part.getAttribute("aria-label"));
    expect(rates.slice(1).map(numbersIn)).toEqual([["10,000"], ["1,000"], ["160"]]);
    expect(figure.innerHTML).toContain("url(#seeklab-delayed)");
    expect(figure.innerHTML).toContain("url(#seeklab-stopped)");
    expect(figure.innerHTML).not.toContain("NaN");
  });

  it("say that a limit of 2008 is that of one group", () => {
    const hasNote = (result: typeof run) => dirty(result, { width: 900 }).querySelector("p.note") !== null;
    expect([run, zfsResult({ era: "zfs-2008-03" })].map(hasNote)).toEqual([false, true]);
  });

  it("of a run without a file system are a sentence", () => {
    const figure = dirty(q1Result(), { width: 600 });
    expect(figure.querySelector("p.empty")!.textContent).toBe(describeRun(q1Result()));
    expect(figure.querySelector("svg")).toBeNull();
  });
});

describe("transaction groups", () => {
  it("are in one state at a time, from their opening to their end", () => {
    const bars = barsOf(groupsOf(run), 1.2);
    expect(
      bars.filter(({ group }) => group.group === 2).map(({ state, from_s, to_s }) => [state, from_s, to_s]),
    ).toEqual([
      ["open", 0.2, 0.5],
      ["quiescing", 0.5, 0.51],
      ["waiting", 0.51, 0.6],
      ["syncing", 0.6, 1],
    ]);
    expect(bars.at(-1)).toMatchObject({ state: "open", from_s: 0.9, to_s: 1.2 });
  });

  it("may have been closed at 0, when the run begins with full groups", () => {
    const full = { ...run, columns: { ...run.columns, "groups.closed_ns": Float64Array.of(0, 5e8, 9e8, 0) } };
    expect(groupsOf(full)[0]).toMatchObject({ opened_s: 0, closed_s: 0, sync_started_s: 0.2 });
    expect(barsOf(groupsOf(full), 1.2)[0]).toMatchObject({ state: "quiescing", from_s: 0, to_s: 0.2 });
  });

  it("have a legend in words, and a name for those who do not see them", () => {
    const figure = groupGantt(run, { width: 800 });
    expect(figure.querySelector(".key")!.textContent.trim()).toBe("open quiescing waiting syncing");
    expect(figure.querySelector("svg[role=img]")!.getAttribute("aria-label")).toContain("synced in 400");
  });
});

describe("the write rate", () => {
  it("has a mean and an idle share over the clients' time", () => {
    const { mean_mb_per_s, idle_percent } = rateOf(run);
    expect(mean_mb_per_s).toBeCloseTo(80 / 0.9, 6);
    expect(idle_percent).toBeCloseTo(500 / 9, 6);
    expect(numbersIn(writeRate(run, { width: 700 }).getAttribute("aria-label"))).toEqual(["88.9", "55.6%"]);
  });
});

describe("the delay curve", () => {
  const delay = [
    { dirty_bytes: 0, value: 0 },
    { dirty_bytes: 60, value: 0 },
    { dirty_bytes: 80, value: 5e5 },
    { dirty_bytes: 99, value: 2e7 },
  ];

  it("is asked for at rising points below the limit, densely near it", () => {
    const points = curvePoints(limit_bytes);
    expect(points[0]).toBe(0);
    expect(points.at(-1)).toBeLessThan(limit_bytes);
    expect(points.every((point, at) => at === 0 || point > points[at - 1]!)).toBe(true);
    expect(points.filter((point) => point > 0.99 * limit_bytes).length).toBeGreaterThan(20);
  });

  it("is read between its points", () => {
    expect(valueAt(delay, 70)).toBe(250_000);
    expect(valueAt(delay, 80)).toBe(500_000);
    expect(valueAt(delay, 1000)).toBe(2e7);
  });

  it("names the operating point on both axes", () => {
    const figure = delayCurve({
      width: 400,
      most_bytes: 100,
      delay_ns: delay,
      in_flight: [
        { dirty_bytes: 0, value: 1 },
        { dirty_bytes: 99, value: 10 },
      ],
      now_bytes: 80,
      visited_bytes: [10, 80],
    });
    expect(figure.textContent).toContain("80.0%: 500\u00a0µs");
    expect(figure.textContent).toContain("8.27 in flight");
  });
});

describe("the limit of 2008", () => {
  it("stands beside what the same sync could have written in the target time", () => {
    expect(rescalings(run, 5e9).map(({ group, possible_bytes }) => [group, Math.round(possible_bytes / 1e6)])).toEqual([
      [1, 500],
      [2, 1000],
    ]);
    expect(groupLimit(run, { width: 400, target_ns: 5e9 })!.textContent).toContain("5.00\u00a0s");
  });
});

describe("a case's charts", () => {
  const job = (rw: "write" | "randread") => ({ name: "a", rw });
  const doc = {
    view: "dirty",
    views: ["dirty", "groups", "heatmap"],
    scenario: { zfs: {}, record: { log: false }, jobs: [job("write")] },
  };

  const some = ["dirty", "groups", "write-rate", "warmth", "lifetimes", "histogram", "heatmap"];
  const offered = (of: Parameters<typeof isOffered>[1]) => some.filter((name) => isOffered(chart(name), of));

  it("are those it names, and those that every run can show; the stage's own is not shown twice", () => {
    expect(offered(doc)).toEqual(["groups", "write-rate", "histogram", "heatmap"]);
    const read = { ...doc, views: [], scenario: { ...doc.scenario, jobs: [job("randread")] } };
    expect(offered(read)).toEqual(["histogram"]);
    const logged = { view: "prefetch-strip", views: ["lifetimes"], scenario: {} };
    expect(offered(logged)).toEqual(["lifetimes", "histogram", "heatmap"]);
  });

  it.each(["heatmap", "lifetimes"])("say so when %s lacks the operations", (name) => {
    const drawn = chart(name).draw(shown, 800);
    expect([drawn, ...drawn.querySelectorAll("p")].some((part) => part.className === "empty")).toBe(true);
  });

  it("fall back from the heat map to the histogram", () => {
    expect(chart("heatmap").draw(shown, 800).querySelectorAll("svg")).toHaveLength(2);
    expect(chart("heatmap").table(shown).caption!.textContent).toContain("by bin");
  });

  it.each(charts.map(({ name }) => name))("%s has a table", (name) => {
    expect(chart(name).table(shown).querySelectorAll("th[scope=col]").length).toBeGreaterThan(1);
  });
});

describe("the small picture of a run", () => {
  const options = { ...focus, width: 168, height: 44, latency_max_ns: 1e6 };

  it("is of what the run has", () => {
    expect(overviewKind(q1Result())).toBe("requests");
    expect(overviewKind(run)).toBe("dirty");
    const bare = { ...run, columns: { "series.write_latency_mean_ms": run.columns["series.write_latency_mean_ms"]! } };
    expect(overviewKind(bare)).toBe("intervals");
    for (const result of [run, bare]) {
      expect(runOverview(result, options).querySelectorAll("path").length).toBeGreaterThan(0);
      expect(runOverview(result, options).outerHTML).not.toContain("NaN");
      expect(overviewScale(result, options)).toMatch(/^full height [\d.]+/);
    }
  });
});

describe("the stage of a chart", () => {
  beforeAll(async () => {
    await loadCharts();
    vi.stubGlobal(
      "ResizeObserver",
      class {
        observe() {
          return undefined;
        }
        disconnect() {
          return undefined;
        }
      },
    );
    vi.stubGlobal("matchMedia", () => ({ matches: true }));
  });

  it("moves a cursor and tells the moment", () => {
    const scene = stageOf({ focus, view: "dirty" });
    Object.defineProperty(scene.element.querySelector(".timeline-frame"), "clientWidth", { value: 800 });
    scene.show(run);
    scene.autoplay();
    expect(scene.moment_ns / 1e9).toBeCloseTo(0.9, 3);
    expect(scene.foot.querySelector(".moment")!.textContent).toBe(describeMoment(run, scene.moment_ns / 1e9));
    expect(scene.element.querySelector<HTMLElement>(".cursor")!.style.transform).toContain("translateX(");
    expect(scene.element.querySelector("input.scrubber")!.getAttribute("aria-valuetext")).toContain("dirty");
    scene.dispose();
  });

  it("is a histogram without a clock when the view is not known", () => {
    const scene = stageOf({ focus, view: "something-else" });
    Object.defineProperty(scene.element.querySelector(".timeline-frame"), "clientWidth", { value: 800 });
    scene.show(run);
    expect(scene.element.querySelector(".transport")).toBeNull();
    expect(scene.element.querySelectorAll("svg")).toHaveLength(2);
  });
});
