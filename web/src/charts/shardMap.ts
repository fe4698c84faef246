/**
 * The shard map of a virtual disk: the ranges from its start with the number of the controller that owns each, one strip for
 * each number of shards that the disk has had, and below how busy the primary and every shard were.
 */
import type { Op } from "../generated/answers.ts";
import { fill, ink } from "../base/colours.ts";
import { html, svg } from "../base/elements.ts";
import { formatBytes, formatNanos, formatNumber, groupThousands } from "../base/format.ts";
import type { Result } from "../engine/api.ts";
import type { Chart } from "./chart.ts";
import { resultTable } from "./resultTable.ts";
import {
  activeSeconds,
  busyPercent,
  describeShards,
  epochsOf,
  nameOf,
  ownerOf,
  rangeOf,
  said,
  serversOf,
} from "./rows/shards.ts";

export interface ShardMapOptions {
  readonly width: number;
  readonly job: string;
  readonly op: Op;
}

const cellWidth = 26;
const cellHeight = 26;
const barHeight = 18;
const rowGap = 8;
const labelWidth = 76;
const valueWidth = 164;
const mostStrips = 6;

export function shardMap(result: Result, options: ShardMapOptions): Element {
  const { width, job, op } = options;
  const servers = serversOf(result, 0);
  if (servers.length === 0) return html("p", { class: "empty" }, describeShards(result, job, op));
  const strips = epochsOf(result, 0).slice(0, mostStrips);
  const cells = Math.max(4, Math.floor((width - labelWidth) / cellWidth));
  const stripsTop = 20;
  const serversTop = stripsTop + strips.length * (cellHeight + rowGap) + 34;
  const height = serversTop + servers.length * (barHeight + rowGap) + 6;
  const picture = svg("svg", {
    viewBox: `0 0 ${width} ${height}`,
    width,
    height,
    role: "img",
    class: "shard-map",
    "aria-label": `Shard map. ${describeShards(result, job, op)}`,
  });
  const words = (x: number, y: number, text: string, more: Readonly<Record<string, string>> = {}) =>
    svg("text", { x, y, "font-size": 12, fill: "var(--ink-soft)", ...more }, text);

  picture.append(
    words(labelWidth, 12, `owner of each range of ${formatBytes(rangeOf(result))}, from the disk’s start`),
  );
  strips.forEach(({ from_s, shards }, row) => {
    const y = stripsTop + row * (cellHeight + rowGap);
    const label = strips.length === 1 ? "ranges" : `from ${formatNanos(from_s * 1e9)}`;
    picture.append(words(labelWidth - 8, y + 17, label, { "text-anchor": "end" }));
    for (let range = 0; range < cells; range += 1) {
      const owner = ownerOf(result, range, shards);
      const x = labelWidth + range * cellWidth;
      picture.append(
        svg("rect", {
          x: x + 0.5,
          y,
          width: cellWidth - 2,
          height: cellHeight,
          fill: "var(--processor)",
          "fill-opacity": shade(owner, shards).toFixed(2),
          stroke: "var(--rule-strong)",
        }),
        words(x + cellWidth / 2, y + 17, String(owner), {
          "text-anchor": "middle",
          fill: "var(--ink)",
          "font-weight": "600",
        }),
      );
    }
  });

  const seconds = activeSeconds(result, job, op);
  const most = Math.max(40, width - labelWidth - valueWidth);
  picture.append(words(labelWidth, serversTop - 8, `busy while “${job}” ran`));
  servers.forEach((server, row) => {
    const y = serversTop + row * (barHeight + rowGap);
    const percent = busyPercent(server, seconds);
    const isPrimary = servers.length > 1 && server.number === 0;
    picture.append(
      words(labelWidth - 8, y + 13, nameOf(server, servers), {
        "text-anchor": "end",
        fill: isPrimary ? ink("dispatch") : "var(--ink)",
      }),
      svg("rect", { x: labelWidth, y, width: most, height: barHeight, fill: "none", stroke: "var(--rule-strong)" }),
      svg("rect", {
        x: labelWidth,
        y,
        width: (most * percent) / 100,
        height: barHeight,
        fill: isPrimary ? fill("dispatch") : fill("processor"),
        "fill-opacity": isPrimary ? "1" : shade(server.number - 1, Math.max(1, servers.length - 1)).toFixed(2),
      }),
      words(labelWidth + most + 8, y + 13, `${formatNumber(percent)}%, ${said(server)}`, { fill: "var(--ink)" }),
    );
  });
  return picture;
}

// Neighbours differ in shade; the number in the cell says which is which.
function shade(owner: number, shards: number): number {
  return shards <= 1 ? 0.45 : 0.12 + (0.55 * Math.max(0, owner)) / (shards - 1);
}

export const shardMapChart: Chart = {
  name: "shard-map",
  title: "Shard map",
  hides: "Busy shares over the whole time. Hides when a shard was busy, and how long its queue was.",
  suits: ({ controller }) => controller !== undefined,
  draw: ({ result, focus }, width) => shardMap(result, { ...focus, width }),
  describe: (result, { job, op }) => describeShards(result, job, op),
  table: ({ result, focus: { job, op } }) => serverTable(result, job, op),
};

function serverTable(result: Result, job: string, op: string): HTMLTableElement {
  const servers = serversOf(result, 0);
  const seconds = activeSeconds(result, job, op);
  return resultTable({
    caption: "Controllers of the first disk",
    rows: servers,
    columns: [
      { title: "thread", value: (server) => nameOf(server, servers) },
      { title: "requests", value: (server) => groupThousands(server.requests) },
      { title: "busy, %", value: (server) => formatNumber(busyPercent(server, seconds)) },
      {
        title: "mean time in it",
        value: (server) => (server.requests === 0 ? "–" : formatNanos(server.response_ns / server.requests)),
      },
    ],
  });
}
