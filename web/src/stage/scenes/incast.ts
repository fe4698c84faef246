/**
 * Many servers send to one client. Their packets travel to the port of the switch, wait in its buffer and leave one by
 * one; packets that arrive when it is full are dropped. A server whose last packets were lost waits for its timer, a
 * ring that fills, and the client waits for that server: its link, drawn below over the whole window, is silent.
 *
 * Packets, drops and timers are the engine's marks. The position of a packet between two of them is the share of the
 * time.
 */
import { svg } from "../../base/elements.ts";
import { formatNanos } from "../../base/format.ts";
import type { Result } from "../../engine/api.ts";
import { firstAfter, firstFrom } from "../kit/lookup.ts";
import { type PortPacket, portRecordOf } from "./portPackets.ts";
import { box, textAt, picture } from "../kit/picture.ts";
import { arc, clock, disc, line, write } from "../kit/drawing.ts";
import { journeysOf } from "../../engine/journeys.ts";
import { type Built, type Frame, pairOf, type SceneInput, type Scene } from "./scene.ts";

/** How long a dropped packet falls. */
const fall_ns = 600_000;
/** Between the packets of the heap, in pixels, and the most of them in its lowest row. */
const [heapStep, heapWidest] = [7, 24] as const;
/** A link that has carried nothing for so long is called silent. */
const silent_ns = 1e6;

export const incastScene: Scene = {
  name: "incast",
  title: "The port of the switch",
  playsRun: false,
  isStillBetweenEvents: true,
  suits: (result) => result.scenario.network?.packets != null,
  build,
};

const serversOf = ({ scenario }: Result) => scenario.network?.packets?.servers ?? 1;
const windowOf = ({ scenario }: Result) => scenario.network?.packets?.window ?? 1;

