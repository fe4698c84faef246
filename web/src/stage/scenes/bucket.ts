/**
 * The write throttle as a leaky bucket. Writers fill it at the top, dirty data are bricks by transaction group, and the
 * devices drain it at the bottom. Delayed and stopped writers wait in a queue above. Next to it is the delay of writes
 * by the fill of the bucket, with a dot for the moment.
 *
 * Dirty data, entered writes and their delays come from the run's series; the times and sizes of groups from its table
 * of groups. The fill of the open group follows from the writes that have entered since it opened. The dots are
 * requests whose journeys were recorded.
 */
import { svg } from "../../base/elements.ts";
import { formatBytes, formatNanos, formatNumber } from "../../base/format.ts";
import type { Result } from "../../engine/api.ts";
import { layerNames } from "../../engine/journeys.ts";
import {
  clientsEndOf,
  describeMoment,
  type Group,
  groupsOf,
  type Interval,
  intervalsOf,
  rateAt,
  stateAt,
  throttleOf,
} from "../../charts/rows/writePath.ts";
import type { Meaning } from "../../base/colours.ts";
import { firstAfter } from "../kit/lookup.ts";
import { isNarrow } from "../kit/layout.ts";
import { type Box, textAt, picture } from "../kit/picture.ts";
import { layBricks } from "../kit/wall.ts";
import { arc, disc, queue, write } from "../kit/drawing.ts";
import { type Built, type Frame, pairOf, type SceneInput, type Scene } from "./scene.ts";

const bricksAcross = 12;
const bricksHigh = 22;
const fall_s = 0.4;
/** Groups that follow each other are two tints of what memory is painted with. */
const paints: readonly Meaning[] = ["memory", "prefetched"];
const shortestLongest_ns = 1e6;

export const bucketScene: Scene = {
  name: "bucket",
  title: "The leaky bucket",
  playsRun: true,
  suits: (result) => intervalsOf(result).length > 0,
  build,
  stops: ({ result }) => [
    0,
    ...groupsOf(result).flatMap(({ sync_started_s }) =>
      sync_started_s === undefined || sync_started_s === 0 ? [] : [sync_started_s * 1e9],
    ),
  ],
};

interface Layer {
  readonly group: number;
  readonly state: string;
  readonly bytes: number;
}

