import { describe, expect, it } from "vitest";
import { type CourseOutline, fillNotebookPage, weekList } from "../../vite/notebookPages.ts";

const notebooks = [
  { name: "01-first", title: "First & last", subtitle: "A <b>", minutes: 40 },
  { name: "02-second", title: "Second", subtitle: "Two", minutes: 30 },
];
const course: CourseOutline = {
  weeks: [
    { week: 1, theme: "Measuring", notebooks: [{ number: "02", part: "second half" }], exercises: ["disk-time"] },
  ],
  notebooks,
  exercises: { "disk-time": "Fewer turns" },
};

describe("a notebook's page", () => {
  const template = "<h1>%number% %title%</h1><p>%subtitle%</p><nav><!--neighbours--></nav><!--notebook-->";
  it("has its words escaped, its body as it is, and the ways to its neighbours", () => {
    const page = fillNotebookPage(template, notebooks[0]!, "<p>$& %title%</p>", notebooks);
    expect(page).toContain("<h1>01 First &amp; last</h1><p>A &lt;b&gt;</p>");
    expect(page).toContain("<p>$& %title%</p>");
    expect(page).toContain('href="02-second.html"');
    expect(page).not.toContain('href="01-first.html"');
  });
});

describe("the list by weeks", () => {
  it("leads to each notebook's page, to the lab, and to the exercises", () => {
    const list = weekList(course);
    expect(list).toContain('<a class="title" href="02-second.html">02 · Second</a>');
    expect(list).toContain("second half, 30 minutes");
    expect(list).toContain('href="lab/notebooks/index.html?path=notebooks/02-second.ipynb"');
    expect(list).toContain('path=exercises/disk-time/disk-time.ipynb">Fewer turns</a>');
  });
  it("refuses a syllabus that names what there is not", () => {
    expect(() => weekList({ ...course, notebooks: [] })).toThrow("names the notebook 02, which does not exist");
    expect(() => weekList({ ...course, exercises: {} })).toThrow("names the exercise disk-time, which does not exist");
  });
});
