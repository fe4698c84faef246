/** Write amplification against its closed form, simulated when the reader gets there. */
import type { EngineClient } from "../../engine/client.ts";
import type { Scenario } from "../../generated/scenario.ts";
import { amplification, type AmplificationPoint } from "../../charts/amplification.ts";
import { formatNumber } from "../../base/format.ts";
import { loadPlot } from "../../charts/plot.ts";
import { resultTable } from "../../charts/resultTable.ts";
import { html } from "../../base/elements.ts";
import { whenSeen } from "../shared/pageSetup.ts";
import type { MessageBox } from "../shared/messages.ts";

const simulatedAt = [7, 10, 14, 20, 28];
const drawnAt = Array.from({ length: 25 }, (_, nth) => 6 + nth);
const megabytes = 64;
const passes = 4;
/** Maximum difference that the test allows. */
const allowedPercent = 5;

/** A small drive, full and long in use, whose pages are written again at random. */
function scenario(overprovision: number): Scenario {
  return {
    jobs: [
      {
        name: "writer",
        rw: "randwrite",
        bs: 4096,
        size: megabytes << 20,
        io_size: (passes * megabytes) << 20,
        norandommap: true,
      },
    ],
    devices: [
      {
        ssd: {
          capacity: megabytes << 20,
          units: 1,
          page: 4096,
          read: 50_000,
          program: 200_000,
          interface_rate: 500_000_000,
          flash: {
            channels: 1,
            channel_rate: 400_000_000,
            pages_per_block: 256,
            erase: 1_000_000,
            overprovision,
            precondition: "random",
            mapped: megabytes << 20,
          },
        },
      },
    ],
    record: { log: false },
  };
}

export function amplificationSection(engine: EngineClient, message: MessageBox): HTMLElement {
  const figure = html("div", { class: "figure" });
  const told = html("p", { class: "count", "aria-live": "polite" });
  const table = html("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "Write amplification" });
  whenSeen(figure, () => void draw().catch((error: unknown) => message.fail(error)));

  async function curve(at: readonly number[]): Promise<AmplificationPoint[]> {
    const points = await engine.call("curve", { name: "ssd-write-amplification", at });
    return points.map(({ x, y }) => ({ overprovision_percent: x, value: y }));
  }

  async function draw(): Promise<void> {
    const [closedForm, expected] = await Promise.all([curve(drawnAt), curve(simulatedAt), loadPlot()]);
    const simulated: AmplificationPoint[] = [];
    for (const percent of simulatedAt) {
      const { summary } = await engine.run({ scenario: scenario(percent) }, { slot: "amplification" });
      const value = summary.metrics.ssd_write_amplification ?? Number.NaN;
      simulated.push({ overprovision_percent: percent, value });
      figure.replaceChildren(amplification({ width: Math.min(760, figure.clientWidth), closedForm, simulated }));
    }
    const rows = simulated.map((at, nth) => ({ ...at, expected: expected[nth]!.value }));
    const off = (row: (typeof rows)[number]) => 100 * (row.value / row.expected - 1);
    const furthest = Math.max(...rows.map((row) => Math.abs(off(row))));
    told.textContent = `Simulated just now: at most ${formatNumber(furthest)}% from the closed form; the test allows ${allowedPercent}%.`;
    table.replaceChildren(
      resultTable({
        caption: "Pages programmed per page written",
        rows,
        columns: [
          { title: "over-provisioning, %", value: (row) => row.overprovision_percent },
          { title: "closed form", value: (row) => row.expected.toFixed(3) },
          { title: "simulated", value: (row) => row.value.toFixed(3) },
          { title: "off by, %", value: (row) => off(row).toFixed(1).replace("-", "−") },
        ],
      }),
    );
  }

  return html(
    "section",
    { "aria-labelledby": "amplification-title" },
    html("h2", { id: "amplification-title" }, "Write amplification against the closed form"),
    html(
      "p",
      { class: "prose" },
      "A full drive must move valid pages before it can erase a block, so it programs more pages than the host writes. The line is the theory for uniform random writes. The dots are simulated drives, run in this page.",
    ),
    figure,
    told,
    html("details", { class: "table" }, html("summary", {}, "The numbers"), table),
  );
}
