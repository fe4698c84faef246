//! The report of devices: metrics over all of them, and the table `devices`.

use super::credits::Row;
use super::shingled::Row as ShingledRow;
use super::slc::Row as SlcRow;
use super::ssd::Wear;
use super::{Device, Usage};
use crate::kernel::{Holder, UnsafeRow, Volatile};
use crate::result::analytics::Served;
use crate::result::columns::Take::{Index, Real, Whole};
use crate::result::columns::{Table, Tables};
use crate::result::metrics::{Metrics, Unit};
use seeklab_kernel::NS_PER_S;
use seeklab_spec::to_f64;

/// A row for each device.
const DEVICES: Table<(u32, Usage)> = Table::new(
    "devices",
    &[
        ("index", Index(|row| row.0)),
        ("reads", Whole(|row| row.1.ios[0])),
        ("writes", Whole(|row| row.1.ios[1])),
        ("read_bytes", Whole(|row| row.1.bytes[0])),
        ("write_bytes", Whole(|row| row.1.bytes[1])),
        ("read_response_ns", Whole(|row| row.1.response_ns[0])),
        ("write_response_ns", Whole(|row| row.1.response_ns[1])),
        ("flushes", Whole(|row| row.1.flushes)),
        ("busy_ns", Whole(|row| row.1.busy_ns)),
    ],
);

/// A row for each interval of the series, with its start: what a power failure would have lost.
const UNSAFE: Table<(u64, UnsafeRow)> = Table::new(
    "unsafe",
    &[
        ("time_ns", Whole(|row| row.0)),
        ("most_bytes", Whole(|row| row.1.most)),
        ("client_bytes", Whole(|row| row.1.at_end[Holder::Client as usize])),
        ("file_system_bytes", Whole(|row| row.1.at_end[Holder::FileSystem as usize])),
        ("device_bytes", Whole(|row| row.1.at_end[Holder::Device as usize])),
        ("controller_bytes", Whole(|row| row.1.at_end[Holder::Controller as usize])),
    ],
);

impl Usage {
    /// The counters as those of operations; the time is that the device was busy.
    #[must_use]
    pub fn served(&self) -> Served {
        Served { ios: self.ios.iter().sum(), bytes: self.bytes.iter().sum(), total_ns: self.busy_ns }
    }
}

/// Reports what the data devices have done, all together.
pub fn metrics(usages: &[Usage], metrics: &mut Metrics) {
    let busy_ns = usages.iter().map(|usage| usage.busy_ns).sum();
    metrics.bytes("device_bytes", "Bytes that the data devices read and wrote.", usages.iter().flat_map(|usage| usage.bytes).sum());
    metrics.share(
        "device_busy_share_percent",
        "Share of the time that the data devices were busy, averaged over them.",
        busy_ns,
        usages.len() as u64 * metrics.run.now_ns,
    );
}

/// A row for each interval of a volume with credits: when it began, what began in it, and the credits at its end.
const CREDITS: Table<(u32, u64, Row)> = Table::new(
    "credits",
    &[
        ("device", Index(|row| row.0)),
        ("time_ns", Whole(|row| row.1)),
        ("ios", Whole(|row| row.2.ios)),
        ("active_ns", Whole(|row| row.2.active_ns)),
        ("throttled_ns", Whole(|row| row.2.throttled_ns)),
        ("credits", Real(|row| to_f64(row.2.credits) / to_f64(NS_PER_S))),
    ],
);

/// Reports the credits of all volumes that have some, over time.
pub fn credits_tables<'a>(devices: impl Iterator<Item = &'a Device>, tables: &mut Tables) {
    let buckets = (0..).zip(devices).filter_map(|(index, device)| Some((index, device.bucket()?)));
    tables.table(&CREDITS, buckets.flat_map(|(index, bucket)| bucket.rows().map(move |(time_ns, row)| (index, time_ns, row))));
}

/// A row for each interval of a drive with an SLC cache: when it began, what was written and folded in it, and the cache at its end.
const SLC: Table<(u32, u64, SlcRow)> = Table::new(
    "slc",
    &[
        ("device", Index(|row| row.0)),
        ("time_ns", Whole(|row| row.1)),
        ("cached_bytes", Whole(|row| row.2.cached)),
        ("direct_bytes", Whole(|row| row.2.direct)),
        ("folded_bytes", Whole(|row| row.2.folded)),
        ("used_bytes", Whole(|row| row.2.used)),
        ("limit_bytes", Whole(|row| row.2.limit)),
        ("full_bytes", Whole(|row| row.2.full)),
    ],
);

/// Reports the SLC caches of all drives that are described by one, over time.
pub fn slc_tables<'a>(devices: impl Iterator<Item = &'a Device>, tables: &mut Tables) {
    let caches = (0..).zip(devices).filter_map(|(index, device)| Some((index, device.slc()?)));
    tables.table(&SLC, caches.flat_map(|(index, cache)| cache.rows().map(move |(time_ns, row)| (index, time_ns, row))));
}

