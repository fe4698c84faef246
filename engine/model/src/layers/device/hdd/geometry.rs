//! Where a logical block lies: cylinder, head, sector and the angle of its start.
//!
//! Rules as documented for DiskSim parameter files (layout `g1`). A drive has zones, each with its own sectors per track,
//! skews and spares; logical blocks run on from zone to zone, cylinders need not. Inside a zone a block's number, counted
//! with the reserved sectors at the zone's beginning, becomes a physical sector number by the sparing scheme:
//! - spare tracks: slipped tracks are passed over;
//! - spare sectors on each track: the last sectors of every track stay unused;
//! - spares at the zone's or the drive's end: slipped sectors are passed over;
//! - spares per range of cylinders: the same within each range, with the range's last sectors unused.
//!
//! Sector 0 of a track is turned against the previous track's by the track skew, or by the cylinder skew on a new cylinder,
//! so that a sequential transfer finds its next sector after the switch.
//!
//! Left out: defects remapped to spares (the measured drives list only one, mapped onto itself), and layouts that visit
//! cylinders in another order.

/// Skews are held in thousandths of a sector.
const SKEW_UNITS: u64 = 1000;

/// Sparing scheme of a drive, with its number in parameter files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sparing {
    /// 0: none.
    None,
    /// 1: spare tracks at the zone's end; slips are track numbers.
    Tracks,
    /// 3: spare sectors at each track's end.
    SectorsPerTrack,
    /// 7: spares at the drive's end; slips are sector numbers.
    EndOfDrive,
    /// 8: spares at the end of each range of cylinders.
    PerRange,
    /// 9: spares at the zone's end; slips are sector numbers.
    EndOfZone,
}

/// A zone as described in a parameter file. Skews and the offset in sectors of the zone.
#[derive(Clone, Debug, PartialEq)]
pub struct ZoneSpec {
    /// First cylinder.
    pub first_cylinder: u32,
    /// Last cylinder, not below the first.
    pub last_cylinder: u32,
    /// Sectors on a track, at least 1.
    pub sectors: u32,
    /// Angle of the zone's first sector.
    pub offset: f64,
    /// Sectors at the zone's beginning that hold no logical block.
    pub reserved: u64,
    /// Turn of the next track's sector 0 within a cylinder.
    pub track_skew: f64,
    /// Turn of the next cylinder's sector 0 against the last track of the one before.
    pub cylinder_skew: f64,
    /// Spares; what they count depends on the scheme.
    pub spares: u64,
    /// Slipped sectors or tracks, relative to the zone's beginning, in any order.
    pub slips: Vec<u64>,
}

/// Sectors that hold no block although blocks follow them, in rising order.
#[derive(Clone, Debug, Default, PartialEq)]
struct Slips {
    places: Vec<u64>,
}

impl Slips {
    /// A place listed twice slips the next one too: each slip pushes everything behind it on by one.
    fn new(mut places: Vec<u64>) -> Self {
        places.sort_unstable();
        for i in 1..places.len() {
            places[i] = places[i].max(places[i - 1] + 1);
        }
        Self { places }
    }

    /// Number of slips before `place`.
    fn before(&self, place: u64) -> usize {
        self.places.partition_point(|slip| *slip < place)
    }

