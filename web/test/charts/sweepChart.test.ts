import { describe, expect, it } from "vitest";
import type { Control } from "../../src/engine/types.ts";
import { metricWords } from "../../src/charts/sweepChart.ts";
import { sentenceMetrics } from "../../src/lab/sentence.ts";
import { valuesOf } from "../../src/lab/sweepValues.ts";

const chunk: Control = {
  path: "volume.prefetch.chunk",
  title: "Chunk",
  help: "",
  unit: "B",
  format: "bytes",
  scale: "log2",
  min: 1 << 20,
  max: 1 << 24,
  value: 8_650_752,
};

describe("a sweep", () => {
  it("goes from one end of the control to the other, in order, with the present value among them", () => {
    const values = valuesOf(chunk);
    expect([values[0], values.at(-1)]).toEqual([1 << 20, 1 << 24]);
    expect(values).toEqual(values.toSorted((one, other) => one - other));
    expect(values).toContain(8_650_752);
    expect(values.length).toBeLessThanOrEqual(26);
  });

  it("of a range of decades is spread in equal ratios", () => {
    const values = valuesOf({ ...chunk, unit: "ns", scale: null, min: 10_000, max: 10_000_000, value: 500_000 });
    expect(values.length).toBe(26);
    expect(values[12]! / values[11]!).toBeCloseTo(1000 ** (1 / 24), 1);
  });

  it("of a control with few stops has no value twice", () => {
    expect(valuesOf({ ...chunk, format: null, scale: null, step: 1, min: 1, max: 4, value: 2 })).toEqual([1, 2, 3, 4]);
  });

  it("looks at what the case's sentence names, each once", () => {
    expect(sentenceMetrics("{a.x_ms} ms, {b} of { a.x_ms }")).toEqual(["a.x_ms", "b"]);
  });

  it("names a metric without its job and its unit", () => {
    expect(metricWords("odx.read_latency_mean_ms", "ms")).toBe("read latency mean");
    expect(metricWords("odx.read_missed_share_percent", "%")).toBe("read missed share");
    expect(metricWords("writers.write_mib_per_s", "MiB/s")).toBe("write");
    expect(metricWords("zfs_delayed_writes", "")).toBe("zfs delayed writes");
  });
});
