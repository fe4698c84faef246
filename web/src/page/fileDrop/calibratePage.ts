/** Your own machine: fio's reports become a model of the device, by the code of `seeklab calibrate --from`. */
import "../../style/page.css";
import "../../style/fileDrop.css";
import { html } from "../../base/elements.ts";
import type { Changes } from "../../engine/types.ts";
import { fileDropPage } from "./fileDropPage.ts";
import { type Calibration, calibrationView } from "./calibrationView.ts";
import { buildPage, preparePage } from "../shared/pageSetup.ts";
import { incidents } from "../shared/incidents.ts";

const mebibyte = 2 ** 20;
const commands = "seeklab calibrate --in . --dry-run\nseeklab calibrate --in . --keep results --yes\n";

const page = preparePage();
void buildPage(page, () => {
  const family = html("select", { id: "family" });
  family.append(
    html("option", { value: "" }, "the best fit"),
    html("option", { value: "lun" }, "a logical unit"),
    html("option", { value: "ssd" }, "a solid-state drive"),
    html("option", { value: "hdd" }, "a hard disk"),
  );
  const capacity = html("input", { id: "capacity", placeholder: "960GB", size: 8, maxlength: 20 });
  const acceptNoise = html("input", { type: "checkbox", id: "accept-noise" });
  const choices = html(
    "div",
    { class: "bring-choices", role: "group", "aria-label": "How it is fitted" },
    html("label", { for: "family" }, "Fit ", family),
    html("label", { for: "capacity" }, "Capacity, if known ", capacity),
    html("label", { for: "accept-noise" }, acceptNoise, " Accept a noisy recording"),
  );
  fileDropPage<Calibration>({
    page,
    handler: "seeklab.calibration.handler",
    what: "Drop the folder of fio’s JSON reports here, or choose it. The files stay in this browser: nothing is sent.",
    folders: true,
    limits: { files: 1000, bytes: 32 * mebibyte, allBytes: 128 * mebibyte },
    action: "Fit a device to",
    working: "Fitting and judging",
    samples: [
      { name: "ssd", title: "A solid-state drive" },
      { name: "disk", title: "A hard disk" },
      { name: "unit", title: "A logical unit" },
    ],
    choices,
    asked: () => ({
      ...(family.value === "" ? {} : { family: family.value }),
      ...(capacity.value.trim() === "" ? {} : { capacity: capacity.value.trim() }),
      accept_noise: acceptNoise.checked,
    }),
    show: (found, python) =>
      calibrationView(found, {
        changesFor: async (id) => (await python.ask<{ set: Changes }>({ on: id })).set,
        incidents,
        onProblem: (error) => page.message.fail(error),
      }),
  });
  page.root.append(recording());
});

/** How reports are made that the fit can use. */
function recording(): HTMLElement {
  return html(
    "section",
    { "aria-labelledby": "recording-title" },
    html("h2", { id: "recording-title" }, "How to record"),
    html(
      "p",
      { class: "prose" },
      "Run these commands on the machine itself, with the Python package and fio 3.18 or later. Recording takes about four minutes. It writes one scratch file of at most a gibibyte, and removes it.",
    ),
    html("pre", { class: "printed", tabindex: 0, role: "region", "aria-label": "Commands" }, commands),
    html(
      "p",
      { class: "prose" },
      "The first prints the planned jobs. The second runs them, fits a model, and keeps fio’s reports in ",
      html("code", {}, "results/"),
      " for this page. You can also use your own reports if they contain ",
      html("code", {}, "--output-format=json+"),
      ". They need random reads of 4, 16 and 64 KiB at depth 1 and of 4 KiB at several depths. One more run, such as 4 KiB at depth 24, stays out of the fit. Latencies come from ",
      html("code", {}, "lat_ns"),
      "; each job’s options are read from the report.",
    ),
  );
}
