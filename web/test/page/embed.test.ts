import { describe, expect, it } from "vitest";
import { embedCode } from "../../src/page/shared/embed.ts";
import { readMessage } from "../../src/page/shared/embedMessages.ts";
import { standalone, tableCsv } from "../../src/page/case/drawing.ts";

const read = (data: unknown) => readMessage(data, ["broken", "fixed"]);

describe("a message to a frame", () => {
  it("is done when it is one of the protocol", () => {
    expect(read({ seeklab: 1, kind: "run" })).toEqual({ kind: "run" });
    expect(
      read({ seeklab: 1, kind: "set", variant: "fixed", set: { "volume.prefetch.chunk": "4MiB" }, seed: 7 }),
    ).toEqual({
      kind: "set",
      variant: "fixed",
      set: { "volume.prefetch.chunk": "4MiB" },
      seed: 7,
    });
  });

  const deep = { a: { a: { a: { a: { a: { a: 1 } } } } } };
  const many = Object.fromEntries(Array.from({ length: 51 }, (_, nth) => [`f${nth}`, 1]));
  it.each([
    ["text", "set", "is an object"],
    ["nothing", null, "is an object"],
    ["a list", [1], "is an object"],
    ["without a protocol", { kind: "run" }, "seeklab: 1"],
    ["of another protocol", { seeklab: 2, kind: "run" }, "seeklab: 1"],
    ["of no kind", { seeklab: 1 }, "has a kind"],
    ["of another kind", { seeklab: 1, kind: "open", url: "https://example.org/" }, "has a kind"],
    [
      "with an unknown variant",
      { seeklab: 1, kind: "set", variant: "__proto__" },
      "variant must be one of broken, fixed.",
    ],
    ["with a variant that is no name", { seeklab: 1, kind: "set", variant: ["fixed"] }, "variant must be one of"],
    ["with half a seed", { seeklab: 1, kind: "set", seed: 0.5 }, "seed must be a whole number"],
    ["with values in a list", { seeklab: 1, kind: "set", set: [1] }, "set must map paths"],
    ["with too many fields", { seeklab: 1, kind: "set", set: many }, "at most 50 are allowed"],
    [
      "with a field as long as a book",
      { seeklab: 1, kind: "set", set: { ["x".repeat(1e5)]: 1 } },
      "is not a number, text",
    ],
    [
      "with a text as long as a book",
      { seeklab: 1, kind: "set", set: { a: "x".repeat(1e5) } },
      "is not a number, text",
    ],
    ["with a function", { seeklab: 1, kind: "set", set: { a: () => 1 } }, "is not a number, text"],
    [
      "with 50 times 50 values",
      { seeklab: 1, kind: "set", set: { a: Array(50).fill(Array(50).fill(1)) } },
      "1000 values",
    ],
    ["with a value too deep", { seeklab: 1, kind: "set", set: deep }, "is not a number, text"],
  ])("is answered with a sentence when it is %s", (_, data, words) => {
    const answer = read(data);
    expect(answer).toEqual(expect.stringContaining(words));
    expect(answer).toSatisfy((sentence: string) => sentence.length < 200);
  });
});

describe("the code of a frame", () => {
  it("keeps the state of the page, and no title gets out of its attribute", () => {
    const code = embedCode("https://example.org/lab/odx-prefetch.html#v1=e30", 'Q1: "<script>');
    expect(code).toContain('src="https://example.org/lab/odx-prefetch.html?embed=1#v1=e30"');
    expect(code).toContain('title="Q1: &quot;&lt;script>"');
  });
});

describe("what is saved", () => {
  it("is a table as CSV, headings first, with commas and quotes kept", () => {
    const table = document.createElement("table");
    table.innerHTML =
      "<thead><tr><th>Where</th><th>For</th></tr></thead><tbody><tr><td>disk, seek</td><td>1.5\u00a0ms</td></tr>" +
      '<tr><td>a "b"</td><td></td></tr></tbody>';
    expect(tableCsv(table)).toBe('Where,For\n"disk, seek",1.5 ms\n"a ""b""",\n');
  });

  it("is a drawing without classes, on paper", () => {
    document.body.innerHTML = '<svg><path class="line" d="M0 0" style="fill:red"/></svg>';
    const alone = standalone(document.querySelector("svg")!);
    expect(alone.firstElementChild!.tagName).toBe("rect");
    expect(alone.querySelector("path")!.getAttribute("fill")).toBe("red");
    expect(alone.querySelector("[class], [style]")).toBeNull();
  });
});
