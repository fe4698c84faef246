/** How the bundles find the engine: its glue as `seeklab-engine`, its module as `seeklab-engine-wasm`, its library as `seeklab-library`. */
import { join } from "node:path";
import type { Plugin } from "vite";
import { enginePackage } from "./site.ts";

const glue = { find: /^seeklab-engine$/, replacement: join(enginePackage, "seeklab.js") };
const module = { find: /^seeklab-engine-wasm/, replacement: join(enginePackage, "seeklab_bg.wasm") };

const library = { find: /^seeklab-library/, replacement: join(enginePackage, "library.json") };

/** For the site, where the module is a file. */
export const siteAlias = [glue, module, library];
/** For the widget, which carries the module inside. */
export const widgetAlias = [glue, library];

/**
 * The glue looks for its module beside itself when it is given none. We always give it one, and the bundler would pack the
 * module a second time because of that line.
 */
export function withoutDefaultModule(): Plugin {
  return {
    name: "seeklab-without-default-module",
    enforce: "pre",
    transform(code, id) {
      if (!id.startsWith(join(enginePackage, "seeklab.js"))) return null;
      return code.replace(/new URL\('seeklab_bg\.wasm', import\.meta\.url\)/g, "undefined");
    },
  };
}
