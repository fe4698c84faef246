/**
 * Rate of a disk with n shards: the smallest limit of its shards, its primary and the node's cores.
 *
 *     requests/s = min(n / c, 1 / d, cores / (c + d))
 *
 * c is a shard's work on a request, d the primary's; one shard has no primary. The dot is the run on the stage, measured.
 */
import type { Result } from "../engine/api.ts";
import type { ControllerSpec } from "../generated/scenario.ts";
import { countLimit } from "./countLimit.ts";
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
  const rate = result.summary.metrics[`${job}.${op}_iops`] ?? 0;
  return countLimit({
    width,
    marginLeft: 52,
    op,
    of: "shards",
    who: "one disk",
    run: { count: shards, rate },
    most: Math.max(mostShards, shards),
    limit: (count) => limitOf(costs, count),
    ceiling: {
      rate: 1 / costs.dispatch_s,
      words: "limit of the primary",
      meaning: "dispatch",
      side: "right",
    },
    hasMarkers: true,
  });
}
