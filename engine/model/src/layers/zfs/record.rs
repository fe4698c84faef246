//! The record of a ZFS volume, for views and facts: a time series, one row for each transaction group, and counts.

use crate::layers::zfs::throttle::fits;
use crate::result::bins::Bins;
use seeklab_spec::Op;

/// One interval of the time series.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SeriesRow {
    /// Dirty bytes, averaged over the interval.
    pub dirty_mean_bytes: u64,
    /// Most dirty bytes in the interval.
    pub dirty_max_bytes: u64,
    /// The throttle's limit at the interval's end, in bytes of data; 0 when it knows none.
    pub limit_bytes: u64,
    /// Group writes in flight, averaged, in thousandths.
    pub async_writes_mean_milli: u64,
    /// Most group writes in flight.
    pub async_writes_max: u32,
    /// Bytes that group writes have completed.
    pub written_bytes: u64,
    /// Writes that entered without being held up.
    pub not_delayed: u64,
    /// Writes that have slept.
    pub delayed: u64,
    /// Their sleep time, in nanoseconds.
    pub delay_ns: u64,
    /// Writes that were stopped at the limit.
    pub blocked: u64,
    /// Their wait time, in nanoseconds.
    pub blocked_ns: u64,
    /// Bytes that log devices have completed, each side of a mirror counted.
    pub log_bytes: u64,
    /// Most bytes that the log devices held for groups that were not in the pool.
    pub log_live_bytes: u64,
}

/// A commit of an intent log.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CommitRow {
    /// Number of its file system.
    pub dataset: u64,
    /// When it began.
    pub started_ns: u64,
    /// When it was durable.
    pub ended_ns: u64,
    /// Writes whose callers waited for it.
    pub writes: u64,
    /// Bytes of its blocks on the log devices; in the pool when there are none.
    pub bytes: u64,
    /// Bytes of its blocks that left the log devices for the pool.
    pub diverted_bytes: u64,
}

impl CommitRow {
    fn all_bytes(&self) -> u64 {
        self.bytes + self.diverted_bytes
    }
}

/// The life of one transaction group. Times are nanoseconds since the start of the run; 0 means not yet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct GroupRow {
    /// Its number.
    pub group: u64,
    /// When it opened.
    pub opened_ns: u64,
    /// When it closed.
    pub closed_ns: u64,
    /// When the last write let go of it.
    pub quiesced_ns: u64,
    /// When its sync began.
    pub sync_started_ns: u64,
    /// Dirty bytes of all groups when its sync began.
    pub dirty_bytes: u64,
    /// When its data were written.
    pub data_written_ns: u64,
    /// When its sync ended.
    pub synced_ns: u64,
    /// Bytes of its dirty blocks.
    pub bytes: u64,
    /// Bytes of metadata that its sync wrote.
    pub metadata_bytes: u64,
    /// The throttle's limit after its sync, in bytes of data; 0 when it knows none.
    pub limit_bytes: u64,
    /// Writes in it that were not held up.
    pub not_delayed: u64,
    /// Writes in it that had slept.
    pub delayed: u64,
    /// Writes in it that had been stopped at the limit.
    pub blocked: u64,
    /// All writes in it.
    pub writes: u64,
    /// When a write first slept in it; 0 when none did.
    pub first_sleep_ns: u64,
    /// When a write was first stopped because it was full; 0 when none was.
    pub first_stop_ns: u64,
}

