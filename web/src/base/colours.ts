/**
 * The colours and what they mean, the same on every page and in every notebook.
 *
 * The set is Okabe and Ito's, which stays apart under the common colour-vision deficiencies; the dark theme uses lighter
 * versions of the same hues. No meaning rests on colour alone: each has a pattern as well, or a label or shape beside it.
 * Views refer to a meaning by `fill("memory")` or `stroke("memory")`; the theme decides the shade.
 */

export type Meaning =
  | "memory"
  | "prefetched"
  | "flash"
  | "disk"
  | "waiting"
  | "overhead"
  | "seek"
  | "rotation"
  | "transfer"
  | "network"
  | "distance"
  | "delayed"
  | "stopped"
  | "lookup"
  | "processor"
  | "dispatch"
  | "broken"
  | "fixed";

type Pattern = "solid" | "hatched" | "dotted" | "crossed" | "outlined" | "barred";

interface Colour {
  readonly label: string;
  readonly light: string;
  readonly dark: string;
  /** Shade for text on the page's background: at least 4.5 : 1. */
  readonly lightText: string;
  readonly darkText: string;
  readonly pattern: Pattern;
}

export const colours: Readonly<Record<Meaning, Colour>> = {
  memory: colour("from memory", "#0072b2", "#3f9fdc", "#00659e", "#6db8e8", "solid"),
  prefetched: colour("prefetched", "#56b4e9", "#8fd0f5", "#1f6d9c", "#9bd5f7", "outlined"),
  flash: colour("from flash", "#009e73", "#2fc498", "#00714f", "#4fd3ac", "solid"),
  disk: colour("from disk", "#d55e00", "#f28a3c", "#ad4b00", "#f59a56", "solid"),
  waiting: colour("waiting", "#8b8f94", "#8d949c", "#5c6166", "#a9b0b8", "hatched"),
  overhead: colour("overhead", "#c9ccd0", "#555b62", "#5c6166", "#a9b0b8", "solid"),
  seek: colour("seek", "#f7b38a", "#ffd9bd", "#9a4a1a", "#ffd0ae", "solid"),
  rotation: colour("rotation", "#e69f00", "#f3bd4e", "#7d5600", "#f3bd4e", "dotted"),
  transfer: colour("transfer", "#7a3300", "#b4672b", "#7a3300", "#e0935a", "solid"),
  network: colour("on the network", "#6a4c9c", "#a68ad6", "#5c4189", "#bda5e3", "solid"),
  distance: colour("round trip", "#9a86b8", "#8672a8", "#6a5590", "#bba9d6", "outlined"),
  delayed: colour("delayed on purpose", "#e8d92c", "#f0e442", "#6b6300", "#f0e442", "crossed"),
  stopped: colour("stopped at the limit", "#7d6a00", "#b09a1c", "#6b5a00", "#d6c34a", "barred"),
  lookup: colour("looking up a location", "#5b4ba5", "#a394ea", "#4c3d94", "#b3a7f0", "barred"),
  processor: colour("processor", "#6a51a3", "#9e8cd8", "#5a4392", "#b5a6e6", "solid"),
  dispatch: colour("dispatch", "#a08bd0", "#c8bcf0", "#6a51a3", "#cdc2f2", "dotted"),
  broken: colour("broken", "#b3578a", "#d98bb8", "#96406f", "#e0a0c6", "solid"),
  fixed: colour("fixed", "#22272d", "#e9ebee", "#22272d", "#e9ebee", "solid"),
};

function colour(
  label: string,
  light: string,
  dark: string,
  lightText: string,
  darkText: string,
  pattern: Pattern,
): Colour {
  return { label, light, dark, lightText, darkText, pattern };
}

