/**
 * The disks of a shelf from above, side by side. Platters turn; a bright arc is data under the head. A head off its
 * track is drawn next to the track. The ring round its platter shows the elapsed part of the lost revolution, with the
 * number of revolutions lost so far. A disk without vibration continues its work.
 *
 * The engine's marks give the time and the lost revolutions of each miss, and the angle of the platter when data start
 * and end. Between two marks the platter turns evenly. The drawn distance of the head from the track has no scale.
 */
import { svg } from "../../base/elements.ts";
import { formatNanos } from "../../base/format.ts";
import type { Journeys } from "../../engine/journeys.ts";
import { layerNames } from "../../engine/journeys.ts";
import { firstAfter } from "../kit/lookup.ts";
import { textAt, picture } from "../kit/picture.ts";
import { arc, clock, disc, fullTurn, line, spokes, write } from "../kit/drawing.ts";
import { marksOf } from "../kit/pieces.ts";
import type { Built, Frame, SceneInput, Scene } from "./scene.ts";

const mostDisks = 24;
const usual_ns = 60e9 / 7200;

export const shakenDisksScene: Scene = {
  name: "shaken-disks",
  title: "Heads and tracks",
  playsRun: false,
  suits: (result) => result.scenario.devices.some(({ hdd }) => hdd?.shake != null),
  build,
};

/** Data under the head of a disk. */
interface Visit {
  readonly from_ns: number;
  readonly to_ns: number;
  /** The platter's angle when the data begin, in turns. */
  readonly angle: number;
}

/** A time at which the head of a disk is off its track. */
interface OffTrack {
  readonly from_ns: number;
  readonly to_ns: number;
  readonly turns: number;
}

/** The marks of one disk, each list in order of time. */
export interface ShelfDisk {
  readonly index: number;
  readonly visits: readonly Visit[];
  readonly offTrack: readonly OffTrack[];
  /** How long a revolution takes, as far as it has lost one. */
  readonly turn_ns: number;
}

/** The data disks of the marks, in order of their numbers. */
export function disksOf(journeys: Journeys): ShelfDisk[] {
  const angles = journeys.marks("angle");
  const layer = layerNames.indexOf("device");
  const numbers = [...new Set(angles.object)].filter((disk) => Math.floor(disk / 65536) === layer);
  return numbers
    .toSorted((a, b) => a - b)
    .map((disk) => {
      const marks = marksOf(angles, disk);
      const visits = Array.from({ length: marks.length >> 1 }, (_, nth) => ({
        from_ns: marks[2 * nth]!.time,
        to_ns: marks[2 * nth + 1]!.time,
        angle: marks[2 * nth]!.value / 1e6,
      }));
      const offTrack = marksOf(journeys.marks("off_track"), disk).map(({ time, value }) => {
        const next = visits[firstAfter(visits.length, (nth) => visits[nth]!.from_ns, time)];
        return { from_ns: time, to_ns: next?.from_ns ?? time + value * usual_ns, turns: value };
      });
      const [first] = offTrack;
      const turn_ns = first === undefined ? usual_ns : (first.to_ns - first.from_ns) / Math.max(1, first.turns);
      return { index: disk % 65536, visits, offTrack, turn_ns };
    });
}

/** The last of some times that has begun; undefined before the first. */
function lastAt<T extends { readonly from_ns: number }>(list: readonly T[], time_ns: number): T | undefined {
  return list[firstAfter(list.length, (nth) => list[nth]!.from_ns, time_ns) - 1];
}