/// Counts over the whole run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Writes that entered without being held up.
    pub not_delayed: u64,
    /// Writes that have slept.
    pub delayed: u64,
    /// Their sleep time, in nanoseconds: the sum of the charged times.
    pub delay_ns: u64,
    /// Writes that were stopped at the limit.
    pub blocked: u64,
    /// Their wait time, in nanoseconds: the sum of the charged times.
    pub blocked_ns: u64,
    /// Bytes of blocks that became dirty.
    pub dirtied_bytes: u64,
    /// Bytes of dirty blocks that have been written, each counted once however many copies it has.
    pub cleaned_bytes: u64,
    /// Bytes of group writes to the devices, copies and metadata included.
    pub written_bytes: u64,
    /// Bytes of metadata among them.
    pub metadata_bytes: u64,
    /// Blocks read so that a part of them could be written.
    pub blocks_read_for_write: u64,
    /// Commits of the intent log.
    pub log_commits: u64,
    /// Writes that they made durable.
    pub log_writes: u64,
    /// Bytes of log blocks.
    pub log_bytes: u64,
    /// Bytes of log blocks that left the log devices for the pool.
    pub log_diverted_bytes: u64,
    /// Most bytes that were needed at once on the log devices, each mirror counted once.
    pub log_live_max_bytes: u64,
    /// The commit with the most bytes of blocks.
    pub largest_commit: CommitRow,
    /// Bytes of blocks that went to their place in the pool with a commit.
    pub indirect_bytes: u64,
    /// Bytes of dirty blocks that were clean by that before their group was written.
    pub committed_bytes: u64,
    /// When a write first slept.
    pub first_sleep_ns: Option<u64>,
    /// Writes that had entered by then.
    pub writes_before_sleep: u64,
    /// The largest amount released at once for one block; a whole group's when it is released as one.
    pub largest_step_bytes: u64,
}

/// How a write entered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HeldUp {
    /// Its sleep time.
    pub delay_ns: u64,
    /// Its stop time.
    pub blocked_ns: u64,
    /// Whether it was made to sleep.
    pub delayed: bool,
    /// Whether it was stopped.
    pub blocked: bool,
}

/// The state between two events.
#[derive(Clone, Copy, Debug, Default)]
pub struct Level {
    /// Dirty bytes.
    pub dirty_bytes: u64,
    /// Group writes in flight.
    pub async_writes: u32,
    /// The throttle's limit.
    pub limit_bytes: u64,
    /// Bytes that the log devices hold for groups that are not in the pool.
    pub log_live_bytes: u64,
}

/// Requests to the devices in one direction: what a tracer between file system and devices counts.
#[derive(Clone, Debug, Default)]
pub struct DeviceIos {
    /// Times from issue to completion.
    pub times: Bins,
    /// Their number.
    pub count: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Their sum, in nanoseconds.
    pub total_ns: u64,
    /// The sum of their squares.
    pub squares: f64,
}

impl DeviceIos {
    #[allow(clippy::cast_precision_loss)] // a latency is far below 2^53 ns
    fn add(&mut self, bytes: u64, ns: u64) {
        self.times.add(ns);
        self.count += 1;
        self.bytes += bytes;
        self.total_ns += ns;
        self.squares += ns as f64 * ns as f64;
    }
}

/// Most rows that are kept of each table.
const MAX_ROWS: usize = 1 << 20;
/// Most commits that are kept.
const MAX_COMMITS: usize = 1 << 16;

/// The record of a run.
#[derive(Clone, Debug)]
pub struct Record {
    /// Time series; a row for each interval that has ended.
    pub series: Vec<SeriesRow>,
    /// Transaction groups in order of their numbers.
    pub groups: Vec<GroupRow>,
    /// The first commits of the intent logs in order of their ends.
    pub commits: Vec<CommitRow>,
    /// Counts.
    pub counts: Counts,
    /// Requests to the devices, by direction (reads, writes).
    pub device_ios: [DeviceIos; 2],
    /// Sleep times of writes.
    pub delays: Bins,
    interval_ns: u64,
    row: SeriesRow,
    row_ends_ns: u64,
    now_ns: u64,
    dirty_byte_ns: u128,
    write_ns: u128,
    level: Level,
}

impl Record {
    /// An empty record with rows of `interval_ns`.
    #[must_use]
    pub fn new(interval_ns: u64) -> Self {
        let interval_ns = interval_ns.max(1);
        Self {
            series: Vec::new(),
            groups: Vec::new(),
            commits: Vec::new(),
            counts: Counts::default(),
            delays: Bins::default(),
            device_ios: [DeviceIos::default(), DeviceIos::default()],
            interval_ns,
            row: SeriesRow::default(),
            row_ends_ns: interval_ns,
            now_ns: 0,
            dirty_byte_ns: 0,
            write_ns: 0,
            level: Level::default(),
        }
    }

