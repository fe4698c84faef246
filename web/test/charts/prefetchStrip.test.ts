import { describe as group, expect, it } from "vitest";
import { formatNanos } from "../../src/base/format.ts";
import { activities, describe, prefetchStrip, readAt } from "../../src/charts/prefetchStrip.ts";
import { readsOf } from "../../src/charts/rows/reads.ts";
import { numbersIn } from "../fixtures/numbers.ts";
import { q1Result } from "../fixtures/q1.ts";

const broken = q1Result();
const reads = readsOf(broken, "odx");
const mib = 2 ** 20;

function strip(result = broken, time_ns = reads[4]!.submit_ns + reads[4]!.latency_ns, width = 1100) {
  return prefetchStrip(result, { job: "odx", time_ns, width });
}
const words = (element: Element) => Array.from(element.querySelectorAll("text"), (text) => text.textContent);

group("the prefetch strip", () => {
  it("shows a page of reads, each with its memory part, its missing part and its prefetch", () => {
    const { element } = strip();
    expect(element.querySelectorAll(".read")).toHaveLength(5);
    expect(element.querySelectorAll(".read .missing")).toHaveLength(5);
    expect(element.querySelectorAll(".read .prefetch-outline")).toHaveLength(5);
    expect(words(element)).toContain("256\u00a0KiB from disk");
    expect(words(strip(broken, undefined, 1240).element)).toContain("prefetched 8\u00a0MiB");
  });

  it("shows no missing part once the reads fit into the prefetch", () => {
    const fixed = q1Result({ request_bytes: 8 * mib });
    const { element } = strip(fixed, readsOf(fixed, "odx")[9]!.submit_ns);
    expect(element.querySelectorAll(".read .missing")).toHaveLength(0);
  });

  it("shows only what has happened by its moment", () => {
    const { element } = strip(broken, reads[1]!.submit_ns + 1);
    expect(element.querySelectorAll(".read")).toHaveLength(2);
    expect(element.querySelectorAll(".expected")).toHaveLength(3);
    expect(element.querySelectorAll(".current .awaited")).toHaveLength(1);
  });

  it("keeps a missing part visible however narrow it is drawn", () => {
    const { element } = strip(broken, undefined, 328);
    for (const mark of element.querySelectorAll(".missing"))
      expect(Number(mark.getAttribute("width"))).toBeGreaterThanOrEqual(1.5);
    expect(element.querySelectorAll(".read").length + element.querySelectorAll(".expected").length).toBe(3);
  });

  it("draws times to scale, up to the end of the axis it was given", () => {
    const end = 100e6;
    const { element } = prefetchStrip(broken, {
      job: "odx",
      time_ns: reads[0]!.latency_ns,
      width: 1100,
      latency_max_ns: end,
    });
    const bars = Array.from(element.querySelectorAll(".read > rect")).filter(
      (bar) => Number(bar.getAttribute("x")) > 750,
    );
    const length = bars.reduce((sum, bar) => sum + Number(bar.getAttribute("width")), 0);
    // The time panel: what the strip, the gutter, the gap and the room for values leave.
    const panel = 1100 - (58 + Math.round((1100 - 58 - 44) * 0.67) + 44) - 54;
    expect(length / panel).toBeCloseTo(reads[0]!.latency_ns / end, 2);
  });

  it("says where the end of the newest prefetch is, so that it can be dragged", () => {
    const { handle } = strip();
    expect(handle!.bytes).toBe(8 * mib);
    expect((handle!.x - handle!.start_x) / handle!.pixels_per_byte).toBeCloseTo(8 * mib, -2);
  });

  it("is an image with a sentence for a name", () => {
    const { element } = strip();
    expect(element.getAttribute("role")).toBe("img");
    const took = numbersIn(formatNanos(reads[4]!.latency_ns));
    expect(numbersIn(element.getAttribute("aria-label"))).toEqual(["5", "248", "8 MiB", "256 KiB", ...took]);
  });

  it("draws an empty run without failing", () => {
    const { element, handle } = strip({ ...broken, columns: {} }, 0);
    expect(element.querySelectorAll(".read")).toHaveLength(0);
    expect(handle).toBeUndefined();
  });
});

group("a moment of the run", () => {
  it("belongs to the last read that has begun", () => {
    expect(readAt(reads, -1)).toBe(-1);
    expect(readAt(reads, 0)).toBe(0);
    expect(readAt(reads, reads[7]!.submit_ns - 1)).toBe(6);
    expect(readAt(reads, reads[7]!.submit_ns)).toBe(7);
    expect(readAt(reads, Number.MAX_VALUE)).toBe(247);
  });

  it("is told in words, phase by phase", () => {
    const read = reads[3]!;
    expect(describe(reads, 3, read.submit_ns)).toContain(activities.memory);
    expect(describe(reads, 3, read.submit_ns + read.phase_ns[0]! + 1)).toContain(activities.queue);
    // Before the first read there is no number to tell.
    expect(numbersIn(describe(reads, -1, 0))).toEqual([]);
  });
});
