/**
 * The fixtures of the browser tests. All tests of a worker share one browser and one server; each test has its own contexts.
 *
 * A test fails if a page throws an error, or if a request leaves the site.
 */
import { test as base } from "@playwright/test";
import { launch, serve, serveText } from "./host.mjs";

export const test = base.extend({
  browser: [
    async ({}, use) => {
      const { browser, close } = await launch();
      await use(browser);
      await close();
    },
    { scope: "worker" },
  ],

  server: [
    async ({}, use) => {
      const server = await serve();
      await use(server);
      server.close();
    },
    { scope: "worker" },
  ],

  address: async ({ server }, use) => use(server.address),

  /** The origins that a test may use. */
  origins: async ({ server }, use) => use([server.address]),

  /** Opens a page of the site in its own context. */
  open: async ({ browser, server, origins }, use, info) => {
    const contexts = [];
    const foreign = [];
    const errors = [];
    await use(async (path, options = {}) => {
      const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, ...options });
      contexts.push(context);
      context.on("request", (request) => {
        const url = request.url();
        if (!origins.some((address) => url.startsWith(address)) && !/^(data|blob):/.test(url)) foreign.push(url);
      });
      const page = await context.newPage();
      // A slow machine is no fault: the time of a whole test limits a page that never answers.
      page.setDefaultTimeout(60_000);
      page.on("pageerror", (error) => errors.push(error.message));
      await page.goto(new URL(path, server.address).href);
      return page;
    });
    // A test that visits many pages closes each before the next.
    const pages = contexts.flatMap((context) => context.pages()).map((page) => new URL(page.url()).pathname);
    for (const context of contexts) await context.close();
    if (info.status !== "passed") {
      info.annotations.push({ type: "open", description: pages.join(", ") || "no page" });
      return;
    }
    if (foreign.length > 0) throw new Error(`requests left the site's origin: ${foreign.join(", ")}`);
    if (errors.length > 0) throw new Error(`errors on the page: ${errors.join("; ")}`);
  },

  /** Serves a page of another origin, which may show ours in a frame. */
  foreign: async ({ origins }, use) => {
    const servers = [];
    await use(async (text) => {
      const server = await serveText(text);
      servers.push(server);
      origins.push(server.address);
      return `${server.address}/`;
    });
    for (const server of servers) server.close();
  },
});

/** Prints a note beside the name of the test. */
export function note(text) {
  test.info().annotations.push({ type: "note", description: text });
}
