/**
 * The whole run in one line: a bar for each request at the time it was made, as high as it was slow, in the colour of what
 * it had to wait for. It lies above the time scrubber.
 */
import type { Op } from "../generated/answers.ts";
import type { Result } from "../engine/api.ts";
import { fill, type Meaning } from "../base/colours.ts";
import { missedFrom, readsOf } from "./rows/reads.ts";
import { svg } from "../base/elements.ts";

export interface LatencyOverviewOptions {
  readonly job: string;
  readonly op?: Op;
  readonly width: number;
  readonly height: number;
  /** Full height; the slowest request when absent. */
  readonly latency_max_ns?: number;
}

export function latencyOverview(result: Result, options: LatencyOverviewOptions): SVGSVGElement {
  const { job, op = "read", width, height } = options;
  const requests = readsOf(result, job, op);
  const last = requests.at(-1);
  const end = last === undefined ? 1 : last.submit_ns + last.latency_ns;
  const latencyMax = options.latency_max_ns ?? Math.max(1, ...requests.map((request) => request.latency_ns));
  const root = svg("svg", {
    class: "overview",
    viewBox: `0 0 ${width} ${height}`,
    width,
    height,
    "aria-hidden": "true",
  });

  // One path for each colour, the tallest request of each pixel column: a run of a million requests draws as fast as one of a hundred.
  const thickness = Math.max(1, Math.min(4, (width / Math.max(1, requests.length)) * 0.62));
  const columns = Math.max(1, Math.floor(width / thickness));
  const tallest = new Float64Array(columns);
  const meanings: Meaning[] = new Array<Meaning>(columns).fill("memory");
  for (const request of requests) {
    const at = Math.min(columns - 1, Math.floor((request.submit_ns / end) * columns));
    const share = Math.min(1, request.latency_ns / latencyMax);
    if (share <= tallest[at]!) continue;
    tallest[at] = share;
    meanings[at] = request.missed_bytes > 0 ? missedFrom(request) : "memory";
  }
  const paths = new Map<Meaning, string>();
  tallest.forEach((share, at) => {
    if (share === 0) return;
    const tall = Math.max(1, share * (height - 2));
    const d = `M${((at * width) / columns).toFixed(1)} ${height}v-${tall.toFixed(1)}h${thickness.toFixed(1)}v${tall.toFixed(1)}z`;
    paths.set(meanings[at]!, (paths.get(meanings[at]!) ?? "") + d);
  });
  for (const [meaning, d] of paths) root.append(svg("path", { d, fill: fill(meaning) }));
  root.append(svg("line", { class: "baseline", x1: 0, x2: width, y1: height - 0.5, y2: height - 0.5 }));
  return root;
}