/// A row for each interval of a shingled drive: when it began, what was written and cleaned in it, and the drive at its end.
const SHINGLED: Table<(u32, u64, ShingledRow)> = Table::new(
    "shingled",
    &[
        ("device", Index(|row| row.0)),
        ("time_ns", Whole(|row| row.1)),
        ("cached_bytes", Whole(|row| row.2.cached)),
        ("direct_bytes", Whole(|row| row.2.direct)),
        ("cleaning_ns", Whole(|row| row.2.cleaning_ns)),
        ("cleans", Whole(|row| row.2.cleans)),
        ("used_bytes", Whole(|row| row.2.used)),
        ("write_at_bytes", Whole(|row| row.2.write_at)),
        ("clean_at_bytes", Whole(|row| row.2.clean_at)),
    ],
);

/// A row for each interval and part of the addresses of a shingled drive: what the cache holds of the part at the interval's end.
const SHINGLED_PARTS: Table<(u32, (u64, u64, u64))> = Table::new(
    "shingled_parts",
    &[
        ("device", Index(|row| row.0)),
        ("time_ns", Whole(|row| row.1.0)),
        ("part", Whole(|row| row.1.1)),
        ("cached_bytes", Whole(|row| row.1.2)),
    ],
);

/// Reports the zones of all shingled drives, over time.
pub fn shingled_tables<'a>(devices: impl Iterator<Item = &'a Device>, tables: &mut Tables) {
    let drives: Vec<_> = (0..).zip(devices).filter_map(|(index, device)| Some((index, device.shingled()?))).collect();
    let rows = |(index, zones): &(u32, &'a super::shingled::Zones)| {
        let index = *index;
        zones.rows().map(move |(time_ns, row)| (index, time_ns, row)).collect::<Vec<_>>()
    };
    tables.table(&SHINGLED, drives.iter().flat_map(rows));
    tables.table(&SHINGLED_PARTS, drives.iter().flat_map(|(index, zones)| zones.pictures().map(|picture| (*index, picture))));
}

/// Reports what a power failure would lose when the jobs have ended, the most that it would have lost before, and whose memory had it.
pub fn unsafe_metrics(volatile: &Volatile, at_end: u64, metrics: &mut Metrics) {
    metrics.bytes("unsafe_bytes", "Acknowledged bytes that a power failure at the end of the run would lose.", at_end);
    metrics.bytes(
        "unsafe_max_bytes",
        "Maximum acknowledged bytes that a power failure would have lost at any moment.",
        volatile.most_bytes(),
    );
    for (name, holder) in [
        ("unsafe_client_max_bytes", Holder::Client),
        ("unsafe_file_system_max_bytes", Holder::FileSystem),
        ("unsafe_device_max_bytes", Holder::Device),
        ("unsafe_controller_max_bytes", Holder::Controller),
    ] {
        if volatile.most_of(holder) > 0 {
            metrics.bytes(name, "Maximum acknowledged bytes that only this memory held.", volatile.most_of(holder));
        }
    }
}

/// Reports what flash translation made of the writes to these devices, if some have it and were written to.
pub fn flash_metrics<'a>(devices: impl Iterator<Item = &'a Device>, metrics: &mut Metrics) {
    let Some(wear) = devices.filter_map(Device::wear).reduce(Wear::plus).filter(|wear| wear.host_pages + wear.trimmed_pages > 0) else {
        return;
    };
    metrics.count("ssd_host_pages", "Pages that the host wrote to flash.", wear.host_pages);
    metrics.count("ssd_moved_pages", "Pages that garbage collection moved.", wear.moved_pages);
    if wear.folded_pages > 0 {
        metrics.count("ssd_folded_pages", "Pages that the drives moved out of their SLC cache.", wear.folded_pages);
    }
    if wear.padded_pages > 0 {
        metrics.count("ssd_padded_pages", "Pages left empty by programs that started before they were full.", wear.padded_pages);
    }
    if wear.absorbed_pages > 0 {
        metrics.count("ssd_absorbed_pages", "Pages overwritten in the write buffer before they were programmed.", wear.absorbed_pages);
    }
    if wear.trimmed_pages > 0 {
        metrics.count("ssd_trimmed_pages", "Pages with data that the host trimmed.", wear.trimmed_pages);
    }
    metrics.add("ssd_write_amplification", "Pages programmed per page that the host wrote.", Unit::Times, wear.write_amplification());
}

/// Reports the table of all devices.
pub fn tables(usages: impl IntoIterator<Item = Usage>, tables: &mut Tables) {
    tables.table(&DEVICES, (0..).zip(usages));
}

/// Reports the table of what a power failure would have lost, over time.
pub fn unsafe_tables(volatile: Option<(&Volatile, u64)>, interval_ns: u64, tables: &mut Tables) {
    let rows = volatile.into_iter().flat_map(|(volatile, now_ns)| volatile.series(now_ns));
    tables.table(&UNSAFE, (0..).zip(rows).map(|(row, of)| (row * interval_ns, of)));
}
