/**
 * Rate of a server with n cores: the smallest limit of its cores, its cross-calls and its link.
 *
 *     requests/s = min(n hz / (w + (n - 1)(c + a)), hz / ((n - 1) c), link / bytes)
 *
 * w are a request's own cycles, as the run measured them; c are those of calling another core and a those of its answer, where
 * buffers are unmapped. The dot is the run on the stage, measured.
 */
import type { Op } from "../generated/answers.ts";
import type { Result } from "../engine/api.ts";
import type { NetworkSpec, ServerSpec } from "../generated/scenario.ts";
import { countLimit } from "./countLimit.ts";

export interface CoreLimitOptions {
  readonly width: number;
  readonly job: string;
  readonly op: Op;
  readonly server: ServerSpec;
  readonly network: NetworkSpec;
}

/**
 * The cost of a request: its own cycles, cycles of calling and of answering for each other core, and bytes of the link.
 */
export interface RequestCosts {
  readonly hz: number;
  readonly own_cycles: number;
  readonly call_cycles: number;
  readonly answer_cycles: number;
  readonly link_per_s: number;
}

export function requestCosts(result: Result, options: Omit<CoreLimitOptions, "width">): RequestCosts {
  const { job, op, server, network } = options;
  const { metrics } = result.summary;
  const ios = Math.max(1, metrics[`${job}.${op}_ios`] ?? 0);
  const bytes = (metrics[`${job}.${op}_bytes`] ?? 0) / ios;
  const isUnmapped = (metrics["server.unmaps"] ?? 0) > 0;
  const call_cycles = isUnmapped ? (server.buffers?.call_cycles ?? 0) : 0;
  const answer_cycles = isUnmapped ? (server.buffers?.answer_cycles ?? 0) : 0;
  const all = (metrics["server.cycles_per_byte"] ?? 0) * bytes;
  const towards = op === "read" ? "to_client" : "to_server";
  const payload = metrics[`network.${towards}_payload_bytes`] ?? 0;
  const wire = metrics[`network.${towards}_wire_bytes`] ?? 0;
  const link = (network.server_bits_per_s ?? network.bits_per_s) * (network.server_links ?? 1);
  return {
    hz: server.hz,
    own_cycles: all - (server.cores - 1) * (call_cycles + answer_cycles),
    call_cycles,
    answer_cycles,
    link_per_s: payload > 0 ? (link / 8 / bytes) * (payload / wire) : Infinity,
  };
}

/** Requests a second of so many cores. */
export function coreLimitOf(costs: RequestCosts, cores: number): number {
  const { hz, own_cycles, call_cycles, answer_cycles, link_per_s } = costs;
  const others = cores - 1;
  const calls = call_cycles > 0 && others > 0 ? hz / (others * call_cycles) : Infinity;
  return Math.min((cores * hz) / (own_cycles + others * (call_cycles + answer_cycles)), calls, link_per_s);
}

const leastCores = 32;

export function coreLimit(result: Result, options: CoreLimitOptions): Element {
  const { width, job, op, server } = options;
  const costs = requestCosts(result, options);
  const most = Math.max(leastCores, Math.ceil(server.cores * 1.25));
  const rate = result.summary.metrics[`${job}.${op}_iops`] ?? 0;
  return countLimit({
    width,
    marginLeft: 60,
    op,
    of: "cores",
    who: "the server",
    run: { count: server.cores, rate },
    most,
    limit: (cores) => coreLimitOf(costs, cores),
    ceiling: { rate: costs.link_per_s, words: "the link", meaning: "network", side: "left" },
  });
}
