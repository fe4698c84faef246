/**
 * The course in the browser's own lab, as the built site has it: JupyterLite, with Python in a worker.
 *
 *     node browser_lab.mjs learner      one notebook as a learner meets it: gate, commitment, chart, reload, stop
 *     node browser_lab.mjs course [WORD]  every notebook and exercise, solved, from the first cell to the last
 *     node browser_lab.mjs offline      three visits, the last without a server
 *     node browser_lab.mjs forbidden    a browser that stores nothing
 *     node browser_lab.mjs hostile      notebooks whose outputs run scripts, and a frame of another site
 *
 * Prints what it saw as one JSON document. With SEEKLAB_SHOTS set, leaves screenshots in that folder.
 */
import { readFileSync, readdirSync } from "node:fs";
import { join, resolve } from "node:path";
import { launch, serve } from "../web/test/browser/host.mjs";

const root = resolve(import.meta.dirname, "..");
const first = "notebooks/01-the-missing-256-kib.ipynb";
const shots = process.env.SEEKLAB_SHOTS;
const [action = "", word = ""] = process.argv.slice(2);

const server = await serve();
const chromium = await launch();

/** A context whose pages hand out the application, where no service worker stands between. */
async function contextOf(seen, options = {}) {
  const context = await chromium.browser.newContext({
    viewport: { width: 1280, height: 900 },
    serviceWorkers: "block",
    ...options,
  });
  context.on("request", (request) => {
    const to = new URL(request.url());
    if (to.protocol.startsWith("http") && to.origin !== server.address) seen.foreign.push(request.url());
  });
  if (options.serviceWorkers === undefined) {
    await context.route("**/lab/jupyter-lite.json", async (route) => {
      const response = await route.fetch();
      const settings = await response.json();
      settings["jupyter-config-data"].exposeAppInBrowser = true;
      await route.fulfill({ response, json: settings });
    });
  }
  return context;
}

async function pageOf(context, seen) {
  const page = await context.newPage();
  page.setDefaultTimeout(Number(process.env.SEEKLAB_WAIT_MS ?? 300_000));
  page.on("pageerror", (error) => seen.errors.push(String(error)));
  return page;
}

const addressOf = (path) => `${server.address}/lab/notebooks/index.html?path=${path}`;

/** Opens a notebook and waits for its kernel; gives the seconds until both. */
async function open(page, path) {
  const begun = performance.now();
  await page.goto(addressOf(path));
  await page.waitForFunction(() => globalThis.jupyterapp?.shell.currentWidget?.content?.widgets?.length > 0);
  const notebook = secondsSince(begun);
  await page.evaluate(async () => {
    const { sessionContext } = globalThis.jupyterapp.shell.currentWidget;
    await sessionContext.ready;
    await sessionContext.session.kernel.info;
  });
  return { notebook, kernel: secondsSince(begun) };
}

const secondsSince = (begun) => Math.round((performance.now() - begun) / 100) / 10;

const execute = (page, command) => page.evaluate((name) => globalThis.jupyterapp.commands.execute(name), command);

/** Runs code in the kernel, beside the notebook's cells; gives what it printed. */
function inKernel(page, code) {
  return page.evaluate(async (source) => {
    const { kernel } = globalThis.jupyterapp.shell.currentWidget.sessionContext.session;
    const future = kernel.requestExecute({ code: source, store_history: false });
    let printed = "";
    future.onIOPub = ({ header, content }) => {
      if (header.msg_type === "stream") printed += content.text;
      if (header.msg_type === "error") printed += `${content.ename}: ${content.evalue}`;
    };
    await future.done;
    return printed;
  }, code);
}

/** What the code cells show, by their ids. */
function outputs(page) {
  return page.evaluate(() =>
    Object.fromEntries(
      globalThis.jupyterapp.shell.currentWidget.content.widgets
        .filter((cell) => cell.model.type === "code")
        .map((cell) => [cell.model.id, cell.model.outputs.toJSON()]),
    ),
  );
}

const errorsIn = (shown) => Object.entries(shown).filter(([, all]) => all.some((one) => one.output_type === "error"));

/** The cells that wait for the reader: behind a question, or with dots to replace. */
const placesIn = (page) =>
  page.evaluate(() =>
    globalThis.jupyterapp.shell.currentWidget.content.widgets
      .filter((cell) => cell.model.type === "code")
      .filter((cell) => /Opens after|replace the dots/.test(cell.outputArea.node.textContent))
      .map((cell) => cell.model.id),
  );

