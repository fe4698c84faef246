import js from "@eslint/js";
import globals from "globals";
import tseslint from "typescript-eslint";

export default tseslint.config(
  { ignores: ["dist/", "src/generated/", "node_modules/"] },
  js.configs.recommended,
  {
    files: ["**/*.ts"],
    extends: [tseslint.configs.strictTypeChecked, tseslint.configs.stylisticTypeChecked],
    languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname } },
    rules: {
      // Numbers in template strings are the rule here, not a mistake: most of them are coordinates.
      "@typescript-eslint/restrict-template-expressions": ["error", { allowNumber: true }],
      // Indexing with a checked bound is common in column code; `!` states it, and noUncheckedIndexedAccess makes it visible.
      "@typescript-eslint/no-non-null-assertion": "off",
      // Event listeners that return nothing are written as one expression.
      "@typescript-eslint/no-confusing-void-expression": ["error", { ignoreArrowShorthand: true }],
    },
  },
  {
    files: ["test/**/*.ts"],
    // Mocks are handed to `expect` without being called, the widgets under test are closures, and a stand-in for something
    // asynchronous has nothing to wait for.
    rules: { "@typescript-eslint/unbound-method": "off", "@typescript-eslint/require-await": "off" },
  },
  { files: ["**/*.mjs", "**/*.js"], languageOptions: { globals: { ...globals.node, ...globals.browser } } },
  // Playwright reads which fixtures one needs from its pattern, also where it needs none.
  {
    files: ["test/browser/fixtures.mjs"],
    rules: { "no-empty-pattern": ["error", { allowObjectPatternsAsParameters: true }] },
  },
);
