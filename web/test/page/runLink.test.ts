import { describe, expect, it } from "vitest";
import { numbersIn } from "../fixtures/numbers.ts";
import {
  decodeRunLink,
  defaultState,
  encodeRunLink,
  invalidLink,
  type PageState,
} from "../../src/page/shared/runLink.ts";

const state: PageState = {
  case: "odx-prefetch",
  variant: "fixed",
  set: { "volume.prefetch.chunk": 4_194_304, "jobs[background].rate_iops": 0.001, "tier.primed": ["odx"] },
  seed: 2 ** 53 - 1,
  ui: { tab: "histogram", fio: "[a]\nname=ß → 🚀\n" },
};

function hashOfText(text: string): string {
  return `#v1=${btoa(text).replaceAll("+", "-").replaceAll("/", "_")}`;
}
const problem = (hash: string) => {
  const decoded = decodeRunLink(hash);
  if (decoded.kind !== "problem") throw new Error(`${hash} was taken for ${decoded.kind}`);
  return decoded.message;
};

describe("a state in the address", () => {
  it("comes back as it went", () => {
    expect(decodeRunLink(encodeRunLink(state))).toEqual({ kind: "state", state });
    expect(decodeRunLink(encodeRunLink(defaultState))).toEqual({ kind: "state", state: defaultState });
  });

  it("uses only characters that no mail program breaks", () => {
    expect(encodeRunLink(state)).toMatch(/^#v1=[A-Za-z0-9_-]+$/);
  });

  it("is not needed, and an anchor is not one", () => {
    document.body.innerHTML = "<main id=page></main>";
    for (const hash of ["", "#", "#page"]) expect(decodeRunLink(hash)).toEqual({ kind: "none" });
  });

  it("from version 1 keeps decoding", () => {
    const kept = "#v1=eyJjYXNlIjoib2R4LXByZWZldGNoIiwidmFyaWFudCI6ImZpeGVkIiwic2V0Ijp7fSwic2VlZCI6N30";
    expect(decodeRunLink(kept)).toEqual({
      kind: "state",
      state: { case: "odx-prefetch", variant: "fixed", set: {}, seed: 7, ui: {} },
    });
  });

  it.each([
    ["of 50,000 values", ["1000", "4", "300"], `{"set":{"a":[${Array(50_000).fill("1").join(",")}]}}`],
    ["of 100,000 levels", ["1000", "4", "300"], `{"set":{"a":${"[".repeat(100_000)}${"]".repeat(100_000)}}}`],
    ["of 51 fields", ["51", "50"], `{"set":{${Array.from({ length: 51 }, (_, nth) => `"f${nth}":1`).join(",")}}}`],
  ])("is refused in a sentence when it holds a value %s", (_, numbers, text) => {
    const said = problem(hashOfText(text));
    expect(numbersIn(said)).toEqual(numbers);
    expect(said.length).toBeLessThan(350);
  });

  it("from a newer version is refused by its number", () => {
    const newer = problem("#v2=e30");
    expect(numbersIn(newer)).toEqual(["2", "1"]);
    expect(newer).not.toContain(invalidLink);
  });

  it.each([
    ["cut short", encodeRunLink(state).slice(0, -3)],
    ["not base64", "#v1=%%%"],
    ["not JSON", hashOfText("not json")],
    ["broken UTF-8", "#v1=_w"],
    ["an array", hashOfText("[]")],
    ["a seed that is no whole number", hashOfText('{"seed":1.5}')],
    ["a set that is no object", hashOfText('{"set":[1]}')],
    ["version 0", "#v0=e30"],
    ["not ours", "#?x=1"],
    ["without its text", "#v1"],
    ["a place that the page does not have", "#nowhere"],
  ])("that is %s gives a sentence", (_, hash) => {
    const [start, why] = problem(hash).split(/: (.*)/s);
    expect(start).toBe(invalidLink);
    expect(why).toMatch(/^\S.+\.$/s);
  });
});
