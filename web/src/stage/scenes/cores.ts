/**
 * The cores of a node: one lane each, in which work passes by; the present is the right edge. Waiting requests are on
 * the right: for a thread or a core, and for a lock. Work under a lock has a dark edge. A cross-call, which interrupts
 * all cores, is a flash through all lanes.
 *
 * The engine's cores are identical, so work takes the first free lane. The picture shows the stays of requests and the
 * marks of locks and cross-calls.
 */
import type { Meaning } from "../../base/colours.ts";
import { formatNanos } from "../../base/format.ts";
import { type Journeys, journeysOf, type LayerName, layerNames } from "../../engine/journeys.ts";
import type { Result } from "../../engine/api.ts";
import { isNarrow } from "../kit/layout.ts";
import { Glide, queue, write } from "../kit/drawing.ts";
import { piecesOf } from "../kit/pieces.ts";
import { box, picture, presentLine, textAt } from "../kit/picture.ts";
import { type Built, type Frame, pairOf, type SceneInput, type Scene } from "./scene.ts";
import { firstFrom } from "../kit/lookup.ts";
import { labelOf, meaningOf } from "./words.ts";

const works = new Set(["cpu", "dispatch", "cross_call"]);
const waits = [
  { phase: "cpu_wait", words: "wait for a thread or a core" },
  { phase: "lock", words: "wait for a lock" },
  { phase: "blanked", words: "held back by the card" },
] as const;
const flash_s = 0.25;
/** So many pieces of work of the usual length pass at a time. */
const piecesShown = 36;

export const coresScene: Scene = {
  name: "cores",
  title: "Cores and locks",
  playsRun: false,
  suits: (result) => nodeOf(result) !== undefined,
  build,
};

interface Node {
  readonly layer: LayerName;
  readonly cores: number;
}

/** The node whose cores are shown: that of the controllers, or the server. */
function nodeOf({ scenario }: Result): Node | undefined {
  if (scenario.controller != null) return { layer: "controller", cores: scenario.controller.cores };
  if (scenario.server != null) return { layer: "server", cores: scenario.server.cores };
  return undefined;
}

