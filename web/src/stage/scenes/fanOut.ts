/**
 * One request that queries many servers. Its leaves leave the client on the left, reach their servers on the right, and
 * return with the answers. The slow one is still in flight when all others have returned; a second copy starts later
 * and overtakes it. The bar at the client fills with answers. The request completes when enough of them have arrived.
 *
 * The journeys record when each copy starts and is answered. Its position in between is the share of that time.
 */
import { svg } from "../../base/elements.ts";
import { formatNanos } from "../../base/format.ts";
import type { Journeys } from "../../engine/journeys.ts";
import { shape, write } from "../kit/drawing.ts";
import { box, textAt, picture } from "../kit/picture.ts";
import type { Built, Frame, SceneInput, Scene } from "./scene.ts";

const mostRows = 120;
const pace_ns = 100e6;

/** Whether a request has all its answers. */
export const progress = { waits: "It waits.", done: "It is done." } as const;

export const fanOutScene: Scene = {
  name: "fan-out",
  title: "One request and its servers",
  playsRun: false,
  isStillBetweenEvents: true,
  suits: (result) => result.scenario.fanout != null,
  build,
};

interface Copy {
  readonly row: number;
  readonly begin_ns: number;
  readonly end_ns: number;
  readonly isSecond: boolean;
  /** Taken out of a queue: no answer comes of it. */
  readonly isWithdrawn: boolean;
}

interface Leaf {
  readonly copies: readonly Copy[];
  readonly answer_ns: number;
}

export interface Asked {
  readonly row: number;
  readonly begin_ns: number;
  readonly end_ns: number;
  readonly leaves: readonly Leaf[];
}

/** The requests of the journeys with their leaves, in order of begin. */
export function asksOf(journeys: Journeys): Asked[] {
  const parts = new Map<number, Map<number, Copy[]>>();
  for (let row = 0; row < journeys.count; row++) {
    const root = journeys.parent[row]!;
    if (root < 0 || journeys.first[row + 1] === journeys.first[row]) continue;
    const leaves = parts.get(root) ?? new Map<number, Copy[]>();
    parts.set(root, leaves);
    // Copies of a leaf ask for the same place.
    const copies = leaves.get(journeys.offset[row]!) ?? [];
    leaves.set(journeys.offset[row]!, copies);
    const last = journeys.first[row + 1]! - 1;
    copies.push({
      row,
      begin_ns: journeys.begin_ns[row]!,
      end_ns: journeys.lastOf(row),
      isSecond: journeys.begin_ns[row]! > journeys.begin_ns[root]!,
      isWithdrawn: journeys.phaseOf(last) === "queue",
    });
  }
  return [...parts]
    .map(([row, leaves]) => ({
      row,
      begin_ns: journeys.begin_ns[row]!,
      end_ns: journeys.lastOf(row),
      leaves: [...leaves.values()].map((copies) => ({
        copies,
        answer_ns: Math.min(...copies.filter(({ isWithdrawn }) => !isWithdrawn).map(({ end_ns }) => end_ns)),
      })),
    }))
    .toSorted((a, b) => a.begin_ns - b.begin_ns);
}

/** The leaves that are drawn: all of them, or the slowest and an even selection of the rest. */
function drawn(leaves: readonly Leaf[]): readonly Leaf[] {
  if (leaves.length <= mostRows) return leaves;
  const bySpeed = leaves.toSorted((a, b) => b.answer_ns - a.answer_ns);
  const slowest = new Set(bySpeed.slice(0, mostRows / 4));
  const others = leaves.filter((leaf) => !slowest.has(leaf));
  const step = others.length / (mostRows - slowest.size);
  const kept = new Set(Array.from({ length: mostRows - slowest.size }, (_, nth) => others[Math.floor(nth * step)]!));
  return leaves.filter((leaf) => slowest.has(leaf) || kept.has(leaf));
}

