//! Works out a drive from the few numbers of a data sheet.
//!
//! What a sheet leaves open is chosen so that the drive behaves as a sound design would:
//! - the media rate falls linearly from the outer to the inner zone, all zones have as many cylinders, and the sectors per
//!   track follow from rate and speed. The rates are sustained ones, so a track holds a little more than rate times turn:
//!   what head and cylinder switches cost is made up for;
//! - skews are the smallest whole sectors with which neither a read nor a write misses the next sector after a head
//!   switch or a single-cylinder seek;
//! - the number of cylinders follows from the capacity;
//! - the seek curve is `a + b sqrt(d) + c d` through the three seek times (see `seek`);
//! - the buffer reads ahead a fixed number of bytes beyond each read, also starts again after a hit, gives way to another
//!   request at once, and counts a read of the sector just being read ahead as a partial hit.
//!
//! Left out: spares and defects, differences between hit and miss overheads, and overheads that depend on the request
//! before. A sheet does not tell them.

use serde::{Deserialize, Serialize};

use super::geometry::{Layout, Sparing, ZoneSpec};
use super::params::{ByPrevious, ParamError, Params, ReadAhead, Rules, Timing};
use super::rotation::{FASTEST_RPM, SLOWEST_RPM, Spindle};
use super::seek::{SeekCurve, three_point};

/// Bytes of a block.
const BLOCK_BYTES: f64 = 512.0;
/// Nanoseconds in a millisecond.
const NS_PER_MS: f64 = 1e6;
/// Most cylinders a sheet may lead to.
const MOST_CYLINDERS: u64 = 4_000_000;

/// Most sectors on a track that a sheet may lead to.
const MOST_SECTORS: u32 = 100_000;

/// A drive in the numbers of its data sheet.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DataSheet {
    /// Speed in revolutions per minute, 60 to 60 000.
    pub rpm: f64,
    /// Capacity in bytes, at least 1 MB; a part of a 512-byte block is dropped.
    pub capacity_bytes: u64,
    /// Recording surfaces, 1 to 64.
    pub heads: u32,
    /// Sustained rate at the outer edge in bytes per second.
    pub outer_bytes_per_s: u64,
    /// Sustained rate at the inner edge in bytes per second, not above the outer.
    pub inner_bytes_per_s: u64,
    /// Zones, 1 to 100.
    pub zones: u32,
    /// Seek to the next cylinder in ms, above 0.
    pub seek_single_ms: f64,
    /// Average seek in ms, over the distances between uniformly chosen places.
    pub seek_average_ms: f64,
    /// Seek from the first to the last cylinder in ms.
    pub seek_full_ms: f64,
    /// Additional settling before a write in ms, at least 0.
    pub write_settle_ms: f64,
    /// Switch to another head in ms, at least 0.
    pub head_switch_ms: f64,
    /// Command overhead of a read in ms, at least 0.
    pub overhead_read_ms: f64,
    /// Command overhead of a write in ms, at least 0.
    pub overhead_write_ms: f64,
    /// Rate of the interface in bytes per second.
    pub interface_bytes_per_s: u64,
    /// Buffer in bytes, at least one block a segment.
    pub buffer_bytes: u64,
    /// Segments the buffer is divided into, 1 to 4096.
    pub segments: u32,
    /// Read-ahead beyond each read in bytes; 0 for none.
    pub read_ahead_bytes: u64,
    /// Whether writes are reported when they are in the buffer.
    pub write_cache: bool,
    /// Whether what was written stays in the buffer for reads.
    pub keeps_writes: bool,
}

