import { describe, expect, it } from "vitest";
import type { Result } from "../../src/engine/api.ts";
import { journeysOf, layerNames, markNames } from "../../src/engine/journeys.ts";
import type { Frame } from "../../src/stage/scenes/scene.ts";
import { disksOf, shakenDisksScene } from "../../src/stage/scenes/shakenDisks.ts";
import { numbersIn } from "../fixtures/numbers.ts";

const ms = 1e6;
const device = layerNames.indexOf("device") * 65536;
const [angle, offTrack] = [markNames.indexOf("angle"), markNames.indexOf("off_track")];

/** Disk 0 writes from 0 to 2 ms and from 2 to 4 ms; disk 1 is off its track for two revolutions of 8 ms, then writes. */
const marks = [
  [angle, 0, 0, 0],
  [angle, 2, 0, 250_000],
  [angle, 2, 0, 250_000],
  [angle, 4, 0, 500_000],
  [offTrack, 1, 1, 2],
  [angle, 17, 1, 0],
  [angle, 19, 1, 250_000],
] as const;

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
    "marks.kind": Uint32Array.from(marks, ([kind]) => kind),
    "marks.time_ns": Float64Array.from(marks, ([, time]) => time * ms),
    "marks.object": Float64Array.from(marks, ([, , disk]) => device + disk),
    "marks.value": Float64Array.from(marks, ([, , , value]) => value),
  },
  scenario: { devices: [{ hdd: { shake: {} } }] },
  summary: { jobs: ["stream"], devices: ["disk0", "disk1"] },
} as unknown as Result;

function built() {
  return shakenDisksScene.build({
    result,
    journeys: journeysOf(result),
    focus: { job: "stream", op: "write" },
    width: 900,
  });
}

describe("the shaken disks", () => {
  it("are known by their marks: data, and revolutions until the data come", () => {
    const [quiet, shaken] = disksOf(journeysOf(result));
    expect(quiet!.visits.map(({ from_ns, to_ns }) => [from_ns / ms, to_ns / ms])).toEqual([
      [0, 2],
      [2, 4],
    ]);
    expect(quiet!.offTrack).toEqual([]);
    expect(shaken!.offTrack).toEqual([{ from_ns: 1 * ms, to_ns: 17 * ms, turns: 2 }]);
    expect(shaken!.turn_ns).toBe(8 * ms);
  });

  it("say how many heads are off their tracks, and what that has cost", () => {
    const { describe: words } = built();
    // Heads that are off their tracks, all heads, and revolutions lost.
    expect([0.5, 10, 18].map((time_ms) => numbersIn(words(time_ms * ms)))).toEqual([
      ["0", "2", "0"],
      ["1", "2", "1"],
      ["0", "2", "2"],
    ]);
  });

  it("draw a ring round the disk that loses a revolution, and none round its neighbour", () => {
    const painted: string[] = [];
    const context = new Proxy({} as CanvasRenderingContext2D, {
      get: (_, name) => () => painted.push(String(name)),
      set: (_, name, value) => painted.push(`${String(name)}=${String(value)}`) > 0,
    });
    const draw = (time_ns: number) => {
      painted.length = 0;
      const frame: Frame = {
        context,
        time_ns,
        speed: 1,
        ease: 1,
        followed: -1,
        paint: (name: string) => name,
        actor: () => undefined,
      };
      built().draw(frame);
      return painted.filter((call) => call === "strokeStyle=stopped").length;
    };
    expect(draw(0.5 * ms)).toBe(0);
    expect(draw(3 * ms)).toBe(1);
    expect(draw(18 * ms)).toBe(0);
  });

  it("say where the record ends", () => {
    expect(numbersIn(built().describe(20 * ms))).toEqual(["19.0 ms"]);
  });

  it("suit runs with a shaken disk only", () => {
    expect(shakenDisksScene.suits(result)).toBe(true);
    expect(shakenDisksScene.suits({ scenario: { devices: [{ hdd: {} }] } } as unknown as Result)).toBe(false);
  });
});
