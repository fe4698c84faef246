/** A notebook to read, and the list of all: what follows a question opens when the reader has committed, or wants it open. */
import "../../style/page.css";
import "../../style/notebook.css";
import { buildPage, preparePage } from "../shared/pageSetup.ts";
import { protocol } from "../shared/embedMessages.ts";
import { openGates } from "./notebookGates.ts";

const page = preparePage();
void buildPage(page, () => {
  const notebook = document.querySelector<HTMLMetaElement>("meta[name=notebook]")?.content;
  if (notebook === undefined) return;
  openGates(page.root, notebook);
  // A frame is as high as the stage in it.
  const frames = Array.from(page.root.querySelectorAll<HTMLIFrameElement>("iframe.live"));
  addEventListener("message", ({ source, origin, data }: MessageEvent<unknown>) => {
    const frame = frames.find(({ contentWindow }) => contentWindow === source);
    if (frame === undefined || origin !== location.origin) return;
    const { seeklab, kind, height } = data as Record<string, unknown>;
    if (seeklab === protocol && kind === "size" && typeof height === "number") frame.style.height = `${height}px`;
  });
});
