import { describe, expect, it } from "vitest";
import type { Control } from "../../src/engine/types.ts";
import { curveValues } from "../../src/page/designer/costPanel.ts";
import { amount, currencyOf } from "../../src/page/designer/currency.ts";

const disks: Control = { path: "disks", title: "Disks", help: "", unit: null, min: 2, max: 88, step: 2, value: 44 };

describe("an amount", () => {
  it("is whole, in groups of three, with the currency where one is named", () => {
    expect(amount(27_319.6, "")).toBe("27,320");
    expect(amount(27_319.6, "€")).toBe("€27,320");
    expect(amount(27_319.6, "CHF")).toBe("CHF\u00a027,320");
  });

  it("takes no currency from a link but those that are offered", () => {
    expect(["€", "CHF", "", undefined, "<b>", "€€"].map(currencyOf)).toEqual(["€", "CHF", "", "", "", ""]);
  });
});

describe("a curve of cost", () => {
  it("goes from the least to the most of a part in few steps, the present number among them", () => {
    const values = curveValues(disks);
    expect([values[0], values.at(-1)]).toEqual([2, 88]);
    expect(values).toContain(44);
    expect(values.length).toBeLessThanOrEqual(10);
    expect(values.every((value) => value % 2 === 0)).toBe(true);
  });

  it("takes the values of a part that comes in sizes", () => {
    const sizes = [8, 16, 32].map((value) => ({ value, title: `${value} KiB` }));
    expect(curveValues({ ...disks, choices: sizes, value: 16 })).toEqual([8, 16, 32]);
  });
});
