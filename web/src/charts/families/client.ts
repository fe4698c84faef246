/** Charts of NFS clients. */
import { clientLimits, clientTable, describeClient } from "../clientLimits.ts";
import { type Chart } from "../chart.ts";

export function clientCharts(): readonly Chart[] {
  return [
    {
      name: "client",
      title: "Limits of a client",
      hides:
        "Shares over the whole of a test; printed is payload, seen is all bytes on the server's link. Hides when something was busy, and what one call waited for.",
      suits: ({ nfs }) => nfs !== undefined,
      draw: ({ result }, width) => clientLimits(result, width),
      describe: describeClient,
      table: ({ result }) => clientTable(result),
    },
  ];
}