function build(input: SceneInput): Built {
  const { journeys, width } = input;
  const asks = asksOf(journeys);
  const rows = new Map(asks.map(({ row, leaves }) => [row, drawn(leaves)]));
  const [top, height] = [26, 330];
  const [left, right] = [58, width - 40];
  const tall = height - top - 12;

  /** The followed request, or the one that came last; before the first, that one. */
  function shownAt(time_ns: number, followed: number): Asked | undefined {
    const root = followed < 0 ? -1 : journeys.rootOf(followed);
    const chosen = asks.find(({ row }) => row === root);
    return chosen ?? asks.findLast(({ begin_ns }) => begin_ns <= time_ns) ?? asks[0];
  }

  function draw(frame: Frame): number {
    const { context, time_ns, paint } = frame;
    const asked = shownAt(time_ns, frame.followed);
    if (asked === undefined) return 0;
    const leaves = rows.get(asked.row)!;
    let actors = 0;
    const open = leaves.filter(({ answer_ns }) => answer_ns > time_ns).length;
    /** The fewer there are, the better each is seen: the last ones hold up the request. */
    const radiusOf = (count: number) => Math.max(1.6, Math.min(4.5, tall / count / 2));
    leaves.forEach((leaf, nth) => {
      const y = top + ((nth + 0.5) * tall) / leaves.length;
      for (const copy of leaf.copies) {
        if (time_ns < copy.begin_ns || (time_ns >= copy.end_ns && copy.isWithdrawn)) continue;
        const share = Math.min(1, (time_ns - copy.begin_ns) / Math.max(1, copy.end_ns - copy.begin_ns));
        const x = left + (right - left) * (share < 0.5 ? 2 * share : 2 - 2 * share);
        const isLate = time_ns >= leaf.answer_ns && copy.end_ns > leaf.answer_ns;
        const radius = radiusOf(leaf.answer_ns > time_ns ? open : leaves.length);
        const style = { isWrite: copy.isSecond, isFollowed: copy.row === frame.followed, isHollow: isLate };
        shape(frame, x, y, radius, copy.isSecond ? "prefetched" : "network", style);
        frame.actor(copy.row, x, y);
        actors += 1;
      }
    });
    const answers = answersAt(asked, time_ns);
    const filled = (tall * answers) / Math.max(1, asked.leaves.length);
    context.fillStyle = paint(time_ns >= asked.end_ns ? "fixed" : "memory");
    context.fillRect(14, top + tall - filled, 18, filled);
    write(frame, `${answers} of ${asked.leaves.length} answers`, 8, 16, { bold: true });
    const age = Math.max(0, Math.min(time_ns, asked.end_ns) - asked.begin_ns);
    write(frame, formatNanos(age), right, 16, { align: "right", bold: true });
    return actors;
  }

  function describe(time_ns: number): string {
    const asked = shownAt(time_ns, -1);
    if (asked === undefined) return "No request started in this window.";
    const answers = answersAt(asked, time_ns);
    const second = asked.leaves
      .flatMap(({ copies }) => copies)
      .filter((copy) => copy.isSecond && copy.begin_ns <= time_ns);
    const age = formatNanos(Math.max(0, Math.min(time_ns, asked.end_ns) - asked.begin_ns));
    const copies = second.length === 0 ? "" : ` ${second.length} second copies were sent.`;
    const done = time_ns >= asked.end_ns ? progress.done : progress.waits;
    return `${answers} of ${asked.leaves.length} servers have answered the request after ${age}. ${done}${copies}`;
  }

  function backdrop(): SVGSVGElement {
    const root = picture(width, height);
    root.append(
      box({ x: 14, y: top, width: 18, height: tall }, "lane"),
      svg("line", { x1: right + 6, x2: right + 6, y1: top, y2: top + tall, class: "lane-gate" }),
      textAt(right + 34, top + tall + 10, "servers", "soft", "end"),
    );
    return root;
  }

  return {
    height,
    backdrop: backdrop(),
    key: [
      ["network", "a question"],
      ["prefetched", "a second copy of one"],
      ["fixed", "the request is done"],
    ],
    pace_ns,
    note: "A circle is the first copy of a leaf, a square the second. An outline is a copy that is still being served after the other copy has answered.",
    draw,
    describe,
  };
}

function answersAt({ leaves }: Asked, time_ns: number): number {
  return leaves.filter(({ answer_ns }) => answer_ns <= time_ns).length;
}
