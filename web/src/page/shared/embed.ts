/** A page in a frame of another: the stage with its controls, and the messages of {@link ./embedMessages}. */
import type { Result } from "../../engine/api.ts";
import type { CaseDocument } from "../../engine/types.ts";
import { html } from "../../base/elements.ts";
import type { RunState } from "../../lab/runController.ts";
import { protocol, readMessage, type ToFrame } from "./embedMessages.ts";

/** Whether the page's address asks for the stage alone. */
export const isEmbedded = new URLSearchParams(location.search).get("embed") === "1";

export interface Embed {
  /** Tells the page around it what came out. */
  result(result: Result, state: RunState): void;
  refused(message: string): void;
  ready(controls: readonly string[]): void;
}

export interface EmbedOptions {
  readonly document: CaseDocument;
  readonly set: (message: ToFrame & { kind: "set" }) => void;
  readonly run: () => void;
  /** Says on the page what was refused. */
  readonly say: (sentence: string) => void;
}

export function embed({ document: doc, set, run, say }: EmbedOptions): Embed {
  const variants = doc.variants.map(({ name }) => name);
  const isFramed = parent !== window;
  let isReady = false;
  const tell = (words: Record<string, unknown>) => {
    // The page around the frame may read what the frame shows.
    if (isFramed) parent.postMessage({ seeklab: protocol, ...words }, "*");
  };
  const refused = (message: string) => tell({ kind: "refused", message });

  addEventListener("message", ({ source, data }: MessageEvent<unknown>) => {
    if (!isFramed || source !== parent) return;
    const read = readMessage(data, variants);
    if (typeof read === "string") {
      say(`The page around this frame sent an invalid message. ${read}`);
      refused(read);
    } else if (read.kind === "run") run();
    else set(read);
  });
  document.documentElement.classList.add("embed");
  new ResizeObserver(() => {
    tell({ kind: "size", height: Math.ceil(document.body.getBoundingClientRect().height) });
  }).observe(document.body);

  return {
    result({ summary }, { variant, set: values, seed }) {
      const { fingerprint, metrics } = summary;
      tell({ kind: "result", case: doc.id, variant, set: values, seed, fingerprint, metrics });
    },
    refused,
    ready(controls) {
      if (isReady) return;
      isReady = true;
      tell({ kind: "ready", case: doc.id, variants, controls });
    },
  };
}

/** Return a link from a frame to the whole page. */
export function wayOut(doc: CaseDocument, link: () => string): HTMLElement {
  const way = html(
    "a",
    { href: `${doc.id}.html`, target: "_blank", rel: "noopener" },
    `${doc.code} · ${doc.title}, on Seeklab`,
  );
  const refresh = () => (way.href = link());
  for (const event of ["pointerdown", "focus"]) way.addEventListener(event, refresh);
  return html("p", { class: "way-out" }, way);
}

/** Return the HTML that another page uses to embed the incident. */
export function embedCode(address: string, title: string): string {
  const url = new URL(address);
  url.searchParams.set("embed", "1");
  const escape = (text: string) => text.replaceAll("&", "&amp;").replaceAll('"', "&quot;").replaceAll("<", "&lt;");
  return `<iframe src="${escape(url.href)}" title="${escape(title)}" width="100%" height="760" loading="lazy" style="border:0"></iframe>`;
}
