import { describe, expect, it } from "vitest";
import type { Fact } from "../../src/engine/types.ts";
import { deviation, facts, tally, verdictWords } from "../../src/page/case/factTable.ts";
import { operationLog } from "../../src/charts/operationLog.ts";
import { resultTable } from "../../src/charts/resultTable.ts";
import { numbersIn } from "../fixtures/numbers.ts";

const fact: Fact = {
  case: "odx-prefetch",
  id: "Q1.1",
  title: "Bytes from cache",
  kind: "predicted",
  documented: 8_388_608,
  simulated: 8_388_608,
  unit: "B",
  tolerance: "exact",
  ok: true,
  verdict: "holds",
  note: "",
  misses_because: null,
  break: null,
  instead: [],
  checks: [{ title: "of 9 MiB", documented: [1, 2], simulated: 3, unit: "ms", tolerance: "10%", ok: false }],
};

describe("facts", () => {
  const entry = { id: "Q1.1", title: "Bytes from cache", kind: "predicted" } as const;

  it("show a miss as plainly as a hit, in words and not by colour alone", () => {
    const table = facts([{ entry, fact }], { source: "the source" });
    const verdicts = Array.from(table.querySelectorAll(".verdict"), (cell) => cell.textContent);
    expect(verdicts).toEqual([`✓${verdictWords.holds}`, `✕${verdictWords.misses}`]);
    expect(table.textContent).toContain("8,388,608\u00a0B");
    expect(table.textContent).toContain("+50.0%");
  });

  it("tell a source that contradicts itself from a model that misses, with what holds instead", () => {
    const instead = [{ title: "by arithmetic", documented: 3, simulated: 3, unit: "ms", tolerance: "exact", ok: true }];
    const found: Fact = { ...fact, kind: "discrepancy", ok: false, verdict: "source contradicts itself", instead };
    const table = facts([{ entry, fact: found }], { source: "the source" });
    const verdicts = Array.from(table.querySelectorAll(".verdict"), (cell) => cell.textContent);
    const contradicts = `≠${verdictWords.contradicts}`;
    expect(verdicts).toEqual([contradicts, contradicts, `✓${verdictWords.holds}`]);
    expect(table.querySelectorAll("tr")[3]!.textContent).toContain(instead[0]!.title);
  });

  it("say what came over several seeds and at other inputs", () => {
    const note = (inputs_held: boolean) => {
      const stored = { seeds: 5, held: true, range: [1, 2], inputs: 3, inputs_held } as const;
      const table = facts([{ entry, fact: { ...fact, unit: "ms", stored } }], { source: "the source" });
      return table.querySelector("tr.note")!.textContent;
    };
    expect(numbersIn(note(true))).toEqual(["5", "1.00 ms", "2.00 ms", "3"]);
    expect(note(false)).not.toBe(note(true));
  });

  it("are counted apart in three words", () => {
    const row = (verdict: Fact["verdict"]) => ({ entry, fact: { ...fact, verdict } });
    const rows = (verdict: Fact["verdict"], count: number) => Array.from({ length: count }, () => row(verdict));
    expect(numbersIn(tally(rows("holds", 2)))).toEqual(["2", "2"]);
    const all = [...rows("holds", 3), ...rows("model misses", 2), ...rows("source contradicts itself", 1)];
    expect(numbersIn(tally(all))).toEqual(["3", "6", "2", "1"]);
  });

  it("say which have not been checked and which could not be", () => {
    const table = facts([{ entry }, { entry, problem: "limits.events: exceeded" }], { source: "the source" });
    expect(table.textContent).toContain(verdictWords.pending);
    expect(table.textContent).toContain("limits.events: exceeded");
  });

  it.each([
    [{ documented: 25, simulated: 24, tolerance: "15%" }, "−4.00%"],
    [{ documented: 5, simulated: 2.5, tolerance: "at most" }, "below"],
    [{ documented: 5, simulated: 6, tolerance: "at most" }, "+20.0%"],
    [{ documented: 80, simulated: 89, tolerance: "at least" }, "above"],
    [{ documented: [40, 50] as const, simulated: 45, tolerance: "10%" }, "within"],
    [{ documented: 0, simulated: -0.5, tolerance: "+-1" }, "-0.500"],
    [{ documented: 8, simulated: 8, tolerance: "exact" }, "none"],
  ])("give the deviation of %j as %s", (check, words) => {
    expect(deviation(check)).toBe(words);
  });
});

describe("the table behind a chart", () => {
  it("has a caption and says when rows were cut", () => {
    const table = resultTable({
      caption: "Numbers",
      columns: [{ title: "n", value: (n: number) => n }],
      rows: [1, 2, 3],
      limit: 2,
    });
    expect(table.caption!.textContent).toBe("Numbers, the first 2 of 3");
    expect(table.querySelectorAll("tbody tr")).toHaveLength(2);
    expect(table.querySelectorAll("th[scope=col]")).toHaveLength(1);
  });
});

describe("printed text", () => {
  it("is shown as it is, can be scrolled by keyboard, and can have words marked", () => {
    const pre = operationLog("a <b> 262144\n262144", { label: "Operation log", mark: ["262144"] });
    expect(pre.textContent).toBe("a <b> 262144\n262144");
    expect(pre.tabIndex).toBe(0);
    expect(pre.querySelectorAll("mark")).toHaveLength(2);
  });
});
