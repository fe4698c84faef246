//! Workers whose next request waits for nothing but the completion of one before: no rate, no pause, no plan, nothing that follows
//! a request or is judged by it. Most workers are like that and most events are theirs, so they are spared all that the others are
//! asked. What they do is what `Workload::issue_asking` would do.

use super::{HERE, State, Worker, Workload, durability, index_of, next_offset};
use crate::kernel::{Durable, Kernel, Request};
use seeklab_spec::{Job, Op};

/// The common properties of a worker's requests.
#[derive(Clone, Copy)]
pub struct FastPath {
    op: Op,
    /// Bytes of each.
    bytes: u64,
    durable: Durable,
    /// How many there are, and how many bytes all of them have; [`u64::MAX`] without a limit.
    most_ios: u64,
    most_bytes: u64,
}

impl FastPath {
    /// Return the common properties of a worker's requests if they all have one direction and size. `target_bytes` is the worker's total.
    #[must_use]
    pub fn of(job: &Job, op: Op, target_bytes: u64) -> Option<Self> {
        let waits = job.rate.is_some() || job.rate_iops.is_some() || job.rate_each.is_some() || job.thinktime.0 > 0 || job.flushes();
        let is_special = job.fluid || job.null.is_some() || job.steadystate.is_some();
        (!waits && !is_special).then(|| Self {
            op,
            bytes: job.min_request_bytes(),
            durable: durability(job, op, 1),
            most_ios: job.number_ios.unwrap_or(u64::MAX),
            most_bytes: if job.time_based { u64::MAX } else { target_bytes },
        })
    }

    /// Whether a worker has a whole request left to issue at `now_ns`; if not, its end is for `Workload::issue_asking`.
    #[inline]
    fn goes_on(&self, worker: &Worker, now_ns: u64) -> bool {
        worker.state == State::Issuing
            && (worker.next_ns..worker.end_ns).contains(&now_ns)
            && worker.issued_ios < self.most_ios
            && worker.issued_bytes.saturating_add(self.bytes) <= self.most_bytes
    }
}

impl Workload {
    /// Issues all that such a worker may have in flight. Whether there is nothing else to do.
    pub(super) fn issue_fast(&mut self, kernel: &mut Kernel, id: u32, fast_path: FastPath) -> bool {
        let now_ns = kernel.now_ns();
        let worker = &mut self.workers[id as usize];
        while fast_path.goes_on(worker, now_ns) {
            if worker.in_flight >= worker.depth {
                return true;
            }
            let offset = next_offset(worker, fast_path.op, fast_path.bytes);
            // A region is at least as long as a request, and a whole one is left.
            worker.position[index_of(fast_path.op)] = offset + fast_path.bytes;
            worker.issued_ios += 1;
            worker.issued_bytes += fast_path.bytes;
            worker.issued_writes += u64::from(fast_path.op == Op::Write);
            worker.in_flight += 1;
            self.recorder.issued(worker.job, worker.in_flight);
            let request = Request {
                op: fast_path.op,
                offset: worker.region.start + offset,
                bytes: fast_path.bytes,
                durable: fast_path.durable,
                worker: id,
                tag: self.issued,
                owner: HERE,
                ..Request::default()
            };
            self.issued = self.issued.wrapping_add(1);
            let request = kernel.open(request);
            kernel.submit(worker.entry, request);
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::{Value, json};

    use crate::testing::run;

    /// The fingerprint of jobs on a file system that writes later unless a write is synchronous, or without one; with a limit on
    /// operations or without: under a limit no worker takes the fast path.
    fn fingerprint(jobs: &Value, has_zfs: bool, limits: &Value) -> String {
        let device = json!({"lun": {"rate": 100_000_000, "latency": "1ms", "capacity": "1GiB"}});
        let mut scenario = json!({"jobs": jobs, "devices": [device], "limits": limits});
        if has_zfs {
            scenario["zfs"] = json!({"era": "openzfs-2013", "record": "8KiB", "memory": "16GiB"});
        }
        run(&scenario).recorder().fingerprint.hex()
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn a_worker_that_nothing_holds_back_issues_what_it_would_if_all_were_asked(
            rw in prop::sample::select(vec!["read", "write", "randread", "randwrite"]),
            (bs, size) in (1u64..40, 40u64..2000),
            (iodepth, numjobs) in (1u32..20, 1u32..4),
            number_ios in prop::option::of(1u64..500),
            io_size in prop::option::of(1u64..3000),
            runtime_ms in prop::option::of(1u64..300),
            (is_timed, is_synced, loops, law, has_zfs) in (any::<bool>(), any::<bool>(), 1u32..3, any::<bool>(), any::<bool>()),
        ) {
            let mut job = json!({"name": "a", "rw": rw, "bs": bs * 512, "size": size * 512, "iodepth": iodepth, "numjobs": numjobs,
                "loops": loops, "startdelay": "3ms"});
            let mut set = |field: &str, value: Value| job[field] = value;
            if let Some(ios) = number_ios {
                set("number_ios", json!(ios));
            }
            if let Some(blocks) = io_size {
                set("io_size", json!(blocks * 512));
            }
            if let Some(ms) = runtime_ms {
                set("runtime", json!(ms * 1_000_000));
                set("time_based", json!(is_timed));
            }
            if rw.contains("write") {
                set("sync", json!(is_synced));
            }
            if rw.contains("rand") && law {
                set("random_distribution", json!("zipf:1.2"));
            }
            let second = json!({"name": "b", "rw": "read", "bs": "4KiB", "size": "1MiB", "stonewall": true});
            let jobs = json!([job, second]);
            prop_assert_eq!(fingerprint(&jobs, has_zfs, &json!({})), fingerprint(&jobs, has_zfs, &json!({"operations": 100_000_000_000_u64})));
        }
    }
}
