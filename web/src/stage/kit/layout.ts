/** How a picture divides its width: beside each other on a wide page, below each other on a narrow one. */
import type { Box } from "./picture.ts";

/** Narrower pictures have one column. */
const oneColumnBelow = 620;

export function isNarrow(width: number): boolean {
  return width < oneColumnBelow;
}

/** Where a plot lies: how far from the edges left and right of it, and from the top. */
interface Inset {
  readonly left: number;
  readonly right: number;
  readonly y: number;
  readonly height: number;
}

export interface Layout {
  readonly narrow: boolean;
  /** The right edge of the column on the left: the whole width where it is the only one. */
  readonly right: number;
  /** The place of a plot: in the column on the right, or below. */
  readonly plot: (narrow: Inset, wide: Inset) => Box;
}

/** Divides a width in two; `share` is that of the column on the left. */
export function layoutOf(width: number, share: number): Layout {
  const narrow = isNarrow(width);
  const right = narrow ? width : Math.round(width * share);
  return {
    narrow,
    right,
    plot(ifNarrow, ifWide) {
      const { left, right: after, y, height } = narrow ? ifNarrow : ifWide;
      const x = (narrow ? 0 : right) + left;
      return { x, y, width: width - x - after, height };
    },
  };
}
