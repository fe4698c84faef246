// @vitest-environment node
import { describe, expect, it, vi } from "vitest";
import { Cancelled, EngineError } from "../../src/engine/api.ts";
import type { PoolDesign } from "../../src/engine/types.ts";
import {
  numbersOf,
  PoolController,
  requestOf,
  wholeGroups,
  type Numbers,
  type PoolHost,
  type Results,
} from "../../src/page/designer/poolController.ts";
import { layoutControl, layouts, partControls } from "../../src/page/designer/poolFields.ts";

const part = (name: string, number: number, more: object = {}) => ({
  ...{ name, title: name, unit: "", number, range: [1, 100, 1], cost: 0, price: 5, is_priced: true },
  ...more,
});
const defaults = {
  case: "pool",
  layout: "mirrors",
  cost: 100,
  capacity_bytes: 1e12,
  parts: [part("disks", 12), part("width", 2), part("parity", 0), part("cache_gib", 8, { unit: "GiB" })],
  tests: ["reads", "writes"].map((name) => ({
    ...{ name, title: name, metric: "iops", unit: "1/s", variant: "base", set: {} },
    bounds: [{ what: "disks", most: 100 }],
  })),
  warnings: [],
} as unknown as PoolDesign;

/** A controller with a host that answers at once; a pool costs as much as it has disks. */
function open(host: Partial<PoolHost> = {}, chosen: Numbers = {}) {
  const log: string[] = [];
  const errors: unknown[] = [];
  const asked: unknown[] = [];
  const pool = new PoolController({
    host: {
      design: async (request) => {
        asked.push(request);
        return { ...defaults, cost: Number(request.disks ?? 12) };
      },
      run: async () => ({ metrics: { iops: 90 } }),
      ...host,
    },
    defaults,
    chosen,
    listeners: {
      onChange: () => undefined,
      onNumbers: () => log.push("numbers"),
      onOutdated: () => log.push("outdated"),
      onStep: (isOpening) => log.push(isOpening ? "opening" : "step"),
      onBusy: (isBusy) => log.push(isBusy ? "busy" : "idle"),
      onProgress: () => undefined,
      onAccepted: () => log.push("accepted"),
      onError: (error) => errors.push(error),
    },
  });
  return { pool, log, errors, asked };
}

describe("a pool", () => {
  it("runs its tests in order, and tallies what binds them", async () => {
    const given: Record<string, number> = { reads: 90, writes: 10 };
    const ran: string[] = [];
    const { pool, log } = open({
      run: async () => {
        ran.push(pool.running!);
        return { metrics: { iops: given[pool.running!]! } };
      },
    });
    await pool.begin();
    expect(ran).toEqual(["reads", "writes"]);
    expect(pool.tally).toEqual({ busy: 1, waiting: 1 });
    expect(pool.running).toBeUndefined();
    expect(log).toEqual(["accepted", "outdated", "opening", "busy", "idle"]);
  });

  it("that is chosen stops the runs of the one before, and is compared with the last that ended", async () => {
    let end: (() => void) | undefined;
    const { pool, log } = open({
      run: async (_, { signal }) => {
        if (first.size > 0) await new Promise<void>((resolve) => (end = resolve));
        if (signal.aborted) throw new Cancelled();
        return { metrics: { iops: 90 } };
      },
    });
    let first: Results = new Map();
    await pool.begin();
    first = pool.measured;
    const isMeasured = pool.measure();
    await vi.waitUntil(() => end !== undefined);
    await pool.preview({ disks: 30 });
    end!();
    expect(await isMeasured).toBe(false);
    expect(pool.design.cost).toBe(30);
    expect(pool.isMeasured).toBe(false);
    expect(pool.compared).toBe(first);
    expect(log.at(-1)).toBe("idle");
  });

  it("does not take the answer to a question that was followed by another", async () => {
    const answers: ((design: PoolDesign) => void)[] = [];
    const { pool } = open({ design: () => new Promise((resolve) => answers.push(resolve)) });
    const [one, other] = [pool.preview({ disks: 2 }), pool.preview({ disks: 4 })];
    answers[1]!({ ...defaults, cost: 4 });
    answers[0]!({ ...defaults, cost: 2 });
    await Promise.all([one, other]);
    expect(pool.design.cost).toBe(4);
  });

  it("that cannot be built is an error, and the page's own is chosen when a link asked for it", async () => {
    const refusal = new EngineError([{ path: "disks", message: "4 are fewer than a group needs" }]);
    const { pool, errors, log } = open({ design: () => Promise.reject(refusal) }, { disks: 4 });
    await pool.begin();
    expect(errors).toEqual([refusal]);
    expect(log).toEqual([]);
    expect(pool.chosen).toEqual({});
  });

  it("keeps its measurements when a price changes", async () => {
    const { pool, asked, log } = open();
    await pool.begin();
    const { measured } = pool;
    await pool.setPrice("disks", 7);
    expect(asked.at(-1)).toEqual({ prices: { disks: 7 } });
    expect(pool.measured).toBe(measured);
    expect(pool.priceOf(defaults.parts[0]!)).toBe(7);
    expect(log.slice(-3)).toEqual(["outdated", "accepted", "step"]);
  });

  it("that is kept is what later ones are compared with, until it is let go", async () => {
    const { pool } = open();
    await pool.begin();
    const first = pool.measured;
    pool.toggleKept();
    await pool.choose({ disks: 24 });
    await pool.choose({ disks: 48 });
    expect(pool.kept?.design.cost).toBe(12);
    expect(pool.compared).toBe(first);
    pool.toggleKept();
    expect(pool.compared).not.toBe(first);
  });

  it("tries an idea beside the pool of the start, which is measured first where it was not, at the reader's prices", async () => {
    const { pool, asked } = open({}, { disks: 24, "prices.disks": 7 });
    await pool.begin();
    asked.length = 0;
    await pool.compare({ cache_gib: 64 });
    expect(asked).toEqual([{ prices: { disks: 7 } }, { prices: { disks: 7 }, cache_gib: 64 }]);
    asked.length = 0;
    await pool.compare({ cache_gib: 32 });
    expect(asked).toEqual([{ prices: { disks: 7 }, cache_gib: 32 }]);
  });

  it("has whole groups of disks in each layout", async () => {
    const { pool, log } = open();
    const at = layouts.findIndex(({ width }) => width === 11);
    await pool.chooseLayout(layouts[at]!.width, layouts[at]!.parity);
    expect(pool.chosen).toEqual({ width: 11, parity: 2, disks: 11 });
    expect(log[0]).toBe("numbers");
    expect(layoutControl(pool).value).toBe(at);
    expect(partControls(pool).map(({ path, min, max, step }) => [path, min, max, step])).toEqual([
      ["disks", 11, 99, 11],
      ["cache_gib", 1, 100, 1],
    ]);
    expect([wholeGroups(1, 6), wholeGroups(9, 6), wholeGroups(8, 6)]).toEqual([6, 12, 6]);
  });

  it("that a link gives is its numbers alone, prices apart", () => {
    expect(numbersOf({ disks: 4, layout: "odd", "prices.disks": 9 })).toEqual({ disks: 4, "prices.disks": 9 });
    expect(requestOf({ disks: 4, "prices.disks": 9 })).toEqual({ disks: 4, prices: { disks: 9 } });
  });
});