    /// The level that held until `now_ns` gives way to `level`.
    pub fn change(&mut self, now_ns: u64, level: Level) {
        self.reach(now_ns);
        self.pass(now_ns);
        self.level = level;
        self.row.dirty_max_bytes = self.row.dirty_max_bytes.max(level.dirty_bytes);
        self.row.async_writes_max = self.row.async_writes_max.max(level.async_writes);
        self.row.log_live_bytes = self.row.log_live_bytes.max(level.log_live_bytes);
    }

    /// Ends the rows of the intervals that are over: what is counted next belongs to the one in which it happens.
    fn reach(&mut self, now_ns: u64) {
        while now_ns >= self.row_ends_ns {
            self.pass(self.row_ends_ns);
            self.end_row();
        }
    }

    fn pass(&mut self, until_ns: u64) {
        let ns = until_ns.saturating_sub(self.now_ns);
        if ns == 0 {
            return;
        }
        self.dirty_byte_ns += product(self.level.dirty_bytes, ns);
        self.write_ns += product(u64::from(self.level.async_writes), ns);
        self.now_ns = until_ns;
    }

    fn end_row(&mut self) {
        let interval = u128::from(self.interval_ns);
        self.row.dirty_mean_bytes = u64::try_from(self.dirty_byte_ns / interval).unwrap_or(u64::MAX);
        self.row.async_writes_mean_milli = u64::try_from(self.write_ns * 1000 / interval).unwrap_or(u64::MAX);
        self.row.limit_bytes = self.level.limit_bytes;
        if self.series.len() < MAX_ROWS {
            self.series.push(self.row);
        }
        (self.dirty_byte_ns, self.write_ns) = (0, 0);
        self.row_ends_ns = self.row_ends_ns.saturating_add(self.interval_ns);
        let Level { dirty_bytes, async_writes, log_live_bytes, .. } = self.level;
        self.row = SeriesRow { dirty_max_bytes: dirty_bytes, async_writes_max: async_writes, log_live_bytes, ..SeriesRow::default() };
    }

    /// A group has opened.
    pub fn opened(&mut self, group: u64, now_ns: u64) {
        if self.groups.len() < MAX_ROWS {
            self.groups.push(GroupRow { group, opened_ns: now_ns, ..GroupRow::default() });
        }
    }

    /// Changes the row of a group that is open, closed or syncing, unless there were too many to keep.
    pub fn group(&mut self, group: u64, change: impl FnOnce(&mut GroupRow)) {
        if let Some(row) = self.groups.iter_mut().rev().take(super::throttle::SLOTS).find(|row| row.group == group) {
            change(row);
        }
    }

    /// A write begins to sleep while `group` is open.
    pub fn sleeps(&mut self, group: u64, now_ns: u64) {
        if self.counts.first_sleep_ns.is_none() {
            self.counts.first_sleep_ns = Some(now_ns);
            self.counts.writes_before_sleep = self.counts.not_delayed;
        }
        self.group(group, |row| {
            if row.first_sleep_ns == 0 {
                row.first_sleep_ns = now_ns;
            }
        });
    }

    /// A write is stopped because `group` is full.
    pub fn stops(&mut self, group: u64, now_ns: u64) {
        self.group(group, |row| {
            if row.first_stop_ns == 0 {
                row.first_stop_ns = now_ns;
            }
        });
    }

