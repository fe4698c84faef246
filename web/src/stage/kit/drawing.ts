/** Drawing functions for scenes: shapes that support colours, gliding positions, queues that fit. */
import type { Meaning } from "../../base/colours.ts";
import type { Journeys } from "../../engine/journeys.ts";
import type { Paint } from "../painter.ts";
import type { Built, Frame } from "../scenes/scene.ts";
import { picture, type Box } from "./picture.ts";

/** A turn, in radians. */
export const fullTurn = 2 * Math.PI;

/** The picture of a run that has not what the scene shows; the words say so. */
export function emptyScene(width: number, words: string): Built {
  const height = 60;
  return {
    height,
    backdrop: picture(width, height),
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
  frame: Frame,
  x: number,
  y: number,
  radius: number,
  meaning: Meaning,
  { isWrite = false, isFollowed = false, isHollow = false }: Style = {},
): void {
  const { context, paint } = frame;
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
  if (isFollowed) arc(frame, { x, y, radius: radius + 4 }, "ink", 2);
}

/** Return the rows and the distances with which a count fits in an area. */
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

/** A request at a place, which can be followed there; with a glide it goes there. */
export function request(
  frame: Frame,
  { journeys, glide }: { readonly journeys: Journeys; readonly glide?: Glide },
  row: number,
  place: { readonly x: number; readonly y: number },
  radius: number,
  meaning: Meaning,
  style: Pick<Style, "isHollow"> = {},
): void {
  const { x, y } = glide?.to(row, place.x, place.y, frame.ease) ?? place;
  const isFollowed = frame.followed >= 0 && (row === frame.followed || journeys.rootOf(row) === frame.followed);
  shape(frame, x, y, radius, meaning, { ...style, isWrite: journeys.writes[row] === 1, isFollowed });
  frame.actor(row, x, y);
}

/** Requests that wait, in columns to the right of a corner. */
export function queue(
  frame: Frame,
  of: { readonly journeys: Journeys; readonly glide?: Glide },
  rows: readonly number[],
  { x, y, width, height }: Box,
  meaning: Meaning,
): void {
  const { rows: high, step } = layOut(rows.length, width, height);
  rows.forEach((row, nth) => {
    const place = { x: x + Math.floor(nth / high) * step, y: y + (nth % high) * step };
    request(frame, of, row, place, Math.max(1.5, step * 0.42), meaning);
  });
}

/** A line through points: x and y of one after the other. */
export function line({ context, paint }: Frame, points: readonly number[], colour: Paint, width: number): void {
  context.strokeStyle = paint(colour);
  context.lineWidth = width;
  context.beginPath();
  context.moveTo(points[0]!, points[1]!);
  for (let nth = 2; nth < points.length; nth += 2) context.lineTo(points[nth]!, points[nth + 1]!);
  context.stroke();
}

/** A part of a circle: from an angle to another, in radians; all of it without. */
export function arc(
  { context, paint }: Frame,
  { x, y, radius, from = 0, to = fullTurn }: { x: number; y: number; radius: number; from?: number; to?: number },
  colour: Paint,
  width: number,
): void {
  context.strokeStyle = paint(colour);
  context.lineWidth = width;
  context.beginPath();
  context.arc(x, y, radius, from, to);
  context.stroke();
}

/** Draw the elapsed share of a time, from 0 to 1, as a part of a ring that starts at the top. */
export function clock(
  frame: Frame,
  x: number,
  y: number,
  radius: number,
  share: number,
  colour: Paint,
  width: number,
): void {
  arc(frame, { x, y, radius, from: -fullTurn / 4, to: -fullTurn / 4 + share * fullTurn }, colour, width);
}

/** A circle that is filled. */
export function disc({ context, paint }: Frame, x: number, y: number, radius: number, colour: Paint): void {
  context.fillStyle = paint(colour);
  context.beginPath();
  context.arc(x, y, radius, 0, fullTurn);
  context.fill();
}

/** Lines from a hub outwards, so that it is seen to turn. */
export function spokes(
  frame: Frame,
  { x, y }: { readonly x: number; readonly y: number },
  [inner, outer]: readonly [number, number],
  count: number,
  angle: number,
): void {
  for (let nth = 0; nth < count; nth++) {
    const [across, down] = [Math.cos((nth * fullTurn) / count - angle), Math.sin((nth * fullTurn) / count - angle)];
    line(frame, [x + across * inner, y + down * inner, x + across * outer, y + down * outer], "rule", 1);
  }
}