impl Params {
    /// Works out a drive from a data sheet.
    ///
    /// # Errors
    /// Every number that cannot be used, each with its field, what was found and what is accepted.
    pub fn from_data_sheet(sheet: &DataSheet) -> Result<Self, Vec<ParamError>> {
        let errors = sheet.range_errors();
        if !errors.is_empty() {
            return Err(errors);
        }
        let spindle = Spindle::new(sheet.rpm);
        let capacity = sheet.capacity_bytes / BLOCK_BYTES as u64;
        let specs = sheet.zone_specs(&spindle, capacity).map_err(|error| vec![error])?;
        let layout = Layout::new(&specs, sheet.heads, false, Sparing::None, 1, Some(capacity));
        if layout.capacity() != capacity {
            return Err(vec![refuse(
                "capacity_bytes",
                &sheet.capacity_bytes,
                format!("write more bytes or fewer zones than {}: the last zone would be empty", sheet.zones),
            )]);
        }
        let cylinders = layout.cylinders();
        let form = three_point(sheet.seek_single_ms, sheet.seek_average_ms, sheet.seek_full_ms, cylinders).map_err(|(low, high)| {
            let accepted = format!("write {low:.3} to {high:.3} ms, or the curve would fall somewhere");
            vec![refuse("seek_average_ms", &sheet.seek_average_ms, accepted)]
        })?;
        Ok(Self {
            name: String::new(),
            layout,
            spindle,
            seek: SeekCurve::new(form, cylinders),
            timing: sheet.timing(),
            rules: sheet.rules(),
            ignored: Vec::new(),
        })
    }
}

fn refuse(path: &str, found: &impl ToString, accepted: String) -> ParamError {
    ParamError { path: path.to_owned(), found: found.to_string(), accepted }
}

impl DataSheet {
    fn range_errors(&self) -> Vec<ParamError> {
        let turn_ms = 60_000.0 / self.rpm;
        let outer = self.outer_bytes_per_s as f64;
        let checks = [
            ("rpm", self.rpm, SLOWEST_RPM, FASTEST_RPM),
            ("capacity_bytes", self.capacity_bytes as f64, 1e6, 1e15),
            ("heads", f64::from(self.heads), 1.0, 64.0),
            ("outer_bytes_per_s", outer, 1e5, 1e10),
            ("inner_bytes_per_s", self.inner_bytes_per_s as f64, 1e5, outer.max(1e5)),
            ("zones", f64::from(self.zones), 1.0, 100.0),
            ("seek_single_ms", self.seek_single_ms, 0.001, 1000.0),
            ("seek_average_ms", self.seek_average_ms, self.seek_single_ms, 1000.0),
            ("seek_full_ms", self.seek_full_ms, self.seek_average_ms, 1000.0),
            ("write_settle_ms", self.write_settle_ms, 0.0, 1000.0),
            ("head_switch_ms", self.head_switch_ms, 0.0, turn_ms),
            ("overhead_read_ms", self.overhead_read_ms, 0.0, 1000.0),
            ("overhead_write_ms", self.overhead_write_ms, 0.0, 1000.0),
            ("interface_bytes_per_s", self.interface_bytes_per_s as f64, 1e5, 1e11),
            ("segments", f64::from(self.segments), 1.0, 4096.0),
            ("buffer_bytes", self.buffer_bytes as f64, f64::from(self.segments) * BLOCK_BYTES, 1e11),
            ("read_ahead_bytes", self.read_ahead_bytes as f64, 0.0, 1e11),
        ];
        checks
            .into_iter()
            // Written so that a value that is no number fails too.
            .filter(|(_, value, low, high)| !(value >= low && value <= high))
            .map(|(path, value, low, high)| refuse(path, &value, format!("write a number from {low} to {high}")))
            .collect()
    }

    /// Times to leave for a switch to the next head and to the next cylinder, in ns; enough for a write.
    fn switch_times_ns(&self) -> (f64, f64) {
        let head = if self.heads > 1 { self.head_switch_ms } else { 0.0 };
        let settle = self.write_settle_ms;
        ((self.head_switch_ms + settle) * NS_PER_MS, (self.seek_single_ms.max(head) + settle) * NS_PER_MS)
    }

