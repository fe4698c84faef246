import { beforeEach, describe, expect, it } from "vitest";
import { explainTerms, glossary, readGlossary } from "../../src/page/case/glossary.ts";

const terms = readGlossary(
  "# Glossary\n\n- **Busy.** In service.\n- **Prefetch, read-ahead.** Fetching ahead.\n" +
    "- **Use.** See busy.\n- **Window, of a monitor.** Its average.\n- **Window, of a connection.** Its bytes.\n- **Seek.** Moving.\n",
);

describe("the glossary", () => {
  it("is read from its one source, with other names and several meanings", () => {
    expect(terms).toEqual([
      { name: "busy", meanings: ["In service."] },
      { name: "prefetch", meanings: ["Fetching ahead."] },
      { name: "read-ahead", meanings: ["Fetching ahead."] },
      { name: "use", meanings: ["In service."] },
      { name: "window", meanings: ["Of a monitor: Its average.", "Of a connection: Its bytes."] },
      { name: "seek", meanings: ["Moving."] },
    ]);
  });

  it("of the course has every entry, and none that is empty", () => {
    expect(glossary.length).toBeGreaterThan(25);
    expect(glossary.map(({ name }) => name)).toContain("transaction group");
    for (const { meanings } of glossary) for (const meaning of meanings) expect(meaning.length).toBeGreaterThan(10);
  });
});

describe("a term in a text", () => {
  beforeEach(() => {
    document.body.innerHTML =
      "<p>Seeklab's disk is Busy; a busy disk <code>seek</code>s, and two seeks follow. Prefetching is no prefetch.</p><p>The window.</p>";
    explainTerms(document.querySelectorAll("p"), terms);
  });
  const words = () => [...document.querySelectorAll(".term")].map((term) => term.textContent);

  it("is explained once, as a whole word, and not in code", () => {
    expect(words()).toEqual(["Busy", "seeks", "prefetch", "window"]);
    expect(document.querySelectorAll("p")[0]!.querySelector("code")!.textContent).toBe("seek");
  });

  it("says what it means on focus, and stops on Escape and when it is left", () => {
    const term = document.querySelector<HTMLButtonElement>(".term")!;
    const tip = document.getElementById(term.getAttribute("aria-describedby")!)!;
    expect(tip.hidden).toBe(true);
    term.focus();
    expect([tip.hidden, tip.textContent]).toEqual([false, "In service."]);
    term.dispatchEvent(new KeyboardEvent("keydown", { key: "Escape", bubbles: true }));
    expect(tip.hidden).toBe(true);
    term.click();
    expect(tip.hidden).toBe(false);
    term.blur();
    expect(tip.hidden).toBe(true);
  });

  it("leaves the text as it was", () => {
    for (const tip of document.querySelectorAll(".tip")) tip.remove();
    expect(document.body.textContent).toBe(
      "Seeklab's disk is Busy; a busy disk seeks, and two seeks follow. Prefetching is no prefetch.The window.",
    );
  });
});
