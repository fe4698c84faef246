/**
 * A curve that the reader draws before a sweep: what a metric will be over the range of a control.
 *
 * It begins flat, at the value on the stage, on an axis of ratios around that value, so that the axis gives nothing away. It is
 * drawn with a finger or a mouse, or point by point with the keys of a slider.
 */
import { html, svg } from "../../base/elements.ts";
import { formatNumber, formatSetting, formatValue, trimZeros } from "../../base/format.ts";
import { stepsOfKey } from "../../base/keys.ts";

export interface CurveSketchOptions {
  /** In pixels. */
  readonly width: number;
  readonly control: string;
  readonly controlUnit: string | null | undefined;
  readonly isLog: boolean;
  /** Values of the control, in order. */
  readonly values: readonly number[];
  readonly metric: string;
  readonly metricUnit: string;
  /** The metric on the stage, above 0. */
  readonly present: number;
}

export interface SketchedPoint {
  readonly value: number;
  readonly metric: number;
}

export interface CurveSketch {
  readonly element: HTMLElement;
  /** Return the drawn curve, at each value of the control. */
  curve(): SketchedPoint[];
}

const mostHandles = 7;
const height_px = 200;
const margin = { left: 56, right: 20, top: 26, bottom: 38 } as const;
/** How far up and down one may draw, in doublings of the value on the stage. */
const reach = 5;
const stepsOfDoubling = 4;
/** Within this ratio a guess is near. */
const nearRatio = 1.25;

export function curveSketch(options: CurveSketchOptions): CurveSketch {
  const { width, control, controlUnit, values, metric, metricUnit, present } = options;
  const shareOf = shares(values, options.isLog);
  const handles = Array.from({ length: Math.min(mostHandles, values.length) }, (_, nth) => {
    const share = nth / Math.max(1, Math.min(mostHandles, values.length) - 1);
    return { share, doublings: 0 };
  });
  const highest = metricUnit === "%" ? Math.min(reach, Math.max(0, Math.log2(100 / present))) : reach;
  const room = { width: width - margin.left - margin.right, height: height_px - margin.top - margin.bottom };
  const x = (share: number) => margin.left + share * room.width;
  const y = (doublings: number) => margin.top + ((highest - doublings) / (highest + reach)) * room.height;

  const line = svg("polyline", { fill: "none", stroke: "var(--ink)", "stroke-width": 2, "stroke-dasharray": "5 4" });
  const dots = handles.map(({ share }, nth) => {
    const dot = svg(
      "g",
      { role: "slider", tabindex: 0, class: "sketch-point", "aria-label": `${metric} at ${textAt(share)}` },
      svg("circle", { r: 12, fill: "transparent" }),
      svg("circle", { r: 4.5, fill: "var(--paper)", stroke: "var(--ink)", "stroke-width": 2 }),
    );
    dot.addEventListener("keydown", (event) => {
      const steps = stepsOfKey(event.key, stepsOfDoubling);
      if (steps === undefined) return;
      event.preventDefault();
      set(nth, handles[nth]!.doublings + steps / stepsOfDoubling);
      show();
    });
    return dot;
  });
  const picture = svg(
    "svg",
    { width, height: height_px, role: "group", "aria-label": `Your curve of ${metric} against ${control}` },
    ...[-4, -2, 0, 2, 4].filter((doublings) => doublings <= highest).map(gridLine),
    ...[0, 0.5, 1].map((share) =>
      label(x(share), height_px - 20, textAt(share), share === 0 ? "start" : share === 1 ? "end" : "middle"),
    ),
    label(x(0.5), height_px - 4, control, "middle"),
    label(0, 12, metricUnit === "" ? metric : `${metric}, ${metricUnit}`, "start"),
    line,
    ...dots,
  );
  const element = html(
    "figure",
    { class: "sketch" },
    picture,
    html(
      "figcaption",
      { class: "quiet" },
      `Drag the points. The flat line is the value on the stage, ${formatValue(present, metricUnit)}; each grid line is a factor of four. Then sweep.`,
    ),
  );

  let last: number | undefined;
  picture.addEventListener("pointerdown", (event) => {
    event.preventDefault();
    picture.setPointerCapture(event.pointerId);
    last = undefined;
    draw(event);
    picture.addEventListener("pointermove", draw);
    picture.addEventListener("lostpointercapture", () => picture.removeEventListener("pointermove", draw), {
      once: true,
    });
  });
  show();

  function draw(event: PointerEvent): void {
    const box = picture.getBoundingClientRect();
    const share = (event.clientX - box.left - margin.left) / room.width;
    const doublings = highest - ((event.clientY - box.top - margin.top) / room.height) * (highest + reach);
    const nearest = Math.round(Math.min(1, Math.max(0, share)) * (handles.length - 1));
    // A quick hand skips points; they lie on the way from where it was.
    const from = last ?? nearest;
    const start = handles[from]!.doublings;
    const count = Math.abs(nearest - from);
    for (let nth = 1; nth <= count; nth++) {
      set(from + Math.sign(nearest - from) * nth, start + ((doublings - start) * nth) / count);
    }
    set(nearest, doublings);
    last = nearest;
    show();
  }

  function set(nth: number, doublings: number): void {
    handles[nth]!.doublings = Math.min(highest, Math.max(-reach, doublings));
  }

  function at(share: number): number {
    const place = share * (handles.length - 1);
    const before = handles[Math.floor(place)]!.doublings;
    const after = handles[Math.ceil(place)]!.doublings;
    return present * 2 ** (before + (after - before) * (place - Math.floor(place)));
  }

  function textAt(share: number): string {
    const nearest = values.reduce((best, value) =>
      Math.abs(shareOf(value) - share) < Math.abs(shareOf(best) - share) ? value : best,
    );
    return formatSetting(nearest, controlUnit);
  }

  function gridLine(doublings: number): SVGGElement {
    const metricThere = present * 2 ** doublings;
    return svg(
      "g",
      {},
      svg("line", {
        x1: margin.left,
        x2: width - margin.right,
        y1: y(doublings),
        y2: y(doublings),
        stroke: "var(--rule)",
      }),
      label(margin.left - 6, y(doublings) + 4, trimZeros(formatNumber(Number(metricThere.toPrecision(2)))), "end"),
    );
  }

  function show(): void {
    line.setAttribute("points", handles.map(({ share, doublings }) => `${x(share)},${y(doublings)}`).join(" "));
    for (const [nth, { share, doublings }] of handles.entries()) {
      const dot = dots[nth]!;
      dot.setAttribute("transform", `translate(${x(share)} ${y(doublings)})`);
      dot.setAttribute("aria-valuemin", String(-reach));
      dot.setAttribute("aria-valuemax", String(highest));
      dot.setAttribute("aria-valuenow", doublings.toFixed(2));
      dot.setAttribute("aria-valuetext", formatValue(at(share), metricUnit));
    }
  }

  return { element, curve: () => values.map((value) => ({ value, metric: at(shareOf(value)) })) };
}

