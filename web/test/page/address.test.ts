import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { addressOf } from "../../src/page/shared/address.ts";
import { decodeRunLink, defaultState, encodeRunLink, type PageState } from "../../src/page/shared/runLink.ts";

const stateOf = (variant: string): PageState => ({ ...defaultState, case: "c", variant });

describe("the address of a page", () => {
  let now = stateOf("a");
  const shown: (string | undefined)[] = [];
  const said: string[] = [];
  const push = vi.spyOn(history, "pushState");
  const replace = vi.spyOn(history, "replaceState");

  beforeEach(() => {
    vi.useFakeTimers();
    history.replaceState(null, "", location.pathname);
    for (const spy of [push, replace]) spy.mockClear();
    shown.length = said.length = 0;
    now = stateOf("a");
  });
  afterEach(() => void vi.useRealTimers());

  const address = addressOf({
    state: () => now,
    onState: (state) => shown.push(state?.variant),
    message: { say: (...words) => said.push(...words) },
  });
  const written = () => {
    const decoded = decodeRunLink(location.hash);
    return decoded.kind === "state" ? decoded.state.variant : decoded.kind;
  };
  const goTo = (hash: string) => {
    history.replaceState(null, "", `${location.pathname}${hash}`);
    dispatchEvent(new HashChangeEvent("hashchange"));
  };

  it("gets a new entry for a step, and none on the way to one", () => {
    now = stateOf("b");
    address.write(false);
    vi.runAllTimers();
    expect([push.mock.calls.length, replace.mock.calls.length, written()]).toEqual([0, 1, "b"]);
    now = stateOf("c");
    address.write(true);
    vi.runAllTimers();
    expect([push.mock.calls.length, replace.mock.calls.length, written()]).toEqual([1, 1, "c"]);
  });

  it("takes what comes within a moment for one step, and what changes nothing for none", () => {
    for (const variant of ["b", "c", "d"]) {
      now = stateOf(variant);
      address.write(variant === "c");
    }
    vi.runAllTimers();
    expect([push.mock.calls.length, written()]).toEqual([1, "d"]);
    address.write(true);
    vi.runAllTimers();
    expect(push.mock.calls.length).toBe(1);
  });

  it("shows what Back leads to, the opening where there is nothing in the address, and makes no entry of it", () => {
    now = stateOf("b");
    address.write(true);
    vi.runAllTimers();
    push.mockClear();
    goTo(encodeRunLink(stateOf("a")));
    goTo("");
    expect(shown).toEqual(["a", undefined]);
    vi.runAllTimers();
    expect(push).not.toHaveBeenCalled();
  });

  it("says what is wrong with a link, and keeps what is shown for it and for a place on the page", () => {
    goTo("#v9=e30");
    expect(said).toEqual([expect.stringContaining("newer version")]);
    document.body.id = "somewhere";
    goTo("#somewhere");
    expect(shown).toEqual([]);
  });
});
