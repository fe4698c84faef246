import { readFileSync, readdirSync } from "node:fs";
import { join, resolve } from "node:path";
import { describe, expect, it } from "vitest";
import { incidentsOf, placeOf, readPlace } from "../../src/page/course/slidePlace.ts";
import { readWeek } from "../../vite/slides.ts";

const instructor = resolve(import.meta.dirname, "../../../docs/instructor");
const syllabus = readFileSync(join(instructor, "README.md"), "utf8");
const weeks = readdirSync(join(instructor, "weeks"))
  .sort()
  .map((file) => readFileSync(join(instructor, "weeks", file), "utf8"));

const text = `# Week 3: Flash

**Aims.** Say what flash does.

**Before.** Notebook 13.

**What they believe at the start**
- "Flash has no moving parts." It moves pages.

**At the board.** A block.

**To discuss.** What is full?

**Solutions.** Secret.
`;
const row = "| [3](weeks/week-03.md) | Flash | 13, 11 (cache devices) | flash-reserve |\n";

describe("the slides of a week", () => {
  it("hold what its page says and what the syllabus gives it, without the solutions", () => {
    const week = readWeek(text, row);
    expect(week).toEqual({
      week: 3,
      title: "Flash",
      aims: "Say what flash does.",
      before: "Notebook 13.",
      beliefs: [{ said: "Flash has no moving parts.", but: "It moves pages." }],
      board: "A block.",
      discuss: "What is full?",
      notebooks: ["13", "11"],
      exercises: ["flash-reserve"],
    });
    expect(JSON.stringify(week)).not.toContain("Secret");
  });

  it.each(weeks.map((week) => [week.split("\n")[0]!, week]))("are there for %s", (_, week) => {
    const { beliefs, notebooks, exercises } = readWeek(week, syllabus);
    expect(beliefs.length).toBeGreaterThanOrEqual(2);
    expect(notebooks.length * exercises.length).toBeGreaterThan(0);
  });

  it.each([
    ["**Aims.**", 'The page of week 3 has no paragraph "**Aims.**".'],
    ["**To discuss.**", 'The page of week 3 has no paragraph "**To discuss.**".'],
    ["# Week 3", 'A week begins with "# Week <number>: <title>".'],
    ['- "', "The page of week 3 lists no beliefs of learners"],
  ])("without %s are refused", (part, words) => expect(() => readWeek(text.replace(part, "x"), row)).toThrow(words));

  it("need a row of the syllabus", () => expect(() => readWeek(text, "")).toThrow("has no row for week 3"));
});

describe("the incidents of a week", () => {
  const week = { notebooks: ["07"], exercises: ["monitors-lie", "blind-diagnosis"] };
  const ids = (...known: { id: string; notebook?: string; exercises: string[] }[]) =>
    incidentsOf(week, known).map(({ id }) => id);

  it("are those whose own exercise is the week's", () =>
    expect(
      ids(
        { id: "a", exercises: ["monitors-lie"] },
        { id: "b", notebook: "07-x", exercises: ["by-heart", "blind-diagnosis"] },
      ),
    ).toEqual(["a"]));

  it("or, where the only exercise is on all incidents, those of its notebooks", () =>
    expect(
      ids({ id: "c", notebook: "07-x", exercises: ["blind-diagnosis"] }, { id: "d", notebook: "08-x", exercises: [] }),
    ).toEqual(["c"]));
});

describe("a place in the slides", () => {
  it("is what its address says", () =>
    expect(readPlace(placeOf({ week: 5, slide: 3 }))).toEqual({ week: 5, slide: 3 }));
  it.each(["", "#", "#week=", "#week=x", "#week=0", "#week=-1", "#week=1.5", "#slide=3"])("is none for %j", (hash) =>
    expect(readPlace(hash)).toBeUndefined(),
  );
  it.each(["#week=2", "#week=2&slide=0", "#week=2&slide=x", "#week=2&slide=1e999"])(
    "is the first slide for %j",
    (hash) => expect(readPlace(hash)).toEqual({ week: 2, slide: 1 }),
  );
});
