/** One choice of a few, as a row of native radio buttons: arrow keys and names come from the browser. */
import { html } from "./elements.ts";

export interface SegmentedOptions {
  readonly legend: string;
  readonly name: string;
  readonly choices: readonly { readonly value: string; readonly title: string; readonly help?: string }[];
  readonly value: string;
  readonly onChange: (value: string) => void;
}

export interface Segmented {
  readonly element: HTMLFieldSetElement;
  select(value: string): void;
}

export function segmented(options: SegmentedOptions): Segmented {
  const element = html("fieldset", { class: "segmented" }, html("legend", { class: "unseen" }, options.legend));
  const inputs = new Map<string, HTMLInputElement>();
  for (const { value, title, help } of options.choices) {
    const input = html("input", { type: "radio", name: options.name, value });
    input.checked = value === options.value;
    input.addEventListener("change", () => options.onChange(value));
    inputs.set(value, input);
    element.append(html("label", help === undefined ? {} : { title: help }, input, html("span", {}, title)));
  }
  return {
    element,
    select(value) {
      const input = inputs.get(value);
      if (input !== undefined) input.checked = true;
    },
  };
}
