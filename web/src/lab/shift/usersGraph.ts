/** The graph of the users' performance during the shift, as a share of last month's. */
import { svg } from "../../base/elements.ts";

export type Reading = readonly [seconds: number, share: number];

const height = 120;
const margin = { left: 52, right: 12, top: 10, bottom: 22 } as const;
/** The shortest time axis, so that the first command does not fill the graph. */
const min_s = 60;
/** Lower shares are drawn at this one. */
const lowest = 0.001;

/** Formats a share as a percentage with two significant figures. */
export function shareInWords(share: number): string {
  const percent = 100 * share;
  if (percent < 0.1) return "less than 0.1%";
  return `${Number(percent.toPrecision(2)).toLocaleString("en")}%`;
}

/** Returns the lowest decade of the graph. */
export function floorOf(shares: readonly number[]): number {
  const least = Math.min(0.5, ...shares.map((share) => Math.max(share, lowest)));
  return Math.max(lowest, 10 ** Math.floor(Math.log10(least)));
}

function timeOf(seconds: number): string {
  const two = (value: number) => String(value).padStart(2, "0");
  return `${two(Math.floor(seconds / 3600) % 24)}:${two(Math.floor(seconds / 60) % 60)}`;
}

export function usersGraph(readings: readonly Reading[], start_s: number, width: number): SVGSVGElement {
  const shares = readings.map(([, share]) => share);
  const from = floorOf(shares);
  const to = Math.max(2, ...shares);
  const last_s = Math.max(min_s, readings.at(-1)![0]);
  const inner = { width: width - margin.left - margin.right, height: height - margin.top - margin.bottom };
  const x = (seconds: number) => margin.left + (inner.width * seconds) / last_s;
  const y = (share: number) =>
    margin.top + inner.height * (1 - Math.log(Math.max(share, from) / from) / Math.log(to / from));
  const points = readings.map(([seconds, share]) => [x(seconds), y(share)] as const);
  const path = points.map(([px, py], at) => (at === 0 ? `M${px},${py}` : `H${px}V${py}`)).join("");
  const [first, last] = [shares[0]!, shares.at(-1)!];
  const ticks: number[] = [];
  for (let tick = from; tick <= 1.001; tick *= 10) ticks.push(tick);
  return svg(
    "svg",
    {
      width,
      height,
      viewBox: `0 0 ${width} ${height}`,
      role: "img",
      class: "users-graph",
      "aria-label":
        `Users' performance as a share of last month's: ${shareInWords(first)} at the start, ` +
        `${shareInWords(last)} now, after ${readings.length - 1} readings.`,
    },
    ...ticks.flatMap((tick) => [
      svg("line", {
        class: tick > 0.99 ? "month" : "grid",
        x1: margin.left,
        x2: width - margin.right,
        y1: y(tick),
        y2: y(tick),
      }),
      svg("text", { x: margin.left - 6, y: y(tick) + 4, "text-anchor": "end" }, shareInWords(tick)),
    ]),
    svg("text", { x: width - margin.right, y: y(1) - 6, "text-anchor": "end" }, "last month"),
    svg("text", { x: margin.left, y: height - 6 }, timeOf(start_s)),
    svg("text", { x: width - margin.right, y: height - 6, "text-anchor": "end" }, timeOf(start_s + last_s)),
    svg("path", { class: "line", d: path, fill: "none" }),
    ...points.map(([cx, cy]) => svg("circle", { cx, cy, r: 3 })),
  );
}
