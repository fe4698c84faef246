import { describe, expect, it } from "vitest";
import type { Result } from "../../src/engine/api.ts";
import { journeysOf, type MarkName, markNames } from "../../src/engine/journeys.ts";
import { incastScene } from "../../src/stage/scenes/incast.ts";
import { portRecordOf } from "../../src/stage/scenes/portPackets.ts";
import { numbersIn } from "../fixtures/numbers.ts";

const us = 1e3;

/** Server 0 sends three packets, of which the second is dropped; server 1 sends one, and waits for its timer afterwards. */
const marks: readonly (readonly [MarkName, number, number, number])[] = [
  ["sent", 0, 0, 1460],
  ["sent", 12, 0, 1460],
  ["sent", 24, 0, 1460],
  ["sent", 5, 1, 1460],
  ["at_port", 37, 0, 0],
  ["at_port", 42, 1, 1],
  ["dropped", 49, 0, 1460],
  ["at_port", 61, 0, 0],
  ["received", 75, 0, 1460],
  ["received", 87, 1, 1460],
  ["received", 99, 0, 1460],
  ["expired", 300, 1, 200 * us],
];

const result = {
  columns: {
    "ops.latency_ns": new Float64Array(),
    "journey.every": Uint32Array.of(1),
    ...Object.fromEntries(
      ["request", "parent", "job", "worker", "owner", "op"].map((name) => [`journeys.${name}`, new Uint32Array()]),
    ),
    ...Object.fromEntries(["begin_ns", "bytes", "offset"].map((name) => [`journeys.${name}`, new Float64Array()])),
    ...Object.fromEntries(["request", "layer", "part", "phase"].map((name) => [`stays.${name}`, new Uint32Array()])),
    ...Object.fromEntries(["from_ns", "to_ns"].map((name) => [`stays.${name}`, new Float64Array()])),
    "marks.kind": Uint32Array.from(marks, ([kind]) => markNames.indexOf(kind)),
    "marks.time_ns": Float64Array.from(marks, ([, time]) => time * us),
    "marks.object": Float64Array.from(marks, ([, , server]) => 2 * server + 1),
    "marks.value": Float64Array.from(marks, ([, , , value]) => value),
  },
  scenario: {
    devices: [],
    network: {
      bits_per_s: 1e9,
      round_trip: 100 * us,
      time_stamps: false,
      packets: { servers: 2, buffer: 1, window: 20, rto_min: 200 * us },
    },
  },
  summary: { jobs: ["reader"], devices: ["memory"] },
} as unknown as Result;

describe("the port of the switch", () => {
  it("takes packets in the order of their coming, and what it dropped is known by the place in its stream", () => {
    const { packets, taken, dropped, waits } = portRecordOf(result, journeysOf(result));
    expect(packets.map(({ server, sent_ns }) => [server, sent_ns / us])).toEqual([
      [0, 0],
      [1, 5],
      [0, 12],
      [0, 24],
    ]);
    expect(taken.map(({ received_ns }) => received_ns / us)).toEqual([75, 87, 99]);
    expect(dropped.map(({ sent_ns }) => sent_ns / us)).toEqual([12]);
    expect(taken[0]!.left_ns - taken[0]!.leaves_ns).toBeCloseTo(12_304);
    expect(waits).toEqual([{ server: 1, from_ns: 100 * us, to_ns: 300 * us }]);
  });

  it("says what waits in it, and who waits for a timer", () => {
    const built = incastScene.build({
      result,
      journeys: journeysOf(result),
      focus: { job: "reader", op: "read" },
      width: 700,
    });
    // After the pieces: packets at the port, packets dropped, servers that wait for a timer.
    expect(numbersIn(built.describe(45 * us)).slice(2, 5)).toEqual(["1", "0", "0"]);
    expect(numbersIn(built.describe(90 * us)).slice(3, 5)).toEqual(["1", "0"]);
    expect(numbersIn(built.describe(200 * us)).slice(3, 5)).toEqual(["1", "1"]);
    expect(built.backdrop.querySelectorAll("text").length).toBeGreaterThan(3);
  });

  it("keeps what was dropped in a heap, and says how the windows together compare with the port", () => {
    const built = incastScene.build({
      result,
      journeys: journeysOf(result),
      focus: { job: "reader", op: "read" },
      width: 700,
    });
    const crosses = (time_ns: number) => {
      const strokes: string[] = [];
      const context = new Proxy(
        { strokeStyle: "" },
        {
          get: (of, name) => {
            if (name === "strokeStyle") return of.strokeStyle;
            return () => (name === "stroke" ? strokes.push(of.strokeStyle) : undefined);
          },
          set: (of, name, value: unknown) => {
            if (name === "strokeStyle") of.strokeStyle = String(value);
            return true;
          },
        },
      ) as unknown as CanvasRenderingContext2D;
      const paint = (meaning: string) => meaning;
      built.draw({ context, time_ns, speed: 1, ease: 1, followed: -1, paint, actor: () => undefined });
      return strokes.filter((colour) => colour === "broken").length / 2;
    };
    expect(crosses(40 * us)).toBe(0);
    // Long after it has fallen.
    expect(crosses(250 * us)).toBe(1);
    expect(crosses(5000 * us)).toBe(1);
    const words = [...built.backdrop.querySelectorAll("text")].map(({ textContent }) => textContent);
    expect(words).toContain("2 × 20 = 40 packets at once");
  });
});