function build(input: SceneInput): Built {
  const { result, journeys, width } = input;
  const intervals = intervalsOf(result);
  const groups = groupsOf(result);
  const zfs = result.scenario.zfs;
  const throttle = zfs == null ? undefined : throttleOf(zfs);
  const isPerGroup = throttle?.isPerGroup === true;
  const narrow = isNarrow(width);
  const end_s = clientsEndOf(result);
  const during = intervals.filter(({ from_s }) => from_s < end_s);
  const { limit, most, longest } = scalesOf(result);
  // Both runs of a pair have the same scales.
  const scales = pairOf(input).map(scalesOf);
  const top = Math.max(...scales.map((scale) => scale.top));
  const longestOfPair = Math.max(...scales.map((scale) => scale.longest));

  // On a narrow screen the curve has no room: what waits and what is dirty comes first.
  const height = narrow ? 332 : 380;
  const vesselTop = 104;
  const vesselBottom = narrow ? 262 : height - 72;
  const bucketWidth = narrow ? width : Math.round(width * 0.58);
  const count = isPerGroup ? 3 : 1;
  const leftPad = narrow ? 8 : 16;
  const thresholdRoom = narrow ? 92 : 150;
  const vesselSpan = (bucketWidth - leftPad - thresholdRoom) / count;
  const vessels = Array.from({ length: count }, (_, nth) => ({
    x: leftPad + nth * vesselSpan,
    width: vesselSpan - (count > 1 ? 14 : 0),
  }));
  const yOf = (bytes: number) => vesselBottom - (bytes / top) * (vesselBottom - vesselTop);
  const curve = narrow
    ? undefined
    : { x: bucketWidth + 56, y: vesselTop, width: width - bucketWidth - 70, height: vesselBottom - vesselTop };

  // Writes that have entered by the end of each interval: how the open group fills.
  const entered = new Float64Array(intervals.length + 1);
  intervals.forEach((interval, nth) => {
    entered[nth + 1] = entered[nth]! + interval.not_delayed + interval.delayed + interval.blocked;
  });
  const step_s = intervals.length === 0 ? 1 : intervals[0]!.to_s - intervals[0]!.from_s;
  const enteredAt = (time_s: number) => between(entered, time_s / step_s);
  const dirtyAt = (time_s: number) => {
    const at = time_s / step_s - 0.5;
    const low = Math.max(0, Math.min(intervals.length - 1, Math.floor(at)));
    const high = Math.min(intervals.length - 1, low + 1);
    const share = Math.max(0, Math.min(1, at - low));
    return intervals.length === 0
      ? 0
      : intervals[low]!.dirty_mean_bytes * (1 - share) + intervals[high]!.dirty_mean_bytes * share;
  };

  /** Return the contents of the bucket, the oldest first. */
  function layersAt(time_s: number): Layer[] {
    const there = groups.flatMap((group) => {
      const state = stateAt(group, time_s);
      return state === undefined ? [] : [{ group, state }];
    });
    const dirty = dirtyAt(time_s);
    const filled = (group: Group): number => {
      const from = enteredAt(group.opened_s);
      const all = enteredAt(group.closed_s ?? end_s) - from;
      return all <= 0 ? 0 : group.bytes * Math.min(1, (enteredAt(time_s) - from) / all);
    };
    let left = dirty;
    const sizes = new Map<number, number>();
    for (const { group, state } of there.toReversed()) {
      if (state === "syncing") continue;
      const bytes = state === "open" ? filled(group) : group.bytes;
      sizes.set(group.group, Math.min(bytes, left));
      left -= Math.min(bytes, left);
    }
    const syncing = there.filter(({ state }) => state === "syncing");
    for (const { group } of syncing) {
      const bytes = Math.min(group.bytes, left);
      sizes.set(group.group, bytes);
      left -= bytes;
    }
    // The open group has the rest of the dirty data.
    const open = there.findLast(({ state }) => state === "open") ?? there.at(-1);
    if (open !== undefined && left > 0) sizes.set(open.group.group, (sizes.get(open.group.group) ?? 0) + left);
    return there.map(({ group, state }) => ({ group: group.group, state, bytes: sizes.get(group.group) ?? 0 }));
  }

  const zfsNumber = layerNames.indexOf("zfs");
  const entering: number[] = [];
  const leaving: number[] = [];
  for (let row = 0; row < journeys.count; row++) {
    if (journeys.owner[row] === 0 && journeys.writes[row] === 1) entering.push(row);
    else if (journeys.owner[row] === zfsNumber && journeys.writes[row] === 1) leaving.push(row);
  }
  entering.sort((a, b) => journeys.lastOf(a) - journeys.lastOf(b));

  function draw(frame: Frame): number {
    const time_s = frame.time_ns / 1e9;
    const layers = layersAt(time_s);
    drawBricks(frame, layers);
    const actors = drawWriters(frame) + drawFalling(frame, layers) + drawDrain(frame);
    if (curve !== undefined) drawCurve(frame, curve);
    return actors + Math.round((layers.reduce((sum, layer) => sum + layer.bytes, 0) / top) * bricksAcross * bricksHigh);
  }

  function drawBricks(frame: Frame, layers: readonly Layer[]): void {
    const { context, paint } = frame;
    const brickBytes = top / (bricksAcross * bricksHigh);
    const wall = { columns: bricksAcross, rows: bricksHigh };
    const brickHeight = (vesselBottom - vesselTop) / bricksHigh;
    const bricksOf = (bytes: number) => Math.round(bytes / brickBytes);
    const column = (state: string) => (state === "open" ? 0 : state === "syncing" ? 2 : 1);
    const stacks = new Map<number, number>();
    for (const layer of layers) {
      const at = isPerGroup ? column(layer.state) : 0;
      const vessel = vessels[at]!;
      const first = stacks.get(at) ?? 0;
      const many = bricksOf(layer.bytes);
      const meaning = paints[layer.group % paints.length]!;
      context.fillStyle = paint(meaning);
      context.globalAlpha = layer.state === "syncing" ? 0.55 : 1;
      const place = { ...vessel, y: vesselTop, height: vesselBottom - vesselTop };
      layBricks(frame, place, wall, first, first + many);
      context.globalAlpha = 1;
      stacks.set(at, first + many);
      if (many >= bricksAcross * 2) {
        const words = isPerGroup ? `group ${layer.group}` : `group ${layer.group}, ${layer.state}`;
        const y = vesselBottom - ((first + many / 2) / bricksAcross) * brickHeight;
        context.font = '600 13px "Source Sans 3 Variable", sans-serif';
        context.fillStyle = paint("paper");
        context.fillRect(vessel.x + 6, y - 10, context.measureText(words).width + 10, 20);
        write(frame, words, vessel.x + 11, y + 5, { bold: true });
      }
    }
  }

  /** Writers that wait above the bucket: delayed on purpose, or stopped; the rest pass. */
  function drawWriters(frame: Frame): number {
    const { time_ns } = frame;
    const queues: Record<"throttle_delay" | "throttle_wait", number[]> = { throttle_delay: [], throttle_wait: [] };
    let passing = 0;
    journeys.each(time_ns, (row) => {
      if (journeys.owner[row] !== 0) return;
      const stay = journeys.stayAt(row, time_ns);
      if (stay < 0) return;
      const phase = journeys.phaseOf(stay);
      if (phase === "throttle_delay" || phase === "throttle_wait") queues[phase].push(row);
      else passing += 1;
    });
    const half = (bucketWidth - 24) / 2;
    let nth = 0;
    const { every } = journeys;
    for (const [phase, whole, none] of [
      ["throttle_delay", "delayed on purpose", "no writes delayed"],
      ["throttle_wait", "stopped at the limit", "none stopped"],
    ] as const) {
      const words = narrow ? whole.split(" ")[0]! : whole;
      const rows = queues[phase];
      const left = 8 + nth * half;
      const meaning: Meaning = phase === "throttle_delay" ? "delayed" : "stopped";
      // Of each so many requests one is recorded, so a count of all writes would be a guess.
      const many = every === 1 ? `${rows.length} ${words}` : `${words}, 1 in ${every} shown`;
      write(frame, rows.length === 0 ? none : many, left, 20, { soft: rows.length === 0, size: 13 });
      queue(frame, { journeys }, rows, { x: left + 6, y: 34, width: half - 16, height: 44 }, meaning);
      nth += 1;
    }
    return passing + queues.throttle_delay.length + queues.throttle_wait.length;
  }

  /** Writes that have just entered fall onto the surface. */
  function drawFalling(frame: Frame, layers: readonly Layer[]): number {
    const { time_ns, speed, context, paint } = frame;
    const open = layers.findLast(({ state }) => state === "open");
    const height_bytes = isPerGroup ? (open?.bytes ?? 0) : layers.reduce((sum, layer) => sum + layer.bytes, 0);
    const surface = yOf(Math.min(top, height_bytes));
    const span_ns = fall_s * speed * 1e9;
    const vessel = vessels[0]!;
    let many = 0;
    for (
      let nth = firstAfter(entering.length, (at) => journeys.lastOf(entering[at]!), time_ns - span_ns);
      nth < entering.length && many < 500;
      nth++
    ) {
      const row = entering[nth]!;
      const ended = journeys.lastOf(row);
      if (ended > time_ns) break;
      const share = (time_ns - ended) / span_ns;
      const x = vessel.x + 6 + ((row * 0.618034) % 1) * (vessel.width - 12);
      const y = 86 + (surface - 90) * share * share;
      context.fillStyle = paint(paints[(open?.group ?? 0) % paints.length]!);
      context.fillRect(x - 3, y - 3, 6, 6);
      frame.actor(row, x, y);
      many += 1;
    }
    return many;
  }

  /** Draw the writes of the syncing group to the devices, and their remaining work. */
  function drawDrain(frame: Frame): number {
    const { time_ns, speed, context, paint } = frame;
    const vessel = vessels.at(-1)!;
    const middle = vessel.x + vessel.width / 2;
    const span_ns = fall_s * speed * 1e9;
    let many = 0;
    context.fillStyle = paint("disk");
    for (const row of leaving) {
      const begun = journeys.begin_ns[row]!;
      if (begun > time_ns) break;
      const until = Math.max(journeys.lastOf(row), begun + span_ns);
      if (until <= time_ns || many > 300) continue;
      const share = Math.min(1, (time_ns - begun) / span_ns);
      const x = middle + (((row * 0.618034) % 1) - 0.5) * vessel.width * 0.5 * share;
      const y = vesselBottom + 6 + share * 26;
      context.fillRect(x - 2.5, y - 2.5, 5, 5);
      many += 1;
    }
    const rate = formatNumber(rateAt(result, time_ns / 1e9) / 2 ** 20);
    write(frame, `${rate} MiB/s to the devices`, middle, vesselBottom + 56, { align: "center" });
    return many;
  }

  const delays = during.map((interval) => ({
    share: interval.dirty_mean_bytes / Math.max(1, isPerGroup ? most : limit || most),
    mean: meanDelayOf(interval),
  }));
  const curveX = (curve: Box, share: number) => curve.x + Math.min(1, share) * curve.width;
  const floor_ns = 1e4;
  const curveY = (curve: Box, mean: number) => {
    const share = Math.log(Math.max(floor_ns, mean) / floor_ns) / Math.log(longestOfPair / floor_ns);
    return curve.y + curve.height * (1 - share);
  };

  function drawCurve(frame: Frame, curve: Box): void {
    const interval = intervalOf(during, frame.time_ns / 1e9, step_s);
    if (interval === undefined) return;
    const held = interval.delayed + interval.blocked;
    const isShut = held + interval.not_delayed === 0;
    const mean = isShut ? longest : meanDelayOf(interval);
    const x = curveX(curve, interval.dirty_mean_bytes / Math.max(1, isPerGroup ? most : limit || most));
    const y = curveY(curve, mean);
    disc(frame, x, y, 7, mean === 0 ? "memory" : isShut || interval.blocked > 0 ? "stopped" : "delayed");
    arc(frame, { x, y, radius: 7 }, "ink", 1.5);
    const words = isShut ? "no write enters" : mean === 0 ? "no delay" : formatNanos(mean);
    write(frame, words, x + (x > curve.x + curve.width * 0.7 ? -12 : 12), Math.max(curve.y + 12, y - 10), {
      align: x > curve.x + curve.width * 0.7 ? "right" : "left",
      bold: true,
    });
  }

  function backdrop(): SVGSVGElement {
    const root = picture(width, height);
    const names = isPerGroup ? ["open", "waiting", "syncing"] : [];
    vessels.forEach((vessel, nth) => {
      const { x, width: wide } = vessel;
      root.append(
        svg("path", {
          d: `M${x - 3} ${vesselTop - 14}V${vesselBottom + 3}H${x + wide + 3}V${vesselTop - 14}`,
          class: "outline",
        }),
      );
      if (names[nth] !== undefined) {
        root.append(textAt(x + wide / 2, vesselTop - 18, names[nth], "soft", "middle"));
      }
    });
    const last = vessels.at(-1)!;
    const right = last.x + last.width + 6;
    const lines = (throttle?.thresholds ?? [])
      .map(({ bytes, share = 1, label }) => ({ bytes: bytes ?? share * (limit || top), label }))
      .filter(({ bytes }) => bytes <= top * 1.001)
      .toSorted((one, other) => other.bytes - one.bytes);
    // From the top down, so that words of thresholds that lie close together make room for each other.
    let free = 0;
    for (const { bytes, label } of lines) {
      const y = yOf(bytes);
      const words = wrap(label, narrow ? 13 : 22);
      const first = Math.max(y + 4, free);
      free = first + words.length * 14;
      root.append(
        svg("line", {
          x1: vessels[0]!.x - 3,
          x2: right,
          y1: y,
          y2: y,
          stroke: "var(--ink)",
          "stroke-dasharray": "4 3",
        }),
        ...words.map((line, nth) => textAt(right + 4, first + nth * 14, line)),
      );
    }
    if (curve === undefined) return root;
    root.append(
      textAt(curve.x, curve.y - 14, "mean delay of delayed writes", "soft"),
      svg("path", { d: `M${curve.x} ${curve.y}V${curve.y + curve.height}H${curve.x + curve.width}`, class: "outline" }),
      textAt(
        curve.x + curve.width,
        curve.y + curve.height + 18,
        isPerGroup || limit === 0 ? `dirty, of ${formatBytes(most)}` : `dirty, of the limit of ${formatBytes(limit)}`,
        "soft",
        "end",
      ),
    );
    for (let mean = floor_ns; mean <= longestOfPair; mean *= 10) {
      const y = curveY(curve, mean);
      root.append(
        svg("line", { x1: curve.x, x2: curve.x + curve.width, y1: y, y2: y, class: "thin" }),
        textAt(curve.x - 4, y + 4, mean === floor_ns ? "0" : formatNanos(mean), "soft", "end"),
      );
    }
    for (const { share, mean } of thin(delays, 240)) {
      root.append(
        svg("circle", {
          cx: curveX(curve, share),
          cy: curveY(curve, mean),
          r: 2.2,
          fill: "var(--ink-soft)",
          opacity: 0.35,
        }),
      );
    }
    return root;
  }

  return {
    height,
    backdrop: backdrop(),
    places: {
      writers: { x: 0, y: 0, width: bucketWidth, height: vesselTop - 6 },
      memory: { x: 0, y: vesselTop - 8, width: bucketWidth, height: vesselBottom - vesselTop + 16 },
      disks: { x: 0, y: vesselBottom + 6, width: bucketWidth, height: height - vesselBottom - 6 },
      ...(curve === undefined
        ? {}
        : { curve: { x: curve.x - 52, y: curve.y - 30, width: curve.width + 62, height: curve.height + 74 } }),
    },
    key: [
      ["delayed", "delayed on purpose"],
      ["stopped", "stopped at the limit"],
      ["disk", "being written to the devices"],
    ],
    draw,
    describe: (time_ns) => `${formatNumber(time_ns / 1e9)} s: ${describeMoment(result, time_ns / 1e9)}`,
  };
}

