/**
 * What a disk can do with n shards: the least of what its shards, its primary and the node's cores allow.
 *
 *     requests/s = min(n / c, 1 / d, cores / (c + d))
 *
 * c is a shard's work on a request, d the primary's; one shard has no primary. The dot is the run on the stage, measured.
 */
import type { Result } from "../engine/api.ts";
import type { ControllerSpec } from "../generated/scenario.ts";
import { ink, stroke } from "../base/colours.ts";
import { formatNumber } from "../base/format.ts";
import { draw, Plot } from "./plot.ts";
import { epochsOf } from "./rows/shards.ts";

export interface ShardLimitOptions {
  readonly width: number;
  readonly job: string;
  readonly op: "read" | "write";
  readonly controller: ControllerSpec;
}

/** Work on one request, in seconds: of a shard, and of the primary. */
export interface Costs {
  readonly shard_s: number;
  readonly dispatch_s: number;
  readonly cores: number;
}

export function costsOf(result: Result, { controller, job, op }: Omit<ShardLimitOptions, "width">): Costs {
  const { metrics } = result.summary;
  const bytes = (metrics[`${job}.${op}_bytes`] ?? 0) / Math.max(1, metrics[`${job}.${op}_ios`] ?? 0);
  const share = (controller.cost_percent ?? 100) / 100;
  return {
    shard_s: (share * (Number(controller[op] ?? 0) + (controller.per_byte ?? 0) * bytes)) / 1e9,
    dispatch_s: (share * Number(controller.dispatch ?? 0)) / 1e9,
    cores: controller.cores,
  };
}

/** Requests a second of a disk with so many shards. */
export function limitOf({ shard_s, dispatch_s, cores }: Costs, shards: number): number {
  if (shards === 1) return 1 / shard_s;
  return Math.min(shards / shard_s, 1 / dispatch_s, cores / (shard_s + dispatch_s));
}

const mostShards = 12;

export function shardLimit(result: Result, options: ShardLimitOptions): Element {
  const { width, job, op } = options;
  const costs = costsOf(result, options);
  const shards = epochsOf(result, 0).at(-1)?.shards ?? 1;
  const most = Math.max(mostShards, shards);
  const points = Array.from({ length: most }, (_, at) => ({ shards: at + 1, rate: limitOf(costs, at + 1) }));
  const rate = result.summary.metrics[`${job}.${op}_iops`] ?? 0;
  const dot = [{ shards, rate }];
  const primary = 1 / costs.dispatch_s;
  const top = 1.15 * Math.max(rate, ...points.map((point) => point.rate));
  const rulers = Number.isFinite(primary) && primary <= top ? [primary] : [];
  return draw({
    width,
    height: 250,
    marginLeft: 52,
    marginTop: 26,
    marginBottom: 36,
    marginRight: 16,
    ariaLabel: `${op}s a second that one disk can do, against its shards. This run: ${formatNumber(rate)} with ${shards}.`,
    x: { label: "shards", labelArrow: "none", domain: [0, most], ticks: 6 },
    y: { label: `${op}s/s`, labelArrow: "none", domain: [0, top], ticks: 5, grid: true },
    marks: [
      Plot.ruleY(rulers, { stroke: stroke("dispatch"), strokeDasharray: "3 3" }),
      Plot.text(rulers, {
        y: (value: number) => value,
        frameAnchor: "right",
        textAnchor: "end",
        dy: -8,
        text: () => "what the primary can pass on",
        fill: ink("dispatch"),
      }),
      Plot.line(points, { x: "shards", y: "rate", stroke: "var(--ink)", strokeWidth: 1.5, marker: "circle" }),
      Plot.dot(dot, { x: "shards", y: "rate", r: 6, fill: stroke("processor"), stroke: "var(--paper)" }),
      Plot.text(dot, {
        x: "shards",
        y: "rate",
        dy: 18,
        dx: 6,
        textAnchor: "start",
        fill: ink("processor"),
        text: () => `${formatNumber(rate)} ${op}s/s`,
      }),
    ],
  });
}
