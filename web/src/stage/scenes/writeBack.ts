/**
 * Memory between writers and a disk. Dirty pages pile up as bricks, under the background threshold and the limit;
 * write-back leaves on the right. Below is the journal: a commit, with the write of the log that waits for it. Next to
 * it are the bytes not yet on the disk over the run, with a dot for the moment.
 *
 * Dirty, in-flight and written bytes come from the engine's table of the page cache, commits from its table of the
 * journal, and the log's writes from its log of operations. A moving square stands for many bytes.
 */
import { svg } from "../../base/elements.ts";
import { formatNumber } from "../../base/format.ts";
import { pageCacheOf, waitsOf } from "../../charts/rows/pageCache.ts";
import { curveOn, momentOf, sumsOf } from "../kit/curve.ts";
import { emptyScene, shape, write } from "../kit/drawing.ts";
import { box, textAt, picture } from "../kit/picture.ts";
import { layoutOf } from "../kit/layout.ts";
import { lane } from "../kit/lane.ts";
import { layBricks } from "../kit/wall.ts";
import { type Built, endOfPair, type Frame, type SceneInput, type Scene } from "./scene.ts";

const rowsOfBricks = 16;
const bricks = 320;
/** Squares that pass in a second of the reader at the highest rate. */
const passing = 20;
const playedFor_s = 6;

export const writeBackScene: Scene = {
  name: "write-back",
  title: "Memory, journal and disk",
  playsRun: true,
  isFlow: true,
  suits: (result) => pageCacheOf(result) !== undefined,
  build,
};

