/**
 * A controller's battery and its effect. The charge falls, and below the threshold transactions complete at the disks
 * instead of in the controller's memory. Transactions pile up when the pipeline is too slow. Next to it are the
 * controller's log, line by line, and commits per second over the run, on a logarithmic scale, with a dot for the
 * moment.
 *
 * Charge, policy, rate and the number of waiting transactions come from the engine's tables. A moving square stands for
 * several transactions.
 */
import { svg } from "../../base/elements.ts";
import { formatClock, formatNumber } from "../../base/format.ts";
import { batteryOf } from "../../charts/rows/battery.ts";
import { curveOn, momentOf, sumsOf } from "../kit/curve.ts";
import { layoutOf } from "../kit/layout.ts";
import { lane } from "../kit/lane.ts";
import { emptyScene, layOut, line, write } from "../kit/drawing.ts";
import { box, picture, textAt, type Box } from "../kit/picture.ts";
import { type Built, endOfPair, type Frame, type SceneInput, type Scene } from "./scene.ts";

/** The scale of commits a second: decades from 1 to 10,000. */
const decades = 4;
/** Most squares of the crowd. */
const crowdOf = 260;
/** A run is over in so many seconds of the reader: what happens in it is seen before the opening stops. */
const playedFor_s = 4;

export const batteryScene: Scene = {
  name: "battery",
  title: "Battery and controller",
  playsRun: true,
  isFlow: true,
  suits: (result) => result.scenario.raid_cache != null,
  build,
};

