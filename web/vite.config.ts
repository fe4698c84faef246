import { defineConfig } from "vite";
import { siteAlias, withoutDefaultModule } from "./vite/engine.ts";
import { casePages, policy, preloadEngine, pythonRuntime, serviceWorker, webRoot } from "./vite/site.ts";

export default defineConfig({
  root: webRoot,
  // The site may live in any folder of any server.
  base: "./",
  resolve: { alias: siteAlias },
  plugins: [withoutDefaultModule(), policy(), preloadEngine(), casePages(), pythonRuntime(), serviceWorker()],
  worker: { format: "es", plugins: () => [withoutDefaultModule()] },
  server: { fs: { allow: [".."] } },
  build: {
    target: "es2024",
    rolldownOptions: { input: ["index.html", "case.html"] },
  },
});
