/** What scenes draw with: shapes that double colours, positions that glide, queues that fit. */
import type { Meaning } from "../../base/colours.ts";
import { svg } from "../../base/elements.ts";
import type { Built, Frame } from "./scene.ts";

/** The picture of a run that has not what the scene shows; the words say so. */
export function emptyScene(width: number, words: string): Built {
  const height = 60;
  return {
    height,
    backdrop: svg("svg", { width, height, "aria-hidden": "true" }),
    key: [],
    draw: () => 0,
    describe: () => words,
  };
}

/** Positions of actors, which follow where they belong with a little delay, so that the eye keeps hold of them. */
export class Glide {
  readonly #x: Float32Array;
  readonly #y: Float32Array;

  constructor(count: number) {
    this.#x = new Float32Array(count).fill(Number.NaN);
    this.#y = new Float32Array(count).fill(Number.NaN);
  }

  /** Moves an actor towards a place, by a share of the way from 0 to 1; 1 puts it there. */
  to(row: number, x: number, y: number, share: number): { readonly x: number; readonly y: number } {
    const [oldX, oldY] = [this.#x[row]!, this.#y[row]!];
    const isNew = Number.isNaN(oldX);
    this.#x[row] = isNew ? x : oldX + (x - oldX) * share;
    this.#y[row] = isNew ? y : oldY + (y - oldY) * share;
    return { x: this.#x[row], y: this.#y[row] };
  }
}

export interface Style {
  readonly isWrite?: boolean;
  readonly isFollowed?: boolean;
  /** Outlined: it waits for its parts. */
  readonly isHollow?: boolean;
}

/** A circle for a read, a square for a write, with a ring when it is followed. */
export function shape(
  { context, paint }: Frame,
  x: number,
  y: number,
  radius: number,
  meaning: Meaning,
  { isWrite = false, isFollowed = false, isHollow = false }: Style = {},
): void {
  context.beginPath();
  if (isWrite) context.rect(x - radius * 0.9, y - radius * 0.9, radius * 1.8, radius * 1.8);
  else context.arc(x, y, radius, 0, 2 * Math.PI);
  if (isHollow) {
    context.strokeStyle = paint("ink-soft");
    context.lineWidth = 1.5;
    context.stroke();
  } else {
    context.fillStyle = paint(meaning);
    context.fill();
  }
  if (!isFollowed) return;
  context.strokeStyle = paint("ink");
  context.lineWidth = 2;
  context.beginPath();
  context.arc(x, y, radius + 4, 0, 2 * Math.PI);
  context.stroke();
}

/** How many rows, and how far apart, so that so many fit in a room. */
export function layOut(count: number, width: number, height: number): { readonly rows: number; readonly step: number } {
  let step = 10;
  while (step > 2 && Math.max(1, Math.floor(height / step)) * Math.floor(width / step) < count) step -= 0.5;
  return { rows: Math.max(1, Math.floor(height / step)), step };
}

/** Words on the canvas. */
export function write(
  { context, paint }: Frame,
  words: string,
  x: number,
  y: number,
  options: {
    readonly align?: CanvasTextAlign;
    readonly size?: number;
    readonly soft?: boolean;
    readonly bold?: boolean;
  } = {},
): void {
  const { align = "left", size = 13, soft = false, bold = false } = options;
  context.fillStyle = paint(soft ? "ink-soft" : "ink");
  context.font = `${bold ? "600 " : ""}${size}px "Source Sans 3 Variable", "Source Sans 3", sans-serif`;
  context.textAlign = align;
  context.fillText(words, x, y);
}
