/**
 * A disk from above: the platter turns, the arm moves to a track, and a request waits until its sector arrives. The
 * sector is the bright one on the track. If it has just passed the head, a whole turn is lost. The ring round the
 * spindle grows during the wait for the platter, and then comes full circle. Beside the platter, the head writes a score
 * with a row for each turn, from which lost turns can be counted.
 *
 * Arm and angle are the engine's marks: when the arm leaves for a cylinder and reaches it, and the angle of the platter
 * under the heads when data start and end. Between two marks, the picture assumes that the platter turns evenly and the
 * arm moves evenly.
 */
import { svg } from "../../base/elements.ts";
import { counted, formatBytes, formatNanos } from "../../base/format.ts";
import { layerNames } from "../../engine/journeys.ts";
import { isNarrow } from "../kit/layout.ts";
import { textAt, picture } from "../kit/picture.ts";
import { arc, clock, disc, fullTurn, line, request, spokes, write } from "../kit/drawing.ts";
import { marksOf, piecesOf } from "../kit/pieces.ts";
import type { Built, Frame, SceneInput, Scene } from "./scene.ts";
import { firstAfter } from "../kit/lookup.ts";
import { type Stroke, turnScore, turnsShown } from "./turnScore.ts";
import { labelOf, meaningOf, requestWords } from "./words.ts";

const mostQueued = 20;

export const platterScene: Scene = {
  name: "platter",
  title: "Platter and arm",
  playsRun: false,
  suits: () => true,
  build,
};

/** A visit of the arm: off to a cylinder, there, data from and to. */
interface Visit {
  readonly leaves_ns: number;
  readonly there_ns: number;
  readonly from_cylinder: number;
  readonly to_cylinder: number;
  readonly data_from_ns: number;
  readonly data_to_ns: number;
  /** The angle under the head when the data begin and end, in turns. */
  readonly angle_from: number;
  readonly angle_to: number;
  readonly isWrite: boolean;
}

