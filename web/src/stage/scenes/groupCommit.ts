/**
 * Transactions at the logs of a database. Each log has a queue and a window. Transactions in the window are in the
 * current flush, which fills a bar; those in the queue wait for the next one. Below are the previous flushes, each as
 * high as the number of transactions that shared it. Time passes to the left, and the present is the right edge.
 *
 * Waits and flushes are the stays of the transactions. A square that was at the log before, in an earlier stage, has
 * another colour.
 */
import { svg } from "../../base/elements.ts";
import { formatNanos, groupThousands } from "../../base/format.ts";
import type { Meaning } from "../../base/colours.ts";
import { commitsOf, type Flush, type Visit } from "../../charts/rows/commit.ts";
import { firstFrom } from "../kit/lookup.ts";
import { isNarrow } from "../kit/layout.ts";
import { box, textAt, picture } from "../kit/picture.ts";
import { Glide, emptyScene, layOut, request, write } from "../kit/drawing.ts";
import type { Built, Frame, SceneInput, Scene } from "./scene.ts";

/** So many flushes of the slower log pass in a second, and so many seconds are shown of what was. */
const flushesASecond = 8;
const historySeconds = 5;
const queueHeight = 64;
const historyHeight = 34;
const laneHeight = 22 + queueHeight + historyHeight + 24;
const top = 34;

export const groupCommitScene: Scene = {
  name: "group-commit",
  title: "Transactions at the logs",
  playsRun: false,
  suits: (result) => result.scenario.commit != null,
  build,
};

interface Placed {
  readonly row: number;
  readonly visit: Visit;
}

