/**
 * The prefetch strip: the file from left to right, its reads one below the other, each with the time it took.
 *
 * For every read: what it found in memory, what was missing and had to be fetched while the copy waited, and what the
 * prefetcher fetched next. Guide lines drop from the end of one read's prefetch to the next read, so that a part which no
 * prefetch covers is seen to start exactly there. The picture shows one moment of the run; a page of reads fills from top
 * to bottom and then turns.
 */
import type { Result } from "../engine/api.ts";
import { fill, ink, phases, stroke, type Meaning } from "../base/colours.ts";
import { formatBytes, formatNanos, groupThousands } from "../base/format.ts";
import { missedFrom, readsOf, type Prefetched, type Read } from "./rows/reads.ts";
import { svg } from "../base/elements.ts";
import { binaryTicks, decimalTicks } from "./ticks.ts";

export interface PrefetchStripOptions {
  readonly job: string;
  /** The moment shown. */
  readonly time_ns: number;
  readonly width: number;
  /** Reads on a page; fewer on a narrow screen when absent. */
  readonly rows?: number;
  /** End of the time axis; the slowest read when absent. Keep it fixed to compare runs. */
  readonly latency_max_ns?: number;
  /** Bytes of the file after a read that the picture keeps visible. Default: the prefetched range. */
  readonly ahead_bytes?: number;
}

/** Where the strip put the end of the newest prefetch, for a handle to be laid over it. In pixels of the drawing. */
export interface StripHandle {
  readonly x: number;
  readonly y: number;
  readonly height: number;
  readonly start_x: number;
  readonly pixels_per_byte: number;
  readonly bytes: number;
}

export interface PrefetchStrip {
  readonly element: SVGSVGElement;
  readonly handle: StripHandle | undefined;
  readonly ahead_bytes: number;
}

const barHeight = 16;
const rowPitch = 38;
const mebibyte = 1024 * 1024;
const narrowWidth = 620;
const narrowest = 240;

/** Reads on a page of a strip of this width. */
export function rowsFor(width: number): number {
  return width < narrowWidth ? 3 : 5;
}

