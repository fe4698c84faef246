/** Bring your outage: pasted output of tools, read by the code of `seeklab diagnose`. */
import "../../style/page.css";
import "../../style/fileDrop.css";
import { fileDropPage } from "./fileDropPage.ts";
import { type Diagnosis, diagnosisView, kinds } from "./diagnosisView.ts";
import { glanceAt } from "./glance.ts";
import { bytesOf } from "./givenFiles.ts";
import { takeNote } from "../shared/note.ts";
import { buildPage, preparePage } from "../shared/pageSetup.ts";

const mebibyte = 2 ** 20;

const page = preparePage();
void buildPage(page, () =>
  fileDropPage<Diagnosis>({
    page,
    handler: "seeklab.diagnosis.handler",
    what: "Drop text files here, or choose them: output of iostat, zpool, fio, dmesg, vmstat, dd, application logs and others, in any mixture, and archives of them. They stay in this browser; nothing is sent.",
    folders: false,
    // As much as a page has memory for; a report is rarely a hundredth of it. The JSON handler limits the size after unpacking.
    limits: { files: 100, bytes: 20 * mebibyte, allBytes: 64 * mebibyte },
    action: "Diagnose",
    working: "Reading",
    pasted: "Or paste the whole screen",
    glance: glanceAt,
    brought: takeNote("pasted-report"),
    samples: [
      { name: "writes", title: "Slow synchronous writes" },
      { name: "array", title: "A slow array" },
      { name: "copy", title: "A copy that stutters" },
      { name: "plain", title: "A busy but healthy drive" },
    ],
    show: (found, python, given) =>
      diagnosisView(found, async () => {
        const files = await bytesOf(given);
        return (await python.ask<{ text: string }>({ redact: given.map(({ path }) => path) }, { files })).text;
      }),
    taken: kinds,
  }),
);
