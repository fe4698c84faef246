/** The drawing beside the explanation: the mechanism's own curve, with the run on the stage as a point on it. */
import type { EngineClient } from "../../engine/client.ts";
import { EngineError } from "../../engine/api.ts";
import type { CaseDocument } from "../../engine/types.ts";
import { loadPlot } from "../../charts/plot.ts";
import { html, observeWidth } from "../../base/elements.ts";
import type { Asked } from "./mechanismDrawings.ts";

export interface Mechanism {
  readonly element: HTMLElement;
  /** Draws the run; the moment matters where the mechanism has a state. */
  show(result: Asked["result"], state: Asked["state"], moment_ns: number): void;
}

const narrowest = 280;

export function mechanism(engine: EngineClient, doc: CaseDocument): Mechanism {
  const place = html("div");
  const caption = html("figcaption");
  const element = html("figure", { class: "mechanism" }, place, caption);
  let last: Asked | undefined;
  let ticket = 0;

  async function draw(): Promise<void> {
    // Before the question is answered, it is not on the page.
    if (last === undefined || !element.isConnected) return;
    const mine = ++ticket;
    const [{ drawingOf }] = await Promise.all([import("./mechanismDrawings.ts"), loadPlot()]);
    const drawn = await drawingOf(engine, doc, last, Math.max(narrowest, room.width));
    if (mine !== ticket) return;
    element.hidden = drawn === undefined;
    if (drawn === undefined) return;
    place.replaceChildren(drawn.drawing);
    caption.textContent = drawn.caption;
  }
  // A scenario that the engine refuses has been reported already; the drawing stays as it was.
  function drawSoon(): void {
    draw().catch((error: unknown) => {
      if (!(error instanceof EngineError)) throw error;
    });
  }
  const room = observeWidth(place, () => drawSoon());
  return {
    element,
    show(result, state, moment_ns) {
      const isSame = last?.result === result && (result.scenario.zfs == null || last.moment_ns === moment_ns);
      if (isSame) return;
      last = { result, state, moment_ns };
      drawSoon();
    },
  };
}
