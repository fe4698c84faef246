import { beforeEach, describe, expect, it } from "vitest";
import { words } from "../../src/lab/prediction.ts";
import { openGates } from "../../src/page/course/notebookGates.ts";

const gated = `
  <form class="question" data-question="q/one" data-answer="a &lt; b">
    <fieldset><legend>Which?</legend>
      <label><input type="radio" name="choice" value="a &lt; b" required> a &lt; b</label>
      <label><input type="radio" name="choice" value="c" required> c</label>
      <p class="because" hidden data-choice="c">Not c, because.</p>
    </fieldset>
    <button type="submit">Commit</button><p class="said"></p>
  </form>
  <details class="behind" data-question="q/one"><summary>Open</summary>
    <form class="question" data-question="q/two">
      <input type="number" name="choice" step="any" required><button type="submit">Commit</button><p class="said"></p>
    </form>
    <details class="behind" data-question="q/two"><summary>Open</summary>110</details>
  </details>`;

function page() {
  const root = document.createElement("main");
  root.innerHTML = gated;
  document.body.replaceChildren(root);
  openGates(root, "04-test");
  const forms = Array.from(root.querySelectorAll("form"));
  const gates = Array.from(root.querySelectorAll("details"));
  const submit = (at: number) => forms[at]!.dispatchEvent(new Event("submit", { cancelable: true }));
  const said = (at: number) => forms[at]!.querySelector(".said")!.textContent;
  return { root, forms, gates, submit, said };
}

beforeEach(() => localStorage.clear());

describe("a gate of a notebook's page", () => {
  it("stays closed until something is committed, and opens no other", () => {
    const { root, gates, submit, said } = page();
    expect(submit(0)).toBe(false);
    expect(gates.map((gate) => gate.open)).toEqual([false, false]);
    root.querySelectorAll("input")[1]!.checked = true;
    submit(0);
    expect(gates.map((gate) => gate.open)).toEqual([true, false]);
    expect(said(0)).toBe(`${words.said.replace("{given}", "c")}. ${words.gives.replace("{answer}", "a < b")}.`);
    expect(root.querySelector<HTMLElement>(".because")!.hidden).toBe(false);
    expect(root.querySelectorAll("input")[0]!.disabled).toBe(true);
    submit(1);
    expect(gates.map((gate) => gate.open)).toEqual([true, false]);
  });

  it("says that a right choice is right, and where the answer to a number is", () => {
    const { root, forms, submit, said } = page();
    root.querySelectorAll("input")[0]!.checked = true;
    submit(0);
    expect(said(0)).toBe(`${words.right.replace("{answer}", "a < b")}.`);
    root.querySelectorAll("input")[2]!.value = "110";
    submit(1);
    expect(forms.map(({ dataset }) => dataset.state)).toEqual(["committed", "committed"]);
    // The page does not know the answer to a number; it says where it is.
    expect(said(1)).toMatch(/^\D+$/);
  });

  it("is open again after a reload, with what was committed, and the first commitment counts", () => {
    const first = page();
    first.root.querySelectorAll("input")[1]!.checked = true;
    first.submit(0);
    const again = page();
    expect(again.gates.map((gate) => gate.open)).toEqual([true, false]);
    expect(again.root.querySelectorAll("input")[1]!.checked).toBe(true);
    again.root.querySelectorAll("input")[0]!.checked = true;
    again.root.querySelectorAll("input")[0]!.disabled = false;
    again.submit(0);
    expect(JSON.parse(localStorage.getItem("seeklab.notebook.04-test")!)).toEqual({ "q/one": "c" });
  });

  it("may be opened without a prediction, which is kept as such", () => {
    const { gates, forms, said } = page();
    gates[0]!.open = true;
    gates[0]!.dispatchEvent(new Event("toggle"));
    expect(forms[0]!.dataset.state).toBe("passed");
    expect(said(0)).not.toBe("");
    expect(JSON.parse(localStorage.getItem("seeklab.notebook.04-test")!)).toEqual({ "q/one": null });
    expect(page().gates[0]!.open).toBe(true);
  });

  it.each(["{", "3", "[]", "null", '{"q/one": 3}', JSON.stringify({ "q/one": "x".repeat(10_000) })])(
    "does not open for what somebody else has written: %.20s",
    (written) => {
      localStorage.setItem("seeklab.notebook.04-test", written);
      expect(page().gates.map((gate) => gate.open)).toEqual([false, false]);
    },
  );
});