function build({ journeys, result, width }: SceneInput): Built {
  const disks = disksOf(journeys).slice(0, mostDisks);
  const turn_ns = disks.find(({ offTrack }) => offTrack.length > 0)?.turn_ns ?? usual_ns;
  // As few rows as fit, all as long.
  const least = Math.max(1, Math.ceil(disks.length / Math.max(1, Math.floor(width / 88))));
  const columns = Math.max(1, Math.ceil(disks.length / least));
  const cell = Math.min(150, width / columns);
  const tall = cell + 14;
  const rows = Math.max(1, Math.ceil(disks.length / columns));
  const height = rows * tall + 8;
  const radius = cell / 2 - 18;
  /** A run of many small requests has more marks than are kept. */
  const recorded_ns = Math.max(0, ...disks.map(({ visits }) => visits.at(-1)?.to_ns ?? 0));
  const centre = (nth: number) => ({
    x: (nth % columns) * cell + cell / 2,
    y: Math.floor(nth / columns) * tall + cell / 2 + 4,
  });

  function draw(frame: Frame): number {
    const { time_ns } = frame;
    if (time_ns > recorded_ns) {
      write(frame, "Recording ends here.", 8, 16, { soft: true });
      return 0;
    }
    disks.forEach((disk, nth) => {
      const { x, y } = centre(nth);
      const visit = lastAt(disk.visits, time_ns);
      const lost = lastAt(disk.offTrack, time_ns);
      const isOff = lost !== undefined && time_ns < lost.to_ns;
      const passed = visit === undefined ? time_ns : time_ns - visit.from_ns;
      const angle = ((visit?.angle ?? 0) + passed / turn_ns) * fullTurn;
      spokes(frame, { x, y }, [radius * 0.35, radius], 6, angle);
      const track = radius * 0.72;
      if (visit !== undefined && time_ns < visit.to_ns && !isOff) {
        const length = Math.min(0.98, (visit.to_ns - visit.from_ns) / turn_ns) * fullTurn;
        const begin = -((time_ns - visit.from_ns) / turn_ns) * fullTurn;
        arc(frame, { x, y, radius: track, from: begin, to: begin + length }, "transfer", 5);
      }
      if (isOff) {
        const turns = (time_ns - lost.from_ns) / turn_ns;
        clock(frame, x, y, radius + 6, turns % 1, "stopped", 5);
        write(frame, `${Math.floor(turns) + 1}`, x, y + 5, { align: "center", bold: true, size: 15 });
      }
      // The arm comes in from the right; off its track the head is beside it, to one side and the other.
      const beside = isOff ? radius * 0.16 * Math.sign(Math.sin((time_ns / turn_ns) * fullTurn * 3)) : 0;
      const head = x + track + beside;
      line(frame, [x + radius + 12, y + radius * 0.55, head, y], "ink", 3);
      disc(frame, head, y, 4.5, isOff ? "stopped" : "disk");
    });
    return disks.length;
  }

  function sentence(off: number, time_ns: number): string {
    const lost = disks.flatMap(({ offTrack }) => offTrack).filter(({ from_ns }) => from_ns <= time_ns);
    const turns = lost.reduce(
      (sum, { from_ns, to_ns, turns: all }) => sum + Math.min(all, (Math.min(time_ns, to_ns) - from_ns) / turn_ns),
      0,
    );
    return `${off} of ${disks.length} heads are off their tracks; ${Math.floor(turns + 1e-6)} revolutions lost so far`;
  }

  function backdrop(): SVGSVGElement {
    const root = picture(width, height);
    disks.forEach(({ index }, nth) => {
      const { x, y } = centre(nth);
      root.append(
        svg("circle", { cx: x, cy: y, r: radius, class: "lane" }),
        svg("circle", { cx: x, cy: y, r: radius, class: "outline" }),
        svg("circle", { cx: x, cy: y, r: radius * 0.72, class: "outline" }),
        textAt(x, y + radius + 22, result.summary.devices[index] ?? `disk ${index}`, "soft", "middle"),
      );
    });
    return root;
  }

  return {
    height,
    backdrop: backdrop(),
    pace_ns: turn_ns / 1.2,
    key: [
      ["disk", "head on its track"],
      ["stopped", "head off its track, revolution lost"],
      ["transfer", "data under the head"],
    ],
    note: "The number on a platter counts the revolution being lost. The distance of a head from its track is not to scale.",
    draw,
    describe: (time_ns) =>
      time_ns > recorded_ns
        ? `The heads are recorded until ${formatNanos(recorded_ns)}.`
        : `${sentence(disks.filter(({ offTrack }) => (lastAt(offTrack, time_ns)?.to_ns ?? 0) > time_ns).length, time_ns)}.`,
  };
}