function build(input: SceneInput): Built {
  const { journeys, result, width } = input;
  const node = nodeOf(result) ?? { layer: "controller", cores: 1 };
  const number = layerNames.indexOf(node.layer);
  const narrow = isNarrow(width);
  const labels = narrow ? 30 : 62;
  const queues = narrow ? width : Math.round(width * 0.34);
  const present = narrow ? width - 12 : width - queues - 24;
  const laneHeight = Math.max(narrow ? 9 : 13, Math.min(34, Math.floor((narrow ? 170 : 300) / node.cores)));
  const lanesTop = 8;
  const lanesBottom = lanesTop + laneHeight * node.cores;
  const queueTop = narrow ? lanesBottom + 20 : lanesTop;
  const shown = waits.filter(({ phase }) => journeys.phaseNames.includes(phase) && hasPhase(input, number, phase));
  const queueHeight = narrow ? 66 : Math.max(84, (lanesBottom - lanesTop) / Math.max(1, shown.length));
  const height = narrow
    ? queueTop + queueHeight * shown.length + 8
    : Math.max(lanesBottom + 24, queueTop + queueHeight * shown.length);
  const glide = new Glide(journeys.count);

  // Work in the order of its begin, each in the first lane that is free.
  const workOf = (of: Journeys) => piecesOf(of, (stay) => of.layer[stay] === number && works.has(of.phaseOf(stay)));
  const pieces = workOf(journeys);
  const free = new Float64Array(node.cores);
  const laneOf = new Map<number, number>();
  for (const stay of pieces.stays) {
    const from = journeys.from_ns[stay]!;
    let lane = free.findIndex((until) => until <= from);
    if (lane < 0) lane = free.indexOf(Math.min(...free));
    free[lane] = journeys.to_ns[stay]!;
    laneOf.set(stay, lane);
  }
  const usual = Math.max(
    ...pairOf(input).map((run) => {
      const { lengths } = run === result ? pieces : workOf(journeysOf(run));
      return lengths[Math.floor(lengths.length * 0.6)] ?? 1e6;
    }),
  );
  const span_ns = Math.max(1, (usual * piecesShown) / (narrow ? 2.5 : 1));
  const locked = lockedOf(input);
  const calls = journeys.marks("interrupted").time_ns;

  function draw(frame: Frame): number {
    const { context, time_ns, paint, speed } = frame;
    let actors = 0;
    const xOf = (at: number) => present - ((time_ns - at) / span_ns) * (present - labels);
    context.save();
    context.beginPath();
    context.rect(labels, 0, present - labels, lanesBottom + 2);
    context.clip();
    for (const stay of pieces.within(time_ns - span_ns, time_ns)) {
      const from = journeys.from_ns[stay]!;
      const to = Math.min(time_ns, journeys.to_ns[stay]!);
      const y = lanesTop + laneOf.get(stay)! * laneHeight + 2;
      const [x, right] = [xOf(from), xOf(to)];
      const isFollowed = frame.followed >= 0 && journeys.rootOf(pieces.rowOf(stay)) === frame.followed;
      context.fillStyle = paint(meaningOf(journeys.phaseOf(stay)));
      context.fillRect(x, y, Math.max(0.8, right - x - 0.6), laneHeight - 4);
      if (locked.has(stay) || isFollowed) {
        context.strokeStyle = paint(isFollowed ? "ink" : "stopped");
        context.lineWidth = 2;
        context.strokeRect(x + 1, y + 1, Math.max(1, right - x - 2.6), laneHeight - 6);
      }
      if (journeys.to_ns[stay]! > time_ns) {
        actors += 1;
        frame.actor(pieces.rowOf(stay), present, y + laneHeight / 2);
      }
    }
    const flash_ns = Math.max(flash_s * speed * 1e9, 1);
    for (
      let nth = firstFrom(calls.length, (nth) => calls[nth]!, time_ns - span_ns);
      nth < calls.length && calls[nth]! <= time_ns;
      nth++
    ) {
      const x = xOf(calls[nth]!);
      const age = (time_ns - calls[nth]!) / flash_ns;
      context.globalAlpha = Math.max(0.35, 1 - age);
      context.fillStyle = paint("broken");
      context.fillRect(x - 1, lanesTop, age < 1 ? 4 : 1.5, lanesBottom - lanesTop);
    }
    context.globalAlpha = 1;
    context.restore();
    return actors + drawQueues(frame);
  }

  function drawQueues(frame: Frame): number {
    const { time_ns } = frame;
    const lists = shown.map(() => [] as { row: number; from: number }[]);
    journeys.each(time_ns, (row) => {
      const stay = journeys.stayAt(row, time_ns);
      if (stay < 0 || journeys.layer[stay] !== number) return;
      const at = shown.findIndex(({ phase }) => phase === journeys.phaseOf(stay));
      if (at >= 0) lists[at]!.push({ row, from: journeys.from_ns[stay]! });
    });
    let actors = 0;
    lists.forEach((list, nth) => {
      const { phase, words } = shown[nth]!;
      const [left, y] = [narrow ? 8 : present + 26, queueTop + nth * queueHeight];
      list.sort((a, b) => a.from - b.from);
      write(frame, `${list.length * journeys.every} ${words}`, left, y + 14, { soft: list.length === 0 });
      const rows = list.map(({ row }) => row);
      const place = { x: left + 6, y: y + 30, width: (narrow ? width : queues) - 24, height: queueHeight - 34 };
      queue(frame, { journeys, glide }, rows, place, meaningOf(phase));
      actors += list.length;
    });
    return actors;
  }

  function backdrop(): SVGSVGElement {
    const root = picture(width, height);
    for (let core = 0; core < node.cores; core++) {
      const y = lanesTop + core * laneHeight;
      root.append(
        box({ x: labels, y: y + 1, width: present - labels, height: laneHeight - 2 }, "lane"),
        textAt(labels - 6, y + laneHeight / 2 + 4, narrow ? `${core + 1}` : `core ${core + 1}`, "lane-name", "end"),
      );
    }
    root.append(
      presentLine(present, lanesTop - 4, lanesBottom + 4),
      textAt(present, lanesBottom + 18, "now", "soft", "end"),
      textAt(labels, lanesBottom + 18, `${formatNanos(span_ns)} ago`, "soft"),
    );
    return root;
  }

  function busyAt(time_ns: number): number {
    let busy = 0;
    for (const stay of pieces.within(time_ns, time_ns)) if (journeys.to_ns[stay]! > time_ns) busy += 1;
    return busy;
  }

  const used = [...new Set(pieces.stays.map((stay) => journeys.phaseOf(stay)))];
  const key: (readonly [Meaning, string])[] = used.map((phase) => [meaningOf(phase), labelOf(phase)]);
  if (calls.length > 0) key.push(["broken", "a cross-call interrupts all cores"]);
  for (const { phase, words } of shown) key.push([meaningOf(phase), words]);
  return {
    height,
    backdrop: backdrop(),
    places: {
      cores: { x: 0, y: 0, width: present + 8, height: lanesBottom + 21 },
      queues: narrow
        ? { x: 0, y: queueTop + 2, width, height: height - queueTop - 2 }
        : { x: present + 16, y: 0, width: width - present - 16, height },
    },
    pace_ns: span_ns / 5,
    key,
    ...(locked.size > 0 ? { note: "Work with a dark edge holds a lock." } : {}),
    draw,
    describe(time_ns) {
      const waiting = shown.map(({ phase, words }) => {
        let count = 0;
        journeys.each(time_ns, (row) => {
          const stay = journeys.stayAt(row, time_ns);
          if (stay >= 0 && journeys.layer[stay] === number && journeys.phaseOf(stay) === phase) count += 1;
        });
        return `${count} ${words}`;
      });
      return `${busyAt(time_ns)} of ${node.cores} cores work; ${waiting.join(", ")}.`;
    },
  };
}

function hasPhase({ journeys }: SceneInput, layer: number, phase: string): boolean {
  return journeys.phase.some((of, stay) => journeys.layer[stay] === layer && journeys.phaseNames[of] === phase);
}

/** Stays that began when their request took a lock. */
function lockedOf({ journeys }: SceneInput): ReadonlySet<number> {
  const found = new Set<number>();
  const { time_ns, value } = journeys.marks("locked");
  time_ns.forEach((at, nth) => {
    const row = journeys.rowOf(value[nth]!);
    if (row < 0) return;
    const stay = journeys.stayAt(row, at);
    if (stay >= 0) found.add(stay);
  });
  return found;
}
