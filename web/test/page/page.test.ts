import { afterEach, describe, expect, it, vi } from "vitest";
import type { Ask } from "../../src/engine/types.ts";
import { inTheCourse, pythonFor, pythonLiteral } from "../../src/page/case/exportPanel.ts";
import { operationsCsv } from "../../src/page/shared/download.ts";
import { inline, markdown } from "../../src/page/shared/markdown.ts";
import { type Prediction, predictionOf, words } from "../../src/lab/prediction.ts";
import { predictionMemory, predictionSection } from "../../src/page/shared/prediction.ts";
import { warnings } from "../../src/page/case/warnings.ts";
import { q1Result } from "../fixtures/q1.ts";

afterEach(() => {
  localStorage.clear();
  vi.restoreAllMocks();
});

describe("Markdown of a case file", () => {
  it("has paragraphs, lists, emphasis and code", () => {
    const [first, list] = markdown("One *two* **three**\n`four`.\n\n- a\n- b\n  c");
    expect(first!.outerHTML).toBe("<p>One <em>two</em> <strong>three</strong> <code>four</code>.</p>");
    expect(list!.outerHTML).toBe("<ul><li>a</li><li>b c</li></ul>");
  });
  it("never becomes markup by itself", () => {
    expect(inline("<img src=x>")).toEqual(["<img src=x>"]);
  });
});

describe("the state as Python", () => {
  const doc = { id: "odx-prefetch", default_variant: "broken" };
  it("is as short as the state allows", () => {
    expect(pythonFor(doc, { variant: "broken", set: {}, seed: 1, ui: {} })).toContain(
      'case = seeklab.case("odx-prefetch")\nr = case.run()',
    );
  });
  it("names variant, changes and seed", () => {
    const code = pythonFor(doc, { variant: "fixed", set: { "a.b": [true, null, "x"] }, seed: 7, ui: {} });
    expect(code).toContain('.with_({"a.b": [True, None, "x"]})');
    expect(code).toContain('case.run("fixed", seed=7)');
  });
  it("writes JSON values as Python does", () => {
    expect(pythonLiteral({ a: { b: 1.5, c: false } })).toBe('{"a": {"b": 1.5, "c": False}}');
  });
});

describe("where the course goes on", () => {
  const said = (doc: Parameters<typeof inTheCourse>[0]) =>
    inTheCourse(doc)
      .map((part) => (typeof part === "string" ? part : part.textContent))
      .join("");
  it("names the notebook and the exercises of this very case", () => {
    const words = said({ notebook: "04-a-throttle-that-hurt", exercises: ["which-throttle", "write-throttle"] });
    expect(words).toContain("notebooks/04-a-throttle-that-hurt");
    expect(words).toContain("Its exercises: exercises/which-throttle, exercises/write-throttle.");
  });
  it("links to each in the browser's lab", () => {
    const parts = inTheCourse({ notebook: "02-how-a-disk-spends-your-time", exercises: ["disk-time"] });
    const links = parts.filter((part) => part instanceof HTMLAnchorElement).map((link) => link.getAttribute("href"));
    expect(links).toEqual([
      "lab/notebooks/index.html?path=notebooks/02-how-a-disk-spends-your-time.ipynb",
      "02-how-a-disk-spends-your-time.html",
      "lab/notebooks/index.html?path=exercises/disk-time/disk-time.ipynb",
    ]);
  });
  it("is not claimed where there is neither", () => expect(said({})).toBe(""));
});

describe("the operation log as CSV", () => {
  it("has a heading, a row for each operation, and names in place of numbers", () => {
    const lines = operationsCsv(q1Result({ reads: 3 }))
      .trim()
      .split("\n");
    expect(lines).toHaveLength(4);
    const heading = lines[0]!.split(",");
    const second = lines[2]!.split(",");
    const cell = (name: string) => second[heading.indexOf(name)];
    expect(cell("job")).toBe("odx");
    expect(cell("op")).toBe("read");
    expect(cell("cached_bytes")).toBe("8388608");
  });
});

const said = (given: string) => words.said.replace("{given}", given);
const gives = (answer: string) => words.gives.replace("{answer}", answer);
const noMemory = { read: () => null, write: () => undefined };

