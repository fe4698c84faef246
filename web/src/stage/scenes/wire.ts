/**
 * The wire between client and server: segments travel, acknowledgements return, and the window is a ruler that fills
 * with the data that are sent but not acknowledged. When it is full the sender waits, however idle the wire is.
 *
 * Segments are the engine's marks: when each started to leave, when all of it had arrived, when its acknowledgement
 * returned. The marks of one direction of a connection stay in order, so the nth of each kind belong together.
 */
import { svg } from "../../base/elements.ts";
import { counted, formatBits, formatBytes, formatNanos } from "../../base/format.ts";
import { write } from "../kit/drawing.ts";
import { firstAfter } from "../kit/lookup.ts";
import { box, textAt, picture } from "../kit/picture.ts";
import type { Built, Frame, SceneInput, Scene } from "./scene.ts";

const mostLanes = 6;
const frameBytes = 1460;

interface Flow {
  readonly number: number;
  readonly toClient: boolean;
  readonly sent: Float64Array;
  readonly received: Float64Array;
  readonly acknowledged: Float64Array;
  readonly bytes: Float64Array;
  readonly total: number;
}

export const wireScene: Scene = {
  name: "wire",
  title: "The wire and its window",
  playsRun: false,
  suits: ({ scenario }) => scenario.network != null,
  build,
};

function build(input: SceneInput): Built {
  const { journeys, result, width } = input;
  const network = result.scenario.network;
  const flows = flowsOf(input);
  const connections = [...new Set(flows.map(({ number }) => Math.floor(number / 2)))].slice(0, mostLanes);
  const shown = flows.filter(({ number }) => connections.includes(Math.floor(number / 2)));
  const window_bytes = Math.min(bytesOf(network?.client_buffer), bytesOf(network?.server_buffer));
  const busiest = flows.toSorted((a, b) => b.total - a.total)[0];
  const round_ns = Number(network?.round_trip ?? 0);
  const narrow = width < 560;
  const side = narrow ? 54 : 92;
  const laneHeight = connections.length === 1 ? 120 : connections.length < 4 ? (narrow ? 60 : 76) : narrow ? 44 : 56;
  const lanesTop = 12;
  const lanesBottom = lanesTop + laneHeight * Math.max(1, connections.length);
  const rulerTop = lanesBottom + 46;
  const height = rulerTop + 78;
  const [left, right] = [side, width - side];

  function draw(frame: Frame): number {
    const { context, time_ns, paint } = frame;
    let actors = 0;
    for (const flow of shown) {
      const lane = connections.indexOf(Math.floor(flow.number / 2));
      const y = lanesTop + lane * laneHeight + laneHeight * (flow.toClient ? 0.68 : 0.32);
      const [from, to] = flow.toClient ? [right, left] : [left, right];
      // Acknowledgements of the oldest come first; nothing before the oldest is on the wire.
      for (let nth = oldest(flow, time_ns); nth < flow.sent.length && flow.sent[nth]! <= time_ns; nth++) {
        const share = (time_ns - flow.sent[nth]!) / Math.max(1, flow.received[nth]! - flow.sent[nth]!);
        actors += 1;
        if (share <= 1) {
          // A segment as its frames.
          const frames = Math.max(1, Math.min(40, Math.round(flow.bytes[nth]! / frameBytes)));
          const tall = Math.min(26, laneHeight / 4);
          const x = from + (to - from) * share - Math.sign(to - from) * frames * 2;
          context.fillStyle = paint("network");
          for (let frame = 0; frame < frames; frame++) {
            const at = x + (frame - frames / 2) * 4;
            if (at >= left && at <= right - 3) context.fillRect(at, y - tall / 2, 3, tall);
          }
        } else {
          const back = (time_ns - flow.received[nth]!) / Math.max(1, flow.acknowledged[nth]! - flow.received[nth]!);
          const x = to + (from - to) * Math.min(1, back);
          context.fillStyle = paint("fixed");
          context.beginPath();
          const tip = from > to ? 6 : -6;
          context.moveTo(x + tip, y + 18);
          context.lineTo(x, y + 13);
          context.lineTo(x, y + 23);
          context.fill();
        }
      }
    }
    if (busiest !== undefined) drawRuler(frame, busiest);
    return actors;
  }

  /** The first segment of a flow whose acknowledgement is not back. */
  function oldest(flow: Flow, time_ns: number): number {
    return firstAfter(flow.acknowledged.length, (nth) => flow.acknowledged[nth]!, time_ns);
  }

  function unacknowledged(flow: Flow, time_ns: number): number {
    let bytes = 0;
    for (let nth = oldest(flow, time_ns); nth < flow.sent.length && flow.sent[nth]! <= time_ns; nth++) {
      bytes += flow.bytes[nth]!;
    }
    return bytes;
  }

  function drawRuler(frame: Frame, flow: Flow): void {
    const { context, time_ns, paint } = frame;
    const bytes = unacknowledged(flow, time_ns);
    const share = Math.min(1, bytes / window_bytes);
    const isFull = share > 0.98;
    context.fillStyle = paint(isFull ? "stopped" : "network");
    context.fillRect(left, rulerTop, (right - left) * share, 22);
    const waiting = waitingFor(frame.time_ns);
    const words = `${formatBytes(bytes)} of ${formatBytes(window_bytes)} unacknowledged${isFull ? ": the sender waits" : ""}`;
    write(frame, words, left, rulerTop + 42);
    if (waiting > 0)
      write(frame, `${counted(waiting * journeys.every, "request")} in flight`, left, rulerTop + 62, { soft: true });
  }

  function waitingFor(time_ns: number): number {
    let count = 0;
    journeys.each(time_ns, (row) => {
      const stay = journeys.stayAt(row, time_ns);
      const phase = stay < 0 ? "" : journeys.phaseOf(stay);
      if (["window_wait", "network_queue", "network_transfer", "round_trip"].includes(phase)) count += 1;
    });
    return count;
  }

  function backdrop(): SVGSVGElement {
    const root = picture(width, height);
    connections.forEach((connection, lane) => {
      const y = lanesTop + lane * laneHeight;
      root.append(box({ x: left, y: y + 4, width: right - left, height: laneHeight - 8 }, "lane"));
      if (connections.length > 1 && !narrow) {
        root.append(textAt((left + right) / 2, y + 16, `connection ${connection + 1}`, "lane-name", "middle"));
      }
    });
    const middle = (lanesTop + lanesBottom) / 2 + 5;
    root.append(
      textAt(left - 10, middle, "client", undefined, "end"),
      textAt(right + 10, middle, "server"),
      textAt(
        (left + right) / 2,
        lanesBottom + 18,
        `${network?.bits_per_s == null ? "" : `${formatBits(network.bits_per_s)}, `}${formatNanos(round_ns)} round trip`,
        "soft",
        "middle",
      ),
      box({ x: left, y: rulerTop, width: right - left, height: 22 }, "outline"),
      textAt(
        left,
        rulerTop - 8,
        busiest === undefined ? "" : `the window of ${busiest.toClient ? "the server’s" : "the client’s"} side`,
      ),
    );
    for (let tick = 1; tick < 4; tick++) {
      const x = left + ((right - left) * tick) / 4;
      root.append(svg("line", { x1: x, x2: x, y1: rulerTop, y2: rulerTop + 22, class: "thin" }));
    }
    return root;
  }

  return {
    height,
    backdrop: backdrop(),
    key: [
      ["network", "segments"],
      ["fixed", "acknowledgements"],
      ["stopped", "the window is full"],
    ],
    ...(round_ns > 0 ? { pace_ns: round_ns / 1.6 } : {}),
    note:
      flows.length > shown.length
        ? `${connections.length} of ${new Set(flows.map(({ number }) => number >> 1)).size} connections are drawn.`
        : "",
    draw,
    describe(time_ns) {
      if (busiest === undefined) return "Nothing is on the wire.";
      const bytes = unacknowledged(busiest, time_ns);
      return `${formatBytes(bytes)} are sent but not acknowledged; the window is ${formatBytes(window_bytes)}.`;
    },
  };
}

