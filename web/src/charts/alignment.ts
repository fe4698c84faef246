/**
 * A ruler over a write: above, where its first and last byte fall among the disk's blocks, and which blocks must be read
 * first; below, where its time goes, with the revolutions of the disk as the scale.
 */
import { fill, ink, phases, stroke } from "../base/colours.ts";
import { html, svg } from "../base/elements.ts";
import { formatBytes, formatNumber, groupThousands } from "../base/format.ts";
import type { Result } from "../engine/api.ts";
import type { Chart } from "./chart.ts";
import { resultTable } from "./resultTable.ts";

export interface AlignmentOptions {
  readonly job: string;
  readonly width: number;
}

interface Place {
  readonly start: number;
  readonly bytes: number;
  readonly block: number;
  readonly readsFirst: boolean;
  /** One revolution, ms; nothing on a device that does not turn. */
  readonly turn_ms: number | undefined;
}

function placeOf(result: Result, job: string): Place | undefined {
  const { scenario } = result;
  const partition = scenario.partition;
  if (partition === undefined || partition === null) return undefined;
  const rpm = scenario.devices[0]?.hdd?.rpm;
  return {
    start: Number(partition.start),
    bytes: Number(scenario.jobs.find(({ name }) => name === job)?.bs ?? 4096),
    block: Number(partition.block ?? 4096),
    readsFirst: partition.read_modify_write !== false,
    turn_ms: rpm === undefined ? undefined : 60_000 / rpm,
  };
}

interface Part {
  readonly label: string;
  readonly meaning: (typeof phases)[number]["meaning"];
  readonly ms: number;
}

/** The mean time of a write by phase, ms, longest mechanism first in the order of a request's life. */
export function partsOf(result: Result, job: string): readonly Part[] {
  const of = (name: string) => result.summary.metrics[`${job}.write_${name}_mean_ms`] ?? 0;
  return phases.map(({ name, label, meaning }) => ({ label, meaning, ms: of(name) })).filter(({ ms }) => ms > 0);
}

export function describeAlignment(result: Result, job: string): string {
  const place = placeOf(result, job);
  if (place === undefined) return "This run has no partition.";
  const into = place.start % place.block;
  const mean = result.summary.metrics[`${job}.write_latency_mean_ms`] ?? 0;
  const turns = place.turn_ms === undefined ? "" : `, ${formatNumber(mean / place.turn_ms)} revolutions`;
  const where =
    into === 0
      ? `A start of ${groupThousands(place.start)} is a whole number of blocks: no read is needed before a write.`
      : `A start of ${groupThousands(place.start)} is ${groupThousands(into)} bytes into a block of ${formatBytes(place.block)}: ` +
        "a write covers its first and last block only partly" +
        (place.readsFirst ? ", so it must read them first." : ", and destroys the rest of them.");
  return `${where} A write takes ${formatNumber(mean)} ms${turns}.`;
}

export function alignmentTable(result: Result, job: string): HTMLTableElement {
  const rows = partsOf(result, job);
  const total = rows.reduce((sum, { ms }) => sum + ms, 0);
  const turn = placeOf(result, job)?.turn_ms;
  return resultTable({
    caption: "Mean time of a write",
    rows,
    columns: [
      { title: "phase", value: ({ label }) => label },
      { title: "ms", value: ({ ms }) => formatNumber(ms) },
      { title: "share, %", value: ({ ms }) => formatNumber((100 * ms) / total) },
      { title: "revolutions", value: ({ ms }) => (turn === undefined ? "–" : formatNumber(ms / turn)) },
    ],
  });
}

const blockHeight = 34;
const blocksAtEnd = 2;

export function alignment(result: Result, options: AlignmentOptions): HTMLElement {
  const { width, job } = options;
  const place = placeOf(result, job);
  if (place === undefined) return html("div", {}, html("p", { class: "empty" }, describeAlignment(result, job)));
  return html(
    "div",
    { class: "stacked" },
    ruler(place, width, describeAlignment(result, job)),
    times(result, place, options),
  );
}

