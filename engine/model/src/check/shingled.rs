//! What the zones of a shingled drive and the unit that they belong to contradict.

use seeklab_spec::{AddProblem, Bytes, Lun, Path, Problems};

/// Each zone costs memory.
const MOST_ZONES: u64 = 1 << 20;

/// Checks the zones of a unit that stands at `at`.
pub fn check(unit: &Lun, at: &Path, problems: &mut Problems) {
    let Some(drive) = &unit.shingled else { return };
    let at = at.field("shingled");
    let others = [
        ("varies", unit.varies.is_some()),
        ("credits", unit.credits.is_some()),
        ("slc", unit.slc.is_some()),
        ("pauses", !unit.pauses.is_empty()),
    ];
    if let Some((other, _)) = others.into_iter().find(|(_, is_there)| *is_there) {
        problems.add(&at, format!("contradicts {other}: a write's time is what its zones need; drop one of the two"));
    }
    if drive.zone > unit.capacity {
        problems.add(at.field("zone"), format!("{} is more than the capacity, {}; write at most that", drive.zone, unit.capacity));
    } else if unit.capacity.0.div_ceil(drive.zone.0.max(1)) > MOST_ZONES {
        let least = Bytes(unit.capacity.0.div_ceil(MOST_ZONES));
        problems.add(
            at.field("zone"),
            format!("{} makes more than {MOST_ZONES} zones of {}; write at least {least}", drive.zone, unit.capacity),
        );
    }
    if drive.cache < drive.zone {
        problems.add(at.field("cache"), format!("{} is less than a zone of {}; write at least that", drive.cache, drive.zone));
    } else if drive.cache > unit.capacity {
        problems.add(at.field("cache"), format!("{} is more than the capacity, {}; write at most that", drive.cache, unit.capacity));
    }
}
