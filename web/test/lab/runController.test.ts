import { describe, expect, it, vi } from "vitest";
import { Cancelled, EngineError, type Result } from "../../src/engine/api.ts";
import type { Control, RunRequest, Variant } from "../../src/engine/types.ts";
import {
  coarseOf,
  type Finished,
  RunController,
  type RunControllerOptions,
  type RunNews,
  type RunState,
} from "../../src/lab/runController.ts";

const doc = { id: "odx-prefetch", default_variant: "broken", variants: [] };
const documented: RunState = { variant: "broken", set: {}, seed: 1 };

interface Run extends Finished {
  readonly request: RunRequest;
  readonly free: () => void;
}

function runOf(request: RunRequest): Run {
  const result = { summary: { fingerprint: JSON.stringify(request) } } as Result;
  return { ...result, request, free: vi.fn() };
}

const played = { stage: { show: () => undefined }, journeys: { requests: 2 } };

/** A controller whose runs end when the test says so, and everything that it told. */
function build(options: Partial<RunControllerOptions<Run>> = {}) {
  const asked: { request: RunRequest; signal: AbortSignal; end: () => void; refuse: (error: Error) => void }[] = [];
  const told: [string, unknown][] = [];
  const news: RunNews[] = [];
  const shown: Run[] = [];
  const controller = new RunController<Run>({
    document: doc,
    engine: {
      run: (request, { signal }) =>
        new Promise((resolve, reject) => {
          signal.addEventListener("abort", () => reject(new Cancelled()));
          asked.push({ request, signal, end: () => resolve(runOf(request)), refuse: reject });
        }),
    },
    listeners: {
      onResult(run, about) {
        shown.push(run);
        news.push(about);
        told.push(["result", run.request]);
      },
      onReference: () => told.push(["reference", undefined]),
      onState: (state, change) => told.push([change, state]),
      onError: (error) => told.push(["error", (error as Error).message]),
      onBusy: (isBusy) => told.push(["busy", isBusy]),
      onQuestion: () => told.push(["question", undefined]),
    },
    ...options,
  });
  /** Lets everything that waits for a settled promise happen. */
  const settle = () => new Promise((resolve) => setTimeout(resolve));
  const end = async (nth: number) => {
    asked[nth]!.end();
    await settle();
  };
  return { controller, asked, told, news, shown, settle, end };
}

async function begun(options: Partial<RunControllerOptions<Run>> = {}) {
  const built = build(options);
  const beginning = built.controller.begin();
  await built.end(0);
  await beginning;
  return built;
}

