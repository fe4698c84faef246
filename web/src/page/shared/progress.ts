/** Progress of a run that takes longer than a glance, with a way to stop it. Short runs never show it. */
import { html } from "../../base/elements.ts";

export interface Progress {
  readonly element: HTMLElement;
  start(): void;
  update(share: number): void;
  end(): void;
}

const patienceMs = 250;

export function progress(onCancel: () => void): Progress {
  const bar = html("progress", { max: 1, value: 0, "aria-label": "Progress of the run" });
  const cancel = html("button", { type: "button", class: "quiet" }, "Cancel");
  cancel.addEventListener("click", onCancel);
  const element = html("div", { class: "progress", hidden: "" }, bar, cancel);
  let timer: ReturnType<typeof setTimeout> | undefined;
  return {
    element,
    start() {
      clearTimeout(timer);
      bar.value = 0;
      timer = setTimeout(() => (element.hidden = false), patienceMs);
    },
    update(share) {
      bar.value = share;
    },
    end() {
      clearTimeout(timer);
      element.hidden = true;
    },
  };
}
