/** Entries of a chart's key: a small drawing, and the words for it in a colour that can be read. */
import { fill, ink, type Meaning } from "../base/colours.ts";
import { html } from "../base/elements.ts";

export interface Swatch {
  /** SVG from our own code; an area in the paint of the meaning when absent. */
  readonly marks?: string;
  readonly width?: number;
  readonly height?: number;
}

export function keyEntry(words: string, meaning: Meaning, options: Swatch = {}): HTMLElement {
  const { width = 18, height = 10 } = options;
  const { marks = `<rect width="${width}" height="${height}" fill="${fill(meaning)}"/>` } = options;
  const swatch = html("span", { class: "swatch", "aria-hidden": "true" });
  swatch.innerHTML = `<svg width="${width}" height="${height}">${marks}</svg>`;
  return html("span", { style: `color: ${ink(meaning)}` }, swatch, ` ${words}`);
}
