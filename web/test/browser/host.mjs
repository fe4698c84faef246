/** Serves the built site, and starts a headless Chromium that writes only to a scratch folder. */
import { createServer } from "node:http";
import { mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { extname, join, normalize, resolve } from "node:path";
import { brotliCompressSync, gzipSync } from "node:zlib";
import { chromium } from "@playwright/test";

const web = resolve(import.meta.dirname, "../..");
export const site = process.env.SEEKLAB_DIST ?? join(web, "dist");
export const engine = resolve(web, "../engine/wasm/pkg");
export const widget = resolve(web, "../engine/python/seeklab/_engine/widget.js");

const types = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript",
  ".mjs": "text/javascript",
  ".css": "text/css",
  ".wasm": "application/wasm",
  ".json": "application/json",
  ".svg": "image/svg+xml",
  ".woff2": "font/woff2",
  ".zip": "application/zip",
  ".whl": "application/zip",
};

/**
 * Serves the site on a free port of this machine. Beside it, for tests that look below the page: `/engine/` holds the engine's
 * own module, `/widget.js` the notebook's bundle, `/blank.html` an empty page without a content security policy.
 *
 * With `isCompressed`, files go out with gzip, as from a web server.
 */
export async function serve({ isCompressed = false } = {}) {
  const server = createServer((request, response) => {
    const path = decodeURIComponent(new URL(request.url, "http://localhost").pathname);
    if (path === "/blank.html") {
      response.writeHead(200, { "content-type": types[".html"] });
      response.end("<!doctype html><html lang='en'><title>Blank</title><body></body></html>");
      return;
    }
    const file = fileFor(path);
    try {
      if (!statSync(file).isFile()) throw new Error("not a file");
      const type = { "content-type": types[extname(file)] ?? "application/octet-stream" };
      response.writeHead(200, isCompressed ? { ...type, "content-encoding": "gzip" } : type);
      response.end(isCompressed ? compressed(file) : readFileSync(file));
    } catch {
      response.writeHead(404, { "content-type": types[".html"] }).end(readFileSync(join(site, "404.html")));
    }
  });
  await new Promise((listening) => server.listen(0, "127.0.0.1", listening));
  const address = `http://127.0.0.1:${server.address().port}`;
  return { address, close: () => server.close() };
}

const compressedFiles = new Map();

function compressed(file) {
  if (!compressedFiles.has(file)) compressedFiles.set(file, gzipSync(readFileSync(file), { level: 9 }));
  return compressedFiles.get(file);
}

/** Return the bytes of a file of the site under an address, as two kinds of compression make them. */
export function compressedBytes(url) {
  const path = decodeURIComponent(new URL(url).pathname);
  if (!compressedSizes.has(path)) {
    const file = fileFor(path);
    compressedSizes.set(path, {
      gzip: compressed(file).length,
      brotli: brotliCompressSync(readFileSync(file)).length,
    });
  }
  return compressedSizes.get(path);
}

const compressedSizes = new Map();

/** Serves one page from another origin. */
export async function serveText(text) {
  const server = createServer((_, response) => {
    response.writeHead(200, { "content-type": types[".html"] });
    response.end(text);
  });
  await new Promise((listening) => server.listen(0, "127.0.0.1", listening));
  return { address: `http://127.0.0.1:${server.address().port}`, close: () => server.close() };
}

function fileFor(path) {
  if (path === "/widget.js") return widget;
  if (path.startsWith("/engine/")) return join(engine, normalize(path.slice("/engine/".length)));
  return join(site, normalize(path.endsWith("/") ? `${path}index.html` : path));
}

/** Starts a browser that neither reads nor writes the user's folders. */
export async function launch() {
  const scratch = mkdtempSync(join(tmpdir(), "seeklab-browser-"));
  const browser = await chromium.launch({
    executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
    args: [
      "--headless",
      "--no-sandbox",
      "--disable-gpu",
      "--disable-quic",
      "--no-first-run",
      "--disable-background-networking",
      "--disable-component-update",
      "--disable-sync",
      "--disable-crash-reporter",
      "--disable-breakpad",
    ],
    env: { ...process.env, HOME: scratch, XDG_CONFIG_HOME: scratch, XDG_CACHE_HOME: scratch },
  });
  return {
    browser,
    async close() {
      await browser.close();
      rmSync(scratch, { recursive: true, force: true });
    },
  };
}
