//! A scrub: reads of all copies and all parity, in a class of their own.
//!
//! The data in use are read record by record in the order of their places, as a scan does that sorts what it finds before it reads (0.8). So
//! much may be in flight for each data disk; how many requests go to a device at once is the scheduler's decision, by the shares of the
//! class [`Class::Scrub`]. From 2.1 that class steps back while clients are served ([`super::super::scheduler::active`]).
//!
//! Before 0.8, 32 requests are in flight for each group of devices, and each waits four clock ticks as long as clients asked for
//! something within the last 50. A tick is 10 ms, as in illumos.
//!
//! Source: `dsl_scan.c`: `zfs_scan_vdev_limit` (4 MiB, later 16 MiB), `zfs_top_maxinflight`, `zfs_scrub_delay`, `zfs_scan_idle`. Left out:
//! reading the metadata that places come from (the records are where they were written once, in order), the order of files before 0.8, pauses for the
//! sync of a group, the limit by the ARC's size, repairs.

use super::{HERE, Kind, Timer, Zfs};
use crate::kernel::Kernel;
use crate::layers::layout::Piece;
use crate::layers::zfs::scheduler::{Class, Io};
use crate::result::metrics::{Metrics, in_seconds};
use seeklab_spec::zfs::{Era, ScrubSpec};
use seeklab_spec::{Op, to_f64};

const TICK_NS: u64 = 10_000_000;
/// How long a request waits after clients asked for something, and for how long after that.
const DELAY_NS: u64 = 4 * TICK_NS;
const IDLE_NS: u64 = 50 * TICK_NS;
/// Requests in flight for each group before 0.8.
const IN_FLIGHT: u64 = 32;

/// A scrub in progress.
pub(super) struct Scrub {
    start_ns: u64,
    /// What is read next, and where the data end.
    next: u64,
    end: u64,
    /// Bytes in flight, and the most.
    in_flight: u64,
    most: u64,
    /// Whether requests wait while clients are served, and whether one has done so.
    is_polite: bool,
    waits: bool,
    /// When a client last asked for something.
    asked_ns: Option<u64>,
    read_bytes: u64,
    end_ns: Option<u64>,
}

impl Scrub {
    /// The scrub of a pool of `capacity` bytes, with so many data disks in so many groups.
    pub(super) fn new(spec: &ScrubSpec, era: Era, capacity: u64, data_disks: u64, groups: u64, stored_bytes: u64) -> Self {
        let of_version = match era {
            Era::OpenZfs2_1 => 4 << 20,
            _ => 16 << 20,
        };
        let is_polite = matches!(era, Era::OpenZfs2013 | Era::OpenZfs0_7);
        let most = match spec.in_flight {
            None if is_polite => IN_FLIGHT * groups * stored_bytes,
            limit => limit.map_or(of_version, |limit| limit.0) * data_disks,
        };
        let end = spec.used.of(capacity).min(capacity) / stored_bytes * stored_bytes;
        Self {
            start_ns: spec.at.0,
            next: 0,
            end,
            in_flight: 0,
            most: most.max(stored_bytes),
            is_polite,
            waits: false,
            asked_ns: None,
            read_bytes: 0,
            end_ns: None,
        }
    }

    /// When it begins.
    pub(super) fn start_ns(&self) -> u64 {
        self.start_ns
    }

    /// A client asks for something.
    pub(super) fn asked(&mut self, now_ns: u64) {
        self.asked_ns = Some(now_ns);
    }

    /// How much of it is done, 0 to 1.
    #[allow(clippy::cast_precision_loss)] // a share for people
    pub(super) fn progress(&self) -> f64 {
        self.next as f64 / self.end.max(1) as f64
    }

    pub(super) fn metrics(&self, metrics: &mut Metrics) {
        let elapsed_ns = self.end_ns.unwrap_or(metrics.run.now_ns).saturating_sub(self.start_ns);
        metrics.bytes("scrub_read_bytes", "Bytes that the scrub read from devices, all copies and parity included.", self.read_bytes);
        metrics.seconds("scrub_elapsed_s", "Time from the start of the scrub to its last read, or until now while it runs.", elapsed_ns);
        metrics.mib_per_s("scrub_mib_per_s", "Rate of the scrub's reads.", to_f64(self.read_bytes), in_seconds(elapsed_ns));
    }
}

impl Zfs {
    /// Starts as many reads as may be in flight.
    pub(super) fn scrub_more(&mut self, kernel: &mut Kernel) {
        let now_ns = kernel.now_ns();
        loop {
            let stored_bytes = self.stored.bytes;
            let Some(scrub) = self.scrub.as_mut().filter(|scrub| scrub.next < scrub.end && scrub.in_flight + stored_bytes <= scrub.most)
            else {
                break;
            };
            if scrub.is_polite && scrub.asked_ns.is_some_and(|asked_ns| now_ns < asked_ns + IDLE_NS) {
                if !scrub.waits {
                    scrub.waits = true;
                    kernel.wake_at(now_ns + DELAY_NS, HERE, Timer::Scrub);
                }
                break;
            }
            self.scrub_record(kernel);
        }
        self.pump_leaves(kernel);
    }

    /// A request has waited long enough, or the scrub begins.
    pub(super) fn scrub_timer(&mut self, kernel: &mut Kernel) {
        if self.scrub.as_mut().is_some_and(|scrub| std::mem::take(&mut scrub.waits)) {
            self.scrub_record(kernel);
        }
        self.scrub_more(kernel);
    }

