/**
 * The life of requests: a lane for each layer from the application down to the devices. In a lane, waiting requests
 * queue on the left, the longest waiting in front. Requests in service move through the right half, in a cell for each
 * device or part. A circle is a read, a square a write. Parts of a request are smaller, and the request is an outline
 * while it waits for them. Above the application are requests that the plan had due but no worker was free to send,
 * from the log of operations.
 */
import type { Meaning } from "../../base/colours.ts";
import { svg } from "../../base/elements.ts";
import { column } from "../../engine/api.ts";
import { below, type LayerName, layerNames } from "../../engine/journeys.ts";
import { formatNanos, groupThousands } from "../../base/format.ts";
import { firstAfter, firstFrom } from "../kit/lookup.ts";
import { box, textAt, picture } from "../kit/picture.ts";
import { Glide, layOut, request, shape } from "../kit/drawing.ts";
import type { Built, Frame, SceneInput, Scene } from "./scene.ts";
import { isWaiting, labelOf, layersOf, meaningOf, nameOf } from "./words.ts";

const labelWidth = 92;
const mostCells = 24;
const dueHeight = 84;
/** Where requests are late for much of what is played, it is over in so many seconds of the reader. */
const playedFor_s = 5;

interface Lane {
  readonly layer: LayerName;
  readonly y: number;
  readonly height: number;
  readonly parts: number;
  /** Where work begins; left of it is the queue. */
  readonly work: number;
}

export const lifeScene: Scene = {
  name: "life",
  title: "Life of a request",
  playsRun: false,
  isStillBetweenEvents: true,
  suits: () => true,
  build,
};

