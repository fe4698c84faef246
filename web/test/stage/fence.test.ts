import { describe, expect, it } from "vitest";
import type { Result } from "../../src/engine/api.ts";
import { journeysOf } from "../../src/engine/journeys.ts";
import { fenceScene } from "../../src/stage/scenes/fence.ts";
import type { Frame } from "../../src/stage/scenes/scene.ts";

const names = ["dirty_mean_bytes", "dirty_max_bytes", "limit_bytes", "async_writes_mean", "written_bytes"];
const others = ["not_delayed", "delayed", "delay_ns", "blocked", "blocked_ns", "log_bytes", "log_live_bytes"];
/** Four intervals of a second: a gap, a picket in which reads end and one in which none does, and a gap. */
function made(rates_mb: readonly number[]): Result {
  const columns: Record<string, Float64Array> = {
    "series.time_ns": Float64Array.of(0, 1e9, 2e9, 3e9),
    "series.reads": Float64Array.of(10, 10, 0, 10),
    "series.read_latency_mean_ms": Float64Array.of(5, 15, 0, 20),
  };
  for (const name of [...names, ...others]) columns[`zfs.${name}`] = new Float64Array(4);
  columns["zfs.written_bytes"] = Float64Array.from(rates_mb, (rate) => rate * 1e6);
  columns["zfs.async_writes_mean"] = Float64Array.of(0, 2.5, 10, 0);
  columns["zfs.not_delayed"] = new Float64Array(4).fill(100);
  const summary = { simulated_ns: 4e9, jobs: ["app"], devices: ["pool"], metrics: {} };
  return { summary, columns, scenario: { zfs: {} } } as unknown as Result;
}

const picket = made([0, 50, 100, 0]);

function drawnAt(time_s: number, result = picket, other?: Result) {
  const rects: { paint: string; height: number; alpha: number }[] = [];
  const words: string[] = [];
  const context = {
    fillStyle: "",
    globalAlpha: 1,
    fillRect(_x: number, _y: number, _width: number, height: number) {
      rects.push({ paint: this.fillStyle, height, alpha: this.globalAlpha });
    },
    fillText: (text: string) => words.push(text.replaceAll("\u00a0", " ")),
    ...Object.fromEntries(
      ["beginPath", "moveTo", "lineTo", "stroke", "rect", "fill", "arc"].map((name) => [name, () => undefined]),
    ),
  };
  const input = { result, journeys: journeysOf(result), focus: { job: "app", op: "read" } as const, other };
  const built = fenceScene.build({ ...input, width: 840 });
  const frame = { context, time_ns: time_s * 1e9, speed: 1, paint: (meaning: string) => meaning };
  const lit = built.draw(frame as unknown as Frame);
  return { lit, rects, words };
}

describe("slots and fence", () => {
  it("lights as many slots as writes are in flight, the last one in part", () => {
    expect(drawnAt(0.5).lit).toBe(0);
    const slots = drawnAt(1.5).rects.filter(({ paint, height }) => paint === "disk" && height < 20);
    expect(slots.map(({ alpha }) => alpha)).toEqual([1, 1, 0.5]);
    expect(drawnAt(2.5)).toMatchObject({ lit: 10 });
    expect(drawnAt(2.5).words).toContain("10 of 10 in use");
  });

  it("draws the fence up to the present, no further", () => {
    const bars = (time_s: number) =>
      drawnAt(time_s).rects.filter(({ paint, height }) => paint === "disk" && height > 20);
    expect(bars(0.9)).toHaveLength(0);
    expect(bars(1.9)).toHaveLength(1);
    expect(bars(2.9).map(({ height }) => Math.round(height))).toEqual([75, 150]);
  });

  it("says for how long no read has ended, in place of a mean of none", () => {
    const { rects, words } = drawnAt(2.9);
    expect(words).toContain("no read for 1.00 s");
    expect(rects.filter(({ paint }) => paint === "stopped")).toHaveLength(1);
    expect(drawnAt(1.9).words).toContain("15.0 ms");
  });

  it("has the scale of the larger run of a pair", () => {
    const tallest = (other?: Result) =>
      Math.max(
        ...drawnAt(2.9, picket, other)
          .rects.filter(({ paint }) => paint === "disk")
          .map(({ height }) => height),
      );
    expect(tallest(made([0, 200, 0, 0]))).toBeCloseTo(tallest() / 2);
  });
});
