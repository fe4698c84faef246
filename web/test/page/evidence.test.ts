import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { EngineClient } from "../../src/engine/client.ts";
import type { CaseDocument } from "../../src/engine/types.ts";
import { loadCharts } from "../../src/charts/loadCharts.ts";
import { evidence } from "../../src/page/case/evidence.ts";
import { q1Result } from "../fixtures/q1.ts";
import { stubStageRoom } from "../fixtures/stageRoom.ts";

const library = JSON.parse(
  readFileSync(join(import.meta.dirname, "../../../engine/wasm/pkg/library.json"), "utf8"),
) as { cases: { document: CaseDocument }[] };
const { document: doc } = library.cases.find(({ document: { id } }) => id === "odx-prefetch")!;

beforeEach(() => {
  stubStageRoom();
  vi.stubGlobal(
    "IntersectionObserver",
    class {
      disconnect = () => undefined;
      readonly told: (entries: { isIntersecting: boolean }[]) => void;
      constructor(told: (entries: { isIntersecting: boolean }[]) => void) {
        this.told = told;
      }
      observe = () => this.told([{ isIntersecting: true }]);
    },
  );
});
afterEach(() => {
  vi.restoreAllMocks();
  vi.unstubAllGlobals();
});

async function open(current: string) {
  const text = vi.fn(() => Promise.resolve("r/s w/s"));
  const engine = { text } as Partial<EngineClient> as EngineClient;
  const made = evidence({ engine, document: doc, isCovered: () => false, current, onTab: () => undefined });
  expect(made.element.querySelector(".saves")).toBeNull();
  made.show(shown);
  const saves = await vi.waitUntil(() => made.element.querySelector<HTMLElement>(".saves"), { timeout: 10_000 });
  const button = (words: string) =>
    Array.from(saves.querySelectorAll("button")).find((one) => one.textContent === words)!;
  return { ...made, saves, button };
}
const shown = { result: q1Result(), focus: doc.focus, request: 0 };

describe("saving what the evidence shows", () => {
  it("is offered once something is drawn", async () => {
    const { saves, button } = await open("latency");
    expect([saves.hidden, button("PNG").hidden]).toEqual([false, false]);
  });

  it("is not offered as a picture where text is shown", async () => {
    const { element, button } = await open("iostat");
    await vi.waitFor(() => expect(element.textContent).toContain("r/s w/s"));
    expect([button("SVG").hidden, button("PNG").hidden]).toEqual([true, true]);
  });

  it("says why where it fails", async () => {
    const { saves, button } = await open("latency");
    vi.spyOn(URL, "createObjectURL").mockImplementation(() => {
      throw new Error("no room for the picture");
    });
    button("SVG").click();
    await vi.waitFor(() => expect(saves.querySelector("[role=status]")!.textContent).toBe("no room for the picture"));
  });
});

describe("the charts of the evidence", () => {
  it("are fetched some time later where the section never comes near the window", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    vi.stubGlobal(
      "IntersectionObserver",
      class {
        disconnect = () => undefined;
        observe = () => undefined;
      },
    );
    const engine = {} as Partial<EngineClient> as EngineClient;
    const made = evidence({
      engine,
      document: doc,
      isCovered: () => false,
      current: "latency",
      onTab: () => undefined,
    });
    made.show(shown);
    vi.advanceTimersByTime(5000);
    await loadCharts();
    expect(made.element.querySelector(".tabs")).toBeNull();
    vi.advanceTimersByTime(2000);
    vi.useRealTimers();
    await vi.waitFor(() => expect(made.element.querySelector(".tabs")).not.toBeNull());
  });
});