    /// A write has entered `group`, held up like this.
    pub fn entered(&mut self, group: u64, held: HeldUp, now_ns: u64) {
        self.reach(now_ns);
        let not_delayed = u64::from(!held.delayed && !held.blocked);
        let (delayed, blocked) = (u64::from(held.delayed), u64::from(held.blocked));
        self.counts.not_delayed += not_delayed;
        self.counts.delayed += delayed;
        self.counts.delay_ns += held.delay_ns;
        if held.delayed {
            self.delays.add(held.delay_ns);
        }
        self.counts.blocked += blocked;
        self.counts.blocked_ns += held.blocked_ns;
        self.row.not_delayed += not_delayed;
        self.row.delayed += delayed;
        self.row.delay_ns += held.delay_ns;
        self.row.blocked += blocked;
        self.row.blocked_ns += held.blocked_ns;
        self.group(group, |row| {
            row.writes += 1;
            row.not_delayed += not_delayed;
            row.delayed += delayed;
            row.blocked += blocked;
        });
    }

    /// A group write of so many bytes has completed.
    pub fn written(&mut self, bytes: u64, metadata: bool, now_ns: u64) {
        self.reach(now_ns);
        self.counts.written_bytes += bytes;
        self.counts.metadata_bytes += if metadata { bytes } else { 0 };
        self.row.written_bytes += bytes;
    }

    /// A log device has written so many bytes.
    pub fn logged(&mut self, bytes: u64) {
        self.row.log_bytes += bytes;
    }

    /// A commit of an intent log is durable.
    pub fn committed(&mut self, commit: CommitRow) {
        self.counts.log_commits += 1;
        if commit.all_bytes() > self.counts.largest_commit.all_bytes() {
            self.counts.largest_commit = commit;
        }
        if self.commits.len() < MAX_COMMITS {
            self.commits.push(commit);
        }
    }

    /// A request to a device has completed.
    pub fn device_io(&mut self, op: Op, bytes: u64, ns: u64) {
        self.device_ios[op as usize].add(bytes, ns);
    }

    /// Width of a row of the series.
    #[must_use]
    pub fn interval_ns(&self) -> u64 {
        self.interval_ns
    }

    /// Bytes of memory held.
    #[must_use]
    pub fn memory_bytes(&self) -> u64 {
        let rows = self.series.capacity() * size_of::<SeriesRow>() + self.groups.capacity() * size_of::<GroupRow>();
        (rows + self.commits.capacity() * size_of::<CommitRow>()) as u64
    }
}

fn product(a: u64, b: u64) -> u128 {
    if fits(a, b) { u128::from(a * b) } else { u128::from(a) * u128::from(b) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_averages_over_its_interval() {
        let mut record = Record::new(100);
        record.change(0, Level { dirty_bytes: 10, ..Level::default() });
        record.change(50, Level { dirty_bytes: 30, async_writes: 2, ..Level::default() });
        record.change(250, Level::default());
        let rows: Vec<_> =
            record.series.iter().map(|row| (row.dirty_mean_bytes, row.dirty_max_bytes, row.async_writes_mean_milli)).collect();
        assert_eq!(rows, [(20, 30, 1000), (30, 30, 2000)]);
    }

    #[test]
    fn what_is_counted_belongs_to_the_interval_in_which_it_happens() {
        let mut record = Record::new(100);
        record.change(0, Level { dirty_bytes: 10, ..Level::default() });
        // Nothing changes the level at 150 or 250: the rows before must end all the same.
        record.written(7, false, 50);
        record.written(5, false, 150);
        record.entered(1, HeldUp::default(), 250);
        record.change(300, Level::default());
        let rows: Vec<_> = record.series.iter().map(|row| (row.written_bytes, row.not_delayed, row.dirty_mean_bytes)).collect();
        assert_eq!(rows, [(7, 0, 10), (5, 0, 10), (0, 1, 10)]);
    }

    #[test]
    fn a_write_counts_for_its_group_and_for_the_run() {
        let mut record = Record::new(100);
        record.opened(1, 0);
        record.entered(1, HeldUp::default(), 0);
        record.entered(1, HeldUp { delay_ns: 5, delayed: true, ..HeldUp::default() }, 0);
        assert_eq!((record.counts.not_delayed, record.counts.delayed, record.counts.delay_ns), (1, 1, 5));
        assert_eq!((record.groups[0].not_delayed, record.groups[0].delayed), (1, 1));
    }
}
