/**
 * The monitor's chart as a stage with a window that moves: drag it, or its right edge, or use the arrow keys on either. The
 * fields of the scenario that change are the window's begin and width; the run follows.
 */
import type { Result } from "../engine/api.ts";
import type { Chart } from "../charts/catalogue.ts";
import { formatNanos } from "../base/format.ts";
import { busiestOf, watchedUntil, windowsOf, type MonitorWindow } from "../charts/monitor.ts";
import type { Fields, Stage } from "./stage.ts";
import { html } from "../base/elements.ts";
import { timelineStage } from "./timelineStage.ts";
import { timeMargins } from "../charts/rows/writePath.ts";

const windowPath = "monitor.window";
const phasePath = "monitor.phase";
const step_ns = 1e8;

export function monitorStage(chart: Chart): Stage {
  const inner = timelineStage({ chart });
  const frame = inner.element.querySelector<HTMLElement>(".timeline-frame")!;
  const body = grip("window-body", "Begin of the monitor's window");
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
    const pixels_per_s = (frame.clientWidth - marginLeft - marginRight) / end_s;
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
    say(body, shown.from_s * 1e9, 0, end_s * 1e9);
    say(edge, width_ns, step_ns, end_s * 1e9);
  }

  function change(from_ns: number, width_ns: number, isSettled: boolean): void {
    if (fields === undefined || result === undefined) return;
    const longest_ns = fields.most(windowPath) ?? 2e10;
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
    element.addEventListener("pointerdown", (event) => {
      const start = shown;
      if (start === undefined) return;
      event.preventDefault();
      element.setPointerCapture(event.pointerId);
      element.focus();
      const { pixels_per_s } = scale();
      let by_ns = 0;
      const moved = (to: PointerEvent) => {
        by_ns = ((to.clientX - event.clientX) / pixels_per_s) * 1e9;
        move(start, by_ns, false);
      };
      element.addEventListener("pointermove", moved);
      element.addEventListener(
        "lostpointercapture",
        () => {
          element.removeEventListener("pointermove", moved);
          move(start, by_ns, true);
        },
        { once: true },
      );
    });
    element.addEventListener("keydown", (event) => {
      const steps: Record<string, number> = {
        ArrowRight: 1,
        ArrowUp: 1,
        ArrowLeft: -1,
        ArrowDown: -1,
        PageUp: 10,
        PageDown: -10,
      };
      const by = steps[event.key];
      if (by === undefined || shown === undefined) return;
      event.preventDefault();
      move(shown, by * step_ns, true);
    });
  }
  const width_ns = (window: MonitorWindow) => (window.to_s - window.from_s) * 1e9;
  drag(body, (window, by_ns, isSettled) => change(window.from_s * 1e9 + by_ns, width_ns(window), isSettled));
  drag(edge, (window, by_ns, isSettled) => change(window.from_s * 1e9, width_ns(window) + by_ns, isSettled));

  const observer = new ResizeObserver(() => place());
  observer.observe(frame);

  return {
    ...inner,
    get request() {
      return inner.request;
    },
    get moment_ns() {
      return inner.moment_ns;
    },
    show(next, latency_max_ns) {
      result = next;
      inner.show(next, latency_max_ns);
      place();
    },
    setFields(next) {
      fields = next.has(windowPath) && next.has(phasePath) ? next : undefined;
      place();
    },
    dispose() {
      observer.disconnect();
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

function say(element: HTMLElement, now_ns: number, min_ns: number, max_ns: number): void {
  element.setAttribute("aria-valuemin", String(min_ns));
  element.setAttribute("aria-valuemax", String(Math.round(max_ns)));
  element.setAttribute("aria-valuenow", String(Math.round(now_ns)));
  element.setAttribute("aria-valuetext", now_ns === 0 ? "0 s" : formatNanos(now_ns));
}