/** The mean delay of the writes that were held up in an interval. */
function meanDelayOf({ delayed, blocked, delay_ns, blocked_ns }: Interval): number {
  const held = delayed + blocked;
  return held === 0 ? 0 : (delay_ns + blocked_ns) / held;
}

/** The ends of a run's scales: dirty data, and mean delays. */
function scalesOf(result: Result) {
  const { zfs } = result.scenario;
  const isPerGroup = zfs != null && throttleOf(zfs).isPerGroup;
  const end_s = clientsEndOf(result);
  const during = intervalsOf(result).filter(({ from_s }) => from_s < end_s);
  const limit = Math.max(0, ...during.map((interval) => interval.limit_bytes));
  const most = Math.max(1, ...during.map((interval) => interval.dirty_max_bytes));
  const largest = Math.max(1, ...groupsOf(result).map((group) => group.bytes));
  const top = isPerGroup ? Math.max(limit, largest) : Math.max(limit, limit === 0 || most > limit ? most : 0);
  return { limit, most, top, longest: Math.max(shortestLongest_ns, ...during.map(meanDelayOf)) };
}

function intervalOf(intervals: readonly Interval[], time_s: number, step_s: number): Interval | undefined {
  return intervals[Math.max(0, Math.min(intervals.length - 1, Math.floor(time_s / step_s)))];
}

function between(values: Float64Array, at: number): number {
  const low = Math.max(0, Math.min(values.length - 1, Math.floor(at)));
  const high = Math.min(values.length - 1, low + 1);
  return values[low]! + (values[high]! - values[low]!) * Math.max(0, Math.min(1, at - low));
}

function thin<T>(values: readonly T[], most: number): readonly T[] {
  const every = Math.ceil(values.length / most);
  return values.filter((_, nth) => nth % every === 0);
}

function wrap(text: string, most: number): string[] {
  const lines: string[] = [];
  for (const word of text.split(" ")) {
    const last = lines.at(-1);
    if (last !== undefined && last.length + word.length < most) lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(word);
  }
  return lines;
}
