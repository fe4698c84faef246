/**
 * Synchronous writes: writers wait for a commit, the commits go to log devices, and transaction groups collect behind
 * them until they are synced to the pool. Time passes to the left in the lanes of the log devices; the present is their
 * right edge.
 *
 * Waits, commits and devices are the stays of requests. The groups come from the run's own table.
 */
import { formatBytes, formatNanos } from "../../base/format.ts";
import { below, layerNames } from "../../engine/journeys.ts";
import { groupsOf, intervalAt, stateAt } from "../../charts/rows/writePath.ts";
import { isNarrow } from "../kit/layout.ts";
import { Glide, queue, write } from "../kit/drawing.ts";
import { piecesOf } from "../kit/pieces.ts";
import { box, picture, presentLine, textAt } from "../kit/picture.ts";
import type { Built, Frame, SceneInput, Scene } from "./scene.ts";
import { labelOf, meaningOf } from "./words.ts";

const piecesShown = 30;
const mostLanes = 8;
const groupRows = 3;

export const logPoolScene: Scene = {
  name: "log-pool",
  title: "Log and pool",
  playsRun: false,
  suits: ({ scenario }) => scenario.zfs != null,
  build,
};

function build(input: SceneInput): Built {
  const { journeys, result, width } = input;
  const narrow = isNarrow(width);
  const zfs = layerNames.indexOf("zfs");
  const log = layerNames.indexOf("write_log");
  const groups = groupsOf(result);
  const largest = Math.max(1, ...groups.map(({ bytes }) => bytes));
  const pieces = piecesOf(
    journeys,
    (stay) => journeys.layer[stay] === log && journeys.phase[stay] !== below && journeys.phaseOf(stay) !== "queue",
  );
  const parts = pieces.stays.reduce((most, stay) => Math.max(most, journeys.part[stay]! + 1), 0);
  const { lengths } = pieces;
  const span_ns = Math.max(1e5, (lengths[lengths.length >> 1] ?? 1e6) * piecesShown);
  const lanes = Math.max(1, Math.min(mostLanes, parts));
  const label = narrow ? 4 : 110;
  const present = width - 12;
  const waitsTop = 4;
  const waitsHeight = 108;
  const lanesTop = waitsTop + waitsHeight + (narrow ? 26 : 12);
  const laneHeight = lanes > 3 ? 22 : 34;
  const poolTop = lanesTop + lanes * laneHeight + 40;
  const height = poolTop + groupRows * 30 + 34;
  const glide = new Glide(journeys.count);
  const queues = [
    { phase: "lock", words: narrow ? "wait" : "wait for the previous commit" },
    { phase: "write_log", words: narrow ? "in a commit" : "are in a commit" },
  ];

  function draw(frame: Frame): number {
    return drawWaiting(frame) + drawLog(frame) + drawPool(frame);
  }

  function drawWaiting(frame: Frame): number {
    const { time_ns } = frame;
    const lists = queues.map(() => [] as { row: number; from: number }[]);
    journeys.each(time_ns, (row) => {
      const stay = journeys.stayAt(row, time_ns);
      if (stay < 0 || journeys.layer[stay] !== zfs) return;
      const phase = journeys.phaseOf(stay);
      const at = phase === "below" ? 1 : queues.findIndex((queue) => queue.phase === phase);
      if (at >= 0 && journeys.writes[row] === 1) lists[at]!.push({ row, from: journeys.from_ns[stay]! });
    });
    const half = (width - label) / 2;
    lists.forEach((list, nth) => {
      const left = label + nth * half;
      list.sort((a, b) => a.from - b.from);
      write(frame, `${list.length * journeys.every} ${queues[nth]!.words}`, left, waitsTop + 14, {
        soft: list.length === 0,
      });
      const rows = list.map(({ row }) => row);
      const place = { x: left + 6, y: waitsTop + 32, width: half - 24, height: waitsHeight - 34 };
      queue(frame, { journeys, glide }, rows, place, nth === 0 ? "waiting" : "flash");
    });
    return lists[0]!.length + lists[1]!.length;
  }

  function drawLog(frame: Frame): number {
    const { context, time_ns, paint } = frame;
    const xOf = (at: number) => present - ((time_ns - at) / span_ns) * (present - label);
    let many = 0;
    context.save();
    context.beginPath();
    context.rect(label, lanesTop - 2, present - label, lanes * laneHeight + 4);
    context.clip();
    for (const stay of pieces.within(time_ns - span_ns, time_ns)) {
      const to = Math.min(time_ns, journeys.to_ns[stay]!);
      const lane = Math.min(lanes - 1, journeys.part[stay]!);
      const x = xOf(journeys.from_ns[stay]!);
      context.fillStyle = paint(meaningOf(journeys.phaseOf(stay)));
      context.fillRect(x, lanesTop + lane * laneHeight + 3, Math.max(1, xOf(to) - x - 0.8), laneHeight - 6);
      if (to === time_ns) many += 1;
    }
    context.restore();
    const interval = intervalAt(result, time_ns / 1e9);
    if (interval !== undefined) {
      write(
        frame,
        `${formatBytes(interval.log_live_bytes)} ${narrow ? "not in the pool yet" : "in the log for groups that are not in the pool"}`,
        present,
        lanesTop + lanes * laneHeight + 18,
        {
          align: "right",
          soft: true,
        },
      );
    }
    return many;
  }

  function drawPool(frame: Frame): number {
    const { context, paint } = frame;
    const time_s = frame.time_ns / 1e9;
    const there = groups.filter((group) => stateAt(group, time_s) !== undefined).slice(-groupRows);
    there.toReversed().forEach((group, nth) => {
      const state = stateAt(group, time_s)!;
      const y = poolTop + 8 + nth * 30;
      const all = ((present - label) * group.bytes) / largest;
      const share = state === "open" ? openShare(group.opened_s, group.closed_s, time_s) : 1;
      const left =
        state === "syncing" && group.data_written_s !== undefined && group.sync_started_s !== undefined
          ? 1 -
            Math.min(1, (time_s - group.sync_started_s) / Math.max(1e-9, group.data_written_s - group.sync_started_s))
          : 1;
      context.fillStyle = paint(state === "syncing" ? "disk" : "memory");
      context.globalAlpha = state === "open" ? 1 : 0.65;
      context.fillRect(label, y, Math.max(2, all * share * left), 20);
      context.globalAlpha = 1;
      const words = `group ${group.group}, ${state === "syncing" ? "being written to the pool" : state}`;
      // Beside a bar that is too short for the words.
      const wide = Math.max(2, all * share * left);
      write(frame, words, label + Math.min(wide + 8, present - label - 190), y + 15, { size: 13 });
    });
    return there.length;
  }

  function backdrop(): SVGSVGElement {
    const root = picture(width, height);
    for (let lane = 0; lane < lanes; lane++) {
      const y = lanesTop + lane * laneHeight;
      root.append(box({ x: label, y: y + 1, width: present - label, height: laneHeight - 2 }, "lane"));
      if (!narrow) {
        const words = parts === 0 ? "no log device" : `log device ${lanes > 1 ? lane + 1 : ""}`;
        root.append(textAt(label - 8, y + laneHeight / 2 + 4, words, "lane-name", "end"));
      }
    }
    root.append(
      presentLine(present, lanesTop - 4, lanesTop + lanes * laneHeight + 4),
      textAt(label, lanesTop + lanes * laneHeight + 18, `${formatNanos(span_ns)} ago`, "soft"),
      box({ x: label, y: poolTop, width: present - label, height: groupRows * 30 + 8 }, "lane"),
    );
    if (!narrow) {
      root.append(
        textAt(label - 8, waitsTop + 14, "writers", "lane-name", "end"),
        textAt(label - 8, poolTop + 22, "groups", "lane-name", "end"),
      );
    } else root.append(textAt(label, lanesTop - 8, "log devices", "lane-name"));
    return root;
  }

  const used = [...new Set(pieces.stays.map((stay) => journeys.phaseOf(stay)))];
  return {
    height,
    backdrop: backdrop(),
    pace_ns: span_ns / 5,
    key: [
      ["waiting", "waits for the previous commit"],
      ["flash", "in a commit"],
      ...used
        .filter((phase) => meaningOf(phase) !== "flash")
        .map((phase) => [meaningOf(phase), labelOf(phase)] as const),
      ["memory", "group in memory"],
      ["disk", "group being written to the pool"],
    ],
    draw,
    describe(time_ns) {
      const states = groups.flatMap((group) => {
        const state = stateAt(group, time_ns / 1e9);
        return state === undefined ? [] : [`group ${group.group} is ${state}`];
      });
      let waiting = 0;
      journeys.each(time_ns, (row) => {
        const stay = journeys.stayAt(row, time_ns);
        if (stay >= 0 && journeys.layer[stay] === zfs && journeys.writes[row] === 1) waiting += 1;
      });
      return `${waiting * journeys.every === 1 ? "1 write waits" : `${waiting * journeys.every} writes wait`} for the log; ${states.join(", ") || "there is no group"}.`;
    },
  };
}

function openShare(opened_s: number, closed_s: number | undefined, time_s: number): number {
  return closed_s === undefined ? 1 : Math.min(1, (time_s - opened_s) / Math.max(1e-9, closed_s - opened_s));
}