    /// Reads all copies of the next record.
    fn scrub_record(&mut self, kernel: &mut Kernel) {
        let Some(scrub) = &mut self.scrub else { return };
        let offset = scrub.next;
        scrub.next += self.stored.bytes;
        scrub.in_flight += self.stored.bytes;
        let mut pieces = std::mem::take(&mut self.pieces);
        pieces.clear();
        match &mut self.layout {
            // A write goes to all copies.
            Some(layout) => layout.map(Op::Write, offset, self.stored.bytes, kernel.now_ns(), &mut pieces),
            None => pieces.push(Piece { device: 0, offset, bytes: self.stored.bytes }),
        }
        scrub.read_bytes += pieces.iter().map(|piece| piece.bytes).sum::<u64>();
        let token = self.work(Kind::Scrub, 0, 0);
        for piece in &pieces {
            let io = Io { class: Class::Scrub, op: Op::Read, offset: piece.offset, bytes: piece.bytes, token, due: 0 };
            self.enqueue_on(kernel.now_ns(), usize::from(piece.device), io);
        }
        self.pieces = pieces;
    }

    /// A record has been read.
    pub(super) fn scrubbed(&mut self, kernel: &mut Kernel) {
        let stored_bytes = self.stored.bytes;
        let Some(scrub) = &mut self.scrub else { return };
        scrub.in_flight -= stored_bytes;
        if scrub.in_flight == 0 && scrub.next >= scrub.end {
            scrub.end_ns = Some(kernel.now_ns());
        }
        self.scrub_more(kernel);
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use crate::stack::Stack;
    use crate::testing::{assert_is, assert_within, metric, problems, run};

    fn scenario(era: &str, layout: &Value, job: &Value) -> Value {
        let mut scenario = json!({
            "zfs": {"era": era, "arc": {"size": "64MiB"}, "scrub": {"used": "256MiB"}},
            "layout": layout, "jobs": [{"name": "client", "rw": "randread", "bs": "128KiB", "size": "64MiB"}],
            "devices": [{"lun": {"capacity": "1GiB", "rate": "100MB", "latency": "1ms"}, "count": 4}],
        });
        scenario["jobs"][0].as_object_mut().expect("an object").extend(job.as_object().cloned().unwrap_or_default());
        scenario
    }

    fn idle(era: &str, layout: &Value) -> Stack {
        run(&scenario(era, layout, &json!({"number_ios": 1})))
    }

    #[test]
    fn it_reads_all_copies_and_all_parity() {
        let bytes = |layout| metric(&idle("openzfs-2.2", &layout), "scrub_read_bytes") / f64::from(1 << 20);
        assert_is(bytes(json!({"kind": "stripe", "unit": "128KiB"})), 256.0);
        assert_is(bytes(json!({"kind": "mirror", "unit": "128KiB"})), 1024.0);
        // 32 sectors of data and 11 of parity, in columns.
        assert_is(bytes(json!({"kind": "raidz", "unit": "128KiB"})), 256.0 * 43.0 / 32.0);
    }

    #[test]
    fn it_keeps_idle_devices_busy_and_steps_back_for_clients() {
        let stripe = || json!({"kind": "stripe", "unit": "128KiB"});
        // Four units of 100 MB/s.
        assert_within(metric(&idle("openzfs-2.2", &stripe()), "scrub_mib_per_s"), 381.0, 0.1);
        let busy = |era, scrub: bool| {
            let mut scenario =
                scenario(era, &stripe(), &json!({"iodepth": 16, "time_based": true, "runtime": "500ms", "norandommap": true}));
            scenario["zfs"]["arc"]["size"] = "16MiB".into();
            if !scrub {
                scenario["zfs"].as_object_mut().expect("an object").remove("scrub");
            }
            let stack = run(&scenario);
            (metric(&stack, "client.read_iops"), if scrub { metric(&stack, "scrub_elapsed_s") } else { 0.0 })
        };
        let ((alone, _), (beside, elapsed_s)) = (busy("openzfs-2.2", false), busy("openzfs-2.2", true));
        // Eight records of a scan are one request, which takes 10 ms.
        assert!(beside < alone && beside > 0.25 * alone, "{alone} -> {beside} reads/s");
        assert!(elapsed_s > 1.15 * 256.0 / 381.0, "{elapsed_s} s");
    }

    #[test]
    fn before_sorted_scans_each_request_waits_four_ticks_while_clients_are_served() {
        let client = json!({"iodepth": 1, "time_based": true, "runtime": "2s", "norandommap": true});
        let stack = run(&scenario("openzfs-0.7", &json!({"kind": "stripe", "unit": "128KiB"}), &client));
        // 2.5 s of delays of 40 ms are about 62 of 2048 records; the rest takes two thirds of a second.
        let elapsed_s = metric(&stack, "scrub_elapsed_s");
        assert!((2.9..3.4).contains(&elapsed_s), "{elapsed_s} s");
    }

    #[test]
    fn versions_before_2013_have_none() {
        let found = problems(&scenario("zfs-2010", &json!({"kind": "stripe"}), &json!({"number_ios": 1})));
        assert!(found.iter().any(|problem| problem.starts_with("zfs.scrub")), "{found:?}");
    }
}
