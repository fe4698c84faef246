/**
 * The gates of a notebook's page. What follows a question lies in a `<details>`, closed also where no script runs. A commitment opens
 * it, says what is wrong with a wrong choice, and is kept on this device; so is a gate that was opened without one.
 */
import { words } from "../../lab/prediction.ts";
import { recall, remember } from "../shared/storage.ts";

/** The stored answer of each gate; null if it was opened without one. */
type Kept = Readonly<Record<string, string | null>>;

const longestAnswer = 200;

export function openGates(root: HTMLElement, notebook: string): void {
  const key = `notebook.${notebook}`;
  let kept = readKept(recall(key));
  const keep = (name: string, value: string | null) => {
    if (name in kept) return;
    kept = { ...kept, [name]: value };
    remember(key, JSON.stringify(kept));
  };
  for (const form of root.querySelectorAll<HTMLFormElement>("form.question")) {
    const name = form.dataset.question!;
    // The question's gate is the next one.
    const gate = form.nextElementSibling as HTMLDetailsElement;
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      const chosen = new FormData(form).get("choice");
      if (typeof chosen !== "string" || chosen === "") return;
      const value = chosen.slice(0, longestAnswer);
      keep(name, value);
      answered(form, value);
      gate.open = true;
    });
    gate.addEventListener("toggle", () => {
      if (!gate.open) return;
      keep(name, null);
      if (!isAnswered(form)) passed(form);
    });
    const before = kept[name];
    if (before === undefined) continue;
    if (before === null) passed(form);
    else answered(form, before);
    gate.open = true;
  }
}

function isAnswered(form: HTMLFormElement): boolean {
  return form.dataset.state !== undefined;
}

/** Shows what was committed to, and where the page knows it, whether it was right. */
function answered(form: HTMLFormElement, value: string): void {
  const right = form.dataset.answer;
  close(form, "committed");
  for (const input of form.querySelectorAll("input")) {
    if (input.type === "radio") input.checked = input.value === value;
    else input.value = value;
  }
  for (const reason of form.querySelectorAll<HTMLElement>(".because")) reason.hidden = reason.dataset.choice !== value;
  say(form, right === undefined ? "Committed. The next cells show the answer." : compared(value, right));
}

/** A choice beside the right one, in the words of a notebook. */
function compared(choice: string, right: string): string {
  if (choice === right) return `${words.right.replace("{answer}", right)}.`;
  return `${words.said.replace("{given}", choice)}. ${words.gives.replace("{answer}", right)}.`;
}

function passed(form: HTMLFormElement): void {
  close(form, "passed");
  say(form, "Opened without a prediction.");
}

function close(form: HTMLFormElement, state: string): void {
  form.dataset.state = state;
  for (const control of form.querySelectorAll<HTMLInputElement | HTMLButtonElement>("input, button")) {
    control.disabled = true;
  }
}

function say(form: HTMLFormElement, words: string): void {
  form.querySelector(".said")!.textContent = words;
}

/** Anybody may have written there: only texts and null count. */
function readKept(text: string | null): Kept {
  try {
    const value: unknown = JSON.parse(text ?? "{}");
    if (typeof value !== "object" || value === null || Array.isArray(value)) return {};
    const isText = (one: unknown) => one === null || (typeof one === "string" && one.length <= longestAnswer);
    return Object.fromEntries(Object.entries(value).filter(([, one]) => isText(one)));
  } catch {
    return {};
  }
}
