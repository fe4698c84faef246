//! FLUSH and FUA through the stack: whatever lies in between, a synchronous write is on the media when it completes.

use serde_json::{Value, json};

use crate::testing::{assert_problems, metric, problems, run};

/// One writer of 4 KiB at a time for some seconds on disks of 7200 rpm with a write cache.
pub fn scenario(job: &Value, disk: &Value, rest: &Value) -> Value {
    let mut sheet = json!({
        "rpm": 7200, "capacity": "4TB", "heads": 8, "zones": 16, "outer_rate": "175MB", "inner_rate": "87MB", "seek_single": "800us",
        "seek_average": "8.5ms", "seek_full": "17ms", "head_switch": "800us", "write_settle": "1ms", "overhead": "200us",
        "interface_rate": "550MB", "buffer": "128MB", "segments": 32, "read_ahead": "1MiB", "write_cache": true, "queue_policy": "satf"
    });
    merge(&mut sheet, disk);
    let mut writer = json!({"name": "w", "rw": "write", "bs": "4KiB", "size": "1GiB", "runtime": "5s", "time_based": true});
    merge(&mut writer, job);
    let mut whole = json!({"jobs": [writer], "devices": [{"hdd": sheet, "count": 1}]});
    merge(&mut whole, rest);
    whole
}

pub fn merge(into: &mut Value, from: &Value) {
    match (into, from) {
        (Value::Object(into), Value::Object(from)) => {
            for (key, value) in from {
                merge(into.entry(key.clone()).or_insert(Value::Null), value);
            }
        }
        (into, from) => *into = from.clone(),
    }
}

/// Writes a second.
fn rate(job: &Value, disk: &Value, rest: &Value) -> f64 {
    metric(&run(&scenario(job, disk, rest)), "w.write_iops")
}

#[test]
fn a_stream_of_single_synchronous_writes_makes_at_most_one_a_revolution() {
    for job in [json!({"sync": true}), json!({"fsync": 1}), json!({"fdatasync": 1}), json!({"sync": true, "size": "4KiB"})] {
        let found = rate(&job, &json!({}), &json!({}));
        assert!((100.0..=120.5).contains(&found), "{job}: {found}"); // 120 turns a second, and the first write of five seconds
        let uncached = rate(&job, &json!({"write_cache": false}), &json!({}));
        assert!((100.0..=120.5).contains(&uncached), "{job}: {uncached}");
        let protected = rate(&job, &json!({"write_cache_is": "protected"}), &json!({}));
        assert!(protected > 1000.0, "{job}: {protected}");
    }
}

#[test]
fn random_synchronous_writes_take_seek_settling_and_half_a_turn() {
    // 1 / (0.2 + 8.5 + 1 + 4.17 ms) over the whole stroke; a one-cylinder seek of 0.8 ms within the first 4 GiB, and somewhat more.
    let whole = rate(&json!({"rw": "randwrite", "sync": true, "size": "3.9TB", "runtime": "20s"}), &json!({}), &json!({}));
    assert!((68.0..76.0).contains(&whole), "{whole}");
    let near = rate(&json!({"rw": "randwrite", "sync": true, "size": "4GiB", "runtime": "20s"}), &json!({}), &json!({}));
    assert!((145.0..165.0).contains(&near), "{near}");
}

#[test]
fn a_flush_reaches_every_disk_through_every_layer() {
    // The last of eight writes is flushed: with striping over 4 KiB the first seven are on other disks.
    let job = json!({"fsync": 8, "runtime": "2s"});
    for rest in [
        json!({"devices": [{"count": 8}], "layout": {"kind": "stripe", "unit": "4KiB"}}),
        json!({"devices": [{"count": 2}], "layout": {"kind": "mirror", "unit": "4KiB"}}),
        json!({"devices": [{"count": 4}], "layout": {"kind": "raidz", "unit": "16KiB"}}),
        json!({"volume": {"block": "4KiB"}}),
    ] {
        let mut scenario = scenario(&job, &json!({}), &json!({}));
        merge_devices(&mut scenario, &rest);
        let stack = run(&scenario);
        assert!(metric(&stack, "w.write_iops") <= 8.0 * 120.0, "{rest}");
        if stack.usage().len() == 8 {
            let flushed: Vec<bool> = stack.usage().iter().map(|usage| usage.flushes > 100).collect();
            assert_eq!(flushed, [true, true, true, true, true, true, true, false], "the last disk has the write that ends with the flush");
        }
    }
}

/// Merges, with the first group of devices in place.
fn merge_devices(into: &mut Value, rest: &Value) {
    if let Some(count) = rest.pointer("/devices/0/count") {
        into["devices"][0]["count"] = count.clone();
    }
    let mut rest = rest.clone();
    rest.as_object_mut().expect("an object").remove("devices");
    merge(into, &rest);
}

#[test]
fn a_synchronous_job_on_a_cache_that_cannot_be_flushed_is_refused() {
    for (job, field) in [(json!({"sync": true}), "sync"), (json!({"fsync": 4}), "fsync"), (json!({"fdatasync": 4}), "fdatasync")] {
        let scenario = scenario(&job, &json!({"write_cache_is": "unflushable"}), &json!({}));
        let values = "devices[0].hdd.write_cache_is, unflushable, volatile, protected";
        assert_problems(&problems(&scenario), &[&format!("jobs[0].{field}: {values}")]);
    }
    assert!(problems(&scenario(&json!({}), &json!({"write_cache_is": "unflushable"}), &json!({}))).is_empty());
}
