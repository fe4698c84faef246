/**
 * I/O credits as a bucket: credits drip in at the base rate and leave with the I/Os that they pay for. While there are
 * credits, I/Os pass at the burst rate; when the bucket is empty, each waits for its own credit. Next to it is the rate
 * over the run, with a dot for the moment.
 *
 * The numbers of I/Os and credits come from the engine's table of credits. The number of waiting I/Os follows from
 * latency and rate by Little's law. A dot on the belt stands for many of the millions of I/Os, and dots pass at a
 * proportional rate.
 */
import { svg } from "../../base/elements.ts";
import { formatNumber, groupThousands } from "../../base/format.ts";
import { type CreditAccount, creditsOf } from "../../charts/rows/credits.ts";
import { curveOn, momentOf, sumsOf } from "../kit/curve.ts";
import { layOut, emptyScene, shape, write } from "../kit/drawing.ts";
import { box, textAt, picture } from "../kit/picture.ts";
import { layoutOf } from "../kit/layout.ts";
import { along } from "../kit/lane.ts";
import { layBricks } from "../kit/wall.ts";
import { type Built, endOfPair, type Frame, type SceneInput, type Scene } from "./scene.ts";
import { timeWords } from "./words.ts";

const bricksAcross = 14;
const bricksHigh = 12;
/** On the belt, in pixels. */
const spacing = 15;
/** Dots that pass in a second of the reader at the burst rate. */
const passing = 24;
const laneHeight = 44;
/** A run is over in so many seconds of the reader: what happens in it is seen before the opening stops. */
const playedFor_s = 7;

export const creditsScene: Scene = {
  name: "credits",
  title: "The credit balance",
  playsRun: true,
  isFlow: true,
  suits: (result) => result.scenario.devices.some((device) => device.lun?.credits != null),
  build,
};