function build(input: SceneInput): Built {
  const { journeys, width } = input;
  const narrow = width < 560;
  const left = narrow ? 4 : labelWidth;
  const layers = layersOf(journeys);
  const lanes: Lane[] = [];
  const late = lateOf(input);
  const lateGlide = new Glide(late.due_ns.length);
  const span_ns = Math.max(1, journeys.window[1] - journeys.window[0]);
  let y = late.due_ns.length === 0 ? 4 : 4 + dueHeight + 6;
  for (const layer of layers) {
    const parts = partsOf(input, layer);
    const height = (layer === "device" || layers.length < 5 ? 62 : 50) + (narrow ? 14 : 0);
    lanes.push({ layer, y, height, parts, work: left + Math.round((width - left) * 0.46) });
    y += height + 6;
  }
  const height = Math.max(80, y);
  const lanesOf = new Map(lanes.map((lane) => [layerNames.indexOf(lane.layer), lane]));
  const glide = new Glide(journeys.count);
  const used = [...new Set(journeys.phase)]
    .filter((phase) => phase !== below)
    .map((phase) => journeys.phaseNames[phase]!);
  const phasesByMeaning = new Map<Meaning, string[]>();
  for (const phase of used) {
    const list = phasesByMeaning.get(meaningOf(phase)) ?? [];
    phasesByMeaning.set(meaningOf(phase), [...list, labelOf(phase)]);
  }
  if (late.due_ns.length > 0) {
    phasesByMeaning.set("waiting", ["due, not sent", ...(phasesByMeaning.get("waiting") ?? [])]);
  }

  function draw(frame: Frame): number {
    const { context, time_ns, paint } = frame;
    const waiting = new Map<Lane, { row: number; stay: number }[]>();
    let actors = drawDue(frame);
    journeys.each(time_ns, (row) => {
      const stay = journeys.stayAt(row, time_ns);
      if (stay < 0) return;
      const lane = lanesOf.get(journeys.layer[stay]!);
      if (lane === undefined) return;
      const phase = journeys.phaseOf(stay);
      actors += 1;
      if (isWaiting(phase)) {
        const queue = waiting.get(lane) ?? [];
        queue.push({ row, stay });
        waiting.set(lane, queue);
        return;
      }
      const cells = Math.min(lane.parts, mostCells);
      const cell = Math.min(cells - 1, journeys.part[stay]! % Math.max(1, cells));
      const span = (width - lane.work - 10) / cells;
      const share = (time_ns - journeys.from_ns[stay]!) / (journeys.to_ns[stay]! - journeys.from_ns[stay]!);
      const middle = lane.y + (narrow ? 14 : 0) + (lane.height - (narrow ? 14 : 0)) / 2;
      // Several at work in one cell lie under each other.
      const spread = ((row * 7) % 5) - 2;
      const crowd = lane.parts > 1 ? 0 : spread * Math.min(7, lane.height / 8);
      place(frame, row, stay, lane.work + 10 + cell * span + share * Math.max(4, span - 14), middle + crowd, 1);
    });
    for (const [lane, queue] of waiting) {
      queue.sort((a, b) => journeys.from_ns[a.stay]! - journeys.from_ns[b.stay]!);
      const room = lane.work - left - 16;
      const { rows, step } = layOut(queue.length, room, lane.height - 14 - (narrow ? 14 : 0));
      queue.forEach(({ row, stay }, nth) => {
        const x = lane.work - 12 - Math.floor(nth / rows) * step;
        const inRow = nth % rows;
        const middle = lane.y + (narrow ? 14 : 0) + (lane.height - (narrow ? 14 : 0)) / 2;
        place(frame, row, stay, x, middle + (inRow - (Math.min(rows, queue.length) - 1) / 2) * step, step / 10);
      });
      if (queue.length > 1) {
        context.fillStyle = paint("ink-soft");
        context.font = "12px 'Source Sans 3 Variable', sans-serif";
        context.textAlign = "left";
        context.fillText(`${queue.length} wait`, left + 6, lane.y + lane.height - 6);
      }
    }
    return actors;
  }

  /** Draw requests that are due but not sent because no worker was free, the longest due on the right. */
  function drawDue(frame: Frame): number {
    const { context, paint } = frame;
    if (late.due_ns.length === 0) return 0;
    const unsent = unsentAt(late, frame.time_ns);
    const top = 4 + (narrow ? 14 : 0);
    const high = dueHeight - 26 - (narrow ? 14 : 0);
    const { rows, step } = layOut(unsent.length, width - left - 24, high);
    unsent.forEach((nth, order) => {
      const x = width - 14 - Math.floor(order / rows) * step;
      const y = top + 6 + (order % rows) * step + (high - Math.min(rows, unsent.length) * step) / 2;
      const at = lateGlide.to(nth, x, y, frame.ease);
      shape(frame, at.x, at.y, Math.max(1.2, Math.min(4.4, step * 0.42)), "waiting", {
        isWrite: late.writes[nth] === 1,
      });
    });
    context.fillStyle = paint("ink-soft");
    context.font = "12px 'Source Sans 3 Variable', sans-serif";
    context.textAlign = "left";
    const words = unsent.length === 0 ? "none is late" : `${groupThousands(unsent.length)} are due and not sent`;
    context.fillText(words, left + 6, dueHeight - 2);
    return unsent.length;
  }

  function place(frame: Frame, row: number, stay: number, x: number, y: number, size: number): void {
    const isPart = journeys.parent[row]! >= 0;
    const radius = Math.max(1.4, (isPart ? 3.4 : 4.4) * Math.min(1, size));
    const phase = journeys.phaseOf(stay);
    request(frame, { journeys, glide }, row, { x, y }, radius, meaningOf(phase), { isHollow: phase === "below" });
  }

  function describe(time_ns: number): string {
    const counts = new Map<LayerName, [number, number]>();
    journeys.each(time_ns, (row) => {
      const stay = journeys.stayAt(row, time_ns);
      if (stay < 0) return;
      const phase = journeys.phaseOf(stay);
      const layer = layerNames[journeys.layer[stay]!]!;
      const count = counts.get(layer) ?? [0, 0];
      count[isWaiting(phase) ? 0 : 1] += 1;
      counts.set(layer, count);
    });
    const words = lanes.flatMap(({ layer }) => {
      const [waits, works] = counts.get(layer) ?? [0, 0];
      return waits + works === 0 ? [] : [`${nameOf(layer).toLowerCase()} ${waits} waiting, ${works} at work`];
    });
    const unsent = unsentAt(late, time_ns).length;
    const thinned = journeys.every > 1 ? ` The picture shows one request in ${journeys.every}.` : "";
    const due =
      unsent === 0
        ? ""
        : `${unsent === 1 ? "1 request is" : `${groupThousands(unsent)} requests are`} due but not sent. `;
    const under = words.length === 0 ? "No requests in flight." : `In flight: ${words.join("; ")}.`;
    return `${due}${under}${thinned}`;
  }

  return {
    height,
    places: Object.fromEntries(
      lanes.map((lane) => [lane.layer, { x: 0, y: lane.y - 3, width, height: lane.height + 6 }]),
    ),
    backdrop: backdrop(input, lanes, { height, left, narrow, hasDue: late.due_ns.length > 0 }),
    key: [...phasesByMeaning].map(([meaning, words]) => [meaning, words.slice(0, 3).join(", ")]),
    note: "A circle is a read, a square a write. An outline waits for its parts, which are smaller.",
    ...(late.most_ns < span_ns / 4 ? {} : { pace_ns: span_ns / playedFor_s }),
    draw,
    describe,
  };
}

