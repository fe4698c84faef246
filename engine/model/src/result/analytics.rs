//! A server's own view over time: operations, bytes and time of each client's requests, of each device, and its cores.
//!
//! Everything is counted where it happens and read at the end of each interval, so a row is a difference of two readings and
//! nothing is sampled. The clients' own view stands beside it: what they have completed, and how long they waited, the network
//! included. Between the two lie the network and the client.

use super::columns::Take::{Index, Whole};
use super::columns::{Table, Tables};

/// Operations of one client or job, in both directions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Served {
    /// Operations.
    pub ios: u64,
    /// Bytes.
    pub bytes: u64,
    /// Sum of their times, in nanoseconds.
    pub total_ns: u64,
}

impl Served {
    /// Adds an operation.
    pub fn add(&mut self, bytes: u64, ns: u64) {
        self.ios += 1;
        self.bytes += bytes;
        self.total_ns += ns;
    }

    fn since(self, before: Self) -> Self {
        Self { ios: self.ios - before.ios, bytes: self.bytes - before.bytes, total_ns: self.total_ns - before.total_ns }
    }
}

/// All counters at one time.
#[derive(Clone, Debug, Default)]
pub struct Reading {
    /// When.
    pub time_ns: u64,
    /// Cycles that the server's cores have spent.
    pub cycles: u64,
    /// Work of the server, by client.
    pub served: Vec<Served>,
    /// Work seen by jobs, by job.
    pub seen: Vec<Served>,
    /// Work of each device: operations, bytes, and busy time.
    pub devices: Vec<Served>,
}

/// Readings at the ends of intervals.
#[derive(Clone, Debug, Default)]
pub struct Analytics {
    /// The readings, in order of time.
    pub readings: Vec<Reading>,
}

/// The work of one client, device or core in an interval.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    /// Start of the interval.
    pub time_ns: u64,
    /// Its length.
    pub width_ns: u64,
    /// 0 a client, 1 a job, 2 a device.
    pub of: u32,
    /// Number of the client, device or core.
    pub who: u32,
    /// Its work.
    pub did: Served,
}

/// A row for each interval and each client (`of` 0), job (1) and device (2).
const ANALYTICS: Table<Row> = Table::new(
    "analytics",
    &[
        ("time_ns", Whole(|row| row.time_ns)),
        ("width_ns", Whole(|row| row.width_ns)),
        ("of", Index(|row| row.of)),
        ("who", Index(|row| row.who)),
        ("ios", Whole(|row| row.did.ios)),
        ("bytes", Whole(|row| row.did.bytes)),
        ("total_ns", Whole(|row| row.did.total_ns)),
    ],
);

/// A row for each interval.
const CORES: Table<[u64; 3]> =
    Table::new("cores", &[("time_ns", Whole(|row| row[0])), ("width_ns", Whole(|row| row[1])), ("cycles", Whole(|row| row[2]))]);

impl Analytics {
    /// Bytes of memory held.
    #[must_use]
    pub fn memory_bytes(&self) -> u64 {
        let rows = |reading: &Reading| reading.served.len() + reading.seen.len() + reading.devices.len();
        self.readings.first().map_or(0, |first| (self.readings.len() * (size_of::<Reading>() + rows(first) * size_of::<Served>())) as u64)
    }

    /// All rows, by interval.
    pub fn rows(&self) -> impl Iterator<Item = Row> + Clone + '_ {
        self.readings.windows(2).flat_map(|pair| {
            let [before, after] = pair else { return Vec::new().into_iter() };
            let mut rows = Vec::new();
            let lists = [(&before.served, &after.served), (&before.seen, &after.seen), (&before.devices, &after.devices)];
            for (of, (old, new)) in (0..).zip(lists) {
                rows.extend((0..).zip(old.iter().zip(new)).map(|(who, (old, new))| Row {
                    time_ns: before.time_ns,
                    width_ns: after.time_ns - before.time_ns,
                    of,
                    who,
                    did: new.since(*old),
                }));
            }
            rows.into_iter()
        })
    }

    /// Start, length and cycles of each interval.
    pub fn cores(&self) -> impl Iterator<Item = [u64; 3]> + Clone + '_ {
        self.readings.windows(2).map(|pair| [pair[0].time_ns, pair[1].time_ns - pair[0].time_ns, pair[1].cycles - pair[0].cycles])
    }
    /// Reports the tables of a run, whether it kept analytics or not.
    pub fn tables(analytics: Option<&Self>, tables: &mut Tables) {
        tables.table(&ANALYTICS, analytics.into_iter().flat_map(Self::rows));
        tables.table(&CORES, analytics.into_iter().flat_map(Self::cores));
    }
}
