/**
 * One template for all pages. A page's own file holds what is its own:
 *
 *     <seeklab-page title="..." description="..." script="/src/page/xPage.ts" place="...">
 *       <meta ... />   for the head, when it has more to say
 *       <h1>...</h1>   what is there before the script runs
 *     </seeklab-page>
 *
 * `place` is named beside the site's name; the front page has none. Head, header, footer and what is said without JavaScript
 * come from `page.html`.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Plugin } from "vite";
import { version } from "./project.ts";

const templateFile = join(import.meta.dirname, "page.html");
const pagePattern = /^\s*<seeklab-page((?:\s+[\w-]+="[^"]*")*)\s*>(.*)<\/seeklab-page>\s*$/s;
const needed = ["title", "description", "script"] as const;
const known = new Set<string>([...needed, "place"]);

/** A whole page from its own file; `name` is said when that file cannot be read. */
export function fillTemplate(template: string, page: string, name: string): string {
  const match = pagePattern.exec(page);
  if (match === null) throw new Error(`${name}: is not one <seeklab-page> element with attributes in double quotes`);
  const own = new Map(Array.from(match[1]!.matchAll(/([\w-]+)="([^"]*)"/g), ([, key, value]) => [key!, value!]));
  for (const key of needed) if (!own.has(key)) throw new Error(`${name}: <seeklab-page> has no attribute ${key}`);
  for (const key of own.keys()) {
    if (!known.has(key))
      throw new Error(`${name}: <seeklab-page> has no attribute ${key}; it has ${[...known].join(", ")}`);
  }
  const metas: string[] = [];
  const content = match[2]!.replace(/^\s*(<meta\b[^>]*>)/gm, (_, meta: string) => {
    metas.push(meta);
    return "";
  });
  const place = own.get("place");
  const home = place === undefined ? ' aria-current="page"' : "";
  const header = `<a class="name" href="./"${home}>Seeklab</a>${place === undefined ? "" : ` <span class="place">${place}</span>`}`;
  const parts: Record<string, string> = {
    ...Object.fromEntries(own),
    metas: metas.join("\n    "),
    header,
    content: content.trim(),
    version,
  };
  return template.replace(
    /%(title|description|script|metas|header|content|version)%/g,
    (_, key: string) => parts[key]!,
  );
}

export function pageTemplate(): Plugin {
  return {
    name: "seeklab-page-template",
    transformIndexHtml: {
      // Before Vite looks for the page's script.
      order: "pre",
      handler: (page, { filename }) => fillTemplate(readFileSync(templateFile, "utf8"), page, filename),
    },
    configureServer(server) {
      server.watcher.add(templateFile);
      server.watcher.on("change", (file) => {
        if (file === templateFile) server.ws.send({ type: "full-reload" });
      });
    },
  };
}