function build(input: SceneInput): Built {
  const { journeys, result, width } = input;
  const deviceLayer = layerNames.indexOf("device");
  const disk = busiestDisk(input);
  const index = disk % 65536;
  const layer = Math.floor(disk / 65536);
  const visits = visitsOf(input, disk);
  const narrow = isNarrow(width);
  const size = narrow ? 140 : 300;
  const [cx, cy] = narrow ? [size / 2 + 2, size / 2 + 14] : [size / 2 + 8, size / 2 + 24];
  const outer = size / 2 - 6;
  const inner = outer * 0.36;
  const cylinders = Math.max(1, ...visits.flatMap(({ from_cylinder, to_cylinder }) => [from_cylinder, to_cylinder]));
  const least = Math.min(cylinders, ...visits.map(({ to_cylinder }) => to_cylinder));
  // The tracks that are used fill the platter; how many there are is said.
  const radiusOf = (cylinder: number) =>
    outer - 8 - ((cylinder - least) / Math.max(1, cylinders - least)) * (outer - inner - 16);
  const turn_ns = turnOf(visits);
  // Numbers of writes are at the right of the rows.
  const rows = narrow
    ? { x: size + 36, y: 6, width: width - size - 58, height: 6 * turnsShown }
    : { x: size + 62, y: 66, width: width - size - 86, height: 9 * turnsShown };
  const height = rows.y + rows.height + (narrow ? 84 : 24);
  const score = turnScore(strokesOf(visits, turn_ns), rows);
  const pivot = { x: cx + outer + 16, y: cy + outer * 0.72 };
  const name = layer === deviceLayer ? (result.summary.devices[index] ?? "the disk") : "the log disk";

  function visitAt(time_ns: number): number {
    return firstAfter(visits.length, (nth) => visits[nth]!.leaves_ns, time_ns) - 1;
  }

  /** The angle of the platter under the head, in turns. */
  function angleAt(time_ns: number): number {
    const visit = visits[Math.max(0, visitAt(time_ns))];
    return visit === undefined ? 0 : visit.angle_from + (time_ns - visit.data_from_ns) / turn_ns;
  }

  function cylinderAt(visit: Visit | undefined, time_ns: number): number {
    if (visit === undefined) return least;
    const share = (time_ns - visit.leaves_ns) / Math.max(1, visit.there_ns - visit.leaves_ns);
    const even = Math.max(0, Math.min(1, share));
    const eased = even * even * (3 - 2 * even);
    return visit.from_cylinder + (visit.to_cylinder - visit.from_cylinder) * eased;
  }

  function draw(frame: Frame): number {
    const { context, time_ns } = frame;
    const angle = angleAt(time_ns) * fullTurn;
    const at = visitAt(time_ns);
    const visit = at < 0 ? undefined : visits[at];
    // Marks on the platter, so that its turning is seen.
    spokes(frame, { x: cx, y: cy }, [inner, outer], 12, angle);
    const cylinder = cylinderAt(visit, time_ns);
    const radius = radiusOf(cylinder);
    const headAngle = headAt(radius);
    let state = "nothing to do";
    if (visit !== undefined && time_ns < visit.data_to_ns) {
      const target = radiusOf(visit.to_cylinder);
      // Where the data lie on the platter, turned to the present.
      const begin = headAt(target) + (visit.angle_from - angleAt(time_ns)) * fullTurn;
      const length = Math.max(0.04, ((visit.data_to_ns - visit.data_from_ns) / turn_ns) * fullTurn);
      const track = { x: cx, y: cy, radius: target, from: begin, to: begin + Math.min(length, fullTurn * 0.98) };
      arc(frame, track, visit.isWrite ? "transfer" : "disk", 7);
      const phase = time_ns < visit.there_ns ? "seek" : time_ns < visit.data_from_ns ? "rotation" : "transfer";
      state = labelOf(phase);
      const waited = Math.max(0, Math.min(time_ns, visit.data_from_ns) - visit.there_ns) / turn_ns;
      if (waited > 0.002) {
        clock(frame, cx, cy, inner * 0.62, Math.min(1, waited), "rotation", 9);
        write(frame, `${(waited * 100).toFixed(0)}%`, cx, cy + 5, { align: "center", bold: true, size: 15 });
      }
    }
    // The arm.
    const [hx, hy] = [cx + Math.cos(headAngle) * radius, cy + Math.sin(headAngle) * radius];
    context.lineCap = "round";
    line(frame, [pivot.x, pivot.y, hx, hy], "ink", 5);
    context.lineCap = "butt";
    disc(frame, hx, hy, 6, "seek");
    score.draw(frame);
    return 1 + (visit === undefined ? 0 : 1) + drawSide(frame, state);
  }

  /** Where on its circle the head is: the arm is turned about its pivot. */
  function headAt(radius: number): number {
    const away = Math.hypot(pivot.x - cx, pivot.y - cy);
    const arm = Math.hypot(away, 0) * 0.98;
    const cosine = (radius * radius + away * away - arm * arm) / (2 * radius * away);
    return Math.atan2(pivot.y - cy, pivot.x - cx) - Math.acos(Math.max(-1, Math.min(1, cosine)));
  }

  /** Draw the state of the disk, and its queue. */
  function drawSide(frame: Frame, state: string): number {
    const { time_ns } = frame;
    const left = narrow ? 8 : rows.x;
    const top = narrow ? rows.y + rows.height + 40 : 20;
    const queue: { row: number; from: number; phase: string }[] = [];
    let served = "";
    journeys.each(time_ns, (row) => {
      const stay = journeys.stayAt(row, time_ns);
      if (stay < 0 || journeys.layer[stay] !== layer || journeys.part[stay] !== index) return;
      const phase = journeys.phaseOf(stay);
      if (phase === "queue") queue.push({ row, from: journeys.from_ns[stay]!, phase });
      else if (phase !== "below" && served === "") {
        const isReadFirst = journeys.writes[row] === 1 && opOf(input, row) === "read";
        const words = isReadFirst ? `read of ${formatBytes(journeys.bytes[row]!)} first` : requestWords(journeys, row);
        served = `${words}: ${labelOf(phase)} for ${formatNanos(time_ns - journeys.from_ns[stay]!)} of ${formatNanos(journeys.to_ns[stay]! - journeys.from_ns[stay]!)}`;
        request(frame, { journeys }, row, { x: left + 6, y: top - 5 }, 5, meaningOf(phase));
      }
    });
    write(frame, served === "" ? `the arm: ${state}` : served, left + (served === "" ? 0 : 18), top);
    write(
      frame,
      queue.length === 0 ? "queue empty" : `${queue.length === 1 ? "1 waits" : `${queue.length} wait`} in the queue`,
      left,
      top + 24,
      {
        soft: queue.length === 0,
      },
    );
    const { turns, writes } = score.countAt(time_ns);
    const count = `${counted(turns, "turn")}, ${counted(writes, "write")}`;
    const place = narrow ? left : rows.x + rows.width;
    write(frame, count, place, rows.y + rows.height + 18, { align: narrow ? "left" : "right", bold: true });
    queue.sort((one, other) => one.from - other.from);
    queue.slice(0, mostQueued).forEach(({ row, phase }, nth) => {
      request(frame, { journeys }, row, { x: left + 138 + nth * 11, y: top + 19 }, 5, meaningOf(phase));
    });
    return queue.length;
  }

  function backdrop(): SVGSVGElement {
    const root = picture(width, height);
    root.append(
      svg("circle", { cx, cy, r: outer, class: "lane" }),
      svg("circle", { cx, cy, r: outer, class: "outline" }),
      svg("circle", { cx, cy, r: inner * 0.8, class: "outline" }),
      svg("circle", { cx: pivot.x, cy: pivot.y, r: 8, fill: "var(--ink)" }),
    );
    root.append(
      ...score.backdrop(),
      textAt(narrow ? cx : cx - outer, 18, name, "soft", narrow ? "middle" : undefined),
      textAt(rows.x, rows.y + rows.height + 18, `a row is a turn: ${formatNanos(turn_ns)}`, "soft"),
    );
    return root;
  }

  return {
    height,
    backdrop: backdrop(),
    places: {
      platter: { x: cx - outer - 4, y: cy - outer - 4, width: 2 * outer + 34, height: 2 * outer + 8 },
      queue: narrow
        ? { x: 0, y: rows.y + rows.height + 24, width, height: 60 }
        : { x: rows.x - 8, y: 0, width: width - rows.x + 8, height: 54 },
      score: { x: rows.x - 8, y: rows.y - 6, width: width - rows.x + 8, height: rows.height + 30 },
    },
    pace_ns: turn_ns / 1.8,
    key: [
      ["seek", "head, and seeking"],
      ["rotation", "waiting for the sector"],
      ["disk", "a read"],
      ["transfer", "a write"],
      ["waiting", "in the queue"],
    ],
    note: "The ring in the middle is the wait, as part of a turn. A number at the right of a row counts the writes that ended.",
    draw,
    describe(time_ns) {
      const at = visitAt(time_ns);
      const visit = at < 0 ? undefined : visits[at];
      if (visit === undefined || time_ns >= visit.data_to_ns) return `${name}: the arm is idle.`;
      const waits = Math.max(0, visit.data_from_ns - visit.there_ns);
      const seek = visit.there_ns - visit.leaves_ns;
      return `${name}: ${seek === 0 ? "" : `a seek of ${formatNanos(seek)}, then `}${formatNanos(waits)} until the sector arrives (${Math.round((waits / turn_ns) * 100)}% of a turn), then ${formatNanos(visit.data_to_ns - visit.data_from_ns)} of data.`;
    },
  };
}