export function prefetchStrip(result: Result, options: PrefetchStripOptions): PrefetchStrip {
  const { job, time_ns } = options;
  // Narrower than a small phone, the drawing overflows rather than turning inside out.
  const width = Math.max(narrowest, options.width);
  const reads = readsOf(result, job);
  const isNarrow = width < narrowWidth;
  const rows = options.rows ?? rowsFor(width);
  const gutter = isNarrow ? 0 : 58;
  const gap = 44;
  const stripWidth = isNarrow ? width - 2 : Math.round((width - gutter - gap) * 0.67);
  const timeLeft = isNarrow ? 52 : gutter + stripWidth + gap;
  const timeWidth = width - timeLeft - 54;
  const stripTop = 66;
  const timeTop = isNarrow ? stripTop + rows * rowPitch + 52 : stripTop;
  const height = timeTop + rows * (isNarrow ? 24 : rowPitch) + 4;

  const now = readAt(reads, time_ns);
  const first = Math.floor(Math.max(0, now) / rows) * rows;
  const page = reads.slice(first, first + rows);
  const largest = Math.max(1, ...page.map((read) => read.bytes));
  const ahead_bytes = options.ahead_bytes ?? aheadOf(page, largest);
  const start = page[0]?.from ?? 0;
  const end = (page.at(-1)?.to ?? start + 1) + ahead_bytes;
  const x = (offset: number) => gutter + ((offset - start) / (end - start)) * stripWidth;
  const latencyMax = options.latency_max_ns ?? Math.max(1, ...reads.map((read) => read.latency_ns));
  const t = (nanos: number) => timeLeft + (Math.min(nanos, latencyMax * 1.02) / latencyMax) * timeWidth;

  const root = svg("svg", {
    class: "strip",
    viewBox: `0 0 ${width} ${height}`,
    width,
    height,
    role: "img",
    "aria-label": describe(reads, now, time_ns),
  });

  // Axes.
  root.append(text(gutter, 11, "offset in the file, MiB", "axis-title"));
  for (const offset of binaryTicks(start / mebibyte, end / mebibyte, isNarrow ? 4 : 7)) {
    const at = x(offset * mebibyte);
    if (at > gutter + stripWidth - 8) continue;
    root.append(
      line(at, 32, at, 36),
      text(at, 28, groupThousands(offset), "axis", offset === start ? "start" : "middle"),
    );
  }
  const latencyTicks = decimalTicks(0, latencyMax / 1e6, isNarrow ? 4 : 5);
  const timeAxis = timeTop - 30;
  root.append(text(timeLeft, timeTop - 55 + (isNarrow ? 10 : 0), "time of each read, ms", "axis-title"));
  for (const ms of latencyTicks) {
    const at = t(ms * 1e6);
    root.append(
      text(at, timeAxis - (isNarrow ? -4 : 8), String(ms), "axis", "middle"),
      svg("line", { class: "grid", x1: at, x2: at, y1: timeAxis + (isNarrow ? 10 : 0), y2: height - 8 }),
    );
  }

  // The file itself: what the moment shown has left in memory.
  root.append(svg("rect", { class: "file", x: gutter, y: 37, width: stripWidth, height: 12 }));
  const band = svg("g", {});
  const clipped = (from: number, to: number, y: number, thickness: number, paint: string, extra = {}) => {
    const left = Math.max(gutter, x(from));
    const right = Math.min(gutter + stripWidth, x(to));
    return svg("rect", { x: left, y, width: Math.max(0, right - left), height: thickness, fill: paint, ...extra });
  };
  for (const read of reads.slice(Math.max(0, first - 2), now + 1)) {
    for (const prefetch of read.prefetched) {
      const done = progressOf(prefetch, time_ns);
      if (done > 0) {
        const reached = prefetch.from + (prefetch.to - prefetch.from) * done;
        if (reached > start) band.append(clipped(prefetch.from, reached, 37, 12, fill("prefetched")));
      }
    }
  }
  page.slice(0, now - first + 1).forEach((read) => {
    band.append(clipped(read.from, read.to, 37, 12, fill("memory"), { "fill-opacity": 0.35 }));
    for (const part of read.missing) band.append(missingMark(x(part.from), x(part.to), 34, 18, missedFrom(read), true));
  });
  root.append(band);

  let handle: StripHandle | undefined;
  page.forEach((read, row) => {
    const index = first + row;
    const y = stripTop + row * rowPitch;
    const timeY = isNarrow ? timeTop + row * 24 - 12 : y;
    if (index > now) {
      root.append(
        svg("rect", {
          class: "expected",
          x: x(read.from),
          y,
          width: x(read.to) - x(read.from),
          height: barHeight,
        }),
      );
      return;
    }
    const isCurrent = index === now;
    const elapsed = time_ns - read.submit_ns;
    const isDone = elapsed >= read.latency_ns;
    const group = svg("g", { class: isCurrent ? "read current" : "read" });
    const name = `read ${groupThousands(index + 1)}`;
    if (!isNarrow) group.append(text(gutter - 8, y + 12, name, "row-label", "end"));
    else group.append(text(timeLeft - 6, timeY + 12, name, "row-label", "end"));

    // From the end of the prefetch above to the read that it was made for.
    const above = page[row - 1]?.prefetched ?? [];
    for (const edge of new Set(above.flatMap((prefetch) => [prefetch.from, prefetch.to]))) {
      if (edge >= read.from && edge <= read.to) {
        const at = x(edge);
        group.append(svg("line", { class: "guide", x1: at, x2: at, y1: y - rowPitch + barHeight, y2: y }));
      }
    }

    // Found in memory, then what was missing.
    group.append(clipped(read.from, read.to, y, barHeight, fill("memory")));
    for (const part of read.missing) {
      const source = missedFrom(read);
      const [left, right] = [x(part.from), x(part.to)];
      group.append(clipped(part.from, part.to, y, barHeight, "var(--paper)"));
      group.append(missingMark(left, right, y - 3, barHeight + 6, source, isDone));
      if (isCurrent || row === 0) {
        const label = `${formatBytes(part.to - part.from)} from ${source}`;
        const isRoomRight = Math.max(right, left + 3) + 6.2 * label.length < width || !isNarrow;
        group.append(
          svg(
            "text",
            {
              class: "label",
              x: isRoomRight ? left : right,
              y: y + barHeight + 15,
              fill: ink(source),
              "text-anchor": isRoomRight ? "start" : "end",
            },
            label,
          ),
        );
      }
    }
    const memoryWidth = x(read.from + read.cached_bytes) - x(read.from);
    const inMemory = `${formatBytes(read.cached_bytes)} from memory`;
    if (memoryWidth > 6.4 * inMemory.length) group.append(inBar(x(read.from) + 6, y, inMemory, "on-memory"));
    else if (memoryWidth > 48) group.append(inBar(x(read.from) + 5, y, formatBytes(read.cached_bytes), "on-memory"));

    // Data that the prefetcher fetched because of this read.
    read.prefetched.forEach((prefetch, nth) => {
      if (time_ns < prefetch.issue_ns) return;
      const done = progressOf(prefetch, time_ns);
      const right = Math.min(x(prefetch.to), gutter + stripWidth);
      const reached = prefetch.from + (prefetch.to - prefetch.from) * done;
      group.append(
        clipped(prefetch.from, reached, y, barHeight, fill("prefetched")),
        svg("rect", {
          class: "prefetch-outline",
          x: x(prefetch.from) + 0.5,
          y: y + 0.5,
          width: Math.max(0, right - x(prefetch.from) - 1),
          height: barHeight - 1,
          stroke: stroke("prefetched"),
        }),
      );
      const words = `prefetched ${formatBytes(prefetch.to - prefetch.from)}`;
      const room = right - x(prefetch.from);
      if (room > 6.2 * words.length + 9) group.append(inBar(x(prefetch.from) + 6, y, words, "on-prefetched"));
      else if (room > 50)
        group.append(inBar(x(prefetch.from) + 5, y, formatBytes(prefetch.to - prefetch.from), "on-prefetched"));
      if (nth === read.prefetched.length - 1 && x(prefetch.to) <= gutter + stripWidth + 1) {
        handle = {
          x: x(prefetch.to),
          y: y - 3,
          height: barHeight + 6,
          start_x: x(prefetch.from),
          pixels_per_byte: stripWidth / (end - start),
          bytes: prefetch.to - prefetch.from,
        };
      }
    });

    group.append(...lifeBar(read, elapsed, t, timeY, isNarrow ? 12 : barHeight, isCurrent || row === 0));
    root.append(group);
  });
  return { element: root, handle, ahead_bytes };
}