const ask: Ask = {
  question: "How much slower?",
  measure: {
    ratio: [
      { metric: "m", variant: "broken", seeds: 1, over: "mean" },
      { metric: "m", variant: "fixed", seeds: 1, over: "mean" },
    ],
  },
  unit: "x",
  min: 1,
  max: 100,
  scale: "log",
  reveal: "It is {answer} times.",
};

describe("a prediction", () => {
  const doc = { ask, default_variant: "broken" };
  const build = (prediction: Prediction = predictionOf(doc, predictionMemory("q"))) => {
    const onAnswered = vi.fn();
    const measure = () => Promise.resolve(9.88);
    const built = predictionSection({ prediction, ask, revealingTitle: "Fixed", onAnswered, measure });
    document.body.replaceChildren(built.element);
    return { ...built, prediction, onAnswered };
  };
  const submit = (element: HTMLElement) => element.querySelector("form")!.requestSubmit();

  it("is answered once, then shows the distance, then and on the next visit", async () => {
    const { element, prediction, onAnswered } = build();
    submit(element);
    expect(onAnswered).toHaveBeenCalledOnce();
    expect(prediction.isOpenFor("fixed")).toBe(false);
    const off = words.off.replace("{factor}", "4.94");
    await vi.waitFor(() =>
      expect(element.textContent).toContain(`${said("2×")}: ${off}. ${gives("9.88×")}. It is 9.88 times.`),
    );
    const again = build();
    expect(again.element.querySelector("form")).toBeNull();
    await vi.waitFor(() => expect(again.element.textContent).toContain(said("2×")));
  });

  it("about the variant on the stage is answered in place", async () => {
    const prediction = predictionOf(
      { ask: { ...ask, measure: { metric: "m", seeds: 1, over: "mean" } }, default_variant: "broken" },
      noMemory,
    );
    const measure = () => Promise.resolve(2);
    const { element } = predictionSection({ prediction, ask, onAnswered: () => undefined, measure });
    document.body.replaceChildren(element);
    expect(element.querySelector("button[type=submit]")!.textContent).toBe("Check my guess");
    submit(element);
    const exact = `${said("2×")}: ${words.exactly}. ${gives("2.00×")}.`;
    await vi.waitFor(() => expect(element.textContent).toContain(exact));
  });

  it("can be skipped, and then stays away", () => {
    const { element, onAnswered } = build();
    Array.from(element.querySelectorAll("button"))
      .find((button) => button.textContent === "Skip")!
      .click();
    expect(onAnswered).toHaveBeenCalledOnce();
    expect(element.hidden).toBe(true);
    expect(build().element.hidden).toBe(true);
  });

  it("works when nothing can be remembered", () => {
    vi.spyOn(Storage.prototype, "setItem").mockImplementation(() => {
      throw new Error("full");
    });
    const { element, onAnswered } = build();
    submit(element);
    expect(onAnswered).toHaveBeenCalledOnce();
  });

  it("says why when its answer cannot be simulated", async () => {
    const measure = () => Promise.reject(new Error("limits.events: exceeded"));
    const prediction = predictionOf(doc, noMemory);
    const { element } = predictionSection({ prediction, ask, onAnswered: () => undefined, measure });
    document.body.replaceChildren(element);
    submit(element);
    await vi.waitFor(() => expect(element.textContent).toContain(": limits.events: exceeded"));
  });

  it("gives the answer once when the revealing sentence starts with it", async () => {
    const starting = { ...ask, reveal: "{answer} times. It waits." };
    const measure = () => Promise.resolve(9.88);
    const prediction = predictionOf(doc, noMemory);
    const { element } = predictionSection({ prediction, ask: starting, onAnswered: () => undefined, measure });
    submit(element);
    await vi.waitFor(() => expect(element.textContent).toContain(gives("9.88 times. It waits.")));
  });
});

describe("warnings of a scenario", () => {
  it("stand beside their field while the scenario has them", () => {
    const place = warnings();
    const { summary } = q1Result();
    place.show({ ...summary, warnings: [{ path: "zfs.max_active", message: "2 is below the sum of the minimums" }] });
    expect(place.element.textContent).toBe("zfs.max_active: 2 is below the sum of the minimums.");
    place.show(summary);
    expect(place.element.childElementCount).toBe(0);
  });
});
