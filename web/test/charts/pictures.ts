/**
 * The pictures that are stored: one short function each, named by what it shows. `pictures.test.ts` compares what they draw
 * with `pictures/<name>.svg`.
 *
 * The runs are made up, small, and the same on every machine: a picture changes when its chart does, and for no other reason.
 */
import { alignmentChart } from "../../src/charts/alignment.ts";
import { amplification } from "../../src/charts/amplification.ts";
import { analytics } from "../../src/charts/analytics.ts";
import type { Shown } from "../../src/charts/chart.ts";
import { clientLimits } from "../../src/charts/clientLimits.ts";
import { clusterMap } from "../../src/charts/clusterMap.ts";
import { commitSizes } from "../../src/charts/commitSizes.ts";
import { copyTimeline } from "../../src/charts/copyTimeline.ts";
import { coreLimit } from "../../src/charts/coreLimit.ts";
import { coverage } from "../../src/charts/coverage.ts";
import { curvePoints, delayCurve } from "../../src/charts/delayCurve.ts";
import { demerits } from "../../src/charts/demerits.ts";
import { dirty } from "../../src/charts/dirty.ts";
import { feedRate } from "../../src/charts/feedRate.ts";
import { flameGraph } from "../../src/charts/flameGraph.ts";
import { groupLimit } from "../../src/charts/groupLimit.ts";
import { groupGantt } from "../../src/charts/groups.ts";
import { heatmap } from "../../src/charts/heatmap.ts";
import { histogram } from "../../src/charts/histogram.ts";
import { latency } from "../../src/charts/latency.ts";
import { latencyOverview } from "../../src/charts/latencyOverview.ts";
import { lifetimes } from "../../src/charts/lifetimes.ts";
import { logDevices } from "../../src/charts/logDevices.ts";
import { measuredSimulated } from "../../src/charts/measuredSimulated.ts";
import { monitor } from "../../src/charts/monitor.ts";
import { prefetchStrip } from "../../src/charts/prefetchStrip.ts";
import { reduction } from "../../src/charts/reduction.ts";
import { readsOf } from "../../src/charts/rows/reads.ts";
import { runOverview } from "../../src/charts/runOverview.ts";
import { serviceTimes } from "../../src/charts/serviceTimes.ts";
import { shardLimit } from "../../src/charts/shardLimit.ts";
import { shardMap } from "../../src/charts/shardMap.ts";
import { costCurve } from "../../src/charts/costCurve.ts";
import { warmth } from "../../src/charts/warmth.ts";
import { writeRate } from "../../src/charts/writeRate.ts";
import type { Result } from "../../src/engine/api.ts";
import type { DriveAgreement } from "../../src/engine/types.ts";
import type { ControllerSpec } from "../../src/generated/scenario.ts";
import { analyticsResult } from "../fixtures/analytics.ts";
import { clientResult } from "../fixtures/client.ts";
import { clusterResult } from "../fixtures/cluster.ts";
import { controllerResult } from "../fixtures/controller.ts";
import { twoCopies } from "../fixtures/copies.ts";
import { monitorResult, partitionResult, reductionResult } from "../fixtures/metrics.ts";
import { q1Result } from "../fixtures/q1.ts";
import { coreOptions, unmapping } from "../fixtures/server.ts";
import { warming } from "../fixtures/warmth.ts";
import { limit_bytes, zfsResult } from "../fixtures/zfs.ts";

const mib = 2 ** 20;
const width = 640;
const narrow = 340;
const reads = { job: "odx", op: "read" } as const;
const ofShards = { job: "reads", op: "read" } as const;

const broken = q1Result({ reads: 40 });
const fixed = q1Result({ reads: 40, request_bytes: 8 * mib });

export function alignmentOfAWriteThatBeginsInsideABlock(): Element {
  const shown: Shown = { result: partitionResult(1536), focus: { job: "writer", op: "write" }, request: 0 };
  return alignmentChart.draw(shown, width);
}

export function alignmentOfAWriteThatBeginsWithABlock(): Element {
  const shown: Shown = { result: partitionResult(mib), focus: { job: "writer", op: "write" }, request: 0 };
  return alignmentChart.draw(shown, width);
}

