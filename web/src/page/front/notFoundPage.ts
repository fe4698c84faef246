/** The page that is shown where there is none: what the address may have meant, and all that there is. */
import "../../style/page.css";
import { html } from "../../base/elements.ts";
import { catalogue } from "./catalogue.ts";
import { openPage, preparePage } from "../shared/pageSetup.ts";
import { incidents } from "../shared/incidents.ts";
import { nearestNames } from "./didYouMean.ts";

const page = preparePage();
void openPage(page, async () => {
  const all = await incidents();
  const asked = decodeURI(location.pathname)
    .split("/")
    .at(-1)!
    .replace(/\.html$/, "");
  const near = nearestNames(
    asked,
    all.map(({ id }) => id),
  );
  if (near.length > 0) {
    page.root.append(
      html(
        "section",
        { "aria-labelledby": "near-title" },
        html("h2", { id: "near-title" }, "Did you mean"),
        html(
          "ul",
          { class: "near" },
          ...near.map((id) => {
            const { code, title } = all.find((incident) => incident.id === id)!;
            return html("li", {}, html("a", { href: `${id}.html` }, `${code} · ${title}`));
          }),
        ),
      ),
    );
  }
  page.root.append(
    html(
      "section",
      { "aria-labelledby": "all-title" },
      html("h2", { id: "all-title" }, "All incidents"),
      catalogue(all),
    ),
  );
});