function build(input: SceneInput): Built {
  const { journeys, result, width } = input;
  const commits = commitsOf(result, journeys);
  if (commits === undefined) {
    return emptyScene(width, "This run has no database that commits.");
  }
  const { logs, visits, flushes, largest, stagesOf } = commits;
  const pace_ns = flushesASecond * Math.max(1e3, ...flushes.map(medianOf));
  const history_ns = historySeconds * pace_ns;
  const narrow = isNarrow(width);
  const flushWidth = narrow ? 112 : 210;
  const flushLeft = width - flushWidth - 4;
  const height = top + logs.length * laneHeight;
  const glide = new Glide(journeys.count);
  const ends = visits.flatMap((of, row) => (of.length === 0 ? [] : [journeys.lastOf(row)])).toSorted((a, b) => a - b);
  const topOf = (log: number) => top + log * laneHeight;

  /** Where all transactions are at a moment: at each log those that wait and those in its flush, in order of arrival. */
  function at(time_ns: number) {
    const waiting = logs.map(() => [] as Placed[]);
    const flushing = logs.map(() => [] as Placed[]);
    const working: number[] = [];
    journeys.each(time_ns, (row) => {
      const of = visits[row]!;
      if (of.length === 0) return;
      const visit = of.find(({ came_ns, to_ns }) => came_ns <= time_ns && time_ns < to_ns);
      if (visit === undefined) working.push(row);
      else (visit.from_ns <= time_ns ? flushing : waiting)[visit.log]!.push({ row, visit });
    });
    for (const list of [...waiting, ...flushing]) list.sort((a, b) => a.visit.came_ns - b.visit.came_ns);
    const committed = firstFrom(ends.length, (nth) => ends[nth]!, time_ns + 1) * journeys.every;
    return { waiting, flushing, working, committed };
  }

  /** The colour of a transaction at a log: whether it is there for the first time. */
  function meaningAt({ log, stage }: Visit): Meaning {
    return stagesOf[log]! > 1 && stage > 0 ? "transfer" : "memory";
  }

  function draw(frame: Frame): number {
    const { time_ns } = frame;
    const { waiting, flushing, working, committed } = at(time_ns);
    write(frame, `${working.length * journeys.every} at work`, 4, 16, { soft: working.length === 0 });
    write(frame, `${groupThousands(committed)} committed`, width - 4, 16, { align: "right", bold: true });
    const room = (narrow ? width * 0.55 : width * 0.7) - 92;
    const step = Math.min(7, room / Math.max(1, working.length));
    working.forEach((row, nth) => {
      const at = { x: 92 + nth * step, y: 12 };
      request(frame, { journeys, glide }, row, at, Math.max(1.4, step * 0.42), "processor");
    });
    let actors = working.length;
    logs.forEach((_, log) => {
      actors += drawLog(frame, log, waiting[log]!, flushing[log]!);
    });
    return actors;
  }

  function drawLog(frame: Frame, log: number, waiting: readonly Placed[], flushing: readonly Placed[]): number {
    const y = topOf(log);
    const queueTop = y + 22;
    const count = (list: readonly Placed[]) => list.length * journeys.every;
    const words = narrow ? `${count(waiting)} wait` : `${count(waiting)} wait for the next flush`;
    write(frame, words, flushLeft - 8, y + 14, { align: "right", soft: waiting.length === 0 });
    write(frame, flushing.length === 0 ? "free" : `a flush for ${count(flushing)}`, flushLeft, y + 14, {
      soft: flushing.length === 0,
      bold: flushing.length > 0,
    });
    // The first of the queue is in front of the window.
    const queue = layOut(waiting.length, flushLeft - 24, queueHeight - 8);
    waiting.forEach((placed, nth) => {
      const x = flushLeft - 14 - Math.floor(nth / queue.rows) * queue.step;
      place(frame, placed, x, queueTop + 8 + (nth % queue.rows) * queue.step, queue.step);
    });
    const inside = layOut(flushing.length, flushWidth - 20, queueHeight - 16);
    flushing.forEach((placed, nth) => {
      const x = flushLeft + 12 + Math.floor(nth / inside.rows) * inside.step;
      place(frame, placed, x, queueTop + 9 + (nth % inside.rows) * inside.step, inside.step);
    });
    const first = flushing[0]?.visit;
    if (first !== undefined) {
      const share = (frame.time_ns - first.from_ns) / Math.max(1, first.to_ns - first.from_ns);
      frame.context.fillStyle = frame.paint("flash");
      frame.context.fillRect(flushLeft, queueTop + queueHeight - 4, flushWidth * Math.min(1, share), 4);
    }
    drawHistory(frame, log, queueTop + queueHeight + 4);
    return waiting.length + flushing.length;
  }

  function place(frame: Frame, { row, visit }: Placed, x: number, y: number, step: number): void {
    request(frame, { journeys, glide }, row, { x, y }, Math.max(1.4, step * 0.42), meaningAt(visit));
  }

  /** The flushes up to the present. */
  function drawHistory({ context, paint, time_ns }: Frame, log: number, y: number): void {
    const of = flushes[log]!;
    const xOf = (ns: number) => width - 4 - ((time_ns - ns) / history_ns) * (width - 8);
    context.fillStyle = paint("flash");
    const first = Math.max(0, firstFrom(of.length, (nth) => of[nth]!.from_ns, time_ns - history_ns) - 1);
    for (let nth = first; nth < of.length && of[nth]!.from_ns <= time_ns; nth++) {
      const { from_ns, to_ns, count } = of[nth]!;
      const x = Math.max(4, xOf(from_ns));
      const tall = Math.max(2, (historyHeight * count) / largest);
      const right = xOf(Math.min(to_ns, time_ns));
      if (right > x) context.fillRect(x, y + historyHeight - tall, Math.max(0.8, right - x - 0.8), tall);
    }
  }

  function backdrop(): SVGSVGElement {
    const root = picture(width, height);
    logs.forEach((name, log) => {
      const y = topOf(log);
      const historyTop = y + 26 + queueHeight;
      root.append(
        textAt(4, y + 14, narrow ? name : `${name} log`),
        box({ x: 4, y: y + 22, width: flushLeft - 10, height: queueHeight }, "lane"),
        svg("rect", {
          x: flushLeft,
          y: y + 22,
          width: flushWidth,
          height: queueHeight,
          class: "outline",
          fill: "none",
        }),
        svg("line", {
          x1: 4,
          x2: width - 4,
          y1: historyTop + historyHeight,
          y2: historyTop + historyHeight,
          class: "lane-gate",
        }),
      );
    });
    return root;
  }

  const hasSecond = stagesOf.some((count) => count > 1);
  return {
    height,
    backdrop: backdrop(),
    key: [
      ["processor", "at work"],
      ["memory", "a transaction at a log"],
      ...(hasSecond ? ([["transfer", "at the log again, to commit"]] as const) : []),
      ["flash", "a flush"],
    ],
    note: `Under each log are its flushes of the last ${formatNanos(history_ns)}. Their height is the number of transactions that shared one; the highest is ${groupThousands(largest)}.`,
    pace_ns,
    draw,
    describe(time_ns) {
      const { waiting, flushing, committed } = at(time_ns);
      const said = logs.map((name, log) => {
        const [wait, flush] = [waiting[log]!.length * journeys.every, flushing[log]!.length * journeys.every];
        return `At the ${name} log ${groupThousands(wait)} wait, and ${flush === 0 ? "it is free" : `a flush is for ${groupThousands(flush)}`}.`;
      });
      return `${said.join(" ")} ${groupThousands(committed)} have committed.`;
    },
  };
}

/** How long the flushes of a log take, in the middle; 0 without any. */
function medianOf(flushes: readonly Flush[]): number {
  const lengths = flushes.map(({ from_ns, to_ns }) => to_ns - from_ns).toSorted((a, b) => a - b);
  return lengths[lengths.length >> 1] ?? 0;
}
