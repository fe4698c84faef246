import { describe, expect, it } from "vitest";
import type { Result } from "../../src/engine/api.ts";
import { commitsOf } from "../../src/charts/rows/commit.ts";
import { below, journeysOf, layerNames } from "../../src/engine/journeys.ts";
import type { Frame } from "../../src/stage/scenes/scene.ts";
import { groupCommitScene } from "../../src/stage/scenes/groupCommit.ts";
import { layersOf } from "../../src/stage/scenes/words.ts";
import { numbersIn } from "../fixtures/numbers.ts";

const ms = 1e6;
const none = 0xffffffff;
const [cpu, logWait, writeLog] = [0, 1, 2];

type Life = readonly (readonly [phase: number, from: number, to: number])[];

/** Transactions by the stays of each, in ms; a database with the logs a and b, whose stages are a, b, a. */
function run(lives: readonly Life[]): Result {
  const stays = lives.flatMap((life, request) => life.map((stay) => ({ request, stay })));
  const real = (values: readonly number[]) => Float64Array.from(values);
  const index = (values: readonly number[]) => Uint32Array.from(values);
  const commit = layerNames.indexOf("database");
  const each = (value: number) => index(lives.map(() => value));
  const columns: Record<string, Float64Array | Uint32Array> = {
    "ops.latency_ns": real([]),
    "ops.cpu_ns": real([]),
    "ops.log_wait_ns": real([]),
    "ops.write_log_ns": real([]),
    "journey.every": index([1]),
    "journeys.request": index(lives.map((_, nth) => nth)),
    "journeys.parent": each(none),
    "journeys.begin_ns": real(lives.map((life) => life[0]![1] * ms)),
    "journeys.bytes": real(lives.map(() => 512)),
    "journeys.offset": real(lives.map(() => 0)),
    "journeys.job": each(0),
    "journeys.worker": each(0),
    "journeys.owner": each(0),
    "journeys.op": each(1),
    "stays.request": index(stays.map(({ request }) => request)),
    "stays.layer": index(stays.map(() => commit)),
    "stays.part": index(stays.map(() => 0)),
    "stays.phase": index(stays.map(({ stay }) => stay[0])),
    "stays.from_ns": real(stays.map(({ stay }) => stay[1] * ms)),
    "stays.to_ns": real(stays.map(({ stay }) => stay[2] * ms)),
  };
  for (const name of ["kind", "object", "value"]) columns[`marks.${name}`] = index([]);
  columns["marks.time_ns"] = real([]);
  const scenario = { commit: { logs: [{ name: "a" }, { name: "b" }], stages: ["a", "b", "a"] } };
  return { columns, scenario, summary: { jobs: ["clients"], devices: [] } } as unknown as Result;
}

/** Two transactions share the first flush of a; at b the second one waits; the flush in which it commits is one below. */
const shared = run([
  [
    [cpu, 0, 2],
    [writeLog, 2, 12],
    [writeLog, 12, 22],
    [writeLog, 22, 32],
  ],
  [
    [cpu, 0, 1],
    [logWait, 1, 2],
    [writeLog, 2, 12],
    [logWait, 12, 22],
    [writeLog, 22, 32],
    [below, 32, 40],
  ],
]);

function built(result: Result) {
  const focus = { job: "clients", op: "write" } as const;
  return groupCommitScene.build({ result, journeys: journeysOf(result), focus, width: 900 });
}

function draw(result: Result, time_ns: number): Map<number, number> {
  const places = new Map<number, number>();
  const context = new Proxy({}, { get: () => () => undefined, set: () => true }) as CanvasRenderingContext2D;
  const actor = (row: number, x: number) => void places.set(row, x);
  const frame: Frame = { context, time_ns, speed: 1, ease: 1, followed: -1, paint: () => "#000", actor };
  built(result).draw(frame);
  return places;
}

describe("transactions at the logs", () => {
  it("come to the logs of their stages in order, and share flushes", () => {
    const commits = commitsOf(shared, journeysOf(shared))!;
    expect(commits.visits[1]!.map(({ log, stage }) => [log, stage])).toEqual([
      [0, 0],
      [1, 1],
      [0, 2],
    ]);
    expect(commits.visits[1]![1]!.came_ns).toBe(12 * ms);
    expect(commits.flushes[0]!.map(({ count, from_ns }) => [count, from_ns / ms])).toEqual([
      [2, 2],
      [1, 22],
      [1, 32],
    ]);
    expect(commits.flushes[1]!.map(({ count }) => count)).toEqual([1, 1]);
    expect(commits.largest).toBe(2);
  });

  it("are told at a moment", () => {
    const { describe: say } = built(shared);
    // A sentence for each log: commits that wait, and those of a flush, if there is one; then all that have committed.
    const told = (time_ms: number) =>
      say(time_ms * ms)
        .split(". ")
        .map(numbersIn);
    expect(told(15)).toEqual([["0"], ["1", "1"], ["0"]]);
    expect(told(35)).toEqual([["0", "1"], ["0"], ["1"]]);
  });

  it("stand before the window while they wait, and in it while they are flushed", () => {
    const places = draw(shared, 15 * ms);
    expect(places.get(0)!).toBeGreaterThan(places.get(1)!);
  });

  it("are shown for runs with a database, which has a place among the layers", () => {
    expect(groupCommitScene.suits(shared)).toBe(true);
    expect(groupCommitScene.suits({ scenario: {} } as unknown as Result)).toBe(false);
    expect(layersOf(journeysOf(shared))).toEqual(["database"]);
  });
});
