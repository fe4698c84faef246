/** The tables of a cluster for its map: place of each machine, blocks of each node and traffic, at any moment. */
import { column, type Result } from "../../engine/api.ts";
import { formatBytes, formatNumber } from "../../base/format.ts";

/** Why bytes went from node to node, in the engine's order. */
export const reasons = ["request", "migrate", "reprotect"] as const;
export type Reason = (typeof reasons)[number];

export interface Flow {
  readonly why: Reason;
  readonly from: number;
  readonly to: number;
  readonly bytes: number;
}

export interface ClusterMoment {
  /** The node of the machine in question. */
  readonly home: number;
  /** Blocks of that machine, and of all others, on each node. */
  readonly mine: readonly number[];
  readonly others: readonly number[];
  readonly lost: readonly boolean[];
  /** Blocks of the machine, without further copies. */
  readonly blocks: number;
  /** Traffic between nodes in this interval: requests of the machine, and copies of all machines. */
  readonly flows: readonly Flow[];
}

const nobody = 0xffff_ffff;

export function nodesOf(result: Result): number {
  return 1 + Math.max(-1, ...new Set(column(result, "placed.node")));
}

/** Width of an interval of the tables, s. */
export function intervalOf(result: Result): number {
  const starts = column(result, "series.time_ns");
  return starts.length > 1 ? (starts[1]! - starts[0]!) / 1e9 : Math.max(1e-9, result.summary.simulated_ns / 1e9);
}

/** The cluster at a moment; what an interval brought counts from its end. */
export function momentOf(result: Result, job: string, time_s: number): ClusterMoment {
  const vm = result.summary.jobs.indexOf(job);
  const count = nodesOf(result);
  const block_bytes = Number(result.scenario.cluster?.block ?? 1);
  const zeros = () => Array.from({ length: count }, () => 0);
  const [mine, others] = [zeros(), zeros()];
  const [vms, nodes, blocks] = [
    column(result, "placed.vm"),
    column(result, "placed.node"),
    column(result, "placed.blocks"),
  ];
  for (let row = 0; row < vms.length; row++) {
    const held = vms[row] === vm ? mine : others;
    held[nodes[row]!]! += blocks[row]!;
  }
  const all = mine.reduce((sum, held) => sum + held, 0);
  let home = 0;
  const lost = Array.from({ length: count }, () => false);
  const losses: { time_s: number; node: number }[] = [];
  const [times, who, where] = [
    column(result, "node_events.time_ns"),
    column(result, "node_events.vm"),
    column(result, "node_events.node"),
  ];
  for (let row = 0; row < times.length; row++) {
    const at = times[row]! / 1e9;
    if (at > time_s) continue;
    if (who[row] === vm) home = where[row]!;
    if (who[row] === nobody) losses.push({ time_s: at, node: where[row]! });
  }
  for (const { node } of losses) {
    lost[node] = true;
    mine[node] = others[node] = 0;
  }
  const now = Math.floor(time_s / intervalOf(result));
  const flows = new Map<string, Flow>();
  const of = (name: string) => column(result, `flows.${name}`);
  const [intervals, whys, flowVms, froms, tos, bytes] = ["interval", "why", "vm", "from", "to", "bytes"].map(of) as [
    Float64Array,
    Float64Array,
    Float64Array,
    Float64Array,
    Float64Array,
    Float64Array,
  ];
  for (let row = 0; row < intervals.length; row++) {
    if (intervals[row]! > now) break;
    const why = reasons[whys[row]!]!;
    const [from, to] = [froms[row]!, tos[row]!];
    const counts = why !== "request" || flowVms[row] === vm;
    if (intervals[row] === now && counts) {
      const key = `${why} ${from} ${to}`;
      flows.set(key, { why, from, to, bytes: bytes[row]! + (flows.get(key)?.bytes ?? 0) });
    }
    if (why === "request") continue;
    const moved = bytes[row]! / block_bytes;
    const held = flowVms[row] === vm ? mine : others;
    held[to]! += moved;
    const wasLost = losses.some((loss) => loss.node === from);
    if (why === "migrate" && !wasLost) held[from] = Math.max(0, held[from]! - moved);
  }
  return {
    home,
    mine,
    others,
    lost,
    blocks: all / (result.scenario.cluster?.copies ?? 2),
    flows: [...flows.values()],
  };
}

/** When something happened to a node, s. */
export function eventTimes(result: Result): readonly number[] {
  return [...new Set(column(result, "node_events.time_ns"))].map((time) => time / 1e9).toSorted((a, b) => a - b);
}

/** A moment in words. */
export function describeCluster(moment: ClusterMoment, job: string): string {
  const { home, mine, lost, blocks, flows } = moment;
  const here = blocks === 0 ? 0 : (100 * mine[home]!) / blocks;
  const sum = (why: Reason) => flows.filter((flow) => flow.why === why).reduce((all, { bytes }) => all + bytes, 0);
  const said = [
    [sum("request"), "for its requests"],
    [sum("migrate"), "to follow their reader"],
    [sum("reprotect"), "to re-protect"],
  ] as const;
  const going = said.filter(([bytes]) => bytes > 0).map(([bytes, what]) => `${formatBytes(bytes)} ${what}`);
  const gone = lost.flatMap((isLost, node) => (isLost ? [node] : []));
  return (
    `${job} runs on node ${home}, which holds a copy of ${formatNumber(here)}% of its blocks. ` +
    `Between nodes in this interval: ${going.length === 0 ? "nothing" : going.join(", ")}.` +
    (gone.length === 0
      ? ""
      : gone.length === 1
        ? ` Node ${gone[0]!} was lost.`
        : ` Nodes ${gone.join(" and ")} were lost.`)
  );
}
