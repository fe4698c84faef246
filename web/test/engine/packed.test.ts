import { describe, expect, it } from "vitest";
import { pack, unpack } from "../../src/engine/packed.ts";
import { zfsResult } from "../fixtures/zfs.ts";

const result = zfsResult();
const throughText = (columns: Record<string, Float64Array | Uint32Array>) =>
  unpack(JSON.parse(JSON.stringify(pack({ ...result, columns }))) as ReturnType<typeof pack>);

describe("a stored result", () => {
  it("is the same after it was text", () => {
    const { scenario, summary, columns } = result;
    expect(throughText({ ...columns })).toEqual({ scenario, summary, columns });
  });

  it("keeps every bit of numbers that are not whole, gaps, and the type of a column", () => {
    const columns = {
      a: Float64Array.of(0.1 + 0.2, Number.NaN, -1e-300),
      b: Uint32Array.of(4_294_967_295, 0, 7),
      c: Float64Array.of(9_007_199_254_740_991, -5),
      d: new Float64Array(0),
    };
    expect(throughText(columns).columns).toEqual(columns);
  });

  it("refuses what JSON cannot tell", () => {
    expect(() => pack({ ...result, columns: { "ops.x": Float64Array.of(Infinity) } })).toThrow("ops.x");
  });
});
