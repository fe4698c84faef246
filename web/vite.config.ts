import { defineConfig } from "vite";
import { siteAlias, withoutDefaultModule } from "./vite/engine.ts";
import { fontAlias, fonts } from "./vite/fonts.ts";
import { frontDoor } from "./vite/frontDoor.ts";
import { notebookPages } from "./vite/notebookPages.ts";
import { pageTemplate } from "./vite/pageTemplate.ts";
import { slides } from "./vite/slides.ts";
import {
  browserLab,
  casePages,
  libraries,
  licenceFile,
  licences,
  policy,
  preloadFiles,
  pythonRuntime,
  serviceWorker,
  webRoot,
} from "./vite/site.ts";

export default defineConfig({
  root: webRoot,
  // The site may live in any folder of any server.
  base: "./",
  resolve: { alias: [...siteAlias, fontAlias] },
  plugins: [
    withoutDefaultModule(),
    fonts(),
    pageTemplate(),
    libraries(),
    policy(),
    preloadFiles(),
    casePages(),
    notebookPages(),
    slides(),
    pythonRuntime(),
    browserLab(),
    frontDoor(),
    licences(),
    serviceWorker(),
  ],
  worker: { format: "es", plugins: () => [withoutDefaultModule()] },
  server: { fs: { allow: [".."] } },
  build: {
    target: "es2024",
    modulePreload: {
      // The charts are below the first screen: links for all their files would only hold up the page.
      resolveDependencies: (file, files, { hostType }) =>
        hostType === "js" && file.includes("catalogue") ? [] : files,
    },
    license: { fileName: licenceFile },
    rolldownOptions: {
      input: [
        "index.html",
        "case.html",
        "oncall.html",
        "diagnose.html",
        "calibrate.html",
        "validation.html",
        "presets.html",
        "designer.html",
        "404.html",
        "notebook.html",
        "notebooks.html",
        "slides.html",
      ],
    },
  },
});
