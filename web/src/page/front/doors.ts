/** The doors of the front page: a ticket's prompt, a place to paste, and a pool of three sliders. */
import type { EngineClient } from "../../engine/client.ts";
import type { PoolDesign } from "../../engine/types.ts";
import { html } from "../../base/elements.ts";
import { formatNumber } from "../../base/format.ts";
import { controls } from "../../lab/controls.ts";
import { leaveNote } from "../shared/note.ts";

/** The three knobs. Each can become the bottleneck of one of the three tests. */
const offered = ["disks", "log_ssds", "server_gbit"];
const tests = ["3-streams-cold", "9-sync-writes", "working-set"];

/** Makes the forms of the doors lead on with what was typed. */
export function openDoors(section: HTMLElement): void {
  const lead = (id: string, name: "shift-command" | "pasted-report", page: string) => {
    const form = section.querySelector<HTMLFormElement>(`#${id}`)!;
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      const text = form.querySelector<HTMLInputElement | HTMLTextAreaElement>("input, textarea")!.value;
      if (text.trim() !== "") leaveNote(name, text);
      location.assign(page);
    });
  };
  lead("door-oncall", "shift-command", "oncall.html");
  lead("door-outage", "pasted-report", "diagnose.html");
}

/** The pool: three of its parts, and the part that limits each of the first tests, by the sums of the parts. */
export async function poolDoor(engine: EngineClient, place: HTMLElement): Promise<void> {
  const first = await engine.call("design", {});
  const values = new Map(first.parts.map(({ name, number }) => [name, number]));
  const parts = first.parts.filter(({ name }) => offered.includes(name));
  const limits = html("ul", { class: "pool-limits", "aria-live": "polite" });
  let asked = 0;
  const knobs = controls({
    controls: parts.map(({ name, title, unit, number, range: [min, max, step] }) => {
      // Disks come in whole groups, and the sums of the parts do not describe a log on the pool's own disks.
      const one = name === "disks" ? values.get("width")! : Math.max(min, step);
      return {
        path: name,
        title,
        help: title,
        unit: unit === "" ? null : unit,
        value: number,
        min: one,
        max,
        step: one,
      };
    }),
    target: {
      setValues(changes) {
        for (const [name, value] of Object.entries(changes)) values.set(name, Number(value));
        const mine = ++asked;
        engine.call("design", Object.fromEntries(values)).then(
          (pool) => {
            if (mine === asked) show(pool);
          },
          (error: unknown) => {
            if (mine === asked)
              limits.replaceChildren(html("li", {}, error instanceof Error ? error.message : String(error)));
          },
        );
      },
    },
  });

  function show(pool: PoolDesign): void {
    limits.replaceChildren(
      ...pool.tests
        .filter(({ name }) => tests.includes(name))
        .map(({ title, unit, bounds: [least] }) =>
          html(
            "li",
            {},
            `${title}: `,
            ...(least === undefined
              ? ["no limit"]
              : [html("b", {}, `${formatNumber(least.most)} ${unit}`), `, limited by ${least.what}`]),
          ),
        ),
    );
  }
  show(first);
  place.append(knobs.element, limits);
}
