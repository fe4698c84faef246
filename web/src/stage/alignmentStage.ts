/** The alignment ruler as a stage, with a field for the start of a reader's own partition. */
import type { Alignment } from "../engine/types.ts";
import { html } from "../base/elements.ts";
import { counted, formatBytes, groupThousands } from "../base/format.ts";
import { alignmentChart } from "../charts/alignment.ts";
import { chartStage } from "./chartStage.ts";
import type { Stage, StageOptions } from "./stage.ts";

const taken = "Bytes, or sectors as parted and fdisk print them: 1536, 1MiB, 63s.";

export function alignmentStage(options: StageOptions): Stage {
  const inner = chartStage(alignmentChart, options);
  const { ask } = options;
  if (ask === undefined) return inner;
  const input = html("input", { type: "text", placeholder: "63s", autocomplete: "off", spellcheck: "false" });
  const output = html("output", { "aria-live": "polite" }, taken);
  const form = html("form", { class: "start-check" }, html("label", {}, "Start of your partition ", input), output);
  let asked = 0;
  const answer = () => {
    const ticket = ++asked;
    const tell = (text: string) => {
      if (ticket === asked) output.textContent = text;
    };
    if (input.value.trim() === "") {
      tell(taken);
      return;
    }
    ask("alignment", { start: input.value }).then(
      (found) => tell(words(found)),
      (error: unknown) => tell(error instanceof Error ? error.message : String(error)),
    );
  };
  input.addEventListener("input", answer);
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    answer();
  });
  inner.foot.prepend(form);
  return inner;
}

function words(found: Alignment): string {
  const block = formatBytes(found.block);
  if (found.aligned) return `Byte ${groupThousands(found.start)} is aligned: a whole number of blocks of ${block}.`;
  return (
    `Byte ${groupThousands(found.start)} is not aligned: ${groupThousands(found.into_block)} bytes into a block of ${block}. ` +
    `A write of 1 MiB needs ${counted(found.extra_reads, "read")}. The nearest aligned starts are ${groupThousands(found.before)} and ${groupThousands(found.after)}.`
  );
}