    /// The place of the item with the number `number`, counted from `from`'s place on: slips with an index from `from` to
    /// `to` take part.
    fn place_of(&self, number: u64, from: usize, to: usize) -> u64 {
        let (mut low, mut high) = (from, to);
        while low < high {
            let middle = low.midpoint(high);
            if self.places[middle] - (middle - from) as u64 <= number {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        number + (low - from) as u64
    }
}

/// A zone made ready for use.
#[derive(Clone, Debug, PartialEq)]
pub struct Zone {
    first_cylinder: u32,
    last_cylinder: u32,
    sectors: u32,
    first_lbn: u64,
    blocks: u64,
    reserved: u64,
    spares: u64,
    slips: Slips,
    offset: u64,
    track_skew: u64,
    cylinder_skew: u64,
}

impl Zone {
    /// First block number of a track that begins at the place `base`, one past its last, and whether a slip lies on it.
    /// `number_base` is the number that `base` would have without the slips from index `from` on; `before` is the index of
    /// the first slip behind a block known to lie on the track.
    fn slipped_track(&self, base: u64, number_base: u64, from: usize, before: u64) -> (u64, u64, bool) {
        let places = &self.slips.places;
        let end = base + u64::from(self.sectors);
        let mut low = (before as usize).min(places.len());
        let mut high = low;
        while low > from && places[low - 1] >= base {
            low -= 1;
        }
        while high < places.len() && places[high] < end {
            high += 1;
        }
        let first = number_base - (low - from) as u64;
        let past = number_base + u64::from(self.sectors) - (high - from) as u64;
        (first, past, low != high)
    }

    /// First cylinder of the zone.
    #[must_use]
    pub fn first_cylinder(&self) -> u32 {
        self.first_cylinder
    }

    /// Last cylinder of the zone.
    #[must_use]
    pub fn last_cylinder(&self) -> u32 {
        self.last_cylinder
    }

    /// Sectors on each of its tracks.
    #[must_use]
    pub fn sectors_per_track(&self) -> u32 {
        self.sectors
    }

    /// First logical block.
    #[must_use]
    pub fn first_lbn(&self) -> u64 {
        self.first_lbn
    }

    /// Logical blocks in the zone.
    #[must_use]
    pub fn blocks(&self) -> u64 {
        self.blocks
    }
}

/// One track, with the logical blocks on it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Track {
    /// Index of its zone.
    pub zone: u32,
    /// Physical cylinder.
    pub cylinder: u32,
    /// Physical head.
    pub head: u32,
    /// Sectors on the track, spares and slipped ones included.
    pub sectors: u32,
    /// First logical block on the track.
    pub first: u64,
    /// One past the last logical block on the track.
    pub end: u64,
    /// Angle of sector 0 in turns, at least 0, below 1.
    pub start_turns: f64,
    /// Sector of the first block, when all blocks lie in consecutive sectors.
    first_sector: u32,
    /// Whether a slipped sector lies among the blocks.
    slipped: bool,
    /// Physical sector number of sector 0 within the zone.
    base: u64,
}

/// The layout of a drive.
#[derive(Clone, Debug, PartialEq)]
pub struct Layout {
    surfaces: u32,
    serpentine: bool,
    sparing: Sparing,
    range_cylinders: u32,
    zones: Vec<Zone>,
    capacity: u64,
    cylinders: u32,
}

/// Number of logical blocks in a zone.
///
/// # Errors
/// When spares and reserved sectors leave no block: what is there, in words.
pub fn usable_blocks(spec: &ZoneSpec, surfaces: u32, sparing: Sparing, range_cylinders: u32) -> Result<u64, String> {
    let cylinders = u64::from(spec.last_cylinder - spec.first_cylinder) + 1;
    let tracks = cylinders * u64::from(surfaces);
    let sectors = u64::from(spec.sectors);
    let total = tracks * sectors;
    let left = match sparing {
        Sparing::None => Some(total),
        Sparing::Tracks => tracks.checked_sub(spec.spares).map(|usable| usable * sectors),
        Sparing::SectorsPerTrack => sectors.checked_sub(spec.spares).map(|usable| usable * tracks),
        Sparing::EndOfDrive => total.checked_sub(spec.slips.len() as u64),
        Sparing::EndOfZone => total.checked_sub(spec.spares),
        Sparing::PerRange => {
            let range = u64::from(range_cylinders);
            let in_range = range * u64::from(surfaces) * sectors;
            if spec.spares >= in_range { None } else { total.checked_sub(spec.spares * (cylinders / range)) }
        }
    };
    match left.and_then(|left| left.checked_sub(spec.reserved)) {
        Some(blocks) if blocks > 0 => Ok(blocks),
        _ => Err(format!("{total} sectors, none left after spares and reserved ones")),
    }
}

impl Layout {
    /// Builds the layout. Zones are in order of their cylinders, none overlaps, each has a block (see [`usable_blocks`]),
    /// `surfaces` and `range_cylinders` are at least 1; `params` checks all of that. `limit` cuts the capacity to a number
    /// of blocks within the last zone.
    #[must_use]
    pub fn new(specs: &[ZoneSpec], surfaces: u32, serpentine: bool, sparing: Sparing, range_cylinders: u32, limit: Option<u64>) -> Self {
        let mut zones = Vec::with_capacity(specs.len());
        let mut next_lbn = 0;
        let mut cylinders = 0;
        for spec in specs {
            let usable = usable_blocks(spec, surfaces, sparing, range_cylinders).unwrap_or(1);
            let blocks = limit.map_or(usable, |limit| usable.min(limit.saturating_sub(next_lbn)).max(1));
            let turn = u64::from(spec.sectors) * SKEW_UNITS;
            let units = |skew: f64| ((skew * SKEW_UNITS as f64 + 0.5).rem_euclid(turn as f64)) as u64 % turn;
            zones.push(Zone {
                first_cylinder: spec.first_cylinder,
                last_cylinder: spec.last_cylinder,
                sectors: spec.sectors,
                first_lbn: next_lbn,
                blocks,
                reserved: spec.reserved,
                spares: spec.spares,
                slips: Slips::new(spec.slips.clone()),
                offset: units(spec.offset),
                track_skew: units(spec.track_skew),
                cylinder_skew: units(spec.cylinder_skew),
            });
            next_lbn += blocks;
            cylinders = spec.last_cylinder + 1;
        }
        Self { surfaces, serpentine, sparing, range_cylinders, zones, capacity: next_lbn, cylinders }
    }