function build(input: SceneInput): Built {
  const { result, focus, width } = input;
  const account = creditsOf(result, focus);
  const end_s = endOfPair(input);
  const { narrow, right, plot: plotAt } = layoutOf(width, 0.56);
  const belt = { left: 0, right, y: 292 };
  const vessel = {
    x: Math.round(belt.right * 0.28),
    width: Math.round(belt.right * 0.42),
    top: 64,
    bottom: 218,
  };
  const middle = vessel.x + vessel.width / 2;
  // The plot is below the picture on a narrow screen, whose room is for what moves.
  const height = narrow ? 398 : 386;
  const plot = plotAt({ left: 44, right: 10, y: 450, height: 140 }, { left: 62, right: 12, y: 64, height: 240 });
  if (account === undefined) {
    return emptyScene(width, "No volume of this run has credits.");
  }
  const { intervals, base, burst, capacity, cost } = account;
  const isUnused = base >= burst;
  const begun = sumsOf(intervals, ({ rate, from_s, to_s }) => rate * (to_s - from_s));
  const most = Math.max(burst, base, ...intervals.map(({ rate }) => rate));
  const curve = curveOn(plot, end_s, (rate) => rate / most);
  const levels = curveOn(plot, end_s, (credits) => credits / capacity);

  function at(time_s: number) {
    const moment = momentOf(intervals, time_s);
    const { nth, share } = moment;
    const { rate = 0, waiting = 0, credits = 0 } = intervals[nth] ?? {};
    const before = nth === 0 ? account!.initial : intervals[nth - 1]!.credits;
    const level = before + (credits - before) * share;
    return { rate, waiting, level, begun: begun(moment) };
  }

  function draw(frame: Frame): number {
    const { context, time_ns, paint, speed } = frame;
    const time_s = time_ns / 1e9;
    const { rate, waiting, level, begun: passed } = at(time_s);
    const each = roundDown((burst * speed) / passing);
    drawLevel(frame, level);

    // Credits that flow in and out, at distances that match their rate.
    const earned = (base * time_s) / each;
    const isFull = level > capacity * 0.9999;
    const surface = vessel.bottom - (level / capacity) * (vessel.bottom - vessel.top);
    context.fillStyle = paint("memory");
    const drip = (x: number, from: number, to: number, shift: number) => {
      for (const [, y] of along([x, from, x, to], shift, spacing)) context.fillRect(x, y, 7, 7);
    };
    drip(middle - 3.5, 12, (isFull ? vessel.top - 10 : surface) - 4, earned);
    if (isFull && !isUnused) {
      // The earned credits overflow.
      context.globalAlpha = 0.45;
      drip(vessel.x - 16, vessel.top - 10, vessel.bottom, earned);
      context.globalAlpha = 1;
    }
    if (!isUnused) drip(middle - 3.5, vessel.bottom + 8, belt.y - 4, (passed * cost) / each);
    if (narrow) write(frame, `${rateWords(base)} credits a second`, middle - 12, 22, { align: "right" });
    else write(frame, `${rateWords(base)} credits a second come in`, middle + 14, 22);
    write(frame, levelWords(level), vessel.x + vessel.width + 10, vessel.top + 14, { size: 13 });
    const given = topUpAt(account!, time_s, speed);
    if (given > 0) write(frame, `${manyWords(given)} as a top-up`, middle + 14, 40, { bold: true });

    drawWaiting(frame, waiting);
    // A dot is at the gate when its I/Os begin.
    const y = belt.y + laneHeight / 2;
    for (const [x] of along([middle + 12, y, belt.right - 6, y], passed / each, spacing)) {
      shape(frame, x, y, 4.2, "overhead", { isWrite: focus.op === "write" });
    }
    write(frame, `${rateWords(rate)} I/Os a second`, belt.right - 4, belt.y + laneHeight + 18, {
      align: "right",
      bold: true,
    });
    const unit =
      each === 1
        ? "A dot is an I/O, a square a credit"
        : `A dot is ${groupThousands(each)} I/Os, a square as many credits`;
    write(frame, unit, 4, belt.y + laneHeight + (narrow ? 42 : 38), { soft: true, size: 12 });

    curve.dot(frame, time_s, rate);
    return waiting;
  }

  function drawLevel(frame: Frame, level: number): void {
    const wall = { columns: bricksAcross, rows: bricksHigh };
    const place = { x: vessel.x, y: vessel.top, width: vessel.width, height: vessel.bottom - vessel.top };
    frame.context.fillStyle = frame.paint("memory");
    layBricks(frame, place, wall, 0, (level / capacity) * bricksAcross * bricksHigh);
  }

  /** Draw the I/Os in flight that have no credit, the longest waiting next to the gate. */
  function drawWaiting(frame: Frame, waiting: number): void {
    const room = middle - 24 - belt.left;
    const { rows, step } = layOut(waiting, room, laneHeight - 8);
    for (let nth = 0; nth < waiting; nth++) {
      const x = middle - 18 - Math.floor(nth / rows) * step;
      const y = belt.y + laneHeight / 2 + ((nth % rows) - (Math.min(rows, waiting) - 1) / 2) * step;
      shape(frame, x, y, Math.max(1.4, step * 0.42), "delayed", { isWrite: focus.op === "write" });
    }
    const words =
      waiting === 0 ? "none waits" : `${groupThousands(waiting)} wait for ${isUnused ? "their turn" : "a credit"}`;
    write(frame, words, 4, belt.y + laneHeight + 18, { soft: waiting === 0 });
  }

  function levelWords(level: number): string {
    if (isUnused) return narrow ? "not needed" : "not needed: earned as fast as spent";
    if (level < 1) return "empty";
    return `${manyWords(level)}${level > capacity * 0.9999 ? ", full" : ""}`;
  }

  function backdrop(): SVGSVGElement {
    const root = picture(width, height);
    const { x, top, bottom, width: wide } = vessel;
    root.append(
      svg("path", {
        d: `M${x - 3} ${top - 10}V${bottom + 3}H${middle - 9}V${belt.y}M${middle + 9} ${belt.y}V${bottom + 3}H${x + wide + 3}V${top - 10}`,
        class: "outline",
      }),
      box({ x: belt.left, y: belt.y, width: belt.right - belt.left, height: laneHeight }, "lane"),
      svg("line", { x1: middle, x2: middle, y1: belt.y + 4, y2: belt.y + laneHeight - 4, class: "lane-gate" }),
      textAt(belt.left + 4, belt.y - 8, "application", "lane-name"),
      textAt(belt.right - 4, belt.y - 8, "volume", "lane-name", "end"),
      curve.title("I/Os a second; the area is credits"),
      svg("path", { d: areaOf(), fill: "var(--memory)", opacity: 0.18 }),
      curve.line(curve.levels(intervals, ({ rate }) => rate)),
      ...curve.axes(rateWords(most), timeWords(end_s)),
    );
    if (base < most) {
      const y = curve.y(base);
      root.append(
        svg("line", { x1: plot.x, x2: plot.x + plot.width, y1: y, y2: y, class: "thin" }),
        textAt(plot.x - 4, y + 4, rateWords(base), "soft", "end"),
      );
    }
    return root;
  }

  function areaOf(): string {
    const points = intervals.map(
      ({ to_s, credits }) => `L${levels.x(Math.min(end_s, to_s)).toFixed(1)} ${levels.y(credits).toFixed(1)}`,
    );
    return `M${plot.x} ${levels.y(0)}L${plot.x} ${levels.y(account!.initial).toFixed(1)}${points.join("")}L${levels.x(end_s)} ${levels.y(0)}Z`;
  }

  return {
    height,
    backdrop: backdrop(),
    key: [
      ["memory", "credits"],
      ["delayed", isUnused ? "waits for its turn" : "waits for a credit"],
      ["overhead", "served by the volume"],
    ],
    pace_ns: (end_s / playedFor_s) * 1e9,
    draw,
    describe(time_ns) {
      const { rate, waiting, level } = at(time_ns / 1e9);
      return `${timeWords(time_ns / 1e9)}: ${level < 1 ? "no" : manyWords(level)} credits of ${manyWords(capacity)}, ${rateWords(rate)} I/Os a second, ${groupThousands(waiting)} waiting.`;
    },
  };
}

/** Return the top-ups within the last second of the reader. */
function topUpAt({ topUp }: CreditAccount, time_s: number, speed: number): number {
  if (topUp === undefined || time_s < topUp.first_s) return 0;
  return (time_s - topUp.first_s) % topUp.every_s < speed ? topUp.amount : 0;
}

/** The largest of 1, 2, 5, 10, 20, ... that is not above a number; at least 1. */
function roundDown(value: number): number {
  if (value < 2) return 1;
  const power = 10 ** Math.floor(Math.log10(value));
  return power * [5, 2, 1].find((digit) => digit * power <= value)!;
}

function rateWords(rate: number): string {
  return formatNumber(rate);
}

function manyWords(credits: number): string {
  return credits >= 1e6 ? `${formatNumber(credits / 1e6)} million` : groupThousands(Math.floor(credits));
}
