/**
 * Caches as walls: memory above, flash below it, disks at the bottom. A brick is a part of the capacity, and is laid
 * when the cache holds that much. Reads fall until they find their bytes, in memory, on flash or on disk. Data for
 * flash move from wall to wall. Bars on the right show the sources of the bytes at this moment.
 *
 * Contents of the caches, sources of reads, read-ahead and feed come from the run's series. The dots are requests whose
 * journeys were recorded; they fall to the place of their longest stay.
 */
import { formatBytes, formatNumber } from "../../base/format.ts";
import { sources, warmthOf, type Interval } from "../../charts/warmth.ts";
import { shape, write } from "../kit/drawing.ts";
import { firstAfter } from "../kit/lookup.ts";
import { isNarrow } from "../kit/layout.ts";
import { box, textAt, picture } from "../kit/picture.ts";
import { layBricks } from "../kit/wall.ts";
import type { Built, Frame, SceneInput, Scene } from "./scene.ts";
import type { Meaning } from "../../base/colours.ts";

const across = 48;
const fall_s = 0.55;
const mostFalling = 400;

export const cacheWallScene: Scene = {
  name: "cache-wall",
  title: "The wall of caches",
  playsRun: true,
  suits: (result) => warmthOf(result).length > 0,
  build,
};

interface Wall {
  readonly name: string;
  readonly meaning: Meaning;
  readonly y: number;
  readonly height: number;
  readonly rows: number;
  readonly most: number;
  readonly held: (interval: Interval) => number;
}

