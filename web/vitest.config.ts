import { defineConfig } from "vitest/config";
import { siteAlias } from "./vite/engine.ts";

export default defineConfig({
  resolve: { alias: siteAlias },
  test: { environment: "jsdom", include: ["test/**/*.test.ts"] },
});
