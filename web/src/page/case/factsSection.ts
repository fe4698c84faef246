/** Documented vs. simulated, checked one fact after the other on a thread of its own once the reader gets there. */
import { EngineClient } from "../../engine/client.ts";
import type { CaseDocument } from "../../engine/types.ts";
import { facts, tally, type FactRow } from "./factTable.ts";
import { html } from "../../base/elements.ts";
import { markdown } from "../shared/markdown.ts";

/** The section starts checking on its event `check`. */
export function factsSection(doc: CaseDocument): HTMLElement {
  const rows: FactRow[] = doc.facts.map((entry) => ({ entry }));
  const place = html("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "Facts" });
  const count = html("p", { class: "count", "aria-live": "polite" });
  const { name, url, year, note } = doc.source;
  const named = name.includes(String(year)) || note.includes(String(year)) ? name : `${name} (${year})`;
  const titled = url === undefined ? named : html("a", { href: url, rel: "noreferrer" }, named);
  const element = html(
    "section",
    { class: "documented", "aria-labelledby": "facts-title" },
    html("h2", { id: "facts-title" }, "Documented vs. simulated"),
    html("div", { class: "prose story" }, ...markdown(doc.story)),
    count,
    place,
    html("p", { class: "quiet source" }, "Source: ", titled, `. ${note}`),
  );
  const draw = () => place.replaceChildren(facts(rows, { source: "the source" }));

  async function check(): Promise<void> {
    const engine = new EngineClient();
    for (const [at, { entry }] of rows.entries()) {
      count.textContent = `Checking ${entry.id}, ${at + 1} of ${rows.length}.`;
      try {
        const [fact] = await engine.call("facts", { case: doc.id, id: entry.id });
        rows[at] = { entry, fact };
      } catch (error) {
        rows[at] = { entry, problem: error instanceof Error ? error.message : String(error) };
      }
      draw();
    }
    engine.close();
    count.textContent = tally(rows);
  }

  draw();
  element.addEventListener("check", () => void check(), { once: true });
  return element;
}
