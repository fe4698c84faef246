import { describe, expect, it } from "vitest";
import { describeFlames, flameGraph, framesOf, functionsOf } from "../../src/charts/flameGraph.ts";
import { costsOf, limitOf, shardLimit } from "../../src/charts/shardLimit.ts";
import { shardMap } from "../../src/charts/shardMap.ts";
import { describeShards, limitSentences, ownerOf, serversOf } from "../../src/charts/rows/shards.ts";
import { controllerResult } from "../fixtures/controller.ts";

const options = { width: 900, job: "reads", op: "read" } as const;
const empty = { ...controllerResult(), columns: {}, folded: "" };

describe("the shard map", () => {
  it("has a strip for each number of shards, whose owners follow each other in turn", () => {
    const result = controllerResult([3, 2]);
    expect([0, 1, 2, 3].map((range) => ownerOf(result, range, 3))).toEqual([0, 1, 2, 0]);
    const one = shardMap(controllerResult([3]), options).querySelectorAll("rect").length;
    const two = shardMap(result, options).querySelectorAll("rect").length;
    expect(two).toBeGreaterThan(one);
    expect(shardMap(result, options).textContent).toContain("from 500\u00a0ms");
  });

  it("says who is the limit", () => {
    expect(describeShards(controllerResult([3]), "reads", "read")).toContain(limitSentences.primary);
    const alone = describeShards(controllerResult([1]), "reads", "read");
    for (const sentence of Object.values(limitSentences)) expect(alone).not.toContain(sentence);
  });

  it("shows the controller alone of a disk that is not split", () => {
    expect(serversOf(controllerResult([1]), 0)).toHaveLength(1);
    expect(serversOf(controllerResult([3, 2]), 0)).toHaveLength(4);
  });

  it("says so when there is none", () => {
    const map = shardMap(empty, options);
    expect([map.className, map.textContent]).toEqual(["empty", describeShards(empty, "reads", "read")]);
  });
});

describe("the flame graph", () => {
  const result = controllerResult();

  it("puts callers below what they call, with times that add up", () => {
    const root = framesOf(result.folded!);
    expect(root.ns).toBe(10_000);
    expect(root.children[0]!.children.map(({ name, ns }) => [name, ns])).toEqual([
      ["primary", 4000],
      ["shard 0", 5000],
      ["shard 1", 1000],
    ]);
  });

  it("adds a function up over the servers it ran on", () => {
    expect(functionsOf(framesOf(result.folded!))).toEqual([
      { name: "read > look up", ns: 6000 },
      { name: "dispatch > route", ns: 3000 },
      { name: "dispatch", ns: 1000 },
    ]);
    expect(describeFlames(result)).toContain("read > look up: 60.0%");
  });

  it("draws a frame for each, named for those who hover", () => {
    const titles = Array.from(
      flameGraph(result, { width: 900 }).querySelectorAll("title"),
      (title) => title.textContent,
    );
    expect(titles).toHaveLength(11);
    expect(titles).toContain("look up: 5.00\u00a0µs, 50.0%");
  });

  it("says so when no processor time is known", () => {
    const graph = flameGraph(empty, { width: 900 });
    expect([graph.className, graph.textContent]).toEqual(["empty", describeFlames(empty)]);
  });
});

describe("the limit of a disk", () => {
  const controller = { cores: 12, dispatch: 20_000, read: 60_000, cost_percent: 50 };
  const limit = { job: "reads", op: "read", controller } as const;

  it("rises with the shards until the primary or the cores are busy", () => {
    const costs = costsOf(controllerResult(), limit);
    expect([1, 2, 3, 4].map((shards) => Math.round(limitOf(costs, shards)))).toEqual([
      33_333, 66_667, 100_000, 100_000,
    ]);
    expect(limitOf({ ...costs, cores: 2 }, 4)).toBeCloseTo(50_000, 6);
  });

  it("is drawn with the run on it", () => {
    expect(shardLimit(controllerResult([3]), { ...limit, width: 500 }).textContent).toContain("450 reads/s");
  });
});
