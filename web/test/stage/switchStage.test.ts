/** Which requests are recorded when the reader goes from a case's own stage to the life of a request. */
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { Result } from "../../src/engine/api.ts";
import type { CaseDocument } from "../../src/engine/types.ts";
import { switchStage } from "../../src/stage/switchStage.ts";
import { loadStages } from "../../src/stage/stages.ts";
import { stubStageRoom } from "../fixtures/stageRoom.ts";

beforeEach(async () => {
  await loadStages(["write-back", "bucket"]);
  stubStageRoom();
});

afterEach(() => {
  vi.restoreAllMocks();
  vi.unstubAllGlobals();
});

const run = {
  scenario: { devices: [], jobs: [] },
  summary: { simulated_ns: 30e9, jobs: ["log"], devices: ["disk"], metrics: {} },
  columns: {},
} as unknown as Result;

/** What is recorded for the life of a request, once the reader has looked at the middle of a run, or its end, and goes there. */
function recordedFor(doc: Pick<CaseDocument, "view" | "journeys">, key?: string, onSwitch = vi.fn()) {
  const stage = switchStage({ focus: { job: "log", op: "write" }, views: [], ...doc } as unknown as CaseDocument, {
    name: "test",
    run: () => run,
    onSwitch,
  });
  stage.current.show(run);
  stage.autoplay(); // with reduced motion it stands still in the middle
  if (key !== undefined) stage.element.querySelector(".scrubber")!.dispatchEvent(new KeyboardEvent("keydown", { key }));
  stage.foot.querySelector<HTMLInputElement>('input[value="life"]')!.dispatchEvent(new Event("change"));
  const { journeys } = stage;
  stage.dispose();
  return journeys;
}

describe("the life of a request", () => {
  it("shows the requests that begin at the moment that was looked at", () => {
    expect(recordedFor({ view: "write-back" })).toMatchObject({ from: 15e9 });
    expect(recordedFor({ view: "bucket" })).toMatchObject({ from: 15e9 });
  });

  it("shows those that the case asks for where the case's own stage follows none: one may have begun long before", () => {
    expect(recordedFor({ view: "write-back", journeys: { from: "3s", until: "21s" } })).toMatchObject({
      from: "3s",
      until: "21s",
    });
  });

  it("shows those of the begin where all are done at the moment that was looked at", () => {
    expect(recordedFor({ view: "bucket" }, "End")).not.toHaveProperty("from");
  });

  it("needs another run, since other requests are recorded", () => {
    const onSwitch = vi.fn();
    recordedFor({ view: "write-back" }, undefined, onSwitch);
    expect(onSwitch.mock.calls).toEqual([[true]]);
  });

  it("shows those of the moment where the case's own stage plays what it asks for", () => {
    expect(recordedFor({ view: "bucket", journeys: { from: "3s", until: "21s" } })).toMatchObject({ from: 15e9 });
  });
});
