//! The hard-disk model against drives that were measured request by request.
//!
//! The data are not part of the project. They are looked for in `SEEKLAB_VALIDATION`, else in `shared/validation` beside
//! it; without them the tests say so on stderr and pass. Each drive has a parameter file, a trace of requests with
//! measured service times, and a limit for its demerit: 1.05 times what `DiskSim` reaches on the same data, less on the
//! Quantum drive, whose buffer `DiskSim` does not follow. No number in the model is fitted
//! to a drive; four readings of rules were chosen by these same drives (see the module), so this is not a held-out test.

use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};

use flate2::read::GzDecoder;
use seeklab_model::layers::device::hdd::Params;
use seeklab_observe::validate::{ClassAgreement, Validation, parse_trace, validate};
use serde_json::Value;

/// The drives and their highest demerits, as README and page show them.
const STORED: &str = include_str!("../../validation/drives.json");

/// Drive and highest demerit in percent.
fn limits() -> Vec<(String, f64)> {
    let stored: Value = serde_json::from_str(STORED).expect("the stored drives");
    let drives = stored["drives"].as_array().expect("a list of drives");
    let limit = |drive: &Value| Some((drive["id"].as_str()?.to_owned(), drive["limit_percent"].as_f64()?));
    drives.iter().map(|drive| limit(drive).expect("a name and a limit")).collect()
}

/// Drive and highest demerits in percent of its reads and of its writes, each ranked and judged apart: what the model reached when they
/// were written down, rounded up to a hundredth. Where reads and writes err in opposite ways the pooled demerit hides it.
const CLASS_LIMITS: [(&str, f64, f64); 6] = [
    ("hp_c2247a", 1.04, 0.77),
    ("hp_c3323a", 1.61, 4.59),
    ("dec_rz26", 1.84, 5.98),
    ("cheetah9LP", 2.11, 12.32),
    ("barracuda", 5.37, 16.29),
    ("atlas10k", 2.22, 19.67),
];

/// The drive whose phases can be followed, and the least share of its requests that agree one by one within 0.3 ms.
const FOLLOWED: (&str, f64) = ("hp_c2247a", 0.90);

/// The folder with the drives' files, if it is there.
fn drives() -> Option<PathBuf> {
    let root = std::env::var_os("SEEKLAB_VALIDATION")
        .map_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/validation"), PathBuf::from);
    let drives = root.join("drives");
    if drives.is_dir() {
        return Some(drives);
    }
    eprintln!("skipped: no measured drives in {}; set SEEKLAB_VALIDATION to their folder", drives.display());
    None
}

fn validate_drive(folder: &Path, name: &str) -> Validation {
    let json = fs::read_to_string(folder.join(format!("{name}.json"))).expect("the drive's file");
    let params = Params::from_drive_json(&json).unwrap_or_else(|errors| {
        let lines: Vec<String> = errors.iter().map(ToString::to_string).collect();
        panic!("{name}:\n{}", lines.join("\n"))
    });
    let file = File::open(folder.join(format!("{name}.trace.csv.gz"))).expect("the drive's trace");
    let mut text = String::new();
    GzDecoder::new(file).read_to_string(&mut text).expect("a gzip file with text");
    let trace = parse_trace(&text).unwrap_or_else(|error| panic!("{name}: {error}"));
    assert!(trace.iter().all(|request| request.lbn + u64::from(request.sectors) <= params.capacity_sectors()), "{name}");
    validate(&params, &trace)
}

#[test]
fn every_measured_drive_is_met_as_closely_as_disksim_meets_it() {
    let Some(folder) = drives() else { return };
    let mut failed = Vec::new();
    for (name, limit) in limits() {
        let result = validate_drive(&folder, &name);
        let [all, read, write] = [result.all, result.read, result.write].map(|class| class.demerit * 100.0);
        let bias = |class: &ClassAgreement| class.mean_ms - class.measured_mean_ms;
        eprintln!(
            "{name:11} demerit {all:.3} % (limit {limit:.3} %), within 0.3 ms {:.1} %; reads {read:.3} % of {}, bias {:+.3} ms; \
             writes {write:.3} % of {}, bias {:+.3} ms",
            result.all.within_300_us * 100.0,
            result.read.requests,
            bias(&result.read),
            result.write.requests,
            bias(&result.write),
        );
        let (_, reads, writes) = CLASS_LIMITS.into_iter().find(|(drive, ..)| *drive == name).expect("limits for each drive");
        if all > limit || read > reads || write > writes {
            failed.push(name);
        }
    }
    assert!(failed.is_empty(), "above their limits: {failed:?}");
}

#[test]
fn the_followed_drive_agrees_request_by_request() {
    let Some(folder) = drives() else { return };
    let (name, least) = FOLLOWED;
    let result = validate_drive(&folder, name);
    assert!(result.all.within_300_us >= least, "{name}: only {:.1} % within 0.3 ms", result.all.within_300_us * 100.0);
    assert!(result.read.within_300_us >= least && result.write.within_300_us >= least, "{name}: {result:?}");
}
