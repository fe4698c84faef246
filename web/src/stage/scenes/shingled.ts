/**
 * A shingled drive: the conventional cache, and below it the drive's addresses from first to last as rows of tiles. A
 * tile shows the cached data of its addresses. A mark above shows where the host writes, and the tile that is cleaned
 * is lifted. A stream bypasses the cache. Next to it is the rate over the run, with a dot for the moment.
 *
 * Writes, cleanings and the cached data of each part come from the engine's tables. A moving square stands for many
 * bytes.
 */
import { formatNumber } from "../../base/format.ts";
import { shingledOf } from "../../charts/rows/shingled.ts";
import { cachedWrites } from "../kit/cachedWrites.ts";
import { momentOf, sumsOf } from "../kit/curve.ts";
import { emptyScene, shape, write } from "../kit/drawing.ts";
import { box, picture } from "../kit/picture.ts";
import { layoutOf } from "../kit/layout.ts";
import { lane } from "../kit/lane.ts";
import { type Built, endOfPair, type Frame, type SceneInput, type Scene } from "./scene.ts";
import { timeWords } from "./words.ts";

/** Overlap of a tile with the next one, and its lift while it is cleaned, in pixels. */
const lean = 5;
const lift = 14;

export const shingledScene: Scene = {
  name: "shingled",
  title: "The zones of the drive",
  playsRun: true,
  isFlow: true,
  suits: (result) => result.scenario.devices.some((device) => device.lun?.shingled != null),
  build,
};

