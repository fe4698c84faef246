// Regular expressions of the pages: none takes quadratic time on a long text of one character, or of a few.
import { readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import ts from "typescript";
import { expect, test, vi } from "vitest";

vi.setConfig({ testTimeout: 60_000 });

const root = resolve(import.meta.dirname, "../src");
/** Of the last, linear time is far below the limit, and quadratic time far above it, on slow and fast processors. */
const lengths = [25, 500, 20_000];
const slow_ms = 50;
const letters = Array.from(" \t\n0aA.,-:;/#=<>()[]{}\"'`*_%&|\\");

interface Found {
  readonly place: string;
  readonly regex: RegExp;
}

function expressions(): Found[] {
  const found: Found[] = [];
  for (const name of readdirSync(root, { recursive: true, encoding: "utf8" }).sort()) {
    if (!/\.(?:ts|js)$/.test(name)) continue;
    const source = ts.createSourceFile(name, readFileSync(join(root, name), "utf8"), ts.ScriptTarget.Latest, true);
    const visit = (node: ts.Node): void => {
      if (ts.isRegularExpressionLiteral(node)) {
        const [, pattern, flags] = /^\/([^]*)\/([a-z]*)$/.exec(node.text)!;
        const { line } = source.getLineAndCharacterOfPosition(node.getStart());
        found.push({ place: `${name}:${line + 1}`, regex: new RegExp(pattern!, flags) });
      }
      ts.forEachChild(node, visit);
    };
    visit(source);
  }
  return found;
}

/** The literal beginning of a pattern, and letters that it names: what may lead to a repetition. */
function pieces(regex: RegExp): string[] {
  const start = /^\^?((?:\\[./()[\]{}*+?|^$]|[\w <"'=:,-])*)/.exec(regex.source)![1]!.replaceAll("\\", "");
  const named = letters.filter((letter) => regex.source.includes(letter));
  return [
    ...new Set([
      ...letters,
      ...(start === "" ? [] : [start, ...letters.map((letter) => start + letter)]),
      ...named.map((letter) => `a${letter}`),
    ]),
  ];
}

/** The least time of some tries: another program may have had the processor. */
function time_ms(regex: RegExp, text: string): number {
  let least = Infinity;
  for (let tries = 0; tries < 3 && least > slow_ms; tries++) {
    const begun = performance.now();
    text.replace(regex, "");
    least = Math.min(least, performance.now() - begun);
  }
  return least;
}

function slowest({ regex }: Found): string {
  for (const long of lengths)
    for (const piece of pieces(regex))
      for (const end of ["\0", "\n\0"]) {
        const took = time_ms(regex, piece.repeat(long).slice(0, long) + end);
        if (took > slow_ms) return `${took.toFixed(0)} ms for many ${JSON.stringify(piece)}`;
      }
  return "";
}

/** Quadratic, but of short texts only. */
const short: Readonly<Record<string, string>> = {
  "\\B(?=(\\d{3})+(?!\\d))": "of the digits of a number, at most 309",
};
const all = expressions().filter(({ regex }) => !(regex.source in short));

test("the expressions are found, and a quadratic one is", () => {
  expect(all.length).toBeGreaterThan(30);
  expect(slowest({ place: "", regex: /\s+$/ })).not.toBe("");
  expect(slowest({ place: "", regex: /a*b/ })).not.toBe("");
});

test.each(all.map((one) => [one.place, one] as const))("%s takes linear time", (_, one) => {
  expect(slowest(one)).toBe("");
});
