/**
 * A chart as one SVG file that can be looked at: its drawings under each other, its words as lines between them, the colours of
 * the light theme, and the patterns that it uses.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { colours, type Meaning, patterns } from "../../src/base/colours.ts";
import { svg } from "../../src/base/elements.ts";

/** The colours without a meaning, as the style sheet has them for the light theme, which comes first. */
const sheet = readFileSync(join(import.meta.dirname, "../../src/style/shared.css"), "utf8");
const neutral = new Map<string, string>();
for (const [, name, colour] of sheet.matchAll(/--([a-z-]+): (#[0-9a-f]{6});/g)) {
  if (!neutral.has(name!)) neutral.set(name!, colour!);
}
const lineHeight = 18;

export function pictureOf(chart: Element): string {
  const parts = partsOf(chart);
  const width = Math.max(...parts.map((part) => part.width));
  let y = 0;
  const placed = parts.map((part) => {
    part.place(y);
    y += part.height;
    return part.element;
  });
  const drawing = svg("svg", { width, height: y, viewBox: `0 0 ${width} ${y}` });
  drawing.append(...placed);
  const body = drawing.outerHTML;
  drawing.prepend(styleFor(body), ...patternsFor(body));
  // As XML: the file stands by itself.
  return tidy(new XMLSerializer().serializeToString(drawing));
}

interface Part {
  readonly element: Element;
  readonly width: number;
  readonly height: number;
  readonly place: (y: number) => void;
}

/** Drawings and lines of words, in the order in which they stand. */
function partsOf(element: Element): Part[] {
  if (element.matches("svg")) {
    const drawn = element.cloneNode(true) as Element;
    const number = (name: string) => Number(drawn.getAttribute(name));
    return [
      {
        element: drawn,
        width: number("width"),
        height: number("height"),
        place: (y) => drawn.setAttribute("y", String(y)),
      },
    ];
  }
  const isWords = element.matches("p") || element.querySelector("svg") === null;
  if (!isWords) return Array.from(element.children).flatMap(partsOf);
  const words = element.textContent.trim();
  if (words === "" || element.matches("style")) return [];
  const line = svg("text", { "font-size": 12 }, words);
  return [{ element: line, width: 0, height: lineHeight, place: (y) => line.setAttribute("y", String(y + 13)) }];
}

function styleFor(body: string): Element {
  const rules = rulesFor(body);
  const named = Array.from((body + rules).matchAll(/var\(--([a-z-]+)\)/g), ([, name]) => name!);
  // A pattern is painted with the colour of its meaning.
  const patterned = Array.from(body.matchAll(/url\(#seeklab-([a-z]+)\)/g), ([, name]) => name!);
  const names = [...new Set([...named, ...patterned, "paper", "ink"])].filter(
    (name) => !/^(plot-|sans|serif|mono|size)/.test(name),
  );
  const properties = names.sort().map((name) => `--${name}: ${colourOf(name)};`);
  const root = `svg { ${properties.join(" ")} font-family: sans-serif; background: var(--paper); }`;
  return svg("style", {}, [root, rules].join("\n"));
}

/** The rules of the style sheet for the classes that are drawn. */
function rulesFor(body: string): string {
  const drawn = new Set(Array.from(body.matchAll(/class="([^"]*)"/g), ([, names]) => names!.split(" ")).flat());
  return Array.from(sheet.matchAll(/^(\.[^{}@]*?) \{([^{}]*)\}/gm))
    .filter(([, selector]) =>
      selector!.split(",").some((one) => Array.from(one.matchAll(/\.([\w-]+)/g)).every(([, name]) => drawn.has(name!))),
    )
    .map(([, selector, rule]) => `${selector!.replaceAll(/\s+/g, " ")} {${rule!.replaceAll(/\s+/g, " ")}}`)
    .join("\n");
}

function colourOf(name: string): string {
  const own = neutral.get(name);
  if (own !== undefined) return own;
  const meaning = name.replace(/-text$/, "") as Meaning;
  if (!(meaning in colours)) throw new Error(`there is no colour --${name}`);
  return name.endsWith("-text") ? colours[meaning].lightText : colours[meaning].light;
}

function patternsFor(body: string): Element[] {
  const defs = Array.from(patterns().querySelectorAll("pattern")).filter(({ id }) => body.includes(`#${id})`));
  return defs.length === 0 ? [] : [svg("defs", {}, ...defs)];
}

/**
 * Numbers with two decimals, so that the last bit of a logarithm does not matter; names counted from one, so that what was
 * drawn before does not matter; a line for each element, so that a difference can be read.
 */
function tidy(text: string): string {
  const names = new Map<string, string>();
  return (
    text
      .replaceAll(/-?\d+\.\d{3,}(?:e-?\d+)?/g, (number) => String(Number(Number(number).toFixed(2)) + 0))
      .replaceAll(/\b(plot-[a-z]+-)\d+\b/g, (name, stem: string) => {
        if (!names.has(name)) names.set(name, `${stem}${names.size + 1}`);
        return names.get(name)!;
      })
      .replaceAll(/>(<(?!\/|tspan|title))/g, ">\n$1") + "\n"
  );
}
