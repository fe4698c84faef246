/** The widget of an on-call shift in a notebook. The kernel answers its messages, which have numbers. */
import { html } from "../base/elements.ts";
import { shiftView, type ShiftView } from "../lab/shift/shiftView.ts";
import { type Now, type Opened, unlessProblem } from "../lab/shift/protocol.ts";

/** The part of anywidget's model that the widget uses. */
export interface Kernel {
  send(content: unknown): void;
  on(event: "msg:custom", listener: (content: unknown) => void): void;
  off(event: "msg:custom", listener: (content: unknown) => void): void;
}

interface Answer {
  readonly id: string;
  readonly answer: Opened | { readonly problem: string };
}

export function renderShift(kernel: Kernel, root: HTMLElement, fail: (error: unknown) => void): () => void {
  // A notebook may show several views of one model. Each hears all answers and takes its own.
  const view = Math.random().toString(36).slice(2);
  const waiting = new Map<string, (answer: Answer["answer"]) => void>();
  let asked = 0;
  let shown: ShiftView | undefined;
  let isClosed = false;

  const hear = (content: unknown) => {
    const { id, answer } = content as Answer;
    waiting.get(id)?.(answer);
    waiting.delete(id);
  };
  const ask = async (message: object): Promise<Opened> => {
    const id = `${view}-${asked++}`;
    const answered = new Promise<Answer["answer"]>((resolve) => waiting.set(id, resolve));
    kernel.send({ id, ...message });
    return unlessProblem(await answered);
  };

  kernel.on("msg:custom", hear);
  // Keys typed here must not trigger the notebook's shortcuts.
  root.dataset.lmSuppressShortcuts = "true";
  root.addEventListener("keydown", (event) => event.stopPropagation());
  ask({})
    .then((opened) => {
      if (isClosed) return;
      shown = shiftView(opened, {
        type: (line): Promise<Now> => ask({ type: line }),
        onKept: () => undefined,
        onEnded: () => undefined,
        link: (id, title) => html("span", {}, title, ", ", html("code", {}, `seeklab facts ${id}`)),
      });
      root.append(shown.element);
    })
    .catch(fail);
  return () => {
    isClosed = true;
    kernel.off("msg:custom", hear);
    shown?.close();
  };
}
