/**
 * The pages of a file as they enter memory: pages that were requested, and pages that were read ahead but not
 * requested. A square is 64 KiB. The picture shows four stretches of the file, as much of each as fits. Above them is
 * one guess at a time: the cached pages just before the missing one, the requested pages, and the pages read. Next to
 * it are the bytes requested and read for the whole file, with dots for the moment.
 *
 * Fetches come from the engine's table of decisions, reads from the log of operations.
 */
import { type Meaning, stroke } from "../../base/colours.ts";
import { svg } from "../../base/elements.ts";
import { formatNumber } from "../../base/format.ts";
import { type Change, filePagesOf, pageBytes } from "../../charts/rows/filePages.ts";
import { curveOn } from "../kit/curve.ts";
import { firstAfter } from "../kit/lookup.ts";
import { box, textAt, picture } from "../kit/picture.ts";
import { layoutOf } from "../kit/layout.ts";
import { paleBox } from "../kit/wall.ts";
import { emptyScene, line, shape, write } from "../kit/drawing.ts";
import { type Built, endOfPair, type Frame, type SceneInput, type Scene } from "./scene.ts";

const squarePages = 16;
const stretches = 4;
/** A guess stays to be read for so long, in seconds of the reader. */
const shownFor_s = 1.2;
/** A run is over in so many seconds of the reader. */
const playedFor_s = 5;
/** Pages on either side of the missing one in the picture of a guess. */
const before = 32;
const after = 96;
const points = 200;

const absent = 0;
const ahead = 1;
const asked = 2;

export const filePagesScene: Scene = {
  name: "file-pages",
  title: "The pages of the file",
  playsRun: true,
  isFlow: true,
  suits: (result) => result.scenario.page_cache?.read_ahead != null,
  build,
};

