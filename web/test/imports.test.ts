// @vitest-environment node
/** Which area may import from which, and that no files import each other in a circle. */
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { describe, expect, it } from "vitest";

const source = join(import.meta.dirname, "../src");

/** For each area the others that it may import from. */
const mayImport: Readonly<Record<string, readonly string[]>> = {
  generated: [],
  base: [],
  engine: ["generated"],
  charts: ["base", "engine", "generated"],
  stage: ["charts", "base", "engine"],
  lab: ["stage", "base", "engine"],
  python: ["engine"],
  page: ["lab", "stage", "charts", "base", "engine", "generated", "python"],
  widget: ["lab", "charts", "base", "engine"],
};

interface Import {
  readonly from: string;
  readonly to: string;
}

const files = readdirSync(source, { recursive: true, encoding: "utf8" }).filter((name) => /(?<!\.d)\.ts$/.test(name));
const imports: Import[] = files.flatMap((from) =>
  Array.from(
    readFileSync(join(source, from), "utf8").matchAll(
      /^(?:import|export) [^;]*?from "(\.[^"]+\.ts)"|\bimport\("(\.[^"]+\.ts)"\)/gm,
    ),
    ([, named, loaded]) => ({ from, to: relative(source, join(source, dirname(from), (named ?? loaded)!)) }),
  ),
);
const areaOf = (file: string) => file.split("/")[0]!;

describe("the areas", () => {
  it("are all known", () => {
    expect([...new Set(files.map(areaOf))].filter((room) => !(room in mayImport))).toEqual([]);
    expect(imports.length).toBeGreaterThan(200);
  });

  it.each(Object.entries(mayImport))("%s imports from %j alone", (area, allowed) => {
    const wrong = imports
      .filter(({ from, to }) => areaOf(from) === area && areaOf(to) !== area && !allowed.includes(areaOf(to)))
      .map(({ from, to }) => `${from} imports ${to}`);
    expect(wrong).toEqual([]);
  });

  it("has page folders that import from themselves and from shared alone", () => {
    const folderOf = (file: string) => /^page\/(\w+)\/\w+\.ts$/.exec(file)?.[1];
    const pages = files.filter((file) => areaOf(file) === "page");
    expect(pages.filter((file) => folderOf(file) === undefined)).toEqual([]);
    const wrong = imports
      .filter(({ from, to }) => areaOf(from) === "page" && areaOf(to) === "page")
      .filter(({ from, to }) => folderOf(to) !== folderOf(from) && folderOf(to) !== "shared")
      .map(({ from, to }) => `${from} imports ${to}`);
    expect(wrong).toEqual([]);
  });

  it("have no circular imports: of values, of types, or of parts loaded later", () => {
    const importsOf = (file: string) => imports.filter(({ from }) => from === file);
    const done = new Set<string>();
    const circles: string[] = [];
    const visit = (file: string, path: readonly string[]) => {
      if (path.includes(file)) circles.push([...path.slice(path.indexOf(file)), file].join(" > "));
      if (path.includes(file) || done.has(file)) return;
      for (const { to } of importsOf(file)) visit(to, [...path, file]);
      done.add(file);
    };
    for (const file of files) visit(file, []);
    expect(circles).toEqual([]);
  });
});
