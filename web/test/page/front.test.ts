import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { catalogue, isWanted } from "../../src/page/front/catalogue.ts";
import type { Incident } from "../../src/page/shared/incidents.ts";
import { placeOn, rung } from "../../src/page/front/ladder.ts";
import { learningPaths } from "../../src/page/front/learningPaths.ts";
import { progressOf } from "../../src/page/shared/progressStore.ts";

const library = JSON.parse(
  readFileSync(join(import.meta.dirname, "../../../engine/wasm/pkg/library.json"), "utf8"),
) as { cases: { document: { id: string } }[] };

const incident: Incident = {
  id: "throttle-2008",
  code: "Z1",
  title: "A throttle that hurt",
  symptom: "99 of 100 writes take 20 microseconds.",
  family: "ZFS write throttle",
  year: 2013,
  source: "Adam Leventhal",
  place: { op: "write", median_ns: 20_000, mean_ns: 34e6, longest_ns: 4.8e9 },
  caption: "Dirty data.",
  exercises: [],
};

describe("the ladder", () => {
  it("has each decade an eighth of its length, and ends that hold what is beyond them", () => {
    expect(placeOn(100)).toBe(0);
    expect(placeOn(1000)).toBeCloseTo(1 / 8, 12);
    expect(placeOn(1e6)).toBeCloseTo(0.5, 12);
    expect(placeOn(10e9)).toBeCloseTo(1, 12);
    expect(placeOn(9)).toBe(0);
    expect(placeOn(15e9)).toBe(1);
  });

  it("draws an incident from its median to its longest request, with the mean as a dot, and says the numbers", () => {
    const row = rung(incident);
    const line = row.querySelector("line")!;
    expect([line.getAttribute("x1"), line.getAttribute("x2")]).toEqual(["28.76%", "96.02%"]);
    expect(row.querySelector("circle")!.getAttribute("cx")).toBe("69.14%");
    expect(row.getAttribute("aria-label")).toBe("A write: mean 34.0\u00a0ms, median 20.0\u00a0µs, longest 4.80\u00a0s");
  });
});

describe("ways to begin", () => {
  it("name cases that there are, none twice on one way", () => {
    const ids = new Set(library.cases.map(({ document }) => document.id));
    for (const { cases } of learningPaths) {
      expect(cases.filter((id) => !ids.has(id))).toEqual([]);
      expect(new Set(cases).size).toBe(cases.length);
    }
  });
});

describe("the search", () => {
  const wanted = (words: string, more = {}) =>
    isWanted(incident, "predicted", { words, family: "", progress: "", ...more });

  it("finds every word wherever it stands, in small letters or capitals", () => {
    expect(wanted("")).toBe(true);
    expect(wanted("leventhal THROTTLE 2013")).toBe(true);
    expect(wanted("throttle 2009")).toBe(false);
  });

  it("holds to the family and to what was predicted", () => {
    expect(wanted("", { family: "File servers" })).toBe(false);
    expect(wanted("", { progress: "predicted" })).toBe(true);
    expect(wanted("", { progress: "solved" })).toBe(false);
  });

  it("opens with Enter the one incident that is left, and sends nothing anywhere", () => {
    const element = catalogue([incident, { ...incident, id: "another", title: "Another" }]);
    const opened: string[] = [];
    element.addEventListener("click", (event) => {
      opened.push((event.target as HTMLAnchorElement).getAttribute("href")!);
      event.preventDefault();
    });
    const enter = (words: string) => {
      const search = element.querySelector<HTMLInputElement>("#search")!;
      search.value = words;
      search.dispatchEvent(new Event("input"));
      return search.form!.dispatchEvent(new Event("submit", { cancelable: true }));
    };
    expect([enter(""), enter("nothing has this"), opened]).toEqual([false, false, []]);
    expect([enter("hurt"), opened]).toEqual([false, ["throttle-2008.html"]]);
  });
});

describe("what the reader has predicted", () => {
  const kept = (prediction: string | null, answer: string | null = null) =>
    progressOf("x", (key) => (key === "prediction.x" ? prediction : answer));

  it("is open, skipped, predicted, or solved", () => {
    expect(kept(null)).toBe("open");
    expect(kept('{"guess":null}')).toBe("skipped");
    expect(kept('{"guess":5}')).toBe("predicted");
    expect(kept('{"guess":5}', "5.9")).toBe("solved");
    expect(kept('{"guess":5}', "15")).toBe("predicted");
  });

  it.each(["", "{", "null", "[]", '{"guess":"5"}', '"x"'])("takes a memory of %s for none", (text) => {
    expect(kept(text)).toBe("open");
    expect(kept('{"guess":5}', text)).toBe("predicted");
  });
});
