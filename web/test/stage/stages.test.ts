import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { Result } from "../../src/engine/api.ts";
import type { Control } from "../../src/engine/types.ts";
import { phases } from "../../src/base/colours.ts";
import { readsOf } from "../../src/charts/rows/reads.ts";
import { svg } from "../../src/base/elements.ts";
import type { Stage } from "../../src/stage/stage.ts";
import { noRequest, sceneStage } from "../../src/stage/sceneStage.ts";
import type { Scene } from "../../src/stage/scenes/scene.ts";
import { loadStages, stageOf, titleOfStage } from "../../src/stage/stages.ts";
import { clusterResult } from "../fixtures/cluster.ts";
import { monitorResult, partitionResult } from "../fixtures/metrics.ts";
import { numbersIn } from "../fixtures/numbers.ts";
import { q1Result } from "../fixtures/q1.ts";
import { stubStageRoom } from "../fixtures/stageRoom.ts";

const mib = 2 ** 20;
const opened: Stage[] = [];

beforeEach(async () => {
  await loadStages(["prefetch-strip", "cluster-map", "monitor", "alignment"]);
  stubStageRoom();
});

afterEach(() => {
  for (const stage of opened.splice(0)) stage.dispose();
  vi.restoreAllMocks();
  vi.unstubAllGlobals();
});

function controlOf(path: string, value: number, min: number, max: number, step = 1): Control {
  return { path, title: path, help: "", value, min, max, step };
}

/** The stage of a view, with a run on it, and what it makes of the fields. */
function open(view: string, job: string, run: Result, controls: readonly Control[]) {
  const stage = stageOf({ view, focus: { job, op: "read" } });
  opened.push(stage);
  const fields = {
    control: (path: string) => controls.find((control) => control.path === path),
    onInput: vi.fn(),
    onChange: vi.fn(),
  };
  stage.show(run);
  stage.setFields(fields);
  const press = (selector: string, key: string) =>
    stage.element.querySelector(selector)!.dispatchEvent(new KeyboardEvent("keydown", { key, cancelable: true }));
  return { stage, fields, press };
}

describe("the strip", () => {
  const chunk = controlOf("volume.prefetch.chunk", 8 * mib, mib, 16 * mib, mib / 4);

  it("sets the chunk by the keys on its grip, by a step or a page, and never beyond its range", () => {
    const run = q1Result({ reads: 20 });
    const { stage, fields, press } = open("prefetch-strip", "odx", run, [chunk]);
    stage.autoplay();
    expect(stage.element.querySelector<HTMLElement>(".grip")!.hidden).toBe(false);
    press(".grip", "ArrowLeft");
    expect(fields.onChange).toHaveBeenLastCalledWith({ "volume.prefetch.chunk": 7.75 * mib });
    press(".grip", "PageUp");
    expect(fields.onChange).toHaveBeenLastCalledWith({ "volume.prefetch.chunk": 9 * mib });
    press(".grip", "a");
    expect(fields.onChange).toHaveBeenCalledTimes(2);
  });

  it("has no grip in a case without that control", () => {
    const { stage } = open("prefetch-strip", "odx", q1Result({ reads: 20 }), []);
    expect(stage.element.querySelector<HTMLElement>(".grip")!.hidden).toBe(true);
  });

  it("has a key with every phase in which a read was, and no other", () => {
    const run = q1Result({ reads: 20 });
    const { stage } = open("prefetch-strip", "odx", run, []);
    const named = Array.from(stage.foot.querySelectorAll(".key > span"), (entry) => entry.textContent.trim());
    const present = phases.filter((_, at) => readsOf(run, "odx").some(({ phase_ns }) => phase_ns[at]! > 0));
    expect(present.length).toBeGreaterThan(2);
    expect(named.flatMap((words) => words.split(", ")).toSorted()).toEqual(
      present.map(({ label }) => label).toSorted(),
    );
  });

  it("stays at the same read when another run is shown", () => {
    const { stage } = open("prefetch-strip", "odx", q1Result({ reads: 20 }), []);
    stage.element.querySelector<HTMLElement>(".forward")!.click();
    stage.element.querySelector<HTMLElement>(".forward")!.click();
    const at = stage.request;
    expect(at).toBeGreaterThan(0);
    const other = q1Result({ reads: 20, request_bytes: 8 * mib });
    stage.show(other);
    expect(stage.request).toBe(at);
    expect(stage.moment_ns).toBeGreaterThanOrEqual(readsOf(other, "odx")[at]!.submit_ns);
  });
});

describe("the cluster", () => {
  it("sends its machine to the next node by the keys, and not beyond the last", () => {
    const target = controlOf("cluster.moves[0].to", 1, 0, 2);
    const { fields, press } = open("cluster-map", "vm", clusterResult(), [target]);
    press(".machine", "ArrowRight");
    expect(fields.onChange).toHaveBeenLastCalledWith({ "cluster.moves[0].to": 2 });
    press(".machine", "ArrowRight");
    expect(fields.onChange).toHaveBeenCalledTimes(1);
  });
});

describe("the monitor", () => {
  const controls = [controlOf("monitor.window", 1e9, 1e8, 4e9, 1e8), controlOf("monitor.phase", 0, 0, 4e9, 1e8)];

  it("moves its window and makes it wider by the keys", () => {
    const { fields, press } = open("monitor", "writer", monitorResult(), controls);
    press(".window-body", "ArrowRight");
    expect(fields.onChange).toHaveBeenLastCalledWith({ "monitor.window": 1e9, "monitor.phase": 1e8 });
    press(".window-edge", "PageUp");
    expect(fields.onChange).toHaveBeenLastCalledWith({ "monitor.window": 2e9, "monitor.phase": 1e9 });
  });

  it("has no window to move in a case that lacks one of its fields", () => {
    const { stage } = open("monitor", "writer", monitorResult(), controls.slice(0, 1));
    expect(stage.element.querySelector<HTMLElement>(".window-body")!.hidden).toBe(true);
  });
});