    /// Logical blocks on the drive: the sum over its zones.
    #[must_use]
    pub fn capacity(&self) -> u64 {
        self.capacity
    }

    /// One more than the highest cylinder that holds blocks.
    #[must_use]
    pub fn cylinders(&self) -> u32 {
        self.cylinders
    }

    /// Number of surfaces, which is the number of heads.
    #[must_use]
    pub fn surfaces(&self) -> u32 {
        self.surfaces
    }

    /// The zones, outermost first.
    #[must_use]
    pub fn zones(&self) -> &[Zone] {
        &self.zones
    }

    fn zone_of(&self, lbn: u64) -> usize {
        self.zones.partition_point(|zone| zone.first_lbn <= lbn).saturating_sub(1)
    }

    /// Physical sector number, within its zone, of block `number` counted from the zone's beginning.
    fn physical(&self, zone: &Zone, number: u64) -> u64 {
        let sectors = u64::from(zone.sectors);
        let slips = &zone.slips;
        match self.sparing {
            Sparing::None => number,
            Sparing::Tracks => {
                let track = slips.place_of(number / sectors, 0, slips.places.len());
                track * sectors + number % sectors
            }
            Sparing::SectorsPerTrack => {
                let usable = sectors - zone.spares;
                number / usable * sectors + number % usable
            }
            Sparing::EndOfDrive | Sparing::EndOfZone => slips.place_of(number, 0, slips.places.len()),
            Sparing::PerRange => {
                let (all, usable) = self.range_sectors(zone);
                let (range, within) = (number / usable, number % usable);
                let (from, to) = (slips.before(range * all), slips.before((range + 1) * all));
                slips.place_of(range * all + within, from, to)
            }
        }
    }

    /// Sectors of a sparing range, and how many of them are usable.
    fn range_sectors(&self, zone: &Zone) -> (u64, u64) {
        let all = u64::from(self.range_cylinders) * u64::from(self.surfaces) * u64::from(zone.sectors);
        (all, all - zone.spares)
    }

    /// Cylinder of a block; blocks beyond the end count as the last.
    #[must_use]
    pub fn cylinder_of(&self, lbn: u64) -> u32 {
        let lbn = lbn.min(self.capacity - 1);
        let zone = &self.zones[self.zone_of(lbn)];
        let place = self.physical(zone, lbn - zone.first_lbn + zone.reserved);
        zone.first_cylinder + (place / (u64::from(zone.sectors) * u64::from(self.surfaces))) as u32
    }

    /// The track of a block; blocks beyond the end count as the last.
    #[must_use]
    pub fn track_of(&self, lbn: u64) -> Track {
        let lbn = lbn.min(self.capacity - 1);
        let index = self.zone_of(lbn);
        let zone = &self.zones[index];
        let number = lbn - zone.first_lbn + zone.reserved;
        let place = self.physical(zone, number);
        let sectors = u64::from(zone.sectors);
        let track = place / sectors;
        let base = track * sectors;

        // Numbers of the blocks on the track, and the sector of the first.
        let (first, end, slipped) = match self.sparing {
            Sparing::None => (base, base + sectors, false),
            Sparing::Tracks => {
                let first = number / sectors * sectors;
                (first, first + sectors, false)
            }
            Sparing::SectorsPerTrack => {
                let usable = sectors - zone.spares;
                let first = number / usable * usable;
                (first, first + usable, false)
            }
            Sparing::EndOfDrive | Sparing::EndOfZone => {
                let before = place - number;
                zone.slipped_track(base, base, 0, before)
            }
            Sparing::PerRange => {
                let (all, usable) = self.range_sectors(zone);
                let range = number / usable;
                let from = zone.slips.before(range * all);
                let shift = range * all - range * usable;
                let before = from as u64 + (place - number - shift);
                let (first, end, slipped) = zone.slipped_track(base, base - shift, from, before);
                (first.max(range * usable), end.min((range + 1) * usable), slipped)
            }
        };
        // A drive with more slips than spares may push a block out of its range; it still lies on its own track.
        let first = first.max(zone.reserved).min(number);
        let end = end.min(zone.reserved + zone.blocks).max(number + 1);
        let in_zone = track / u64::from(self.surfaces);
        let logical_head = track % u64::from(self.surfaces);
        let head = if self.serpentine && in_zone % 2 == 1 { u64::from(self.surfaces) - 1 - logical_head } else { logical_head };
        let switches = logical_head + (u64::from(self.surfaces) - 1) * in_zone;
        let turn = sectors * SKEW_UNITS;
        let angle = (zone.offset + switches % turn * zone.track_skew + in_zone % turn * zone.cylinder_skew) % turn;
        let to_lbn = zone.first_lbn.wrapping_sub(zone.reserved);
        Track {
            zone: index as u32,
            cylinder: zone.first_cylinder + in_zone as u32,
            head: head as u32,
            sectors: zone.sectors,
            first: first.wrapping_add(to_lbn),
            end: end.wrapping_add(to_lbn),
            start_turns: angle as f64 / turn as f64,
            first_sector: if slipped { 0 } else { (place - base).saturating_sub(number - first) as u32 },
            slipped,
            base,
        }
    }

