import { beforeAll, describe, expect, it } from "vitest";
import type { Control, Summary } from "../../src/engine/types.ts";
import { trail } from "../../src/page/shared/trail.ts";
import type { RunState } from "../../src/lab/runController.ts";
import { stubStageRoom } from "../fixtures/stageRoom.ts";

const servers: Control = { path: "servers", title: "Servers", help: "", value: 16, min: 1, max: 64, scale: "log2" };
const other: Control = { path: "window", title: "Window", help: "", value: 20, min: 1, max: 64 };
const summary = (value: number) => ({ metrics: { m: value }, units: { m: "Mbit/s" } }) as unknown as Summary;

function made(isCovered = false) {
  let state: RunState = { variant: "a", set: {}, seed: 1 };
  const controller = {
    run: undefined,
    sweep: () => ({ values: [], requests: [] }),
    get state() {
      return state;
    },
  };
  const built = trail({
    dial: { metric: "m", label: "The client gets" },
    controller,
    isCovered: () => isCovered,
    isOpen: () => true,
  });
  built.offer([servers, other]);
  const visit = (next: Partial<RunState>, value: number) => {
    state = { ...state, ...next };
    built.visit(summary(value), state);
  };
  const dots = (name: string) =>
    Array.from(built.element.querySelectorAll(`circle.${name} title`), (dot) => dot.textContent);
  return { ...built, visit, dots };
}

beforeAll(() => stubStageRoom());

describe("the trail", () => {
  it("leaves a dot for each visited value of the knob", () => {
    const { visit, dots } = made();
    visit({}, 60);
    visit({ set: { servers: 4 } }, 936);
    visit({ set: { servers: 4 } }, 936);
    expect(dots("visited")).toEqual(["4: 936\u00a0Mbit/s", "16: 60.0\u00a0Mbit/s"]);
    expect(dots("faint")).toEqual([]);
  });

  it("keeps what was visited in another variant as faint dots", () => {
    const { visit, dots } = made();
    visit({}, 60);
    visit({ variant: "b" }, 900);
    expect(dots("visited")).toHaveLength(1);
    expect(dots("faint")).toHaveLength(1);
  });

  it("follows the knob that moves", () => {
    const { element, visit } = made();
    visit({ set: { window: 4 } }, 937);
    expect(element.querySelector(".trail-title")!.textContent).toContain("Window");
  });

  it("shows no number that would answer the question", () => {
    const { visit, dots } = made(true);
    visit({ set: { servers: 4 } }, 936);
    expect(dots("visited")).toEqual([]);
  });
});