export function amplificationOfThreeDrivesOnTheClosedForm(): Element {
  const at = (overprovision_percent: number, value: number) => ({ overprovision_percent, value });
  const closedForm = Array.from({ length: 25 }, (_, nth) => at(6 + nth, 60 / (6 + nth) + 0.5));
  return amplification({ width, closedForm, simulated: [at(7, 9.2), at(14, 4.7), at(28, 2.7)] });
}

export function analyticsOfAServerWhoseCoresFillUp(): Element {
  return analytics(analyticsResult(), { width });
}

export function clientLimitsOfThreeTests(): Element {
  return clientLimits(clientResult(), width);
}

export function clusterMapAfterAMachineHasMoved(): Element {
  return clusterMap(clusterResult(), { job: "vm", width, time_s: 3.5 }).element;
}

export function clusterMapAfterANodeIsLost(): Element {
  return clusterMap(clusterResult(), { job: "vm", width: narrow, time_s: 7.5 }).element;
}

export function commitSizesOfSmallAndDivertedWrites(): Element | undefined {
  return commitSizes(zfsResult(), { width: narrow });
}

export function copyTimelineOfACopyOverTheNetworkAndOneWithinTheServer(): Element {
  return copyTimeline(twoCopies(), { width });
}

export function coreLimitWhereCallsToOtherCoresAreTheLimit(): Element {
  return coreLimit(unmapping, { ...coreOptions, width: narrow });
}

export function coverageOfReadsThatAreTooLong(): Element {
  return coverage(broken, { job: "odx", width: narrow, chunk_bytes: 8 * mib, per_request: 1 });
}

export function coverageOfReadsThatFit(): Element {
  return coverage(fixed, { job: "odx", width: narrow, chunk_bytes: 8 * mib, per_request: 1 });
}

export function delayCurveAtThreeQuartersOfTheLimit(): Element {
  const at = curvePoints(limit_bytes);
  const [from, scale_ns, most_ns] = [0.6 * limit_bytes, 5e5, 1e8];
  return delayCurve({
    width: narrow,
    most_bytes: limit_bytes,
    delay_ns: at.map((dirty_bytes) => ({
      dirty_bytes,
      value:
        dirty_bytes <= from ? 0 : Math.min(most_ns, (scale_ns * (dirty_bytes - from)) / (limit_bytes - dirty_bytes)),
    })),
    in_flight: at.map((dirty_bytes) => ({ dirty_bytes, value: dirty_bytes < 0.3 * limit_bytes ? 1 : 10 })),
    now_bytes: 0.75 * limit_bytes,
    visited_bytes: [0.2, 0.4, 0.55, 0.7].map((share) => share * limit_bytes),
  });
}

export function demeritsOfTwoDrives(): Element {
  const measured = {
    mean_ms: 4,
    requests: 100,
    reads: 60,
    reads_percent: 2,
    reads_bias_ms: 0.1,
    writes: 40,
    writes_percent: 9,
    writes_bias_ms: -0.2,
  };
  return demerits(
    [
      { id: "a", title: "Drive A", disksim_percent: 2.5, limit_percent: 2.7, measured: { ...measured, percent: 2.4 } },
      { id: "b", title: "Drive B", disksim_percent: 6.9, limit_percent: 2.6, measured: { ...measured, percent: 2.1 } },
    ],
    { width },
  );
}

export function aFittedDeviceOnJobsThatItHasSeenAndOnThoseThatItHasNot(): Element {
  const jobs = [100, 130, 900, 20_000].map((mean_us, at) => ({
    job: `job ${at}`,
    held_out: at % 2 === 1,
    mean_us,
    simulated_mean_us: mean_us * (1 + 0.1 * at),
    p99_us: 2 * mean_us,
    simulated_p99_us: 2 * mean_us,
  }));
  return measuredSimulated(jobs, { width: narrow, quantity: "mean" });
}

export function dirtyDataThatFillsIsDelayedAndStops(): Element {
  return dirty(zfsResult(), { width });
}

export function dirtyDataWithAThrottleThatLearnsItsLimit(): Element {
  return dirty(zfsResult({ era: "zfs-2010" }), { width: narrow });
}

export function feedRateThatFallsAsTheDeviceFills(): Element | undefined {
  return feedRate(warming({}, { zfs_l2_bytes: 3 * 2 ** 30, zfs_l2_share_percent: 75 }), { width: narrow });
}

export function flameGraphOfAPrimaryAndTwoShards(): Element {
  return flameGraph(controllerResult(), { width });
}

