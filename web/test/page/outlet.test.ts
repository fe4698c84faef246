import { describe, expect, it } from "vitest";
import { mostShown, Outlet } from "../../src/python/outlet.ts";
import { numbersIn } from "../fixtures/numbers.ts";

function outlet() {
  const sent: string[] = [];
  const clock = { ms: 0 };
  const made = new Outlet({ send: (text) => sent.push(text), now: () => clock.ms });
  made.begin();
  return { made, sent, clock };
}

describe("what Python prints", () => {
  it("is shown at once while little is printed", () => {
    const { made, sent } = outlet();
    made.write("a\n", false);
    made.write("b\n", false);
    expect(sent).toEqual(["a\n", "b\n"]);
  });

  it("comes in some messages a second from a loop that prints without an end, and no more than a page can show", () => {
    const { made, sent, clock } = outlet();
    // Ten seconds of a hundred thousand lines a second.
    for (let line = 0; line < 1_000_000; line++) {
      clock.ms += 0.01;
      made.write("0123456789\n", false);
    }
    expect(sent.length).toBeLessThan(60 + 10 * 20 + 2);
    expect(sent.join("").length).toBeLessThanOrEqual(mostShown);
    made.end();
    expect(numbersIn(sent.at(-1))).toEqual(["10,800,000"]);
    expect(sent.slice(0, -1).join("")).toBe("0123456789\n".repeat(20_000).slice(0, mostShown));
  });

  it("is shown to the last character when the run ends, and the next run has all the room again", () => {
    const { made, sent } = outlet();
    for (let line = 0; line < 100; line++) made.write(`${line}\n`, false);
    made.end();
    expect(sent.join("")).toBe(Array.from({ length: 100 }, (_, line) => `${line}\n`).join(""));
    made.write("x".repeat(mostShown + 1), true);
    made.end();
    made.begin();
    made.write("again\n", false);
    made.end();
    expect(sent.at(-1)).toBe("again\n");
  });
});