const stored = (page, path) =>
  page.evaluate(async (name) => {
    const { content } = await globalThis.jupyterapp.serviceManager.contents.get(name, { content: true });
    return typeof content === "string" ? JSON.parse(content) : content;
  }, path);

/** What the lab has told in its notifications. */
const told = (page) => page.locator(".Toastify__toast").allInnerTexts();

async function shoot(page, name) {
  if (shots) await page.screenshot({ path: join(shots, `${name}.png`) });
}

async function learner(seen) {
  const context = await contextOf(seen);
  const page = await pageOf(context, seen);
  const opened = await open(page, first);
  await shoot(page, "opened");
  await execute(page, "notebook:run-all-cells");
  const shown = await outputs(page);
  const failed = errorsIn(shown).map(([id]) => id);
  const waiting = await placesIn(page);
  const [gate] = waiting;
  await page.evaluate((id) => {
    const { content } = globalThis.jupyterapp.shell.currentWidget;
    content.activeCellIndex = content.widgets.findIndex((cell) => cell.model.id === id);
    return content.scrollToItem(content.activeCellIndex, "center");
  }, gate);
  await shoot(page, "gate");

  await page.locator("fieldset input[type=radio]").nth(1).check();
  await page.locator(".jupyter-button", { hasText: "Commit" }).first().click();
  await page.locator(".Toastify__toast").first().waitFor();
  const notes = await told(page);
  const commits = await stored(page, "notebooks/commits.json");
  await shoot(page, "committed");

  // The cells fill in place, up to the next thing to do.
  await page.waitForFunction((id) => {
    const { content } = globalThis.jupyterapp.shell.currentWidget;
    const cell = content.widgets.find((one) => one.model.id === id);
    return !cell.outputArea.node.textContent.includes("Opens after");
  }, gate);
  await inKernel(page, "print(1)");
  const next = await placesIn(page);

  // A new page begins with what was committed.
  await open(page, first);
  await execute(page, "notebook:run-all-cells");
  const remembered = await placesIn(page);
  const held = await inKernel(page, "print(open('commits.json').read())");

  // The chart simulates in the page while a control moves.
  await page.evaluate(async (code) => {
    const { commands, shell } = globalThis.jupyterapp;
    const { content } = shell.currentWidget;
    content.activeCellIndex = content.widgets.length - 1;
    await commands.execute("notebook:insert-cell-below");
    content.activeCell.model.sharedModel.setSource(code);
    await commands.execute("notebook:run-cell");
    await content.scrollToItem(content.activeCellIndex, "start");
  }, 'from seeklab.notebook import lab\nchart = lab("odx-prefetch", view="prefetch-strip", controls=["protocol.max_transaction"])\nchart');
  const chart = page.locator(".jp-Notebook-cell.jp-mod-active .seeklab-widget");
  const sentence = chart.locator(".sentence:not(:empty)");
  await sentence.waitFor();
  const before = await sentence.innerText();
  await shoot(page, "chart");
  const slider = chart.locator(".control", { hasText: "Largest transaction" }).locator("input[type=range]");
  await slider.scrollIntoViewIfNeeded();
  await slider.focus();
  await page.keyboard.press("Home");
  await page.waitForFunction(
    ([element, words]) => element.innerText !== words,
    [await sentence.elementHandle(), before],
  );
  const moved = await sentence.innerText();
  const kernel = JSON.parse(
    await inKernel(
      page,
      `import json
print(json.dumps({"shown": chart.result.get("fingerprint"), "own": chart.run().fingerprint}))`,
    ),
  );

  // A loop without end is stopped by a restart, which says so and keeps the notebook and the commitments.
  const stop = await stopped(page);
  await shoot(page, "stopped");
  return {
    opened,
    gate,
    failed,
    waiting,
    notes,
    commits,
    next,
    remembered,
    held: JSON.parse(held),
    before,
    moved,
    kernel,
    stop,
  };
}

async function stopped(page) {
  await page.evaluate(() => {
    const { kernel } = globalThis.jupyterapp.shell.currentWidget.sessionContext.session;
    kernel.requestExecute({ code: "kept = 1\nwhile True: pass" }).done.catch(() => undefined);
  });
  await page.waitForFunction(
    () => globalThis.jupyterapp.shell.currentWidget.sessionContext.session.kernel.status === "busy",
  );
  await page.waitForTimeout(1000);
  const begun = performance.now();
  await page
    .locator(".Toastify__close-button")
    .first()
    .click({ timeout: 2000 })
    .catch(() => undefined);
  await execute(page, "notebook:interrupt-kernel");
  const answered = secondsSince(begun);
  await page.locator(".Toastify__toast", { hasText: "started again" }).waitFor();
  const note = await page.locator(".Toastify__toast", { hasText: "started again" }).innerText();
  const after = await inKernel(page, "print('kept' in dir(), open('commits.json').read().count('\"id\"'))");
  return { answered, usable: secondsSince(begun), note, after };
}

