/** Tabs with a roving tab stop: arrow keys move, the panel of the chosen tab is drawn when it is shown. */
import { html } from "../../base/elements.ts";

export interface Tab {
  readonly name: string;
  readonly title: string;
}

export interface Tabs {
  readonly element: HTMLElement;
  readonly panel: HTMLElement;
  /** Name of the tab that is shown. */
  current: string;
}

export function tabs(label: string, list: readonly Tab[], current: string, onChange: (name: string) => void): Tabs {
  const strip = html("div", { class: "tabs", role: "tablist", "aria-label": label });
  const panel = html("div", { class: "panel", role: "tabpanel", id: "evidence-panel", tabindex: 0 });
  const buttons = list.map(({ name, title }) => {
    const button = html("button", { type: "button", role: "tab", id: `tab-${name}`, "aria-controls": panel.id }, title);
    button.addEventListener("click", () => choose(name));
    strip.append(button);
    return button;
  });
  const element = html("div", {}, strip, panel);
  const widget: Tabs = { element, panel, current: list.some(({ name }) => name === current) ? current : list[0]!.name };

  function show(): void {
    list.forEach(({ name }, at) => {
      const isCurrent = name === widget.current;
      buttons[at]!.setAttribute("aria-selected", String(isCurrent));
      buttons[at]!.tabIndex = isCurrent ? 0 : -1;
      if (isCurrent) panel.setAttribute("aria-labelledby", buttons[at]!.id);
    });
  }
  function choose(name: string): void {
    widget.current = name;
    show();
    onChange(name);
  }
  strip.addEventListener("keydown", (event) => {
    const at = list.findIndex(({ name }) => name === widget.current);
    const moves: Record<string, number> = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: list.length - 1 };
    const to = moves[event.key];
    if (to === undefined) return;
    event.preventDefault();
    const wrapped = (to + list.length) % list.length;
    choose(list[wrapped]!.name);
    buttons[wrapped]!.focus();
  });
  show();
  return widget;
}
