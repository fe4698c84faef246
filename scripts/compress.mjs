// Compressed copies of a site's files, for servers that send them as they are: nginx, Caddy and others.
// Usage: node compress.mjs SITE
//
// Each file of the pages gets a `.br` and a `.gz` beside it, unless it hardly shrinks. Python, the lab and the documentation get none:
// they are large, and few visitors load them.

import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";

const site = process.argv[2];
const leastBytes = 1000;
const mostShare = 0.9;

const kinds = [
  [".br", (content) => brotliCompressSync(content, { params: { [constants.BROTLI_PARAM_SIZE_HINT]: content.length } })],
  [".gz", (content) => gzipSync(content, { level: 9 })],
];

for (const entry of readdirSync(site, { recursive: true, withFileTypes: true })) {
  const path = join(entry.parentPath, entry.name);
  if (!entry.isFile() || /^(pyodide|lab|docs)\//.test(relative(site, path))) continue;
  const content = readFileSync(path);
  if (content.length < leastBytes) continue;
  for (const [ending, compress] of kinds) {
    const compressed = compress(content);
    if (compressed.length <= content.length * mostShare) writeFileSync(path + ending, compressed);
  }
}
