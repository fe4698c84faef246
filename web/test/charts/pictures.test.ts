/**
 * What charts draw, compared with stored pictures. `make update what=pictures` stores a changed picture; look at it
 * before it is committed.
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { pictureOf } from "./picture.ts";
import * as pictures from "./pictures.ts";

const folder = join(import.meta.dirname, "pictures");
const isStoring = process.env.SEEKLAB_PICTURES === "store";
const names = Object.keys(pictures);

/** Files of the room that draw nothing of a run: what charts are made of, and words. */
const noCharts = [
  "catalogue",
  "chart",
  "countLimit",
  "legend",
  "loadCharts",
  "marks",
  "operationLog",
  "plot",
  "resultTable",
  "ticks",
  "withoutLog",
];

describe("a stored picture is what is drawn of", () => {
  it.each(Object.entries(pictures))("%s", (name, draw) => {
    const chart = draw();
    if (chart === undefined) throw new Error("nothing was drawn");
    const picture = pictureOf(chart);
    expect(picture).not.toMatch(/NaN|undefined|Infinity/);
    const file = join(folder, `${name}.svg`);
    if (isStoring) {
      mkdirSync(folder, { recursive: true });
      writeFileSync(file, picture);
      return;
    }
    if (!existsSync(file)) throw new Error(`there is no picture of it yet: run make update what=pictures`);
    expect(picture).toBe(readFileSync(file, "utf8"));
  });
});

describe("the stored pictures", () => {
  it("each belong to a function", () => {
    expect(readdirSync(folder).toSorted()).toEqual(names.map((name) => `${name}.svg`).toSorted());
  });

  it("show every chart", () => {
    const charts = readdirSync(join(import.meta.dirname, "../../src/charts"))
      .filter((name) => name.endsWith(".ts"))
      .map((name) => name.replace(".ts", ""))
      .filter((name) => !noCharts.includes(name));
    const source = readFileSync(join(import.meta.dirname, "pictures.ts"), "utf8");
    expect(charts.filter((name) => !source.includes(`/charts/${name}.ts"`))).toEqual([]);
  });
});
