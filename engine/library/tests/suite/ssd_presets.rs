//! The presets of drives against the numbers that their sources give.

use seeklab_model::layers::device::ssd::closed_form::write_amplification;
use seeklab_model::result::columns::Column;
use seeklab_model::stack::Stack;
use seeklab_spec::{Ssd, to_f64};
use serde_json::{Value, json};

use crate::support;

/// A run of one job on one drive. The preset of a flash drive is changed first; a disk has no state to prepare.
fn run(name: &str, change: impl Fn(&mut Value), job: &Value) -> Stack {
    let mut device = support::library().presets().get(name).expect("a preset of this name")["device"].clone();
    if let Some(ssd) = device.get_mut("ssd") {
        change(ssd);
    }
    // A run of so many seconds has too many requests for a log.
    let document = json!({"jobs": [job], "devices": [device], "record": {"log": job.get("runtime").is_none()}});
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

/// What is published of drives, and what their presets did: the page on presets shows this file.
const STORED: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../validation/presets.json");

/// The run of a row of `presets.json`. A smaller `cache` is full sooner: a tenth of a cache and a tenth of the time have the same mean.
fn run_of(preset: &str, row: &Value) -> Stack {
    let mut job = row["job"].clone();
    job["name"] = json!("a");
    let prepare = |ssd: &mut Value| {
        ssd["flash"]["precondition"] = row["precondition"].clone();
        for (field, size) in row["cache"].as_object().into_iter().flatten() {
            ssd["flash"]["slc_cache"][field] = size.clone();
        }
    };
    run(preset, prepare, &job)
}

/// What a row of `presets.json` measures in its run.
fn measure(stack: &Stack, row: &Value) -> f64 {
    let metric = |name: &str| stack.metrics().into_iter().find(|metric| metric.name == name).unwrap_or_else(|| panic!("no {name}")).value;
    match row["metric"].as_str().expect("a metric") {
        "1/s" if row["job"].get("runtime").is_some() => metric("a.write_iops"),
        "1/s" => rate(stack).0,
        "MB/s" => rate(stack).0 * row["job"]["bs"].as_f64().expect("a size") / 1e6,
        "us" => rate(stack).1,
        "p99_us" => {
            let way = if row["job"]["rw"] == "randread" { "read" } else { "write" };
            1e3 * metric(&format!("a.{way}_latency_p99_ms"))
        }
        "p99_9_us" => 1e3 * metric("a.read_latency_p99_9_ms"),
        "p99_99_over_mean" => metric("a.read_latency_p99_99_ms") / metric("a.read_latency_mean_ms"),
        "cache_gb" => fast_bytes(stack) / 1e9,
        "amplification" => metric("ssd_write_amplification"),
        other => panic!("{other}"),
    }
}

/// Bytes that a run had written when its rate fell: where what is done lies highest above the straight line from its start to its end.
fn fast_bytes(stack: &Stack) -> f64 {
    let log = stack.recorder().log.as_ref().expect("a log");
    let ended = log.submit_ns.iter().zip(log.phases()).map(|(start, phases)| start + phases.iter().sum::<u64>());
    let mut done: Vec<(u64, u64)> = ended.zip(log.bytes.iter().map(|bytes| u64::from(*bytes))).collect();
    done.sort_unstable();
    let (all_ns, all_bytes) = (to_f64(done[done.len() - 1].0), to_f64(done.iter().map(|row| row.1).sum()));
    let (mut bytes, mut knee) = (0.0, (f64::NEG_INFINITY, 0.0));
    for (at_ns, more) in done {
        bytes += to_f64(more);
        let above = bytes / all_bytes - to_f64(at_ns) / all_ns;
        if above > knee.0 {
            knee = (above, bytes);
        }
    }
    knee.1
}

/// Returns the text of `presets.json`, with one run on each line.
fn text_of(document: &Value) -> String {
    let drives = document["drives"].as_array().expect("drives").iter().map(|drive| {
        let mut head = drive.as_object().expect("a drive").clone();
        let runs = head.remove("runs").expect("runs");
        let lines: Vec<String> = runs.as_array().expect("runs").iter().map(|row| format!("    {row}")).collect();
        let head = Value::Object(head).to_string();
        format!("  {},\"runs\":[\n{}\n  ]}}", head.trim_end_matches('}'), lines.join(",\n"))
    });
    format!("{{\"drives\":[\n{}\n]}}\n", drives.collect::<Vec<_>>().join(",\n"))
}

/// Runs what is published of each drive on its preset. With `SEEKLAB_STORE` set, what is found is stored, for the page.
#[test]
fn presets_meet_their_published_runs_as_stored() {
    let mut document: Value = serde_json::from_str(&std::fs::read_to_string(STORED).expect("a file")).expect("JSON");
    let mut wrong = Vec::new();
    for drive in document["drives"].as_array_mut().expect("drives") {
        let preset = drive["preset"].as_str().expect("a preset").to_owned();
        assert_eq!(Some(&drive["basis"]), support::library().presets().get(&preset).expect("a preset").get("basis"), "{preset}");
        let mut last: Option<(Value, Stack)> = None;
        for row in drive["runs"].as_array_mut().expect("runs") {
            // Neighbouring rows may look at one run.
            let setting = json!([row["job"], row["precondition"], row["cache"]]);
            let kept = last.take().filter(|(of, _)| *of == setting);
            let (_, stack) = last.insert(kept.unwrap_or_else(|| (setting, run_of(&preset, row))));
            let found = measure(stack, row);
            let (published, tolerance) =
                (row["published"].as_f64().expect("a number"), row["tolerance_percent"].as_f64().expect("per cent"));
            let deviation = 100.0 * (found / published - 1.0);
            println!("{preset}: {}: {published} published, {found:.4} simulated, {deviation:+.1} %", row["what"]);
            let is_near = deviation.abs() <= tolerance;
            if is_near == row.get("misses_because").is_some() {
                wrong.push(format!(
                    "{preset}: {}: {found:.3} against {published}, {deviation:+.1} %; a miss has its reason, and only a miss",
                    row["what"]
                ));
            }
            let rounded: f64 = format!("{found:.3e}").parse().expect("a number"); // four digits that count
            if row["simulated"].as_f64() != Some(rounded) {
                wrong.push(format!("{preset}: {}: {rounded} now, {} stored", row["what"], row["simulated"]));
            }
            row["simulated"] = json!(rounded);
        }
    }
    if std::env::var_os("SEEKLAB_STORE").is_some() {
        std::fs::write(STORED, text_of(&document)).expect("the file is written");
    }
    assert!(wrong.is_empty(), "{}\nSEEKLAB_STORE=1 stores what was found", wrong.join("\n"));
}

#[test]
fn reads_among_writes_have_a_short_tail_because_programs_and_erases_make_way() {
    let job = json!({"name": "a", "rw": "randrw", "rwmixread": 70, "bs": 4096, "iodepth": 32, "size": "100GiB", "norandommap": true, "number_ios": 150_000});
    let tail = |change: fn(&mut Value)| {
        let metrics = run("nvme-pcie4", change, &job).metrics();
        ["a.read_latency_p99_ms", "a.read_latency_p99_99_ms"]
            .map(|name| metrics.iter().find(|metric| metric.name == name).expect("a percentile").value)
    };
    let [p99, p99_99] = tail(|_| ());
    let [without_p99, without_p99_99] = tail(|ssd| {
        ssd["flash"].as_object_mut().expect("flash").remove("suspend");
    });
    println!("99 % {p99} ms and 99.99 % {p99_99} ms, without suspension {without_p99} and {without_p99_99} ms");
    assert!(p99 < 1.0 && p99_99 < 3.0, "{p99} and {p99_99} ms");
    assert!(without_p99 > 1.0 && without_p99_99 > 1.5 * p99_99, "{without_p99} and {without_p99_99} ms");
}

/// Random writes cannot take more program time than sequential ones: the published rates leave room for the amplification.
#[test]
fn published_random_writes_leave_room_for_the_write_amplification() {
    let document: Value = serde_json::from_str(&std::fs::read_to_string(STORED).expect("a file")).expect("JSON");
    for drive in document["drives"].as_array().expect("drives") {
        let preset = drive["preset"].as_str().expect("a preset");
        let is_flash = support::library().presets().get(preset).expect("a preset")["device"].get("ssd").is_some();
        if drive["basis"] == "measured" || !is_flash {
            continue; // their series are random only
        }
        if !support::library().presets().get(preset).expect("a preset")["device"]["ssd"]["flash"]["slc_cache"].is_null() {
            continue; // what is published of its writes are those of the cache, or of an empty drive
        }
        let rows = drive["runs"].as_array().expect("runs");
        let published = |word: &str| {
            let row = rows.iter().find(|row| row["what"].as_str().is_some_and(|what| what.contains(word)));
            row.and_then(|row| row["published"].as_f64()).unwrap_or_else(|| panic!("{preset}: no {word}"))
        };
        let ratio = published("sequential write") * 1e6 / (published("steady") * 4096.0);
        let ssd = &support::library().presets().get(preset).expect("a preset")["device"]["ssd"];
        let spec: Ssd = serde_json::from_value(ssd.clone()).expect("a drive");
        let expected = write_amplification(spec.flash.expect("flash").overprovision / 100.0);
        println!("{preset}: {ratio:.2} published, amplification {expected:.2}");
        // The sequential writes of a SATA drive are limited by its link, so that its ratio is lower.
        assert!(ratio > expected || spec.interface_rate.0 < 600_000_000, "{preset}: {ratio} below {expected}");
    }
}
