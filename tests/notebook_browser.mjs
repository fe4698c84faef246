/**
 * Reads a notebook in JupyterLab as a learner does: runs all cells, answers the questions at which that stops, runs the
 * cells below, moves a slider of the last chart, lets it go.
 *
 *     node notebook_browser.mjs ADDRESS PATIENCE
 *
 * ADDRESS is that of the notebook in JupyterLab, started with --expose-app-in-browser. PATIENCE, in seconds, is how long
 * all of it may take; beyond it something hangs, and it ends with what it was doing and what the page showed.
 *
 * Prints what it saw as one JSON document. With SEEKLAB_SHOTS set, leaves screenshots in that folder.
 */
import { join } from "node:path";
import { launch } from "../web/test/browser/host.mjs";

const [address, patience] = process.argv.slice(2);
if (!(Number(patience) > 0)) {
  console.error("usage: node notebook_browser.mjs ADDRESS PATIENCE, the patience in seconds");
  process.exit(2);
}
const shots = process.env.SEEKLAB_SHOTS;
const width = 1280;
const height = 900;
let doing = "opening the notebook";
const gates = [];

const chromium = await launch();
try {
  const page = await chromium.browser.newPage({ viewport: { width, height } });
  page.setDefaultTimeout(0); // how fast a machine is does not matter; what hangs is given up as a whole
  setTimeout(() => void tellWhereItHangs(), Number(patience) * 1000).unref();
  const foreign = [];
  const errors = [];
  let messages = 0;
  page.on("request", (request) => {
    const to = new URL(request.url());
    if (to.protocol.startsWith("http") && to.origin !== new URL(address).origin) foreign.push(request.url());
  });
  page.on("pageerror", (error) => errors.push(String(error)));
  page.on("websocket", (socket) =>
    socket.on("framesent", ({ payload }) => {
      const sent = payload.toString("latin1");
      if (sent.includes("comm_msg") && sent.includes("protocol.max_transaction")) messages += 1;
    }),
  );

  await page.goto(address);
  await page.waitForFunction(() => globalThis.jupyterapp?.shell.currentWidget?.content?.widgets?.length > 0);
  await page.evaluate(async () => {
    const panel = globalThis.jupyterapp.shell.currentWidget;
    await panel.sessionContext.ready;
    await panel.sessionContext.session.kernel.info; // it has answered once, so what is asked of it now is not lost
  });
  doing = "running all cells";
  await run("notebook:run-all-cells");
  await answerQuestions();

  await shoot("top");
  doing = "waiting for the charts";
  const strip = await chartAfter("strip");
  await shoot("strip");
  const chart = await chartAfter("live");
  await shoot("live");
  const slider = chart.locator(".control", { hasText: "Largest transaction" }).locator("input[type=range]");
  const told = chart.locator(".sentence");
  const before = await told.innerText();

  doing = "dragging the slider";
  // Drag to the left end of the slider, and look before letting go.
  const { box, middle } = await takeThumb(slider);
  messages = 0;
  for (const share of [0.4, 0.3, 0.2, 0.25]) await page.mouse.move(box.x + box.width * share, middle);
  await waitForChange(told, before);
  await page.waitForTimeout(500);
  const whileDragged = { told: await told.innerText(), messages };
  await shoot("dragged");
  await page.mouse.up();
  doing = "waiting for the message of the released slider";
  // The widget tells the kernel once the run of the released slider is done.
  while (messages === 0) await page.waitForTimeout(100);
  const value = await slider.evaluate((input) => input.getAttribute("aria-valuetext"));

  doing = "asking the kernel";
  const kernel = await inKernel(`
import json
print(json.dumps({"set": chart.set, "shown": chart.result.get("fingerprint"), "own": chart.run().fingerprint}))
`);

  if (shots) {
    for (const name of ["misses-ask", "shapes-turn", "shapes", "phases-yours", "fix", "facts", "what-if"]) {
      await scrollTo(name);
      await shoot(name);
    }
    await page.evaluate(() =>
      globalThis.jupyterapp.commands.execute("apputils:change-theme", { theme: "JupyterLab Dark" }),
    );
    await page.waitForTimeout(1500);
    for (const name of ["live", "strip", "cost-ask"]) {
      await scrollTo(name);
      await shoot(`${name}-dark`);
    }
  }
  const failed = await page.evaluate(() =>
    [...globalThis.jupyterapp.shell.currentWidget.content.model.cells].flatMap((cell) =>
      cell.type === "code" && cell.outputs.toJSON().some((output) => output.output_type === "error") ? [cell.id] : [],
    ),
  );
  console.log(
    JSON.stringify({ gates, failed, errors, foreign, strip: await strip.count(), before, whileDragged, value, kernel }),
  );

  /** Ends with what was going on: what the page says, and a picture where those are kept. */
  async function tellWhereItHangs() {
    console.error(`After ${patience} s it was still ${doing}.`);
    for (const { cell, told } of gates) console.error(`It had stopped at ${cell}: ${told}`);
    console.error("The page says:");
    await Promise.race([
      shoot("hung").then(async () => console.error(await page.evaluate(() => document.body.innerText))),
      new Promise((resolve) => setTimeout(resolve, 20_000)),
    ]);
    process.exit(1);
  }

  /** Runs cells by a command of JupyterLab, and waits until the kernel has answered. */
  async function run(command) {
    await page.evaluate((name) => globalThis.jupyterapp.commands.execute(name), command);
    await idle();
  }

  /** Waits until the kernel has answered all that was asked of it. */
  async function idle() {
    await page.evaluate(async () => {
      const { kernel } = globalThis.jupyterapp.shell.currentWidget.sessionContext.session;
      await kernel.requestExecute({ code: "", silent: true, store_history: false }).done;
    });
  }

  /** What the cells say that wait or fill. */
  function waiting() {
    return page.evaluate(() =>
      globalThis.jupyterapp.shell.currentWidget.content.widgets
        .filter((cell) => cell.model.type === "code")
        .map((cell) => /Opens after|Running \.\.\./.exec(cell.outputArea.node.textContent)?.[0] ?? "")
        .join(),
    );
  }

  /**
   * At each cell that waits: which cells below show anything, and what the waiting cell says. Then the question is
   * answered, the first by a choice and the others by skipping, and the cells below fill by themselves.
   */
  async function answerQuestions() {
    for (;;) {
      const gate = await page.evaluate(
        (seen) => {
          const { content } = globalThis.jupyterapp.shell.currentWidget;
          const code = content.widgets.filter((cell) => cell.model.type === "code");
          const told = code.map((cell) => cell.outputArea.node.textContent);
          const waits = told.map((text) => text.includes("Opens after") || text.includes("replace the dots"));
          const index = waits.findIndex((is, nth) => is && !seen.includes(code[nth].model.id));
          if (index < 0) return null;
          const later = code.filter((_, nth) => nth > index && told[nth].trim() !== "" && !waits[nth]);
          content.activeCellIndex = content.widgets.indexOf(code[index]);
          return { cell: code[index].model.id, told: told[index], below: later.map((cell) => cell.model.id) };
        },
        gates.map(({ cell }) => cell),
      );
      if (gate === null) return;
      gates.push(gate);
      doing = `answering the question at ${gate.cell}`;
      await shoot(`gate-${gate.cell}`);
      const isFirst = gates.length === 1;
      if (isFirst) await page.locator("fieldset input[type=radio]").nth(1).check();
      const press = isFirst ? "Commit" : "Skip";
      const before = await waiting();
      await pressUntilHeeded(page.locator(".jupyter-button:not([disabled])", { hasText: press }).last());
      // The answer comes first, from a thread of its own; then the cells fill, and none is left that runs.
      while ((await waiting()) === before || /Running/.test(await waiting())) await page.waitForTimeout(200);
      await idle();
    }
  }

  /**
   * Presses a button until it is disabled. While charts above are still being drawn, what lies below moves, and a button
   * may have gone between the pressing and the letting go.
   */
  async function pressUntilHeeded(button) {
    const element = await button.elementHandle();
    const soon = { timeout: 10_000 };
    while (!(await element.isDisabled())) {
      await element.click(soon).catch(unlessTimeout);
      await element.waitForElementState("disabled", soon).catch(unlessTimeout);
    }
  }

  /** Puts the mouse down on a slider's thumb; again, where what is above grew meanwhile and the slider moved. */
  async function takeThumb(slider) {
    const thumb = 16;
    for (;;) {
      await slider.scrollIntoViewIfNeeded();
      const box = await slider.boundingBox();
      const middle = box.y + box.height / 2;
      const share = await slider.evaluate(({ min, max, valueAsNumber }) => (valueAsNumber - min) / (max - min));
      await page.mouse.move(box.x + thumb / 2 + (box.width - thumb) * share, middle);
      await page.mouse.down();
      if (await slider.evaluate((input) => input.matches(":active"))) return { box, middle };
      await page.mouse.up();
    }
  }

  function unlessTimeout(error) {
    if (error.name !== "TimeoutError") throw error;
  }

  async function scrollTo(id) {
    await page.evaluate(async (cellId) => {
      const { content } = globalThis.jupyterapp.shell.currentWidget;
      const index = content.widgets.findIndex((cell) => cell.model.id === cellId);
      content.activeCellIndex = index;
      await content.scrollToItem(index, "start");
    }, id);
    await page.waitForTimeout(300);
  }

  /** The chart that a cell shows, once it has told its first result. */
  async function chartAfter(id) {
    await scrollTo(id);
    const found = page.locator(".jp-Notebook-cell.jp-mod-active .seeklab-widget");
    await found.locator(".sentence:not(:empty)").waitFor();
    await page.evaluate((cellId) => {
      const cell = globalThis.jupyterapp.shell.currentWidget.content.widgets.find((one) => one.model.id === cellId);
      cell.node.dataset.testCell = cellId;
    }, id);
    return page.locator(`[data-test-cell="${id}"] .seeklab-widget`);
  }

  async function waitForChange(locator, text) {
    while ((await locator.innerText()) === text) await page.waitForTimeout(50);
  }

  /** Runs code in a cell of its own, as a reader might, and gives what it printed. */
  async function inKernel(source) {
    return page.evaluate(async (code) => {
      const { commands, shell } = globalThis.jupyterapp;
      const { content } = shell.currentWidget;
      content.activeCellIndex = content.widgets.length - 1;
      await commands.execute("notebook:insert-cell-below");
      await commands.execute("notebook:change-cell-to-code");
      content.activeCell.model.sharedModel.setSource(code);
      await commands.execute("notebook:run-cell");
      const [output] = content.activeCell.model.outputs.toJSON();
      return output?.text ?? JSON.stringify(output);
    }, source);
  }

  async function shoot(name) {
    if (shots) await page.screenshot({ path: join(shots, `${name}.png`) });
  }
} finally {
  await chromium.close();
}
