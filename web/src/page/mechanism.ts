/** The drawing beside the explanation: the mechanism's own curve, with the run on the stage as a point on it. */
import type { EngineClient } from "../engine/client.ts";
import type { CaseDocument, Result } from "../engine/api.ts";
import { coverage } from "../views/coverage.ts";
import { html } from "../views/svg.ts";
import type { PageState } from "./hash.ts";

export interface Mechanism {
  readonly element: HTMLElement;
  show(result: Result, state: PageState): void;
}

export function mechanism(engine: EngineClient, doc: CaseDocument): Mechanism {
  const element = html("figure", { class: "mechanism" });
  const place = html("div");
  element.append(
    place,
    html(
      "figcaption",
      {},
      "What a prefetch covers: nothing is missing while a read fits, then every further byte is. The dot is the run above.",
    ),
  );
  let last: { result: Result; state: PageState } | undefined;
  let ticket = 0;

  async function draw(): Promise<void> {
    if (last === undefined) return;
    const mine = ++ticket;
    const { result, state } = last;
    const { volume } = await engine.call("scenario", { case: doc.id, variant: state.variant!, set: state.set });
    const prefetch = volume?.prefetch;
    if (mine !== ticket) return;
    place.replaceChildren(
      coverage(result, {
        job: doc.focus.job,
        width: Math.max(280, Math.floor(place.clientWidth)),
        chunk_bytes: Number(prefetch?.chunk ?? 0),
        per_request: prefetch?.per_request ?? 0,
      }),
    );
  }
  let width = 0;
  new ResizeObserver(([entry]) => {
    const next = Math.floor(entry!.contentRect.width);
    if (next !== width) {
      width = next;
      void draw();
    }
  }).observe(place);
  return {
    element,
    show(result, state) {
      last = { result, state };
      // A refused scenario has been reported already; the drawing stays as it was.
      draw().catch(() => undefined);
    },
  };
}
