//! Merging queued neighbours into one request.
//!
//! From the chosen request the walk goes first backward, then forward over queued requests of the same direction, as long as
//! the next one is near enough (reads may skip a gap, whose bytes are read and thrown away; writes may not) and the whole
//! stays within the limit. The result is one request for the device and counts once.
//!
//! On RAID-Z, skip sectors keep the writes of neighbouring records apart. ZFS queues optional writes for them, which only join others:
//! they never begin or end a merged write, except that one ends with them when the next write follows within 4 KiB, so that the device
//! sees no gap either. Here they are not queued; a write may reach over a gap of nothing but skip sectors.
//!
//! Source: `vdev_queue.c` (`vdev_queue_aggregate`), reference section 2.4. Left out: that the limit does not apply to optional writes.

use std::collections::VecDeque;

use super::{Io, Issue};
use crate::layers::layout::raidz::Padding;
use seeklab_spec::Op;

/// How far neighbours may be merged.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Limits {
    /// Longest merged request, in bytes; 0 merges nothing.
    pub span_bytes: u64,
    /// Longest gap between two reads, in bytes.
    pub read_gap_bytes: u64,
    /// Longest gap of skip sectors that a write ends with, in bytes.
    pub write_gap_bytes: u64,
    /// Skip sectors of the device that writes reach over. None without RAID-Z.
    pub padding: Option<Padding>,
}

impl Limits {
    /// The gaps since 2009 (`OpenSolaris` builds 117 and 121: `zfs_vdev_read_gap_limit`, `zfs_vdev_write_gap_limit`), without a span.
    #[must_use]
    pub fn gaps_of_2009() -> Self {
        Self { read_gap_bytes: 32 << 10, write_gap_bytes: 4 << 10, ..Self::default() }
    }

    /// The longest gap that a request of this direction may reach over.
    fn gap(&self, op: Op) -> u64 {
        if op == Op::Read { self.read_gap_bytes } else { self.padding.map_or(0, |padding| padding.longest_bytes()) }
    }

    /// Whether a request may reach from `end` to one that starts at `start`.
    fn reaches(&self, op: Op, end: u64, start: u64) -> bool {
        start == end || op == Op::Read && start - end <= self.read_gap_bytes || op == Op::Write && self.is_padding(end, start)
    }

    fn is_padding(&self, from: u64, to: u64) -> bool {
        self.padding.is_some_and(|padding| padding.fills(from, to))
    }
}

/// The order of a queue, which decides how a neighbour is found in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// By arrival: every request is compared.
    Arrival,
    /// By offset: one bisection.
    Offset,
    /// By (deadline, offset): one bisection for each deadline.
    Deadline {
        /// No request in the queue is longer, in bytes.
        longest_bytes: u64,
    },
}

/// Moves `first` and the neighbours that may join it out of `queues` into `members`, and returns the whole.
///
/// `order(i)` is the order of `queues[i]`.
pub fn gather(limits: &Limits, first: Io, queues: &mut [VecDeque<Io>], order: impl Fn(usize) -> Order, members: &mut Vec<Io>) -> Issue {
    members.clear();
    members.push(first);
    let mut whole = Issue { class: first.class, op: first.op, offset: first.offset, bytes: first.bytes };
    for forward in [false, true] {
        // A full write may still end with the skip sectors before the next one.
        while (whole.bytes < limits.span_bytes || forward && limits.padding.is_some() && limits.span_bytes > 0)
            && let Some((queue, place)) = neighbour(limits, &whole, queues, &order, forward)
        {
            let io = queues[queue][place];
            let end = (whole.offset + whole.bytes).max(io.end());
            let start = whole.offset.min(io.offset);
            if end - start > limits.span_bytes {
                // What follows a gap of skip sectors is the next request; the device then sees neighbours.
                let gap = io.offset.saturating_sub(whole.offset + whole.bytes);
                if forward && whole.op == Op::Write && gap <= limits.write_gap_bytes {
                    whole.bytes += gap;
                }
                break;
            }
            queues[queue].remove(place);
            (whole.offset, whole.bytes) = (start, end - start);
            members.push(io);
        }
    }
    whole
}

