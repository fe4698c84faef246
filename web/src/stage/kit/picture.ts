/** The part of a picture that stands: an SVG, its words and its boxes. */
import { svg } from "../../base/elements.ts";

export interface Box {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

/** An SVG of a size, which the words of the picture describe. */
export function picture(width: number, height: number, ...children: Node[]): SVGSVGElement {
  const viewBox = `0 0 ${width} ${height}`;
  return svg("svg", { width, height, viewBox, "aria-hidden": "true" }, ...children);
}

/** Words at a place. */
export function textAt(
  x: number,
  y: number,
  words: string,
  style?: "soft" | "lane-name",
  anchor?: "middle" | "end",
): SVGTextElement {
  return svg("text", { x, y, "text-anchor": anchor, class: style }, words);
}

export function box({ x, y, width, height }: Box, style: "lane" | "lane-cell" | "outline"): SVGRectElement {
  return svg("rect", { x, y, width, height, class: style });
}

/** The present, as the right edge of what passes to the left. */
export function presentLine(x: number, top: number, bottom: number): SVGLineElement {
  return svg("line", { x1: x, x2: x, y1: top, y2: bottom, stroke: "var(--ink)", "stroke-width": 1.5 });
}