/** The notebook as its authors have it, solutions and all. */
function solved(path) {
  return JSON.parse(readFileSync(join(root, path.replace(/^exercises/, "solutions")), "utf8"));
}

async function course(seen) {
  const rows = [];
  for (const path of coursePaths().filter((one) => one.includes(word))) {
    const context = await contextOf(seen);
    const page = await pageOf(context, seen);
    const opened = await open(page, path);
    await inKernel(page, "import os; os.environ['SEEKLAB_GATES'] = 'open'");
    const sources = solved(path).cells.filter((cell) => cell.cell_type === "code");
    const begun = performance.now();
    await page.evaluate(
      async (cells) => {
        const { content } = globalThis.jupyterapp.shell.currentWidget;
        for (const { id, source } of cells) {
          const cell = content.widgets.find(({ model }) => model.id === id);
          cell.model.sharedModel.setSource(source);
        }
        await globalThis.jupyterapp.commands.execute("notebook:run-all-cells");
      },
      sources.map(({ id, source }) => ({ id, source: [source].flat().join("") })),
    );
    const seconds = secondsSince(begun);
    const shown = await outputs(page);
    const failed = errorsIn(shown).map(([id, [...all]]) => {
      const { ename, evalue } = all.find((one) => one.output_type === "error");
      return `${id}: ${ename}: ${evalue}`;
    });
    const ran = Object.values(shown).length;
    const differing = sources.filter((cell) => differs(cell, shown[cell.id])).map(({ id }) => id);
    rows.push({ path, cells: ran, kernel: opened.kernel, seconds, failed, differing });
    if (process.env.SEEKLAB_TABLE) {
      console.error(
        `${path}  ${ran} cells  kernel ${opened.kernel} s  all ${seconds} s  failed ${failed.length}  other output ${differing.join(" ") || "none"}`,
      );
      for (const one of failed) console.error(`    ${one.slice(0, 300)}`);
    }
    await context.close();
  }
  return { rows };
}