describe("the alignment", () => {
  it("asks the engine about a start that is typed in, and says what it answers or refuses", async () => {
    const ask = vi.fn((_: string, { start }: { start: string }) =>
      start === "1MiB"
        ? Promise.resolve({ start: mib, block: 4096, aligned: true })
        : Promise.reject(new Error(`start: ${start} is not a size`)),
    );
    const stage = stageOf({ view: "alignment", focus: { job: "writer", op: "write" } }, { ask: ask as never });
    opened.push(stage);
    stage.show(partitionResult(1536));
    const input = stage.foot.querySelector<HTMLInputElement>("input[type=text]")!;
    const type = (words: string) => {
      input.value = words;
      input.dispatchEvent(new Event("input"));
    };
    const output = stage.foot.querySelector("form output")!;
    const taken = output.textContent;
    type("1MiB");
    // The start and the block; of one that is not aligned also what it costs.
    await vi.waitFor(() => expect(numbersIn(output.textContent)).toEqual(["1,048,576", "4 KiB"]));
    type("1 q");
    await vi.waitFor(() => expect(output.textContent).toBe("start: 1 q is not a size"));
    type("");
    expect(taken).toMatch(/\S/);
    expect(output.textContent).toBe(taken);
  });
});

describe("a scene", () => {
  it("is built once for a run, not again when there still is nothing beside it", () => {
    const build = vi.fn(() => ({
      height: 100,
      backdrop: svg("svg", {}),
      key: [],
      draw: () => 0,
      describe: () => "",
    }));
    const scene: Scene = { name: "test", title: "Test", playsRun: true, suits: () => true, build };
    const stage = sceneStage(scene, { focus: { job: "odx", op: "read" } });
    opened.push(stage);
    const beside = { result: q1Result({ chunk_bytes: 9 * mib }), label: "Fixed", own: "Broken" };
    stage.show(q1Result());
    stage.beside!(undefined);
    expect(build).toHaveBeenCalledTimes(1);
    stage.beside!(beside);
    stage.beside!({ ...beside });
    expect(build).toHaveBeenCalledTimes(3);
    stage.beside!(undefined);
    expect(build).toHaveBeenCalledTimes(4);
  });

  /** A run with requests of a worker that begin at these moments, in seconds; each takes a second longer than the one before. */
  function runOf(...begins_s: number[]): Result {
    const begins = Float64Array.from(begins_s, (begin) => begin * 1e9);
    const zeros = new Uint32Array(begins.length);
    const columns = {
      "journeys.request": zeros.map((_, nth) => nth),
      "journeys.begin_ns": begins,
      "journeys.bytes": begins.map(() => 4096),
      "journeys.offset": begins.map(() => 0),
      "journeys.op": zeros,
      "journeys.job": zeros,
      "journeys.worker": zeros,
      "journeys.owner": zeros,
      "journeys.parent": zeros.map(() => 0xffffffff),
      "stays.request": zeros.map((_, nth) => nth),
      "stays.layer": zeros,
      "stays.part": zeros,
      "stays.phase": zeros,
      "stays.from_ns": begins,
      "stays.to_ns": begins.map((begin, nth) => begin + (nth + 1) * 1e9),
    };
    return { columns, summary: { simulated_ns: 60e9, jobs: ["a"], devices: [], metrics: {} } } as unknown as Result;
  }

  it("follows a request of the new run when one comes while it plays by itself", () => {
    const motion = { matches: false, addEventListener: () => undefined, removeEventListener: () => undefined };
    vi.stubGlobal("matchMedia", () => motion);
    const stage = stageOf({ view: "life", focus: { job: "a", op: "read" } });
    opened.push(stage);
    stage.show(runOf(0, 40));
    stage.element.querySelector(".scrubber")!.dispatchEvent(new KeyboardEvent("keydown", { key: "Home" }));
    expect(stage.moment_ns).toBe(40e9 - 1); // nothing is under way
    stage.autoplay();
    stage.show(runOf(0, 40, 41, 42));
    expect(stage.foot.querySelector(".follow .moment")!.textContent).toContain("Read of 4");
  });

  it("begins with its first request, or with that of the run beside it where it has none", () => {
    for (const [own, other, from_s, words] of [
      [runOf(36, 40), runOf(), 36, "Read of 4"],
      [runOf(), runOf(37), 37, noRequest],
      [runOf(38), runOf(37), 38, "Read of 4"],
      [runOf(), runOf(), 0, noRequest],
    ] as const) {
      const stage = stageOf({ view: "life", focus: { job: "a", op: "read" } });
      opened.push(stage);
      stage.show(own);
      stage.beside!({ result: other, label: "Before", own: "Now" });
      expect(stage.moment_ns).toBe(from_s * 1e9);
      expect(stage.foot.querySelector(".follow .moment")!.textContent).toContain(words);
    }
  });
});

describe("stages", () => {
  it("are fetched before they are made", async () => {
    const open = () => stageOf({ view: "fan-out", focus: { job: "a", op: "read" } });
    expect(open).toThrow('"fan-out"');
    await loadStages(["fan-out", "dirty", "no-such-view"]);
    opened.push(open());
  });

  it("has a name on its button once it is fetched", async () => {
    await loadStages(["incast"]);
    expect(titleOfStage("incast")).not.toBe(titleOfStage("no-such-view"));
  });
});
