//! The presets against the numbers that their sources give.

use super::super::closed_form::write_amplification;
use super::{Done, random, run};
use crate::device::ssd::{Ssd, check};
use crate::kernel::Op;
use crate::library;
use crate::scenario::{self, Problems};

const GIB: u64 = 1 << 30;

fn preset(name: &str) -> scenario::Ssd {
    let preset = library::preset(name).expect("a preset of this name");
    let spec: scenario::Ssd = serde_json::from_value(preset["device"]["ssd"].clone()).expect("a drive");
    let mut problems = Problems::new();
    check(&spec, name, &mut problems);
    assert!(problems.is_empty(), "{problems:?}");
    spec
}

/// Requests a second and mean response in microseconds of the last three quarters.
fn rate(done: &[Done]) -> (f64, f64) {
    let (first, rest) = done.split_at(done.len() / 4);
    let elapsed_ns = rest[rest.len() - 1].at_ns - first[first.len() - 1].at_ns;
    let mean_us = rest.iter().map(|row| row.response_ns as f64).sum::<f64>() / rest.len() as f64 / 1e3;
    (rest.len() as f64 * 1e9 / elapsed_ns as f64, mean_us)
}

fn measure(name: &str, op: Op, bytes: u64, depth: usize, count: usize) -> (f64, f64) {
    let found = rate(&run(&mut Ssd::new(&preset(name), 1, "ssd0"), depth, &random(op, bytes, GIB / bytes, count)));
    println!("{name}: random {op:?} {bytes} B at depth {depth}: {:.0}/s, {:.1} us", found.0, found.1);
    found
}

/// Megabytes a second of streaming, on a drive that was filled in order, as data sheets measure it.
fn stream(name: &str, op: Op, depth: usize) -> f64 {
    let mut spec = preset(name);
    if let Some(flash) = &mut spec.flash {
        flash.precondition = scenario::Precondition::Sequential;
    }
    let bytes = 128 << 10;
    let requests: Vec<_> = (0..16_000).map(|number| (op, number * bytes, bytes)).collect();
    let found = rate(&run(&mut Ssd::new(&spec, 1, "ssd0"), depth, &requests)).0 * bytes as f64 / 1e6;
    println!("{name}: streaming {op:?} at depth {depth}: {found:.0} MB/s");
    found
}

fn near(found: f64, expected: f64, share: f64) {
    assert!((found / expected - 1.0).abs() <= share, "{found} against {expected}");
}

#[test]
fn the_early_read_drive_does_3100_reads_of_8_kib() {
    near(measure("ssd-2008-read", Op::Read, 8192, 1, 4_000).0, 3100.0, 0.01);
    near(measure("ssd-2008-read", Op::Read, 8192, 16, 4_000).0, 3100.0, 0.01);
}

#[test]
fn the_early_log_drive_does_5000_to_9000_synchronous_writes_and_110_mb_a_second() {
    near(measure("ssd-2008-log", Op::Write, 4096, 1, 20_000).0, 9000.0, 0.02);
    let of_12_kib = measure("ssd-2008-log", Op::Write, 12_288, 4, 20_000).0;
    assert!((5000.0..9000.0).contains(&of_12_kib), "{of_12_kib}");
    near(stream("ssd-2008-log", Op::Write, 1), 110.0, 0.02);
}

#[test]
fn the_sata_drive_meets_its_data_sheet() {
    near(measure("ssd-sata", Op::Read, 4096, 1, 4_000).1, 100.0, 0.05);
    near(measure("ssd-sata", Op::Read, 4096, 32, 40_000).0, 95_000.0, 0.05);
    near(stream("ssd-sata", Op::Read, 32), 550.0, 0.05);
    near(stream("ssd-sata", Op::Write, 32), 520.0, 0.07);
    near(measure("ssd-sata", Op::Write, 4096, 32, 60_000).0, 36_000.0, 0.15);
}

#[test]
fn the_nvme_drive_meets_its_data_sheet() {
    near(measure("nvme", Op::Read, 4096, 1, 4_000).1, 85.0, 0.05);
    measure("nvme", Op::Read, 4096, 32, 40_000);
    near(measure("nvme", Op::Read, 4096, 256, 80_000).0, 600_000.0, 0.05);
    near(stream("nvme", Op::Read, 64), 3200.0, 0.05);
    near(stream("nvme", Op::Write, 64), 2000.0, 0.1);
    near(measure("nvme", Op::Write, 4096, 128, 120_000).0, 80_000.0, 0.15);
}

#[test]
fn presets_in_steady_state_amplify_as_their_over_provisioning_says() {
    for name in ["ssd-sata", "nvme"] {
        let spec = preset(name);
        let flash = spec.flash.as_ref().expect("flash");
        let mut ssd = Ssd::new(&spec, 1, "ssd0");
        run(&mut ssd, 128, &random(Op::Write, 4096, 1 << 22, 400_000));
        let wear = ssd.wear().expect("flash");
        println!("{name}: amplification {:.2}, {} MiB of memory", wear.write_amplification(), ssd.memory_bytes() >> 20);
        near(wear.write_amplification(), write_amplification(flash.overprovision / 100.0), 0.08);
    }
}

#[test]
#[ignore = "a measurement; run it in release"]
fn speed() {
    for (name, op, depth) in [("nvme", Op::Read, 32), ("nvme", Op::Read, 256), ("nvme", Op::Write, 32), ("ssd-sata", Op::Write, 32)] {
        for fresh in [false, true] {
            let mut spec = preset(name);
            if fresh {
                spec.flash = None;
            }
            let requests = random(op, 4096, 1 << 20, 1_000_000);
            let mut ssd = Ssd::new(&spec, 1, "ssd0");
            let start = std::time::Instant::now();
            run(&mut ssd, depth, &requests[..1]);
            let built = start.elapsed();
            let mut ssd = Ssd::new(&spec, 1, "ssd0");
            let start = std::time::Instant::now();
            run(&mut ssd, depth, &requests);
            println!(
                "SPEED {name} {op:?} depth {depth} fresh {fresh}: {:.2} M requests/s; first request {built:?}",
                1.0 / start.elapsed().as_secs_f64()
            );
        }
    }
}
