import { pathToFileURL } from "node:url";
import { join } from "node:path";
import { expect, it } from "vitest";

interface Model {
  get(name: string): unknown;
  set(name: string, value: unknown): void;
  save_changes(): void;
  on(event: string, listener: () => void): void;
}
const script = join(import.meta.dirname, "../../../engine/python/seeklab/notebook/question.js");
const widget = (await import(pathToFileURL(script).href)) as {
  default: { render(given: { model: Model; el: HTMLElement }): void };
};

/** The widget of a question about 1 to 1000 s, on a logarithmic slider, and its model's values. */
function shown(changed: Record<string, unknown> = {}) {
  const values: Record<string, unknown> = {
    ...{ legend: "How long?", low: 1, high: 1000, is_log: true, unit: "s", value: 1, disabled: false },
    ...changed,
  };
  const listeners: (() => void)[] = [];
  const el = document.createElement("div");
  document.body.append(el);
  const model: Model = {
    get: (name) => values[name],
    set: (name, value) => {
      values[name] = value;
      for (const listener of listeners) listener();
    },
    save_changes: () => undefined,
    on: (_, listener) => listeners.push(listener),
  };
  widget.default.render({ model, el });
  const [slider, field] = el.querySelectorAll("input") as unknown as [HTMLInputElement, HTMLInputElement];
  return { el, model, values, slider, field };
}

it("sets code in a question as code, and takes no tag for a tag", () => {
  const { el } = shown({ legend: "Is `x < 1` <b>?" });
  expect(el.querySelector("legend")?.textContent).toBe("Is x < 1 <b>?");
  expect(el.querySelector("legend code")?.textContent).toBe("x < 1");
});

it("shows a choice as radio buttons in a group with the question as its name", () => {
  const { el, values } = shown({ options: ["seek", "queue"], legend: "Which?", value: null });
  const boxes = [...el.querySelectorAll<HTMLInputElement>("fieldset input[type=radio]")];
  expect(boxes.map((box) => box.labels?.[0]?.textContent.trim())).toEqual(["seek", "queue"]);
  boxes[1]?.click();
  expect(values.value).toBe("queue");
});

it("names the group after the question, the field and the slider", () => {
  const { el, slider, field } = shown();
  expect(el.querySelector("fieldset > legend")?.textContent).toBe("How long?");
  expect(slider.getAttribute("aria-label")).toBe("Slider for your answer");
  expect(field.labels?.[0]?.textContent).toBe("Your answer:  s");
});

it("rounds what the slider gives, and says it with its unit", () => {
  const { values, slider, field } = shown();
  slider.value = "50";
  slider.dispatchEvent(new Event("input"));
  expect(values.value).toBe(31.6);
  expect([field.value, slider.getAttribute("aria-valuetext")]).toEqual(["31.6", "31.6 s"]);
});

it("keeps a typed number as typed, within the ends, and moves the slider", () => {
  const { values, slider, field } = shown();
  for (const [typed, value, place] of [
    ["37.123", 37.123, "52"],
    ["2000", 1000, "100"],
    ["", 1000, "100"],
  ] as const) {
    field.value = typed;
    field.dispatchEvent(new Event("change"));
    expect([values.value, slider.value]).toEqual([value, place]);
  }
});

it("closes both with the answer", () => {
  const { model, slider, field } = shown();
  model.set("disabled", true);
  expect([slider.disabled, field.disabled]).toEqual([true, true]);
});

it("keeps keys from JupyterLab on a control, and the focus in the question when all close", async () => {
  const { el, model, field } = shown();
  el.className = "seeklab-controls";
  field.focus();
  expect(field.hasAttribute("data-lm-suppress-shortcuts")).toBe(true);
  model.set("disabled", true);
  await observed();
  const group = el.querySelector("fieldset");
  expect(document.activeElement).toBe(group);
  expect(group?.hasAttribute("data-lm-suppress-shortcuts")).toBe(false);
});

it("keeps the focus in the box of a task when its button closes, and takes it from no other control", async () => {
  const box = document.createElement("div");
  box.className = "seeklab-controls";
  box.innerHTML = "<p>Your turn. Write it.</p><button>Hint</button><button>Skip</button>";
  document.body.append(box);
  const [hint, skip] = box.querySelectorAll("button") as unknown as [HTMLButtonElement, HTMLButtonElement];
  skip.focus();
  hint.focus();
  skip.disabled = true;
  await observed();
  expect(document.activeElement).toBe(hint);
  hint.disabled = true;
  await observed();
  expect(document.activeElement).toBe(box);
  expect([box.getAttribute("role"), box.getAttribute("aria-label")]).toEqual(["group", "Your turn. Write it."]);
});

/** Waits until observers have heard of changes. */
function observed(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve));
}