    fn zone_specs(&self, spindle: &Spindle, capacity: u64) -> Result<Vec<ZoneSpec>, ParamError> {
        let turn_ns = spindle.turn_ns();
        let (track_ns, cylinder_ns) = self.switch_times_ns();
        let heads = f64::from(self.heads);
        let switch_ns = (track_ns * (heads - 1.0) + cylinder_ns) / heads;
        let zones = u64::from(self.zones);
        let (outer, inner) = (self.outer_bytes_per_s as f64, self.inner_bytes_per_s as f64);
        let steps = (zones.max(2) - 1) as f64;
        let sectors: Vec<u32> = (0..self.zones)
            .map(|zone| {
                let rate = outer + (inner - outer) * f64::from(zone) / steps;
                // One sector more, because skews are rounded up to whole sectors.
                (rate * (turn_ns + switch_ns) / 1e9 / BLOCK_BYTES).ceil() as u32 + 1
            })
            .collect();
        let most = sectors.iter().copied().max().unwrap_or(0);
        if most > MOST_SECTORS {
            let accepted = format!("write a rate and a speed that lead to at most {MOST_SECTORS} sectors a track, not {most}");
            return Err(refuse("outer_bytes_per_s", &self.outer_bytes_per_s, accepted));
        }
        let on_all: u64 = sectors.iter().map(|sectors| u64::from(*sectors) * u64::from(self.heads)).sum();
        let per_zone = capacity.div_ceil(on_all);
        if per_zone * zones > MOST_CYLINDERS || per_zone * zones < 4 {
            let accepted =
                format!("write a capacity, rates and heads that lead to 4 to {MOST_CYLINDERS} cylinders, not {}", per_zone * zones);
            return Err(refuse("capacity_bytes", &self.capacity_bytes, accepted));
        }
        let specs = sectors.iter().zip(0_u32..).map(|(sectors, zone)| {
            let skew = |ns: f64| ((ns / turn_ns * f64::from(*sectors)) as u64 + 1) as f64;
            let first_cylinder = zone * per_zone as u32;
            ZoneSpec {
                first_cylinder,
                last_cylinder: first_cylinder + per_zone as u32 - 1,
                sectors: *sectors,
                offset: 0.0,
                reserved: 0,
                track_skew: skew(track_ns),
                cylinder_skew: skew(cylinder_ns),
                spares: 0,
                slips: Vec::new(),
            }
        });
        Ok(specs.collect())
    }

    fn timing(&self) -> Timing {
        let each = |ms: f64| ByPrevious { after_read: ms * NS_PER_MS, after_write: ms * NS_PER_MS };
        let block_ns = BLOCK_BYTES * 1e9 / self.interface_bytes_per_s as f64;
        Timing {
            read_hit: each(self.overhead_read_ms),
            read_miss: each(self.overhead_read_ms),
            write: each(self.overhead_write_ms),
            head_switch: self.head_switch_ms * NS_PER_MS,
            write_settle: self.write_settle_ms * NS_PER_MS,
            read_block: block_ns,
            write_block: block_ns,
            ..Timing::default()
        }
    }