describe("the first run", () => {
  it("is the case as documented, and what later runs are compared with", async () => {
    const { controller, asked, news } = await begun();
    expect(asked[0]!.request).toEqual({ case: "odx-prefetch", ...documented });
    expect(controller.state).toEqual(documented);
    expect(controller.reference).toBe(controller.run!);
    expect(news).toEqual([{ isSettled: true, isOpening: true, isPartial: false }]);
  });

  it("may have been asked for before there was a controller", async () => {
    const { controller, asked, shown } = build();
    const early = runOf({ case: "odx-prefetch" });
    await controller.begin(Promise.resolve(early));
    expect(shown).toEqual([early]);
    expect(asked).toHaveLength(0);
  });

  it("that is refused says so once, and the case as documented is shown", async () => {
    const { controller, asked, told, settle, end } = build({ start: { variant: "brken", set: { a: 1 }, seed: 9 } });
    const beginning = controller.begin();
    asked[0]!.refuse(new EngineError([{ path: "variant", message: "brken is unknown" }]));
    await settle();
    expect(asked[1]!.request).toEqual({ case: "odx-prefetch", ...documented });
    await end(1);
    await beginning;
    expect(told.slice(0, 3)).toEqual([
      ["error", "variant: brken is unknown"],
      ["replaced", documented],
      ["result", asked[1]!.request],
    ]);
  });

  it("does not take the place of a newer one that ended before it", async () => {
    const { controller, asked, end, shown } = build();
    const first = runOf({ case: "odx-prefetch" });
    let finish: () => void = () => undefined;
    const beginning = controller.begin(new Promise((resolve) => (finish = () => resolve(first))));
    controller.replace({ seed: 2 });
    await end(0);
    finish();
    await beginning;
    expect(shown.map(({ request }) => request)).toEqual([asked[0]!.request]);
    expect(first.free).toHaveBeenCalledOnce();
  });

  it("that is another one than documented is compared with the documented one, once that is known", async () => {
    const reference = { summary: { fingerprint: "documented" } } as Result;
    const options = {
      engine: { run: (request: RunRequest) => Promise.resolve(runOf(request)) },
      runReference: vi.fn(() => Promise.resolve(reference)),
    };
    const { controller, told, settle } = build({ ...options, start: { variant: "fixed" } });
    await controller.begin();
    await settle();
    expect(options.runReference).toHaveBeenCalledWith({ case: "odx-prefetch", variant: "broken" });
    expect(controller.reference).toBe(reference);
    expect(told.at(-1)![0]).toBe("reference");
    expect(controller.run!).not.toBe(reference);
  });

  it("is compared with a documented one of which the same is recorded, also when that changes before either is known", async () => {
    const references = ["first", "second", "third"].map((fingerprint) => ({ summary: { fingerprint } }) as Result);
    const answers: ((result: Result) => void)[] = [];
    const options = {
      engine: { run: (request: RunRequest) => Promise.resolve(runOf(request)) },
      runReference: vi.fn(() => new Promise<Result>((resolve) => answers.push(resolve))),
    };
    const { controller, settle } = build({ ...options, start: { variant: "fixed" } });
    await controller.begin();
    answers[0]!(references[0]!);
    await settle();
    controller.playOn(played, true);
    expect(controller.reference).toBeUndefined();
    controller.playOn(played, true);
    answers[2]!(references[2]!);
    answers[1]!(references[1]!);
    await settle();
    expect(controller.reference).toBe(references[2]);
  });

  it("that is as documented is its own documented one, also when something else shall be recorded", async () => {
    const options = {
      engine: { run: (request: RunRequest) => Promise.resolve(runOf(request)) },
      runReference: vi.fn(() => Promise.reject(new Error("nobody asked"))),
    };
    const { controller, settle } = build(options);
    await controller.begin();
    controller.playOn(played, true);
    await settle();
    expect(controller.reference).toBe(controller.run!);
    expect(options.runReference).not.toHaveBeenCalled();
  });
});

