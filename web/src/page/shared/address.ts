/**
 * The state of a page in its address, so that a link holds it and Back undoes the last change.
 *
 * What a hand does in one go is one step back: a change that is settled makes a new entry of the history, and one that still moves
 * replaces it. Browsers limit how often the address may change, so that both wait for a moment.
 */
import { decodeRunLink, encodeRunLink, type PageState } from "./runLink.ts";
import type { MessageBox } from "./messages.ts";

const waitMs = 150;

export interface AddressOptions {
  /** The state as it is now. */
  readonly state: () => PageState;
  /** Shows the state that Back, Forward or another link leads to; nothing stands for the page as it opens by itself. */
  readonly onState: (state: PageState | undefined) => void;
  readonly message: Pick<MessageBox, "say">;
}

export interface Address {
  /** The state has changed: by a step of the reader, which Back undoes, or on the way to one. */
  write(isStep: boolean): void;
}

export function addressOf({ state, onState, message }: AddressOptions): Address {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let isStepDue = false;
  let written = location.hash;

  function put(): void {
    timer = undefined;
    const next = encodeRunLink(state());
    if (next !== location.hash) {
      if (isStepDue) history.pushState(null, "", next);
      else history.replaceState(null, "", next);
    }
    written = next;
    isStepDue = false;
  }

  addEventListener("hashchange", () => {
    if (location.hash === written) return;
    const decoded = decodeRunLink(location.hash);
    if (decoded.kind === "problem") message.say(decoded.message);
    // A place on the page is not a state, so the view stays unchanged.
    if (decoded.kind === "problem" || (decoded.kind === "none" && location.hash.length > 1)) return;
    clearTimeout(timer);
    timer = undefined;
    written = location.hash;
    onState(decoded.kind === "state" ? decoded.state : undefined);
    // Effects of going back do not add a history entry.
    isStepDue = false;
  });

  return {
    write(isStep) {
      isStepDue ||= isStep;
      clearTimeout(timer);
      timer = setTimeout(put, waitMs);
    },
  };
}
