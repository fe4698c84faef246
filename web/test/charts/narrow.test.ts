import { describe, expect, it } from "vitest";
import { charts } from "../../src/charts/catalogue.ts";
import type { Focus } from "../../src/charts/chart.ts";
import type { Result } from "../../src/engine/api.ts";
import { monitorResult } from "../fixtures/metrics.ts";
import { q1Result } from "../fixtures/q1.ts";
import { zfsResult } from "../fixtures/zfs.ts";

const runs: readonly (readonly [string, Result, Focus])[] = [
  ["reads", q1Result({ reads: 20 }), { job: "odx", op: "read" }],
  ["a write path", zfsResult(), { job: "writers", op: "write" }],
  ["a burst", monitorResult(), { job: "burst", op: "write" }],
];
const names = ["heatmap", "histogram", "lifetimes", "dirty", "groups", "write-rate", "monitor", "prefetch-strip"];

describe.each(runs)("charts of %s in no room", (_, result, focus) => {
  it.each([1, 40, 60])("have no negative width when there are %d pixels, as before a page is laid out", (width) => {
    let drawn = 0;
    for (const chart of charts.filter(({ name }) => names.includes(name))) {
      const picture = chart.draw({ result, focus, request: 0 }, width);
      for (const element of picture.querySelectorAll("[width], [height]")) {
        for (const name of ["width", "height"]) {
          const value = Number(element.getAttribute(name) ?? 0);
          expect(value, `${chart.name}: ${element.tagName} ${name}`).toBeGreaterThanOrEqual(0);
        }
      }
      drawn += 1;
    }
    expect(drawn).toBeGreaterThan(4);
  });
});