function flowsOf({ journeys }: SceneInput): Flow[] {
  const [sent, received, acknowledged] = [
    journeys.marks("sent"),
    journeys.marks("received"),
    journeys.marks("acknowledged"),
  ];
  const numbers = [...new Set(sent.object)].toSorted((a, b) => a - b);
  const flows = numbers.map((number) => {
    const of = (marks: typeof sent, take: (nth: number) => number) => {
      const list: number[] = [];
      marks.object.forEach((flow, nth) => {
        if (flow === number) list.push(take(nth));
      });
      return Float64Array.from(list);
    };
    const bytes = of(sent, (nth) => sent.value[nth]!);
    const far = (values: Float64Array) => Float64Array.from(bytes, (_, nth) => values[nth] ?? Infinity);
    return {
      number,
      toClient: number % 2 === 1,
      sent: of(sent, (nth) => sent.time_ns[nth]!),
      received: far(of(received, (nth) => received.time_ns[nth]!)),
      acknowledged: far(of(acknowledged, (nth) => acknowledged.time_ns[nth]!)),
      bytes,
      total: bytes.reduce((sum, value) => sum + value, 0),
    };
  });
  // The busiest connections first.
  const totals = new Map<number, number>();
  for (const { number, total } of flows) totals.set(number >> 1, (totals.get(number >> 1) ?? 0) + total);
  return flows.toSorted((a, b) => totals.get(b.number >> 1)! - totals.get(a.number >> 1)! || a.number - b.number);
}

function bytesOf(value: string | number | null | undefined): number {
  const number = Number(value);
  return Number.isFinite(number) && number > 0 ? number : Infinity;
}
