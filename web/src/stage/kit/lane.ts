/** Traffic from one place to another: squares at equal distances, which move as more data pass. */
import type { Meaning } from "../../base/colours.ts";
import { shape } from "./drawing.ts";
import type { Frame } from "../scenes/scene.ts";

/** Between two squares, in pixels. */
const spacing = 16;
const radius = 4.2;

/**
 * Places along a line through points, which are x and y of one after the other. They are `spacing_px` apart; `shift` moves all of
 * them on, 1 by a whole spacing.
 */
export function* along(
  points: readonly number[],
  shift: number,
  spacing_px = spacing,
): Generator<readonly [x: number, y: number]> {
  let next = (((shift % 1) + 1) % 1) * spacing_px;
  for (let nth = 2; nth < points.length; nth += 2) {
    const [fromX, fromY] = [points[nth - 2]!, points[nth - 1]!];
    const [across, down] = [points[nth]! - fromX, points[nth + 1]! - fromY];
    const length = Math.hypot(across, down);
    for (; next < length; next += spacing_px) {
      yield [fromX + (across * next) / length, fromY + (down * next) / length];
    }
    next -= length;
  }
}

/** Squares along a line through points. */
export function lane(frame: Frame, points: readonly number[], shift: number, meaning: Meaning): void {
  for (const [x, y] of along(points, shift)) shape(frame, x, y, radius, meaning, { isWrite: true });
}
