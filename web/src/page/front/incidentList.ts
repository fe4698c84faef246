/**
 * All incidents as one list by family. The site's build writes it into the front page, so that it is there without JavaScript; the page
 * adds a search to it.
 */
import { keepUnits } from "../../base/format.ts";
import { html } from "../../base/elements.ts";
import { type Incident, pictureFile } from "../shared/incidents.ts";
import { ladderAxis, rung } from "./ladder.ts";

export function incidentList(incidents: readonly Incident[]): HTMLElement {
  const families = [...new Set(incidents.map(({ family }) => family))];
  return html(
    "div",
    { class: "incident-list" },
    html("div", { class: "incident ladder-head" }, html("span"), html("span"), ladderAxis()),
    ...families.map((name) =>
      html(
        "section",
        { class: "family" },
        html("h3", {}, name),
        html("ol", {}, ...incidents.filter(({ family }) => family === name).map(row)),
      ),
    ),
    html(
      "p",
      { class: "quiet legend" },
      "Each line shows the run that the incident's page opens with, from its median to its longest request; the dot is the mean. Each step of the axis is a factor of ten.",
    ),
  );
}

function row(incident: Incident): HTMLElement {
  const { id, code, title, symptom, year, caption } = incident;
  return html(
    "li",
    { class: "incident", "data-incident": id },
    html(
      "div",
      {},
      html("a", { href: `${id}.html` }, `${code} · ${title}`),
      html("p", { class: "quiet" }, `${keepUnits(symptom)} (${year})`),
    ),
    html("img", { src: pictureFile(id), alt: caption, title: caption, width: 160, height: 42, loading: "lazy" }),
    rung(incident),
  );
}