/** The disk with the most visits in the window. */
function busiestDisk({ journeys }: SceneInput): number {
  const counts = new Map<number, number>();
  for (const disk of journeys.marks("arm").object) counts.set(disk, (counts.get(disk) ?? 0) + 1);
  return [...counts].toSorted((a, b) => b[1] - a[1])[0]?.[0] ?? layerNames.indexOf("device") * 65536;
}

/** What the head of a disk does, on the turns of its platter since the first row began. */
function strokesOf(visits: readonly Visit[], turn_ns: number): Stroke[] {
  const first = visits[0];
  if (first === undefined) return [];
  let [seen_ns, seen_turns] = [first.data_from_ns, first.angle_from];
  const strokes: Stroke[] = [];
  for (const { leaves_ns, there_ns, data_from_ns, data_to_ns, angle_from, isWrite } of visits) {
    // The mark is exact; the number of whole turns since the last mark follows from the time.
    const turns = angle_from + Math.round(seen_turns + (data_from_ns - seen_ns) / turn_ns - angle_from);
    const at = (time_ns: number) => turns + (time_ns - data_from_ns) / turn_ns;
    const add = (kind: Stroke["kind"], from_ns: number, to_ns: number) => {
      if (to_ns > from_ns) strokes.push({ kind, from_ns, to_ns, from_turns: at(from_ns), to_turns: at(to_ns) });
    };
    add("seek", leaves_ns, there_ns);
    add("wait", there_ns, data_from_ns);
    add(isWrite ? "write" : "read", data_from_ns, data_to_ns);
    [seen_ns, seen_turns] = [data_from_ns, turns];
  }
  const begin = Math.floor(strokes[0]?.from_turns ?? 0);
  return strokes.map((stroke) => ({
    ...stroke,
    from_turns: stroke.from_turns - begin,
    to_turns: stroke.to_turns - begin,
  }));
}