/// The nearest request before or after `whole`, when it is near enough.
fn neighbour(
    limits: &Limits,
    whole: &Issue,
    queues: &[VecDeque<Io>],
    order: &impl Fn(usize) -> Order,
    forward: bool,
) -> Option<(usize, usize)> {
    let (start, end) = (whole.offset, whole.offset.saturating_add(whole.bytes));
    let distance = |io: &Io| {
        if io.op != whole.op {
            None
        } else if forward {
            io.offset.checked_sub(end)
        } else {
            start.checked_sub(io.end())
        }
    };
    let mut best: Option<(u64, usize, usize)> = None;
    let mut consider = |queue: usize, place: usize, io: &Io| {
        if let Some(gap) = distance(io).filter(|gap| best.is_none_or(|(least, ..)| *gap < least)) {
            best = Some((gap, queue, place));
        }
    };
    for (number, queue) in queues.iter().enumerate() {
        match order(number) {
            Order::Arrival => {
                for (place, io) in queue.iter().enumerate() {
                    consider(number, place, io);
                }
            }
            Order::Offset => {
                let place = queue.partition_point(|io| io.offset < if forward { end } else { start });
                let place = if forward { Some(place) } else { place.checked_sub(1) };
                if let Some((place, io)) = place.and_then(|place| Some((place, queue.get(place)?))) {
                    consider(number, place, io);
                }
            }
            Order::Deadline { longest_bytes } => {
                // A request joins only within the gap, and one that ends there begins at most the longest request's length before.
                let gap = limits.gap(whole.op);
                let (least, most) =
                    if forward { (end, end.saturating_add(gap)) } else { (start.saturating_sub(gap).saturating_sub(longest_bytes), start) };
                let mut bucket = 0;
                while let Some(due) = queue.get(bucket).map(|io| io.due) {
                    let from = queue.partition_point(|io| (io.due, io.offset) < (due, least));
                    let near = queue.range(from..).take_while(|io| io.due == due && io.offset <= most);
                    for (place, io) in (from..).zip(near) {
                        consider(number, place, io);
                    }
                    if queue.back().is_some_and(|last| last.due == due) {
                        break;
                    }
                    bucket = queue.partition_point(|io| io.due <= due);
                }
            }
        }
    }
    let (gap, queue, place) = best?;
    let (from, to) = if forward { (end, end.saturating_add(gap)) } else { (start - gap, start) };
    limits.reaches(whole.op, from, to).then_some((queue, place))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::Class;
    use super::*;
    use crate::layers::layout::raidz::RaidZ;

    fn io(op: Op, offset: u64, bytes: u64) -> Io {
        Io { class: Class::AsyncWrite, op, offset, bytes, token: 0, due: 0 }
    }

    fn merge(op: Op, limits: Limits, first: (u64, u64), queued: &[(u64, u64)]) -> (u64, u64, usize) {
        let mut queue = [queued.iter().map(|(offset, bytes)| io(op, *offset, *bytes)).collect::<VecDeque<_>>()];
        let mut members = Vec::new();
        let whole = gather(&limits, io(op, first.0, first.1), &mut queue, |_| Order::Offset, &mut members);
        assert_eq!(members.len() + queue[0].len(), queued.len() + 1);
        (whole.offset, whole.bytes, members.len())
    }

    const LIMITS: Limits = Limits { span_bytes: 100, read_gap_bytes: 32, write_gap_bytes: 0, padding: None };

    #[test]
    fn neighbours_on_both_sides_join() {
        assert_eq!(merge(Op::Write, LIMITS, (30, 10), &[(10, 10), (20, 10), (40, 10), (60, 10)]), (10, 40, 4));
    }

    #[test]
    fn the_span_stays_within_the_limit() {
        assert_eq!(merge(Op::Write, LIMITS, (0, 60), &[(60, 40), (100, 1)]), (0, 100, 2));
        assert_eq!(merge(Op::Write, Limits { span_bytes: 0, ..LIMITS }, (0, 60), &[(60, 1)]), (0, 60, 1));
    }

    #[test]
    fn reads_skip_a_gap_and_writes_do_not() {
        assert_eq!(merge(Op::Read, LIMITS, (0, 10), &[(42, 8)]), (0, 50, 2));
        assert_eq!(merge(Op::Read, LIMITS, (0, 10), &[(43, 8)]), (0, 10, 1));
        assert_eq!(merge(Op::Write, LIMITS, (0, 10), &[(11, 8)]), (0, 10, 1));
    }

    #[test]
    fn a_write_reaches_over_skip_sectors_only() {
        // Records of two sectors on five disks: 2 data, 1 parity, 1 skip sector. Every fourth sector of a disk is one: on disk 0 the
        // fourth, the eighth ...
        const SECTOR: u64 = 512;
        let raidz = RaidZ { columns: 5, parity: 1, ashift: 9 };
        let padding = Some(Padding { raidz, disk: 0, block_bytes: 2 * SECTOR });
        let limits = Limits { span_bytes: 8 * SECTOR, read_gap_bytes: 0, write_gap_bytes: 4096, padding };
        let merge = |limits: Limits, op, first: (u64, u64), queued: &[(u64, u64)]| {
            let of = |(offset, sectors): &(u64, u64)| (offset * SECTOR, sectors * SECTOR);
            let queued: Vec<_> = queued.iter().map(of).collect();
            let (offset, bytes, members) = merge(op, limits, of(&first), &queued);
            (offset / SECTOR, bytes / SECTOR, members)
        };
        assert_eq!(merge(limits, Op::Write, (4, 3), &[(0, 3)]), (0, 7, 2), "backward");
        assert_eq!(merge(limits, Op::Write, (0, 3), &[(4, 3)]), (0, 7, 2), "forward");
        assert_eq!(merge(limits, Op::Write, (0, 3), &[(4, 3), (8, 3)]), (0, 8, 2), "ends with the gap before the next one");
        assert_eq!(merge(limits, Op::Write, (0, 3), &[(4, 3), (9, 2)]), (0, 7, 2), "and not without a neighbour");
        assert_eq!(merge(Limits { write_gap_bytes: 0, ..limits }, Op::Write, (0, 3), &[(4, 3), (8, 3)]), (0, 7, 2));
        assert_eq!(merge(limits, Op::Write, (0, 2), &[(4, 3)]), (0, 2, 1), "the third sector may hold data");
        assert_eq!(merge(limits, Op::Read, (0, 3), &[(4, 3)]), (0, 3, 1));
    }

    proptest! {
        #[test]
        fn bisecting_each_deadline_finds_what_comparing_every_request_finds(
            queued in prop::collection::vec((0_u64..5, 0_u64..60, 1_u64..12, any::<bool>()), 1..60),
            span_bytes in 0_u64..60,
            read_gap_bytes in 0_u64..6,
        ) {
            let op = |is_read: bool| if is_read { Op::Read } else { Op::Write };
            let mut queue: Vec<Io> =
                queued.into_iter().map(|(due, offset, bytes, is_read)| Io { due, ..io(op(is_read), offset, bytes) }).collect();
            queue.sort_by_key(|io| (io.due, io.offset));
            for (token, io) in (0..).zip(&mut queue) {
                io.token = token;
            }
            let limits = Limits { span_bytes, read_gap_bytes, ..Limits::default() };
            let longest_bytes = queue.iter().map(|io| io.bytes).max().unwrap_or_default();
            let [mut compared, mut bisected] = [(); 2].map(|()| [VecDeque::from(queue.clone())]);
            let [mut all, mut found] = [Vec::new(), Vec::new()];
            while let Some(first) = compared[0].pop_front() {
                prop_assert_eq!(bisected[0].pop_front(), Some(first));
                let whole = gather(&limits, first, &mut compared, |_| Order::Arrival, &mut all);
                prop_assert_eq!(gather(&limits, first, &mut bisected, |_| Order::Deadline { longest_bytes }, &mut found), whole);
                prop_assert_eq!(&found, &all);
            }
        }
    }
}
