/**
 * The cluster map: a column for each node with its blocks, and an arc above the columns for traffic between nodes.
 * Colours separate the machine's blocks on its own node from those on other nodes, and arcs by their reason.
 */
import { fill, ink, type Meaning, stroke } from "../base/colours.ts";
import { html, svg } from "../base/elements.ts";
import { formatBytes, groupThousands } from "../base/format.ts";
import type { Result } from "../engine/api.ts";
import type { Chart } from "./chart.ts";
import { keyEntry } from "./legend.ts";
import { resultTable } from "./resultTable.ts";
import { type ClusterMoment, describeCluster, momentOf, nodesOf, type Reason, reasons } from "./rows/clusterTables.ts";

export interface ClusterMapOptions {
  readonly job: string;
  readonly width: number;
  readonly time_s: number;
}

export interface ClusterMap {
  readonly element: HTMLElement;
  /** Centre of a node's column, px from the left edge. */
  x(node: number): number;
  readonly nodes: number;
  readonly moment: ClusterMoment;
}

const pillRow = 34;
const arcs = 110;
const bars = 150;
const labels = 34;
const side = 8;

/** How blocks that move between nodes are drawn and named. */
export const flowLooks: Readonly<
  Record<Reason, { readonly meaning: Meaning; readonly dash?: string; readonly words: string }>
> = {
  request: { meaning: "transfer", words: "requests of the machine" },
  migrate: { meaning: "memory", dash: "7 3", words: "blocks that follow their reader" },
  reprotect: { meaning: "flash", dash: "2 3", words: "re-protection of lost copies" },
};

export function clusterMap(result: Result, options: ClusterMapOptions): ClusterMap {
  const { job, width, time_s } = options;
  const moment = momentOf(result, job, time_s);
  const nodes = nodesOf(result);
  const column = (width - 2 * side) / Math.max(1, nodes);
  const x = (node: number) => side + (node + 0.5) * column;
  const floor = pillRow + arcs + bars;
  const start = momentOf(result, job, 0);
  const most = Math.max(
    1,
    ...[start, moment].flatMap(({ mine, others }) => mine.map((blocks, at) => blocks + others[at]!)),
  );
  const height = (blocks: number) => (blocks / most) * (bars - 6);
  const wide = Math.max(2, column * 0.62);
  const drawing = svg("svg", {
    width,
    height: floor + labels,
    viewBox: `0 0 ${width} ${floor + labels}`,
    role: "img",
    "aria-label": `Cluster map. ${describeCluster(moment, job)}`,
  });
  drawing.append(...arcsOf(moment, x, pillRow + arcs));
  for (let node = 0; node < nodes; node++) {
    const [mine, others] = [moment.mine[node]!, moment.others[node]!];
    const isHome = node === moment.home;
    const group = svg(
      "g",
      {},
      svg(
        "title",
        {},
        `Node ${node}: ${groupThousands(Math.round(mine))} blocks of ${job}, ${groupThousands(Math.round(others))} of others`,
      ),
      svg("rect", {
        x: x(node) - wide / 2,
        y: floor - bars,
        width: wide,
        height: bars,
        fill: "transparent",
        stroke: "var(--rule)",
      }),
      svg("rect", {
        x: x(node) - wide / 2,
        y: floor - height(mine),
        width: wide,
        height: height(mine),
        fill: fill(isHome ? "memory" : "transfer"),
        "fill-opacity": isHome ? 1 : 0.5,
      }),
      svg("rect", {
        x: x(node) - wide / 2,
        y: floor - height(mine + others),
        width: wide,
        height: height(others),
        fill: fill("overhead"),
      }),
    );
    if (moment.lost[node]) group.append(crossed(x(node), floor - bars, wide));
    drawing.append(group);
    const isSparse = nodes <= 16 || node % 8 === 0;
    if (isSparse) drawing.append(label(x(node), floor + 15, String(node), isHome));
    if (moment.lost[node]) drawing.append(label(x(node), floor + 30, "lost", false, ink("broken")));
  }
  return { element: html("div", { class: "cluster-map" }, drawing, legend(job)), x, nodes, moment };
}