/** Whether a cell prints something other than what is stored for it, as CPython printed it. Widgets are not compared. */
function differs(cell, shown) {
  if (cell.metadata.tags?.some((tag) => /nbval-(ignore|skip|raises)/.test(tag))) return false;
  const [before, now] = [cell.outputs, shown ?? []].map((outputs) =>
    outputs
      .map(({ text, data }) => [text ?? data?.["text/plain"] ?? ""].flat().join(""))
      .join("")
      .trim(),
  );
  return before !== "" && !/VBox|Lab\(| at 0x/.test(before + now) && before !== now;
}

function coursePaths() {
  const below = (room) =>
    readdirSync(join(root, room), { recursive: true }).filter(
      (name) => name.endsWith(".ipynb") && !name.includes(".ipynb_checkpoints"),
    );
  return ["notebooks", "exercises"].flatMap((room) =>
    below(room)
      .sort()
      .map((name) => `${room}/${name}`),
  );
}

async function offline(seen) {
  const context = await contextOf(seen, { serviceWorkers: "allow" });
  const page = await pageOf(context, seen);
  const visits = [];
  let requests = 0;
  context.on("response", (response) => (requests += response.fromServiceWorker() ? 0 : 1));
  const visit = async () => {
    requests = 0;
    const begun = performance.now();
    await page.goto(addressOf(first));
    const cell = page.locator(".jp-CodeCell").first();
    await cell.locator(".cm-content").click();
    const notebook = secondsSince(begun);
    await page.keyboard.press("Control+Enter");
    await cell.locator(".jp-OutputArea-output").first().waitFor();
    visits.push({
      notebook,
      ran: secondsSince(begun),
      requests,
      shows: await cell.locator(".jp-OutputArea-output").first().innerText(),
    });
    await page.evaluate(() => navigator.serviceWorker.ready.then(() => undefined));
    await page.waitForTimeout(3000); // what the page told the worker is stored
  };
  await visit();
  await visit();
  await context.setOffline(true);
  await visit();
  const caches = await page.evaluate(() => globalThis.caches.keys());
  const workers = await page.evaluate(async () =>
    (await navigator.serviceWorker.getRegistrations()).map(({ scope }) => scope),
  );
  return { visits, caches, workers: workers.map((scope) => scope.replace(server.address, "")) };
}

async function forbidden(seen) {
  const context = await contextOf(seen);
  // As a browser does that blocks all cookies.
  await context.addInitScript(() => {
    const refuse = () => {
      throw new DOMException("The operation is insecure.", "SecurityError");
    };
    Object.defineProperty(globalThis, "indexedDB", { value: { open: refuse, deleteDatabase: refuse } });
    Object.defineProperty(globalThis, "localStorage", { get: refuse });
  });
  const page = await pageOf(context, seen);
  await open(page, first);
  await page.locator(".Toastify__toast").first().waitFor();
  const notes = await told(page);
  await execute(page, "notebook:run-cell-and-select-next");
  const runs = await inKernel(page, "import seeklab; print(seeklab.case('odx-prefetch').run().fingerprint)");
  await shoot(page, "forbidden");
  return { notes, runs };
}

/** A notebook that calls its outputs trusted. */
function hostileNotebook(name, more) {
  const ran = `window.ran = [...(window.ran ?? []), "${name}"]`;
  const shown = (data) => ({ output_type: "display_data", metadata: {}, data });
  const outputs = [
    shown({ "text/html": `<img src=x onerror='${ran}'><script>${ran}</script><b>shown</b>` }),
    shown({ "application/javascript": ran }),
    shown({ "image/svg+xml": `<svg xmlns="http://www.w3.org/2000/svg" onload='${ran}'/>` }),
  ];
  const cell = { cell_type: "code", id: "c", metadata: { trusted: true }, execution_count: 1, source: "1", outputs };
  const metadata = { kernelspec: { name: "python", display_name: "Python (Pyodide)" }, trusted: true };
  return JSON.stringify({ nbformat: 4, nbformat_minor: 5, metadata, cells: [cell], more });
}

async function hostile(seen) {
  const context = await contextOf(seen);
  const page = await pageOf(context, seen);
  await open(page, first);
  const upload = (name, text) =>
    page.evaluate(
      async ([path, content]) => {
        // As the file browser does: in pieces of a megabyte where the file is larger.
        const { contents } = globalThis.jupyterapp.serviceManager;
        const size = 2 ** 20;
        const pieces = Array.from({ length: Math.ceil(content.length / size) }, (_, nth) =>
          btoa(content.slice(nth * size, (nth + 1) * size)),
        );
        for (const [nth, piece] of pieces.entries()) {
          const chunk = pieces.length === 1 ? undefined : nth === pieces.length - 1 ? -1 : nth + 1;
          await contents.save(path, { type: "file", format: "base64", name: path, chunk, content: piece });
        }
      },
      [name, text],
    );
  const opened = {};
  const look = async (name) => {
    await page.goto(addressOf(name));
    await page.locator(".jp-OutputArea-output").first().waitFor();
    await page.waitForTimeout(2000);
    opened[name] = await page.evaluate(() => globalThis.ran ?? []);
  };
  await upload("small.ipynb", hostileNotebook("small"));
  await upload("large.ipynb", hostileNotebook("large", "x".repeat(3 << 20)));
  await upload("renamed.txt", hostileNotebook("renamed"));
  await page.evaluate(() => globalThis.jupyterapp.serviceManager.contents.rename("renamed.txt", "renamed.ipynb"));
  for (const name of ["small.ipynb", "large.ipynb", "renamed.ipynb"]) await look(name);

  // What the learner has run is trusted, and stays so.
  await open(page, "small.ipynb");
  await page.evaluate(async () => {
    const { commands, shell } = globalThis.jupyterapp;
    shell.currentWidget.content.activeCell.model.sharedModel.setSource(
      "from IPython.display import HTML\nHTML('<img src=x onerror=\"window.ran = [1]\">')",
    );
    await commands.execute("notebook:run-cell");
    await commands.execute("docmanager:save");
  });
  const untouched = opened["small.ipynb"];
  await look("small.ipynb");
  const own = opened["small.ipynb"];
  opened["small.ipynb"] = untouched;

  const frame = await context.newPage();
  await frame.setContent(`<iframe src="${addressOf(first)}" width="900" height="600"></iframe>`);
  await frame.frameLocator("iframe").getByRole("link", { name: "Open the lab" }).waitFor();
  const visible = await frame.frameLocator("iframe").locator("button:visible, input:visible").count();
  return { opened, own, visible };
}

try {
  const foreign = [];
  const errors = [];
  const found = await { learner, course, offline, forbidden, hostile }[action]({ foreign, errors });
  console.log(JSON.stringify({ ...found, foreign, errors }));
} finally {
  await chromium.close();
  server.close();
}
