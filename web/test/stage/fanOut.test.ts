import { describe, expect, it } from "vitest";
import type { Result } from "../../src/engine/api.ts";
import { journeysOf, layerNames } from "../../src/engine/journeys.ts";
import type { Frame } from "../../src/stage/scenes/scene.ts";
import { asksOf, fanOutScene, progress } from "../../src/stage/scenes/fanOut.ts";
import { layersOf } from "../../src/stage/scenes/words.ts";
import { numbersIn } from "../fixtures/numbers.ts";

const ms = 1e6;
const none = 0xffffffff;
const [queue, served, hedge] = [0, 1, 2];

/** A request at 0 with leaves: each is the stays of its copies, [from, to, phase] in ms. */
function run(leaves: readonly (readonly (readonly [number, number, number])[])[], end: number): Result {
  const rows = leaves.flatMap((copies, leaf) => copies.map((copy) => ({ leaf, copy })));
  const real = (...values: number[]) => Float64Array.from(values);
  const index = (...values: number[]) => Uint32Array.from(values);
  const fanout = layerNames.indexOf("fanout");
  const columns: Record<string, Float64Array | Uint32Array> = {
    "ops.latency_ns": real(),
    "ops.queue_ns": real(),
    "ops.served_ns": real(),
    "ops.hedge_wait_ns": real(),
    "journey.every": index(1),
    "journeys.request": index(0, ...rows.map((_, nth) => nth + 1)),
    "journeys.parent": index(none, ...rows.map(() => 0)),
    "journeys.begin_ns": real(0, ...rows.map(({ copy }) => copy[0] * ms)),
    "journeys.bytes": real(4096, ...rows.map(() => 4096)),
    "journeys.offset": real(0, ...rows.map(({ leaf }) => leaf * 4096)),
    "journeys.job": index(0, ...rows.map(() => 0)),
    "journeys.worker": index(0, ...rows.map(() => 0)),
    "journeys.owner": index(0, ...rows.map(() => fanout)),
    "journeys.op": index(0, ...rows.map(() => 0)),
    "stays.request": index(0, ...rows.map((_, nth) => nth + 1)),
    "stays.layer": index(fanout, ...rows.map(() => fanout)),
    "stays.part": index(0, ...rows.map(() => 0)),
    "stays.phase": index(hedge, ...rows.map(({ copy }) => copy[2])),
    "stays.from_ns": real(0, ...rows.map(({ copy }) => copy[0] * ms)),
    "stays.to_ns": real(end * ms, ...rows.map(({ copy }) => copy[1] * ms)),
  };
  for (const name of ["kind", "object", "value"]) columns[`marks.${name}`] = index();
  columns["marks.time_ns"] = real();
  return { columns, scenario: { fanout: {} }, summary: { jobs: ["users"], devices: [] } } as unknown as Result;
}

/** Two quick leaves; one that takes a second, whose second copy answers at 25 ms; one whose second copy is withdrawn. */
const hedged = run(
  [
    [[0, 10, served]],
    [[0, 10, served]],
    [
      [0, 1000, served],
      [15, 25, served],
    ],
    [
      [0, 16, served],
      [15, 17, queue],
    ],
  ],
  25,
);

function built(result: Result) {
  return fanOutScene.build({ result, journeys: journeysOf(result), focus: { job: "users", op: "read" }, width: 900 });
}

describe("the fan-out", () => {
  it("takes the first answer of a leaf, and none of a copy that was withdrawn", () => {
    const [asked] = asksOf(journeysOf(hedged));
    expect(asked!.leaves.map(({ answer_ns }) => answer_ns / ms)).toEqual([10, 10, 25, 16]);
    expect(asked!.end_ns).toBe(25 * ms);
  });

  it("tells answers and copies at a moment", () => {
    const { describe: say } = built(hedged);
    // Answers, all servers, the request's age, and second copies, if any.
    expect([12, 20, 30].map((time_ms) => numbersIn(say(time_ms * ms)))).toEqual([
      ["2", "4", "12.0 ms"],
      ["3", "4", "20.0 ms", "2"],
      ["4", "4", "25.0 ms", "2"],
    ]);
    for (const time_ms of [12, 20]) expect(say(time_ms * ms)).toContain(progress.waits);
    expect(say(30 * ms)).toContain(progress.done);
  });

  it("draws the second copy ahead of the slow one", () => {
    const places = new Map<number, number>();
    const context = new Proxy({}, { get: () => () => undefined, set: () => true }) as CanvasRenderingContext2D;
    const frame: Frame = {
      context,
      time_ns: 23 * ms,
      speed: 1,
      ease: 1,
      followed: -1,
      paint: () => "#000",
      actor: (row, x) => places.set(row, x),
    };
    expect(built(hedged).draw(frame)).toBe(5);
    // The slow one (row 3) has come 2 % of its way and is still outward bound; its second copy (row 4) is nearly home.
    expect(places.get(3)!).toBeGreaterThan(58);
    expect(places.get(3)!).toBeLessThan(140);
    expect(places.get(4)!).toBeGreaterThan(300);
    expect(places.has(6)).toBe(false);
  });

  it("draws at most 120 leaves of a thousand, the slow ones among them", () => {
    const many = run(
      Array.from({ length: 1000 }, (_, nth) => [[0, nth === 777 ? 500 : 10, served]] as const),
      500,
    );
    const rows: number[] = [];
    const context = new Proxy({}, { get: () => () => undefined, set: () => true }) as CanvasRenderingContext2D;
    const actor = (row: number) => void rows.push(row);
    const drawn = built(many).draw({
      context,
      time_ns: 5 * ms,
      speed: 1,
      ease: 1,
      followed: -1,
      paint: () => "#000",
      actor,
    });
    expect(drawn).toBe(120);
    expect(rows).toContain(778);
  });

  it("suits runs with a fan-out, and its layer has a place", () => {
    expect(fanOutScene.suits(hedged)).toBe(true);
    expect(fanOutScene.suits({ scenario: {} } as unknown as Result)).toBe(false);
    expect(layersOf(journeysOf(hedged))).toEqual(["fanout"]);
  });
});
