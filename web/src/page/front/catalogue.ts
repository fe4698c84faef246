/** The search over the list of incidents, its filters, and what the reader has predicted so far. */
import { html } from "../../base/elements.ts";
import { near } from "../../lab/prediction.ts";
import type { Incident } from "../shared/incidents.ts";
import { incidentList } from "./incidentList.ts";
import { type Progress, progressOf } from "../shared/progressStore.ts";

const labels: Readonly<Record<Progress, string>> = {
  open: "not predicted yet",
  skipped: "question skipped",
  predicted: "predicted",
  solved: "predicted well",
};

export interface Wanted {
  readonly words: string;
  /** A family's name, or nothing for all. */
  readonly family: string;
  readonly progress: Progress | "";
}

/** Return whether an incident contains every searched word, anywhere in its text. */
export function isWanted(incident: Incident, progress: Progress, wanted: Wanted): boolean {
  const { code, title, symptom, family, source, year } = incident;
  const text = `${code} ${title} ${symptom} ${family} ${source} ${year}`.toLowerCase();
  const words = wanted.words.toLowerCase().split(/\s+/).filter(Boolean);
  return (
    (wanted.family === "" || wanted.family === family) &&
    (wanted.progress === "" || wanted.progress === progress) &&
    words.every((word) => text.includes(word))
  );
}

export function catalogue(incidents: readonly Incident[], list = incidentList(incidents)): HTMLElement {
  const known = new Map(incidents.map(({ id }) => [id, progressOf(id)]));
  const search = html("input", {
    type: "search",
    id: "search",
    autocomplete: "off",
    placeholder: "queue, RAID-Z, 2008 …",
  });
  const families = [...new Set(incidents.map(({ family }) => family))];
  const option = (value: string, words: string) => html("option", { value }, words);
  const family = html(
    "select",
    { id: "family" },
    option("", "every family"),
    ...families.map((name) => option(name, name)),
  );
  const progress = html(
    "select",
    { id: "standing" },
    option("", "any"),
    ...Object.entries(labels).map(([value, words]) => option(value, words)),
  );
  const found = html("p", { class: "quiet found", role: "status" });
  const byId = new Map(incidents.map((incident) => [incident.id, incident]));
  const rows = Array.from(list.querySelectorAll<HTMLElement>("[data-incident]"), (element) => {
    const incident = byId.get(element.dataset.incident!)!;
    const standing = known.get(incident.id)!;
    if (standing !== "open") {
      element.firstElementChild!.append(html("p", { class: `standing ${standing}` }, labels[standing]));
    }
    return { element, incident, standing };
  });
  const sections = Array.from(list.querySelectorAll<HTMLElement>(".family"));

  function show(): void {
    const wanted = { words: search.value, family: family.value, progress: progress.value as Progress | "" };
    let many = 0;
    for (const { element, incident, standing } of rows) {
      element.hidden = !isWanted(incident, standing, wanted);
      many += element.hidden ? 0 : 1;
    }
    for (const section of sections) section.hidden = section.querySelector("[data-incident]:not([hidden])") === null;
    found.textContent =
      many === 0
        ? "No incident matches all of these words."
        : many === incidents.length
          ? ""
          : `${many} of ${incidents.length} incidents.`;
  }
  for (const field of [search, family, progress]) field.addEventListener("input", show);
  const labelled = (field: HTMLElement, words: string) =>
    html("div", {}, html("label", { for: field.id }, words), field);
  show();
  const filters = html(
    "form",
    { class: "filters", role: "search" },
    labelled(search, "Search"),
    labelled(family, "Family"),
    labelled(progress, "Your prediction"),
  );
  // There is nowhere to send the form: Enter opens the incident that is left, where one is.
  filters.addEventListener("submit", (event) => {
    event.preventDefault();
    const left = rows.filter(({ element }) => !element.hidden);
    if (left.length === 1) left[0]!.element.querySelector("a")!.click();
  });
  return html("div", { class: "catalogue" }, progressSoFar([...known.values()]), filters, found, list);
}

/** Describe how many incidents have a prediction; nothing before the first. */
function progressSoFar(known: readonly Progress[]): HTMLElement {
  const count = (progress: Progress) => known.filter((each) => each === progress).length;
  const [solved, predicted] = [count("solved"), count("predicted") + count("solved")];
  const words =
    predicted === 0
      ? "Each incident asks for a prediction before it shows the answer. Your predictions are stored on this device only."
      : `You have predicted ${predicted} of ${known.length}, ${solved} of them well: within a factor ${near}.`;
  return html(
    "div",
    { class: "progress-so-far" },
    html("p", {}, words),
    ...(predicted === 0
      ? []
      : [html("progress", { max: known.length, value: predicted, "aria-label": "Incidents predicted" })]),
  );
}