/** The phases of a request's life, in the order in which they are drawn, and what each means. */
export const phases = [
  { name: "memory", label: "memory", meaning: "memory" },
  { name: "scheduler", label: "scheduler", meaning: "waiting" },
  { name: "in_flight", label: "prefetch in flight", meaning: "prefetched" },
  { name: "cpu_wait", label: "waiting for a thread or core", meaning: "waiting" },
  { name: "dispatch", label: "dispatch", meaning: "dispatch" },
  { name: "lock", label: "waiting for a lock", meaning: "stopped" },
  { name: "cpu", label: "processor", meaning: "processor" },
  { name: "replicate", label: "to other nodes", meaning: "transfer" },
  { name: "queue", label: "queue", meaning: "waiting" },
  { name: "overhead", label: "overhead", meaning: "overhead" },
  { name: "seek", label: "seek", meaning: "seek" },
  { name: "rotation", label: "rotation", meaning: "rotation" },
  { name: "transfer", label: "transfer", meaning: "transfer" },
  { name: "flash_read", label: "flash read", meaning: "flash" },
  { name: "flash_program", label: "flash program", meaning: "flash" },
  { name: "gc", label: "garbage collection", meaning: "waiting" },
  { name: "write_log", label: "write log", meaning: "flash" },
  { name: "throttle_delay", label: "delayed on purpose", meaning: "delayed" },
  { name: "throttle_wait", label: "stopped at the limit", meaning: "stopped" },
  { name: "lookup", label: "looking up a location", meaning: "lookup" },
  { name: "remote", label: "between nodes", meaning: "transfer" },
  { name: "link_wait", label: "waiting for a link", meaning: "waiting" },
  { name: "network_queue", label: "network queue", meaning: "waiting" },
  { name: "network_transfer", label: "network", meaning: "network" },
  { name: "round_trip", label: "round trip", meaning: "distance" },
  { name: "window_wait", label: "window full", meaning: "stopped" },
  { name: "blanked", label: "interrupt held back", meaning: "delayed" },
  { name: "cross_call", label: "cross-calls to all cores", meaning: "stopped" },
  { name: "paused", label: "device paused", meaning: "stopped" },
  { name: "credit_wait", label: "waiting for I/O credits", meaning: "delayed" },
  { name: "hedge_wait", label: "before the second replica", meaning: "waiting" },
  { name: "served", label: "served", meaning: "processor" },
  { name: "retry", label: "revolutions lost off track", meaning: "stopped" },
  { name: "log_wait", label: "waiting for a log", meaning: "waiting" },
  { name: "journal", label: "waiting for a commit", meaning: "stopped" },
  { name: "clean_wait", label: "waiting for zone cleaning", meaning: "stopped" },
  { name: "timer_wait", label: "retransmission timeout", meaning: "stopped" },
] as const satisfies readonly { name: string; label: string; meaning: Meaning }[];

/** The paint for an area: a pattern where the meaning has one. */
export function fill(meaning: Meaning): string {
  const { pattern } = colours[meaning];
  return pattern === "solid" ? `var(--${meaning})` : `url(#seeklab-${meaning})`;
}

/** The paint for a line. */
export function stroke(meaning: Meaning): string {
  return `var(--${meaning})`;
}

/** The paint for words on the page's background. */
export function ink(meaning: Meaning): string {
  return `var(--${meaning}-text)`;
}

/** The custom properties of both themes, as a style sheet. `.seeklab` is the root of a page or of a widget. */
export function colourSheet(): string {
  const properties = (theme: "light" | "dark") =>
    Object.entries(colours)
      .map(([name, c]) =>
        theme === "light"
          ? `--${name}:${c.light};--${name}-text:${c.lightText};`
          : `--${name}:${c.dark};--${name}-text:${c.darkText};`,
      )
      .join("");
  return [
    `.seeklab{${properties("light")}}`,
    `@media (prefers-color-scheme:dark){.seeklab:not([data-theme=light]){${properties("dark")}}}`,
    `.seeklab[data-theme=dark]{${properties("dark")}}`,
  ].join("\n");
}

/** The patterns that {@link fill} refers to: one hidden drawing for each root. */
export function patterns(): SVGSVGElement {
  const holder = document.createElement("div");
  const defs = (Object.keys(colours) as Meaning[])
    .filter((meaning) => colours[meaning].pattern !== "solid")
    .map((meaning) => pattern(meaning, colours[meaning].pattern))
    .join("");
  holder.innerHTML = `<svg class="seeklab-patterns" width="0" height="0" aria-hidden="true" focusable="false"><defs>${defs}</defs></svg>`;
  return holder.firstElementChild as SVGSVGElement;
}

function pattern(meaning: Meaning, kind: Pattern): string {
  const paint = `var(--${meaning})`;
  const tile = (marks: string, size: number, turn = "") =>
    `<pattern id="seeklab-${meaning}" width="${size}" height="${size}" patternUnits="userSpaceOnUse"${turn}>` +
    `<rect width="${size}" height="${size}" fill="${paint}" fill-opacity="${kind === "dotted" ? 1 : kind === "outlined" ? 0.32 : 0.22}"/>${marks}</pattern>`;
  switch (kind) {
    case "hatched":
      return tile(`<rect width="1.6" height="5" fill="${paint}"/>`, 5, ` patternTransform="rotate(45)"`);
    case "outlined":
      return tile("", 5);
    case "dotted":
      return tile(`<circle cx="2" cy="2" r="0.9" fill="var(--paper)"/>`, 4);
    case "crossed":
      return tile(`<path d="M0 0L5 5M5 0L0 5" stroke="${paint}" stroke-width="1.4"/>`, 5);
    case "barred":
      return tile(`<rect width="4" height="2" fill="${paint}"/>`, 4);
    case "solid":
      return "";
  }
}
