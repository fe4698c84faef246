import { describe, expect, it } from "vitest";
import {
  fillSentence,
  formatBytes,
  formatClock,
  formatExact,
  formatNanos,
  formatNumber,
  formatRoundBytes,
  formatSetting,
  formatTick,
  formatValue,
  keepUnits,
} from "../../src/base/format.ts";
import { binaryTicks, decimalTicks } from "../../src/charts/ticks.ts";

const plain = (text: string) => text.replaceAll("\u00a0", " ");

describe("numbers", () => {
  it.each([
    [0, "0"],
    [25.2671, "25.3"],
    [3.0273, "3.03"],
    [99.96, "100"],
    [9.996, "10.0"],
    [0.0012345, "0.00123"],
    [-24.26, "-24.3"],
    [8_650_752, "8,650,752"],
    [Number.NaN, "–"],
  ])("%d reads %s", (value, words) => expect(plain(formatNumber(value))).toBe(words));

  it.each([
    [262_144, "256 KiB"],
    [8_650_752, "8.25 MiB"],
    [2 ** 31, "2 GiB"],
    [512, "512 B"],
  ])("%d bytes read %s", (value, words) => expect(plain(formatBytes(value))).toBe(words));

  it.each([
    [200_000_000, "200 MB"],
    [8_126_464, "7.75 MiB"],
    [1_048_576, "1 MiB"],
    [100_000_000_000, "100 GB"],
    [8_650_752, "8.25 MiB"],
    [1_234_567, "1.18 MiB"],
    [512, "512 B"],
  ])("%d chosen bytes read %s in a field and in its table", (value, words) => {
    expect(plain(formatRoundBytes(value))).toBe(words);
    expect(formatSetting(value, "B")).toBe(formatRoundBytes(value));
    expect(formatSetting(value, "B/s")).toBe(`${formatRoundBytes(value)}/s`);
  });

  it.each([
    [450, "450 ns"],
    [200_000, "200 µs"],
    [24_267_152, "24.3 ms"],
    [16_332_006_964, "16.3 s"],
  ])("%d ns read %s", (value, words) => expect(plain(formatNanos(value))).toBe(words));

  it.each([
    [209_715_200, "B/s", "200 MiB/s"],
    [256, "1/s", "256 /s"],
    [3.03, "%", "3.03%"],
    [9.88, "x", "9.88×"],
    [40e6, "ns", "40.0 ms"],
    [12, null, "12.0"],
  ])("%d in %s reads %s", (value, unit, words) => expect(plain(formatValue(value, unit))).toBe(words));

  it("as documented keep their digits and get no new ones", () => {
    expect(plain(formatExact(8_388_608, "B"))).toBe("8,388,608 B");
    expect(plain(formatExact(25, "ms"))).toBe("25 ms");
    expect(plain(formatExact(1.5, "x"))).toBe("1.5×");
  });
});

describe("a long run's clock", () => {
  it("has hours, minutes and whole seconds", () => {
    expect([0, 75.9, 7501.118, 808_570].map(formatClock)).toEqual(["0:00:00", "0:01:15", "2:05:01", "224:36:10"]);
  });
});

describe("the ticks of a time axis", () => {
  it.each([
    [1e6, "1 ms"],
    [1e7, "10 ms"],
    [1e5, "100 µs"],
    [2.5e6, "2.5 ms"],
    [5e8, "500 ms"],
  ])("at %d ns read %s", (value, words) => expect(plain(formatTick(value))).toBe(words));
});

describe("sentences", () => {
  it("are filled with metrics, and a metric that is missing shows as a dash", () => {
    expect(fillSentence("Mean {a.ms} ms, {b} of it", { "a.ms": 25.267 })).toBe("Mean 25.3 ms, – of it");
    expect(fillSentence("{moved_bytes} moved", { moved_bytes: 3 * 2 ** 20 })).toBe("3\u00a0MiB moved");
  });
  it("keep a number and its unit on one line", () => {
    expect(keepUnits("read at 25 ms and 3 % of 8 MiB in 2 steps")).toBe(
      "read at 25\u00a0ms and 3\u00a0% of 8\u00a0MiB in 2 steps",
    );
  });
});

describe("ticks", () => {
  it("of offsets are multiples of a power of two", () => {
    expect(binaryTicks(41.25, 91, 7)).toEqual([48, 56, 64, 72, 80, 88]);
  });
  it("of times are multiples of 1, 2 or 5", () => {
    expect(decimalTicks(0, 50, 5)).toEqual([0, 10, 20, 30, 40, 50]);
    expect(decimalTicks(0, 0.6, 5)).toEqual([0, 0.2, 0.4, 0.6]);
  });
});
