/**
 * Pages for the notebooks: `<name>.html` beside `index.html`, and `notebooks.html`, which lists them by weeks. Their bodies are made
 * by `scripts/notebook_pages.py`; here they get the site's head, header and policy.
 */
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import type { Plugin } from "vite";
import { notebookInLab } from "../src/page/shared/browserLab.ts";
import { escapeHtml } from "./escape.ts";

export interface NotebookEntry {
  readonly name: string;
  readonly title: string;
  readonly subtitle: string;
  readonly minutes: number;
}

export interface CourseOutline {
  readonly weeks: readonly {
    readonly week: number;
    readonly theme: string;
    /** `part` says what of it belongs to the week; all when it is empty. */
    readonly notebooks: readonly { readonly number: string; readonly part: string }[];
    readonly exercises: readonly string[];
  }[];
  readonly notebooks: readonly NotebookEntry[];
  /** The title of each exercise. */
  readonly exercises: Readonly<Record<string, string>>;
}

const webRoot = resolve(import.meta.dirname, "..");
const bodies = resolve(webRoot, "../.cache/notebook-pages");

/** The template of a notebook's page, filled. */
export function fillNotebookPage(
  template: string,
  { name, title, subtitle }: NotebookEntry,
  body: string,
  all: readonly NotebookEntry[],
): string {
  const words: Record<string, string> = { name, title, subtitle, number: name.slice(0, 2) };
  return template
    .replace(/%(name|title|subtitle|number)%/g, (_, word: string) => escapeHtml(words[word]!))
    .replace("<!--neighbours-->", () => neighbours(all, name))
    .replace("<!--notebook-->", () => body);
}

/** The notebook before, the list of all, and the notebook after. */
function neighbours(all: readonly NotebookEntry[], name: string): string {
  const at = all.findIndex((entry) => entry.name === name);
  const link = (entry: NotebookEntry | undefined, way: string) =>
    entry === undefined
      ? "<span></span>"
      : `<a href="${entry.name}.html"><span class="way">${way}</span> ${entry.name.slice(0, 2)} · ${escapeHtml(entry.title)}</a>`;
  return `${link(all[at - 1], "before")} <a href="notebooks.html">all notebooks</a> ${link(all[at + 1], "next")}`;
}

/** The weeks of the course, each with its notebooks and exercises. */
export function weekList({ weeks, notebooks, exercises }: CourseOutline): string {
  const exerciseLink = (name: string) => {
    const title = exercises[name];
    if (title === undefined) throw new Error(`The syllabus names the exercise ${name}, which does not exist.`);
    return `<li><a href="${notebookInLab(`exercises/${name}/${name}.ipynb`)}">${escapeHtml(title)}</a></li>`;
  };
  const notebookItem = ({ number, part }: CourseOutline["weeks"][number]["notebooks"][number]) => {
    const found = notebooks.find(({ name }) => name.startsWith(`${number}-`));
    if (found === undefined) throw new Error(`The syllabus names the notebook ${number}, which does not exist.`);
    const { name, title, subtitle, minutes } = found;
    const much = [part === "" ? "" : escapeHtml(part), `${minutes} minutes`].filter((words) => words !== "");
    return (
      `<li><p><a class="title" href="${name}.html">${number} · ${escapeHtml(title)}</a> ` +
      `<span class="quiet">${much.join(", ")}</span></p><p>${escapeHtml(subtitle)}</p>` +
      `<p class="quiet"><a href="${notebookInLab(`notebooks/${name}.ipynb`)}">open in the browser lab</a></p></li>`
    );
  };
  return weeks
    .map(
      ({ week, theme, notebooks: read, exercises: done }) =>
        `<section class="week" aria-labelledby="week-${week}"><h2 id="week-${week}">Week ${week}: ${escapeHtml(theme)}</h2>` +
        `<ul class="week-notebooks">${read.map(notebookItem).join("")}</ul>` +
        `<p>${done.length === 1 ? "Its exercise" : "Its exercises"}, in the browser lab:</p>` +
        `<ul class="week-exercises">${done.map(exerciseLink).join("")}</ul></section>`,
    )
    .join("\n");
}

function outline(): CourseOutline | undefined {
  const file = join(bodies, "course.json");
  return existsSync(file) ? (JSON.parse(readFileSync(file, "utf8")) as CourseOutline) : undefined;
}

const bodyOf = (name: string) => readFileSync(join(bodies, `${name}.html`), "utf8");

const notBuilt = "the notebooks' pages are not built, so links to them are broken";

export function notebookPages(): Plugin {
  let outDir = "";
  return {
    name: "seeklab-notebook-pages",
    configResolved(config) {
      outDir = resolve(config.root, config.build.outDir);
    },
    configureServer(server) {
      server.middlewares.use((request, response, next) => {
        const name = /^\/([a-z0-9-]+)\.html$/.exec((request.url ?? "").replace(/[?#].*$/, ""))?.[1];
        const course = name === undefined ? undefined : outline();
        const entry = course?.notebooks.find((one) => one.name === name);
        if (course === undefined || (entry === undefined && name !== "notebooks")) {
          next();
          return;
        }
        const template = readFileSync(join(webRoot, entry === undefined ? "notebooks.html" : "notebook.html"), "utf8");
        const page =
          entry === undefined
            ? template.replace("<!--weeks-->", () => weekList(course))
            : fillNotebookPage(template, entry, bodyOf(entry.name), course.notebooks);
        server
          .transformIndexHtml(request.url ?? "/", page)
          .then((text) => response.setHeader("content-type", "text/html").end(text))
          .catch(next);
      });
    },
    closeBundle() {
      const template = readFileSync(join(outDir, "notebook.html"), "utf8");
      const list = join(outDir, "notebooks.html");
      rmSync(join(outDir, "notebook.html"));
      const course = outline();
      if (course === undefined) {
        this.warn(notBuilt);
        rmSync(list);
        return;
      }
      for (const entry of course.notebooks) {
        const page = fillNotebookPage(template, entry, bodyOf(entry.name), course.notebooks);
        writeFileSync(join(outDir, `${entry.name}.html`), page);
      }
      writeFileSync(
        list,
        readFileSync(list, "utf8").replace("<!--weeks-->", () => weekList(course)),
      );
    },
  };
}
