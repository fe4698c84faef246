/** An amount as bricks of equal size, laid in rows from the bottom up. */
import type { Frame } from "../scenes/scene.ts";
import type { Box } from "./picture.ts";

export interface Wall {
  readonly columns: number;
  readonly rows: number;
  /** Between a brick and its place on each side, in pixels. */
  readonly gap?: number;
}

/** Lays the bricks from one number to another; a last one that is not whole is pale. The paint is the context's. */
export function layBricks(
  { context }: Pick<Frame, "context">,
  { x, y, width, height }: Box,
  { columns, rows, gap = 0.5 }: Wall,
  from: number,
  to: number,
): void {
  const [wide, tall] = [width / columns, height / rows];
  const { globalAlpha } = context;
  for (let nth = Math.floor(from); nth < to; nth++) {
    context.globalAlpha = globalAlpha * Math.min(1, to - nth);
    const bottom = y + height - (Math.floor(nth / columns) + 1) * tall;
    context.fillRect(x + (nth % columns) * wide + gap, bottom + gap, wide - 2 * gap, tall - 2 * gap);
  }
  context.globalAlpha = globalAlpha;
}

/** A piece that is pale, with an outline, as the key shows what was read ahead. The paints are the context's. */
export function paleBox({ context }: Pick<Frame, "context">, { x, y, width, height }: Box): void {
  const { globalAlpha } = context;
  context.lineWidth = 1;
  context.strokeRect(x, y, width, height);
  context.globalAlpha = globalAlpha * 0.35;
  context.fillRect(x, y, width, height);
  context.globalAlpha = globalAlpha;
}
