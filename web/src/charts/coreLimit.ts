/**
 * What a server can do with n cores: the least of what its cores, its cross-calls and its link allow.
 *
 *     requests/s = min(n hz / (w + (n - 1)(c + a)), hz / ((n - 1) c), link / bytes)
 *
 * w are a request's own cycles, as the run measured them; c are those of calling another core and a those of its answer, where
 * buffers are unmapped. The dot is the run on the stage, measured.
 */
import type { Op } from "../generated/answers.ts";
import type { Result } from "../engine/api.ts";
import type { NetworkSpec, ServerSpec } from "../generated/scenario.ts";
import { ink, stroke } from "../base/colours.ts";
import { formatNumber } from "../base/format.ts";
import { draw, Plot } from "./plot.ts";

export interface CoreLimitOptions {
  readonly width: number;
  readonly job: string;
  readonly op: Op;
  readonly server: ServerSpec;
  readonly network: NetworkSpec;
}

/** What a request costs: cycles of its own, of calling and of answering for each other core, and bytes of the link. */
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
  const points = Array.from({ length: most }, (_, at) => ({ cores: at + 1, rate: coreLimitOf(costs, at + 1) }));
  const rate = result.summary.metrics[`${job}.${op}_iops`] ?? 0;
  const dot = [{ cores: server.cores, rate }];
  const top = 1.15 * Math.max(rate, ...points.map((point) => point.rate));
  const rulers = costs.link_per_s <= top ? [costs.link_per_s] : [];
  return draw({
    width,
    height: 250,
    marginLeft: 60,
    marginTop: 26,
    marginBottom: 36,
    marginRight: 16,
    ariaLabel: `${op}s a second that the server can do, against its cores. This run: ${formatNumber(rate)} with ${server.cores}.`,
    x: { label: "cores", labelArrow: "none", domain: [0, most], ticks: 6 },
    y: { label: `${op}s/s`, labelArrow: "none", domain: [0, top], ticks: 5, grid: true },
    marks: [
      Plot.ruleY(rulers, { stroke: stroke("network"), strokeDasharray: "3 3" }),
      Plot.text(rulers, {
        y: (value: number) => value,
        frameAnchor: "left",
        textAnchor: "start",
        dx: 6,
        dy: -8,
        text: () => "the link",
        fill: ink("network"),
      }),
      Plot.line(points, { x: "cores", y: "rate", stroke: "var(--ink)", strokeWidth: 1.5 }),
      Plot.dot(dot, { x: "cores", y: "rate", r: 6, fill: stroke("processor"), stroke: "var(--paper)" }),
      Plot.text(dot, {
        x: "cores",
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