    fn rules(&self) -> Rules {
        let blocks = |bytes: u64| bytes / BLOCK_BYTES as u64;
        Rules {
            segments: self.segments,
            segment_blocks: blocks(self.buffer_bytes / u64::from(self.segments)).max(1),
            read_ahead: match blocks(self.read_ahead_bytes) {
                0 => ReadAhead::None,
                blocks => ReadAhead::Blocks(blocks),
            },
            caching: true,
            early_writes: self.write_cache,
            append_writes: true,
            reads_hit_written: self.keeps_writes,
            almost_hits: true,
            free_blocks: false,
            read_ahead_on_idle_hit: true,
            forget_requested: false,
            stop_mid_sector: true,
            partial_at_once: true,
            never_disconnect: false,
            hold_writes: false,
            high_water: 0.0,
            water_by_request: true,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::fixtures::desktop;
    use super::super::{Hdd, Op};
    use super::*;
    use std::sync::Arc;

    fn hdd(sheet: &DataSheet) -> Hdd {
        Hdd::new(Arc::new(Params::from_data_sheet(sheet).expect("a sound sheet")))
    }

    /// Sustained rate of back-to-back requests in bytes per second, after a start.
    fn stream(sheet: &DataSheet, op: Op, first: u64, bytes: u64) -> f64 {
        let mut drive = hdd(sheet);
        let sectors = (bytes / 512) as u32;
        let (mut now, mut lbn, mut from) = (0, first, 0);
        let (warm, rounds) = ((32 << 20) / bytes, (256 << 20) / bytes);
        for round in 0..warm + rounds {
            if round == warm {
                from = now;
            }
            now = drive.serve(now, op, lbn, sectors).done_ns;
            lbn += u64::from(sectors);
        }
        (rounds * bytes) as f64 * 1e9 / (now - from) as f64
    }

    #[test]
    fn each_command_costs_what_the_sheet_says() {
        let sheet = DataSheet { overhead_read_ms: 0.25, overhead_write_ms: 0.75, ..desktop() };
        assert_eq!(hdd(&sheet).serve(0, Op::Read, 1 << 20, 8).overhead_ns, 250_000);
        assert_eq!(hdd(&sheet).serve(0, Op::Write, 1 << 20, 8).overhead_ns, 750_000);
    }

    #[test]
    fn the_capacity_is_met_to_the_block() {
        let params = Params::from_data_sheet(&desktop()).expect("a sound sheet");
        assert_eq!(params.capacity_sectors(), 4_000_787_030_016 / 512);
        assert_eq!(params.zones().len(), 20);
    }

    #[test]
    fn sequential_reads_run_at_the_sheets_rate_at_both_edges_thanks_to_read_ahead() {
        let sheet = desktop();
        for bytes in [64 << 10, 256 << 10, 1 << 20] {
            let outer = stream(&sheet, Op::Read, 0, bytes) / sheet.outer_bytes_per_s as f64;
            assert!((0.98..1.03).contains(&outer), "{bytes}: {outer}");
        }
        let near_end = sheet.capacity_bytes / 512 - 1_000_000;
        let inner = stream(&sheet, Op::Read, near_end, 1 << 20) / sheet.inner_bytes_per_s as f64;
        assert!((0.98..1.03).contains(&inner), "{inner}");
        let bare = DataSheet { read_ahead_bytes: 0, ..sheet };
        assert!(stream(&bare, Op::Read, 0, 64 << 10) < 0.1 * bare.outer_bytes_per_s as f64);
    }

    #[test]
    fn cached_sequential_writes_run_at_the_media_rate_and_no_faster() {
        let sheet = DataSheet { write_cache: true, ..desktop() };
        let rate = stream(&sheet, Op::Write, 0, 1 << 20) / sheet.outer_bytes_per_s as f64;
        assert!((0.95..1.05).contains(&rate), "{rate}");
    }

    #[test]
    fn skews_are_just_enough_for_reads_and_writes() {
        let sheet = DataSheet { read_ahead_bytes: 0, ..desktop() };
        for op in [Op::Read, Op::Write] {
            let mut drive = hdd(&sheet);
            let service = drive.serve(0, op, 0, 1 << 16);
            let rate = f64::from(1 << 16) * 512.0 * 1e9 / (service.done_ns - service.overhead_ns) as f64 / sheet.outer_bytes_per_s as f64;
            assert!((0.93..1.03).contains(&rate), "{op:?} {rate}");
        }
    }

    #[test]
    fn a_sheet_with_mistakes_is_refused_with_all_of_them() {
        let sheet = DataSheet { rpm: 0.0, heads: 0, seek_full_ms: f64::NAN, ..desktop() };
        let errors = Params::from_data_sheet(&sheet).expect_err("three mistakes");
        let paths: Vec<&str> = errors.iter().map(|error| error.path.as_str()).collect();
        assert_eq!(paths, ["rpm", "heads", "seek_full_ms"]);
        let sheet = DataSheet { seek_average_ms: 17.0, ..desktop() };
        let errors = Params::from_data_sheet(&sheet).expect_err("the curve falls");
        assert!(errors[0].to_string().starts_with("seek_average_ms: found 17, write "), "{}", errors[0]);
        let sheet = DataSheet { capacity_bytes: 10_000_000, ..desktop() };
        assert_eq!(Params::from_data_sheet(&sheet).expect_err("a track a zone")[0].path, "capacity_bytes");
    }
}
