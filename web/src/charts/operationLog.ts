/** The output of a tool, as text that can be scrolled by keyboard and copied. */
import { html } from "../base/elements.ts";

export interface PrintedOptions {
  readonly label: string;
  /** Words to mark, wherever they stand. */
  readonly mark?: readonly string[];
}

export function operationLog(printed: string, options: PrintedOptions): HTMLElement {
  const pre = html("pre", { class: "printed", tabindex: 0, role: "region", "aria-label": options.label });
  const marks = (options.mark ?? []).filter((word) => word !== "");
  if (marks.length === 0) {
    pre.textContent = printed;
    return pre;
  }
  const pattern = new RegExp(`(${marks.map((word) => word.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")).join("|")})`, "g");
  printed.split(pattern).forEach((piece, at) => pre.append(at % 2 === 1 ? html("mark", {}, piece) : piece));
  return pre;
}
