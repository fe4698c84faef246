/**
 * The site's fonts with the characters and weights that its pages use.
 *
 * Both fonts are 80 kB as packaged, and a page loads them before anything else. What is cut: characters that no text of the site
 * has, weights that no style sheet asks for, and alternative forms of letters. A character beyond them, in a reader's own case
 * say, is drawn with the system's font.
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { extname, join, resolve } from "node:path";
import subsetFont from "subset-font";
import type { Plugin } from "vite";
import { enginePackage, webRoot } from "./site.ts";

const folder = resolve(webRoot, "../.cache/fonts");
const packages = join(webRoot, "node_modules/@fontsource-variable");
const sources = {
  "sans.woff2": "source-sans-3/files/source-sans-3-latin-wght-normal.woff2",
  "serif.woff2": "source-serif-4/files/source-serif-4-latin-wght-normal.woff2",
};

/** How style sheets find the fonts. */
export const fontAlias = { find: /^seeklab-fonts/, replacement: folder };

/** Folders whose texts are seen on pages: those of the web part, the library, and the rendered notebooks. */
const folders = [
  join(webRoot, "src"),
  join(webRoot, "vite"),
  enginePackage,
  resolve(webRoot, "../.cache/notebook-pages"),
];
const kinds = new Set([".css", ".html", ".json", ".ts"]);
const printable = Array.from({ length: 0x7f - 0x20 }, (_, nth) => String.fromCodePoint(0x20 + nth)).join("");

/** Weights of the style sheets; bold text of a browser's own is 700. */
const weights = { min: 400, max: 700 };
/** Kerning, ligatures, accents, and the forms of digits that style sheets ask for. */
const features = ["ccmp", "kern", "liga", "lnum", "locl", "mark", "mkmk", "tnum"];

/** Return the characters of texts, each once and in order, after those that keyboards have. */
export function charactersOf(all: Iterable<string>): string {
  const found = new Set(printable);
  for (const text of all) for (const character of text) found.add(character);
  return [...found].toSorted().join("");
}

/** Return a font in WOFF2 with some characters only. */
export function cut(font: Buffer, characters: string): Promise<Buffer> {
  const options = { targetFormat: "woff2", keepFeatures: features, variationAxes: { wght: weights } } as const;
  return subsetFont(font, characters, options);
}

function* textsIn(of: string): Generator<string> {
  if (!existsSync(of)) return;
  for (const file of readdirSync(of, { recursive: true, encoding: "utf8" }))
    if (kinds.has(extname(file))) yield readFileSync(join(of, file), "utf8");
}

/** Writes the fonts before style sheets are read. */
export function fonts(): Plugin {
  return {
    name: "seeklab-fonts",
    async buildStart() {
      const characters = charactersOf(folders.flatMap((of) => [...textsIn(of)]));
      mkdirSync(folder, { recursive: true });
      for (const [name, source] of Object.entries(sources)) {
        writeFileSync(join(folder, name), await cut(readFileSync(join(packages, source)), characters));
      }
    },
  };
}
