/**
 * Slots and fence: on the left dirty data, in the middle the requests that a scheduler may have in flight, on the right the rate at
 * which the devices write, as it came about. Below the rate, how long reads took at the same time.
 *
 * All of it is from the run's series: the mean of each interval, so a slot that is half used is half lit.
 */
import { svg } from "../../base/elements.ts";
import { formatBytes, formatNanos, formatNumber } from "../../base/format.ts";
import { column, type Result } from "../../engine/api.ts";
import { mbPerS, rateOf } from "../../charts/writeRate.ts";
import { clientsEndOf, describeMoment, groupsOf, intervalAt, intervalsOf } from "../../charts/rows/writePath.ts";
import { isNarrow } from "../kit/layout.ts";
import { lane } from "../kit/lane.ts";
import { line, write } from "../kit/drawing.ts";
import { picture, textAt } from "../kit/picture.ts";
import { type Built, type Frame, pairOf, type SceneInput, type Scene } from "./scene.ts";

/** So many seconds of the run are seen: three or four groups. */
const seen_s = 16;
/** In this time Play passes them. */
const playedIn_s = 5;
const fewestSlots = 10;

export const fenceScene: Scene = {
  name: "write-rate",
  title: "Slots and fence",
  playsRun: true,
  isFlow: true,
  suits: (result) => intervalsOf(result).length > 0,
  build,
  stops: ({ result }) => [
    0,
    ...groupsOf(result).flatMap(({ sync_started_s = 0 }) => (sync_started_s === 0 ? [] : [sync_started_s * 1e9])),
  ],
};

/**
 * How long reads took in each interval, ms: the mean of those that ended. Where none ended, the time since the last one, which the
 * next one has waited at least.
 */
function readsOf(result: Result): number[] {
  const [counts, means] = [column(result, "series.reads"), column(result, "series.read_latency_mean_ms")];
  const step_ms = (intervalsOf(result)[0]?.to_s ?? 0) * 1e3;
  const [first, last] = [counts.findIndex((count) => count > 0), counts.findLastIndex((count) => count > 0)];
  let silent_ms = 0;
  return Array.from(counts, (count, nth) => {
    silent_ms = count > 0 || nth < first || nth > last ? 0 : silent_ms + step_ms;
    return count > 0 ? means[nth]! : silent_ms;
  });
}

/** The scales of one run. */
function scalesOf(result: Result) {
  const end_s = clientsEndOf(result);
  const during = intervalsOf(result).filter(({ from_s }) => from_s < end_s);
  const most = (values: readonly number[]) => values.reduce((high, value) => Math.max(high, value), 1e-9);
  return {
    dirty: most(during.map(({ dirty_max_bytes }) => dirty_max_bytes)),
    slots: most(during.map(({ async_writes_mean }) => Math.ceil(async_writes_mean))),
    rate: most(during.map(mbPerS)),
    read_ms: most(readsOf(result)),
  };
}

