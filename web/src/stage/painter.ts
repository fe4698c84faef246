/** The colours of the theme for a canvas, which knows no style sheet. They are read once, and again when the theme changes. */
import type { Meaning } from "../base/colours.ts";

export type Paint = Meaning | "ink" | "ink-soft" | "paper" | "rule";

export interface Painter {
  readonly of: (paint: Paint) => string;
  close(): void;
}

export function painter(element: HTMLElement): Painter {
  const known = new Map<Paint, string>();
  const query = matchMedia("(prefers-color-scheme: dark)");
  const forget = () => known.clear();
  query.addEventListener("change", forget);
  return {
    of(paint) {
      let found = known.get(paint);
      if (found === undefined) {
        found = getComputedStyle(element).getPropertyValue(`--${paint}`).trim() || "#808080";
        if (element.isConnected) known.set(paint, found);
      }
      return found;
    },
    close: () => query.removeEventListener("change", forget),
  };
}
