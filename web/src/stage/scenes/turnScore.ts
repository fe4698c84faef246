/**
 * The turns of a disk as the rows of a score: from left to right the angle of the platter under the head, from top to bottom one turn
 * after the other. The head writes it: data are bars, a wait for the sector is a line up to the place where the data begin.
 */
import { svg } from "../../base/elements.ts";
import { firstAfter } from "../kit/lookup.ts";
import { line, write } from "../kit/drawing.ts";
import type { Box } from "../kit/picture.ts";
import type { Meaning } from "../../base/colours.ts";
import type { Frame } from "./scene.ts";

/** The first ten writes of an incident with a missed turn need 27. */
export const turnsShown = 28;
/** Data of a few kilobytes pass in so few pixels that they would not be seen. */
const leastData_px = 3;

/** What the head does from one moment to another. */
export interface Stroke {
  readonly kind: "seek" | "wait" | "read" | "write";
  readonly from_ns: number;
  readonly to_ns: number;
  /** Turns of the platter since the first row began, at its begin and its end. */
  readonly from_turns: number;
  readonly to_turns: number;
}

const paints: Readonly<Record<Stroke["kind"], Meaning>> = {
  seek: "seek",
  wait: "rotation",
  read: "disk",
  write: "transfer",
};

export interface TurnScore {
  backdrop(): SVGElement[];
  draw(frame: Frame): void;
  /** Turns and ended writes from the begin up to a moment. */
  countAt(time_ns: number): { readonly turns: number; readonly writes: number };
}

/** `strokes` in the order of time; rows fill the box, and when all are written, the next ones begin at the top. */
export function turnScore(strokes: readonly Stroke[], { x, y, width, height }: Box): TurnScore {
  const tall = height / turnsShown;
  const writes = strokes.filter(({ kind }) => kind === "write");

  function turnsAt(time_ns: number): number {
    const at = strokes[Math.max(0, firstAfter(strokes.length, (nth) => strokes[nth]!.from_ns, time_ns) - 1)];
    if (at === undefined || time_ns <= at.from_ns) return at?.from_turns ?? 0;
    const share = (time_ns - at.from_ns) / Math.max(1, at.to_ns - at.from_ns);
    // Between two strokes the platter turns on, and nothing is written.
    return at.from_turns + Math.min(1, share) * (at.to_turns - at.from_turns);
  }

  const endedBy = (time_ns: number) => firstAfter(writes.length, (nth) => writes[nth]!.to_ns, time_ns);

  function draw(frame: Frame): void {
    const { context, time_ns, paint } = frame;
    const now = turnsAt(time_ns);
    const page = Math.floor(now / turnsShown) * turnsShown;
    const rowY = (row: number) => y + (row - page) * tall;
    const end = firstAfter(strokes.length, (nth) => strokes[nth]!.from_ns, time_ns);
    for (let nth = end - 1; nth >= 0 && strokes[nth]!.to_turns >= page; nth--) {
      const stroke = strokes[nth]!;
      const until = Math.min(stroke.to_turns, nth === end - 1 ? now : Infinity);
      const isData = stroke.kind === "read" || stroke.kind === "write";
      context.fillStyle = paint(paints[stroke.kind]);
      for (let row = Math.max(page, Math.floor(stroke.from_turns)); row <= until && row < page + turnsShown; row++) {
        const [from, to] = [Math.max(stroke.from_turns, row) - row, Math.min(until, row + 1) - row];
        const wide = Math.max(isData && row >= stroke.from_turns - 1 ? leastData_px : 0, (to - from) * width);
        const high = isData ? tall - 1.5 : Math.min(2, tall / 3);
        context.fillRect(x + Math.min(from * width, width - wide), rowY(row) + (tall - high) / 2, wide, high);
      }
    }
    const ended = endedBy(time_ns);
    for (let nth = ended - 1; nth >= 0 && writes[nth]!.to_turns >= page; nth--) {
      const row = Math.floor(writes[nth]!.to_turns);
      if (row < page + turnsShown) {
        write(frame, String(nth + 1), x + width + 5, rowY(row) + tall, { size: tall < 8 ? 9 : 11 });
      }
    }
    const head = x + (now - Math.floor(now)) * width;
    line(frame, [head, rowY(Math.floor(now)) - 1, head, rowY(Math.floor(now)) + tall + 1], "ink", 2);
  }

  return {
    backdrop: () =>
      Array.from({ length: turnsShown + 1 }, (_, row) =>
        svg("line", { x1: x, x2: x + width, y1: y + row * tall, y2: y + row * tall, class: "thin" }),
      ),
    draw,
    countAt: (time_ns) => ({
      turns: Math.max(0, Math.floor(turnsAt(time_ns)) + 1),
      writes: endedBy(time_ns),
    }),
  };
}
