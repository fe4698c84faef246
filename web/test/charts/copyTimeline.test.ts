import { describe, expect, it } from "vitest";
import { copiesOf, copyTimeline, describeCopies } from "../../src/charts/copyTimeline.ts";
import { twoCopies, ms, mib } from "../fixtures/copies.ts";
import { numbersIn } from "../fixtures/numbers.ts";

describe("copies side by side", () => {
  const result = twoCopies();

  it("count each copy from its own start, and leave out jobs that copy nothing", () => {
    expect(
      copiesOf(result).map(({ job, elapsed_ns, bytes, lanes }) => [job, elapsed_ns / ms, bytes / mib, lanes]),
    ).toEqual([
      ["client", 40, 2, 1],
      ["odx", 10, 2, 1],
    ]);
  });

  it("share out every nanosecond of a request, a write's bytes first and a read's last", () => {
    const [client] = copiesOf(result);
    expect(Object.values(client!.shares_ns).reduce((sum, ns) => sum + ns)).toBe(40 * ms);
    expect(client!.shares_ns.window).toBe(5 * ms);
    expect(client!.requests[0]!.parts.map(({ share }) => share)).toEqual(["distance", "network"]);
    expect(client!.requests[1]!.parts.map(({ share }) => share)).toEqual(["network", "distance"]);
  });

  it("say how many times as fast the others are, in words and in the picture", () => {
    const [client, odx] = describeCopies(result).split("; ");
    expect([client, odx].map(numbersIn)).toEqual([["40.0 ms"], ["4.00"]]);
    expect([client, odx]).toEqual([expect.stringMatching(/^client /), expect.stringMatching(/^odx /)]);
    const figure = copyTimeline(result, { width: 800 });
    expect(figure.querySelectorAll("[role=img]")).toHaveLength(2);
    expect(figure.textContent).toContain("window full");
  });
});
