/**
 * Files for visitors who are not yet on a page: search engines, feed readers, language models, home screens. They are made
 * from the built site, so each page is listed once.
 *
 * A site that knows no address of its own (`project.ts`) gets no canonical addresses, no sitemap and no feed, because all
 * three need one.
 */
import { cpSync, existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, relative, resolve } from "node:path";
import { Resvg } from "@resvg/resvg-js";
import type { Plugin } from "vite";
import { cardFile, type Incident } from "../src/page/shared/incidents.ts";
import { escapeHtml } from "./escape.ts";
import { address } from "./project.ts";

const webRoot = resolve(import.meta.dirname, "..");
const docs = resolve(webRoot, "../.cache/docs/html");
/** The day when each incident came to the site. */
const added = JSON.parse(readFileSync(join(import.meta.dirname, "added.json"), "utf8")) as Readonly<
  Record<string, string>
>;
/** Sizes of the icon that home screens ask for, in pixels. */
const iconSizes = [180, 192, 512];
const preview = "misaligned-io";

type Listed = Pick<Incident, "id" | "code" | "title" | "symptom" | "family" | "source" | "year">;

/** The address of a page by its file's name. */
const pageAddress = (site: string, name: string) => `${site}${name.replace(/(^|\/)index\.html$/, "$1")}`;

/** Return a page with its canonical address, the feed, and a card if it has none. */
export function withAddress(html: string, name: string, site: string): string {
  const own = escapeHtml(pageAddress(site, name));
  const tags = [
    `<link rel="canonical" href="${own}" />`,
    `<meta property="og:url" content="${own}" />`,
    `<link rel="alternate" type="application/atom+xml" title="New incidents" href="./feed.xml" />`,
    ...(html.includes('property="og:image"')
      ? []
      : [`<meta property="og:image" content="${escapeHtml(`${site}${cardFile(preview)}`)}" />`]),
  ];
  return html.replace("</title>", () => `</title>\n    ${tags.join("\n    ")}`);
}

export function sitemap(pages: readonly string[], site: string): string {
  const urls = pages.map((name) => `  <url><loc>${escapeHtml(pageAddress(site, name))}</loc></url>`);
  return [
    `<?xml version="1.0" encoding="UTF-8"?>`,
    `<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">`,
    ...urls,
    `</urlset>`,
    ``,
  ].join("\n");
}

export function robots(site: string | undefined): string {
  return ["User-agent: *", "Allow: /", ...(site === undefined ? [] : [`Sitemap: ${site}sitemap.xml`]), ""].join("\n");
}

/** An Atom feed of incidents, the newest first. */
export function feed(incidents: readonly Listed[], site: string, days: Readonly<Record<string, string>> = added) {
  const dated = incidents.map((incident) => {
    const day = days[incident.id];
    if (day === undefined) throw new Error(`web/vite/added.json: has no day for ${incident.id}; add "${incident.id}"`);
    return { ...incident, at: `${day}T00:00:00Z` };
  });
  const entries = dated
    .toSorted((a, b) => b.at.localeCompare(a.at) || a.id.localeCompare(b.id))
    .map(({ id, code, title, symptom, family, source, year, at }) => {
      const page = escapeHtml(`${site}${id}.html`);
      return [
        `  <entry>`,
        `    <id>${page}</id>`,
        `    <title>${escapeHtml(`${code} · ${title}`)}</title>`,
        `    <link href="${page}" />`,
        `    <updated>${at}</updated>`,
        `    <category term="${escapeHtml(family)}" />`,
        `    <summary>${escapeHtml(`${symptom} Source: ${source}, ${year}.`)}</summary>`,
        `  </entry>`,
      ].join("\n");
    });
  const newest = dated.map(({ at }) => at).reduce((a, b) => (a > b ? a : b));
  return [
    `<?xml version="1.0" encoding="UTF-8"?>`,
    `<feed xmlns="http://www.w3.org/2005/Atom">`,
    `  <id>${escapeHtml(site)}</id>`,
    `  <title>Seeklab: new incidents</title>`,
    `  <link href="${escapeHtml(site)}" />`,
    `  <link rel="self" href="${escapeHtml(`${site}feed.xml`)}" />`,
    `  <author><name>The Seeklab authors</name></author>`,
    `  <updated>${newest}</updated>`,
    ...entries,
    `</feed>`,
    ``,
  ].join("\n");
}

/** The index of incidents as plain Markdown, in the form of llmstxt.org. */
export function llms(incidents: readonly Listed[], site = "./"): string {
  const families = [...new Set(incidents.map(({ family }) => family))];
  const line = ({ id, code, title, symptom, source, year }: Listed) =>
    `- [${code} ${title}](${site}${id}.html): ${symptom} Source: ${source}, ${year}.`;
  return [
    `# Seeklab`,
    ``,
    `> Documented storage incidents, reproduced by a simulator of the whole storage stack. Each page runs the incident in the browser. Each documented number is compared with the simulated one.`,
    ``,
    `The Python package \`seeklab\` runs the same incidents: \`seeklab cases --json\` lists them, \`seeklab run CASE --json\` runs one, and \`seeklab facts CASE --json\` compares its numbers with the source.`,
    ``,
    `## Documentation`,
    ``,
    `- [Documentation](${site}docs/index.html): tutorials, how-to guides, reference, explanation`,
    `- [Course](${site}notebooks.html): ten weeks of notebooks`,
    `- [Validation](${site}validation.html): the disk model against measured drives`,
    ...families.flatMap((family) => [
      ``,
      `## ${family}`,
      ``,
      ...incidents.filter((incident) => incident.family === family).map(line),
    ]),
    ``,
  ].join("\n");
}

function htmlFiles(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith(".html"))
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)))
    .sort();
}

/** Pages without a text of their own: the lab's application, the error page, and the documentation's search and index. */
const isUnlisted = (name: string) => /^(lab\/|404\.html$|docs\/(search|genindex|py-modindex)\.html$)/.test(name);

/** Lays the documentation over the site, then writes the files. It runs after all pages exist. */
export function frontDoor(): Plugin {
  let outDir = "";
  return {
    name: "seeklab-front-door",
    configResolved(config) {
      outDir = resolve(config.root, config.build.outDir);
    },
    closeBundle: {
      sequential: true,
      order: null,
      handler() {
        if (existsSync(docs)) cpSync(docs, join(outDir, "docs"), { recursive: true });
        else this.warn("the documentation is not built, so links to it are broken");
        const write = (name: string, content: string | Uint8Array) => writeFileSync(join(outDir, name), content);
        const icon = readFileSync(join(webRoot, "public/icon.svg"), "utf8");
        for (const size of iconSizes) {
          write(`icon-${size}.png`, new Resvg(icon, { fitTo: { mode: "width", value: size } }).render().asPng());
        }
        const incidents = JSON.parse(readFileSync(join(outDir, "incidents.json"), "utf8")) as Incident[];
        write("llms.txt", llms(incidents, address));
        write("robots.txt", robots(address));
        if (address === undefined) {
          this.warn("the site has no address (SEEKLAB_SITE), so it has no sitemap, feed and canonical addresses");
          return;
        }
        const pages = htmlFiles(outDir).filter((name) => !isUnlisted(name));
        write("sitemap.xml", sitemap(pages, address));
        write("feed.xml", feed(incidents, address));
        for (const name of pages) {
          // Sphinx writes the documentation's own canonical addresses.
          if (name.startsWith("docs/")) continue;
          write(name, withAddress(readFileSync(join(outDir, name), "utf8"), name, address));
        }
      },
    },
  };
}
