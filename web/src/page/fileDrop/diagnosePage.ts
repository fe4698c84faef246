/** Bring your outage: reports of real tools, by the code of `seeklab diagnose`, and which incidents they resemble. */
import "../../style/page.css";
import "../../style/fileDrop.css";
import { fileDropPage } from "./fileDropPage.ts";
import { type Diagnosis, diagnosisView, kinds } from "./diagnosisView.ts";
import { buildPage, preparePage } from "../shared/pageSetup.ts";

const mebibyte = 2 ** 20;

const page = preparePage();
void buildPage(page, () =>
  fileDropPage<Diagnosis>({
    page,
    handler: "seeklab.diagnosis.handler",
    what: "Drop reports of the same period here, or choose them: iostat -x (text or JSON), zpool iostat, fio’s JSON, blkparse, an operation log as CSV; gzipped or not. They stay in this browser; nothing is sent.",
    folders: false,
    // As much as a page has memory for; a report is rarely a hundredth of it. The JSON handler limits the size after unpacking.
    limits: { files: 100, bytes: 32 * mebibyte, allBytes: 64 * mebibyte },
    action: "Diagnose",
    working: "Comparing with the incidents",
    pasted: "Or paste a report",
    samples: [
      { name: "writes", title: "Slow synchronous writes" },
      { name: "array", title: "A slow array" },
      { name: "copy", title: "A copy that stutters" },
      { name: "plain", title: "A busy but healthy drive" },
    ],
    show: diagnosisView,
    taken: kinds,
  }),
);