function backdrop(
  { width, result }: SceneInput,
  lanes: readonly Lane[],
  { height, left, narrow, hasDue }: { height: number; left: number; narrow: boolean; hasDue: boolean },
): SVGSVGElement {
  const root = picture(width, height);
  if (hasDue) {
    root.append(
      box({ x: left, y: 4, width: width - left, height: dueHeight }, "lane"),
      narrow
        ? textAt(left + 4, 16, "Due, not sent", "lane-name")
        : textAt(left - 10, 8 + dueHeight / 2, "Due, not sent", "lane-name", "end"),
    );
  }
  for (const lane of lanes) {
    const { y, height: tall, work, parts } = lane;
    const label = parts > 1 && lane.layer === "device" ? `${parts} devices` : nameOf(lane.layer);
    root.append(
      box({ x: left, y, width: width - left, height: tall }, "lane"),
      narrow
        ? textAt(left + 4, y + 12, label, "lane-name")
        : textAt(left - 10, y + tall / 2 + 4, label, "lane-name", "end"),
      svg("line", { x1: work, x2: work, y1: y + 4, y2: y + tall - 4, class: "lane-gate" }),
    );
    const cells = Math.min(parts, mostCells);
    const span = (width - work - 10) / cells;
    for (let cell = 0; cells > 1 && cell < cells; cell++) {
      root.append(
        box({ x: work + 6 + cell * span, y: y + 8, width: Math.max(1, span - 4), height: tall - 16 }, "lane-cell"),
      );
    }
  }
  const first = lanes[0];
  if (first !== undefined && !narrow) {
    root.append(svg("title", {}, `Requests of ${formatNanos(result.summary.simulated_ns)}`));
  }
  return root;
}

function partsOf({ journeys, result }: SceneInput, layer: LayerName): number {
  if (layer === "device") return Math.max(1, result.summary.devices.length);
  if (layer !== "write_log" && layer !== "tier_device") return 1;
  const number = layerNames.indexOf(layer);
  let most = 0;
  journeys.layer.forEach((of, stay) => {
    if (of === number && journeys.phase[stay] !== below) most = Math.max(most, journeys.part[stay]!);
  });
  return most + 1;
}

/** Requests of the window that were sent after they were due, in the order in which they were due. */
interface Late {
  readonly due_ns: Float64Array;
  readonly sent_ns: Float64Array;
  readonly writes: Uint8Array;
  /** The longest that one of them was late. */
  readonly most_ns: number;
}

function lateOf({ result, journeys }: SceneInput): Late {
  const [due, sent, op] = ["due_ns", "submit_ns", "op"].map((name) => column(result, `ops.${name}`));
  const [from, to] = journeys.window;
  const rows: number[] = [];
  due!.forEach((due_ns, row) => {
    if (due_ns < sent![row]! && due_ns < to && sent![row]! > from) rows.push(row);
  });
  rows.sort((a, b) => due![a]! - due![b]!);
  return {
    due_ns: Float64Array.from(rows, (row) => due![row]!),
    sent_ns: Float64Array.from(rows, (row) => sent![row]!),
    writes: Uint8Array.from(rows, (row) => op![row]!),
    most_ns: rows.reduce((most, row) => Math.max(most, sent![row]! - due![row]!), 0),
  };
}

/** Return the requests that are due but not sent at a moment. */
function unsentAt({ due_ns, sent_ns, most_ns }: Late, time_ns: number): number[] {
  const begin = firstFrom(due_ns.length, (nth) => due_ns[nth]!, time_ns - most_ns);
  const end = firstAfter(due_ns.length, (nth) => due_ns[nth]!, time_ns);
  const unsent: number[] = [];
  for (let nth = begin; nth < end; nth++) if (sent_ns[nth]! > time_ns) unsent.push(nth);
  return unsent;
}
