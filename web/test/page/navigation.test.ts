import { describe, expect, it } from "vitest";
import { addressOfCase } from "../../src/page/shared/navigation.ts";

const cases = [{ id: "odx-prefetch" }, { id: "averaged-away" }];
const hash = "#v1=e30";

describe("the case that a link names", () => {
  it("is opened when it is one of ours, with the state of the link", () => {
    expect(addressOfCase("averaged-away", cases, hash)).toEqual({ kind: "page", href: "averaged-away.html#v1=e30" });
  });

  it.each([
    ["another host", "//example.org/x"],
    ["another host, by backslashes", "\\\\example.org\\x"],
    ["another site", "https://example.org/"],
    ["a script", "javascript:alert(1)//"],
    ["a data URL", "data:text/html,<script>alert(1)</script>"],
    ["another folder", "../averaged-away"],
    ["a page that is no case", "designer"],
    ["a name with a space", "averaged-away "],
    ["a name in capitals", "Averaged-Away"],
    ["nothing", ""],
    ["a property that every object has", "constructor"],
  ])("is not opened when it is %s", (_, name) => {
    const found = addressOfCase(name, cases, hash);
    expect(found).toEqual({
      kind: "unknown",
      message: expect.stringContaining(`“${name}”`) as string,
    });
  });

  it("is shortened in the sentence when it is long", () => {
    const found = addressOfCase("x".repeat(5000), cases, hash);
    expect(found.kind === "unknown" && found.message.length).toBeLessThan(250);
  });
});
