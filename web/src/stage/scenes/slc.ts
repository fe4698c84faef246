/**
 * A drive's cells. Those with one bit fill fast, from the left; those at full density fill from the right. Writes enter
 * the cache while it is below its limit, and go to full density beyond it. In pauses, the oldest data are folded from
 * the cache to full density. Next to it is the rate over the run, with a dot for the moment.
 *
 * A block of the picture is a group of cells that holds 4 GB at full density, and 4 GB divided by the bits at one bit
 * per cell. Written and folded bytes and their places come from the engine's table of the cache. A moving square stands
 * for many bytes.
 */
import { svg } from "../../base/elements.ts";
import { formatNumber } from "../../base/format.ts";
import { slcOf } from "../../charts/rows/slc.ts";
import { cachedWrites } from "../kit/cachedWrites.ts";
import { momentOf, sumsOf } from "../kit/curve.ts";
import { box, picture } from "../kit/picture.ts";
import { layoutOf } from "../kit/layout.ts";
import { emptyScene, line, write } from "../kit/drawing.ts";
import { lane } from "../kit/lane.ts";
import { paleBox } from "../kit/wall.ts";
import { type Built, endOfPair, type Frame, type SceneInput, type Scene } from "./scene.ts";
import { timeWords } from "./words.ts";

const rowsOfBlocks = 12;
/** GB of a block at full density, of a drive of about a terabyte. */
const blocks = 252;

export const slcScene: Scene = {
  name: "slc",
  title: "The cells of the drive",
  playsRun: true,
  isFlow: true,
  suits: (result) => result.scenario.devices.some((device) => device.lun?.slc != null),
  build,
};

