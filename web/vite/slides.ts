/**
 * Slides of the course's weeks, read from the instructor's pages when the site is built. They exclude solutions,
 * because they are shown in class.
 */
import { readFileSync, readdirSync } from "node:fs";
import { join, resolve } from "node:path";
import type { Plugin } from "vite";

/** A week as its page in `docs/instructor/weeks` tells it, and what the syllabus gives it. */
export interface Week {
  readonly week: number;
  readonly title: string;
  /** In the little Markdown of case files, as `before`, `board` and `discuss`. */
  readonly aims: string;
  readonly before: string;
  /** Beliefs of learners at the start, with the reply to each. */
  readonly beliefs: readonly { readonly said: string; readonly but: string }[];
  readonly board: string;
  readonly discuss: string;
  /** Notebooks by their numbers, exercises by their names. */
  readonly notebooks: readonly string[];
  readonly exercises: readonly string[];
}

const instructor = resolve(import.meta.dirname, "../../docs/instructor");
const name = "virtual:slides";
const resolved = `\0${name}`;

/** Reads a week's page; a part that it lacks is an error that names the part. */
export function readWeek(text: string, syllabus: string): Week {
  const [, number, title] = /^# Week (\d+): (.+)$/m.exec(text) ?? [];
  if (number === undefined || title === undefined) throw new Error('A week begins with "# Week <number>: <title>".');
  const where = `The page of week ${number}`;
  const paragraph = (heading: string) => {
    const found = new RegExp(`^\\*\\*${heading}\\.\\*\\* (.+)$`, "m").exec(text)?.[1];
    if (found === undefined) throw new Error(`${where} has no paragraph "**${heading}.**".`);
    return found;
  };
  const beliefs = [...text.matchAll(/^- "(.+?)" (.+)$/gm)].map(([, said, but]) => ({ said: said!, but: but! }));
  if (beliefs.length === 0) throw new Error(`${where} lists no beliefs of learners: - "the belief" the truth.`);
  const row = new RegExp(`^\\| \\[${number}\\]\\([^|]*\\|[^|]*\\|([^|]*)\\|([^|]*)\\|$`, "m").exec(syllabus);
  if (row === null) throw new Error(`The syllabus in docs/instructor/README.md has no row for week ${number}.`);
  return {
    week: Number(number),
    title,
    aims: paragraph("Aims"),
    before: paragraph("Before"),
    beliefs,
    board: paragraph("At the board"),
    discuss: paragraph("To discuss"),
    notebooks: row[1]!.match(/\b\d\d\b/g) ?? [],
    exercises: row[2]!.match(/[a-z]+(?:-[a-z]+)+/g) ?? [],
  };
}

function allWeeks(): readonly Week[] {
  const syllabus = readFileSync(join(instructor, "README.md"), "utf8");
  const folder = join(instructor, "weeks");
  return readdirSync(folder)
    .filter((file) => file.endsWith(".md"))
    .sort()
    .map((file) => readWeek(readFileSync(join(folder, file), "utf8"), syllabus));
}

/** The weeks as the module `virtual:slides`. */
export function slides(): Plugin {
  return {
    name: "seeklab-slides",
    resolveId: (id) => (id === name ? resolved : undefined),
    load: (id) => (id === resolved ? `export const weeks = ${JSON.stringify(allWeeks())};` : undefined),
  };
}
