/** A volume's account of I/O credits over a run: the table that the engine keeps, and what the scenario says of the account. */
import { column, type Result } from "../../engine/api.ts";
import type { Focus } from "../chart.ts";

export interface CreditInterval {
  readonly from_s: number;
  readonly to_s: number;
  /** I/Os a second that began. */
  readonly rate: number;
  /** In flight and not yet served, by Little's law. */
  readonly waiting: number;
  /** Credits at its end. */
  readonly credits: number;
}

export interface CreditAccount {
  readonly intervals: readonly CreditInterval[];
  /** Credits earned in a second. */
  readonly base: number;
  /** Most I/Os a second while there are credits. */
  readonly burst: number;
  readonly capacity: number;
  readonly initial: number;
  /** Credits for an I/O of the job that is looked at. */
  readonly cost: number;
  readonly topUp?: { readonly first_s: number; readonly every_s: number; readonly amount: number };
}

/** The account of the first volume that has one. */
export function creditsOf(result: Result, { job, op }: Focus): CreditAccount | undefined {
  const devices = column(result, "credits.device");
  const lun = result.scenario.devices.find((device) => device.lun?.credits != null)?.lun;
  const credits = lun?.credits;
  if (devices.length === 0 || lun == null || credits == null) return undefined;
  const rows = [...devices.keys()].filter((row) => devices[row] === devices[0]);
  const [begins, ios, ends] = ["time_ns", "ios", "credits"].map((name) => column(result, `credits.${name}`));
  const means = column(result, `series.${op}_latency_mean_ms`);
  const step_s = rows.length > 1 ? (begins![rows[1]!]! - begins![rows[0]!]!) / 1e9 : result.summary.simulated_ns / 1e9;
  const latency_s = Number(lun.latency ?? 0) / 1e9;
  const { base, burst = base, capacity = 0, initial, unit = 1, top_up } = credits;
  const bytes = Number(result.scenario.jobs.find(({ name }) => name === job)?.bs ?? 0);
  return {
    intervals: rows.map((row, nth) => {
      const rate = ios![row]! / step_s;
      const wait_s = Math.max(0, (means[nth] ?? 0) / 1e3 - latency_s);
      return {
        from_s: nth * step_s,
        to_s: (nth + 1) * step_s,
        rate,
        waiting: Math.round(rate * wait_s),
        credits: ends![row]!,
      };
    }),
    base,
    burst,
    capacity,
    initial: initial ?? capacity,
    cost: Math.max(1, Math.ceil(bytes / Number(unit))),
    ...(top_up == null
      ? {}
      : {
          topUp: {
            first_s: Number(top_up.first) / 1e9,
            every_s: Number(top_up.every) / 1e9,
            amount: top_up.amount,
          },
        }),
  };
}
