// @vitest-environment node
import { JSDOM } from "jsdom";
import { describe, expect, it } from "vitest";
import { feed, llms, robots, sitemap, withAddress } from "../../vite/frontDoor.ts";
import { addressOf, version } from "../../vite/project.ts";

const site = "https://name.test/lab/";
const incident = (id: string, family = "First") => ({
  id,
  code: id.toUpperCase(),
  title: `Title of ${id}`,
  symptom: `"Slow" & <b>${id}</b>.`,
  family,
  source: "A & B",
  year: 2021,
});
const incidents = [incident("a"), incident("b", "Second"), incident("c")];
const days = { a: "2026-11-20", b: "2026-11-24", c: "2026-11-20" };
const xml = (text: string) => new JSDOM(text, { contentType: "application/xml" }).window.document;
const texts = (text: string, name: string) =>
  Array.from(xml(text).getElementsByTagName(name), (element) => element.textContent);

describe("the site's address", () => {
  it("ends with a slash, and takes the environment's before the project's", () => {
    expect(addressOf("https://a.test/x", "https://b.test/")).toBe("https://a.test/x/");
    expect(addressOf(undefined, "https://b.test")).toBe("https://b.test/");
    expect(addressOf("", "https://b.test/")).toBe("https://b.test/");
  });

  it("is unknown on a host that does not exist, and must be an address", () => {
    expect(addressOf(undefined, "https://seeklab.example/")).toBeUndefined();
    expect(() => addressOf("seeklab.org", "https://b.test/")).toThrow('SEEKLAB_SITE: "seeklab.org" is not an address');
  });

  it("comes with a version", () => {
    expect(version).toMatch(/^\d+\.\d+\.\d+$/);
  });
});

describe("a page's head", () => {
  const page = (extra = "") => `<head>\n    <title>T</title>${extra}\n  </head>`;

  it("has its canonical address; the front page has the folder's", () => {
    expect(withAddress(page(), "a.html", site)).toContain(`<link rel="canonical" href="${site}a.html" />`);
    expect(withAddress(page(), "index.html", site)).toContain(`<link rel="canonical" href="${site}" />`);
  });

  it("gets a card unless it has one", () => {
    expect(withAddress(page(), "a.html", site)).toContain(`content="${site}cards/`);
    expect(withAddress(page('<meta property="og:image" content="x" />'), "a.html", site)).not.toContain("cards/");
  });
});

describe("the sitemap", () => {
  it("lists each page once, the front page as the folder", () => {
    const text = sitemap(["a.html", "docs/index.html", "index.html"], site);
    expect(texts(text, "loc")).toEqual([`${site}a.html`, `${site}docs/`, site]);
    expect(robots(site)).toContain(`Sitemap: ${site}sitemap.xml`);
    expect(robots(undefined)).not.toContain("Sitemap");
  });
});

describe("the feed", () => {
  const text = feed(incidents, site, days);

  it("is XML with the newest incident first, and its day", () => {
    expect(xml(text).documentElement.namespaceURI).toBe("http://www.w3.org/2005/Atom");
    expect(texts(text, "title")).toEqual([
      "Seeklab: new incidents",
      "B · Title of b",
      "A · Title of a",
      "C · Title of c",
    ]);
    expect(texts(text, "updated").slice(0, 2)).toEqual(["2026-11-24T00:00:00Z", "2026-11-24T00:00:00Z"]);
    expect(texts(text, "summary")[0]).toBe('"Slow" & <b>b</b>. Source: A & B, 2021.');
  });

  it("has what Atom asks of a feed and of an entry", () => {
    for (const element of [xml(text).documentElement, ...xml(text).getElementsByTagName("entry")]) {
      const names = Array.from(element.children, ({ tagName }) => tagName);
      for (const name of ["id", "title", "updated"]) expect(names.filter((other) => other === name)).toHaveLength(1);
    }
    expect(new Set(texts(text, "id")).size).toBe(incidents.length + 1);
    expect(texts(text, "author")).toHaveLength(1);
  });

  it("names an incident without a day", () => {
    expect(() => feed(incidents, site, { a: "2026-11-20" })).toThrow('has no day for b; add "b"');
  });
});

describe("the index for language models", () => {
  it("names every incident under its family, with an address of the site if there is one", () => {
    const text = llms(incidents);
    expect(text.startsWith("# Seeklab\n\n> ")).toBe(true);
    expect(text.match(/^## .*$/gm)).toEqual(["## Documentation", "## First", "## Second"]);
    expect(text).toContain("- [A Title of a](./a.html): ");
    expect(llms(incidents, site)).toContain(`(${site}b.html)`);
  });
});