function build(input: SceneInput): Built {
  const { result, width, focus } = input;
  const cache = pageCacheOf(result);
  if (cache === undefined) {
    return emptyScene(width, "This run has no page cache.");
  }
  const { intervals, commits, background, limit, most } = cache;
  const waits = waitsOf(result, focus.job);
  const end_s = endOfPair(input);
  const { narrow, right, plot: plotAt } = layoutOf(width, 0.58);
  const tank = { x: 2, y: 40, width: right - 92, height: 190 };
  const disk = { x: right - 58, y: tank.y + 50, width: 54, height: 90 };
  const journal = { x: 2, y: tank.y + tank.height + 54, width: right - 6, height: 26 };
  // The plot is below the picture on a narrow screen, whose room is for what moves.
  const height = narrow ? 400 : 380;
  const plot = plotAt({ left: 62, right: 10, y: 450, height: 150 }, { left: 76, right: 14, y: 40, height: 250 });
  const wall = { columns: bricks / rowsOfBricks, rows: rowsOfBricks, gap: 0.75 };
  // The tank holds a little more than there ever was.
  const room = Math.max(1, most * 1.15);
  const mb = room / bricks;
  const fastest = Math.max(1, ...intervals.map(({ written }) => written));
  const written = sumsOf(intervals, (of) => of.written * (of.to_s - of.from_s));

  function at(time_s: number) {
    const moment = momentOf(intervals, time_s);
    const { nth, share } = moment;
    const of = intervals[nth]!;
    const before = intervals[nth - 1] ?? { dirty: 0, underWay: 0 };
    const between = (name: "dirty" | "underWay") => before[name] + (of[name] - before[name]) * share;
    return {
      dirty: between("dirty"),
      underWay: between("underWay"),
      rate: of.written,
      written: written(moment),
      commit: commits.find(({ from_s, to_s }) => from_s <= time_s && time_s < to_s),
      wait: waits.find(({ from_s, to_s }) => from_s <= time_s && time_s < to_s),
    };
  }

  const curve = curveOn(plot, end_s, (amount) => amount / room);
  const levelOf = (amount: number) => tank.y + tank.height * (1 - amount / room);

  function draw(frame: Frame): number {
    const { context, time_ns, paint, speed } = frame;
    const time_s = time_ns / 1e9;
    const now = at(time_s);
    const unwritten = now.dirty + now.underWay;
    context.fillStyle = paint("transfer");
    layBricks(frame, tank, wall, 0, now.underWay / mb);
    context.fillStyle = paint("memory");
    layBricks(frame, tank, wall, now.underWay / mb, unwritten / mb);
    write(frame, `${formatNumber(unwritten)} MB not on the disk`, tank.x, tank.y - 12, { bold: unwritten > 0 });

    if (now.rate > 0) {
      const y = disk.y + disk.height / 2;
      const shift = now.written / ((fastest * speed) / passing);
      lane(frame, [tank.x + tank.width + 4, y, disk.x - 4, y], shift, "transfer");
    }
    write(frame, now.rate > 0 ? `${formatNumber(now.rate)} MB/s` : "idle", disk.x + disk.width, disk.y - 10, {
      align: "right",
      size: 12,
    });

    const { commit, wait } = now;
    if (commit !== undefined) {
      const share = (time_s - commit.from_s) / Math.max(1e-9, commit.to_s - commit.from_s);
      context.fillStyle = paint("disk");
      context.fillRect(journal.x + 1, journal.y + 1, (journal.width - 2) * share, journal.height - 2);
    }
    write(
      frame,
      commit === undefined ? "no commit" : `a commit writes ${formatNumber(commit.data)} MB of data first`,
      journal.x + 62,
      journal.y - 10,
      { size: 12, bold: commit !== undefined },
    );
    if (wait !== undefined) {
      const y = journal.y + journal.height + 20;
      shape(frame, journal.x + 10, y, 6, "stopped", { isWrite: true });
      write(frame, `a write of ${focus.job} waits for ${formatNumber(time_s - wait.from_s)} s`, journal.x + 24, y + 4, {
        bold: true,
      });
    }

    curve.dot(frame, time_s, unwritten);
    return now.rate > 0 || wait !== undefined || unwritten > 0 ? 1 : 0;
  }

  /** A threshold, where it is low enough to be seen. */
  function threshold(amount: number, words: string): SVGElement[] {
    if (amount > room) return [];
    const y = levelOf(amount);
    return [
      svg("path", { d: `M${tank.x} ${y}H${tank.x + tank.width}`, stroke: "var(--ink)", "stroke-dasharray": "5 3" }),
      textAt(tank.x + tank.width - 4, y - 4, words, "soft", "end"),
    ];
  }

  function backdrop(): SVGSVGElement {
    const root = picture(width, height);
    const line = intervals.map((of, nth) => {
      const amount = curve.y(of.dirty + of.underWay).toFixed(1);
      return `${nth === 0 ? `M${plot.x} ${curve.y(0).toFixed(1)}L` : "L"}${curve.x(Math.min(end_s, of.to_s)).toFixed(1)} ${amount}`;
    });
    root.append(
      box(tank, "lane"),
      ...threshold(background, "background"),
      ...threshold(limit, "limit"),
      box(disk, "lane"),
      textAt(disk.x + disk.width / 2, disk.y + disk.height / 2 + 4, "disk", undefined, "middle"),
      textAt(journal.x, journal.y - 10, "Journal", "soft"),
      box(journal, "lane"),
      textAt(
        tank.x,
        tank.y + tank.height + 18,
        `A brick is ${formatNumber(mb)} MB${background > room ? "; the thresholds are higher than this picture" : ""}`,
        "soft",
      ),
      curve.title("MB not on the disk"),
      curve.line(line.join("")),
      ...curve.axes(formatNumber(room), `${formatNumber(end_s)} s`),
    );
    return root;
  }

  return {
    height,
    backdrop: backdrop(),
    key: [
      ["memory", "dirty"],
      ["transfer", "being written to the disk"],
      ["disk", "progress of a commit"],
      ["stopped", "a write that waits"],
    ],
    pace_ns: (end_s / playedFor_s) * 1e9,
    draw,
    describe(time_ns) {
      const time_s = time_ns / 1e9;
      const { dirty, underWay, rate, commit, wait } = at(time_s);
      const does = rate > 0 ? `the disk takes ${formatNumber(rate)} MB/s` : "the disk is idle";
      const commits_ =
        commit === undefined ? "no commit" : `a commit writes ${formatNumber(commit.data)} MB of data first`;
      const waits_ =
        wait === undefined
          ? ""
          : `, and a write of ${focus.job} has waited for ${formatNumber(time_s - wait.from_s)} s`;
      return `${formatNumber(time_s)} s: ${formatNumber(dirty + underWay)} MB are not on the disk; ${does}; ${commits_}${waits_}.`;
    },
  };
}
