/**
 * A canvas that writes down what is drawn on it as SVG, for pictures that are made when the site is built. It knows the part of
 * the interface that scenes use; anything else is an error when it is called.
 */
import { escapeHtml } from "./escape.ts";

interface Paint {
  fillStyle: string;
  strokeStyle: string;
  globalAlpha: number;
  lineWidth: number;
  lineCap: string;
  font: string;
  textAlign: string;
  clip: string;
}

const start: Paint = {
  fillStyle: "#000",
  strokeStyle: "#000",
  globalAlpha: 1,
  lineWidth: 1,
  lineCap: "butt",
  font: "13px sans-serif",
  textAlign: "left",
  clip: "",
};
/** Of the height of a letter of the site's fonts. */
const meanLetter = 0.48;
const anchors: Readonly<Record<string, string>> = { center: "middle", right: "end", end: "end" };
let nextClip = 1;

const short = (value: number) => String(Math.round(value * 10) / 10);

export class CanvasDrawing {
  fillStyle = start.fillStyle;
  strokeStyle = start.strokeStyle;
  globalAlpha = start.globalAlpha;
  lineWidth = start.lineWidth;
  lineCap = start.lineCap;
  font = start.font;
  textAlign = start.textAlign;
  #clip = "";
  #path = "";
  #parts: string[] = [];
  readonly #saved: Paint[] = [];

  /** What has been drawn since it was last cleared, as an SVG of that size. */
  toSvg(width: number, height: number): string {
    return `<svg class="actors" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}">${this.#parts.join("")}</svg>`;
  }

  get isEmpty(): boolean {
    return this.#parts.length === 0;
  }

  setTransform(): void {
    // The picture is drawn in the page's pixels, whatever the screen has.
  }

  clearRect(): void {
    this.#parts = [];
  }

  beginPath(): void {
    this.#path = "";
  }

  moveTo(x: number, y: number): void {
    this.#path += `M${short(x)} ${short(y)}`;
  }

  lineTo(x: number, y: number): void {
    this.#path += `${this.#path === "" ? "M" : "L"}${short(x)} ${short(y)}`;
  }

  rect(x: number, y: number, width: number, height: number): void {
    this.#path += `M${short(x)} ${short(y)}h${short(width)}v${short(height)}h${short(-width)}z`;
  }

  arc(x: number, y: number, radius: number, from: number, to: number): void {
    const at = (angle: number) => `${short(x + radius * Math.cos(angle))} ${short(y + radius * Math.sin(angle))}`;
    const turn = Math.min(to - from, 2 * Math.PI);
    const begin = this.#path === "" || turn >= 2 * Math.PI ? "M" : "L";
    this.#path += `${begin}${at(from)}`;
    // Two halves, because an arc of a whole turn has no direction.
    const large = turn / 2 > Math.PI ? 1 : 0;
    for (const share of [0.5, 1]) {
      this.#path += `A${short(radius)} ${short(radius)} 0 ${large} 1 ${at(from + turn * share)}`;
    }
  }

  closePath(): void {
    this.#path += "z";
  }

  fill(): void {
    this.#add(`<path d="${this.#path}" ${this.#filled()}/>`);
  }

  stroke(): void {
    this.#add(`<path d="${this.#path}" fill="none" ${this.#stroked()}/>`);
  }

  fillRect(x: number, y: number, width: number, height: number): void {
    this.#add(
      `<path d="M${short(x)} ${short(y)}h${short(width)}v${short(height)}h${short(-width)}z" ${this.#filled()}/>`,
    );
  }

  strokeRect(x: number, y: number, width: number, height: number): void {
    this.#add(
      `<rect x="${short(x)}" y="${short(y)}" width="${short(width)}" height="${short(height)}" fill="none" ${this.#stroked()}/>`,
    );
  }

  fillText(text: string, x: number, y: number): void {
    const anchor = anchors[this.textAlign];
    const aligned = anchor === undefined ? "" : ` text-anchor="${anchor}"`;
    this.#add(
      `<text x="${short(x)}" y="${short(y)}"${aligned} ${this.#filled()} style="font:${escapeHtml(this.font)}">${escapeHtml(text)}</text>`,
    );
  }

  measureText(text: string): { width: number } {
    const size = Number(/(\d+(?:\.\d+)?)px/.exec(this.font)?.[1] ?? 13);
    return { width: text.length * size * meanLetter };
  }

  save(): void {
    const { fillStyle, strokeStyle, globalAlpha, lineWidth, lineCap, font, textAlign } = this;
    this.#saved.push({ fillStyle, strokeStyle, globalAlpha, lineWidth, lineCap, font, textAlign, clip: this.#clip });
  }

  restore(): void {
    const { clip, ...paint } = this.#saved.pop() ?? start;
    Object.assign(this, paint);
    this.#clip = clip;
  }

  clip(): void {
    const id = `first-clip-${nextClip++}`;
    this.#parts.push(`<clipPath id="${id}"><path d="${this.#path}"/></clipPath>`);
    this.#clip = id;
  }

  #add(part: string): void {
    this.#parts.push(this.#clip === "" ? part : `<g clip-path="url(#${this.#clip})">${part}</g>`);
  }

  #filled(): string {
    return `fill="${this.fillStyle}"${this.globalAlpha === 1 ? "" : ` opacity="${this.globalAlpha}"`}`;
  }

  #stroked(): string {
    const cap = this.lineCap === "butt" ? "" : ` stroke-linecap="${this.lineCap}"`;
    const alpha = this.globalAlpha === 1 ? "" : ` opacity="${this.globalAlpha}"`;
    return `stroke="${this.strokeStyle}" stroke-width="${this.lineWidth}"${cap}${alpha}`;
  }
}
