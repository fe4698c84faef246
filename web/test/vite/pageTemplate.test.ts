// @vitest-environment node
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { fillTemplate } from "../../vite/pageTemplate.ts";

const web = join(import.meta.dirname, "../..");
const template = readFileSync(join(web, "vite/page.html"), "utf8");
const page = (attributes: string, content = "<h1>Words</h1>") =>
  fillTemplate(template, `<seeklab-page ${attributes}>\n${content}\n</seeklab-page>\n`, "x.html");
const all = 'title="T" description="D" script="/src/x.ts"';

describe("a page from the template", () => {
  it("has its own title, description, script, place and content, and a meta element of its own in the head", () => {
    const filled = page(`${all} place="Here"`, '  <meta name="case" content="c" />\n  <h1>Words</h1>');
    const [head = "", body = ""] = filled.split("</head>");
    expect(head).toContain("<title>T</title>");
    expect(head).toContain('<meta name="description" content="D" />');
    expect(head).toContain('<script type="module" src="/src/x.ts"></script>');
    expect(head).toContain('<meta name="case" content="c" />');
    expect(body).toContain('<span class="place">Here</span>');
    expect(body).toContain("<h1>Words</h1>");
    expect(body).not.toContain("<meta");
  });

  it("without a place is the front page", () => {
    expect(page(all)).toContain('<a class="name" href="./" aria-current="page">Seeklab</a>');
    expect(page(`${all} place="Here"`)).not.toContain("aria-current");
  });

  it("takes values as they are, whatever the letters of a replacement pattern mean", () => {
    expect(page('title="$& $1 %title%" description="D" script="/x.ts"')).toContain("<title>$& $1 %title%</title>");
  });

  it("says what is wrong with its file", () => {
    expect(() => page('title="T" script="/x.ts"')).toThrow(/^x\.html: <seeklab-page> .* description$/);
    expect(() => page(`${all} titel="x"`)).toThrow(/^x\.html: <seeklab-page> .* titel; .* title\b/);
    expect(() => fillTemplate(template, "<h1>Words</h1>", "x.html")).toThrow(/^x\.html: \w.* <seeklab-page> /);
  });

  it.each([
    "404.html",
    "index.html",
    "case.html",
    "oncall.html",
    "diagnose.html",
    "calibrate.html",
    "designer.html",
    "validation.html",
    "presets.html",
  ])("is what %s becomes, nothing left open", (name) => {
    const filled = fillTemplate(template, readFileSync(join(web, name), "utf8"), name);
    const open = (filled.match(/%[a-z]+%/g) ?? []).filter(
      (word) => name !== "case.html" || !/code|id|symptom|title|question|setting|card|caption|library|view/.test(word),
    );
    expect(open).toEqual([]);
    expect(filled.match(/<h1>/g)).toHaveLength(1);
  });
});
