// @vitest-environment node
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { charactersOf, cut } from "../../vite/fonts.ts";
import { webRoot } from "../../vite/site.ts";

it("keeps the characters of keyboards, and each other one that a text has", () => {
  const characters = charactersOf(["5 µs → x", "x·µ"]);
  expect(characters).toMatch(/^ !"#.*~·µ→$|^ !"#.*~µ·→$/u);
  expect(charactersOf([])).toHaveLength(95);
});

it("makes a font that has less", async () => {
  const file = "node_modules/@fontsource-variable/source-serif-4/files/source-serif-4-latin-wght-normal.woff2";
  const whole = readFileSync(join(webRoot, file));
  const [letters, one] = await Promise.all([cut(whole, charactersOf(["äöü·→"])), cut(whole, "a")]);
  expect(letters.subarray(0, 4).toString("latin1")).toBe("wOF2");
  expect(letters.length).toBeLessThan(whole.length / 1.7);
  expect(one.length).toBeLessThan(letters.length / 4);
});