function build(input: SceneInput): Built {
  const { journeys, result, width } = input;
  const record = portRecordOf(result, journeys);
  const { servers, buffer, packets, taken, dropped, waits } = record;
  const [from_ns] = journeys.window;
  const to_ns = Math.max(...pairOf(input).map((run) => journeysOf(run).window[1]));
  const height = 336;
  const [top, tall] = [34, 196];
  const middle = top + tall / 2;
  const columns = servers > 48 ? 4 : servers > 24 ? 3 : servers > 8 ? 2 : 1;
  const perColumn = Math.ceil(servers / columns);
  const radius = Math.max(2, Math.min(7, tall / perColumn / 3.2));
  const serverAt = (server: number) => ({
    x: 18 + Math.floor(server / perColumn) * (2 * radius + 14),
    y: top + ((server % perColumn) + 0.5) * (tall / Math.min(servers, perColumn)),
  });
  const serversRight = 18 + columns * (2 * radius + 14);
  const client = { x: width - 26, y: middle };
  const [portLeft, portRight] = [
    serversRight + (client.x - serversRight) * 0.36,
    client.x - (client.x - serversRight) * 0.2,
  ];
  const slot = (portRight - portLeft) / buffer;
  const inFlight = windowOf(result);
  const most = Math.max(...pairOf(input).map((run) => Math.max(windowOf(run) * serversOf(run), buffer)));
  const strip = { top: top + tall + 34, tall: 34, left: 8, right: width - 8 };
  const stripX = (time_ns: number) =>
    strip.left + ((strip.right - strip.left) * (time_ns - from_ns)) / Math.max(1, to_ns - from_ns);
  // Pieces of the requests, by server, as far as their journeys are kept.
  const pieces = piecesOf();
  const blocks_ns = [...new Set(pieces.map(({ begin_ns }) => begin_ns))].toSorted((a, b) => a - b);
  const heap = {
    row: Math.min(heapWidest, Math.floor(((portLeft - serversRight - 8) * 2) / heapStep)),
    x: portLeft,
    y: top + tall - 4,
  };
  // What a server waits for with its timer: the last packet that it lost before.
  const awaited = new Map(
    waits.flatMap((wait) => {
      const lost = dropped.findLast(({ server, port_ns }) => server === wait.server && port_ns < wait.to_ns);
      return lost === undefined ? [] : [[lost, wait] as const];
    }),
  );

  function piecesOf(): { row: number; server: number; begin_ns: number; end_ns: number; root: number }[] {
    const found = [];
    const seen = new Map<number, number>();
    for (let row = 0; row < journeys.count; row++) {
      const root = journeys.parent[row]!;
      if (root < 0 || journeys.parent[root]! >= 0) continue;
      const server = seen.get(root) ?? 0;
      seen.set(root, server + 1);
      found.push({ row, server, begin_ns: journeys.begin_ns[row]!, end_ns: journeys.lastOf(row), root });
    }
    return found;
  }

  const openAt = (time_ns: number) => pieces.filter(({ begin_ns, end_ns }) => begin_ns <= time_ns && time_ns < end_ns);
  const lastReceived = (time_ns: number) => taken[firstAfter(taken.length, (nth) => taken[nth]!.left_ns, time_ns) - 1];
  /** Packets that wait at a moment, from the one that leaves next. */
  function queueAt(time_ns: number): readonly PortPacket[] {
    const first = firstAfter(taken.length, (nth) => taken[nth]!.leaves_ns, time_ns);
    const after = firstAfter(taken.length, (nth) => taken[nth]!.port_ns, time_ns);
    return taken.slice(first, Math.max(first, after));
  }

  function silenceAt(time_ns: number): number {
    const next = taken[firstAfter(taken.length, (nth) => taken[nth]!.leaves_ns, time_ns)];
    const last = lastReceived(time_ns);
    const since = last === undefined ? from_ns : last.left_ns;
    const isBusy = next !== undefined && next.port_ns <= time_ns;
    return isBusy || time_ns < since || openAt(time_ns).length === 0 ? 0 : time_ns - since;
  }

  function draw(frame: Frame): number {
    const { context, time_ns, paint } = frame;
    const open = openAt(time_ns);
    const byServer = new Map(open.map((piece) => [piece.server, piece]));
    let actors = 0;
    for (let server = 0; server < servers; server++) {
      const { x, y } = serverAt(server);
      const piece = byServer.get(server);
      const wait = waits.find((one) => one.server === server && one.from_ns <= time_ns && time_ns < one.to_ns);
      disc(frame, x, y, radius, wait !== undefined ? "stopped" : piece === undefined ? "waiting" : "network");
      if (wait !== undefined) {
        const share = (time_ns - wait.from_ns) / Math.max(1, wait.to_ns - wait.from_ns);
        clock(frame, x, y, radius + 4, share, "stopped", 3);
      }
      if (piece !== undefined) {
        frame.actor(piece.row, x, y);
        if (piece.row === frame.followed) arc(frame, { x, y, radius: radius + 7 }, "ink", 2);
      }
    }
    const size = servers > 24 ? 1.8 : 2.6;
    const dot = (x: number, y: number) => {
      disc(frame, x, y, size, "network");
      actors += 1;
    };
    context.fillStyle = paint("network");
    const begin = firstAfter(packets.length, (nth) => packets[nth]!.port_ns, time_ns);
    // No packet is in flight to the port for longer than a window takes to leave.
    for (let nth = begin; nth < packets.length && packets[nth]!.port_ns < time_ns + 5e6; nth++) {
      const packet = packets[nth]!;
      if (packet.sent_ns > time_ns) continue;
      const share = (time_ns - packet.sent_ns) / Math.max(1, packet.port_ns - packet.sent_ns);
      const { x, y } = serverAt(packet.server);
      dot(x + radius + (portLeft - x - radius) * share, y + (middle - y) * share);
    }
    const queue = queueAt(time_ns);
    queue.forEach((_, place) => {
      const x = portRight - (place + 1) * slot;
      if (x >= portLeft - slot) context.fillRect(x, middle - 14, Math.max(0.8, slot - (slot > 2.5 ? 1 : 0)), 28);
    });
    const first = firstAfter(taken.length, (nth) => taken[nth]!.received_ns, time_ns);
    for (let nth = first; nth < taken.length && taken[nth]!.leaves_ns <= time_ns; nth++) {
      const packet = taken[nth]!;
      const share = (time_ns - packet.leaves_ns) / Math.max(1, packet.received_ns - packet.leaves_ns);
      dot(portRight + (client.x - 12 - portRight) * share, middle);
    }
    const lost = drawHeap(frame);
    if (queue.length >= buffer) {
      context.strokeStyle = paint("broken");
      context.lineWidth = 3;
      context.strokeRect(portLeft, middle - 16, portRight - portLeft, 32);
    }
    write(frame, `${queue.length} of ${buffer}`, (portLeft + portRight) / 2, middle + 32, { align: "center" });
    write(frame, `${lost} dropped`, portLeft, top + tall + 16, { align: "center", soft: lost === 0 });
    const silence = silenceAt(time_ns);
    const words = silence > silent_ns ? `silent for ${formatNanos(silence)}` : "";
    write(frame, words, width - 8, 16, { align: "right", bold: true });
    write(frame, `${servers - open.length} of ${servers} pieces`, 8, 16, { bold: true });
    context.fillStyle = paint("ink");
    context.fillRect(stripX(time_ns) - 1, strip.top - 5, 2, strip.tall + 10);
    return actors;
  }

  /** Draw the packets of this block that were dropped: they fall, and stay in a heap. Return how many there are. */
  function drawHeap(frame: Frame): number {
    const { time_ns } = frame;
    const begun_ns = blocks_ns[firstAfter(blocks_ns.length, (nth) => blocks_ns[nth]!, time_ns) - 1] ?? from_ns;
    const first = firstFrom(dropped.length, (nth) => dropped[nth]!.port_ns, begun_ns);
    const end = firstAfter(dropped.length, (nth) => dropped[nth]!.port_ns, time_ns);
    let [row, place] = [0, 0];
    // A row of the heap is one shorter than the row below it.
    for (let nth = first; nth < end && row < heap.row; nth++, place++) {
      if (place === heap.row - row) [row, place] = [row + 1, 0];
      const packet = dropped[nth]!;
      const share = Math.min(1, (time_ns - packet.port_ns) / fall_ns);
      const x = heap.x + (place - (heap.row - row - 1) / 2) * heapStep;
      const floor = heap.y - row * heapStep;
      const y = floor - (1 - share * share) * Math.max(0, floor - middle - 18);
      const wait = awaited.get(packet);
      const isAwaited = wait !== undefined && wait.from_ns <= time_ns && time_ns < wait.to_ns;
      const [colour, thick, half] = isAwaited ? (["stopped", 3.5, 4] as const) : (["broken", 1.5, 2.5] as const);
      line(frame, [x - half, y - half, x + half, y + half], colour, thick);
      line(frame, [x + half, y - half, x - half, y + half], colour, thick);
    }
    return end - first;
  }

  /** Every server's window as a piece of one length, against that of the port. */
  function windowBars(): SVGElement[] {
    const [y, high] = [52, 14];
    const scale = (client.x + 12 - portLeft) / most;
    const end = portLeft + servers * inFlight * scale;
    const limit = portLeft + buffer * scale;
    const words = `${servers} × ${inFlight} = ${servers * inFlight} packets at once`;
    return [
      ...Array.from({ length: servers }, (_, nth) =>
        svg("rect", {
          x: portLeft + nth * inFlight * scale,
          y,
          width: Math.max(0.5, inFlight * scale - 1),
          height: high,
          fill: "var(--network)",
          opacity: portLeft + (nth + 0.5) * inFlight * scale < limit ? 1 : 0.4,
        }),
      ),
      svg("line", { x1: limit, x2: limit, y1: y - 4, y2: y + high + 6, stroke: "var(--ink)", "stroke-width": 2 }),
      textAt(portLeft, y - 8, words),
      textAt(
        limit + (end > limit + 90 || limit < client.x - 80 ? 4 : -4),
        y + high + 14,
        `port: ${buffer}`,
        "soft",
        end > limit + 90 || limit < client.x - 80 ? undefined : "end",
      ),
    ];
  }

  /** The client's link over the whole window: how much of each moment it carries a packet. */
  function linkBars(): SVGElement[] {
    const bars = Math.max(1, Math.floor((strip.right - strip.left) / 2));
    const each_ns = Math.max(1, to_ns - from_ns) / bars;
    const busy = new Float64Array(bars);
    for (const { leaves_ns, left_ns } of taken) {
      const bar = Math.floor((left_ns - from_ns) / each_ns);
      if (bar >= 0 && bar < bars) busy[bar]! += left_ns - leaves_ns;
    }
    return [...busy].flatMap((busy_ns, bar) => {
      const tallest = Math.min(1, busy_ns / each_ns) * strip.tall;
      if (tallest <= 0) return [];
      const [x, y] = [strip.left + bar * 2, strip.top + strip.tall - tallest];
      return [svg("rect", { x, y, width: 2, height: tallest, fill: "var(--network)" })];
    });
  }

  function backdrop(): SVGSVGElement {
    const root = picture(width, height);
    const seen = waits.filter(({ to_ns: end }) => end >= from_ns && end <= to_ns);
    root.append(
      svg("line", { x1: portRight, x2: client.x - 12, y1: middle, y2: middle, class: "outline" }),
      svg("rect", {
        x: portLeft,
        y: middle - 16,
        width: portRight - portLeft,
        height: 32,
        class: "outline",
        fill: "none",
      }),
      textAt((portLeft + portRight) / 2, middle - 24, "port of the switch", "soft", "middle"),
      svg("circle", { cx: client.x, cy: client.y, r: 12, class: "outline" }),
      textAt(client.x + 20, client.y + 32, "client", "soft", "end"),
      textAt(8, top + tall + 16, servers === 1 ? "server" : "servers", "soft"),
      box({ x: strip.left, y: strip.top, width: strip.right - strip.left, height: strip.tall }, "lane"),
      ...linkBars(),
      ...windowBars(),
      ...seen.map(({ to_ns: end }) =>
        svg("line", {
          x1: stripX(end),
          x2: stripX(end),
          y1: strip.top - 4,
          y2: strip.top + strip.tall,
          stroke: "var(--stopped)",
          "stroke-width": 2,
        }),
      ),
      textAt(strip.left, strip.top + strip.tall + 17, "the client's link", "soft"),
      textAt(strip.right, strip.top + strip.tall + 17, formatNanos(to_ns - from_ns), "soft", "end"),
    );
    return root;
  }

  function describe(time_ns: number): string {
    const open = openAt(time_ns);
    const waiting = waits.filter(({ from_ns: begin, to_ns: end }) => begin <= time_ns && time_ns < end).length;
    const lost = firstAfter(dropped.length, (nth) => dropped[nth]!.port_ns, time_ns);
    const silence = silenceAt(time_ns);
    const link =
      silence > silent_ns
        ? `The client's link has been silent for ${formatNanos(silence)}.`
        : "The client's link is busy.";
    const timers = waiting === 1 ? "1 server waits for its timer" : `${waiting} servers wait for their timers`;
    return `${servers - open.length} of ${servers} pieces have arrived. Waiting at the port: ${queueAt(time_ns).length}. Dropped so far: ${lost}. ${timers}. ${link}`;
  }

  return {
    height,
    backdrop: backdrop(),
    places: {
      // With the whole count of pieces above them, but not into the port.
      servers: {
        x: 0,
        y: 0,
        width: Math.max(serversRight + 8, Math.min(130, portLeft - 10)),
        height: top + tall + 24,
      },
      port: { x: portLeft - 10, y: middle - 34, width: portRight - portLeft + 20, height: 68 },
      drops: {
        x: heap.x - (heap.row / 2) * heapStep - 6,
        y: middle + 18,
        width: heap.row * heapStep + 12,
        height: tall / 2 + 8,
      },
      windows: { x: portLeft - 6, y: 26, width: width - portLeft + 6, height: 60 },
      client: { x: portRight, y: middle - 34, width: width - portRight, height: 68 },
      link: { x: 0, y: strip.top - 12, width, height: strip.tall + 34 },
    },
    pace_ns: 3e6,
    key: [
      ["network", "packets, and servers with packets to send"],
      ["broken", "dropped: the port is full"],
      ["stopped", "waits for its timer, for want of such a packet"],
      ["waiting", "idle"],
    ],
    note: "A ring fills until a sender's timer expires; a bar in the strip below marks that moment. Step jumps to the next piece.",
    draw,
    describe,
  };
}