function build(input: SceneInput): Built {
  const { result, width } = input;
  const cache = slcOf(result);
  const end_s = endOfPair(input);
  if (cache === undefined) {
    return emptyScene(width, "This run has no logical unit with an SLC cache.");
  }
  const { intervals, cells, bits, initial, initialLimit } = cache;
  const { narrow, right, plot: plotAt } = layoutOf(width, 0.58);
  const grid = { x: 2, y: 116, width: right - 4, height: 168 };
  const across = Math.ceil(blocks / rowsOfBlocks);
  const wide = grid.width / across;
  const tall = grid.height / rowsOfBlocks;
  // The plot is below the picture on a narrow screen, whose room is for what moves.
  const height = narrow ? 404 : 360;
  const plot = plotAt({ left: 46, right: 10, y: 450, height: 140 }, { left: 62, right: 12, y: 64, height: 230 });
  const writes = cachedWrites(intervals, plot, end_s);
  // In MB.
  const folded = sumsOf(intervals, (of) => of.folded * (of.to_s - of.from_s));
  const gb = cells / blocks;
  const gateX = Math.round(grid.x + grid.width * 0.18);
  const directX = Math.round(grid.x + grid.width * 0.82);

  function at(time_s: number) {
    const moment = momentOf(intervals, time_s);
    const { nth, share } = moment;
    const of = intervals[nth];
    if (of === undefined) {
      return { cached: 0, direct: 0, folding: 0, used: 0, limit: initialLimit, full: initial, written: 0, folded: 0 };
    }
    const before = intervals[nth - 1] ?? { used: 0, limit: initialLimit, full: initial };
    const between = (name: "used" | "limit" | "full") => before[name] + (of[name] - before[name]) * share;
    return {
      cached: of.cached,
      direct: of.direct,
      folding: of.folded,
      used: between("used"),
      limit: between("limit"),
      full: between("full"),
      written: writes.written(moment),
      folded: folded(moment),
    };
  }

  /** The place of a block, counted column by column from the left or from the right. */
  function blockAt(nth: number, fromRight: boolean) {
    const columnOf = Math.floor(nth / rowsOfBlocks);
    return {
      x: grid.x + (fromRight ? across - 1 - columnOf : columnOf) * wide,
      y: grid.y + (nth % rowsOfBlocks) * tall,
    };
  }

  function drawBlocks({ context }: Frame, count: number, fromRight: boolean): void {
    for (let nth = 0; nth < Math.min(count, across * rowsOfBlocks); nth++) {
      // The last one comes and goes bit by bit.
      context.globalAlpha = Math.min(1, count - nth);
      const { x, y } = blockAt(nth, fromRight);
      if (fromRight) context.fillRect(x + 0.75, y + 0.75, wide - 1.5, tall - 1.5);
      else paleBox({ context }, { x: x + 1.25, y: y + 1.25, width: wide - 2.5, height: tall - 2.5 });
    }
    context.globalAlpha = 1;
  }

  function drawLimit(frame: Frame, limit: number): void {
    const count = Math.min((limit * bits) / gb, across * rowsOfBlocks);
    const columns = Math.floor(count / rowsOfBlocks);
    const rest = (count - columns * rowsOfBlocks) * tall;
    const x = grid.x + columns * wide;
    const [top, middle, bottom] = [grid.y - 3, grid.y + rest, grid.y + grid.height + 3];
    line(frame, [x + wide, top, x + wide, middle, x, middle, x, bottom], "ink", 2);
  }

  function draw(frame: Frame): number {
    const { context, time_ns, paint, speed } = frame;
    const time_s = time_ns / 1e9;
    const now = at(time_s);
    const each = writes.perSquare(speed);
    context.fillStyle = paint("flash");
    drawBlocks(frame, now.full / gb, true);
    context.fillStyle = context.strokeStyle = paint("prefetched");
    drawBlocks(frame, (now.used * bits) / gb, false);
    drawLimit(frame, now.limit);

    const rate = writes.rateOf(now);
    const goesPast = writes.goesPast(now);
    if (rate > 0) {
      // From the host along the line to the gate, and down into the cells that take it.
      const bend = goesPast ? directX : gateX;
      lane(frame, [6, 40, bend, 40, bend, grid.y - 30], now.written / each, goesPast ? "disk" : "memory");
    }
    if (now.folding > 0) {
      const y = grid.y + grid.height + 16;
      lane(frame, [gateX, y, directX, y], (now.folded / each) * 4, "transfer");
      write(frame, `folds ${formatNumber(now.folding)} MB/s`, (gateX + directX) / 2, y + 24, { align: "center" });
    }
    write(frame, writes.words(now), 4, 22, { bold: rate > 0 });
    write(frame, `${formatNumber(now.used)} of ${formatNumber(now.limit)} GB in the cache`, 4, grid.y - 12, {
      size: 13,
    });
    write(frame, `${formatNumber(now.full)} GB at full density`, right - 4, grid.y - 12, { size: 13, align: "right" });
    const unit = `A block is ${formatNumber(gb)} GB at full density, or ${formatNumber(gb / bits)} GB at one bit per cell`;
    write(frame, unit, 4, grid.y + grid.height + (narrow ? 64 : 62), { soft: true, size: 12 });

    writes.dot(frame, time_s, rate);
    return rate > 0 || now.folding > 0 ? 1 : 0;
  }

  function backdrop(): SVGSVGElement {
    const root = picture(width, height);
    root.append(
      svg("path", { d: `M0 40H${directX}V${grid.y - 30}M${gateX} 40V${grid.y - 30}`, class: "outline" }),
      box(grid, "lane"),
      ...writes.backdrop(),
    );
    return root;
  }

  return {
    height,
    backdrop: backdrop(),
    key: [
      ["prefetched", "cells with one bit: the cache"],
      ["flash", "cells at full density"],
      ["memory", "written into the cache"],
      ["disk", "written past it"],
      ["transfer", "folded"],
    ],
    note: "The line is the cache's limit. It moves as the cells at full density fill up.",
    pace_ns: writes.pace_ns,
    draw,
    describe(time_ns) {
      const now = at(time_ns / 1e9);
      const { folding, used, limit, full } = now;
      const onlyFolds = writes.rateOf(now) === 0 && folding > 0;
      const does = onlyFolds ? `${formatNumber(folding)} MB/s are folded` : writes.sentence(now);
      return `${timeWords(time_ns / 1e9)}: ${does}; ${formatNumber(used)} of ${formatNumber(limit)} GB in the cache, ${formatNumber(full)} GB at full density.`;
    },
  };
}