describe("a change", () => {
  it("of a variant brings the variant's own values", async () => {
    const { controller, asked, told } = await begun();
    controller.setValues({ "volume.chunk": 4096 }, true);
    controller.choose("fixed");
    expect(controller.state).toEqual({ variant: "fixed", set: {}, seed: 1 });
    expect(told).toContainEqual(["replaced", controller.state]);
    expect(asked).toHaveLength(2);
  });

  it("of a variant keeps the values where they belong to a notebook's cell", async () => {
    const { controller } = await begun({ keepsValues: true, start: { set: { "volume.chunk": 4096 } } });
    controller.choose("fixed");
    expect(controller.state).toEqual({ variant: "fixed", set: { "volume.chunk": 4096 }, seed: 1 });
  });

  it("of values adds to those that are set, and reset takes them away again", async () => {
    const { controller, told } = await begun();
    controller.setValues({ a: 1 }, false);
    controller.setValues({ b: 2 }, true);
    expect(controller.state.set).toEqual({ a: 1, b: 2 });
    expect(told.filter(([what]) => what === "moving" || what === "settled").map(([what]) => what)).toEqual([
      "moving",
      "settled",
    ]);
    controller.reset();
    expect(controller.state.set).toEqual({});
  });

  it("while a hand moves runs the first and the newest; only the one that settled is told as settled", async () => {
    const { controller, asked, news, end } = await begun();
    for (const value of [1, 2, 3]) controller.setValues({ a: value }, false);
    controller.setValues({ a: 4 }, true);
    expect(asked).toHaveLength(2);
    await end(1);
    expect(asked.slice(1).map(({ request }) => "case" in request && request.set)).toEqual([{ a: 1 }, { a: 4 }]);
    await end(2);
    expect(news.slice(1)).toEqual([
      { isSettled: false, isOpening: false, isPartial: false },
      { isSettled: true, isOpening: false, isPartial: false },
    ]);
  });

  it("says when a run begins after a rest and when the last one has ended", async () => {
    const { controller, told, end } = await begun();
    controller.replace({ seed: 2 });
    controller.replace({ seed: 3 });
    await end(1);
    await end(2);
    expect(told.filter(([what]) => what === "busy").map(([, is]) => is)).toEqual([true, false]);
  });

  it("that is refused goes back to the state whose run is shown", async () => {
    const { controller, asked, told, settle } = await begun();
    const before = controller.run;
    controller.setValues({ "layout.unit": "8q" }, true);
    asked[1]!.refuse(new EngineError([{ path: "layout.unit", message: "8q is not a size" }]));
    await settle();
    expect(controller.state).toEqual(documented);
    expect(controller.run).toBe(before);
    expect(told.filter(([what]) => what !== "busy").slice(-2)).toEqual([
      ["error", "layout.unit: 8q is not a size"],
      ["replaced", documented],
    ]);
  });

  it("whose run the reader stops goes back as well", async () => {
    const { controller, told, settle } = await begun();
    controller.replace({ seed: 2 });
    controller.cancel();
    await settle();
    expect(controller.state).toEqual(documented);
    expect(told).toContainEqual(["error", new Cancelled().message]);
  });
});

describe("the stage", () => {
  it("shows each run with its reference, and its journeys are recorded", async () => {
    const show = vi.fn();
    const { controller, asked, shown } = await begun({ playedOn: { stage: { show }, journeys: { requests: 2 } } });
    expect(asked[0]!.request).toMatchObject({ set: { "record.journeys": { requests: 2 } } });
    expect(show.mock.calls).toEqual([[shown[0], shown[0]]]);
    expect(controller.state.set).toEqual({});
  });

  it("can be another one, which shows the same run or needs its own", async () => {
    const { controller, asked, shown, end } = await begun();
    const show = vi.fn();
    controller.playOn({ stage: { show }, journeys: undefined }, false);
    expect(show.mock.calls).toEqual([[shown[0], shown[0]]]);
    expect(asked).toHaveLength(1);
    controller.playOn({ stage: { show }, journeys: { requests: 3 } }, true);
    expect(asked[1]!.request).toMatchObject({ set: { "record.journeys": { requests: 3 } } });
    await end(1);
    expect(show).toHaveBeenLastCalledWith(shown[1], shown[0]);
  });
});

describe("an open question", () => {
  it("comes before its variant, and nothing else changes", async () => {
    const isOpenFor = (variant: string) => variant === "fixed";
    const { controller, asked, told } = await begun({ prediction: { isOpenFor } });
    controller.choose("fixed");
    expect(controller.state).toEqual(documented);
    expect(told.slice(-2).map(([what]) => what)).toEqual(["settled", "question"]);
    expect(asked).toHaveLength(1);
    controller.choose("two-ahead");
    expect(controller.state.variant).toBe("two-ahead");
  });
});

describe("a sweep", () => {
  it("runs one control over its range, all else as it is, without logs", async () => {
    const { controller } = await begun();
    controller.setValues({ "jobs[0].depth": 2 }, true);
    const control: Control = { path: "depth", title: "Depth", help: "", min: 1, max: 4, step: 1, value: 3 };
    const { values, requests } = controller.sweep(control);
    expect(values).toEqual([1, 2, 3, 4]);
    expect(requests[2]).toEqual({
      case: "odx-prefetch",
      variant: "broken",
      seed: 1,
      set: { "jobs[0].depth": 2, "record.log": false, depth: 3 },
    });
  });
});

