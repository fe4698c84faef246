//! How long the arms of disks worked on requests, in a run in which some disk is shaken: what an observer of each disk would collect.
//!
//! The service time of a request is that between the moment at which the arm begins with it and the moment at which the arm has nothing
//! left to do for it; waiting in a queue is not in it, nor what the buffer answered.

use super::Device;
use super::hdd::shake::Shaker;
use crate::result::columns::Take::{Index, Whole};
use crate::result::columns::{Table, Tables};
use crate::result::metrics::Metrics;
use seeklab_spec::{Scenario, Shout, to_f64};

/// Width of a bin of service times, in ns.
const BIN_NS: u64 = 50_000;
/// Bins; the last one also has what is longer.
const BINS: usize = 4000;
/// Half the width of a peak, in bins.
const PEAK: usize = 20;
/// A peak has at least one in so many of all requests.
const PEAK_SHARE: u64 = 50;

/// The service times of one disk.
#[derive(Clone, Debug)]
pub struct Services {
    /// Start and end of the shouts of the run.
    shouts: Box<[[u64; 2]]>,
    bins: Box<[u32]>,
    requests: u64,
    total_ns: u64,
    /// Bytes that were done before the first shout, and during shouts.
    before_bytes: u64,
    shout_bytes: u64,
}

/// The shouts of a run: those of its first group of disks that has some; `None` when no disk is shaken.
fn shouts_of(scenario: &Scenario) -> Option<&[Shout]> {
    let mut shakes = scenario.devices.iter().filter_map(|group| group.hdd.as_ref()?.shake.as_ref()).peekable();
    shakes.peek()?;
    Some(shakes.map(|shake| shake.shouts.as_slice()).find(|shouts| !shouts.is_empty()).unwrap_or_default())
}

impl Services {
    /// Where a disk of this scenario keeps its service times, if some disk is shaken.
    #[must_use]
    pub fn of(scenario: &Scenario) -> Option<Box<Self>> {
        let shouts = shouts_of(scenario)?.iter().map(|shout| [shout.at.0, shout.at.0.saturating_add(shout.r#for.0)]).collect();
        let bins = vec![0; BINS].into();
        Some(Box::new(Self { shouts, bins, requests: 0, total_ns: 0, before_bytes: 0, shout_bytes: 0 }))
    }

    /// The arm worked on a request from one moment to another.
    pub fn count(&mut self, from_ns: u64, to_ns: u64, bytes: u64) {
        let service_ns = to_ns - from_ns;
        let bin = usize::try_from(service_ns / BIN_NS).map_or(BINS - 1, |bin| bin.min(BINS - 1));
        self.bins[bin] += 1;
        self.requests += 1;
        self.total_ns += service_ns;
        if self.shouts.first().is_some_and(|[from, _]| to_ns <= *from) {
            self.before_bytes += bytes;
        } else if self.shouts.iter().any(|[from, to]| *from < to_ns && to_ns <= *to) {
            self.shout_bytes += bytes;
        }
    }

    /// Time of the shouts so far, and before the first.
    fn times_ns(&self, now_ns: u64) -> [u64; 2] {
        let shouted = self.shouts.iter().map(|[from, to]| now_ns.min(*to).saturating_sub(*from)).sum();
        [shouted, self.shouts.first().map_or(now_ns, |[from, _]| now_ns.min(*from))]
    }
}

/// Distance between neighbouring peaks of service times, in ns, averaged over all that follow each other; 0 with fewer than two. A peak is
/// where most are within a millisecond to both sides, and lies at their mean.
fn peak_spacing_ns(bins: &[u64]) -> f64 {
    let all: u64 = bins.iter().sum();
    let last = bins.len().saturating_sub(1); // what is too long has no place
    let peaks: Vec<f64> = (0..last)
        .filter_map(|bin| {
            let around = bin.saturating_sub(PEAK)..(bin + PEAK + 1).min(last);
            let most = around.clone().max_by_key(|near| (bins[*near], std::cmp::Reverse(*near)))?;
            let count: u64 = bins[around.clone()].iter().sum();
            (most == bin && count * PEAK_SHARE >= all && count > 0).then(|| {
                let sum: f64 = around.map(|near| (to_f64(near as u64) + 0.5) * to_f64(bins[near])).sum();
                sum / to_f64(count)
            })
        })
        .collect();
    match peaks[..] {
        [first, .., last] => (last - first) / to_f64(peaks.len() as u64 - 1) * to_f64(BIN_NS),
        _ => 0.0,
    }
}

/// The devices that keep service times, with what shakes them.
fn kept<'a>(devices: impl Iterator<Item = &'a Device>) -> impl Iterator<Item = (&'a Services, Option<&'a Shaker>)> {
    devices.filter_map(|device| match device {
        Device::Disk(disk) => Some((disk.services.as_deref()?, disk.shaker())),
        Device::Ssd(_) | Device::Lun(_) => None,
    })
}

/// Reports what vibration did to the disks.
pub fn metrics<'a>(devices: impl Iterator<Item = &'a Device> + Clone, metrics: &mut Metrics) {
    let disks: Vec<_> = kept(devices).collect();
    let Some((first, _)) = disks.first() else { return };
    let shakers = || disks.iter().filter_map(|(_, shaker)| *shaker);
    metrics.count(
        "off_track_retries",
        "Disk attempts that failed because the head was off its track.",
        shakers().map(|by| by.retries).sum(),
    );
    metrics.count(
        "retries_exhausted",
        "Attempts that succeeded only because the disk had reached its maximum of retries.",
        shakers().map(|by| by.exhausted).sum(),
    );
    for (name, help, is_shaken) in [
        ("shaken_service_mean_ms", "Mean service time of a request on a shaken disk.", true),
        ("quiet_service_mean_ms", "Mean service time of a request on a disk without vibration.", false),
    ] {
        let of = || disks.iter().filter(|(_, shaker)| shaker.is_some() == is_shaken).map(|(services, _)| services);
        let requests: u64 = of().map(|services| services.requests).sum();
        if of().next().is_some() {
            let total_ns: u64 = of().map(|services| services.total_ns).sum();
            metrics.milliseconds(name, help, to_f64(total_ns) / to_f64(requests.max(1)));
        }
    }
    let mut bins = vec![0; BINS];
    for (services, _) in disks.iter().filter(|(_, shaker)| shaker.is_some()) {
        bins.iter_mut().zip(&services.bins).for_each(|(sum, count)| *sum += u64::from(*count));
    }
    metrics.milliseconds(
        "service_peak_spacing_ms",
        "Distance between neighbouring peaks in the service times of the shaken disks; 0 with fewer than two peaks.",
        peak_spacing_ns(&bins),
    );
    let [shouted_ns, before_ns] = first.times_ns(metrics.run.now_ns);
    if !first.shouts.is_empty() {
        let rate = |bytes: u64, ns: u64| to_f64(bytes) / to_f64(ns.max(1));
        let during = rate(disks.iter().map(|(services, _)| services.shout_bytes).sum(), shouted_ns);
        let before = rate(disks.iter().map(|(services, _)| services.before_bytes).sum(), before_ns);
        let percent = if before > 0.0 { 100.0 * during / before } else { 0.0 };
        metrics.percent(
            "shout_rate_percent",
            "Disk throughput during shouts, as a share of the throughput before the first shout.",
            percent,
        );
    }
}

/// A row for each service time that a disk has had, rounded down to the bin.
const SERVICES: Table<(u32, u64, u64)> =
    Table::new("services", &[("device", Index(|row| row.0)), ("service_ns", Whole(|row| row.1)), ("requests", Whole(|row| row.2))]);

/// Reports the service times of all disks, where one is shaken.
pub fn tables<'a>(devices: impl Iterator<Item = &'a Device>, tables: &mut Tables) {
    let of = |device: &'a Device| match device {
        Device::Disk(disk) => disk.services.as_deref(),
        Device::Ssd(_) | Device::Lun(_) => None,
    };
    let disks = (0..).zip(devices).filter_map(move |(index, device)| Some((index, of(device)?)));
    let rows = disks.flat_map(|(index, services): (u32, &Services)| {
        let counts = (0..).zip(&services.bins).filter(|(_, count)| **count > 0);
        counts.map(move |(bin, count): (u64, &u32)| (index, bin * BIN_NS, u64::from(*count)))
    });
    tables.table(&SERVICES, rows);
}

