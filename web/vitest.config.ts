import { defineConfig } from "vitest/config";
import { siteAlias } from "./vite/engine.ts";

export default defineConfig({
  // The glossary of the course is a text of its own, outside this folder.
  server: { fs: { allow: [".."] } },
  resolve: { alias: siteAlias },
  test: { environment: "jsdom", include: ["test/**/*.test.ts"], setupFiles: ["test/setup.ts"] },
});
