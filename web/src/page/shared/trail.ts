/**
 * The trail: the dial's number against the knob that moved last. Each value that the hand visits leaves a dot. Behind the dots is the
 * whole range, computed on threads of its own: by itself while the hand rests, where it takes less than a second, and on request
 * elsewhere. Dots of another variant, or of other values of the other knobs, stay as faint ones.
 */
import { Cancelled } from "../../engine/api.ts";
import { prepareSweep, sweep } from "../../engine/sweep.ts";
import type { Control, Summary } from "../../engine/types.ts";
import { html, observeWidth, svg } from "../../base/elements.ts";
import { formatSetting, formatValue, trimZeros } from "../../base/format.ts";
import { resultTable } from "../../charts/resultTable.ts";
import type { Finished, RunController, RunState } from "../../lab/runController.ts";
import { isLogarithmic, isSweepable } from "../../lab/sweepValues.ts";
import type { DialSpec } from "../../stage/beats.ts";
import { whenSeen } from "./pageSetup.ts";

export interface TrailOptions {
  readonly dial: DialSpec;
  readonly controller: Pick<RunController<Finished>, "state" | "run" | "sweep">;
  /** Whether the number of a run would answer the open question. */
  readonly isCovered: (state: RunState, metric: string) => boolean;
  /** Whether the whole range may be shown. */
  readonly isOpen: () => boolean;
  /** The reader's guess, where the question asks for the number of the trail. */
  readonly guess?: () => number | undefined;
}

export interface Trail {
  readonly element: HTMLElement;
  /** The controls as they are now. */
  offer(controls: readonly Control[]): void;
  /** A run has been shown. */
  visit(summary: Summary, state: RunState): void;
  /** The reader has changed something: whatever the trail computes by itself makes room. */
  makeRoom(): void;
  /** The whole range may be shown from now on. */
  open(): void;
}

interface Dot {
  readonly value: number;
  readonly metric: number;
}

const height = 150;
const inset = { left: 62, right: 12, top: 12, bottom: 34 } as const;
/** Above this ratio numbers are drawn on a log axis. */
const wideRatio = 20;
const mostFaint = 200;
/** The whole range begins by itself once nothing has moved for so long. */
const restMs = 200;
/** A range that takes longer is left to the reader: 25 runs of 33 ms each, on one thread. */
const mostByItself_ms = 825;

