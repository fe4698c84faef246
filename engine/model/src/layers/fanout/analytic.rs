//! A request whose fate is known when it comes: its servers take any number of leaves, and their times are drawn.
//!
//! Leaves do not wait for each other then, so each one's latency follows from its draws, and one event stands for all leaves of a
//! request. The same draws in the same order as those of the events, and so the same times.

use super::Fanout;
use crate::kernel::{Kernel, Phase, RequestId};
use crate::result::STALL_NS;
use seeklab_spec::fanout::SlowBy;

impl Fanout {
    /// Computes what a request will see, and completes it then.
    pub(super) fn answer_analytically(&mut self, kernel: &mut Kernel, id: RequestId) {
        let after_ns = self.second.as_ref().map_or(u64::MAX, |second| second.after_ns);
        let ordinary_ns = self.first_times.ordinary_ns().filter(|ns| *ns <= after_ns);
        let by_key = self.spec.service.slow_by == SlowBy::Key;
        let leaves = self.spec.leaves;
        let (mut ordinary, mut first_stalled) = (0u64, leaves + 1);
        self.late.clear();
        for place in 1..=leaves {
            let first_ns = self.first_times.draw();
            if Some(first_ns) == ordinary_ns {
                ordinary += 1;
                continue;
            }
            let (mut latency_ns, mut is_second) = (first_ns, false);
            let mut answering_ns = first_ns;
            if first_ns > after_ns {
                let second_ns = if by_key { first_ns } else { self.second_times.draw() };
                let mut losing_ns = second_ns;
                if after_ns + second_ns < first_ns {
                    (latency_ns, is_second) = (after_ns + second_ns, true);
                    (answering_ns, losing_ns) = (second_ns, first_ns);
                }
                self.record.copies += 1;
                self.record.losing += 1;
                self.record.losing_ns += losing_ns;
            }
            self.record.answering_ns += answering_ns;
            if latency_ns >= STALL_NS {
                first_stalled = first_stalled.min(place);
            }
            self.record.leaves.add(latency_ns, 1);
            self.late.push((latency_ns, is_second));
        }
        let ordinary_ns = ordinary_ns.unwrap_or(0);
        if ordinary > 0 {
            self.record.leaves.add(ordinary_ns, ordinary);
            self.record.answering_ns += ordinary * ordinary_ns;
            if ordinary_ns >= STALL_NS {
                first_stalled = 1;
            }
        }
        self.record.asked += u64::from(leaves);
        self.record.first_stalled.saturating_record(u64::from(first_stalled));
        // Ordinary leaves are the fastest of their distribution.
        let late = u64::from(self.needed).saturating_sub(ordinary);
        let (latency_ns, is_second) = if late == 0 {
            (ordinary_ns, false)
        } else {
            #[allow(clippy::cast_possible_truncation)] // at most 10,000 leaves
            *self.late.select_nth_unstable(late as usize - 1).1
        };
        self.record.requests.add(latency_ns, 1);
        if is_second {
            kernel.requests.charge_ns(id, Phase::Hedge, after_ns);
        }
        let until_ns = kernel.now_ns() + latency_ns;
        kernel.requests.charge_until(id, Phase::Served, until_ns);
        kernel.complete_when_charged(id);
    }
}