function build(input: SceneInput): Built {
  const { result, width } = input;
  const file = filePagesOf(result);
  if (file === undefined) {
    return emptyScene(width, "This run has no page cache for reads.");
  }
  const { count, guesses, changes } = file;
  const device: Meaning = result.scenario.devices.some(({ hdd }) => hdd != null) ? "disk" : "flash";
  const end_ns = Math.max(1, endOfPair(input) * 1e9);
  const { narrow, right: left, plot: plotAt } = layoutOf(width, 0.62);
  const size = narrow ? 11 : 12;
  const columns = Math.max(8, Math.floor((left - 2) / size));
  const rowsOfStretch = Math.max(1, Math.min(narrow ? 3 : 4, Math.ceil(count / squarePages / stretches / columns)));
  const squares = Math.min(columns * rowsOfStretch, Math.ceil(count / squarePages / stretches));
  const shown = squares * squarePages;
  const stretchTall = rowsOfStretch * size + 18;
  const grid = { x: 1, y: 132 };
  const gridTall = stretches * stretchTall;
  const plot = plotAt(
    { left: 40, right: 16, y: grid.y + gridTall + 90, height: 130 },
    { left: 58, right: 12, y: 60, height: grid.y + gridTall - 100 },
  );
  // The plot is below the picture on a narrow screen, whose room is for what moves.
  const height = grid.y + gridTall + 28;
  const starts = Array.from(
    { length: stretches },
    (_, nth) => Math.round((count * nth) / stretches / squarePages) * squarePages,
  );
  const sums = sumsOf(changes, count, end_ns);
  const most = Math.max(1, sums.read.at(-1)!);
  const contexts = guesses.filter(({ why, fetched }) => why === "context" && fetched > 0);

  // State of the shown pages, as of the next change. If time goes back, it is computed again from the start.
  let pages = new Uint8Array(count);
  let next = 0;
  let drawn_ns = -1;
  function follow(time_ns: number): void {
    if (time_ns < drawn_ns) [pages, next] = [new Uint8Array(count), 0];
    drawn_ns = time_ns;
    for (; next < changes.length && changes[next]!.time_ns <= time_ns; next++) change(pages, changes[next]!);
  }

  const mib = (of: number) => (of * pageBytes) / 2 ** 20;
  const curve = curveOn(plot, end_ns / 1e9, (pages) => pages / most);

  function at(time_ns: number) {
    const place = Math.max(0, Math.min(points, (time_ns / end_ns) * points));
    const nth = Math.min(points - 1, Math.floor(place));
    const between = (of: Float64Array) => of[nth]! + (of[nth + 1]! - of[nth]!) * (place - nth);
    return { asked: between(sums.asked), read: between(sums.read), reads: Math.round(between(sums.reads)) };
  }

  function drawSquares({ context, paint }: Frame): number {
    let seen = 0;
    context.strokeStyle = paint("prefetched");
    starts.forEach((start, stretch) => {
      const top = grid.y + stretch * stretchTall;
      for (let square = 0; square < squares; square++) {
        const first = start + square * squarePages;
        let [ofAsked, ofAhead] = [0, 0];
        for (let page = first; page < Math.min(count, first + squarePages); page++) {
          if (pages[page] === asked) ofAsked++;
          else if (pages[page] === ahead) ofAhead++;
        }
        if (ofAsked + ofAhead === 0) continue;
        seen++;
        const x = grid.x + (square % columns) * size;
        const y = top + Math.floor(square / columns) * size;
        const room = size - 2;
        const wide = (room * ofAsked) / squarePages;
        if (ofAsked > 0) {
          context.fillStyle = paint("memory");
          context.fillRect(x + 1, y + 1, wide, room);
          context.fillStyle = paint("prefetched");
        }
        const width = (room * ofAhead) / squarePages - 1;
        if (ofAhead > 0) paleBox({ context }, { x: x + 1.5 + wide, y: y + 1.5, width, height: room - 1 });
      }
    });
    return seen;
  }

  function drawGuess(frame: Frame, time_ns: number): void {
    const { context, paint, speed } = frame;
    const hold_ns = shownFor_s * speed * 1e9;
    const until = Math.max(hold_ns, Math.ceil(time_ns / hold_ns) * hold_ns);
    const nth = firstAfter(contexts.length, (row) => contexts[row]!.time_ns, Math.min(time_ns, until - hold_ns)) - 1;
    const guess =
      contexts[nth] ?? (contexts[0] !== undefined && contexts[0].time_ns <= time_ns ? contexts[0] : undefined);
    const y = 58;
    const tall = 22;
    const unit = (left - 4) / (before + after);
    const xOfPage = (page: number) => grid.x + (page + before) * unit;
    const fillPages = (from: number, to: number, meaning: Meaning) => {
      context.fillStyle = paint(meaning);
      for (let page = from; page < to; page++) {
        context.fillRect(xOfPage(page) + 0.5, y, Math.max(1, unit - 1), tall);
      }
    };
    if (guess === undefined) {
      write(frame, contexts.length === 0 ? "No guess in this run" : "No guess yet", 4, 22, { bold: true });
      write(frame, "A missing page; the cached pages before it are not a stream.", 4, 44, {
        soft: true,
        size: 12,
      });
      return;
    }
    const wanted = Math.min(guess.asked, after);
    fillPages(-guess.history, 0, "memory");
    fillPages(0, wanted, device);
    const until_x = xOfPage(Math.min(after, guess.end - guess.page));
    if (until_x > xOfPage(wanted)) {
      context.fillStyle = context.strokeStyle = paint("prefetched");
      const x = xOfPage(wanted) + 1;
      paleBox(frame, { x, y: y + 0.5, width: until_x - x, height: tall - 1 });
    }
    line(frame, [xOfPage(0), y - 6, xOfPage(0), y + tall + 6], "ink", 1.5);
    const beyond = Math.max(0, guess.end - guess.page - guess.asked);
    write(frame, `${guess.asked} pages requested, ${guess.history} cached before them: ${guess.fetched} read`, 4, 22, {
      bold: true,
    });
    write(frame, beyond === 0 ? "nothing else" : `up to ${beyond} of them read ahead on a guess`, 4, 44, {
      soft: true,
      size: 12,
    });
    write(frame, "cached", xOfPage(0) - 5, y + tall + 18, { align: "right", soft: true, size: 12 });
    write(frame, "missing", xOfPage(0) + 5, y + tall + 18, { soft: true, size: 12 });
  }

  function draw(frame: Frame): number {
    const { context, time_ns, paint } = frame;
    follow(time_ns);
    drawGuess(frame, time_ns);
    const seen = drawSquares(frame);
    const now = at(time_ns);
    for (const [value, meaning] of [
      [now.asked, "memory"],
      [now.read, device],
    ] as const) {
      shape(frame, curve.x(time_ns / 1e9), curve.y(value), 6, meaning, { isWrite: meaning === device });
    }
    context.lineWidth = 1;
    const surplus = now.asked > 0 ? now.read / now.asked : 1;
    write(
      frame,
      `${formatNumber(mib(now.read))} MiB read for ${formatNumber(mib(now.asked))}: ${surplus.toFixed(2)} x`,
      plot.x,
      plot.y - 26,
      { bold: true },
    );
    context.fillStyle = paint("ink");
    return seen > 0 ? 1 : 0;
  }

  function lineOf(of: Float64Array): string {
    return [...of]
      .map(
        (value, nth) =>
          `${nth === 0 ? "M" : "L"}${curve.x((nth / points) * (end_ns / 1e9)).toFixed(1)} ${curve.y(value).toFixed(1)}`,
      )
      .join("");
  }

  function backdrop(): SVGSVGElement {
    const root = picture(width, height);
    const across = columns * size;
    starts.forEach((start, nth) => {
      const top = grid.y + nth * stretchTall;
      const words = `${formatNumber(mib(start))} MiB`;
      root.append(
        box({ x: grid.x, y: top, width: across, height: rowsOfStretch * size }, "lane"),
        textAt(grid.x, top + rowsOfStretch * size + 13, words, "soft"),
      );
    });
    const unit = narrow
      ? "A square is 64 KiB"
      : `A square is 64 KiB; from each of four places the first ${formatNumber(mib(shown))} MiB`;
    root.append(
      textAt(grid.x + across, grid.y + gridTall - 5, unit, "soft", "end"),
      textAt(plot.x, plot.y - 8, "MiB, of the whole file", "soft"),
      svg("path", { d: lineOf(sums.asked), fill: "none", stroke: stroke("memory"), "stroke-width": 1.5 }),
      svg("path", {
        d: lineOf(sums.read),
        fill: "none",
        stroke: "var(--ink)",
        "stroke-width": 1.5,
        "stroke-dasharray": "5 3",
      }),
      ...curve.axes(formatNumber(mib(most)), `${formatNumber(end_ns / 1e9)} s`),
    );
    return root;
  }

  return {
    height,
    backdrop: backdrop(),
    key: [
      ["memory", "cached and requested"],
      ["prefetched", "read ahead, not requested"],
      [device, "missing, requested now"],
    ],
    note: "Above, one guess at a time; the line marks the start of the missing pages.",
    pace_ns: end_ns / playedFor_s,
    draw,
    describe(time_ns) {
      const { asked: wanted, read, reads } = at(time_ns);
      const seconds = `${formatNumber(time_ns / 1e9)} s`;
      const surplus = wanted > 0 ? (read / wanted).toFixed(2) : "1.00";
      return `${seconds}: ${formatNumber(reads)} reads have requested ${formatNumber(mib(wanted))} MiB of the file; ${formatNumber(mib(read))} MiB were read, ${surplus} times as much.`;
    },
  };
}