/** How a drawn curve fits what was simulated, in a sentence. Points where either is not above 0 have no ratio. */
export function fitOf(
  drawn: readonly SketchedPoint[],
  simulated: readonly SketchedPoint[],
  controlUnit: string | null | undefined,
): string {
  const ratios = simulated.flatMap(({ value, metric }) => {
    const guess = drawn.find((point) => point.value === value)?.metric ?? Number.NaN;
    return guess > 0 && metric > 0 ? [{ value, ratio: guess / metric }] : [];
  });
  if (ratios.length === 0) return "";
  const far = ({ ratio }: { readonly ratio: number }) => Math.max(ratio, 1 / ratio);
  const near = ratios.filter((point) => far(point) <= nearRatio).length;
  const worst = ratios.reduce((most, point) => (far(point) > far(most) ? point : most));
  const start = `Your curve is within 25% at ${near} of ${ratios.length} values`;
  if (near === ratios.length) return `${start}.`;
  const times = far(worst);
  return `${start}; furthest off at ${formatSetting(worst.value, controlUnit)}, ${times < 10 ? times.toFixed(1) : Math.round(times)} times too ${worst.ratio < 1 ? "low" : "high"}.`;
}

/** Where a value of the control lies on its axis, from 0 to 1. */
function shares(values: readonly number[], isLog: boolean): (value: number) => number {
  const scale = isLog ? Math.log : (value: number) => value;
  const [low, high] = [scale(values[0]!), scale(values.at(-1)!)];
  return (value) => (high > low ? (scale(value) - low) / (high - low) : 0);
}

function label(x: number, y: number, text: string, anchor: "start" | "middle" | "end"): SVGTextElement {
  return svg("text", { x, y, "text-anchor": anchor, "font-size": 12, fill: "var(--ink-soft)" }, text);
}