export function groupLimitOfThreeSyncs(): Element | undefined {
  return groupLimit(zfsResult(), { width: narrow, target_ns: 5e9 });
}

export function groupsFromOpenToSynced(): Element {
  return groupGantt(zfsResult(), { width });
}

export function heatmapOfReadsThatMiss(): Element {
  return heatmap(broken, { op: "read", width });
}

export function histogramBesideTheRunItIsComparedWith(): Element {
  return histogram(broken, { ...reads, width, reference: { result: fixed, label: "fixed" } });
}

export function histogramOfANarrowWindow(): Element {
  return histogram(broken, { ...reads, width: narrow });
}

export function latencyThatRisesWhenWritesAreStopped(): Element {
  return latency(zfsResult(), { op: "write", width });
}

export function latencyOverviewOfReadsThatMiss(): Element {
  return latencyOverview(broken, { job: "odx", width, height: 34 });
}

export function lifetimesAroundTheTwentiethRead(): Element {
  return lifetimes(broken, { ...reads, width, around: 19 });
}

export function lifetimesOfTheSlowestReads(): Element {
  return lifetimes(broken, { ...reads, width: narrow, pick: "slowest", count: 5 });
}

export function logDevicesOfTwoFileSystems(): Element {
  return logDevices(zfsResult(), { width });
}

export function monitorThatAveragesABurstAway(): Element {
  return monitor(monitorResult(), width);
}

export function prefetchStripOfReadsThatAreTooLong(): Element {
  const last = readsOf(broken, "odx")[4]!;
  return prefetchStrip(broken, { job: "odx", time_ns: last.submit_ns + last.latency_ns, width }).element;
}

export function prefetchStripOfReadsThatFitOnAPhone(): Element {
  const last = readsOf(fixed, "odx")[2]!;
  return prefetchStrip(fixed, { job: "odx", time_ns: last.submit_ns + last.latency_ns, width: narrow }).element;
}

export function reductionByZerosAndCompression(): Element {
  return reduction(reductionResult(), width);
}

export function runOverviewOfDirtyData(): Element {
  return runOverview(zfsResult(), thumbnail({ job: "writers", op: "write" }));
}

export function runOverviewOfRequests(): Element {
  return runOverview(broken, thumbnail(reads));
}

export function runOverviewOfARunWithoutLog(): Element {
  const { columns } = zfsResult();
  const name = "series.write_latency_mean_ms";
  const without: Result = { ...zfsResult(), columns: { [name]: columns[name]! } };
  return runOverview(without, thumbnail({ job: "writers", op: "write" }));
}

function thumbnail(focus: Shown["focus"]) {
  return { ...focus, width: 320, height: 56, latency_max_ns: 5e7 };
}

export function serviceTimesOfADriveThatSeeksTooFast(): Element {
  const measured_us = Array.from({ length: 40 }, (_, nth) => 2000 + 300 * nth);
  const agreement = {
    read: { requests: 40, mean_ms: 7.5, measured_mean_ms: 7.85, rms_ms: 0.4, demerit: 0.05 },
    times: { is_write: measured_us.map(() => false), simulated_us: measured_us.map((us) => us * 0.95), measured_us },
  } as unknown as DriveAgreement;
  return serviceTimes(agreement, { op: "read", width: narrow, longest_ms: 15 });
}

export function shardLimitOfOneDisk(): Element {
  const controller = { cores: 4, range: mib, read: 4e6, dispatch: 1e6 } as unknown as ControllerSpec;
  return shardLimit(controllerResult(), { ...ofShards, width: narrow, controller });
}

export function shardMapThatWentFromThreeShardsToTwo(): Element {
  return shardMap(controllerResult([3, 2]), { ...ofShards, width });
}

export function whatDisksBuyInATest(): Element {
  const points = [11, 22, 44, 88].map((disks) => ({
    part: `${disks}`,
    cost: 300 * disks + 14_000,
    value: 240 * Math.min(disks, 50),
    most: 260 * disks,
    isShown: disks === 44,
  }));
  return costCurve(points, { width: narrow, test: "random reads", unit: "/s", currency: "€" });
}

export function warmthOfADeviceThatFills(): Element {
  return warmth(warming(), { width });
}

export function writeRateOfWritesInBursts(): Element {
  return writeRate(zfsResult(), { width });
}