function change(pages: Uint8Array, { start, end, isAsked }: Change): void {
  for (let page = start; page < Math.min(end, pages.length); page++) {
    if (isAsked) pages[page] = asked;
    else if (pages[page] === absent) pages[page] = ahead;
  }
}

/** Pages asked for at least once, pages read, and reads, at evenly spaced moments of a run. */
function sumsOf(changes: readonly Change[], count: number, end_ns: number) {
  const pages = new Uint8Array(count);
  const sums = {
    asked: new Float64Array(points + 1),
    read: new Float64Array(points + 1),
    reads: new Float64Array(points + 1),
  };
  let [ofAsked, ofRead, reads, next] = [0, 0, 0, 0];
  for (let point = 0; point <= points; point++) {
    for (; next < changes.length && changes[next]!.time_ns <= (point / points) * end_ns; next++) {
      const { start, end, isAsked } = changes[next]!;
      reads += isAsked ? 1 : 0;
      for (let page = start; page < Math.min(end, count); page++) {
        if (pages[page] === absent) ofRead++;
        if (isAsked && pages[page] !== asked) ofAsked++;
      }
      change(pages, changes[next]!);
    }
    sums.asked[point] = ofAsked;
    sums.read[point] = ofRead;
    sums.reads[point] = reads;
  }
  return sums;
}
