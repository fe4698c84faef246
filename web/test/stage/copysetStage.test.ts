import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { Result } from "../../src/engine/api.ts";
import { outagesOf } from "../../src/charts/rows/outages.ts";
import type { Stage } from "../../src/stage/stage.ts";
import { isStage, loadStages, stageOf, titleOfStage } from "../../src/stage/stages.ts";
import { numbersIn } from "../fixtures/numbers.ts";
import { stubStageRoom } from "../fixtures/stageRoom.ts";

/** Outages 0, 1 and 7 of 12 nodes: the second loses two sets, the last one. */
function run(nodes = 12): Result {
  const index = (...values: number[]) => Uint32Array.from(values);
  return {
    columns: {
      "dark.outage": index(0, 0, 0, 1, 1, 1, 1, 7, 7, 7),
      "dark.node": index(0, 4, 9, 1, 2, 3, 5, 6, 7, 8),
      "lost_sets.outage": index(1, 1, 1, 1, 1, 1, 7, 7, 7),
      "lost_sets.set": index(0, 0, 0, 1, 1, 1, 0, 0, 0),
      "lost_sets.node": index(1, 2, 3, 2, 3, 5, 6, 7, 8),
    },
    scenario: { fleet: { nodes } },
    summary: { jobs: ["restore"], devices: [], simulated_ns: 5e9 },
  } as unknown as Result;
}

let stage: Stage;

beforeEach(async () => {
  await loadStages(["copysets"]);
  stubStageRoom();
  stage = stageOf({ view: "copysets", focus: { job: "restore", op: "read" } });
});

afterEach(() => {
  stage.dispose();
  vi.restoreAllMocks();
  vi.unstubAllGlobals();
});

function press(key: string): void {
  const scrubber = stage.element.querySelector(".scrubber")!;
  scrubber.dispatchEvent(new KeyboardEvent("keydown", { key, cancelable: true }));
}

const moment = () => stage.foot.querySelector(".moment")!.textContent;
const count = (what: string) => stage.element.querySelectorAll(what).length;

describe("outages of a fleet", () => {
  it("are read with their dark nodes and lost sets", () => {
    expect(outagesOf(run())).toEqual([
      { number: 0, dark: [0, 4, 9], lost: [] },
      {
        number: 1,
        dark: [1, 2, 3, 5],
        lost: [
          [1, 2, 3],
          [2, 3, 5],
        ],
      },
      { number: 7, dark: [6, 7, 8], lost: [[6, 7, 8]] },
    ]);
  });

  it("come one after the other: nodes go dark, and then the sets show of which all are", () => {
    stage.show(run());
    // The outage, nodes that are down, all nodes, and sets that are down, if any.
    expect(numbersIn(moment())).toEqual(["1", "3", "12"]);
    expect(count("circle")).toBe(0);
    press("Home");
    expect(count("circle")).toBe(3);
    press("ArrowRight");
    expect(numbersIn(moment())).toEqual(["2", "4", "12", "2"]);
    expect(count("polygon")).toBe(2);
    expect(count("circle")).toBe(4 + 6);
    press("ArrowRight");
    expect(numbersIn(moment())).toEqual(["8", "3", "12", "1"]);
    expect(numbersIn(stage.element.querySelector(".clock")!.textContent)).toEqual(["8"]);
    expect(numbersIn(stage.foot.querySelector(".note")!.textContent)).toEqual(["2", "1"]);
  });

  it("are no moments of the run", () => {
    stage.show(run());
    stage.autoplay();
    expect(numbersIn(moment())[0]).toBe("8");
    expect(stage.moment_ns).toBe(0);
  });

  it("leave a box each, filled once it has lost data", () => {
    stage.show(run());
    press("Home");
    expect(count("rect.box")).toBe(3);
    expect(count(".figure rect:not(.box)")).toBe(0);
    press("End");
    expect(count(".figure rect:not(.box)")).toBe(2);
  });

  it("draw no dot for each of a hundred thousand nodes", () => {
    stage.show(run(100_000));
    press("Home");
    expect(count("path.nodes")).toBe(0);
    expect(count("circle")).toBe(3);
  });

  it("are a stage with a title", () => {
    expect(isStage("copysets")).toBe(true);
    expect(titleOfStage("copysets")).not.toBe(titleOfStage("no-such-view"));
  });
});