#[cfg(test)]
mod tests {
    use crate::kernel::Phase;
    use crate::result::columns::Column;
    use crate::testing::{metric, run};
    use serde_json::{Value, json};

    /// A stream of writes to a disk of 7200 rpm with 80 MB/s, four at a time; 667 kB fit on a track.
    fn stream(piece: &str, sheet: &Value) -> crate::stack::Stack {
        let mut hdd = json!({
            "rpm": 7200, "capacity": "1TB", "heads": 4, "zones": 1, "outer_rate": "80MB", "inner_rate": "80MB",
            "seek_single": "800us", "seek_average": "8500us", "seek_full": "18ms", "head_switch": "800us", "overhead": "100us",
            "interface_rate": "300MB", "buffer": "32MiB"
        });
        hdd.as_object_mut().expect("a table").extend(sheet.as_object().cloned().unwrap_or_default());
        run(&json!({
            "devices": [{"name": "disk", "hdd": hdd}],
            "jobs": [{"name": "w", "rw": "write", "bs": piece, "size": "100GB", "iodepth": 4, "runtime": "60s"}]
        }))
    }

    #[test]
    fn a_stream_keeps_the_share_of_its_time_that_is_not_spent_on_retries() {
        let quiet = metric(&stream("128KiB", &json!({})), "rate_mib_per_s");
        // t0 / (t0 + T q (1 - q^100) / (1 - q)) with t0 = 128 KiB at 80 MB/s.
        for (off_track, share, tolerance) in [(0.5, 16.4, 0.02), (0.9, 2.14, 0.05), (0.95, 1.03, 0.1), (0.98, 0.46, 0.15)] {
            let stack = stream("128KiB", &json!({"shake": {"off_track": off_track}}));
            let found = 100.0 * metric(&stack, "rate_mib_per_s") / quiet;
            assert!((found / share - 1.0).abs() < tolerance, "{off_track}: {found} %, not {share}");
        }
    }

