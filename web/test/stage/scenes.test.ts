import { describe, expect, it } from "vitest";
import { journeysOf, layerNames } from "../../src/engine/journeys.ts";
import type { Result } from "../../src/engine/api.ts";
import { destinations } from "../../src/stage/kit/cachedWrites.ts";
import { creditsScene } from "../../src/stage/scenes/credits.ts";
import { filePagesScene } from "../../src/stage/scenes/filePages.ts";
import { shingledScene } from "../../src/stage/scenes/shingled.ts";
import { slcScene } from "../../src/stage/scenes/slc.ts";
import { writeBackScene } from "../../src/stage/scenes/writeBack.ts";
import { lifeScene } from "../../src/stage/scenes/life.ts";
import type { Frame, Scene } from "../../src/stage/scenes/scene.ts";
import { numbersIn } from "../fixtures/numbers.ts";

const focus = { job: "app", op: "read" } as const;

function made(columns: Record<string, readonly number[]>, simulated_ns: number, scenario?: unknown): Result {
  const typed = Object.entries(columns).map(([name, values]) => [name, Float64Array.from(values)] as const);
  return {
    summary: { simulated_ns, jobs: ["app"], devices: ["volume"], metrics: {} },
    columns: Object.fromEntries(typed),
    ...(scenario === undefined ? {} : { scenario }),
  } as unknown as Result;
}

function build(scene: Scene, result: Result) {
  return scene.build({ result, journeys: journeysOf(result), focus, width: 900 });
}

/** Words of the picture on a phone that its lower edge cuts. */
function cutWords(scene: Scene, result: Result): string[] {
  const { height, backdrop } = scene.build({ result, journeys: journeysOf(result), focus, width: 358 });
  const letters_px = 14;
  return Array.from(backdrop.querySelectorAll("text")).flatMap((text) => {
    const y = Number(text.getAttribute("y"));
    return y > height && y < height + letters_px ? [text.textContent] : [];
  });
}

/** A frame on which nothing is seen, but how often each paint was filled. */
function frameAt(time_ns: number): { readonly frame: Frame; readonly squares: string[]; readonly fills: string[] } {
  const squares: string[] = [];
  const fills: string[] = [];
  let paint = "";
  const context = new Proxy(
    {},
    {
      get: (_, name) => {
        if (name === "fillRect") return () => squares.push(paint);
        return name === "fill" ? () => fills.push(paint) : () => ({ width: 0 });
      },
      set: (_, name, value: unknown) => {
        if (name === "fillStyle") paint = String(value);
        return true;
      },
    },
  ) as CanvasRenderingContext2D;
  const frame = {
    context,
    time_ns,
    speed: 1,
    ease: 1,
    followed: -1,
    paint: (meaning: string) => meaning,
    actor: () => undefined,
  };
  return { frame, squares, fills };
}

describe("the account of credits", () => {
  // Ten seconds at 3000 a second of 27,000 credits that come back at 300: gone after 10 s; then 300 a second.
  const lun = { latency: 1e6, credits: { base: 300, burst: 3000, capacity: 27_000, unit: 262_144 } };
  const scenario = { devices: [{ lun }], jobs: [{ name: "app", bs: 16_384 }] };
  const result = made(
    {
      "credits.device": [0, 0],
      "credits.time_ns": [0, 10e9],
      "credits.ios": [30_000, 3000],
      "credits.credits": [0, 0],
      "series.read_latency_mean_ms": [32 / 3, 320 / 3],
    },
    20e9,
    scenario,
  );

  it("has no words on a phone that are cut", () => {
    expect(cutWords(creditsScene, result)).toEqual([]);
  });

  it("tells how many are left, how many pass and how many wait, from one interval to the next", () => {
    const built = build(creditsScene, result);
    // The time, credits left, the most of them, I/Os a second, waiting.
    expect(numbersIn(built.describe(5e9))).toEqual(["5.00", "13,500", "27,000", "3,000", "29"]);
    expect(numbersIn(built.describe(15e9))).toEqual(["15.0", "27,000", "300", "32"]);
  });

  it("holds bricks for the credits that are left, and is empty without any", () => {
    const built = build(creditsScene, result);
    const bricksAt = (time_ns: number) => {
      const { frame, squares } = frameAt(time_ns);
      const waiting = built.draw(frame);
      return { waiting, bricks: squares.filter((paint) => paint === "memory").length };
    };
    const [full, half, empty] = [bricksAt(0), bricksAt(5e9), bricksAt(15e9)];
    expect([full.waiting, half.waiting, empty.waiting]).toEqual([29, 29, 32]);
    // 168 bricks when full; beside them some squares on their way in and out.
    expect(full.bricks - half.bricks).toBeGreaterThan(60);
    expect(half.bricks - empty.bricks).toBeGreaterThan(60);
  });

  it("suits no run without an account", () => {
    expect(creditsScene.suits(result)).toBe(true);
    expect(creditsScene.suits(made({}, 1e9, { devices: [{}], jobs: [] }))).toBe(false);
  });
});