function build(input: SceneInput): Built {
  const { result, width } = input;
  const drive = shingledOf(result);
  const end_s = endOfPair(input);
  if (drive === undefined) {
    return emptyScene(width, "No drive of this run is shingled.");
  }
  const { intervals, cache, zone, zones } = drive;
  const { narrow, right, plot: plotAt } = layoutOf(width, 0.58);
  const store = { x: 40, y: 44, width: right - 44, height: 26 };
  const roof = { x: 8, y: 150, width: right - 20, height: 110 };
  const count = Math.max(1, intervals[0]?.parts.length ?? 1);
  const wide = roof.width / count;
  // The plot is below the picture on a narrow screen, whose room is for what moves.
  const height = narrow ? 380 : 350;
  const plot = plotAt({ left: 46, right: 10, y: 430, height: 140 }, { left: 62, right: 12, y: 64, height: 230 });
  const mostHeld = Math.max(1e-9, ...intervals.flatMap(({ parts }) => parts));
  const writes = cachedWrites(intervals, plot, end_s);
  const cleaned = sumsOf(intervals, ({ cleans }) => cleans);

  function at(time_s: number) {
    const moment = momentOf(intervals, time_s);
    const { nth, share } = moment;
    const of = intervals[nth];
    const before = intervals[nth - 1];
    // Places that go round to the start again are not drawn in between.
    const place = (name: "writeAt" | "cleanAt") => {
      const [from, to] = [before?.[name] ?? 0, of?.[name] ?? 0];
      return to >= from ? from + (to - from) * share : to;
    };
    return {
      cached: of?.cached ?? 0,
      direct: of?.direct ?? 0,
      cleaning: of?.cleaning ?? 0,
      used: (before?.used ?? 0) + ((of?.used ?? 0) - (before?.used ?? 0)) * share,
      writeAt: place("writeAt"),
      cleanAt: place("cleanAt"),
      held: (part: number) => {
        const [from, to] = [before?.parts[part] ?? 0, of?.parts[part] ?? 0];
        return from + (to - from) * share;
      },
      written: writes.written(moment),
      cleaned: cleaned(moment),
    };
  }

  function tile({ context, paint }: Frame, part: number, held: number, isLifted: boolean): void {
    const x = roof.x + part * wide;
    const y = roof.y - (isLifted ? lift : 0);
    const outline = (from: number) => {
      context.beginPath();
      context.moveTo(x + lean * (1 - from), y + roof.height * from);
      context.lineTo(x + wide + lean * (1 - from), y + roof.height * from);
      context.lineTo(x + wide, y + roof.height);
      context.lineTo(x, y + roof.height);
      context.closePath();
    };
    outline(0);
    context.fillStyle = paint("paper");
    context.fill();
    if (held > 0) {
      outline(1 - Math.min(1, held / mostHeld));
      context.fillStyle = paint("memory");
      context.fill();
    }
    outline(0);
    context.strokeStyle = paint(isLifted ? "ink" : "rule");
    context.lineWidth = isLifted ? 2 : 1;
    context.stroke();
  }

  function draw(frame: Frame): number {
    const { context, time_ns, paint, speed } = frame;
    const time_s = time_ns / 1e9;
    const now = at(time_s);
    const rate = writes.rateOf(now);
    const cleans = now.cleaning > 0.01;
    context.fillStyle = paint("memory");
    context.fillRect(store.x + 1, store.y + 1, (store.width - 2) * Math.min(1, now.used / cache), store.height - 2);
    const lifted = cleans ? Math.min(count - 1, Math.floor(now.cleanAt * count)) : -1;
    for (let part = 0; part < count; part++) if (part !== lifted) tile(frame, part, now.held(part), false);
    if (lifted >= 0) tile(frame, lifted, now.held(lifted), true);

    const writeX = roof.x + now.writeAt * roof.width;
    const cleanX = roof.x + (lifted + 0.5) * wide;
    if (rate > 0) {
      // From the host into the cache, or past it to the place of the stream.
      const shift = now.written / writes.perSquare(speed);
      const y = store.y + store.height / 2;
      if (writes.goesPast(now)) lane(frame, [8, 34, writeX, 34, writeX, roof.y], shift, "disk");
      else lane(frame, [8, y, store.x - 4, y], shift, "memory");
      context.fillStyle = paint("ink");
      context.beginPath();
      context.moveTo(writeX, roof.y - 20);
      context.lineTo(writeX - 6, roof.y - 31);
      context.lineTo(writeX + 6, roof.y - 31);
      context.fill();
    }
    if (cleans) {
      // Cached data of a zone go down; the zone itself is read and written.
      const turn = (now.cleaned * 4) % 1;
      lane(frame, [cleanX, store.y + store.height, cleanX, roof.y - lift - 6], turn, "memory");
      const below = roof.y + roof.height + 8;
      for (let nth = 0; nth < 4; nth++) {
        const angle = 2 * Math.PI * ((nth + turn) / 4);
        shape(frame, cleanX + 14 * Math.cos(angle), below + 10 * Math.sin(angle), 3.6, "stopped", { isWrite: true });
      }
    }
    const cleaning = cleans ? `; cleaning ${formatNumber(now.cleaning * 100)}% of the time` : "";
    write(frame, `${writes.words(now)}${rate > 0 ? cleaning : ""}`, 4, 20, {
      bold: rate > 0,
      size: narrow ? 13 : 15,
    });
    write(frame, `${formatNumber(now.used)} of ${formatNumber(cache)} GB in the cache`, store.x, store.y + 44, {
      size: 13,
    });
    const times = `${formatNumber(now.cleaned)} cleans: ${formatNumber(now.cleaned / zones)} per zone of ${formatNumber(zone)} MB`;
    write(frame, times, 4, roof.y + roof.height + 46, { size: 13 });
    const unit = `A tile is 1/${count} of the addresses; the fullest has ${formatNumber(mostHeld)} GB in the cache`;
    write(frame, unit, 4, roof.y + roof.height + 66, { soft: true, size: 12 });

    writes.dot(frame, time_s, rate);
    return rate > 0 || cleans ? 1 : 0;
  }

  function backdrop(): SVGSVGElement {
    const root = picture(width, height);
    root.append(box(store, "lane"), ...writes.backdrop());
    return root;
  }

  return {
    height,
    backdrop: backdrop(),
    key: [
      ["memory", "in the conventional cache"],
      ["disk", "a stream, past the cache"],
      ["stopped", "a zone being rewritten"],
    ],
    note: "The triangle marks where the host writes; the lifted tile marks a zone being cleaned.",
    pace_ns: writes.pace_ns,
    draw,
    describe(time_ns) {
      const now = at(time_ns / 1e9);
      const { cleaning, used, cleaned } = now;
      const cleans = cleaning > 0.01 ? `, and zones are cleaned ${formatNumber(cleaning * 100)}% of the time` : "";
      return `${timeWords(time_ns / 1e9)}: ${writes.sentence(now)}${cleans}; ${formatNumber(used)} of ${formatNumber(cache)} GB in the cache, ${formatNumber(cleaned / zones)} cleans per zone so far.`;
    },
  };
}