    #[test]
    fn a_transfer_longer_than_a_track_is_a_new_attempt_for_each_track() {
        let share = |piece: &str| {
            let rates = [0.0, 0.5].map(|q| metric(&stream(piece, &json!({"shake": {"off_track": q}})), "rate_mib_per_s"));
            rates[1] / rates[0]
        };
        // A track holds 738 kB: 8.333 ms of data, and what 0.9 ms of switching would move.
        for (piece, bytes) in [("1MiB", 1_048_576.0), ("1536KiB", 1_572_864.0), ("2MiB", 2_097_152.0)] {
            let (own_ms, attempts) = (bytes / 80e3, bytes / 738e3);
            let expected = own_ms / (own_ms + 8.333 * attempts);
            assert!((share(piece) / expected - 1.0).abs() < 0.04, "{piece}: {}, not {expected}", share(piece));
        }
    }

    #[test]
    fn phases_add_up_and_a_retry_is_whole_revolutions() {
        for rw in ["write", "randwrite", "read", "randread"] {
            let stack = run(&json!({
                "devices": [{"name": "disk", "hdd": {
                    "rpm": 7200, "capacity": "1TB", "heads": 4, "zones": 1, "outer_rate": "80MB", "inner_rate": "80MB",
                    "seek_single": "800us", "seek_average": "8500us", "seek_full": "18ms", "head_switch": "800us", "overhead": "100us",
                    "interface_rate": "300MB", "buffer": "32MiB", "shake": {"off_track": 0.5}
                }}],
                "jobs": [{"name": "w", "rw": rw, "bs": "64KiB", "size": "10GB", "iodepth": 4, "number_ios": 2000}]
            }));
            let column = |name: &str| match stack.column(&format!("ops.{name}_ns")) {
                Some(Column::F64(values)) => values,
                other => panic!("{name}: {other:?}"),
            };
            let phases = Phase::ALL.map(|phase| column(phase.name()));
            let mut retried = 0;
            for (row, latency) in column("latency").into_iter().enumerate() {
                assert!((phases.iter().map(|phase| phase[row]).sum::<f64>() - latency).abs() < 0.5, "{rw}");
                let turns = phases[Phase::Retry as usize][row] * 7200.0 / 60e9;
                assert!((turns - turns.round()).abs() < 1e-5, "{rw}: {turns}");
                retried += u32::from(turns > 0.5);
            }
            assert!(retried > if rw == "read" { 0 } else { 800 }, "{rw}: {retried}");
        }
    }

    #[test]
    fn peaks_of_service_times_lie_a_revolution_apart() {
        for (rpm, turn_ms) in [(7200, 8.333), (10_000, 6.0), (15_000, 4.0)] {
            let stack = stream("128KiB", &json!({"rpm": rpm, "head_switch": "500us", "shake": {"off_track": 0.5}}));
            let found = metric(&stack, "service_peak_spacing_ms");
            assert!((found / turn_ms - 1.0).abs() < 0.01, "{rpm}: {found} ms, not {turn_ms}");
        }
        let still = stream("128KiB", &json!({"shake": {}}));
        assert!(metric(&still, "service_peak_spacing_ms") <= 0.0 && metric(&still, "off_track_retries") <= 0.0);
    }

    #[test]
    fn a_disk_that_is_not_named_stays_quiet() {
        let pair = |off_track: f64| {
            let hdd = json!({
                "rpm": 7200, "capacity": "1TB", "heads": 4, "zones": 1, "outer_rate": "80MB", "inner_rate": "80MB",
                "seek_single": "800us", "seek_average": "8500us", "seek_full": "18ms", "head_switch": "800us",
                "interface_rate": "300MB", "buffer": "32MiB", "shake": {"off_track": off_track, "disks": [1]}
            });
            run(&json!({
                "devices": [{"name": "disk", "count": 2, "hdd": hdd}],
                "layout": {"unit": "128KiB"},
                "jobs": [{"name": "w", "rw": "write", "bs": "128KiB", "size": "10GB", "iodepth": 64, "number_ios": 40_000}]
            }))
        };
        let [shaken, still] = [0.5, 0.0].map(pair);
        let longer = metric(&shaken, "shaken_service_mean_ms") - metric(&still, "shaken_service_mean_ms");
        assert!((longer / 8.333 - 1.0).abs() < 0.05, "{longer}");
        assert!(metric(&shaken, "off_track_retries") < 25_000.0, "each disk has 20,000 pieces, and one of them a retry for each");
        assert!(metric(&still, "off_track_retries") <= 0.0);
    }

    #[test]
    fn what_disks_moved_during_a_shout_is_held_against_the_time_before() {
        let shout = json!({"shake": {"shouts": [{"at": "20s", "for": "20s", "off_track": 0.9}]}});
        let found = metric(&stream("128KiB", &shout), "shout_rate_percent");
        assert!((found / 2.14 - 1.0).abs() < 0.1, "{found}");
    }
}