/** What a request does on a disk. A part of a write that is one block of a misaligned partition reads what the write leaves of it. */
function opOf({ journeys, result }: SceneInput, row: number): "read" | "write" {
  if (journeys.writes[row] !== 1) return "read";
  const { partition } = result.scenario;
  if (partition == null) return "write";
  const block = Number(partition.block ?? 4096);
  return Number(partition.start) % block !== 0 && journeys.bytes[row] === block ? "read" : "write";
}

function visitsOf(input: SceneInput, disk: number): Visit[] {
  const { journeys } = input;
  const isDisk = (stay: number) => disk === journeys.layer[stay]! * 65536 + journeys.part[stay]!;
  const transfers = piecesOf(journeys, (stay) => isDisk(stay) && journeys.phaseOf(stay) === "transfer");
  const isWrite = (time_ns: number) => {
    for (const stay of transfers.within(time_ns, time_ns + 1))
      // One that ended at this moment is of the visit before.
      if (journeys.to_ns[stay]! > time_ns + 1) return opOf(input, transfers.rowOf(stay)) === "write";
    return false;
  };
  const [arm, angle] = [marksOf(journeys.marks("arm"), disk), marksOf(journeys.marks("angle"), disk)];
  return Array.from({ length: Math.min(arm.length >> 1, angle.length >> 1) }, (_, nth) => ({
    leaves_ns: arm[2 * nth]!.time,
    there_ns: arm[2 * nth + 1]!.time,
    // It comes from where the visit before it ended.
    from_cylinder: arm[Math.max(0, 2 * nth - 1)]!.value,
    to_cylinder: arm[2 * nth + 1]!.value,
    data_from_ns: angle[2 * nth]!.time,
    data_to_ns: angle[2 * nth + 1]!.time,
    angle_from: angle[2 * nth]!.value / 1e6,
    angle_to: angle[2 * nth + 1]!.value / 1e6,
    isWrite: isWrite(angle[2 * nth]!.time),
  }));
}

/** How long a turn takes: the time from the begin to the end of some data over the share of a turn between their angles. */
function turnOf(visits: readonly Visit[]): number {
  const measured = visits.flatMap(({ data_from_ns, data_to_ns, angle_from, angle_to }) => {
    const share = (angle_to - angle_from + 1) % 1;
    return share > 0.02 && share < 0.95 ? [(data_to_ns - data_from_ns) / share] : [];
  });
  measured.sort((a, b) => a - b);
  // Data of more than a turn give a multiple; the least is a turn.
  return measured[Math.floor(measured.length / 10)] ?? 60e9 / 7200;
}
