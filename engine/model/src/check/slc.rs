//! What an SLC cache and the unit that it belongs to contradict.

use seeklab_spec::{AddProblem, Lun, Path, Problems};

/// Checks the cache of a unit that stands at `at`.
pub fn check(unit: &Lun, at: &Path, problems: &mut Problems) {
    let Some(cache) = &unit.slc else { return };
    let at = at.field("slc");
    let others = [("varies", unit.varies.is_some()), ("credits", unit.credits.is_some()), ("pauses", !unit.pauses.is_empty())];
    if let Some((other, _)) = others.into_iter().find(|(_, is_there)| *is_there) {
        problems.add(&at, format!("contradicts {other}: a write's time is what the cells it lands in need; drop one of the two"));
    }
    if cache.fixed.0 > unit.capacity.0 / u64::from(cache.bits) {
        let most = unit.capacity.0 / u64::from(cache.bits);
        problems.add(
            at.field("fixed"),
            format!("{} of one bit a cell need more cells than a capacity of {} has; write at most {most}", cache.fixed, unit.capacity),
        );
    }
    if cache.direct_rate.0 > unit.rate.0 {
        problems
            .add(at.field("direct_rate"), format!("{} a second is more than rate, {}; write at most that", cache.direct_rate, unit.rate));
    }
}