export function trail({ dial, controller, isCovered, isOpen, guess }: TrailOptions): Trail {
  const title = html("p", { class: "trail-title" });
  const place = html("div", { class: "trail-picture" });
  const whole = html("button", { type: "button", class: "whole-range" }, "Whole range");
  const cancel = html("button", { type: "button", class: "quiet", hidden: "" }, "Cancel");
  const status = html("span", { class: "quiet trail-status", role: "status" });
  const table = html("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "Table of visited values" });
  const details = html("details", { class: "table", hidden: "" }, html("summary", {}, "Table"), table);
  const element = html(
    "section",
    { class: "trail", "aria-label": "Visited values" },
    title,
    place,
    html("div", { class: "actions" }, whole, cancel, status),
    details,
  );
  let offered: readonly Control[] = [];
  let control: Control | undefined;
  let before: RunState["set"] = {};
  let context = "";
  let unit = "";
  let stop: AbortController | undefined;
  /** Whether the whole range is being computed without a request. */
  let isByItself = false;
  let resting: ReturnType<typeof setTimeout> | undefined;
  /** Knobs of variants whose range does not come by itself, because it takes too long or fails. */
  const leftToReader = new Set<string>();
  let isSeen = false;
  let frame = 0;
  const dots = new Map<number, number>();
  const faint: Dot[] = [];
  const line = new Map<number, number>();
  /** Whether the line has every value of the range. */
  let isWhole = false;

  function clearLine(): void {
    line.clear();
    isWhole = false;
  }

  /** The values of all that the trail does not move along. */
  function contextOf({ variant, set, seed }: RunState): string {
    return JSON.stringify([
      variant,
      seed,
      control?.path,
      Object.entries(set).filter(([path]) => path !== control?.path),
    ]);
  }

  function follow(next: Control | undefined): void {
    if (next?.path === control?.path) return;
    control = next;
    dots.clear();
    faint.length = 0;
    clearLine();
    stop?.abort();
  }

  function settle(state: RunState): void {
    const next = contextOf(state);
    if (next === context) return;
    context = next;
    for (const [value, metric] of dots) faint.push({ value, metric });
    faint.splice(0, Math.max(0, faint.length - mostFaint));
    dots.clear();
    clearLine();
    stop?.abort();
  }

  function makeRoom(): void {
    clearTimeout(resting);
    if (isByItself) stop?.abort();
  }

  /** Computes the whole range by itself, once nothing has moved for a while. */
  function fillSoon(): void {
    makeRoom();
    resting = setTimeout(() => {
      const isWanted = isOpen() && isSeen && !document.hidden && !isWhole && stop === undefined;
      if (control === undefined || !isWanted) return;
      const name = JSON.stringify([control.path, controller.state.variant]);
      if (!leftToReader.has(name)) void run(control, name);
    }, restMs);
  }

  function valueIn({ set }: RunState): number | undefined {
    if (control === undefined) return undefined;
    const value = control.path in set ? set[control.path] : control.value;
    return typeof value === "number" ? value : undefined;
  }

  function draw(): void {
    const { width } = room;
    element.hidden = control === undefined;
    if (control === undefined || width === 0) return;
    title.textContent = `${dial.label} by ${control.title}`;
    whole.disabled = !isOpen();
    whole.title = isOpen() ? "" : "Predict first";
    place.replaceChildren(picture(control, width));
    details.hidden = dots.size === 0;
    if (details.open) fillTable();
  }

  function picture(knob: Control, width: number): SVGSVGElement {
    const now = valueIn(controller.state);
    const drawn = rows(dots);
    const swept = rows(line);
    const all = [...drawn, ...swept, ...faint].filter(({ metric }) => Number.isFinite(metric));
    const guessed = guess?.();
    const most = Math.max(...all.map(({ metric }) => metric), guessed ?? 0, 0);
    const least = Math.min(...all.map(({ metric }) => metric), most);
    const isLogY = least > 0 && most / least > wideRatio;
    const [low, high] = [knob.min ?? 0, knob.max ?? 2 * Math.max(1, now ?? 1)];
    const isLogX = isLogarithmic(knob);
    const shareX = (value: number) =>
      isLogX ? Math.log(Math.max(value, low) / low) / Math.log(high / low) : (value - low) / Math.max(1e-9, high - low);
    const shareY = (metric: number) =>
      isLogY
        ? Math.log(metric / (least / 1.2)) / Math.log((most * 1.2) / (least / 1.2))
        : metric / Math.max(1e-12, most * 1.1);
    const x = (value: number) =>
      inset.left + Math.max(0, Math.min(1, shareX(value))) * (width - inset.left - inset.right);
    const y = (metric: number) => height - inset.bottom - shareY(metric) * (height - inset.top - inset.bottom);
    const floor = height - inset.bottom;
    const words = (nth: Dot) => `${formatSetting(nth.value, knob.unit)}: ${formatValue(nth.metric, unit)}`;
    const root = svg("svg", {
      width,
      height,
      viewBox: `0 0 ${width} ${height}`,
      role: "img",
      "aria-label": `${title.textContent}. ${drawn.map(words).join("; ") || "No value visited yet"}`,
    });
    const label = (text: string, at: readonly [number, number], anchor: string) =>
      svg("text", { x: at[0], y: at[1], "text-anchor": anchor, class: "soft" }, text);
    root.append(svg("line", { x1: inset.left, x2: width - inset.right, y1: floor, y2: floor, class: "axis" }));
    root.append(
      label(formatSetting(low, knob.unit), [inset.left, height - 14], "start"),
      label(formatSetting(high, knob.unit), [width - inset.right, height - 14], "end"),
    );
    const tops = most === least || !isLogY ? [most] : [most, least];
    for (const metric of tops.filter((each) => each > 0))
      root.append(
        label(
          trimZeros(formatValue(metric, unit === "ms" || unit === "s" ? unit : "")),
          [inset.left - 12, y(metric) + 4],
          "end",
        ),
      );
    if (swept.length > 1) {
      const path = swept.map(
        ({ value, metric }, nth) => `${nth === 0 ? "M" : "L"}${x(value).toFixed(1)} ${y(metric).toFixed(1)}`,
      );
      root.append(svg("path", { d: path.join(""), class: "whole" }));
    }
    if (guessed !== undefined && guessed > 0) {
      const at = Math.max(inset.top, y(Math.max(guessed, isLogY ? least : 0)));
      root.append(
        svg("line", { x1: inset.left, x2: width - inset.right, y1: at, y2: at, class: "guessed" }),
        label("your guess", [width - inset.right, at - 5], "end"),
      );
    }
    const dot = (name: string, nth: Dot) =>
      svg("circle", { cx: x(nth.value), cy: y(nth.metric), r: 3.5, class: name }, svg("title", {}, words(nth)));
    root.append(...faint.filter(({ metric }) => Number.isFinite(metric)).map((nth) => dot("faint", nth)));
    root.append(...drawn.map((nth) => dot("visited", nth)));
    const here = drawn.find(({ value }) => value === now);
    if (here !== undefined) root.append(svg("circle", { cx: x(here.value), cy: y(here.metric), r: 7, class: "here" }));
    return root;
  }

  function rows(from: ReadonlyMap<number, number>): Dot[] {
    return Array.from(from, ([value, metric]) => ({ value, metric })).toSorted((a, b) => a.value - b.value);
  }

  function fillTable(): void {
    if (control === undefined) return;
    const knob = control;
    table.replaceChildren(
      resultTable({
        caption: `${dial.label} by ${knob.title}`,
        columns: [
          { title: knob.title, value: ({ value }: Dot) => formatSetting(value, knob.unit) },
          { title: dial.label, value: ({ metric }: Dot) => formatValue(metric, unit) },
        ],
        rows: rows(new Map([...line, ...dots])),
      }),
    );
  }

  /** Computes what is missing of the whole range: on request, or by itself under the name of the knob and the variant. */
  async function run(knob: Control, byItself?: string): Promise<void> {
    const mine = new AbortController();
    stop = mine;
    isByItself = byItself !== undefined;
    if (byItself === undefined) {
      whole.hidden = true;
      cancel.hidden = false;
      clearLine();
    }
    const value = valueIn(controller.state);
    const { values, requests } = controller.sweep(value === undefined ? knob : { ...knob, value });
    for (const known of values) if (dots.has(known)) line.set(known, dots.get(known)!);
    drawSoon();
    let limit: ReturnType<typeof setTimeout> | undefined;
    const leave = (name: string) => {
      leftToReader.add(name);
      clearLine();
      mine.abort();
    };
    try {
      if (byItself !== undefined) {
        await prepareSweep();
        limit = setTimeout(() => leave(byItself), mostByItself_ms);
      }
      await sweep(requests, {
        signal: mine.signal,
        isKnown: (index) => line.has(values[index]!),
        onRun: (index, summary, done) => {
          line.set(values[index]!, summary.metrics[dial.metric] ?? Number.NaN);
          if (byItself === undefined) status.textContent = `${done} of ${values.length}`;
          drawSoon();
        },
      });
      status.textContent = "";
      isWhole = true;
    } catch (error) {
      const words = error instanceof Cancelled ? "" : error instanceof Error ? error.message : String(error);
      // A range that begins by itself does not report its failure: the button does when the reader presses it.
      if (byItself === undefined) status.textContent = words;
      else if (words !== "") leave(byItself);
    } finally {
      clearTimeout(limit);
      if (stop === mine) {
        stop = undefined;
        isByItself = false;
        whole.hidden = false;
        cancel.hidden = true;
      }
      drawSoon();
    }
  }

  function drawSoon(): void {
    cancelAnimationFrame(frame);
    frame = requestAnimationFrame(draw);
  }

  // The threads start while the reader is on the way to the button.
  for (const event of ["pointerenter", "focusin"])
    // A thread that does not start is reported by the sweep.
    element.addEventListener(event, () => void prepareSweep().catch(() => undefined), { once: true });
  whole.addEventListener("click", () => {
    makeRoom();
    if (control !== undefined && (stop === undefined || isByItself)) void run(control);
  });
  whenSeen(element, () => {
    isSeen = true;
    fillSoon();
  });
  document.addEventListener("visibilitychange", () => {
    if (document.hidden) makeRoom();
    else fillSoon();
  });
  cancel.addEventListener("click", () => stop?.abort());
  details.addEventListener("toggle", () => {
    if (details.open) fillTable();
  });
  const room = observeWidth(place, () => draw());

  return {
    element,
    offer(controls) {
      offered = controls.filter(isSweepable);
      follow(offered.find(({ path }) => path === control?.path) ?? offered[0]);
      drawSoon();
    },
    visit(summary, state) {
      unit = summary.units[dial.metric] ?? "";
      const moved = Object.keys(state.set).find((path) => state.set[path] !== before[path]);
      before = state.set;
      const knob = offered.find(({ path }) => path === moved);
      if (knob !== undefined) follow(knob);
      settle(state);
      const value = valueIn(state);
      const metric = summary.metrics[dial.metric];
      if (value !== undefined && metric !== undefined && !isCovered(state, dial.metric)) dots.set(value, metric);
      drawSoon();
      fillSoon();
    },
    makeRoom,
    open() {
      drawSoon();
      fillSoon();
    },
  };
}
