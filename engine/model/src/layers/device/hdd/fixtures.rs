//! Drives for tests.

use std::sync::Arc;

use serde_json::{Value, json};

use seeklab_spec::reader::from_value;
use seeklab_spec::{HddSpec, Path, Problems};

use super::{Hdd, Params};

/// A 4 TB desktop drive of 7200 rpm. Fields that are not named here have their defaults.
pub fn desktop() -> HddSpec {
    let sheet = json!({
        "rpm": 7200, "capacity": 4_000_787_030_016_u64, "heads": 8, "zones": 20,
        "outer_rate": "210MB", "inner_rate": "100MB",
        "seek_single": "800us", "seek_average": "8.5ms", "seek_full": "18ms",
        "head_switch": "800us", "write_settle": "500us", "overhead": "100us",
        "interface_rate": "600MB", "buffer": "64MiB", "read_ahead": "1MiB",
    });
    from_value(&sheet).expect("a data sheet")
}

/// The drive of a data sheet without mistakes.
pub fn drive_of(sheet: &HddSpec) -> Params {
    let mut problems = Problems::new();
    let drive = Params::from_data_sheet(sheet, &Path::root(), &mut problems);
    drive.unwrap_or_else(|| panic!("{problems:?}"))
}

/// A drive in round numbers: 10 ms a turn, 100 sectors of 0.1 ms on a track of the first zone, 1 ms from cylinder to cylinder
/// and 5 ms over the whole drive, 0.5 ms a head switch; overheads 0.2 ms for a hit and 0.3 ms for a miss; no read-ahead,
/// no early writes, a bus without delay.
pub fn small_drive() -> Value {
    let zone = |first: u32, last: u32, sectors: u32| {
        json!({
            "First cylinder number": first, "Last cylinder number": last, "Blocks per track": sectors,
            "Offset of first block": 0, "Empty space at zone front": 0,
            "Skew for track switch": 10, "Skew for cylinder switch": 20,
            "Number of spares": 0, "slips": [], "defects": []
        })
    };
    json!({
        "name": "small", "block_bytes": 512, "surfaces": 2, "cylinders": 31,
        "layout": {
            "LBN-to-PBN mapping scheme": 0, "Sparing scheme used": 9, "Rangesize for sparing": 1,
            "Zones": [zone(0, 19, 100), zone(21, 30, 80)]
        },
        "mechanics": {
            "Seek type": "extracted", "Add. write settling delay": 0.0, "Head switch time": 0.5,
            "Rotation speed (in rpms)": 6000
        },
        "seek_ms_by_cylinders": [[1, 1.0], [30, 5.0]],
        "electronics_and_buffer": {
            "Number of buffer segments": 2, "Segment size (in blks)": 64, "Enable caching in buffer": 1,
            "Buffer continuous read": 0, "Maximum read-ahead (blks)": 32, "Fast write level": 0,
            "Combine seq writes": 1, "Allow read hits on write data": 1, "Stop prefetch in sector": 1,
            "Read hit over. after read": 0.2, "Read hit over. after write": 0.2,
            "Read miss over. after read": 0.3, "Read miss over. after write": 0.3,
            "Write hit over. after read": 0.3, "Write hit over. after write": 0.3,
            "Write miss over. after read": 0.3, "Write miss over. after write": 0.3
        },
        "bus": { "BUS1": { "Read block transfer time": 0.0, "Write block transfer time": 0.0 } }
    })
}

/// The small drive with some values replaced, each given by its JSON pointer.
pub fn small_drive_with(changes: &[(&str, Value)]) -> Value {
    let mut drive = small_drive();
    for (pointer, value) in changes {
        let (parent, key) = pointer.rsplit_once('/').expect("a pointer has a slash");
        let parent = drive.pointer_mut(parent).expect("the parent exists");
        parent[key] = value.clone();
    }
    drive
}

/// A drive from [`small_drive_with`].
pub fn small_hdd(changes: &[(&str, Value)]) -> Hdd {
    let text = small_drive_with(changes).to_string();
    Hdd::new(Arc::new(Params::from_drive_json(&text).expect("a sound drive")))
}
