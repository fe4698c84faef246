import { describe, expect, it } from "vitest";
import { parseSetting } from "../../src/base/parse.ts";

describe("a value as people type it", () => {
  it.each([
    ["8 MiB", "B", 8_388_608],
    ["200 MB", "B", 200_000_000],
    ["63s", "B", 32_256],
    ["1,048,576", "B", 1_048_576],
    ["100 MB/s", "B/s", 100_000_000],
    ["10 Gbit/s", "bit/s", 1e10],
    ["0.2 ms", "ns", 200_000],
    ["10 us", "ns", 10_000],
    ["7,200 rpm", "rpm", 7200],
    ["55%", "%", 55],
    ["256 /s", "1/s", 256],
    ["1e3", null, 1000],
  ])("%s in %s is %d", (text, unit, value) => {
    expect(parseSetting(text, unit)).toBe(value);
  });

  it.each([
    ["", "B"],
    ["8 ms", "B"],
    ["200", "ns"],
    ["5 MB", "bit/s"],
    ["eight", null],
    ["1e999", null],
  ])("%j is none in %s", (text, unit) => {
    expect(parseSetting(text, unit)).toBeUndefined();
  });
});
