/**
 * Set-up that every page does once: colours, patterns, a place for messages, the state in the address, the service
 * worker.
 */
import { colourSheet, patterns } from "../../base/colours.ts";
import { html } from "../../base/elements.ts";
import { isEmbedded } from "./embed.ts";
import { decodeRunLink, defaultState, type PageState } from "./runLink.ts";
import { messageBox, type MessageBox } from "./messages.ts";

export interface Page {
  readonly root: HTMLElement;
  readonly message: MessageBox;
}

/** Prepares the document: its colours, and where it says what went wrong. */
export function preparePage(): Page {
  installTheme();
  if (!isEmbedded && isFramedByOthers()) hide();
  const root = document.querySelector<HTMLElement>("#page")!;
  const message = messageBox();
  const stage = root.querySelector(".stage-section");
  if (stage === null) root.append(message.element);
  else stage.before(message.element);
  return { root, message };
}

/** Builds the page from the state in its address. Whatever fails is said on the page, and so is an address that cannot be read. */
export async function openPage(page: Page, build: (state: PageState) => Promise<void>): Promise<void> {
  const decoded = decodeRunLink(location.hash);
  await buildPage(page, async () => {
    await build(decoded.kind === "state" ? decoded.state : defaultState);
    if (decoded.kind === "problem") page.message.say(decoded.message);
  });
}

/** Builds a page that reads its address itself. Whatever fails is said on the page. */
export async function buildPage({ message }: Page, build: () => Promise<void> | void): Promise<void> {
  try {
    await build();
  } catch (error) {
    message.fail(error);
  }
  layOutLate();
  keepFocusInView();
  registerServiceWorker();
}

/** Whether a page of another origin shows this one, which could have clicks meant for itself land here. */
function isFramedByOthers(): boolean {
  if (top === self) return false;
  try {
    return top!.location.origin !== location.origin;
  } catch {
    return true; // its address cannot be read: it is of another origin
  }
}

/** Leaves only a way out of the frame; the stage alone, `?embed=1`, is what other pages may show. */
function hide(): void {
  document.body.style.setProperty("display", "none", "important");
  const link = html("a", { href: location.href, target: "_blank", rel: "noopener" }, "Open this page of Seeklab");
  document.documentElement.append(html("p", { class: "way-out" }, link));
}

function installTheme(): void {
  // A page with a first picture has both already, and a second sheet would style all of it again.
  if (document.querySelector(".seeklab-patterns") === null) {
    const sheet = new CSSStyleSheet();
    sheet.replaceSync(colourSheet());
    document.adoptedStyleSheets = [...document.adoptedStyleSheets, sheet];
    document.body.append(patterns());
  }
  // On paper, print the link to exactly this run at the end.
  addEventListener("beforeprint", () => {
    const footer = document.querySelector<HTMLElement>("footer.site");
    if (footer !== null) footer.dataset.address = location.href;
  });
}

/** Keeps the site for use without a network. A browser that refuses (private windows do) loses only that. */
function registerServiceWorker(): void {
  if (!import.meta.env.PROD || !("serviceWorker" in navigator)) return;
  navigator.serviceWorker.register("service-worker.js").catch(() => undefined);
}

/** Has the site's worker keep what was loaded without it, as by a thread that began before it was there. */
export function keepForOffline(addresses: readonly string[]): void {
  if (!import.meta.env.PROD || !("serviceWorker" in navigator)) return;
  navigator.serviceWorker.ready.then(({ active }) => active?.postMessage({ keep: addresses })).catch(() => undefined);
}

/** Calls back once, when the element first comes near the window. */
export function whenSeen(element: Element, callback: () => void): void {
  const observer = new IntersectionObserver(
    (entries) => {
      if (!entries.some((entry) => entry.isIntersecting)) return;
      observer.disconnect();
      callback();
    },
    { rootMargin: "200px" },
  );
  observer.observe(element);
}

/** By then the first step has played, which takes five seconds at most. */
const lateAfter_ms = 6000;
const mostLate_ms = 2000;

/** Calls back once: when the element first comes near the window, once the page is scrolled, or later, in a pause, for those who come by another way. */
export function whenSeenOrLate(element: Element, callback: () => void): void {
  let isCalled = false;
  const call = () => {
    if (isCalled) return;
    isCalled = true;
    callback();
  };
  whenSeen(element, call);
  // What comes into the window has its height by then, and moves nothing below it.
  addEventListener("scroll", call, { once: true, passive: true });
  setTimeout(() => inPause(call), lateAfter_ms);
}

function inPause(call: () => void): void {
  // Some browsers do not tell of pauses.
  if ("requestIdleCallback" in globalThis) requestIdleCallback(call, { timeout: mostLate_ms });
  else setTimeout(call);
}

/** Lays out what is far below the window, a section in each pause: a picture of the whole page has all of them. */
function layOutLate(): void {
  const next = () => {
    const section = document.querySelector(
      ":is(main > section:not(.stage-section), .after-question, .around, .family-list, footer.site):not(.laid-out)",
    );
    if (section === null) return;
    section.classList.add("laid-out");
    inPause(next);
  };
  let isBegun = false;
  const begin = () => {
    if (!isBegun) inPause(next);
    isBegun = true;
  };
  addEventListener("scroll", begin, { once: true, passive: true });
  setTimeout(begin, lateAfter_ms);
}

/** Keeps in the window what a key has given the focus, while sections above it are laid out and move it. */
function keepFocusInView(): void {
  let kept: Element | undefined;
  const forget = () => (kept = undefined);
  addEventListener("focusin", ({ target }) => {
    kept = target instanceof Element && target.matches(":focus-visible") ? target : undefined;
  });
  for (const kind of ["wheel", "pointerdown", "touchmove"]) addEventListener(kind, forget, { passive: true });
  addEventListener("keydown", forget);
  const watched = new ResizeObserver(() => {
    if (kept === undefined || kept !== document.activeElement) return;
    const { top, bottom } = kept.getBoundingClientRect();
    if (top < 0 || bottom > innerHeight) kept.scrollIntoView({ block: "nearest" });
  });
  watched.observe(document.body);
}