/** The blocks around both ends of a write, with the middle left out. */
function ruler(place: Place, width: number, words: string): SVGSVGElement {
  const { start, bytes, block, readsFirst } = place;
  const end = start + bytes;
  const first = Math.floor(start / block);
  const last = Math.ceil(end / block) - 1;
  const shown = Math.min(last - first + 1, 2 * blocksAtEnd);
  const isCut = last - first + 1 > shown;
  const gap = isCut ? 44 : 0;
  const margin = 12;
  const each = (width - 2 * margin - gap) / (shown + 1);
  // Half a block of the neighbours on both sides shows whose bytes are at stake.
  const column = (block_: number) => (block_ <= first + blocksAtEnd - 1 ? block_ - first : shown - 1 - (last - block_));
  const x = (byte: number, side: number) => {
    const at = Math.min(last, Math.max(first, Math.floor(byte / block) - (byte % block === 0 && side > 0 ? 1 : 0)));
    const slot = column(at);
    return margin + each / 2 + slot * each + (slot >= blocksAtEnd ? gap : 0) + ((byte - at * block) / block) * each;
  };
  const blocks = Array.from({ length: shown }, (_, slot) =>
    slot < blocksAtEnd ? first + slot : last - (shown - 1 - slot),
  );
  const picture = svg("svg", {
    width,
    height: 132,
    viewBox: `0 0 ${width} 132`,
    role: "img",
    "aria-label": words,
    class: "ruler",
  });
  const top = 42;
  const text = (at: number, y: number, content: string, anchor = "middle", paint = "var(--ink-soft)") =>
    svg("text", { x: at, y, "text-anchor": anchor, fill: paint, "font-size": 12 }, content);
  for (const number of blocks) {
    const left = x(number * block, 0);
    const from = Math.max(start, number * block);
    const to = Math.min(end, (number + 1) * block);
    const isPartial = to - from < block;
    picture.append(
      svg("rect", {
        x: left,
        y: top,
        width: each,
        height: blockHeight,
        fill: isPartial && readsFirst ? fill("rotation") : "none",
        stroke: "var(--ink-soft)",
      }),
      svg("rect", {
        x: left + ((from - number * block) / block) * each,
        y: top + 4,
        width: Math.max(1, ((to - from) / block) * each),
        height: blockHeight - 8,
        fill: stroke("memory"),
      }),
    );
    if (isPartial) {
      const label = readsFirst ? "read first" : "destroyed";
      picture.append(
        text(left + each / 2, top + blockHeight + 16, label, "middle", readsFirst ? ink("rotation") : ink("broken")),
      );
    }
  }
  if (isCut) picture.append(text(margin + each / 2 + blocksAtEnd * each + gap / 2, top + 22, "· · ·"));
  const isNarrow = width < 560;
  picture.append(
    text(x(start, 0), 16, `${isNarrow ? "" : "first byte "}${groupThousands(start)}`, "start", ink("memory")),
    text(x(end, 1), 16, `${isNarrow ? "" : "last byte "}${groupThousands(end - 1)}`, "end", ink("memory")),
    svg("path", {
      d: `M${x(start, 0)} 22V${top + 4}M${x(end, 1)} 22V${top + 4}`,
      stroke: stroke("memory"),
      fill: "none",
    }),
    text(
      width / 2,
      126,
      `a write of ${formatBytes(bytes)} over blocks of ${formatBytes(block)}${isNarrow ? "" : "; bytes of the disk"}`,
    ),
  );
  return picture;
}

/** The mean write by phase against the revolutions of the disk. */
function times(result: Result, place: Place, options: AlignmentOptions): SVGSVGElement {
  const { width, job } = options;
  const parts = partsOf(result, job);
  const total = parts.reduce((sum, { ms }) => sum + ms, 0);
  const turn = place.turn_ms;
  const end = turn === undefined ? total * 1.05 : Math.max(3, Math.ceil(total / turn)) * turn;
  const margin = 12;
  const x = (ms: number) => margin + (ms / end) * (width - 2 * margin);
  const picture = svg("svg", {
    width,
    height: 122,
    viewBox: `0 0 ${width} 122`,
    role: "img",
    "aria-label": `Time of a write: ${parts.map(({ label, ms }) => `${label} ${formatNumber(ms)} ms`).join(", ")}`,
  });
  const text = (at: number, y: number, content: string, anchor = "middle", paint = "var(--ink-soft)") =>
    svg("text", { x: at, y, "text-anchor": anchor, fill: paint, "font-size": 12 }, content);
  if (turn !== undefined) {
    for (let nth = 0; nth * turn <= end * 1.0001; nth++) {
      picture.append(
        svg("path", { d: `M${x(nth * turn)} 18V74`, stroke: "var(--rule-strong)", "stroke-dasharray": "3 3" }),
        text(
          x(nth * turn),
          12,
          nth === 1 ? "1 revolution" : String(nth),
          nth === 0 ? "start" : x(nth * turn) > width - 40 ? "end" : "middle",
        ),
      );
    }
  }
  let at = 0;
  for (const { label, meaning, ms } of parts) {
    const bar = svg("rect", {
      x: x(at),
      y: 30,
      width: Math.max(1, x(at + ms) - x(at)),
      height: 30,
      fill: fill(meaning),
    });
    bar.append(svg("title", {}, `${label}: ${formatNumber(ms)} ms`));
    picture.append(bar);
    const room = x(at + ms) - x(at);
    if (room > 8 * label.length)
      picture.append(text((x(at) + x(at + ms)) / 2, 92, `${label} ${formatNumber(ms)}`, "middle", ink(meaning)));
    at += ms;
  }
  picture.append(
    text(
      margin,
      114,
      `mean write: ${formatNumber(total)} ms${turn === undefined ? "" : `; one revolution is ${formatNumber(turn)} ms`}`,
      "start",
    ),
  );
  return picture;
}

export const alignmentChart: Chart = {
  name: "alignment",
  title: "Alignment",
  hides:
    "One write at the start of the file, and the mean of all writes. Hides how much single writes differ from the mean.",
  suits: ({ partition }) => partition !== undefined,
  draw: ({ result, focus: { job } }, width) => alignment(result, { job, width }),
  describe: (result, { job }) => describeAlignment(result, job),
  table: ({ result, focus: { job } }) => alignmentTable(result, job),
};
