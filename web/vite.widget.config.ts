import { readFileSync } from "node:fs";
import { join } from "node:path";
import { defineConfig, type Plugin } from "vite";
import { widgetAlias, withoutDefaultModule } from "./vite/engine.ts";
import { enginePackage, webRoot } from "./vite/site.ts";

/** The engine's module as a data URL inside the bundle: a notebook has no folder to fetch it from. */
function inlineEngine(): Plugin {
  const name = "seeklab-engine-wasm?inline";
  return {
    name: "seeklab-inline-engine",
    enforce: "pre",
    resolveId: (id) => (id === name ? `\0${name}` : null),
    load(id) {
      if (id !== `\0${name}`) return null;
      const bytes = readFileSync(join(enginePackage, "seeklab_bg.wasm"));
      return `export default "data:application/wasm;base64,${bytes.toString("base64")}";`;
    },
  };
}

export default defineConfig({
  root: webRoot,
  publicDir: false,
  resolve: { alias: widgetAlias },
  plugins: [inlineEngine(), withoutDefaultModule()],
  build: {
    target: "es2023",
    outDir: "../engine/python/seeklab/_engine",
    emptyOutDir: false,
    license: { fileName: "widget-licences.txt" },
    lib: { entry: "src/widget/index.ts", formats: ["es"], fileName: () => "widget.js" },
    // One file, whatever pages load only when it is needed.
    rolldownOptions: { output: { codeSplitting: false } },
  },
});
