/** Monkey testing: presses, types, moves sliders and goes back on a page, in an order that a seed decides. */

const touchable = [
  ...["button", "input", "select", "textarea", "summary", "a[href^='#']", "svg [tabindex]"],
  ...["[role=slider]", "canvas", ".cm-content"],
].map((selector) => `${selector}:visible`);
const typed = ["0", "-1", "1e400", "abc", "4KiB", "", "9".repeat(21), "π", "{", "a".repeat(300)];
const keys = [" ", "Enter", "Escape", "Tab", "ArrowLeft", "ArrowRight", "Home", "End", "PageUp", "PageDown", "j", "?"];
/** What cannot be touched at once is left alone: it is covered, or it has gone meanwhile. */
const patience = { timeout: 800 };

/** Acts on an open page N times. Returns what went wrong, with what led to it. */
export async function monkeyTest(page, { seed, times }) {
  const address = page.url();
  const own = new URL(address).pathname;
  const done = [];
  const wrong = [];
  const tell = (what) => wrong.push(`${own}: ${what}\n            after ${done.slice(-6).join(" | ")}`);
  page.on("pageerror", (error) => tell(error.stack ?? error.message));
  page.on("console", (message) => message.type() === "error" && tell(message.text()));
  const random = randomNumbers(seed);
  const oneOf = (list) => list[Math.floor(random() * list.length)];
  for (let nth = 0; nth < times; nth++) {
    try {
      if (new URL(page.url()).pathname !== own) await page.goto(address);
      const elements = await page.locator(touchable.join(", ")).elementHandles();
      if (elements.length > 0) await touch(page, oneOf(elements), { random, oneOf, note: (what) => done.push(what) });
      if (random() < 0.02) {
        done.push("went back");
        await page.goBack(patience);
      }
      if (random() < 0.01) {
        done.push("loaded again");
        await page.reload();
      }
    } catch (error) {
      if (!isGone(error)) throw error;
    }
  }
  return wrong;
}

async function touch(page, element, { random, oneOf, note }) {
  const { kind, words, options } = await element.evaluate((node) => ({
    kind: node.matches("input, textarea") ? node.type : node.tagName.toLowerCase(),
    words: (node.getAttribute("aria-label") ?? node.innerText ?? "").slice(0, 30).replaceAll("\n", " "),
    options: node.options?.length ?? 0,
  }));
  const name = `${kind} "${words}"`;
  if (kind === "select") {
    note(`chose in ${name}`);
    await element.selectOption({ index: Math.floor(random() * options) }, patience);
  } else if (["text", "search", "number", "textarea"].includes(kind)) {
    const text = oneOf(typed);
    note(`typed ${text.slice(0, 20)} into ${name}`);
    await element.focus();
    await page.keyboard.press("Control+a");
    await page.keyboard.type(text);
    await page.keyboard.press(oneOf(["Enter", "Tab"]));
  } else if (kind === "range" || random() < 0.15) {
    const pressed = [oneOf(keys), oneOf(keys), oneOf(keys)];
    note(`pressed ${pressed.join(" ")} on ${name}`);
    await element.focus();
    for (const key of pressed) await page.keyboard.press(key);
  } else {
    note(`clicked ${name}`);
    await element.click(patience);
  }
}

function isGone({ name, message }) {
  const gone = /not attached|detached|was destroyed|context|navigation|ERR_ABORTED|not visible|outside of the view/;
  return name === "TimeoutError" || gone.test(message);
}

/** Numbers from 0 to below 1 (mulberry32). */
function randomNumbers(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
