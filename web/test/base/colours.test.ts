import { describe, expect, it } from "vitest";
import { colours, colourSheet, fill, patterns, phases, type Meaning } from "../../src/base/colours.ts";

const paper = { light: "#ffffff", dark: "#14171a" };
const meanings = Object.keys(colours) as Meaning[];

describe("colours", () => {
  it.each(meanings)("give text for %s that can be read in both themes", (meaning) => {
    expect(contrast(colours[meaning].lightText, paper.light)).toBeGreaterThanOrEqual(4.5);
    expect(contrast(colours[meaning].darkText, paper.dark)).toBeGreaterThanOrEqual(4.5);
  });

  it("keep neighbouring phases of a disk apart in lightness, for those who see no hue", () => {
    for (const theme of ["light", "dark"] as const) {
      const [seek, rotation, transfer] = (["seek", "rotation", "transfer"] as const).map((name) =>
        luminance(colours[name][theme]),
      );
      expect(Math.abs(seek! - rotation!)).toBeGreaterThan(0.1);
      expect(Math.abs(rotation! - transfer!)).toBeGreaterThan(0.1);
      // What comes from a disk is not a seek.
      expect(Math.abs(seek! - luminance(colours.disk[theme]))).toBeGreaterThan(0.1);
    }
  });

  it("have a pattern wherever a meaning refers to one", () => {
    const drawn = patterns();
    for (const meaning of meanings) {
      const id = /^url\(#(.*)\)$/.exec(fill(meaning))?.[1];
      if (id !== undefined) expect(drawn.querySelector(`#${id}`)).not.toBeNull();
    }
  });

  it("reach the page as custom properties of both themes", () => {
    const sheet = colourSheet();
    for (const meaning of meanings) expect(sheet.split(`--${meaning}:`)).toHaveLength(4);
  });

  it("name every phase once", () => {
    expect(new Set(phases.map(({ name }) => name)).size).toBe(phases.length);
  });
});

function luminance(hex: string): number {
  const [r, g, b] = [1, 3, 5].map((at) => {
    const share = parseInt(hex.slice(at, at + 2), 16) / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * r! + 0.7152 * g! + 0.0722 * b!;
}

function contrast(a: string, b: string): number {
  const [light, dark] = [luminance(a), luminance(b)].sort((x, y) => y - x);
  return (light! + 0.05) / (dark! + 0.05);
}
