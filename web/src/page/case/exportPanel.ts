/** Carry on: the same scenario in Python, in a notebook, in a file, in a link. */
import type { EngineClient } from "../../engine/client.ts";
import type { Result } from "../../engine/api.ts";
import type { CaseDocument } from "../../engine/types.ts";
import { html } from "../../base/elements.ts";
import { notebookInLab } from "../shared/browserLab.ts";
import { operationsCsv, save } from "../shared/download.ts";
import { savePng, saveSvg } from "./drawing.ts";
import { embedCode } from "../shared/embed.ts";
import { defaultState, type PageState } from "../shared/runLink.ts";

export interface ExportPanelOptions {
  readonly engine: EngineClient;
  readonly document: CaseDocument;
  readonly state: () => PageState;
  readonly result: () => Result | undefined;
  /** The address of the page with its state. */
  readonly link: () => string;
  /** The current picture of the stage: the static drawing, and the canvas above it. */
  readonly picture: () => { readonly drawing: SVGSVGElement; readonly above?: HTMLCanvasElement } | undefined;
}

export function exportPanel(options: ExportPanelOptions): HTMLElement {
  const { engine, document: doc, state, result, link, picture } = options;
  const said = html("p", { class: "said quiet", role: "status" });
  const copyLink = html("button", { type: "button" }, "Copy link");
  const csv = html("button", { type: "button" }, "Operations as CSV");
  const arrow = html("button", { type: "button" }, "Operations as Arrow");
  const json = html("button", { type: "button" }, "Run as JSON");
  const scenario = html("button", { type: "button" }, "Scenario as JSON");
  const svg = html("button", { type: "button" }, "Picture as SVG");
  const png = html("button", { type: "button" }, "Picture as PNG");
  const frame = html("button", { type: "button" }, "Copy embed code");
  const python = html("button", { type: "button", "aria-expanded": "false" }, "Python console");
  const consolePlace = html("div", { class: "console-place" });

  const copy = (text: string, done: string) => {
    void navigator.clipboard
      .writeText(text)
      .then(() => (said.textContent = done))
      .catch(() => said.replaceChildren("The browser does not allow copying. Copy this: ", code(text)));
  };
  copyLink.addEventListener("click", () => copy(link(), "Link copied. It opens exactly this run."));
  frame.addEventListener("click", () =>
    copy(embedCode(link(), `${doc.code}: ${doc.title}`), "Embed code copied. The frame opens with this run."),
  );
  const fail = (error: unknown) => (said.textContent = error instanceof Error ? error.message : String(error));
  svg.addEventListener("click", () => {
    const shown = picture();
    if (shown !== undefined) saveSvg(name(), shown.drawing, shown.above);
  });
  png.addEventListener("click", () => {
    const shown = picture();
    if (shown !== undefined) void savePng(name(), shown.drawing, shown.above).catch(fail);
  });
  const name = () => [doc.id, state().variant ?? doc.default_variant, state().seed].join("-");
  csv.addEventListener("click", () => {
    const run = result();
    if (run !== undefined) save(`${name()}.csv`, operationsCsv(run), "text/csv");
  });
  arrow.addEventListener("click", () => {
    const run = result();
    if (run === undefined) return;
    // Few readers want it: the library comes when they do.
    void import("./arrowFile.ts")
      .then(({ operationsArrow }) => save(`${name()}.arrow`, operationsArrow(run), "application/vnd.apache.arrow.file"))
      .catch(fail);
  });
  json.addEventListener("click", () => {
    const run = result();
    if (run !== undefined) save(`${name()}.json`, JSON.stringify(run.summary, null, 2) + "\n", "application/json");
  });
  scenario.addEventListener("click", () => {
    const { variant, set } = state();
    void engine
      .call("scenario", { case: doc.id, variant: variant!, set })
      .then((value) => save(`${name()}.scenario.json`, JSON.stringify(value, null, 2) + "\n", "application/json"))
      .catch(fail);
  });
  python.addEventListener("click", () => {
    python.setAttribute("aria-expanded", "true");
    // Few readers open it: its code comes when they do.
    void import("./console.ts")
      .then(({ pythonConsole }) => {
        if (consolePlace.childElementCount === 0) consolePlace.append(pythonConsole(() => pythonFor(doc, state())));
        consolePlace.querySelector<HTMLElement>("textarea")?.focus();
      })
      .catch(fail);
  });

  return html(
    "section",
    { class: "carry-on", "aria-labelledby": "carry-on-title" },
    html("h2", { id: "carry-on-title" }, "Share and export"),
    html("div", { class: "actions" }, python, copyLink, frame, svg, png, csv, arrow, json, scenario),
    said,
    consolePlace,
    html("p", { class: "prose" }, ...inTheCourse(doc), "On the command line: ", code(commandFor(doc, state())), "."),
  );
}

const code = (words: string) => html("code", {}, words);

/** Where the course goes on with this case: in the browser's lab, and in a clone of the project. */
export function inTheCourse({
  notebook,
  exercises = [],
}: Pick<CaseDocument, "notebook" | "exercises">): (Node | string)[] {
  const words: (Node | string)[] = [];
  const link = (path: string, text: string) => html("a", { href: notebookInLab(`${path}.ipynb`) }, text);
  if (notebook !== undefined) {
    words.push("The course investigates this case in ", link(`notebooks/${notebook}`, `notebooks/${notebook}`));
    words.push(", which opens here in the browser with the same charts and engine. You can also ");
    words.push(html("a", { href: `${notebook}.html` }, "read it as a page"), ". ");
  }
  if (exercises.length > 0) {
    words.push(exercises.length === 1 ? "Its exercise: " : "Its exercises: ");
    for (const [at, name] of exercises.entries()) {
      words.push(at === 0 ? "" : ", ", link(`exercises/${name}/${name}`, `exercises/${name}`));
    }
    words.push(". ");
  }
  if (words.length > 0) words.push("In a clone of the project, ", code("make lab"), " opens both in JupyterLab. ");
  return words;
}

/** The state as Python. */
export function pythonFor(doc: Pick<CaseDocument, "id" | "default_variant">, state: PageState): string {
  const changes = Object.keys(state.set).length === 0 ? "" : `.with_(${pythonLiteral(state.set)})`;
  const words = [
    state.variant === undefined || state.variant === doc.default_variant ? "" : JSON.stringify(state.variant),
    state.seed === defaultState.seed ? "" : `seed=${state.seed}`,
  ].filter((word) => word !== "");
  return [
    "import seeklab",
    "",
    `case = seeklab.case(${JSON.stringify(doc.id)})${changes}`,
    `r = case.run(${words.join(", ")})`,
    "print(r.fingerprint)",
    "r.metrics",
  ].join("\n");
}

/** A JSON value as Python writes it. */
export function pythonLiteral(value: unknown): string {
  if (value === null) return "None";
  if (value === true) return "True";
  if (value === false) return "False";
  if (Array.isArray(value)) return `[${value.map(pythonLiteral).join(", ")}]`;
  if (typeof value === "object") {
    const entries = Object.entries(value).map(([key, inner]) => `${JSON.stringify(key)}: ${pythonLiteral(inner)}`);
    return `{${entries.join(", ")}}`;
  }
  return JSON.stringify(value);
}

function commandFor(doc: CaseDocument, state: PageState): string {
  return `seeklab run ${doc.id} --variant ${state.variant ?? doc.default_variant}`;
}