function build(input: SceneInput): Built {
  const { result, width } = input;
  const run = batteryOf(result);
  const end_s = endOfPair(input);
  if (run === undefined) {
    return emptyScene(width, "No controller of this run has a cache.");
  }
  const { intervals, log, needed } = run;
  const { narrow, right, plot: plotAt } = layoutOf(width, 0.56);
  const cell = { x: 3, y: 40, width: narrow ? 96 : 116, height: 66 };
  const road_y = 292;
  const memory = { x: Math.round(right * 0.6), width: Math.round(right * 0.15), y: 246, height: 92 };
  const disks = { x: Math.round(right * 0.84), width: Math.round(right * 0.15), y: 246, height: 92 };
  const crowd = { x: 3, y: 190, width: memory.x - 40, height: 148 };
  const plot = plotAt({ left: 52, right: 10, y: 450, height: 140 }, { left: 70, right: 14, y: 64, height: 240 });
  // The plot is below the picture on a narrow screen, whose room is for what moves.
  const height = narrow ? 400 : 376;
  const most = Math.max(1, ...intervals.map(({ waiting }) => waiting));
  const each = Math.max(1, Math.ceil(most / crowdOf));
  // Commits so far.
  const done = sumsOf(intervals, ({ rate, from_s, to_s }) => rate * (to_s - from_s));
  const step_s = intervals.length === 0 ? end_s : intervals[0]!.to_s;

  function isWhole({ from_s, to_s }: { readonly from_s: number; readonly to_s: number }): boolean {
    return to_s - from_s > step_s / 2;
  }

  function at(time_s: number) {
    const moment = momentOf(intervals, time_s);
    const { nth, share } = moment;
    const of = intervals[nth]!;
    const next = intervals[nth + 1] ?? of;
    const before = intervals[nth - 1]?.waiting ?? 0;
    return {
      // A last interval that has hardly begun says nothing of a rate.
      rate: (isWhole(of) ? of : (intervals[nth - 1] ?? of)).rate,
      through: of.through,
      charge: of.charge + (next.charge - of.charge) * share,
      waiting: Math.round(before + (of.waiting - before) * share),
      done: done(moment),
    };
  }

  const curve = curveOn(plot, end_s, (rate) => Math.min(1, Math.log10(Math.max(1, rate)) / decades));

  function drawBattery(frame: Frame, charge: number): void {
    const { context, paint } = frame;
    const isWeak = needed !== undefined && charge < needed;
    context.fillStyle = paint(isWeak ? "broken" : "flash");
    context.fillRect(cell.x + 3, cell.y + 3, (cell.width - 6) * charge, cell.height - 6);
    if (needed === undefined) return;
    const x = cell.x + 3 + (cell.width - 6) * needed;
    line(frame, [x, cell.y - 5, x, cell.y + cell.height + 5], "ink", 2);
  }

  /** The last lines of the log that have been written. */
  function drawLog(frame: Frame, time_s: number): void {
    const x = cell.x + cell.width + (narrow ? 20 : 28);
    const written = log.filter(({ at_s }) => at_s <= time_s).slice(narrow ? -4 : -5);
    write(frame, "The controller's log", x, 22, { soft: true, size: 12 });
    written.forEach(({ at_s, words }, nth) => {
      const isLast = nth === written.length - 1;
      write(frame, `${formatClock(at_s)}  ${words}`, x, 46 + nth * 18, {
        size: narrow ? 11.5 : 13,
        bold: isLast,
        soft: !isLast,
      });
    });
    if (written.length === 0) write(frame, "no entry yet", x, 46, { soft: true, size: 13 });
  }

  function drawCrowd(frame: Frame, waiting: number): void {
    const { context, paint } = frame;
    const count = Math.ceil(waiting / each);
    const { rows, step } = layOut(crowdOf, crowd.width, crowd.height);
    context.fillStyle = paint("waiting");
    for (let nth = 0; nth < Math.min(count, crowdOf); nth++) {
      // The first stand nearest to the controller.
      const x = crowd.x + crowd.width - (Math.floor(nth / rows) + 1) * step;
      const y = crowd.y + (nth % rows) * step;
      context.fillRect(x + 1, y + 1, step - 2, step - 2);
    }
  }

  function draw(frame: Frame): number {
    const time_s = frame.time_ns / 1e9;
    const now = at(time_s);
    drawBattery(frame, now.charge);
    drawLog(frame, time_s);
    drawCrowd(frame, now.waiting);
    const meaning = now.through ? "disk" : "memory";
    const until = now.through ? disks.x : memory.x;
    if (now.rate > 0) {
      // Ten times the rate is one more step a frame: the road shows that it moves, the curve how fast.
      const pace = 4 + 6 * Math.log10(1 + now.rate);
      const from = crowd.x + crowd.width + 8;
      lane(frame, [from, road_y, until, road_y], (time_s / end_s) * playedFor_s * pace, meaning);
    }
    write(frame, needed === undefined ? "no battery" : `charge ${Math.round(now.charge * 100)}%`, cell.x, 22, {
      bold: true,
    });
    write(
      frame,
      now.through ? "write-through: done when the disks have it" : "write-back: done when it is in memory",
      3,
      148,
      {
        bold: true,
      },
    );
    write(frame, `${formatNumber(now.waiting)} waiting, ${formatNumber(now.rate)} commits a second`, 3, 170);

    curve.dot(frame, time_s, now.rate);
    return now.rate > 0 ? 1 : 0;
  }

  function backdrop(): SVGSVGElement {
    const root = picture(width, height);
    const named = (place: Box, words: string) => [
      box(place, "outline"),
      textAt(place.x + place.width / 2, place.y + place.height + 17, words, "soft", "middle"),
    ];
    root.append(
      svg("path", { d: outlineOf(cell), class: "outline" }),
      ...named(memory, "memory"),
      ...named(disks, "disks"),
      svg("path", { d: `M${memory.x + memory.width} ${road_y}H${disks.x}`, class: "outline" }),
      curve.title("commits a second, log scale"),
      ...Array.from({ length: decades + 1 }, (_, nth) => 10 ** nth).flatMap((rate) => [
        svg("path", { d: `M${plot.x} ${curve.y(rate)}H${plot.x + plot.width}`, class: "outline", opacity: 0.35 }),
        textAt(plot.x - 6, curve.y(rate) + 4, formatNumber(rate), "soft", "end"),
      ]),
      curve.line(curve.levels(intervals.filter(isWhole), ({ rate }) => rate)),
      curve.end(formatClock(end_s)),
    );
    return root;
  }

  return {
    height,
    backdrop: backdrop(),
    key: [
      ["flash", "charge"],
      ["broken", "charge below the threshold"],
      ["waiting", "transactions that wait"],
      ["memory", "done in memory"],
      ["disk", "done on the disks"],
    ],
    note: `The mark on the battery is the charge needed. A waiting square is ${each === 1 ? "a transaction" : `${formatNumber(each)} transactions`}; times are from the start of the run.`,
    pace_ns: (end_s / playedFor_s) * 1e9,
    draw,
    describe(time_ns) {
      const { rate, waiting, charge, through } = at(time_ns / 1e9);
      const battery = needed === undefined ? "no battery" : `charge ${Math.round(charge * 100)}%`;
      return `${formatClock(time_ns / 1e9)}: ${battery}, write-${through ? "through" : "back"}; ${formatNumber(rate)} commits a second, ${formatNumber(waiting)} waiting.`;
    },
  };
}

/** A cell with its pole. */
function outlineOf({ x, y, width, height }: Box): string {
  const pole = height / 3;
  return `M${x} ${y}h${width}v${pole}h7v${pole}h-7v${pole}h${-width}Z`;
}
