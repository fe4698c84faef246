//! The presets of solid-state drives against the numbers that their sources give.

mod support;

use seeklab_model::layers::device::ssd::closed_form::write_amplification;
use seeklab_model::result::columns::Column;
use seeklab_model::stack::Stack;
use seeklab_spec::Ssd;
use serde_json::{Value, json};

/// A run of one job on one drive, whose preset is changed first.
fn run(name: &str, change: impl Fn(&mut Value), job: &Value) -> Stack {
    let mut ssd = support::library().presets().get(name).expect("a preset of this name")["device"]["ssd"].clone();
    change(&mut ssd);
    let document = json!({"jobs": [job], "devices": [{"ssd": ssd}]});
    let checked = support::read(&document).unwrap_or_else(|problems| panic!("{problems:?}"));
    let mut stack = Stack::new(checked, 1);
    while !stack.step(1 << 20).unwrap_or_else(|problem| panic!("{problem}")) {}
    stack
}

/// Requests a second and mean response in microseconds of the last three quarters.
fn rate(stack: &Stack) -> (f64, f64) {
    let column = |name: &str| match stack.column(name) {
        Some(Column::F64(values)) => values,
        other => panic!("{name}: {other:?}"),
    };
    let (submitted, latency) = (column("ops.submit_ns"), column("ops.latency_ns"));
    let mut done: Vec<(f64, f64)> = submitted.iter().zip(&latency).map(|(start, taken)| (start + taken, *taken)).collect();
    done.sort_by(|a, b| a.0.total_cmp(&b.0));
    let (first, rest) = done.split_at(done.len() / 4);
    let elapsed_ns = rest[rest.len() - 1].0 - first[first.len() - 1].0;
    let count = f64::from(u32::try_from(rest.len()).expect("a count"));
    (count * 1e9 / elapsed_ns, rest.iter().map(|row| row.1).sum::<f64>() / count / 1e3)
}

fn random(name: &str, rw: &str, bytes: u64, depth: u32, count: u64) -> (f64, f64) {
    let job = json!({"name": "a", "rw": rw, "bs": bytes, "iodepth": depth, "size": "1GiB", "norandommap": true, "number_ios": count, "loops": 1000});
    rate(&run(name, |_| (), &job))
}

/// Megabytes a second of streaming, on a drive that was filled in order, as data sheets measure it.
fn stream(name: &str, rw: &str, depth: u32) -> f64 {
    let job = json!({"name": "a", "rw": rw, "bs": 128 << 10, "iodepth": depth, "size": 16_000 * (128 << 10)});
    let filled = |ssd: &mut Value| {
        if let Some(flash) = ssd.get_mut("flash") {
            flash["precondition"] = json!("sequential");
        }
    };
    rate(&run(name, filled, &job)).0 * f64::from(128 << 10) / 1e6
}

fn near(found: f64, expected: f64, share: f64) {
    assert!((found / expected - 1.0).abs() <= share, "{found} against {expected}");
}

#[test]
fn the_early_read_drive_does_3100_reads_of_8_kib() {
    near(random("ssd-2008-read", "randread", 8192, 1, 4_000).0, 3100.0, 0.01);
    near(random("ssd-2008-read", "randread", 8192, 16, 4_000).0, 3100.0, 0.01);
}

#[test]
fn the_early_log_drive_does_5000_to_9000_synchronous_writes_and_110_mb_a_second() {
    near(random("ssd-2008-log", "randwrite", 4096, 1, 20_000).0, 9000.0, 0.02);
    let of_12_kib = random("ssd-2008-log", "randwrite", 12_288, 4, 20_000).0;
    assert!((5000.0..9000.0).contains(&of_12_kib), "{of_12_kib}");
    near(stream("ssd-2008-log", "write", 1), 110.0, 0.02);
}

#[test]
fn the_sata_drive_meets_its_data_sheet() {
    near(random("ssd-sata", "randread", 4096, 1, 4_000).1, 100.0, 0.05);
    near(random("ssd-sata", "randread", 4096, 32, 40_000).0, 95_000.0, 0.05);
    near(stream("ssd-sata", "read", 32), 550.0, 0.05);
    near(stream("ssd-sata", "write", 32), 520.0, 0.07);
    near(random("ssd-sata", "randwrite", 4096, 32, 60_000).0, 36_000.0, 0.15);
}

#[test]
fn the_nvme_drive_meets_its_data_sheet() {
    near(random("nvme", "randread", 4096, 1, 4_000).1, 85.0, 0.05);
    near(random("nvme", "randread", 4096, 256, 80_000).0, 600_000.0, 0.05);
    near(stream("nvme", "read", 64), 3200.0, 0.05);
    near(stream("nvme", "write", 64), 2000.0, 0.1);
    near(random("nvme", "randwrite", 4096, 128, 120_000).0, 80_000.0, 0.15);
}

#[test]
fn presets_in_steady_state_amplify_as_their_over_provisioning_says() {
    for name in ["ssd-sata", "nvme"] {
        let job = json!({"name": "a", "rw": "randwrite", "bs": 4096, "iodepth": 128, "size": "16GiB", "norandommap": true, "number_ios": 400_000});
        let stack = run(name, |_| (), &job);
        let found = stack.metrics().into_iter().find(|metric| metric.name == "ssd_write_amplification").expect("a flash drive").value;
        let ssd = &support::library().presets().get(name).expect("a preset")["device"]["ssd"];
        let spec: Ssd = serde_json::from_value(ssd.clone()).expect("a drive");
        let expected = write_amplification(spec.flash.expect("flash").overprovision / 100.0);
        near(found, expected, 0.08);
    }
}