describe("the cells of a drive with an SLC cache", () => {
  // Ten seconds at 1000 MB/s into a cache of 10 GB, ten past it at 100, and ten in which 1 GB is folded.
  const lun = {
    capacity: 252e9,
    slc: { fixed: 10e9, lend: 0, bits: 4, zero_at: 0.75, direct_rate: 1e8, fold_rate: 1e8, full: 0.25 },
  };
  const result = made(
    {
      "slc.device": [0, 0, 0],
      "slc.time_ns": [0, 10e9, 20e9],
      "slc.cached_bytes": [10e9, 0, 0],
      "slc.direct_bytes": [0, 1e9, 0],
      "slc.folded_bytes": [0, 0, 1e9],
      "slc.used_bytes": [10e9, 10e9, 9e9],
      "slc.limit_bytes": [10e9, 10e9, 10e9],
      "slc.full_bytes": [63e9, 64e9, 65e9],
    },
    30e9,
    { devices: [{ lun }], jobs: [{ name: "copy" }] },
  );

  it("has no words on a phone that are cut", () => {
    expect(cutWords(slcScene, result)).toEqual([]);
  });

  it("tells whither writes go, what is folded and what lies where", () => {
    const built = build(slcScene, result);
    const [cached, past, folded] = [5e9, 15e9, 25e9].map((time_ns) => built.describe(time_ns));
    // The time, MB/s, GB in the cache, the most of them, GB at full density.
    expect(numbersIn(cached)).toEqual(["5.00", "1,000", "5.00", "10.0", "63.0"]);
    expect(numbersIn(past).slice(0, 4)).toEqual(["15.0", "100", "10.0", "10.0"]);
    expect(numbersIn(folded).slice(0, 4)).toEqual(["25.0", "100", "9.50", "10.0"]);
    const where = Object.values(destinations);
    const found = [cached, past, folded].map((words) => where.filter((place) => words!.includes(place)));
    expect(found).toEqual([[destinations.cached], [destinations.direct], []]);
  });

  it("draws a block for the cells of each GB at one bit, and four times as many for one at full density", () => {
    const built = build(slcScene, result);
    const blocksAt = (time_ns: number, meaning: string) => {
      const { frame, squares } = frameAt(time_ns);
      built.draw(frame);
      return squares.filter((paint) => paint === meaning).length;
    };
    expect([0, 5e9, 10e9].map((time_ns) => blocksAt(time_ns, "prefetched"))).toEqual([0, 20, 40]);
    expect(blocksAt(5e9, "flash")).toBe(63);
  });

  it("suits no run without such a drive", () => {
    expect(slcScene.suits(result)).toBe(true);
    expect(slcScene.suits(made({}, 1e9, { devices: [{}], jobs: [] }))).toBe(false);
  });
});