function build(input: SceneInput): Built {
  const { result, width } = input;
  const intervals = intervalsOf(result);
  const step_s = intervals.length === 0 ? 1 : intervals[0]!.to_s;
  const reads_ms = readsOf(result);
  const ended = column(result, "series.reads");
  const { mean_mb_per_s: mean } = rateOf(result);
  const scales = pairOf(input).map(scalesOf);
  const top = (name: keyof ReturnType<typeof scalesOf>) => Math.max(...scales.map((scale) => scale[name]));
  const slots = Math.max(fewestSlots, top("slots"));
  const [mostDirty, mostRate, mostRead] = [top("dirty"), top("rate"), top("read_ms")];

  const narrow = isNarrow(width);
  const height = narrow ? 332 : 316;
  const tub = narrow ? { x: 8, y: 44, width: 84, height: 80 } : { x: 12, y: 62, width: 104, height: 204 };
  const slot = narrow
    ? { x: 150, y: 74, wide: Math.floor((width - 220) / slots), tall: 24, isAcross: true }
    : { x: 186, y: 62, wide: 44, tall: Math.floor(204 / slots), isAcross: false };
  const plot = narrow
    ? { x: 44, y: 172, width: width - 52, height: 66 }
    : { x: 316, y: 30, width: width - 324, height: 150 };
  const below = { ...plot, y: narrow ? 268 : 222, height: narrow ? 40 : 58 };
  const slotAt = (nth: number) =>
    slot.isAcross
      ? { x: slot.x + nth * slot.wide, y: slot.y }
      : { x: slot.x, y: slot.y + (slots - 1 - nth) * slot.tall };
  const entered = new Float64Array(intervals.length + 1);
  const written = new Float64Array(intervals.length + 1);
  intervals.forEach((interval, nth) => {
    entered[nth + 1] = entered[nth]! + interval.not_delayed + interval.delayed + interval.blocked;
    written[nth + 1] = written[nth]! + interval.written_bytes;
  });
  const at = (values: Float64Array, time_s: number) => {
    const place = Math.max(0, Math.min(intervals.length, time_s / step_s));
    const low = Math.floor(place);
    return values[low]! + ((values[low + 1] ?? values[low]!) - values[low]!) * (place - low);
  };
  /** A square in the lanes stands for as much as passes between two of them at the mean rate in an eighth of a second of the reader. */
  const perSquare = Math.max(1, (mean * 1e6 * seen_s) / playedIn_s / 8);
  const [writes = 0, bytes = 0] = [entered.at(-1), written.at(-1)];
  const meanBytes = Math.max(1, bytes / Math.max(1, writes));

  function draw(frame: Frame): number {
    const { context, paint } = frame;
    const time_s = frame.time_ns / 1e9;
    const now = intervalAt(result, time_s);
    if (now === undefined) return 0;
    // The tub.
    const level = Math.min(1, now.dirty_mean_bytes / mostDirty) * tub.height;
    context.fillStyle = paint("memory");
    context.fillRect(tub.x, tub.y + tub.height - level, tub.width, level);
    const middle = tub.x + tub.width / 2;
    lane(
      frame,
      [middle, 14, middle, tub.y + tub.height - level],
      (at(entered, time_s) * meanBytes) / perSquare,
      "memory",
    );
    write(frame, `${formatBytes(now.dirty_mean_bytes)} dirty`, tub.x, tub.y + tub.height + 18);
    // The slots: whole ones, and a last one in part.
    const lit = now.async_writes_mean;
    for (let nth = 0; nth < slots; nth++) {
      const share = Math.max(0, Math.min(1, lit - nth));
      if (share === 0) break;
      const { x, y } = slotAt(nth);
      context.globalAlpha = share;
      context.fillStyle = paint("disk");
      context.fillRect(x + 1.5, y + 1.5, slot.wide - 3, slot.tall - 3);
      context.globalAlpha = 1;
    }
    const words = `${Math.round(lit)} of ${slots} in use`;
    write(frame, words, slot.x, slot.isAcross ? slot.y + slot.tall + 18 : tub.y + tub.height + 18, { bold: lit > 0.5 });
    if (now.written_bytes > 0) {
      const y = slot.isAcross ? slot.y + slot.tall / 2 : tub.y + tub.height - 12;
      const moved = at(written, time_s) / perSquare;
      lane(frame, [tub.x + tub.width + 6, y, slot.x - 6, y], moved, "memory");
      const right = slot.isAcross ? slot.x + slots * slot.wide : slot.x + slot.wide;
      lane(frame, [right + 6, y, slot.isAcross ? width - 4 : plot.x - 40, y], moved, "disk");
    }
    drawHistory(frame, time_s);
    return Math.round(lit);
  }

  /** The rate and the reads of the last seconds, up to the present. */
  function drawHistory(frame: Frame, time_s: number): void {
    const { context, paint } = frame;
    const from_s = Math.max(0, time_s - seen_s);
    const x = (second: number) => plot.x + ((second - from_s) / seen_s) * plot.width;
    const first = Math.floor(from_s / step_s);
    const last = Math.min(intervals.length - 1, Math.floor(time_s / step_s));
    for (let nth = first; nth <= last; nth++) {
      const interval = intervals[nth]!;
      const left = Math.max(plot.x, x(interval.from_s));
      const wide = Math.min(x(interval.to_s), x(time_s)) - left;
      if (wide <= 0) continue;
      const rate = (mbPerS(interval) / mostRate) * plot.height;
      context.fillStyle = paint("disk");
      if (rate > 0) context.fillRect(left, plot.y + plot.height - rate, wide, rate);
      const read = ((reads_ms[nth] ?? 0) / mostRead) * below.height;
      context.fillStyle = paint(ended[nth] === 0 ? "stopped" : "waiting");
      context.fillRect(left, below.y + below.height - read, wide, read);
    }
    line(frame, [x(time_s), plot.y - 4, x(time_s), below.y + below.height], "ink", 1.5);
    const read_ms = reads_ms[last] ?? 0;
    write(frame, `${formatNumber(mbPerS(intervals[last]!))} MB/s`, plot.x + plot.width, plot.y - 10, {
      align: "right",
      bold: true,
    });
    const isSilent = read_ms > 0 && ended[last] === 0;
    const words = isSilent
      ? `no read for ${formatNanos(read_ms * 1e6)}`
      : read_ms === 0
        ? ""
        : formatNanos(read_ms * 1e6);
    write(frame, words, below.x + below.width, below.y - 8, { align: "right", bold: true });
  }

  function backdrop(): SVGSVGElement {
    const root = picture(width, height);
    root.append(
      svg("path", {
        d: `M${tub.x - 3} ${tub.y - 8}V${tub.y + tub.height + 3}H${tub.x + tub.width + 3}V${tub.y - 8}`,
        class: "outline",
      }),
      textAt(tub.x + tub.width / 2 + 12, 22, "writers", "soft"),
      textAt(slot.x, slot.y - 10, narrow ? "writes in flight" : "in flight", "soft"),
    );
    for (let nth = 0; nth < slots; nth++) {
      const { x, y } = slotAt(nth);
      root.append(svg("rect", { x, y, width: slot.wide, height: slot.tall, class: "lane-cell" }));
    }
    const meanY = plot.y + plot.height * (1 - mean / mostRate);
    root.append(
      textAt(plot.x, plot.y - 10, "written to the devices", "soft"),
      textAt(below.x, below.y - 8, "how long a read takes", "soft"),
      ...[plot, below].map((axes) =>
        svg("path", {
          d: `M${axes.x} ${axes.y}V${axes.y + axes.height}H${axes.x + axes.width}`,
          class: "outline",
        }),
      ),
      textAt(plot.x - 4, plot.y + 10, formatNumber(mostRate), undefined, "end"),
      textAt(plot.x - 4, plot.y + plot.height, "0", undefined, "end"),
      textAt(below.x - 4, below.y + 10, formatNanos(mostRead * 1e6).replace(/\s.*/, ""), undefined, "end"),
      textAt(below.x - 4, below.y + below.height, "0", undefined, "end"),
      svg("line", {
        x1: plot.x,
        x2: plot.x + plot.width,
        y1: meanY,
        y2: meanY,
        stroke: "var(--ink)",
        "stroke-dasharray": "4 3",
      }),
      textAt(below.x + below.width, below.y + below.height + 18, `the last ${seen_s} s`, "soft", "end"),
    );
    return root;
  }

  const tubEnd = tub.y + tub.height + 26;
  return {
    height,
    backdrop: backdrop(),
    places: {
      memory: { x: 0, y: 0, width: tub.x + tub.width + 12, height: tubEnd },
      slots: slot.isAcross
        ? { x: slot.x - 10, y: slot.y - 28, width: width - slot.x + 6, height: slot.tall + 54 }
        : { x: slot.x - 16, y: slot.y - 26, width: 130, height: tubEnd - slot.y + 26 },
      fence: { x: plot.x - 38, y: plot.y - 26, width: plot.width + 44, height: plot.height + 30 },
      reads: { x: below.x - 38, y: below.y - 24, width: below.width + 44, height: below.height + 48 },
    },
    pace_ns: (seen_s / playedIn_s) * 1e9,
    key: [
      ["memory", "dirty data"],
      ["disk", "writes on the devices"],
      ["waiting", "reads, mean of each interval"],
      ["stopped", "no read ends"],
    ],
    note: "The dashed line is the mean rate: what the application writes.",
    draw,
    describe: (time_ns) => `${formatNumber(time_ns / 1e9)} s: ${describeMoment(result, time_ns / 1e9)}`,
  };
}