/** Return the read in flight, or the last that started by `time_ns`; -1 before the first. */
export function readAt(reads: readonly Read[], time_ns: number): number {
  let [low, high] = [0, reads.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (reads[middle]!.submit_ns <= time_ns) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

/** What a read does in a phase, where the phase's label does not say it. */
export const activities: Readonly<Record<string, string>> = {
  memory: "copying from memory",
  queue: "waiting in the device's queue",
  seek: "the arm is moving",
  rotation: "waiting for the platter to turn",
  transfer: "reading from the platter",
  in_flight: "waiting for a prefetch in flight",
  flash_read: "reading from flash",
};

/** Describe the moment `time_ns` as text. */
export function describe(reads: readonly Read[], index: number, time_ns: number, writes: readonly Read[] = []): string {
  const read = reads[index];
  if (read === undefined) return "Before the first read.";
  const name = `Read ${index + 1} of ${reads.length}`;
  const parts = [
    `${formatBytes(read.cached_bytes)} from memory`,
    read.missed_bytes > 0 ? `${formatBytes(read.missed_bytes)} from ${missedFrom(read)}` : "nothing missing",
  ].join(", ");
  const elapsed = time_ns - read.submit_ns;
  if (elapsed >= read.latency_ns) {
    const write = writes[readAt(writes, time_ns)];
    const isWriting = write !== undefined && time_ns < write.submit_ns + write.latency_ns;
    const then = isWriting ? " Now the copy writes the data." : "";
    return `${name}: ${parts}. It took ${formatNanos(read.latency_ns)}.${then}`;
  }
  let passed = 0;
  const phase = phases.find((_, at) => (passed += read.phase_ns[at]!) > elapsed);
  return `${name}: ${parts}. Now: ${activities[phase?.name ?? ""] ?? phase?.label ?? "finishing"}.`;
}

function lifeBar(
  read: Read,
  elapsed: number,
  t: (nanos: number) => number,
  y: number,
  thickness: number,
  isLabelled: boolean,
): SVGElement[] {
  const marks: SVGElement[] = [];
  let from = 0;
  phases.forEach((phase, at) => {
    const to = Math.min(from + read.phase_ns[at]!, elapsed);
    if (to <= from) return;
    const [left, right] = [t(from), t(to)];
    marks.push(svg("rect", { x: left, y, width: right - left, height: thickness, fill: fill(phase.meaning) }));
    if (isLabelled && right - left > 6.6 * phase.label.length + 6 && thickness === barHeight) {
      marks.push(
        svg(
          "text",
          {
            class: "label",
            x: (left + right) / 2,
            y: y + thickness + 13,
            fill: ink(phase.meaning),
            "text-anchor": "middle",
          },
          phase.label,
        ),
      );
    }
    from = to;
  });
  const shown = Math.min(Math.max(elapsed, 0), read.latency_ns);
  marks.push(text(t(shown) + 5, y + thickness - 3.5, formatNanos(shown), "value"));
  return marks;
}

// The missing part is a few pixels wide; it stands out above and below the bar, so that it is seen by its shape too.
function missingMark(
  left: number,
  right: number,
  y: number,
  height: number,
  source: Meaning,
  isThere: boolean,
): SVGElement {
  const width = Math.max(3, right - left);
  return isThere
    ? svg("rect", { class: "missing", x: left, y, width, height, fill: fill(source) })
    : svg("rect", {
        class: "missing awaited",
        x: left + 0.75,
        y: y + 0.75,
        width: Math.max(1.5, width - 1.5),
        height: height - 1.5,
        stroke: stroke(source),
      });
}

function progressOf(prefetch: Prefetched, time_ns: number): number {
  if (time_ns < prefetch.issue_ns) return 0;
  if (time_ns >= prefetch.done_ns) return 1;
  return (time_ns - prefetch.issue_ns) / (prefetch.done_ns - prefetch.issue_ns);
}

// Room for what is prefetched after the last read of a page, within reason.
function aheadOf(page: readonly Read[], largest: number): number {
  const reach = Math.max(largest, ...page.flatMap((read) => read.prefetched.map((prefetch) => prefetch.to - read.to)));
  return Math.min(reach, 2.2 * largest) * 1.04;
}

function text(x: number, y: number, words: string, className: string, anchor = "start"): SVGTextElement {
  return svg("text", { class: className, x, y, "text-anchor": anchor }, words);
}

function inBar(x: number, y: number, words: string, className: string): SVGTextElement {
  return svg("text", { class: `in-bar ${className}`, x, y: y + 12 }, words);
}

function line(x1: number, y1: number, x2: number, y2: number): SVGLineElement {
  return svg("line", { class: "tick", x1, y1, x2, y2 });
}