    /// Sector of `lbn` on its track, and how many blocks from it on lie in consecutive sectors of the track.
    #[must_use]
    pub fn run(&self, track: &Track, lbn: u64) -> (u32, u64) {
        let ahead = track.end - lbn;
        if !track.slipped {
            return (track.first_sector + (lbn - track.first) as u32, ahead);
        }
        let zone = &self.zones[track.zone as usize];
        let place = self.physical(zone, lbn - zone.first_lbn + zone.reserved);
        let next = zone.slips.before(place);
        let free = zone.slips.places.get(next).map_or(ahead, |slip| (slip - place).min(ahead));
        // Saturates only for blocks pushed off their range by more slips than spares.
        (place.saturating_sub(track.base) as u32, free.max(1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn zone(first: u32, last: u32, sectors: u32) -> ZoneSpec {
        ZoneSpec {
            first_cylinder: first,
            last_cylinder: last,
            sectors,
            offset: 0.0,
            reserved: 0,
            track_skew: 3.0,
            cylinder_skew: 7.0,
            spares: 0,
            slips: Vec::new(),
        }
    }

    fn place(layout: &Layout, lbn: u64) -> (u32, u32, u32) {
        let track = layout.track_of(lbn);
        (track.cylinder, track.head, layout.run(&track, lbn).0)
    }

    #[test]
    fn blocks_fill_a_track_then_the_next_head_then_the_next_cylinder_then_the_next_zone() {
        let layout = Layout::new(&[zone(0, 1, 10), zone(5, 6, 8)], 2, false, Sparing::None, 1, None);
        assert_eq!(layout.capacity(), 40 + 32);
        assert_eq!(place(&layout, 9), (0, 0, 9));
        assert_eq!(place(&layout, 10), (0, 1, 0));
        assert_eq!(place(&layout, 20), (1, 0, 0));
        assert_eq!(place(&layout, 40), (5, 0, 0));
        assert_eq!(layout.cylinder_of(71), 6);
    }

    #[test]
    fn a_serpentine_drive_runs_its_heads_backwards_in_odd_cylinders() {
        let layout = Layout::new(&[zone(0, 3, 10)], 3, true, Sparing::None, 1, None);
        let heads: Vec<u32> = (0..6).map(|track| layout.track_of(track * 10).head).collect();
        assert_eq!(heads, [0, 1, 2, 2, 1, 0]);
    }

    #[test]
    fn a_cylinder_change_turns_by_its_own_skew_instead_of_a_track_skew() {
        let layout = Layout::new(&[zone(0, 3, 100)], 2, false, Sparing::None, 1, None);
        let start = |lbn| (layout.track_of(lbn).start_turns * 100.0).round() as u32;
        assert_eq!([start(0), start(100), start(200), start(300)], [0, 3, 10, 13]);
    }

    #[test]
    fn slipped_sectors_are_passed_over_and_a_run_ends_before_them() {
        let spec = ZoneSpec { slips: vec![12, 3], spares: 2, ..zone(0, 0, 10) };
        let layout = Layout::new(&[spec], 2, false, Sparing::EndOfZone, 1, None);
        assert_eq!(layout.capacity(), 18);
        let track = layout.track_of(0);
        assert_eq!((track.first, track.end), (0, 9));
        assert_eq!(layout.run(&track, 0), (0, 3));
        assert_eq!(layout.run(&track, 3), (4, 6));
        assert_eq!(place(&layout, 9), (0, 1, 0));
        assert_eq!(place(&layout, 11), (0, 1, 3));
    }

    #[test]
    fn slipped_tracks_are_passed_over_whole() {
        let spec = ZoneSpec { slips: vec![1], spares: 1, ..zone(0, 1, 10) };
        let layout = Layout::new(&[spec], 2, false, Sparing::Tracks, 1, None);
        assert_eq!(layout.capacity(), 30);
        assert_eq!(place(&layout, 10), (1, 0, 0));
    }

    #[test]
    fn each_range_of_cylinders_keeps_its_own_spares() {
        let spec = ZoneSpec { slips: vec![5, 41], spares: 2, ..zone(0, 4, 10) };
        let layout = Layout::new(&[spec], 2, false, Sparing::PerRange, 2, None);
        assert_eq!(layout.capacity(), 100 - 2 * 2);
        assert_eq!(place(&layout, 4), (0, 0, 4));
        assert_eq!(place(&layout, 5), (0, 0, 6));
        assert_eq!(place(&layout, 38), (2, 0, 0));
        assert_eq!(place(&layout, 39), (2, 0, 2));
        // The last cylinder is no whole range and has no spares.
        assert_eq!(place(&layout, 95), (4, 1, 9));
    }

    #[test]
    fn spare_sectors_end_each_track() {
        let spec = ZoneSpec { spares: 1, reserved: 4, ..zone(0, 0, 10) };
        let layout = Layout::new(&[spec], 2, false, Sparing::SectorsPerTrack, 1, None);
        assert_eq!(layout.capacity(), 14);
        assert_eq!(place(&layout, 0), (0, 0, 4));
        assert_eq!(place(&layout, 5), (0, 1, 0));
    }

    fn sparings() -> impl Strategy<Value = Sparing> {
        prop::sample::select(vec![
            Sparing::None,
            Sparing::Tracks,
            Sparing::SectorsPerTrack,
            Sparing::EndOfDrive,
            Sparing::PerRange,
            Sparing::EndOfZone,
        ])
    }

    proptest! {
        /// Every block has a place of its own, in rising order of time along the tracks, and the tracks' block ranges
        /// cover the drive without a gap.
        #[test]
        fn the_layout_is_a_monotonic_bijection(
            sparing in sparings(),
            serpentine: bool,
            surfaces in 1_u32..4,
            range in 1_u32..4,
            reserved in 0_u64..7,
            zones in prop::collection::vec((1_u32..7, 4_u32..12, prop::collection::btree_set(0_u64..60, 0..3)), 1..4),
        ) {
            let mut first = 0;
            let specs: Vec<ZoneSpec> = zones.into_iter().map(|(cylinders, sectors, slips)| {
                let spec = ZoneSpec {
                    reserved, spares: 3, slips: slips.into_iter().collect(), ..zone(first, first + cylinders - 1, sectors)
                };
                first += cylinders + 1;
                spec
            }).collect();
            prop_assume!(specs.iter().all(|spec| usable_blocks(spec, surfaces, sparing, range).is_ok()));
            let layout = Layout::new(&specs, surfaces, serpentine, sparing, range, None);
            let mut lbn = 0;
            let mut last = None;
            while lbn < layout.capacity() {
                let track = layout.track_of(lbn);
                prop_assert_eq!(track.first, lbn, "tracks meet");
                prop_assert!(track.end > lbn);
                while lbn < track.end {
                    prop_assert_eq!(layout.track_of(lbn), track);
                    prop_assert_eq!(layout.cylinder_of(lbn), track.cylinder);
                    let (sector, run) = layout.run(&track, lbn);
                    prop_assert!(run >= 1 && lbn + run <= track.end);
                    prop_assert!(u64::from(sector) + run <= u64::from(track.sectors));
                    let logical_head = {
                        let zone = &layout.zones()[track.zone as usize];
                        if serpentine && (track.cylinder - zone.first_cylinder()) % 2 == 1 {
                            surfaces - 1 - track.head
                        } else {
                            track.head
                        }
                    };
                    for step in 0..run {
                        let here = (track.cylinder, logical_head, u64::from(sector) + step);
                        prop_assert!(last < Some(here), "{:?} then {:?}", last, here);
                        last = Some(here);
                    }
                    lbn += run;
                }
            }
            prop_assert_eq!(lbn, layout.capacity());
        }
    }
}
