import { describe, expect, it } from "vitest";
import { glanceAt } from "../../src/page/fileDrop/glance.ts";
import { factDots, verdictOf } from "../../src/page/front/factDots.ts";
import { atOnce, FirstLook } from "../../src/page/oncall/firstLook.ts";
import { leaveNote, takeNote } from "../../src/page/shared/note.ts";

describe("the first look at a shift", () => {
  it("answers the stored commands, in any order, with the clock after both", () => {
    const paid = atOnce.filter((line) => !["help", "about"].includes(line));
    for (const [first, second] of [paid, paid.toReversed()]) {
      const look = new FirstLook();
      const before = look.answer(first!)!;
      const after = look.answer(second!)!;
      expect(after.kept.seconds).toBeGreaterThan(before.kept.seconds);
      expect(after.kept.commands.map(({ command }) => command)).toEqual([first, second]);
    }
  });

  it("keeps the clock where a command is free, and leaves all others to Python", () => {
    const look = new FirstLook();
    expect(look.answer("help")!.kept.seconds).toBe(0);
    expect(look.answer("  iostat   -x ")!.kept.seconds).toBeGreaterThan(0);
    expect(look.answer("iostat -x")).toBeUndefined();
    expect(look.answer("name 1")).toBeUndefined();
    expect(look.kept.commands.map(({ command }) => command)).toEqual(["help", "iostat -x"]);
  });
});

describe("a glance at a pasted text", () => {
  const text = [
    "$ iostat -x 1",
    "Device r/s w/s r_await w_await %util",
    "sda 10.0 1.0 5.20 1.00 12.0",
    "sdb 90.0 0.0 53.24 0.00 99.8",
  ].join("\n");

  it("names the tool and the busiest device", () => {
    const told = glanceAt(text).join(" ");
    for (const word of ["iostat -x", "sdb", "99.8%", "53.24"]) expect(told).toContain(word);
  });

  it("says nothing about what it does not know", () => {
    expect(glanceAt("hello")).toEqual([]);
    expect(glanceAt("")).toEqual([]);
  });
});

describe("the documented numbers as dots", () => {
  it("have a dot for each fact, by its verdict", () => {
    const fact = (kind: string, misses_because?: string) => ({ kind, misses_because }) as never;
    expect(verdictOf(fact("predicted"))).toBe("holds");
    expect(verdictOf(fact("calibrated", "why"))).toBe("misses");
    expect(verdictOf(fact("discrepancy", "why"))).toBe("contradicts");
    const drawn = factDots([{ id: "a", code: "A1", title: "A", facts: [fact("predicted"), fact("discrepancy")] }]);
    expect(drawn.querySelectorAll("a .dot.holds")).toHaveLength(1);
    expect(drawn.querySelectorAll("a .dot.contradicts")).toHaveLength(1);
  });
});

describe("a note to the next page", () => {
  it("is read once", () => {
    expect(leaveNote("shift-command", "help")).toBe(true);
    expect(takeNote("shift-command")).toBe("help");
    expect(takeNote("shift-command")).toBeUndefined();
  });
});
