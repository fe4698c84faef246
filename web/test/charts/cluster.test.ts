import { describe, expect, it } from "vitest";
import { clusterMap, flowLooks } from "../../src/charts/clusterMap.ts";
import { describeCluster, eventTimes, intervalOf, momentOf, nodesOf } from "../../src/charts/rows/clusterTables.ts";
import { clusterResult } from "../fixtures/cluster.ts";
import { numbersIn } from "../fixtures/numbers.ts";

const result = clusterResult();
const at = (time_s: number) => momentOf(result, "vm", time_s);
const map = (time_s: number) => clusterMap(result, { job: "vm", width: 600, time_s });
const titles = (time_s: number) =>
  Array.from(map(time_s).element.querySelectorAll("title"), (title) => title.textContent);

describe("a moment of a cluster", () => {
  it("begins with what was placed, and the machine at home", () => {
    expect(at(0)).toEqual({
      home: 0,
      mine: [10, 6, 4],
      others: [0, 4, 4],
      lost: [false, false, false],
      blocks: 10,
      flows: [],
    });
    expect([nodesOf(result), intervalOf(result)]).toEqual([3, 1]);
  });

  it("shows the machine on its new node once it has moved", () => {
    expect([1.9, 2, 9].map((time) => at(time).home)).toEqual([0, 2, 2]);
  });

  it("moves blocks that follow their reader, and leaves those that are only read", () => {
    // In the fourth interval 200 bytes, two blocks, follow from node 0 to node 2; 300 are read across.
    expect(at(3.5).mine).toEqual([8, 6, 6]);
    expect(at(3.5).flows).toEqual([
      { why: "request", from: 0, to: 2, bytes: 300 },
      { why: "migrate", from: 0, to: 2, bytes: 200 },
    ]);
  });

  it("leaves out what other machines read, and not what is copied for them", () => {
    expect(at(3.5).flows.some(({ bytes }) => bytes === 999)).toBe(false);
    expect(at(7.5).flows).toEqual([
      { why: "reprotect", from: 0, to: 2, bytes: 400 },
      { why: "reprotect", from: 2, to: 0, bytes: 400 },
    ]);
  });

  it("empties a lost node, and fills others as its blocks are made again", () => {
    expect(at(6).lost).toEqual([false, true, false]);
    expect(at(6).mine[1]! + at(6).others[1]!).toBe(0);
    expect(at(7.5).mine).toEqual([8, 0, 10]);
    expect(at(7.5).others).toEqual([4, 0, 4]);
  });

  it("is told in a sentence, with what is gone", () => {
    // The machine's node, its blocks there, bytes between nodes, and lost nodes.
    expect(numbersIn(describeCluster(at(7.5), "vm"))).toEqual(["2", "100%", "800 B", "1"]);
    expect(numbersIn(describeCluster({ ...at(0), lost: [true, false, true] }, "vm")).slice(-2)).toEqual(["0", "2"]);
    expect(eventTimes(result)).toEqual([0, 2, 6]);
  });
});

describe("the cluster map", () => {
  it("has a column for each node, named with what it holds", () => {
    // The node, blocks of the machine, blocks of others.
    expect(titles(0).map(numbersIn)).toEqual([
      ["0", "10", "0"],
      ["1", "6", "4"],
      ["2", "4", "4"],
    ]);
    expect([0, 1, 2].map((node) => map(0).x(node))).toEqual([0, 1, 2].map((node) => 8 + (node + 0.5) * (584 / 3)));
  });

  it("draws an arc for all that goes from node to node, with why and how much", () => {
    const flows = (words: string) =>
      titles(3.5)
        .filter((title) => title.endsWith(words))
        .map(numbersIn);
    expect(flows(flowLooks.migrate.words)).toEqual([["200 B", "0", "2"]]);
    expect(flows(flowLooks.request.words)).toEqual([["300 B", "0", "2"]]);
  });

  it("gives heights in proportion, and the local colour to the machine's own node", () => {
    const local = (time_s: number) =>
      Array.from(map(time_s).element.querySelectorAll("svg > g > rect:nth-of-type(2)"), (rect) => [
        rect.getAttribute("fill-opacity"),
        Number(rect.getAttribute("height")),
      ]);
    const [zero, one, two] = local(0) as [[string, number], [string, number], [string, number]];
    expect([zero[0], one[0], two[0]]).toEqual(["1", "0.5", "0.5"]);
    expect(zero[1] / one[1]).toBeCloseTo(10 / 6);
    expect(local(2)[2]![0]).toBe("1");
  });

  it("says that a node is lost in a word, not only by a cross", () => {
    expect(map(5).element.textContent).not.toContain("lost1");
    expect(Array.from(map(6).element.querySelectorAll("text"), (text) => text.textContent)).toContain("lost");
  });

  it("says the moment for those who do not see it", () => {
    expect(map(0).element.querySelector("svg")!.getAttribute("aria-label")).toContain(describeCluster(at(0), "vm"));
  });
});
