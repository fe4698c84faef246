// @vitest-environment node
import { describe, expect, it } from "vitest";
import type { Result } from "../../src/engine/api.ts";
import { overviewFor, wrap } from "../../vite/picture.ts";
import { placeOf } from "../../vite/openingRuns.ts";
import { fillCasePage, libraryOf } from "../../vite/site.ts";
import { q1Result } from "../fixtures/q1.ts";
import { zfsResult } from "../fixtures/zfs.ts";

type Documented = Parameters<typeof fillCasePage>[1];

const named = (id: string, code: string, family: string) => ({
  id,
  code,
  family,
  title: `Title of ${code}`,
  symptom: `What <b>${code}</b> "does"`,
  subtitle: "Why.",
  ask: { question: "How many?" },
  source: { name: "A source", year: 2008 },
  story: "Who `was` there. What came of it.",
});
const cases = [named("a", "A1", "First"), named("b", "A2", "First"), named("c", "B1", "Second")];

describe("a case's page", () => {
  const page = (id: string, clip?: string) =>
    fillCasePage(
      '</head>%setting%|%symptom%|%card%|%library%<!--first-picture--><footer class="site"></footer>',
      cases.find((entry) => entry.id === id) as unknown as Documented,
      {
        cases,
        caption: "A picture.",
        library: "libraries/x.json",
        address: "https://example.org/lab/",
        first: { picture: `<div class="first-picture">${id}</div>`, style: ".seeklab{}", patterns: "" },
        explanation: { steps: [] },
        clip,
      },
    );

  it("names its clip, if it has one, and has the browser fetch it at once", () => {
    expect(page("b", "clips/b-12345678.clip")).toMatch(
      /<meta name="clip" content="(clips\/b-12345678\.clip)" \/>\s*<link rel="preload" href="\.\/\1" as="fetch"/,
    );
    expect(page("b")).not.toContain("clip");
  });

  it("leads to the one before, the one after, and its family, and to nothing beyond the ends", () => {
    expect(page("b")).toContain('<a rel="prev" href="./a.html">');
    expect(page("b")).toContain('<a rel="next" href="./c.html">');
    expect(page("a")).not.toContain('rel="prev"');
    expect(page("c")).not.toContain('rel="next"');
    expect(page("b")).toContain("This family: First");
    expect(page("b")).toContain('<b aria-current="page">A2 · Title of A2</b>');
    expect(page("b")).not.toContain("B1 · Title of B1</a> <span");
  });

  it("begins with the year and the first sentence of the story", () => {
    expect(page("a")).toContain("2008 · Who was there.|");
  });

  it("holds the first picture, and its colours in the head", () => {
    expect(page("b")).toContain('<div class="first-picture">b</div>');
    expect(page("b")).toMatch(/<style>\.seeklab\{\}<\/style>\s*<\/head>/);
  });

  it("shows words as words, and names its card by a whole address", () => {
    expect(page("a")).toContain("What &lt;b&gt;A1&lt;/b&gt; &quot;does&quot;|https://example.org/lab/cards/a.png|");
    expect(page("a")).not.toContain("<b>A1");
  });
});

describe("the library of a page", () => {
  const text = JSON.stringify({
    presets: [{ name: "p", source: "A data sheet." }],
    families: ["f"],
    ranges: { "A1.1": 1, "B1.1": 2 },
    cases: [
      { document: { id: "a", facts: [{ id: "A1.1" }] } },
      { document: { id: "b", facts: [{ id: "B1.1" }], shift: { cause: "c" } } },
    ],
  });

  it("has its own case with what is stored of its facts, and all presets", () => {
    expect(JSON.parse(libraryOf("b", text))).toEqual({
      presets: [{ name: "p" }],
      families: ["f"],
      ranges: { "B1.1": 2 },
      cases: [{ document: { id: "b", facts: [{ id: "B1.1" }] } }],
    });
    expect(JSON.parse(libraryOf("", text))).toMatchObject({ presets: [{ name: "p" }], cases: [], ranges: {} });
    expect(() => libraryOf("z", text)).toThrow(/\bz\.$/);
  });
});

describe("the picture of a run", () => {
  const ask = (covers: string[]) => ({ ask: { covers }, focus: { job: "writers", op: "write" } }) as never;

  it("shows nothing that the open question covers", () => {
    expect(overviewFor(zfsResult(), ask([])).kind).toBe("dirty");
    expect(overviewFor(zfsResult(), ask(["dirty"])).kind).toBe("intervals");
    expect(overviewFor(q1Result({ reads: 20 }), ask([])).kind).toBe("requests");
  });

  it("is not that of a buffer which held nobody up", () => {
    const free = zfsResult();
    for (const name of ["zfs.delayed", "zfs.blocked"]) free.columns[name]!.fill(0);
    expect(overviewFor(free, ask([])).kind).toBe("intervals");
  });

  it("has its words in lines", () => {
    expect(wrap("one two three four", 9)).toEqual(["one two", "three", "four"]);
  });
});

describe("the place of an incident", () => {
  const summary = {
    jobs: ["a", "b"],
    metrics: {
      "b.read_ios": 10,
      "b.read_latency_p50_ms": 1,
      "b.read_latency_mean_ms": 2,
      "b.read_latency_max_ms": 3,
    },
  } as unknown as Result["summary"];

  it("is that of the requests that the case looks at, else of the most that there are", () => {
    const place = { op: "read", median_ns: 1e6, mean_ns: 2e6, longest_ns: 3e6 };
    expect(placeOf({ summary }, { focus: { job: "b", op: "read" } })).toEqual(place);
    expect(placeOf({ summary }, { focus: { job: "a", op: "write" } })).toEqual(place);
  });
});