describe("the pages of a file", () => {
  // A file of 1024 pages: 16 are asked for at 1 s, 16 after them at 2 s, for which a guess reads 64; 16 of those are asked for at 3 s.
  const result = made(
    {
      "read_ahead.time_ns": [1e9, 2e9],
      "read_ahead.page": [256, 272],
      "read_ahead.asked": [16, 16],
      "read_ahead.history": [0, 16],
      "read_ahead.start": [256, 272],
      "read_ahead.end": [272, 336],
      "read_ahead.fetched": [16, 64],
      "read_ahead.why": [0, 4],
      "ops.job": [0, 0, 0],
      "ops.offset": [256 * 4096, 272 * 4096, 288 * 4096],
      "ops.bytes": [65_536, 65_536, 65_536],
      "ops.submit_ns": [1e9, 2e9, 3e9],
    },
    4e9,
    { devices: [], jobs: [{ name: "app", size: 1024 * 4096 }], page_cache: { read_ahead: { context: "2009" } } },
  );

  it("tells what was asked for and what was read for it", () => {
    const built = build(filePagesScene, result);
    // The time, reads, MiB requested, MiB read, and their ratio.
    expect([0.5e9, 2.5e9, 4e9].map((time_ns) => numbersIn(built.describe(time_ns)))).toEqual([
      ["0.500", "0", "0", "0", "1.00"],
      ["2.50", "2.00", "0.125", "0.313", "2.50"],
      ["4.00", "3.00", "0.188", "0.313", "1.67"],
    ]);
  });

  it("draws a square for each 16 pages that were asked for, and another for those that nobody has asked for", () => {
    const built = build(filePagesScene, result);
    const squaresAt = (time_ns: number) => {
      const { frame, squares } = frameAt(time_ns);
      built.draw({ ...frame, speed: 1e-9 });
      return ["memory", "prefetched"].map((meaning) => squares.filter((paint) => paint === meaning).length);
    };
    // Time may go back. The guess above the squares has a piece for each of the 16 pages before it, and one for the 48 beside it.
    expect(squaresAt(1.5e9)).toEqual([1, 0]);
    expect(squaresAt(3.5e9)).toEqual([3 + 16, 2 + 1]);
    expect(squaresAt(2.5e9)).toEqual([2 + 16, 3 + 1]);
  });

  it("suits no run without a read side", () => {
    expect(filePagesScene.suits(result)).toBe(true);
    expect(filePagesScene.suits(made({}, 1e9, { devices: [], jobs: [], page_cache: {} }))).toBe(false);
  });
});

describe("the zones of a shingled drive", () => {
  // Ten seconds into a cache of 1 GB, ten in which writes wait for zones, and ten of a stream.
  const lun = { capacity: 4 * 2 ** 28, shingled: { zone: 2 ** 28, cache: 1e9 } };
  const parts = [0.5e9, 0.5e9, 0, 0, 0.25e9, 0.5e9, 0.25e9, 0, 0, 0, 0, 0];
  const result = made(
    {
      "shingled.device": [0, 0, 0],
      "shingled.time_ns": [0, 10e9, 20e9],
      "shingled.cached_bytes": [1e9, 1e8, 0],
      "shingled.direct_bytes": [0, 0, 1e9],
      "shingled.cleaning_ns": [0, 9e9, 0],
      "shingled.cleans": [0, 4, 0],
      "shingled.used_bytes": [1e9, 1e9, 0],
      "shingled.write_at_bytes": [2 ** 29, 3 * 2 ** 28, 2 ** 30],
      "shingled.clean_at_bytes": [0, 2 ** 28, 2 ** 28],
      "shingled_parts.device": parts.map(() => 0),
      "shingled_parts.part": [0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3],
      "shingled_parts.cached_bytes": parts,
    },
    30e9,
    { devices: [{}, { lun }], jobs: [{ name: "client" }] },
  );

  it("tells whither writes go, how long zones are cleaned, and how often", () => {
    const built = build(shingledScene, result);
    const [cached, cleaned, past] = [5e9, 15e9, 25e9].map((time_ns) => built.describe(time_ns));
    // The time, MB/s, the share of cleaning, GB in the cache, the most of them, cleans of each zone.
    expect(numbersIn(cached)).toEqual(["5.00", "100", "0.500", "1.00", "0"]);
    expect(numbersIn(cleaned).slice(0, 3)).toEqual(["15.0", "10.0", "90.0%"]);
    expect(numbersIn(past).slice(0, 2)).toEqual(["25.0", "100"]);
    expect(numbersIn(past).at(-1)).toBe("1.00");
    for (const words of [cached, cleaned]) expect(words).toContain(destinations.cached);
    expect(past).toContain(destinations.direct);
  });

  it("draws squares of cleaning only while zones are cleaned", () => {
    const built = build(shingledScene, result);
    const squaresAt = (time_ns: number, meaning: string) => {
      const { frame, fills } = frameAt(time_ns);
      built.draw(frame);
      return fills.filter((paint) => paint === meaning).length;
    };
    expect([5e9, 15e9, 25e9].map((time_ns) => squaresAt(time_ns, "stopped"))).toEqual([0, 4, 0]);
    expect(squaresAt(25e9, "disk")).toBeGreaterThan(4);
  });

  it("suits no run without such a drive", () => {
    expect(shingledScene.suits(result)).toBe(true);
    expect(shingledScene.suits(made({}, 1e9, { devices: [{}], jobs: [] }))).toBe(false);
  });
});