describe("what a run holds", () => {
  it("is freed when another run takes its place, and when the controller is closed", async () => {
    const { controller, shown, end } = await begun();
    controller.replace({ seed: 2 });
    await end(1);
    expect(shown[0]!.free).toHaveBeenCalledOnce();
    expect(shown[1]!.free).not.toHaveBeenCalled();
    controller.close();
    expect(shown[1]!.free).toHaveBeenCalledOnce();
  });

  it("is freed untold when the controller was closed while it ran", async () => {
    const { controller, told, settle } = build();
    const late = runOf({ case: "odx-prefetch" });
    const beginning = controller.begin(settle().then(() => late));
    controller.close();
    await beginning;
    expect(late.free).toHaveBeenCalledOnce();
    expect(told).toEqual([]);
  });
});

describe("a coarse run", () => {
  const coarse = { "layout.rebuild.chunk": "384MiB", "devices[0].lun.rate": "1GB", layouts: 2 };
  const variant = (name: string, set: Variant["set"]) => ({ name, title: name, summary: name, set });
  const variants = [variant("whole", { "jobs[0].bs": null }), variant("bare", { layout: null })];

  it("has all that the case names", () => {
    expect(coarseOf({ coarse, variants }, "whole")).toEqual(coarse);
    expect(coarseOf({ variants }, "whole")).toEqual({});
  });

  it("does not bring back what a variant has dropped", () => {
    expect(Object.keys(coarseOf({ coarse, variants }, "bare"))).toEqual(["devices[0].lun.rate", "layouts"]);
  });

  it("has a variant's own values in their place", () => {
    const own = { ...variant("own", {}), coarse: { layouts: 1 } };
    const none = { ...variant("none", {}), coarse: {} };
    expect(coarseOf({ coarse, variants: [own, none] }, "own")).toEqual({ layouts: 1 });
    expect(coarseOf({ coarse, variants: [own, none] }, "none")).toEqual({});
  });
});

describe("a first run that is not seen", () => {
  const document = { ...doc, coarse: { layouts: 2 } };

  function long(isWatched: () => boolean) {
    const asked: RunRequest[] = [];
    let part: (() => void) | undefined;
    let end: (() => void) | undefined;
    const shown: boolean[] = [];
    const controller = new RunController<Run>({
      document,
      isWatched,
      engine: {
        run: (request, { onPartial }) =>
          new Promise((resolve) => {
            asked.push(request);
            part = () => onPartial(runOf(request));
            end = () => resolve(runOf(request));
          }),
      },
      listeners: {
        onResult: (_, { isPartial }) => shown.push(isPartial),
        onState: () => undefined,
        onError: (error) => {
          throw error;
        },
      },
    });
    const beginning = controller.begin();
    return { controller, asked, shown, part: () => part!(), end: () => end!(), beginning };
  }

  it("is the whole run at once, and no part of it is drawn", async () => {
    const { asked, shown, part, end, beginning } = long(() => false);
    part();
    end();
    await beginning;
    expect(asked).toEqual([{ case: "odx-prefetch", ...documented }]);
    expect(shown).toEqual([false]);
  });

  it("is drawn from the moment on at which somebody looks", async () => {
    let isWatched = false;
    const { shown, part, end, beginning } = long(() => isWatched);
    part();
    isWatched = true;
    part();
    end();
    await beginning;
    expect(shown).toEqual([true, false]);
  });

  it("is seen from the first part on where nothing covers it", async () => {
    const { asked, shown, end, beginning } = long(() => true);
    end();
    await vi.waitFor(() => expect(asked).toHaveLength(2));
    end();
    await beginning;
    expect(asked.map((request) => ("case" in request ? request.set : undefined))).toEqual([{ layouts: 2 }, {}]);
    expect(shown).toEqual([true, false]);
  });

  it("does not keep parts of later runs from a reader", async () => {
    const { controller, asked, shown, part, end, beginning } = long(() => false);
    end();
    await beginning;
    controller.setValues({ layouts: 3 }, true);
    await vi.waitFor(() => expect(asked).toHaveLength(2));
    part();
    expect(shown).toEqual([false, true]);
  });
});
