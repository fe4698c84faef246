/** Saves a drawing of the page as a file: the picture with the styles of the page, and its table. */
import { save } from "../shared/download.ts";

/** Styles that a picture needs without a style sheet. */
const styles = [
  "fill",
  "fill-opacity",
  "stroke",
  "stroke-width",
  "stroke-opacity",
  "stroke-dasharray",
  "stroke-linecap",
  "opacity",
  "font-family",
  "font-size",
  "font-weight",
  "text-anchor",
  "dominant-baseline",
  "paint-order",
  "visibility",
  "display",
] as const;
const pixelsEach = 2;
const svgSpace = "http://www.w3.org/2000/svg";

/** A drawing with everything that it needs inside; `above` is a canvas that lies on it. */
export function standalone(drawing: SVGSVGElement, above?: HTMLCanvasElement): SVGSVGElement {
  const copy = drawing.cloneNode(true) as SVGSVGElement;
  const from = [drawing, ...drawing.querySelectorAll<SVGElement>("*")];
  const to = [copy, ...copy.querySelectorAll<SVGElement>("*")];
  from.forEach((element, nth) => {
    const computed = getComputedStyle(element);
    for (const name of styles) {
      const value = computed.getPropertyValue(name);
      if (value !== "") to[nth]!.setAttribute(name, value.replace(/url\("[^"]*#/g, 'url("#').replaceAll('"', ""));
    }
    to[nth]!.removeAttribute("style");
    to[nth]!.removeAttribute("class");
  });
  const { width, height } = drawing.getBoundingClientRect();
  copy.setAttribute("xmlns", svgSpace);
  copy.setAttribute("width", String(Math.round(width)));
  copy.setAttribute("height", String(Math.round(height)));
  const page = document.documentElement;
  const paper = document.createElementNS(svgSpace, "rect");
  paper.setAttribute("width", "100%");
  paper.setAttribute("height", "100%");
  paper.setAttribute("fill", getComputedStyle(page).backgroundColor);
  const patterns = document.querySelector<SVGSVGElement>("svg.seeklab-patterns defs")?.cloneNode(true);
  copy.prepend(...(patterns === undefined ? [] : [inTheme(patterns as SVGElement)]), paper);
  if (above !== undefined) {
    const image = document.createElementNS(svgSpace, "image");
    image.setAttribute("href", above.toDataURL("image/png"));
    image.setAttribute("width", "100%");
    image.setAttribute("height", "100%");
    copy.append(image);
  }
  return copy;
}

/** Patterns are painted with variables, which another file does not have. */
function inTheme(patterns: SVGElement): SVGElement {
  const colours = getComputedStyle(document.documentElement);
  for (const mark of patterns.querySelectorAll("*")) {
    for (const name of ["fill", "stroke"]) {
      const variable = /^var\((--[a-z-]+)\)$/.exec(mark.getAttribute(name) ?? "")?.[1];
      if (variable !== undefined) mark.setAttribute(name, colours.getPropertyValue(variable).trim());
    }
  }
  return patterns;
}

function textOf(drawing: SVGSVGElement): string {
  return new XMLSerializer().serializeToString(drawing);
}

export function saveSvg(name: string, drawing: SVGSVGElement, above?: HTMLCanvasElement): void {
  save(`${name}.svg`, `${textOf(standalone(drawing, above))}\n`, "image/svg+xml");
}

export async function savePng(name: string, drawing: SVGSVGElement, above?: HTMLCanvasElement): Promise<void> {
  const alone = standalone(drawing, above);
  const image = new Image();
  image.src = `data:image/svg+xml,${encodeURIComponent(textOf(alone))}`;
  await image.decode();
  const canvas = document.createElement("canvas");
  canvas.width = Number(alone.getAttribute("width")) * pixelsEach;
  canvas.height = Number(alone.getAttribute("height")) * pixelsEach;
  canvas.getContext("2d")!.drawImage(image, 0, 0, canvas.width, canvas.height);
  const blob = await new Promise<Blob | null>((made) => canvas.toBlob(made, "image/png"));
  if (blob === null) throw new Error("The browser could not make the picture.");
  save(`${name}.png`, blob, "image/png");
}

/** A table as CSV, as it is read: a row a line, headings first. */
export function tableCsv(table: HTMLTableElement): string {
  const lines = Array.from(table.rows, (row) =>
    Array.from(row.cells, (cell) => quoted(cell.textContent.trim().replaceAll("\u00a0", " "))).join(","),
  );
  return `${lines.join("\n")}\n`;
}

function quoted(words: string): string {
  return /[",\n]/.test(words) ? `"${words.replaceAll('"', '""')}"` : words;
}
