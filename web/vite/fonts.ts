/**
 * The fonts as pages use them: the weights from regular to semi-bold, Latin-1 and the signs of English text, with all features of
 * their layout (figures of one width among them). What they lose are the lightest and the heaviest weights, which no page has.
 */
import subsetFont from "subset-font";
import type { Plugin } from "vite";

const weights = { min: 400, max: 600, default: 400 } as const;

const between = (first: number, last: number) =>
  String.fromCodePoint(...Array.from({ length: last - first + 1 }, (_, nth) => first + nth));

const signs = `${between(0x20, 0x7e)}${between(0xa0, 0xff)}${between(0x2010, 0x2026)}\u2032\u2033\u20ac\u2122\u2191\u2193\u2212`;

/** What is left of a font for these pages. */
export async function fontForPages(font: Uint8Array): Promise<Uint8Array> {
  return subsetFont(Buffer.from(font), signs, { targetFormat: "woff2", variationAxes: { wght: weights } });
}

export function fonts(): Plugin {
  return {
    name: "seeklab-fonts",
    apply: "build",
    async generateBundle(_, bundle) {
      for (const file of Object.values(bundle)) {
        if (file.type === "asset" && file.fileName.endsWith(".woff2") && typeof file.source !== "string") {
          file.source = await fontForPages(file.source);
        }
      }
    },
  };
}
