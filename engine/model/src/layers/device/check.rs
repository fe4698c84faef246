//! Checks of the parts of a logical unit: its credits, its SLC cache, its zones.

use seeklab_spec::{AddProblem, Bytes, Lun, Path, Problems};

use crate::rules::excludes;

/// Each zone costs memory.
const MAX_ZONES: u64 = 1 << 20;

/// Adds what is wrong with a unit at `at`, which may get requests of at most `largest` bytes.
pub fn check(unit: &Lun, largest: u64, at: &Path, problems: &mut Problems) {
    check_credits(unit, largest, at, problems);
    check_slc(unit, at, problems);
    check_shingled(unit, at, problems);
}

/// Checks the credits of a unit that stands at `at`, which may get requests of at most so many bytes.
fn check_credits(unit: &Lun, largest: u64, at: &Path, problems: &mut Problems) {
    let Some(credits) = &unit.credits else { return };
    let at = at.field("credits");
    let why = "credits and varies both determine the current rate";
    excludes(&[("varies", why, unit.varies.is_some())], &at, problems);
    if let Some(initial) = credits.initial.filter(|initial| *initial > credits.capacity) {
        problems.add(at.field("initial"), format!("{initial} is more than capacity, {}; write at most that", credits.capacity));
    }
    let cost = largest.div_ceil(credits.unit.0);
    if cost > credits.capacity {
        let message = format!("{} is less than a request of {} costs, {cost}; write at least that", credits.capacity, Bytes(largest));
        problems.add(at.field("capacity"), message);
    }
}

/// Checks the cache of a unit that stands at `at`.
fn check_slc(unit: &Lun, at: &Path, problems: &mut Problems) {
    let Some(cache) = &unit.slc else { return };
    let at = at.field("slc");
    let why = "the cells determine the time of a write";
    let others =
        [("varies", why, unit.varies.is_some()), ("credits", why, unit.credits.is_some()), ("pauses", why, !unit.pauses.is_empty())];
    excludes(&others, &at, problems);
    if cache.fixed.0 > unit.capacity.0 / u64::from(cache.bits) {
        let most = unit.capacity.0 / u64::from(cache.bits);
        problems.add(
            at.field("fixed"),
            format!("{} at one bit per cell needs more cells than a capacity of {} has; write at most {most}", cache.fixed, unit.capacity),
        );
    }
    if cache.direct_rate.0 > unit.rate.0 {
        problems
            .add(at.field("direct_rate"), format!("{} per second is more than rate, {}; write at most that", cache.direct_rate, unit.rate));
    }
}

/// Checks the zones of a unit that stands at `at`.
fn check_shingled(unit: &Lun, at: &Path, problems: &mut Problems) {
    let Some(drive) = &unit.shingled else { return };
    let at = at.field("shingled");
    let why = "the zones determine the time of a write";
    let others = [
        ("varies", why, unit.varies.is_some()),
        ("credits", why, unit.credits.is_some()),
        ("slc", why, unit.slc.is_some()),
        ("pauses", why, !unit.pauses.is_empty()),
    ];
    excludes(&others, &at, problems);
    if drive.zone > unit.capacity {
        problems.add(at.field("zone"), format!("{} is more than the capacity, {}; write at most that", drive.zone, unit.capacity));
    } else if unit.capacity.0.div_ceil(drive.zone.0.max(1)) > MAX_ZONES {
        let least = Bytes(unit.capacity.0.div_ceil(MAX_ZONES));
        problems.add(
            at.field("zone"),
            format!("{} splits {} into more than {MAX_ZONES} zones; write at least {least}", drive.zone, unit.capacity),
        );
    }
    if drive.cache < drive.zone {
        problems.add(at.field("cache"), format!("{} is less than a zone of {}; write at least that", drive.cache, drive.zone));
    } else if drive.cache > unit.capacity {
        problems.add(at.field("cache"), format!("{} is more than the capacity, {}; write at most that", drive.cache, unit.capacity));
    }
}
