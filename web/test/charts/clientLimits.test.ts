import { describe, expect, it } from "vitest";
import { clientLimits, clientTable, describeClient, testsOf } from "../../src/charts/clientLimits.ts";
import { clientResult } from "../fixtures/client.ts";
import { numbersIn } from "../fixtures/numbers.ts";

describe("the limits of a client", () => {
  it("prints what Bonnie++ would, and the limit by name", () => {
    const [write, create, stat] = testsOf(clientResult());
    expect(testsOf(clientResult())).toHaveLength(3);
    expect([write!.printed, write!.limiter, write!.seen_mb_per_s]).toEqual(["114,313 K/s", "network", 125]);
    expect([create!.printed, create!.limiter]).toEqual(["680 a second", "latency"]);
    expect(stat!.printed).toBe("+++++");
  });

  it("says who is limited by what", () => {
    const said = describeClient(clientResult());
    for (const { limiter, title } of testsOf(clientResult())) expect(said).toContain(`${limiter}: ${title}.`);
  });

  it("draws computing and waiting that fill each bar, and a mark for each resource", () => {
    const drawn = clientLimits(clientResult(), 900);
    const widths = Array.from(drawn.querySelectorAll("figure rect, svg[role=img] rect"), (rect) =>
      Number(rect.getAttribute("width")),
    ).filter((width) => width > 0);
    // 38 + 62, 10 + 90 and 100 of the same length.
    expect(widths.reduce((sum, width) => sum + width, 0)).toBeGreaterThan(3 * 850);
    const titles = Array.from(drawn.querySelectorAll("title"), (title) => title.textContent);
    const [write, create] = testsOf(clientResult());
    const said = (start: string) => titles.filter((title) => title.startsWith(start)).map(numbersIn);
    expect(said(`${write!.title}: network`)).toEqual([["100%"]]);
    expect(said(`${create!.title}:`)).toContainEqual(["90.0%"]);
  });

  it("has a table with a row for each test", () => {
    expect(clientTable(clientResult()).querySelectorAll("tbody tr")).toHaveLength(3);
  });

  it("says so when there is no client", () => {
    const empty = { ...clientResult(), summary: { ...clientResult().summary, metrics: {} } };
    const drawn = clientLimits(empty, 900);
    expect([drawn.className, drawn.textContent]).toEqual(["empty", describeClient(empty)]);
  });
});