function arcsOf(moment: ClusterMoment, x: (node: number) => number, base: number): SVGElement[] {
  const most = Math.max(1, ...moment.flows.map(({ bytes }) => bytes));
  return moment.flows.map(({ why, from, to, bytes }) => {
    const { meaning, dash, words } = flowLooks[why];
    const [a, b] = [x(from), x(to)];
    // Higher where it goes farther; there and back, and each reason, beside each other.
    const lift = Math.min(arcs - 8, 22 + Math.abs(b - a) * 0.32 + reasons.indexOf(why) * 7 + (b > a ? 5 : 0));
    const path = svg("path", {
      d: `M${a.toFixed(1)} ${base}C${a.toFixed(1)} ${(base - lift * 1.3).toFixed(1)} ${b.toFixed(1)} ${(base - lift * 1.3).toFixed(1)} ${b.toFixed(1)} ${base}`,
      fill: "none",
      stroke: stroke(meaning),
      "stroke-width": Math.max(0.8, 7 * Math.sqrt(bytes / most)),
      "stroke-opacity": 0.75,
      "stroke-dasharray": dash,
    });
    const title = svg("title", {}, `${formatBytes(bytes)} from node ${from} to node ${to}: ${words}`);
    const point = svg("path", { d: `M${(b - 4).toFixed(1)} ${base - 7}h8l-4 7z`, fill: stroke(meaning) });
    return svg("g", {}, title, path, point);
  });
}

function crossed(at: number, top: number, wide: number): SVGElement {
  const [left, right] = [at - wide / 2, at + wide / 2];
  return svg("path", {
    d: `M${left.toFixed(1)} ${top}L${right.toFixed(1)} ${top + bars}M${right.toFixed(1)} ${top}L${left.toFixed(1)} ${top + bars}`,
    stroke: stroke("broken"),
    "stroke-width": 1.5,
    fill: "none",
  });
}

function label(x: number, y: number, words: string, isBold: boolean, paint = "var(--ink-soft)"): SVGElement {
  return svg(
    "text",
    { x, y, "text-anchor": "middle", fill: paint, "font-size": 12, "font-weight": isBold ? 700 : 400 },
    words,
  );
}

function legend(job: string): HTMLElement {
  const line = (why: Reason) => {
    const { meaning, dash, words } = flowLooks[why];
    const marks = `<path d="M0 5h24" stroke="${stroke(meaning)}" stroke-width="3" stroke-dasharray="${dash ?? ""}"/>`;
    return keyEntry(words, meaning, { marks, width: 24 });
  };
  return html(
    "p",
    { class: "key" },
    keyEntry(`${job}’s blocks on its own node`, "memory"),
    keyEntry("on other nodes", "transfer", {
      marks: `<rect width="18" height="10" fill="${fill("transfer")}" fill-opacity="0.5"/>`,
    }),
    keyEntry("other machines’ blocks", "overhead"),
    ...reasons.map(line),
  );
}

export const clusterMapChart: Chart = {
  name: "cluster-map",
  title: "Cluster map",
  hides: "Blocks on each node at the end of the run, and the last traffic between nodes. Hides which block is where.",
  suits: ({ cluster }) => cluster !== undefined,
  draw: ({ result, focus: { job } }, width) =>
    clusterMap(result, { job, width, time_s: result.summary.simulated_ns / 1e9 }).element,
  table: ({ result, focus }) => nodeTable(result, focus.job),
};

function nodeTable(result: Result, job: string): HTMLTableElement {
  const [start, end] = [0, result.summary.simulated_ns / 1e9].map((at) => momentOf(result, job, at)) as [
    ReturnType<typeof momentOf>,
    ReturnType<typeof momentOf>,
  ];
  return resultTable({
    caption: "Blocks on each node",
    rows: start.mine.map((_, node) => node),
    columns: [
      { title: "node", value: (node) => (end.lost[node] ? `${node}, lost` : node) },
      { title: `of ${job}, at the start`, value: (node) => groupThousands(start.mine[node]!) },
      { title: "at the end", value: (node) => groupThousands(Math.round(end.mine[node]!)) },
      { title: "of others, at the start", value: (node) => groupThousands(start.others[node]!) },
      { title: "at the end", value: (node) => groupThousands(Math.round(end.others[node]!)) },
    ],
  });
}
