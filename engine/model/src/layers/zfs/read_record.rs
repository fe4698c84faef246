//! The record of a ZFS volume's read side, for views and facts: sources of reads, read-ahead, and the warmth of the cache devices.

/// Where a read found its bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// In memory.
    Memory,
    /// On their way, requested by another reader or read ahead.
    OnItsWay,
    /// On a cache device.
    Flash,
    /// In the pool.
    Pool,
}

/// The number of sources.
pub const SOURCES: usize = 4;

/// Bytes read, by source.
pub type BySource = [u64; SOURCES];

/// One interval of the time series.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Row {
    /// Bytes read, by source.
    pub read: BySource,
    /// Bytes read ahead.
    pub ahead: u64,
    /// Bytes read ahead that were evicted before anybody had used them.
    pub wasted: u64,
    /// Bytes written to cache devices.
    pub fed: u64,
    /// Bytes in the ARC at its end.
    pub arc: u64,
    /// Bytes on cache devices at its end.
    pub l2: u64,
}

/// Shares of the files, in per cent, whose arrival on the cache devices is timed.
pub const SHARES_PERCENT: [u64; 6] = [10, 50, 80, 90, 95, 99];

/// Most rows that are kept.
const MAX_ROWS: usize = 1 << 20;

/// The record of a read side.
#[derive(Clone, Debug, Default)]
pub struct Reads {
    /// Bytes read by each job, by source.
    pub by_job: Vec<BySource>,
    /// Time series.
    pub series: Vec<Row>,
    /// Bytes that were read ahead.
    pub ahead_bytes: u64,
    /// Bytes read ahead that were used.
    pub used_bytes: u64,
    /// Bytes read ahead that were evicted before anybody had used them.
    pub wasted_bytes: u64,
    /// Bytes that would have been read ahead, had there been memory that was not in flight itself.
    pub refused_bytes: u64,
    /// Most bytes that all streams together were allowed ahead of their readers.
    pub most_asked_bytes: u64,
    /// Workers that have read.
    pub readers: u64,
    /// Workers that had read when the first byte was wasted.
    pub readers_before_waste: Option<u64>,
    /// Bytes written to cache devices.
    pub fed_bytes: u64,
    /// Most bytes that their directory took of the ARC.
    pub most_directory_bytes: u64,
    /// Bytes of all files.
    pub file_bytes: u64,
    /// When so much of the files was on the cache devices, by [`SHARES_PERCENT`].
    pub warm_ns: [Option<u64>; SHARES_PERCENT.len()],
    /// Width of a row of the series.
    pub interval_ns: u64,
}

impl Reads {
    /// An empty record over jobs that have files of `file_bytes` together.
    #[must_use]
    pub fn new(jobs: usize, file_bytes: u64, interval_ns: u64) -> Self {
        Self { by_job: vec![BySource::default(); jobs], file_bytes, interval_ns: interval_ns.max(1), ..Self::default() }
    }

    /// The row of the present.
    pub fn row(&mut self, now_ns: u64) -> &mut Row {
        let place = usize::try_from(now_ns / self.interval_ns).unwrap_or(MAX_ROWS).min(MAX_ROWS - 1);
        if place >= self.series.len() {
            let last = self.series.last().map_or(Row::default(), |last| Row { arc: last.arc, l2: last.l2, ..Row::default() });
            self.series.resize(place + 1, last);
        }
        &mut self.series[place]
    }

    /// `bytes` were read by a job.
    pub fn read(&mut self, now_ns: u64, job: usize, source: Source, bytes: u64) {
        self.row(now_ns).read[source as usize] += bytes;
        if let Some(sum) = self.by_job.get_mut(job) {
            sum[source as usize] += bytes;
        }
    }

    /// So many bytes are on the cache devices.
    pub fn warm(&mut self, now_ns: u64, bytes: u64) {
        self.row(now_ns).l2 = bytes;
        for (percent, at_ns) in SHARES_PERCENT.iter().zip(&mut self.warm_ns) {
            if at_ns.is_none() && bytes > 0 && bytes >= super::throttle::mul_div(self.file_bytes, *percent, 100) {
                *at_ns = Some(now_ns);
            }
        }
    }

    /// Bytes of memory held.
    #[must_use]
    pub fn memory_bytes(&self) -> u64 {
        (self.series.capacity() * size_of::<Row>()) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quiet_interval_keeps_what_is_held_and_reads_nothing() {
        let mut reads = Reads::new(1, 100, 10);
        reads.read(5, 0, Source::Pool, 7);
        reads.row(5).arc = 7;
        reads.read(35, 0, Source::Memory, 3);
        let rows: Vec<_> = reads.series.iter().map(|row| (row.read[0], row.read[3], row.arc)).collect();
        assert_eq!(rows, [(0, 7, 7), (0, 0, 7), (0, 0, 7), (3, 0, 7)]);
        assert_eq!(reads.by_job, [[3, 0, 0, 7]]);
    }

    #[test]
    fn warmth_is_timed_once_for_each_share() {
        let mut reads = Reads::new(1, 1000, 10);
        reads.warm(1, 99);
        reads.warm(2, 600);
        reads.warm(3, 100);
        reads.warm(4, 990);
        assert_eq!(reads.warm_ns, [Some(2), Some(2), Some(4), Some(4), Some(4), Some(4)]);
    }
}
