/**
 * Data through zero suppression, deduplication and compression to bytes on flash: the stream of the generator grows thinner at each
 * press, by what that press took of the very buffers of the run. What is taken falls out as dust.
 *
 * The widths are the run's metrics. A brick is a block of a write whose journey was recorded; which of a write's blocks are taken is
 * not recorded, so bricks are thinned evenly by the share that each press took.
 */
import { svg } from "../../base/elements.ts";
import { formatBytes, formatNumber } from "../../base/format.ts";
import { stepsOf } from "../../charts/reduction.ts";
import type { Meaning } from "../../base/colours.ts";
import { write } from "../kit/drawing.ts";
import { firstAfter } from "../kit/lookup.ts";
import { isNarrow } from "../kit/layout.ts";
import { box, textAt, picture } from "../kit/picture.ts";
import type { Built, Frame, SceneInput, Scene } from "./scene.ts";

const bricksPerWrite = 16;
const travel_s = 3.2;
const paints: readonly Meaning[] = ["memory", "memory", "network", "flash"];

export const squeezeScene: Scene = {
  name: "squeeze",
  title: "Data reduction",
  playsRun: false,
  suits: (result) => stepsOf(result).length > 0,
  build,
};

function build(input: SceneInput): Built {
  const { journeys, result, width } = input;
  const steps = stepsOf(result);
  const narrow = isNarrow(width);
  const height = narrow ? 300 : 320;
  const middle = narrow ? 130 : 140;
  const most = 86;
  const presses = steps.length;
  const pad = narrow ? 10 : 30;
  const span = (width - 2 * pad) / Math.max(1, presses);
  const all = Math.max(1, steps[0]?.bytes ?? 1);
  const share = (step: number) => (steps[step]?.bytes ?? 0) / all;
  const writes: number[] = [];
  for (let row = 0; row < journeys.count; row++) {
    if (journeys.parent[row]! < 0 && journeys.owner[row] === 0 && journeys.writes[row] === 1) writes.push(row);
  }
  const names = narrow
    ? ["written", "zeros", "dupl.", "LZ4"]
    : ["written", "zeros suppressed", "duplicates removed", "compressed"];

  function draw(frame: Frame): number {
    const { context, time_ns, speed, paint } = frame;
    const span_ns = travel_s * speed * 1e9;
    let bricks = 0;
    for (
      let nth = firstAfter(writes.length, (at) => journeys.begin_ns[writes[at]!]!, time_ns - span_ns);
      nth < writes.length;
      nth++
    ) {
      const row = writes[nth]!;
      const begun = journeys.begin_ns[row]!;
      if (begun > time_ns || bricks > 1500) break;
      for (let brick = 0; brick < bricksPerWrite; brick++) {
        const order = ((row * bricksPerWrite + brick) * 0.618034) % 1;
        const along = ((time_ns - begun) / span_ns) * presses + (order - 0.5) * 0.12;
        const step = Math.max(0, Math.min(presses - 1, Math.floor(along)));
        const x = pad + along * span;
        if (x < pad || x > width - pad) continue;
        // The brick that stays behind at a press falls.
        const gone = steps.findIndex((_, at) => at > 0 && at <= step && order > share(at));
        context.fillStyle = paint(gone > 0 ? "waiting" : paints[step]!);
        const y = middle + (((brick * 0.7548777) % 1) - 0.5) * most * 2 * Math.max(0.06, share(step));
        if (gone > 0) {
          const fallen = along - gone;
          if (fallen > 0.55) continue;
          context.globalAlpha = 1 - fallen / 0.55;
          context.fillRect(pad + gone * span + fallen * 14, middle + most + fallen * 90 - 4, 5, 5);
          context.globalAlpha = 1;
        } else context.fillRect(x - 3, y - 3, 6, 6);
        bricks += 1;
      }
      frame.actor(row, pad + ((time_ns - begun) / span_ns) * presses * span, middle);
    }
    steps.forEach((step, at) => {
      const x = pad + at * span + span / 2;
      write(frame, formatBytes(step.bytes), x, height - (narrow ? 44 : 38), {
        align: "center",
        bold: true,
        size: narrow ? 12 : 14,
      });
      const words = at === 0 ? "from the generator" : `${formatNumber(step.taken * 100)}% removed`;
      write(frame, words, x, height - (narrow ? 26 : 18), { align: "center", soft: true, size: narrow ? 11 : 13 });
    });
    return bricks;
  }

  function backdrop(): SVGSVGElement {
    const root = picture(width, height);
    steps.forEach((_, at) => {
      const x = pad + at * span;
      const half = Math.max(4, most * share(at));
      const before = Math.max(4, most * share(Math.max(0, at - 1)));
      root.append(
        box({ x, y: middle - half, width: span, height: 2 * half }, "lane"),
        textAt(x + span / 2, 24, names[at] ?? "", "soft", "middle"),
      );
      if (at > 0) {
        root.append(
          svg("path", {
            d: `M${x} ${middle - before - 8}V${middle - half}M${x} ${middle + half}V${middle + before + 8}`,
            stroke: "var(--ink)",
            "stroke-width": 4,
          }),
        );
      }
    });
    return root;
  }

  return {
    height,
    backdrop: backdrop(),
    // Some writes are between two presses at any time.
    pace_ns: (journeys.window[1] - journeys.window[0]) / Math.max(1, writes.length / 5),
    key: [
      ["memory", "data"],
      ["network", "unique data"],
      ["flash", "bytes on flash"],
      ["waiting", "removed"],
    ],
    draw,
    describe: () =>
      `Bytes: ${steps.map(({ name, bytes, taken }, at) => `${name} ${formatBytes(bytes)}${at === 0 ? "" : ` (${formatNumber(taken * 100)}% removed)`}`).join(", ")}.`,
  };
}
