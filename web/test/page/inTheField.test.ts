import { describe, expect, it } from "vitest";
import { inTheField } from "../../src/page/case/inTheField.ts";

describe("evidence from the field", () => {
  it("has a row for each report, and links to public ones", () => {
    const section = inTheField("a", {
      a: [
        { tool: "fio", numbers: "41 us", says: "Slow.", url: "https://example.org/issues/1" },
        { tool: "dd", numbers: "1.2 GB/s", says: "Fast." },
      ],
    });
    const rows = [...(section?.querySelectorAll("tbody tr") ?? [])];
    expect(rows.map(({ textContent }) => textContent)).toEqual(
      ["fio41 µsSlow.example.org", "dd1.2 GB/sFast."].map((text) => text.replaceAll(/(?<=\d) (?=µs|GB)/g, "\u00a0")),
    );
    expect(section?.querySelector("a")?.getAttribute("href")).toBe("https://example.org/issues/1");
  });

  it("is not shown for an incident without any", () => {
    expect(inTheField("sync-serialised")).toBeDefined();
    expect(inTheField("a", {})).toBeUndefined();
  });
});
