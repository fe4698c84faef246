/** The chart of a server's analytics. */
import { analytics, describeAnalytics, intervalsOf } from "../analytics.ts";
import { formatNumber } from "../../base/format.ts";
import { resultTable } from "../resultTable.ts";
import type { Chart } from "../chart.ts";

export function analyticsCharts(): readonly Chart[] {
  return [
    {
      name: "analytics",
      title: "Analytics",
      hides:
        "Sums over an interval, as a server counts them. Hides what happens before a request's last frame is there and after its reply has left: the network and the client.",
      suits: ({ record }) => record?.analytics === true,
      draw: ({ result }, width) => analytics(result, { width }),
      describe: describeAnalytics,
      table: ({ result }) =>
        resultTable({
          caption: "What the server did in each interval, and what its clients saw",
          rows: intervalsOf(result),
          columns: [
            { title: "from, s", value: (row) => row.from_s.toFixed(2) },
            { title: "served/s", value: (row) => formatNumber(row.server_ios) },
            { title: "MiB/s", value: (row) => formatNumber(row.server_mib_per_s) },
            { title: "mean, ms", value: (row) => formatNumber(row.server_ms) },
            { title: "cores, %", value: (row) => formatNumber(row.cores_percent) },
            { title: "seen/s", value: (row) => formatNumber(row.clients_ios) },
            { title: "MiB/s", value: (row) => formatNumber(row.clients_mib_per_s) },
            { title: "mean, ms", value: (row) => formatNumber(row.clients_ms) },
            { title: "busiest device, %", value: (row) => formatNumber(row.device_percent) },
          ],
        }),
    },
  ];
}
