/** Dragging with mouse, pen or finger, and the same by keys. */
import { stepsOfKey } from "../base/keys.ts";

export interface Drag {
  /** The pointer is at `x` in the window. */
  move(x: number): void;
  /** It has been let go, or taken away. */
  end(): void;
}

export interface DragOptions {
  /** Called when the pointer goes down at `x`; gives what follows, or nothing when there is nothing to drag. */
  readonly begin: (x: number) => Drag | undefined;
  /** Called for the keys of a slider. */
  readonly step: (steps: number) => void;
  /** Number of steps of a page. */
  readonly page?: number;
}

export function onDrag(element: HTMLElement, options: DragOptions): void {
  element.addEventListener("pointerdown", (event) => {
    const drag = options.begin(event.clientX);
    if (drag === undefined) return;
    event.preventDefault();
    element.setPointerCapture(event.pointerId);
    element.focus();
    const move = (moved: PointerEvent) => drag.move(moved.clientX);
    const end = () => {
      element.removeEventListener("pointermove", move);
      drag.end();
    };
    element.addEventListener("pointermove", move);
    element.addEventListener("lostpointercapture", end, { once: true });
  });
  element.addEventListener("keydown", (event) => {
    const steps = stepsOfKey(event.key, options.page);
    if (steps === undefined) return;
    event.preventDefault();
    options.step(steps);
  });
}

/** Set the text of a screen reader for something that can be dragged. */
export function sayRange(
  element: HTMLElement,
  now: number,
  [min, max]: readonly [number, number],
  words: string,
): void {
  element.setAttribute("aria-valuemin", String(min));
  element.setAttribute("aria-valuemax", String(max));
  element.setAttribute("aria-valuenow", String(now));
  element.setAttribute("aria-valuetext", words);
}