describe("the life of requests that were sent late", () => {
  // One is under way from 0 to 1000; four were due at 100, 200, 300 and 400 and go out at 1000 and after.
  const late = (due: readonly number[]) =>
    made(
      {
        "ops.due_ns": due,
        "ops.submit_ns": [0, 1000, 1010, 1020, 1030],
        "ops.op": [0, 0, 0, 0, 0],
        "ops.latency_ns": [1000, 50, 50, 50, 50],
        "ops.queue_ns": [1000, 50, 50, 50, 50],
        "journeys.request": [0],
        "journeys.begin_ns": [0],
        "journeys.bytes": [4096],
        "journeys.offset": [0],
        "journeys.job": [0],
        "journeys.worker": [0],
        "journeys.owner": [0],
        "journeys.op": [0],
        "journeys.parent": [0xffffffff],
        "stays.request": [0],
        "stays.layer": [layerNames.indexOf("device")],
        "stays.part": [0],
        "stays.phase": [0],
        "stays.from_ns": [0],
        "stays.to_ns": [1100],
      },
      2000,
    );

  it("shows them as waiting from when they are due until they are sent", () => {
    const built = build(lifeScene, late([0, 100, 200, 300, 400]));
    const actorsAt = (time_ns: number) => built.draw(frameAt(time_ns).frame);
    expect([50, 150, 250, 450, 999, 1005, 1025].map(actorsAt)).toEqual([1, 2, 3, 5, 5, 4, 2]);
    // Due and not sent; on the device, waiting and at work.
    expect(numbersIn(built.describe(450))).toEqual(["4", "1", "0"]);
  });

  it("has no lane for them where all were sent when they were due", () => {
    const inTime = build(lifeScene, late([0, 1000, 1010, 1020, 1030]));
    expect(inTime.draw(frameAt(450).frame)).toBe(1);
    expect(numbersIn(inTime.describe(450))).toEqual(["1", "0"]);
    expect(inTime.height).toBeLessThan(build(lifeScene, late([0, 100, 200, 300, 400])).height);
  });
});

describe("memory between writers and a disk", () => {
  // 1000 MB become dirty in a second; then a commit writes them at 250 MB/s, and a write that comes after 1 s waits for it.
  const run = made(
    {
      "page_cache.time_ns": [0, 1e9, 2e9, 3e9, 4e9],
      "page_cache.written_bytes": [0, 250e6, 250e6, 250e6, 250e6],
      "page_cache.dirty_bytes": [1000e6, 650e6, 400e6, 150e6, 0],
      "page_cache.under_way_bytes": [0, 100e6, 100e6, 100e6, 0],
      "journal.began_ns": [1e9],
      "journal.end_ns": [5e9],
      "journal.data_bytes": [1000e6],
      "ops.job": [0],
      "ops.submit_ns": [1e9],
      "ops.latency_ns": [4e9],
    },
    5e9,
  );

  it("tells what is dirty, what the disk does, and who waits for which commit", () => {
    const built = build(writeBackScene, run);
    // The time and what is dirty; then the disk's rate, the commit's data, and the seconds that a write has waited.
    expect(numbersIn(built.describe(0.5e9))).toEqual(["0.500", "500"]);
    expect(numbersIn(built.describe(3e9))).toEqual(["3.00", "500", "250", "1,000", "2.00"]);
    expect(built.describe(3e9)).toContain("app");
  });

  it("draws a brick for each part of what is dirty, and others for what is on its way", () => {
    const built = build(writeBackScene, run);
    const { frame, squares } = frameAt(2e9);
    expect(built.draw(frame)).toBe(1);
    // 320 bricks are 1150 MB: 650 MB dirty, 100 on their way.
    expect(squares.filter((paint) => paint === "memory").length).toBeCloseTo(181, -1);
    expect(squares.filter((paint) => paint === "transfer").length).toBeCloseTo(28, -1);
  });

  it("says of a run without a page cache that it has none", () => {
    const none = made({}, 1e9);
    expect(writeBackScene.suits(none)).toBe(false);
    const { key, describe: say } = build(writeBackScene, none);
    expect(key).toEqual([]);
    expect(say(0)).toMatch(/^\D+$/);
  });
});
