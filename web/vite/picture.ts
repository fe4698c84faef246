/** A run as a picture of its own file, and the card that a shared link shows. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Resvg } from "@resvg/resvg-js";
import { colours, patterns } from "../src/base/colours.ts";
import { formatNanos } from "../src/base/format.ts";
import { overviewScale, runOverview, type OverviewKind, hasKind } from "../src/charts/runOverview.ts";
import { latencyAxisEnd } from "../src/charts/rows/reads.ts";
import { clientsEndOf, held, intervalsOf } from "../src/charts/rows/writePath.ts";
import type { Result } from "../src/engine/api.ts";
import type { CaseDocument } from "../src/engine/types.ts";
import { escapeHtml } from "./escape.ts";

const packages = join(import.meta.dirname, "../node_modules");
const fonts = [
  "@expo-google-fonts/source-sans-3/400Regular/SourceSans3_400Regular.ttf",
  "@expo-google-fonts/source-sans-3/600SemiBold/SourceSans3_600SemiBold.ttf",
  "@expo-google-fonts/source-serif-4/600SemiBold/SourceSerif4_600SemiBold.ttf",
].map((name) => join(packages, name));

export const card = { width: 1200, height: 630 } as const;
const picture = { width: 320, height: 84 } as const;
const neutral = readFileSync(join(import.meta.dirname, "../src/style/shared.css"), "utf8");

/** The views that show what a kind of picture shows: where a question covers one of them, the picture would answer it. */
const shows: Readonly<Record<OverviewKind, readonly string[]>> = {
  dirty: ["dirty", "bucket"],
  requests: ["heatmap", "lifetimes", "oplog"],
  intervals: ["heatmap"],
};

/** Return the picture of a run that a page may show before its question is answered. */
export function overviewFor(result: Result, { ask, focus }: Pick<CaseDocument, "ask" | "focus">) {
  const covers: readonly string[] = ask.covers ?? [];
  // A buffer that delays no writes is not worth showing.
  const isHeldUp = held(intervalsOf(result)).delayed + held(intervalsOf(result)).blocked > 0;
  const kinds = (["dirty", "requests", "intervals"] as const).filter(
    (kind) => hasKind(result, kind) && (kind !== "dirty" || isHeldUp),
  );
  const kind = kinds.find((each) => !shows[each].some((view) => covers.includes(view)));
  return { kind: kind ?? "intervals", ...focus };
}

/** Caption of each kind of picture, over this time and up to this height. */
const says: Readonly<Record<OverviewKind, (time: string, most: string) => string>> = {
  dirty: (time, most) => `Dirty data over ${time}, up to ${most}; below, when writes were delayed or stopped.`,
  requests: (time, most) => `${time} of requests. Height is latency, up to ${most}. Orange: waited for disk.`,
  intervals: (time, most) => `Mean latency over ${time}, up to ${most}.`,
};

/** The picture with the colours of both themes in it, and what it shows. */
export function pictureOf(
  result: Result,
  { kind, job, op }: { readonly kind: OverviewKind } & CaseDocument["focus"],
): { readonly picture: string; readonly caption: string } {
  const latency_max_ns = latencyAxisEnd(job, [result], op);
  const drawn = runOverview(result, { job, op, ...picture, latency_max_ns, kind });
  drawn.setAttribute("xmlns", "http://www.w3.org/2000/svg");
  drawn.setAttribute("preserveAspectRatio", "none");
  drawn.removeAttribute("aria-hidden");
  const definitions = patterns().querySelector("defs");
  if (definitions !== null) drawn.prepend(definitions.cloneNode(true));
  const style = document.createElementNS("http://www.w3.org/2000/svg", "style");
  style.textContent = `${variables("light")}@media (prefers-color-scheme:dark){${variables("dark")}}.baseline{stroke:var(--rule-strong)}`;
  drawn.prepend(style);
  const end_ns = kind === "dirty" ? clientsEndOf(result) * 1e9 : result.summary.simulated_ns;
  const most = overviewScale(result, { op, latency_max_ns, kind }).replace("full height ", "").replace(" dirty", "");
  const { XMLSerializer } = document.defaultView!;
  return { picture: new XMLSerializer().serializeToString(drawn), caption: says[kind](formatNanos(end_ns), most) };
}

function variables(theme: "light" | "dark"): string {
  const own = Object.entries(themed(theme)).map(([name, value]) => `--${name}:${value}`);
  return `svg{${own.join(";")}}`;
}

/** Every colour of a theme by its name: those with a meaning, and the neutral ones of the style sheet. */
function themed(theme: "light" | "dark"): Record<string, string> {
  const blocks = neutral.split("prefers-color-scheme: dark");
  const block = theme === "light" ? blocks[0]! : blocks[1]!;
  const neutrals = Array.from(block.matchAll(/--([a-z-]+): (#[0-9a-f]{6});/g), ([, name, value]) => [name!, value!]);
  const meanings = Object.entries(colours).map(([name, colour]) => [name, colour[theme]]);
  return Object.fromEntries([...meanings, ...neutrals]) as Record<string, string>;
}

/** The card: what happened, and the picture of the run, as a PNG. */
export function cardOf(words: { code: string; symptom: string; caption: string }, drawn: string): Uint8Array {
  const light = themed("light");
  const large = wrap(words.symptom, 37);
  const [lines, size] = large.length > 3 ? [wrap(words.symptom, 45), 45] : [large, 54];
  const title = lines.map(
    (line, nth) =>
      `<text x="60" y="${132 + nth * size * 1.15}" font-family="Source Serif 4" font-weight="600" font-size="${size}" fill="${light.ink!}">${escapeHtml(line)}</text>`,
  );
  // Below the last line, however many there are.
  const top = Math.round(Math.max(250, 132 + (lines.length - 1) * size * 1.15 + 28));
  // The renderer knows no variables, and needs no other theme.
  const inner = drawn
    .replace(/<style>.*?<\/style>/s, "")
    .replace(/var\(--([a-z-]+)\)/g, (_, name: string) => light[name] ?? "#000000")
    .replaceAll('class="baseline"', `stroke="${light["rule-strong"]!}"`)
    .replace(/^<svg /, `<svg x="60" y="${top}" `)
    .replace(/ width="\d+" height="\d+"/, ` width="1080" height="${540 - top}"`);
  const sans = `font-family="Source Sans 3"`;
  const soft = light["ink-soft"]!;
  const text = `<svg xmlns="http://www.w3.org/2000/svg" width="${card.width}" height="${card.height}" viewBox="0 0 ${card.width} ${card.height}">
<rect width="100%" height="100%" fill="${light.paper!}"/>
<text x="60" y="66" ${sans} font-weight="600" font-size="28" fill="${light.ink!}">Seeklab</text>
<text x="1140" y="66" ${sans} font-size="28" fill="${soft}" text-anchor="end">${escapeHtml(words.code)}</text>
${title.join("\n")}
${inner}
<text x="60" y="572" ${sans} font-size="26" fill="${soft}">${escapeHtml(words.caption)}</text>
</svg>`;
  const renderer = new Resvg(text, {
    font: { fontFiles: fonts, loadSystemFonts: false, defaultFontFamily: "Source Sans 3" },
  });
  return renderer.render().asPng();
}

/** Lines of at most so many letters, as even as they come. */
export function wrap(text: string, most: number): string[] {
  const lines: string[] = [];
  for (const word of text.split(" ")) {
    const last = lines.at(-1);
    if (last !== undefined && last.length + 1 + word.length <= most) lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(word);
  }
  return lines;
}
