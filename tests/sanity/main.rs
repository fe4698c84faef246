//! Looks for nonsense: sweeps over every preset and every layer, that ask of each run what no storage system does ([`rules`]).
//!
//! `make sanity` runs all of them. `make test` runs a sample, drawn by the commit that is checked out, so that it differs from
//! commit to commit and not from run to run; `SEEKLAB_SANITY=<text>` draws the sample of another text, and
//! `SEEKLAB_SANITY=whole` runs all, and `SEEKLAB_SANITY=only:<text>` the units with this text in their names. What is found and
//! has a reason stands in [`exceptions`].

#[path = "../../engine/library/tests/suite/support/mod.rs"]
mod support;

mod devices;
mod exceptions;
mod file_systems;
mod layer_limits;
mod layers;
mod limits;
mod load;
mod measure;
mod rules;
mod sweeps;

use std::io::Write as _;
use std::process::Command;
use std::sync::OnceLock;

use exceptions::EXCEPTIONS;
use rules::{Finding, Unit};

/// Which units run.
enum Extent {
    Whole,
    /// Those with this text in their names.
    Only(String),
    /// Those that this text draws.
    Sample(String),
}

fn extent() -> &'static Extent {
    static EXTENT: OnceLock<Extent> = OnceLock::new();
    EXTENT.get_or_init(|| {
        let head = || {
            let output = Command::new("git").args(["rev-parse", "HEAD"]).current_dir(env!("CARGO_MANIFEST_DIR")).output().ok()?;
            output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
        };
        match std::env::var("SEEKLAB_SANITY") {
            Ok(text) if text == "whole" => Extent::Whole,
            Ok(text) if text.starts_with("only:") => Extent::Only(text["only:".len()..].to_owned()),
            Ok(text) => Extent::Sample(text),
            Err(_) => Extent::Sample(head().unwrap_or_else(|| "no commit".to_owned())),
        }
    })
}

/// FNV-1a: which units a text draws is the same on every machine.
fn hash(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

/// Tells at once, and not only when a test fails.
fn tell(line: &str) {
    let _ = writeln!(std::io::stderr(), "{line}"); // a closed terminal is no reason to fail
}

/// Runs a family of sweeps: all, or one unit of `share` and the witnesses of its exceptions.
fn judge(family: &str, share: u64, units: &[Unit]) {
    let exceptions: Vec<_> = EXCEPTIONS.iter().filter(|exception| exception.family == family).collect();
    let is_witness = |unit: &Unit| exceptions.iter().any(|exception| exception.witness == unit.name);
    let drawn: Vec<&Unit> = match extent() {
        Extent::Whole => units.iter().collect(),
        Extent::Only(text) => units.iter().filter(|unit| unit.name.contains(text.as_str())).collect(),
        Extent::Sample(text) => {
            units.iter().filter(|unit| is_witness(unit) || (hash(&format!("{text} {}", unit.name)) >> 16).is_multiple_of(share)).collect()
        }
    };
    let (points, lines) = drawn.iter().fold((0, 0), |(points, lines), unit| (points + unit.points.len(), lines + unit.lines.len()));
    let of = match extent() {
        Extent::Whole => "all".to_owned(),
        Extent::Only(text) => format!("those of \"{text}\""),
        Extent::Sample(text) => format!("sample of \"{text}\""),
    };
    tell(&format!("sanity of {family}, {of}: {} of {} units, {points} runs, {lines} lines", drawn.len(), units.len()));

    let findings: Vec<Finding> = drawn.iter().flat_map(|unit| unit.judge()).collect();
    let is_explained = |finding: &&Finding| exceptions.iter().any(|exception| exception.explains(finding));
    let (explained, unexplained): (Vec<_>, Vec<_>) = findings.iter().partition(is_explained);
    for finding in &explained {
        println!("explained: {finding}");
    }
    let mut wrong: Vec<String> = unexplained.iter().map(ToString::to_string).collect();
    for exception in exceptions {
        let has_run = drawn.iter().any(|unit| unit.name == exception.witness);
        if has_run && !findings.iter().any(|finding| finding.unit == exception.witness && exception.explains(finding)) {
            wrong.push(format!("exception no longer needed: [{}] {} | {}", exception.rule.name(), exception.witness, exception.axis));
        }
    }
    assert!(wrong.is_empty(), "{} findings in {family}:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn every_exception_is_of_a_family_and_gives_a_reason() {
    const FAMILIES: [&str; 17] = [
        "disks",
        "flash",
        "logical units",
        "layouts",
        "network",
        "server",
        "client",
        "controller",
        "cluster",
        "tier",
        "raid cache",
        "volume",
        "zfs",
        "commit",
        "host",
        "page cache",
        "read-ahead",
    ];
    for exception in EXCEPTIONS {
        assert!(FAMILIES.contains(&exception.family), "{}", exception.family);
        assert!(exception.reason.len() > 40, "{}: {}", exception.witness, exception.reason);
    }
}