function build(input: SceneInput): Built {
  const { journeys, result, width } = input;
  const intervals = warmthOf(result);
  const zfs = result.scenario.zfs;
  const most = (of: (interval: Interval) => number) => Math.max(1, ...intervals.map(of));
  const hasFlash = intervals.some(({ l2 }) => l2 > 0) || zfs?.l2arc != null;
  const narrow = isNarrow(width);
  const right = narrow ? 8 : 210;
  const wide = width - right - 8;
  const top = narrow ? 64 : 74;
  const walls: Wall[] = [];
  const add = (name: string, meaning: Meaning, rows: number, held: Wall["held"], room: number) => {
    const y = walls.length === 0 ? top : walls.at(-1)!.y + walls.at(-1)!.height + (narrow ? 28 : 34);
    walls.push({ name, meaning, y, height: rows * (narrow ? 8 : 11), rows, most: Math.max(room, most(held)), held });
  };
  add("memory", "memory", 5, ({ arc }) => arc, Number(zfs?.arc?.size ?? 0) || 0);
  if (hasFlash) add("flash", "flash", 10, ({ l2 }) => l2, 0);
  const last = walls.at(-1)!;
  const diskTop = last.y + last.height + 34;
  const height = diskTop + 44 + (narrow ? 96 : 10);
  const step_s = intervals.length > 1 ? intervals[1]!.from_s - intervals[0]!.from_s : 1;
  const at = (time_s: number) => Math.max(0, Math.min(intervals.length - 1, Math.floor(time_s / step_s)));

  // Requests of the workers by their end, and where they found what they had to wait for.
  const reads: { row: number; source: number }[] = [];
  for (let row = 0; row < journeys.count; row++) {
    if (journeys.parent[row]! >= 0 || journeys.owner[row] !== 0 || journeys.writes[row] === 1) continue;
    reads.push({ row, source: sourceOf(input, row) });
  }
  reads.sort((a, b) => journeys.lastOf(a.row) - journeys.lastOf(b.row));

  function draw(frame: Frame): number {
    const interval = intervals[at(frame.time_ns / 1e9)];
    if (interval === undefined) return 0;
    return drawWalls(frame, interval) + drawReads(frame) + drawFeed(frame, interval) + drawBars(frame, interval);
  }

  function drawWalls({ context, paint }: Frame, interval: Interval): number {
    let bricks = 0;
    for (const wall of walls) {
      const total = across * wall.rows;
      const laid = Math.round((wall.held(interval) / wall.most) * total);
      context.fillStyle = paint(wall.meaning);
      const place = { x: 8, y: wall.y, width: wide, height: wall.height };
      layBricks({ context }, place, { columns: across, rows: wall.rows }, 0, laid);
      bricks += laid;
    }
    return bricks;
  }

  /** Reads that have just ended fall as deep as they had to go. */
  function drawReads(frame: Frame): number {
    const { time_ns, speed } = frame;
    const span_ns = fall_s * speed * 1e9;
    let many = 0;
    for (
      let nth = firstAfter(reads.length, (place) => journeys.lastOf(reads[place]!.row), time_ns - span_ns);
      nth < reads.length && many < mostFalling;
      nth++
    ) {
      const { row, source } = reads[nth]!;
      const ended = journeys.lastOf(row);
      if (ended > time_ns) break;
      const share = (time_ns - ended) / span_ns;
      const depth =
        source === 0
          ? walls[0]!.y
          : source === 2 && hasFlash
            ? walls[1]!.y
            : source === 1
              ? walls[0]!.y + 6
              : diskTop + 12;
      const x = 14 + ((row * 0.618034) % 1) * (wide - 12);
      const y = 22 + (depth - 22) * Math.min(1, share * 1.4);
      shape(frame, x, y, 3.2, sources[source]!.meaning, { isFollowed: row === frame.followed });
      frame.actor(row, x, y);
      many += 1;
    }
    return many;
  }

  /** Bytes that the feed writes to flash in this interval. */
  function drawFeed({ context, paint, time_ns }: Frame, interval: Interval): number {
    if (!hasFlash) return 0;
    const next = intervals[Math.min(intervals.length - 1, at(time_ns / 1e9) + 1)]!;
    const grown = Math.max(0, next.l2 - interval.l2);
    const dots = Math.min(40, Math.ceil((grown / walls[1]!.most) * across * 40));
    const from = walls[0]!.y + walls[0]!.height;
    context.fillStyle = paint("flash");
    for (let nth = 0; nth < dots; nth++) {
      const share = (time_ns / (step_s * 1e9) + nth / Math.max(1, dots)) % 1;
      context.fillRect(8 + ((nth * 0.618034) % 1) * wide, from + share * 32, 5, 5);
    }
    return dots;
  }

  function drawBars(frame: Frame, interval: Interval): number {
    const { context, paint } = frame;
    const all = interval.read.reduce((sum, bytes) => sum + bytes, 0);
    const left = narrow ? 8 : wide + 34;
    const y0 = narrow ? diskTop + 56 : top;
    const room = narrow ? width - 150 : right - 40;
    sources.forEach(({ label, meaning }, source) => {
      const share = all === 0 ? 0 : interval.read[source]! / all;
      const y = y0 + source * (narrow ? 22 : 46);
      context.fillStyle = paint(meaning);
      context.fillRect(narrow ? 140 : left, narrow ? y : y + 8, Math.max(1, room * share), 12);
      write(frame, `${label} ${formatNumber(share * 100)}%`, left, narrow ? y + 11 : y, { size: 13 });
    });
    for (const wall of walls) {
      write(frame, formatBytes(wall.held(interval)), 8 + wide, wall.y - 8, { align: "right", bold: true });
    }
    if (interval.wasted > 0) {
      write(frame, `${formatBytes(interval.wasted / step_s)}/s read ahead and discarded unread`, 8, diskTop + 36, {
        bold: true,
      });
    }
    return 0;
  }

  function backdrop(): SVGSVGElement {
    const root = picture(width, height);
    root.append(textAt(8, 14, "reads", "soft"));
    for (const { name, y, height: tall } of walls) {
      root.append(box({ x: 8, y, width: wide, height: tall }, "lane"), textAt(8, y - 8, name));
    }
    root.append(box({ x: 8, y: diskTop, width: wide, height: 22 }, "outline"), textAt(14, diskTop + 16, "disks"));
    return root;
  }

  return {
    height,
    backdrop: backdrop(),
    key: sources.map(
      ({ label, meaning }) => [meaning, `found in ${label}`.replace("in in flight", "in flight")] as const,
    ),
    draw,
    describe(time_ns) {
      const interval = intervals[at(time_ns / 1e9)];
      if (interval === undefined) return "";
      const all = Math.max(
        1,
        interval.read.reduce((sum, bytes) => sum + bytes, 0),
      );
      const parts = sources.map(
        ({ label }, source) => `${label} ${formatNumber((100 * interval.read[source]!) / all)}%`,
      );
      const flash = hasFlash ? `, flash ${formatBytes(interval.l2)}` : "";
      return `${formatNumber(time_ns / 1e9)} s: memory holds ${formatBytes(interval.arc)}${flash}. Sources of the bytes read now: ${parts.join(", ")}.`;
    },
  };
}

/** Return where a read found the data that it waited for: on a device, on flash, in flight, else in memory. */
function sourceOf({ journeys }: SceneInput, row: number): number {
  let source = 0;
  for (const { layer, phase } of journeys.life(row)) {
    if (phase === "flash_read") source = 2;
    else if (layer === "device" || layer === "layout") return 3;
    else if (phase === "in_flight") source = Math.max(source, 1);
  }
  return source;
}
