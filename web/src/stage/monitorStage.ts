/**
 * The monitor's chart as a stage with a window that moves: drag it, or its right edge, or use the arrow keys on either. The
 * fields of the scenario that change are the window's begin and width; the run follows.
 */
import type { Result } from "../engine/api.ts";
import { html, observeWidth } from "../base/elements.ts";
import { formatNanos } from "../base/format.ts";
import { busiestOf, monitorChart, type MonitorWindow, watchedUntil, windowsOf } from "../charts/monitor.ts";
import { timeMargins } from "../charts/plot.ts";
import { chartStage } from "./chartStage.ts";
import { onDrag, sayRange } from "./drag.ts";
import type { Fields, Stage, StageOptions } from "./stage.ts";

const windowPath = "monitor.window";
const phasePath = "monitor.phase";
const step_ns = 1e8;

export function monitorStage(options: StageOptions): Stage {
  const inner = chartStage(monitorChart, options);
  const frame = inner.element.querySelector<HTMLElement>(".timeline-frame")!;
  const body = grip("window-body", "Start of the monitor's window");
  const edge = grip("window-edge", "Width of the monitor's window");
  frame.append(body, edge);
  let fields: Fields | undefined;
  let result: Result | undefined;
  let shown: MonitorWindow | undefined;
  // While a hand holds the window, it is this window that moves, whichever is the busiest.
  let held: MonitorWindow | undefined;

  function scale() {
    const { marginLeft, marginRight } = timeMargins;
    const end_s = result === undefined ? 1 : watchedUntil(windowsOf(result));
    const pixels_per_s = (room.width - marginLeft - marginRight) / end_s;
    return { x: (time_s: number) => marginLeft + time_s * pixels_per_s, pixels_per_s, end_s };
  }

  function place(): void {
    const windows = result === undefined ? [] : windowsOf(result);
    shown = held ?? busiestOf(windows);
    body.hidden = edge.hidden = shown === undefined || fields === undefined;
    if (shown === undefined) return;
    const { x, end_s } = scale();
    const from = Math.max(0, shown.from_s);
    const to = Math.min(shown.to_s, end_s);
    body.style.left = `${x(from)}px`;
    body.style.width = `${Math.max(2, x(to) - x(from))}px`;
    edge.style.left = `${x(to)}px`;
    const width_ns = (shown.to_s - shown.from_s) * 1e9;
    const say = (element: HTMLElement, now_ns: number, least_ns: number) =>
      sayRange(
        element,
        Math.round(now_ns),
        [least_ns, Math.round(end_s * 1e9)],
        now_ns === 0 ? "0 s" : formatNanos(now_ns),
      );
    say(body, shown.from_s * 1e9, 0);
    say(edge, width_ns, step_ns);
  }

  function change(from_ns: number, width_ns: number, isSettled: boolean): void {
    if (fields === undefined || result === undefined) return;
    const longest_ns = fields.control(windowPath)?.max ?? 2e10;
    const width = Math.max(step_ns, Math.min(round(width_ns), longest_ns));
    const from = round(from_ns);
    const phase = ((from % width) + width) % width;
    const values = { [windowPath]: width, [phasePath]: phase };
    if (isSettled) fields.onChange(values);
    else fields.onInput(values);
    const window = { ios: 0, mib_per_s: 0, latency_ms: 0, from_s: from / 1e9, to_s: (from + width) / 1e9 };
    held = isSettled ? undefined : window;
    place();
  }

  function drag(element: HTMLElement, move: (window: MonitorWindow, by_ns: number, isSettled: boolean) => void): void {
    onDrag(element, {
      begin(from_x) {
        const start = shown;
        if (start === undefined) return undefined;
        const { pixels_per_s } = scale();
        let by_ns = 0;
        return {
          move(x) {
            by_ns = ((x - from_x) / pixels_per_s) * 1e9;
            move(start, by_ns, false);
          },
          end: () => move(start, by_ns, true),
        };
      },
      step(steps) {
        if (shown !== undefined) move(shown, steps * step_ns, true);
      },
    });
  }
  const width_ns = (window: MonitorWindow) => (window.to_s - window.from_s) * 1e9;
  drag(body, (window, by_ns, isSettled) => change(window.from_s * 1e9 + by_ns, width_ns(window), isSettled));
  drag(edge, (window, by_ns, isSettled) => change(window.from_s * 1e9, width_ns(window) + by_ns, isSettled));

  const room = observeWidth(frame, place);

  return {
    ...inner,
    get request() {
      return inner.request;
    },
    get moment_ns() {
      return inner.moment_ns;
    },
    show(next, reference) {
      result = next;
      inner.show(next, reference);
      place();
    },
    setFields(next) {
      fields = [windowPath, phasePath].every((path) => next.control(path) !== undefined) ? next : undefined;
      place();
    },
    dispose() {
      room.close();
      inner.dispose();
    },
  };
}

function round(ns: number): number {
  return Math.round(ns / step_ns) * step_ns;
}

function grip(name: string, label: string): HTMLElement {
  return html("div", { class: name, role: "slider", tabindex: 0, "aria-label": label, hidden: "" });
}
