/** All incidents by family, with a search, filters, and what the reader has predicted so far. */
import { keepUnits } from "../../base/format.ts";
import { html } from "../../base/elements.ts";
import { near } from "../../lab/prediction.ts";
import { type Incident, pictureFile } from "../shared/incidents.ts";
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

export function catalogue(incidents: readonly Incident[]): HTMLElement {
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
  const sections = families.map((name) => {
    const cards = incidents
      .filter((incident) => incident.family === name)
      .map((incident) => ({
        incident,
        element: card(incident, known.get(incident.id)!),
      }));
    const element = html(
      "section",
      { class: "family" },
      html("h3", {}, name),
      html("div", { class: "cases" }, ...cards.map((entry) => entry.element)),
    );
    return { element, cards };
  });

  function show(): void {
    const wanted = { words: search.value, family: family.value, progress: progress.value as Progress | "" };
    let many = 0;
    for (const { element, cards } of sections) {
      for (const { incident, element: own } of cards) {
        const isShown = isWanted(incident, known.get(incident.id)!, wanted);
        own.hidden = !isShown;
        many += isShown ? 1 : 0;
      }
      element.hidden = cards.every(({ element: own }) => own.hidden);
    }
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
    const left = sections.flatMap(({ cards }) => cards.filter(({ element }) => !element.hidden));
    if (left.length === 1) left[0]!.element.querySelector("a")!.click();
  });
  return html(
    "div",
    { class: "catalogue" },
    progressSoFar([...known.values()]),
    filters,
    found,
    ...sections.map(({ element }) => element),
  );
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

function card(incident: Incident, progress: Progress): HTMLElement {
  const { id, code, title, symptom, year, caption } = incident;
  return html(
    "article",
    { class: "case-card" },
    html("h4", {}, html("a", { href: `${id}.html` }, `${code} · ${title}`)),
    html("p", { class: "quiet" }, `${keepUnits(symptom)} (${year})`),
    html("img", { src: pictureFile(id), alt: caption, title: caption, width: 320, height: 84, loading: "lazy" }),
    ...(progress === "open" ? [] : [html("p", { class: `standing ${progress}` }, labels[progress])]),
  );
}
