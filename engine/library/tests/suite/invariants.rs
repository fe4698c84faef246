//! Invariants of every run, over scenarios drawn at random from all layers: each request completes once, phases add up to the
//! latency, bytes in equal bytes out, and the result does not depend on how the run is stepped.

use std::collections::BTreeSet;

use proptest::prelude::*;
use proptest::strategy::ValueTree as _;
use proptest::test_runner::TestRunner;
use seeklab_cache::PolicyKind;
use seeklab_model::kernel::LayerId;
use seeklab_model::result::columns::Column;
use seeklab_model::result::metrics::Metric;
use seeklab_model::stack::{Stack, fields};
use serde_json::{Map, Value, json};

use crate::support;

fn job(index: usize) -> impl Strategy<Value = Value> {
    let pattern = prop_oneof![
        Just("read"),
        Just("write"),
        Just("randread"),
        Just("randwrite"),
        Just("readwrite"),
        Just("randrw"),
        Just("clientcopy"),
        Just("servercopy"),
        Just("odxcopy")
    ];
    let pace = prop_oneof![
        3 => Just(json!({})),
        1 => (1u32..2000).prop_map(|rate| json!({"rate_iops": rate, "rate_process": "poisson"})),
        1 => (1u32..64).prop_map(|mb| json!({"rate": mb * 1_000_000})),
        1 => (1u64..5_000_000).prop_map(|ns| json!({"thinktime": ns, "thinktime_blocks": 3})),
        1 => (1u64..5_000_000).prop_map(|ns| json!({"stagger": ns})),
        // The largest request is 1 MiB; all jobs of a run have the same zones.
        1 => any::<bool>().prop_map(|beyond| json!({"zoned": {"size": "4MiB", "capacity": "3MiB", "max_open": 60, "read_beyond": beyond}})),
    ];
    (pattern, pace, 0u32..9, 1u32..20, 1u32..4, any::<bool>(), any::<bool>(), 1u64..60, any::<bool>()).prop_map(
        move |(rw, pace, bs_log2, iodepth, numjobs, zipf, stonewall, ios, sync)| {
            let mut job = json!({
                "name": format!("job{index}"), "rw": rw, "bs": 4096u64 << bs_log2, "iodepth": iodepth, "numjobs": numjobs,
                "size": "24MiB", "number_ios": ios, "sync": sync, "stonewall": stonewall, "norandommap": zipf,
                "random_distribution": if zipf { "zipf:1.2" } else { "random" },
            });
            if let (Some(job), Value::Object(pace)) = (job.as_object_mut(), pace) {
                if !rw.ends_with("copy") || !pace.contains_key("zoned") {
                    job.extend(pace);
                }
                if ["servercopy", "odxcopy"].contains(&rw) {
                    job.insert("copy".into(), json!({"chunks_per_request": iodepth, "range": "3MiB"}));
                }
            }
            job
        },
    )
}

fn device() -> impl Strategy<Value = Value> {
    let hdd = prop_oneof![Just("satf"), Just("fcfs"), Just("sstf"), Just("scan"), Just("c-look")]
        .prop_map(|policy| json!({"preset": "hdd-7200", "hdd": {"queue_policy": policy}}));
    let array = Just(json!({"preset": "disk-array-2021"}));
    let shaken = (0u32..90, 1u64..200_000_000, 1u64..200_000_000, any::<bool>()).prop_map(|(percent, at, ns, cached)| {
        let shout = json!({"at": at, "for": ns, "off_track": 0.9});
        json!({"preset": "hdd-7200", "hdd": {
            "write_cache": cached, "shake": {"off_track": f64::from(percent) / 100.0, "shouts": [shout], "disks": [0]}
        }})
    });
    let ssd = Just(json!({"preset": "ssd-sata"}));
    let lun = (1u64..500, 0u32..20)
        .prop_map(|(mb, cv)| json!({"lun": {"rate": mb * 1_000_000, "latency": "50us", "latency_cv": f64::from(cv) / 10.0}}));
    let shape = prop_oneof![Just("constant"), Just("sine"), Just("square"), Just("random")];
    let varying = (1u64..500, shape, 1u64..300, 0u32..=95, 2u32..20).prop_map(|(mb, shape, ms, amplitude, full_at)| {
        let varies =
            json!({"shape": shape, "period": ms * 1_000_000, "amplitude": amplitude, "one_in_flight": mb * 300_000, "full_at": full_at});
        json!({"lun": {"rate": mb * 1_000_000, "latency": "50us", "varies": varies}})
    });
    let pauses = proptest::collection::vec((1u64..200_000_000, 1u64..200_000_000), 0..3);
    let credits = (100u32..5000, 1u64..3000, 12u32..20, any::<bool>()).prop_map(|(base, capacity, unit_log2, top_up)| {
        let mut credits = json!({"base": base, "capacity": 300_000 + capacity, "initial": capacity, "unit": 1u64 << unit_log2});
        if top_up {
            credits["top_up"] = json!({"first": "1s", "every": "1s", "amount": 100});
        }
        json!({"lun": {"rate": "500MB", "latency": "1ms", "credits": credits}})
    });
    let slc = (1u64..64, 0.0f64..1.0, 0.0f64..1.0, 0u64..2_000_000_000, 0u64..100).prop_map(|(mib, lend, full, after_ns, mb)| {
        let slc = json!({"fixed": mib << 20, "lend": lend, "full": full, "direct_rate": "50MB", "fold_rate": mb * 1_000_000, "fold_after": after_ns});
        json!({"lun": {"rate": "500MB", "slc": slc}})
    });
    let shingled = (0u32..4, 1u64..40, 1u32..200, any::<bool>(), 0u64..100, 0u64..50).prop_map(|(zone_log2, mib, ranges, fullest, stream, idle_ms)| {
        let zone = 1u64 << (20 + zone_log2);
        let shingled = json!({"zone": zone, "cache": zone + (mib << 20), "ranges": ranges, "move": "1ms", "clean": if fullest { "fullest" } else { "oldest" },
            "stream": stream << 18, "idle": idle_ms * 1_000_000});
        json!({"lun": {"capacity": "8GiB", "rate": "500MB", "latency": "50us", "shingled": shingled}})
    });
    (prop_oneof![hdd, array, shaken, ssd, lun, varying, credits, slc, shingled], 1u32..6, pauses).prop_map(|(mut device, count, pauses)| {
        device["count"] = count.into();
        if device["lun"].is_object() && device["lun"]["slc"].is_null() && device["lun"]["shingled"].is_null() && !pauses.is_empty() {
            let mut end = 0;
            let pause = |(after, ns): (u64, u64)| {
                let at = end + after;
                end = at + ns;
                json!({"at": at, "for": ns})
            };
            device["lun"]["pauses"] = pauses.into_iter().map(pause).collect();
        }
        device
    })
}

fn policy() -> impl Strategy<Value = &'static str> {
    let names: Vec<&str> = PolicyKind::ALL.iter().map(|policy| policy.name()).collect();
    proptest::sample::select(names)
}

/// Sizes in MiB that a cache changes to, with the time since the change before.
fn resizes() -> impl Strategy<Value = Value> {
    proptest::collection::vec((1u64..500_000_000, 1u64..64), 0..4).prop_map(|changes| {
        let mut at = 0;
        let change = |(after_ns, mib): (u64, u64)| {
            at += after_ns;
            json!({"at": at, "size": mib << 20})
        };
        changes.into_iter().map(change).collect()
    })
}

/// A cluster of nodes with what may happen to it: machines that move, a node that is lost.
fn cluster() -> impl Strategy<Value = Value> {
    let design = prop_oneof![Just("locality"), Just("hash"), Just("dedup-pairs"), Just("dedup-spread"), Just("redirect-pairs")];
    let events = (proptest::option::of((0u32..4, 0u64..50)), proptest::option::of((0u32..4, 0u64..50)));
    (design, 4u32..7, 1u32..4, 12u32..21, 0u32..80, any::<bool>(), events).prop_map(
        |(design, nodes, copies, block_log2, duplicates, migrate, (moved, lost))| {
            let is_paired = design.contains("pairs");
            let copies = if is_paired { 2 } else { copies };
            let mut cluster = json!({
                "design": design, "nodes": if is_paired { nodes / 2 * 2 } else { nodes }, "copies": copies, "block": 1u64 << block_log2,
                "duplicates": duplicates, "migrate": migrate, "round_trip": "20us",
            });
            if let Some((to, ms)) = moved {
                cluster["moves"] = json!([{"vm": "job0", "to": to, "at": format!("{ms}ms")}]);
            }
            // A node is lost later than anything moves to it.
            if let Some((node, ms)) = lost.filter(|_| copies > 1) {
                cluster["failures"] = json!([{"node": node, "at": format!("{}ms", ms + 51)}]);
            }
            cluster
        },
    )
}

/// Devices that fail, and how they are rebuilt, if at all; all jobs' files lie within what is in use.
fn failure() -> impl Strategy<Value = (Value, Value)> {
    let failed = prop_oneof![(0u32..4).prop_map(|device| json!([device])), Just(json!([1, 2]))];
    let rate = proptest::option::of(10_000_000u64..1_000_000_000);
    let order = proptest::option::of((1u32..40, 0u64..2_000_000_000));
    let limits = (1u32..3, 1u32..9, 18u32..24, (rate, order), 0u64..2_000_000_000);
    (failed, proptest::option::of(limits)).prop_map(|(failed, limits)| {
        let Some((spares, in_flight, chunk_log2, (rate, order), at)) = limits else { return (failed, Value::Null) };
        let mut rebuild = json!({"spares": spares, "in_flight": in_flight, "chunk": 1u64 << chunk_log2, "at": at, "used": "1GiB"});
        if let Some(rate) = rate {
            rebuild["rate"] = rate.into();
        }
        if let Some((passes, sorted)) = order {
            (rebuild["order"], rebuild["passes"], rebuild["sorted"]) = ("time".into(), passes.into(), sorted.into());
        }
        (failed, rebuild)
    })
}

fn volume() -> impl Strategy<Value = Value> {
    (0u32..4, any::<bool>(), 0u32..3, any::<bool>(), 1u64..64, policy(), resizes()).prop_map(
        |(block_log2, cache, prefetches, log, mib, policy, resizes)| {
            let mut volume = Map::new();
            volume.insert("block".into(), (8192u64 << block_log2).into());
            if cache {
                volume.insert(
                    "cache".into(),
                    json!({"size": mib << 20, "overhead": "10us", "rate": "4GB", "policy": policy, "resize": resizes}),
                );
                if prefetches > 0 {
                    volume.insert("prefetch".into(), json!({"chunk": "1MiB", "per_request": prefetches, "min_read": 4096}));
                }
            }
            if log {
                volume.insert("write_log".into(), json!({"rate": "200MB", "latency": "100us"}));
            }
            Value::Object(volume)
        },
    )
}

fn controller() -> impl Strategy<Value = Value> {
    let resizes = proptest::collection::vec((0u64..2_000_000_000, 1u32..9), 0..3);
    let lock = prop_oneof![
        Just(json!(null)),
        Just(json!({"held_percent": 50, "exclusive": "writes"})),
        Just(json!({"held_percent": 100, "exclusive": "always"}))
    ];
    let spread = prop_oneof![Just("constant"), Just("exponential")];
    (1u32..6, 1u32..9, resizes, lock, spread, any::<bool>(), any::<bool>()).prop_map(
        |(cores, shards, resizes, lock, spread, one, replicas)| {
            let resizes: Vec<Value> = resizes.into_iter().map(|(at, shards)| json!({"at": at, "shards": shards})).collect();
            let mut controller = json!({
                "cores": cores, "shards": shards, "resizes": resizes, "range": 65536, "disks": if one { "one" } else { "file" },
                "dispatch": "5us", "read": "20us", "write": "30us", "per_byte": 0.1, "spread": spread,
            });
            if !lock.is_null() {
                controller["lock"] = lock;
            }
            if replicas {
                controller["replicas"] = json!({"copies": 2, "rate": "1GB"});
            }
            controller
        },
    )
}

/// A read side of ZFS: an ARC, and perhaps read-ahead and cache devices.
fn read_side() -> impl Strategy<Value = Value> {
    let prefetch = proptest::option::of((1u32..9, 1u32..100, any::<bool>()));
    let l2arc = proptest::option::of((1u64..9, 1u32..4, 1u64..300, any::<bool>(), any::<bool>(), 0u64..4096));
    (1u64..33, any::<bool>(), prefetch, l2arc).prop_map(|(arc_mib, metadata, prefetch, l2arc)| {
        let mut side = json!({"arc": {"size": arc_mib << 20, "metadata": if metadata { vec!["job0"] } else { vec![] }}});
        if let Some((streams, cap, all)) = prefetch {
            side["prefetch"] = json!({"streams": streams, "cap": cap, "max_read": if all { 1 << 30 } else { 65536 }});
        }
        if let Some((quarters, count, feed_ms, noprefetch, feed_again, header)) = l2arc {
            let device = if noprefetch { json!({"preset": "ssd-2008-read"}) } else { json!({"lun": {"rate": "80MB", "latency": "100us"}}) };
            side["l2arc"] = json!({"device": device, "size": quarters << 18, "write_max": "256KiB", "write_boost": 0, "feed": feed_ms * 1_000_000,
                "noprefetch": noprefetch, "feed_again": feed_again, "header": header});
            side["l2arc"]["device"]["name"] = "cache".into();
            side["l2arc"]["device"]["count"] = count.into();
        }
        side
    })
}

/// A ZFS write path of any version, with any throttle and scheduler, or with its version's own.
fn zfs() -> impl Strategy<Value = Value> {
    let eras = ["zfs-2008-03", "zfs-2008-12", "zfs-2010", "openzfs-2013", "openzfs-0.7", "openzfs-2.1", "openzfs-2.2", "openzfs-2.3"];
    let throttle = proptest::option::of(prop::sample::select(vec!["none", "zfs2008", "zfs2010", "diagonal", "openzfs"]));
    let scheduler = proptest::option::of(prop::sample::select(vec!["deadline", "active"]));
    let release = proptest::option::of(prop::sample::select(vec!["each_write", "whole_block", "group_end"]));
    let sizes = (12u32..18, 1u64..24, 1u32..4, 0u64..3, 0u32..20);
    let switches = (any::<bool>(), any::<bool>(), any::<bool>(), any::<bool>(), any::<bool>(), any::<bool>());
    let log = (0u32..4, 1u32..3, any::<bool>(), any::<bool>(), 0u64..1_000_000, (0u64..300_000, 0u64..300_000)).prop_map(
        |(mirrors, mirror, by_job, batch, flush_ns, (limit, bulk))| {
            let device = match mirrors {
                1 => json!({"ssd": {"capacity": "1MiB", "units": 4, "page": 4096, "read": "60us", "program": "200us", "interface_rate": "550MB"}}),
                _ => json!({"lun": {"rate": "100MB", "latency": "30us"}}),
            };
            let mut log = json!({"batch": batch, "flush": flush_ns, "datasets": if by_job { "job" } else { "one" }});
            if mirrors > 0 {
                log["devices"] = device;
                log["devices"]["count"] = (mirrors * mirror).into();
                log["mirror"] = mirror.into();
                log["slog_limit"] = limit.into();
                log["slog_bulk"] = bulk.into();
            }
            log
        },
    );
    let reads = proptest::option::weighted(0.6, read_side());
    (prop::sample::select(eras.to_vec()), throttle, scheduler, release, sizes, switches, log, reads).prop_map(
        |(era, throttle, scheduler, release, (record_log2, dirty_mib, copies, cache_mib, metadata), switches, log, reads)| {
            let (exist, full, ramp, serialise, in_place, ingest) = switches;
            let mut zfs = json!({
                "era": era, "record": 1u64 << record_log2, "memory": "64MiB", "dirty_data_max": dirty_mib << 20, "copies": copies,
                "cache": cache_mib << 20, "metadata": "64KiB", "metadata_percent": metadata, "files_exist": exist,
                "start": if full { "full" } else { "empty" }, "ramp": ramp, "serialise": serialise,
                "placement": if in_place { "in_place" } else { "copy_on_write" }, "txg_timeout": "1s", "log": log,
            });
            if era.starts_with("zfs-20") {
                zfs["write_limit"] = "2MiB".into();
            }
            for (field, value) in [("throttle", throttle), ("scheduler", scheduler), ("release", release)] {
                if let Some(value) = value {
                    zfs[field] = value.into();
                }
            }
            if ingest {
                zfs["ingest"] = "50MB".into();
            }
            if let Some(Value::Object(reads)) = reads {
                zfs["cache"] = 0.into();
                for (field, value) in reads {
                    zfs[field] = value;
                }
            }
            zfs
        },
    )
}

/// Servers behind a switch whose ports overflow, or do not.
fn packets() -> impl Strategy<Value = Value> {
    let sizes = (1u32..9, proptest::option::of(1u32..5), 1u32..80, 1u32..30);
    (sizes, 0u64..20_000_000, 0u64..10_000).prop_map(|((servers, at_once, buffer, window), rto_min, jitter)| {
        let mut packets = json!({"servers": servers, "buffer": buffer, "window": window, "rto_min": 10_000 + rto_min, "jitter": jitter,
            "request_jitter": 2 * jitter});
        if let Some(at_once) = at_once {
            packets["at_once"] = at_once.into();
        }
        packets
    })
}

fn network() -> impl Strategy<Value = Value> {
    (plain_network(), proptest::option::weighted(0.3, packets()), any::<bool>()).prop_map(|(mut network, packets, stamps)| {
        network["time_stamps"] = stamps.into();
        if let Some(mut packets) = packets {
            // A timer that a path of full queues cannot outlast, on links that no minute is too short for.
            network["bits_per_s"] = network["bits_per_s"].as_u64().unwrap_or(1).max(10_000_000).into();
            let of = |value: &Value| value.as_u64().unwrap_or(1);
            let queued = of(&network["connections"]) * of(&packets["servers"]) * of(&packets["window"]) + of(&packets["buffer"]) + 2;
            let bits_per_s = of(&network["bits_per_s"]).min(1_000_000_000);
            let path_ns = queued * (of(&network["mtu"]) + 60) * 8 * 1_000_000_000 / bits_per_s;
            packets["rto_min"] = of(&packets["rto_min"]).max(path_ns / 64 + 1).into();
            network["packets"] = packets;
            network["server_links"] = 1.into();
        }
        network
    })
}

fn plain_network() -> impl Strategy<Value = Value> {
    let clients = prop_oneof![Just("one"), Just("job"), Just("worker")];
    (clients, 6u32..11, 1u32..4, prop_oneof![Just(1500u32), Just(9000u32)], 14u32..24, 0u64..2_000_000, 1u32..4).prop_map(
        |(clients, magnitude, connections, mtu, buffer_log2, round_trip_ns, links)| {
            json!({"bits_per_s": 10u64.pow(magnitude), "server_bits_per_s": 1_000_000_000, "round_trip": round_trip_ns, "mtu": mtu, "server_links": links,
                "clients": clients, "connections": connections, "client_buffer": 1u64 << buffer_log2, "server_buffer": 1 << 18})
        },
    )
}

/// An NFS client of any size, and the calls that its jobs make.
fn nfs() -> impl Strategy<Value = (Value, usize)> {
    let sizes = (9u32..18, 1u32..10, 0u32..6, 0u32..8, 9u32..22, 0u64..100_000_000);
    let costs = (1u32..4, 0u64..50_000, 0u32..20, 1u32..8, 0usize..5);
    (sizes, costs).prop_map(|((transfer_log2, threads, ahead, cache_log2, dirty_log2, attributes), (cpus, call, byte, operations, first))| {
        let nfs = json!({
            "transfer": 1u64 << transfer_log2, "threads": threads, "read_ahead": ahead, "cache": 1u64 << (transfer_log2 + cache_log2),
            "dirty": 1u64 << dirty_log2, "attributes": attributes, "create_operations": operations, "delete_operations": operations + 1,
            "cpus": cpus, "per_call": call, "per_byte": byte, "per_putc": byte, "per_getc": byte, "per_operation": call, "per_wire_byte": byte,
        });
        (nfs, first)
    })
}

/// Gives a job the first of the calls from the `first` on that fits its pattern.
fn set_call(job: &mut Value, first: usize) {
    let calls = ["block", "char", "create", "stat", "delete"];
    let rw = job["rw"].as_str().unwrap_or_default();
    let fits = |call: &str| match call {
        "create" | "delete" => ["write", "randwrite"].contains(&rw),
        "stat" => ["read", "randread"].contains(&rw),
        "char" => !rw.ends_with("copy"),
        _ => true,
    };
    let call = (0..calls.len()).map(|step| calls[(first + step) % calls.len()]).find(|call| fits(call)).unwrap_or("block");
    job["call"] = call.into();
    if ["create", "stat", "delete"].contains(&call) {
        job["sync"] = false.into();
    }
}

/// A server node with any card, and buffers that are unmapped or not.
fn server() -> impl Strategy<Value = Value> {
    let nic = (0u64..300_000, 1u32..40, any::<bool>(), 0u64..3000, 1u32..9, 1u32..5).prop_map(
        |(blank, blank_frames, large_send, copy_threshold, rings, receive_rings)| {
            json!({
                "blank": blank, "blank_frames": blank_frames, "interrupt_cycles": 12_000, "receive_cycles": 4000, "send_cycles": 5000,
                "large_send": large_send, "post_cycles": 1500, "copy_threshold": copy_threshold, "copy_byte_cycles": 0.5,
                "map_cycles": 2500, "rings": rings, "ring_cycles": 20_000, "receive_rings": receive_rings,
            })
        },
    );
    let buffers = (12u32..21, any::<bool>()).prop_map(
        |(keeps, object_cache)| json!({"keeps": 1u64 << keeps, "object_cache": object_cache, "call_cycles": 2000, "answer_cycles": 1000}),
    );
    (1u32..9, proptest::option::of(nic), proptest::option::of(buffers)).prop_map(|(cores, nic, buffers)| {
        let mut server =
            json!({"cores": cores, "hz": 2_300_000_000u64, "request_cycles": 30_000, "byte_cycles": 2.5, "device_byte_cycles": 1});
        for (field, value) in [("nic", nic), ("buffers", buffers)] {
            if let Some(value) = value {
                server[field] = value;
            }
        }
        server
    })
}

/// A page cache that keeps what was read, and reads ahead by any of its rules.
fn read_ahead() -> impl Strategy<Value = Value> {
    let context = prop_oneof![Just("off"), Just("2009"), Just("ramp"), Just("2013")];
    (12u32..22, context, any::<bool>()).prop_map(|(max_log2, context, one_open)| {
        json!({"journal": "none", "read_ahead": {"max": 1u64 << max_log2, "context": context, "one_open": one_open}})
    })
}

/// The file system of a scenario, if any, as the field that holds it; a further kind is one more line.
fn plain() -> impl Strategy<Value = Option<(&'static str, Value)>> {
    prop_oneof![
        1 => Just(None),
        2 => volume().prop_map(|volume| Some(("volume", volume))),
        1 => read_ahead().prop_map(|cache| Some(("page_cache", cache))),
        1 => page_cache().prop_map(|cache| Some(("page_cache", cache))),
    ]
}

/// A page cache with thresholds of any size, with or without a journal.
fn page_cache() -> impl Strategy<Value = Value> {
    let journal = prop_oneof![Just("none"), Just("writeback"), Just("ordered")];
    let sizes = (12u64..26, 12u64..26, 12u32..23, 1u32..40);
    let times = (0u64..3_000_000_000, 10_000_000u64..3_000_000_000, 10_000_000u64..3_000_000_000);
    (journal, sizes, times, any::<bool>(), any::<bool>(), any::<bool>(), any::<bool>()).prop_map(
        |(journal, (background, limit, chunk, depth), (expire, wakeup, commit), paced, files, delayed, apart)| {
            json!({
                "background": 1u64 << background, "limit": 1u64 << limit, "chunk": 1u64 << chunk, "depth": depth, "expire": expire,
                "wakeup": wakeup, "commit": commit, "journal": journal, "throttle_from": if paced { "midpoint" } else { "limit" },
                "commit_holds": if files { "files" } else { "pages" }, "delayed_allocation": delayed,
                "unjournalled": if apart && journal != "none" { vec!["job0"] } else { vec![] },
            })
        },
    )
}

fn under_zfs() -> impl Strategy<Value = Option<(&'static str, Value)>> {
    zfs().prop_map(|zfs| Some(("zfs", zfs)))
}

/// What the first job's writes consist of, and what a storage system makes of it.
fn reduction() -> impl Strategy<Value = Value> {
    let fio = prop_oneof![Just("2.1.3"), Just("2.20"), Just("3.33")];
    (fio, 0u32..=100, 0u32..=100, any::<bool>(), 9u32..14, 0u32..3).prop_map(|(fio, percent, dedupe, refill, block_log2, units)| {
        json!({
            "fio": fio, "buffer_compress_percentage": percent, "dedupe_percentage": if fio == "2.1.3" { 0 } else { dedupe },
            "refill_buffers": refill, "buffers": 6, "block": 1u64 << block_log2, "unit": 1u64 << (block_log2 + units),
        })
    })
}

/// A fan-out of any kind; what it reads on devices fits the smallest of them.
fn fanout() -> impl Strategy<Value = Value> {
    let service = prop_oneof![
        1 => (0u32..100).prop_map(|percent| json!({"kind": "two-point", "time": "1ms", "slow": "50ms", "slow_percent": percent})),
        1 => (1u32..60).prop_map(|shape| json!({"kind": "gamma", "time": "3ms", "shape": f64::from(shape) / 10.0})),
        // An index of 1 or less has no mean: a few such times can outlast any limit.
        1 => (11u32..60).prop_map(|shape| json!({"kind": "pareto", "time": "1ms", "slow_percent": 20, "shape": f64::from(shape) / 10.0})),
        2 => Just(json!({"kind": "below"})),
    ];
    let hedge = prop_oneof![
        (0u64..5_000_000, any::<bool>(), proptest::option::of(0u32..50)).prop_map(|(after, learns, budget)| {
            let mut hedge = json!({"after": after, "message": after / 7});
            if learns {
                hedge["percentile"] = 90.into();
            }
            if let Some(budget) = budget {
                hedge["budget"] = budget.into();
            }
            hedge
        }),
        (0u64..3_000_000, 0u64..3_000_000).prop_map(|(after, message)| json!({"mode": "tied", "after": after, "message": message})),
    ];
    let slow = proptest::option::of((proptest::option::of(0u32..2), 1u32..200));
    (1u32..20, 2u32..7, 1u32..3, 1u32..101, proptest::option::of(1u32..4), service, proptest::option::of(hedge), slow, any::<bool>())
        .prop_map(|(leaves, servers, replicas, wait_for, concurrency, mut service, hedge, slow, by_key)| {
            let mut fanout = json!({"leaves": leaves, "servers": servers, "replicas": replicas, "keys": 32, "wait_for": wait_for});
            if let Some(most) = concurrency {
                fanout["concurrency"] = most.into();
            }
            if let Some(hedge) = hedge {
                fanout["hedge"] = hedge;
                fanout["replicas"] = 2.into();
            }
            if service["kind"] != "below" {
                if by_key {
                    service["slow_by"] = "key".into();
                }
                if let Some((server, tenths)) = slow {
                    fanout["slow"] = json!([{"times": f64::from(tenths) / 10.0, "at": "5ms", "for": "100ms"}]);
                    if let Some(server) = server {
                        fanout["slow"][0]["server"] = server.into();
                    }
                }
            }
            fanout["service"] = service;
            fanout
        })
}

/// A controller's cache of any size, with a battery that learns within a run, or none.
fn raid_cache() -> impl Strategy<Value = Value> {
    let policy = prop_oneof![3 => Just("write_back"), 1 => Just("forced_write_back"), 1 => Just("write_through")];
    let times = (0u64..300_000_000, 1_000_000u64..300_000_000, 1_000_000u64..300_000_000);
    let battery = proptest::option::weighted(0.8, (times, 0.0f64..=1.0, any::<bool>(), 1u64..4));
    (20u32..27, 0u64..200_000, 1u32..40, 0u64..500_000_000, policy, battery).prop_map(|(size_log2, ack, depth, after, policy, battery)| {
        let mut cache = json!({"size": 1u64 << size_log2, "ack": ack, "depth": depth, "destage_after": after, "policy": policy});
        if let Some(((at, discharge, charge), threshold, by_charge, rests)) = battery {
            cache["battery"] = json!({
                "learn_at": at, "learn_every": (discharge + charge + 1_000_000_000) * rests, "lead": at / 3, "discharge": discharge,
                "threshold": threshold, "charge": charge, "write_back_returns": if by_charge { "threshold" } else { "complete" },
            });
        } else if policy == "forced_write_back" {
            cache["policy"] = "write_back".into();
        }
        cache
    })
}

/// A fleet of a few nodes, with each placement.
fn fleet() -> impl Strategy<Value = Value> {
    let placement = prop_oneof![Just("random"), Just("window"), Just("copysets"), Just("given")];
    (placement, 12u32..40, 2u32..4, 2u32..6, 1u32..100, any::<bool>(), 1u64..1000).prop_map(
        |(placement, nodes, copies, scatter, dark_percent, by_group, rate_mb)| {
            let chunks = if placement == "random" { 50 } else { 10_000 };
            let sets: Vec<u32> = if placement == "given" { (1..4).flat_map(|first| first..first + copies).collect() } else { vec![] };
            json!({
                "nodes": nodes, "copies": copies, "placement": placement, "scatter": scatter, "chunks": chunks, "sets": sets,
                "dark_percent": dark_percent, "dark_by": if by_group { "group" } else { "node" }, "outages": 20, "rate": rate_mb * 1_000_000,
            })
        },
    )
}

/// Puts a fleet above the devices; its jobs read.
fn set_fleet(all: &mut Value, fleet: Value) {
    read_only(all);
    all["fleet"] = fleet;
}

/// Makes jobs that read of all, and takes the tier away.
fn read_only(all: &mut Value) {
    for job in all["jobs"].as_array_mut().into_iter().flatten() {
        let rw = if job["iodepth"].as_u64().unwrap_or(0) % 2 == 0 { "read" } else { "randread" };
        (job["rw"], job["sync"]) = (rw.into(), false.into());
        if let Some(job) = job.as_object_mut() {
            job.remove("copy");
            job.remove("call");
        }
    }
    if let Some(all) = all.as_object_mut() {
        all.remove("tier");
    }
}

/// Puts a fan-out in the place of what decides where a block is; its jobs read.
fn set_fanout(all: &mut Value, fanout: Value) {
    let is_below = fanout["service"]["kind"] == "below";
    read_only(all);
    if let (Some(layout), true) = (all["layout"].as_object_mut(), is_below) {
        layout.remove("failed");
        layout.remove("rebuild");
    }
    if is_below {
        // A layout with copies wants whole groups.
        let group = all["layout"]["width"].as_u64().unwrap_or(1);
        let count = (fanout["servers"].as_u64().unwrap_or(group) / group).max(1) * group;
        all["devices"][0]["count"] = count.into();
        all["fanout"] = fanout;
        all["fanout"]["servers"] = count.into();
    } else {
        all["fanout"] = fanout;
    }
}

/// A database with logs whose flushes are drawn, and others that are written below.
fn commit() -> impl Strategy<Value = Value> {
    let batch = prop_oneof![Just("all"), Just("one")];
    let times = prop_oneof![Just("fixed"), Just("exponential"), Just("uniform")];
    let log = (batch, times, 1u64..3_000_000, 0u64..100_000, any::<bool>()).prop_map(|(batch, times, mean, per_commit, is_below)| {
        let flush = json!({"mean": 1000 + mean, "times": times, "per_commit": per_commit});
        if is_below { json!({"batch": batch}) } else { json!({"batch": batch, "flush": flush}) }
    });
    let work = prop_oneof![Just(0u64), 1u64..2_000_000];
    (work.clone(), work, proptest::collection::vec(log, 1..4), proptest::collection::vec(0usize..3, 1..5)).prop_map(
        |(work, serial, mut logs, stages)| {
            let count = logs.len();
            logs.iter_mut().enumerate().for_each(|(index, log)| log["name"] = format!("log{index}").into());
            let stages: Vec<String> = stages.into_iter().map(|stage| format!("log{}", stage % count)).collect();
            json!({"work": work, "serial_work": serial, "logs": logs, "stages": stages})
        },
    )
}

/// What stands on one node is not asked by a network that shares each request out among several.
fn one_server(all: &mut Value) {
    if !all["network"]["packets"].is_null() {
        all["network"]["packets"]["servers"] = 1.into();
    }
}

/// A network, and what is on both its ends.
fn set_network(all: &mut Value, (network, nfs, server): (Value, Option<(Value, usize)>, Option<Value>)) {
    all["network"] = network;
    if let Some(server) = server {
        all["server"] = server;
        one_server(all);
    }
    if let (Some((nfs, first)), Some(jobs)) = (nfs, all["jobs"].as_array_mut()) {
        jobs.iter_mut().enumerate().for_each(|(index, job)| set_call(job, first + index));
        all["nfs"] = nfs;
    }
}

/// A value that a schema accepts: a number within its bounds (at most a million above the lower one), a word, or an object of such
/// fields. Fields that may be absent are so half of the time; null stands for what is of another form.
fn by_schema(schema: &'static Value) -> BoxedStrategy<Value> {
    if let Some(name) = schema["$ref"].as_str() {
        return by_schema(seeklab_model::schema().pointer(&name[1..]).expect("a definition"));
    }
    if let Some(forms) = schema["anyOf"].as_array() {
        return by_schema(&forms[0]);
    }
    if let Some(words) = schema["oneOf"].as_array() {
        return proptest::sample::select(words.iter().map(|word| word["const"].clone()).collect::<Vec<_>>()).boxed();
    }
    let is = |form: &str| schema["type"] == *form || schema["type"].as_array().is_some_and(|forms| forms.contains(&json!(form)));
    if let Some(fields) = schema["properties"].as_object() {
        let is_required = |name: &String| schema["required"].as_array().is_some_and(|required| required.contains(&json!(name)));
        let each: Vec<BoxedStrategy<Value>> = fields
            .iter()
            .map(
                |(name, field)| if is_required(name) { by_schema(field) } else { prop_oneof![Just(Value::Null), by_schema(field)].boxed() },
            )
            .collect();
        let object = |values: Vec<Value>| fields.keys().cloned().zip(values).filter(|(_, value)| !value.is_null()).collect();
        return each.prop_map(object).boxed();
    }
    let bound = |name: &str, default: f64| schema[name].as_f64().unwrap_or(default);
    let low = bound("minimum", 0.0);
    if is("boolean") {
        any::<bool>().prop_map(Value::from).boxed()
    } else if is("integer") {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "whole numbers below 2^53")]
        let (low, high) = (low as u64, bound("maximum", 1e6).min(low + 1e6) as u64);
        (low..=high).prop_map(Value::from).boxed()
    } else if is("number") {
        (low..=bound("maximum", 1e6).min(low + 1e6)).prop_map(Value::from).boxed()
    } else {
        Just(Value::Null).boxed()
    }
}

/// The fields of layers whose values are drawn by functions of their own.
const BY_HAND: [&str; 14] = [
    "nfs",
    "network",
    "server",
    "protocol",
    "commit",
    "volume",
    "zfs",
    "page_cache",
    "controller",
    "fanout",
    "fleet",
    "cluster",
    "tier",
    "raid_cache",
];

/// Values of all other layers, each seldom.
fn others() -> impl Strategy<Value = Vec<(&'static str, Option<Value>)>> {
    let properties = &seeklab_model::schema()["properties"];
    let others = fields().into_iter().filter(|field| !BY_HAND.contains(field));
    others.map(|field| (Just(field), proptest::option::weighted(0.2, by_schema(&properties[field])))).collect::<Vec<_>>()
}

/// Adds those of the other layers that a scenario may have.
fn set_others(all: &mut Value, others: Vec<(&'static str, Option<Value>)>) {
    for (field, value) in others.into_iter().filter_map(|(field, value)| Some((field, value?))) {
        let mut with = all.clone();
        with[field] = value;
        if support::read(&with).is_ok() {
            *all = with;
        }
    }
}

/// Two groups of a layout that survives the failure of a device, with failed ones and their rebuild.
fn set_copies(all: &mut Value, kind: &str, failure: Option<(Value, Value)>) {
    let width = match kind {
        "mirror" | "raidz" | "draid" => 2,
        "raid5" => 3,
        "raid6" => 4,
        _ => return,
    };
    all["layout"]["kind"] = kind.into();
    all["layout"]["width"] = width.into();
    all["devices"][0]["count"] = (2 * width).into();
    if let Some((failed, rebuild)) = failure {
        // One of three may fail.
        // Nor more of dRAID, whose rebuild is not modelled.
        all["layout"]["failed"] = if matches!(kind, "raid5" | "draid") { json!([failed[0]]) } else { failed };
        if !rebuild.is_null() && kind != "draid" {
            all["layout"]["rebuild"] = rebuild;
        }
    }
}

/// A valid scenario with any combination of layers around a file system.
fn scenario(file_system: impl Strategy<Value = Option<(&'static str, Value)>>) -> impl Strategy<Value = Value> {
    let jobs = (1usize..4).prop_flat_map(|count| (0..count).map(job).collect::<Vec<_>>());
    let scheduler =
        (proptest::option::of(1u32..5), proptest::option::of((network(), proptest::option::of(nfs()), proptest::option::of(server()))));
    let tier = proptest::option::of((any::<bool>(), any::<bool>(), policy()));
    let layout = (
        prop_oneof![Just("stripe"), Just("concat"), Just("mirror"), Just("raidz"), Just("draid"), Just("raid5"), Just("raid6")],
        0u32..4,
        proptest::option::of(failure()),
    );
    let file_system = (file_system, proptest::option::of(controller()), proptest::option::weighted(0.2, commit()));
    let partition = proptest::option::of((0u64..9000, 9u32..15, 0u64..50_000, any::<bool>()));
    let fanout = (proptest::option::weighted(0.2, fanout()), proptest::option::weighted(0.1, fleet()));
    let seen = (any::<bool>(), proptest::option::of(reduction()), proptest::option::weighted(0.3, raid_cache()));
    (jobs, scheduler, file_system, tier, layout, (device(), proptest::option::of(cluster())), (partition, seen, fanout), others()).prop_map(
        |(
            jobs,
            (scheduler, network),
            (file_system, controller, commit),
            tier,
            (kind, unit_log2, failure),
            (device, cluster),
            (partition, (monitored, reduction, raid_cache), (fanout, fleet)),
            others,
        )| {
            let mut all = json!({
                "jobs": jobs,
                "protocol": {"max_transaction": "1280KiB", "target_transaction": "1MiB", "odx_sizing": "max"},
                "layout": {"kind": kind, "unit": 16384u64 << unit_log2},
                "devices": [device],
            });
            let zfs_schedules = matches!(file_system, Some(("zfs", _))) && controller.is_none() && tier.is_none() && raid_cache.is_none();
            let kind = if zfs_schedules && matches!(kind, "raid5" | "raid6") { "raidz" } else { kind };
            set_copies(&mut all, kind, failure.map(|(failed, rebuild)| (failed, if zfs_schedules { Value::Null } else { rebuild })));
            if let Some(network) = network {
                set_network(&mut all, network);
            }
            if let Some((start, block_log2, merge, apart)) = partition {
                all["partition"] = json!({"start": start, "block": 1u64 << block_log2, "merge": merge, "apart": apart});
            }
            if monitored {
                all["monitor"] = json!({"window": "1ms", "phase": "333us", "phases": 5});
            }
            if let Some(reduction) = reduction {
                all["reduction"] = reduction;
            }
            if let Some(in_flight) = scheduler {
                all["protocol"]["scheduler"] = json!({"in_flight": in_flight});
            }
            if let (Some(_), Some(("zfs", _)), Some(jobs)) = (scheduler, &file_system, all["jobs"].as_array_mut()) {
                // Such writes are not combined with others.
                for job in jobs.iter_mut() {
                    job["sync"] = false.into();
                }
            }
            if let Some((field, layer)) = file_system {
                all[field] = layer;
            }
            if let Some(controller) = controller {
                all["controller"] = controller;
            }
            if let Some((primed, admit, policy)) = tier {
                all["tier"] = json!({"size": "32MiB", "admit": admit, "policy": policy, "primed": if primed { vec!["job0"] } else { vec![] }, "ssd": {
                    "capacity": "960GB", "units": 8, "page": 4096, "read": "60us", "program": "200us", "interface_rate": "550MB"}});
            }
            if let Some(cluster) = cluster {
                // Under ZFS the whole pool is placed: terabytes would take days to be protected again.
                if !all["zfs"].is_null() {
                    all["devices"][0] = json!({"lun": {"capacity": "2GiB", "rate": "100MB"}});
                }
                if let Some(layout) = all["layout"].as_object_mut() {
                    layout.remove("failed"); // a cluster loses nodes, not devices
                    layout.remove("rebuild");
                }
                let each = all["layout"]["width"].as_u64().unwrap_or(1);
                all["devices"][0]["count"] = (cluster["nodes"].as_u64().unwrap_or(0) * each).into();
                if !all["tier"].is_null() {
                    all["tier"]["primed"] = json!([]);
                }
                all["cluster"] = cluster;
            } else if let Some(cache) = raid_cache {
                all["raid_cache"] = cache;
            } else if let Some(fanout) = fanout.filter(|_| all["zfs"].is_null()) {
                set_fanout(&mut all, fanout);
            } else if let Some(fleet) = fleet.filter(|_| all["zfs"].is_null()) {
                set_fleet(&mut all, fleet);
            } else if let Some(commit) = commit.filter(|_| all["nfs"].is_null() && all["protocol"]["scheduler"].is_null()) {
                all["commit"] = commit;
                one_server(&mut all);
            }
            set_others(&mut all, others);
            all
        },
    )
}

fn run(document: &Value, seed: u64, step: u64) -> Stack {
    let checked = support::read(document).unwrap_or_else(|problems| panic!("{problems:?} in {document}"));
    let mut stack = Stack::new(checked, seed);
    while !stack.step(step).unwrap_or_else(|problem| panic!("{problem} in {document}")) {}
    stack
}

fn reals(stack: &Stack, name: &str) -> Vec<f64> {
    match seeklab_observe::column(stack, name) {
        Some(Column::F64(values)) => values,
        Some(Column::U32(values)) => values.into_iter().map(f64::from).collect(),
        None => panic!("no column {name}"),
    }
}

/// Under ZFS, what is written is what was dirtied, and delays charged to requests are those that the throttle asked for.
fn the_write_path_balances(document: &Value, stack: &Stack) -> Result<(), TestCaseError> {
    let (Some(record), Some(zfs)) = (stack.zfs_record(), document.get("zfs")) else { return Ok(()) };
    let counts = record.counts;
    prop_assert_eq!(counts.dirtied_bytes, counts.cleaned_bytes, "every dirty block is written, once");
    let groups: u64 = record.groups.iter().map(|group| group.bytes).sum();
    prop_assert_eq!(groups + counts.committed_bytes, counts.dirtied_bytes, "no write is lost between groups");
    prop_assert!(counts.committed_bytes <= counts.indirect_bytes);
    if document["layout"].get("failed").is_none() {
        let of_groups = counts.dirtied_bytes - counts.committed_bytes;
        prop_assert!(counts.written_bytes >= of_groups * zfs["copies"].as_u64().expect("a number"));
    }
    let jobs = document["jobs"].as_array().expect("jobs");
    let is_direct = ["network", "controller", "commit"].iter().all(|layer| document.get(layer).is_none());
    if is_direct && document["protocol"].get("scheduler").is_none() && jobs.iter().all(|job| job["rw"] != "odxcopy") {
        let charged = |phase: &str| reals(stack, &format!("ops.{phase}_ns")).iter().sum::<f64>();
        #[allow(clippy::cast_precision_loss)]
        let (delays, stops) = (counts.delay_ns as f64, counts.blocked_ns as f64);
        prop_assert!((charged("throttle_delay") - delays).abs() < 0.5, "delays charged are delays slept");
        prop_assert!((charged("throttle_wait") - stops).abs() < 0.5, "stops charged are stops waited");
        let writes: u64 = stack.recorder().jobs.iter().map(|job| job.by_op[1].ios).sum();
        prop_assert!(record.groups.iter().map(|group| group.writes).sum::<u64>() >= writes, "a transaction for each record of a write");
    }
    Ok(())
}

/// What waits at the logs of a database, and what is flushed, is what passes its stages.
#[allow(clippy::cast_precision_loss)]
fn transactions_pass_all_stages(document: &Value, stack: &Stack, metrics: &[Metric]) -> Result<(), TestCaseError> {
    let commit = &document["commit"];
    if commit.is_null() {
        return Ok(());
    }
    // Copies that the server makes by itself are made below the database.
    let passes = |job: &Value| ["servercopy", "odxcopy"].iter().all(|rw| job["rw"] != *rw);
    let jobs = document["jobs"].as_array().into_iter().flatten().zip(&stack.recorder().jobs);
    let transactions: u64 = jobs.filter(|(job, _)| passes(job)).map(|(_, stats)| stats.by_op[1].ios).sum();
    let stages = commit["stages"].as_array().expect("stages");
    for log in commit["logs"].as_array().expect("logs") {
        let name = log["name"].as_str().expect("a name");
        let of = |what: &str| metrics.iter().find(|metric| metric.name == format!("commit.{name}_{what}")).expect("a metric").value;
        let visits = stages.iter().filter(|stage| **stage == log["name"]).count();
        let committed = of("batch_mean") * of("flushes");
        prop_assert!((committed - transactions as f64 * visits as f64).abs() < 1e-3, "{committed} at {name}");
        prop_assert!(of("overtaken") < 0.5, "order is kept");
        prop_assert!(log["batch"] == "one" || of("flushes_waited_max") <= 1.0);
        prop_assert!(log["batch"] == "all" || of("batch_max") <= 1.0);
    }
    Ok(())
}

/// What holds of every run.
fn check(document: &Value, seed: u64) -> Result<(), TestCaseError> {
    let stack = run(document, seed, 1 << 20);
    prop_assert_eq!(stack.in_flight(), 0, "requests are left in flight");
    let mut ids = reals(&stack, "ops.id");
    ids.sort_by(f64::total_cmp);
    let expected: Vec<f64> = (0..u32::try_from(ids.len()).expect("few")).map(f64::from).collect();
    prop_assert_eq!(&ids, &expected, "each operation is logged once");
    let issued: u64 = stack.recorder().jobs.iter().flat_map(|job| job.depths).sum();
    prop_assert_eq!(issued, ids.len() as u64);

    // The log's latency is the sum of phases; the recorder measured the clock. Both must agree, in total and by job.
    let latencies: f64 = reals(&stack, "ops.latency_ns").iter().sum();
    let measured: u64 = stack.recorder().jobs.iter().flat_map(|job| job.by_op.iter()).map(|stats| stats.total_ns).sum();
    #[allow(clippy::cast_precision_loss)]
    let difference = latencies - measured as f64;
    prop_assert!(difference.abs() < 0.5, "latencies by phase and by clock differ by {difference} ns");

    for (bytes, (cached, missed)) in
        reals(&stack, "ops.bytes").iter().zip(reals(&stack, "ops.cached_bytes").iter().zip(reals(&stack, "ops.missed_bytes")))
    {
        prop_assert!(cached + missed <= *bytes);
    }
    let metrics = seeklab_observe::metrics(&stack);
    transactions_pass_all_stages(document, &stack, &metrics)?;
    // While a copy of each block survives, none is lost, and all that can be is protected again.
    if !document["cluster"].is_null() {
        for name in ["cluster_lost_blocks", "cluster_lost_requests", "cluster_unprotected_blocks"] {
            let found = metrics.iter().find(|metric| metric.name == name).map(|metric| metric.value);
            prop_assert_eq!(found, Some(0.0), "{}", name);
        }
    }
    // Each of two groups keeps half of what is in use. RAID-5 and RAID-6 have two devices for data in a group here, the others one.
    let layout = &stack.scenario().layout;
    let rebuilt = layout.rebuild.as_ref().map_or(0, |rebuild| rebuild.spares.min(u32::try_from(layout.failed.len()).unwrap_or(0)));
    for metric in metrics.iter().filter(|metric| metric.name == "rebuild_bytes") {
        let each = if matches!(document["layout"]["kind"].as_str(), Some("raid5" | "raid6")) { 1 << 28 } else { 1 << 29 };
        prop_assert!((metric.value - f64::from(rebuilt) * f64::from(each)).abs() < 0.5, "{metric:?}");
    }
    for metric in metrics.iter().filter(|metric| metric.name.ends_with("busy_share_percent")) {
        prop_assert!(metric.value <= 100.0, "{metric:?}");
    }
    for (busy, name) in reals(&stack, "devices.busy_ns").iter().zip(stack.device_names()) {
        #[allow(clippy::cast_precision_loss)]
        let elapsed = stack.now_ns() as f64;
        prop_assert!(*busy <= elapsed, "{name} was busy for {busy} of {elapsed} ns");
    }
    every_dirty_page_is_written_back(document, &metrics)?;
    a_fan_out_counts_what_it_did(document, &metrics)?;
    a_controller_writes_out_what_it_took(document, &stack, &metrics)?;
    a_fleet_loses_no_more_than_it_holds(document, &metrics)?;
    the_reduction_only_takes_away(document, &metrics)?;
    what_a_client_writes_crosses_once(document, &stack, &metrics)?;
    the_read_side_balances(document, &stack)?;
    the_write_path_balances(document, &stack)
}

/// All that became dirty is written back once, and nothing is dirty above the limit.
#[allow(clippy::float_cmp)] // counts
fn every_dirty_page_is_written_back(document: &Value, metrics: &[Metric]) -> Result<(), TestCaseError> {
    let Some(limit) = document["page_cache"]["limit"].as_f64() else { return Ok(()) };
    let of = |name: &str| {
        metrics.iter().find(|metric| metric.name == format!("page_cache_{name}_bytes")).map_or(f64::NAN, |metric| metric.value)
    };
    prop_assert_eq!(of("dirtied"), of("written"));
    // A write that finds nothing dirty may go whatever its size, which is at most a piece of 1 MiB and a page at either end.
    prop_assert!(of("dirty_max") <= limit.max(f64::from(1 << 20)) + 1024.0 * 8192.0, "{} of {limit}", of("dirty_max"));
    Ok(())
}

/// Every leaf has one answer, and every second copy that was sent was served, withdrawn or void.
#[allow(clippy::float_cmp)] // counts
fn a_fan_out_counts_what_it_did(document: &Value, metrics: &[Metric]) -> Result<(), TestCaseError> {
    if document["fanout"].is_null() {
        return Ok(());
    }
    let of = |name: &str| metrics.iter().find(|metric| metric.name == format!("fanout_{name}")).map_or(f64::NAN, |metric| metric.value);
    let hedge = &document["fanout"]["hedge"];
    prop_assert!(hedge.is_object() || of("copies") == 0.0);
    prop_assert_eq!(of("copies"), of("void_copies") + of("withdrawn_copies") + of("losing_copies"), "{:?}", document["fanout"]);
    Ok(())
}

/// What a controller took into its memory is written out in the end, and nothing else is; no more was there than it holds.
fn a_controller_writes_out_what_it_took(document: &Value, stack: &Stack, metrics: &[Metric]) -> Result<(), TestCaseError> {
    let Some(size) = document["raid_cache"]["size"].as_f64() else { return Ok(()) };
    let of = |name: &str| {
        metrics.iter().find(|metric| metric.name == format!("raid_cache_{name}_bytes")).map_or(f64::NAN, |metric| metric.value)
    };
    prop_assert!(of("destaged") <= of("cached"), "{} of {}", of("destaged"), of("cached"));
    prop_assert!(of("max") <= size, "{} of {size}", of("max"));
    let at_end = reals(stack, "unsafe.controller_bytes").last().copied().unwrap_or(0.0);
    prop_assert!(at_end.abs() < 0.5, "{at_end} bytes are left where a battery would not keep them");
    Ok(())
}

/// Every outage is drawn once, none loses more bytes than there are, and a lost node is read from others only.
#[allow(clippy::float_cmp)] // counts
fn a_fleet_loses_no_more_than_it_holds(document: &Value, metrics: &[Metric]) -> Result<(), TestCaseError> {
    let Some(nodes) = document["fleet"]["nodes"].as_f64() else { return Ok(()) };
    let of = |name: &str| metrics.iter().find(|metric| metric.name == format!("fleet_{name}")).map_or(f64::NAN, |metric| metric.value);
    let copies = document["fleet"]["copies"].as_f64().unwrap_or(f64::NAN);
    let held = nodes / copies * f64::from(1u32 << 30) * 64.0;
    prop_assert_eq!(of("outages"), 20.0);
    prop_assert!(of("lost_given_loss_bytes") <= held * (1.0 + 1e-9), "{} of {held}", of("lost_given_loss_bytes"));
    prop_assert!((0.0..=100.0).contains(&of("loss_percent")) && (of("loss_percent") > 0.0) == (of("lost_mean_bytes") > 0.0));
    prop_assert!((1.0..nodes).contains(&of("sources")), "{} of {nodes}", of("sources"));
    Ok(())
}

/// Data reduction never adds a byte, and counts after each of its steps.
fn the_reduction_only_takes_away(document: &Value, metrics: &[Metric]) -> Result<(), TestCaseError> {
    if document["reduction"].is_null() {
        return Ok(());
    }
    let left = ["in", "after_zeros", "after_duplicates", "after_compression"]
        .map(|step| metrics.iter().find(|metric| metric.name == format!("reduction_{step}_bytes")).map(|metric| metric.value));
    prop_assert!(left.iter().all(Option::is_some), "{left:?}");
    prop_assert!(left.windows(2).all(|pair| pair[0] >= pair[1] && pair[1] >= Some(0.0)), "each step only takes away: {left:?}");
    Ok(())
}

/// What programs write through an NFS client crosses the network once, however it is cached, cut and delayed.
fn what_a_client_writes_crosses_once(document: &Value, stack: &Stack, metrics: &[Metric]) -> Result<(), TestCaseError> {
    if document["nfs"].is_null() {
        return Ok(());
    }
    let jobs = document["jobs"].as_array().into_iter().flatten().zip(&stack.recorder().jobs);
    let crosses = |job: &Value| {
        ["block", "char"].iter().any(|call| job["call"] == *call) && ["servercopy", "odxcopy"].iter().all(|rw| job["rw"] != *rw)
    };
    let written: u64 = jobs.filter(|(job, _)| crosses(job)).map(|(_, stats)| stats.by_op[1].bytes).sum();
    let carried = metrics.iter().find(|metric| metric.name == "network.to_server_payload_bytes").map(|metric| metric.value);
    #[allow(clippy::cast_precision_loss)]
    let written = written as f64;
    prop_assert_eq!(carried, Some(written));
    Ok(())
}

/// What the read side of a file system has served, fetched ahead and fed to its cache devices adds up.
fn the_read_side_balances(document: &Value, stack: &Stack) -> Result<(), TestCaseError> {
    let Some(reads) = stack.zfs_reads() else { return Ok(()) };
    prop_assert!(reads.used_bytes + reads.wasted_bytes <= reads.ahead_bytes, "what was read ahead is used, wasted or still there");
    let by_source = |of: fn(&seeklab_model::layers::zfs::read_record::Row) -> u64| reads.series.iter().map(of).sum::<u64>();
    prop_assert_eq!(by_source(|row| row.ahead), reads.ahead_bytes);
    prop_assert_eq!(by_source(|row| row.fed), reads.fed_bytes);
    prop_assert_eq!(by_source(|row| row.wasted), reads.wasted_bytes);
    let served: u64 = reads.by_job.iter().flatten().sum();
    prop_assert_eq!(by_source(|row| row.read.iter().sum()), served);
    let jobs = document["jobs"].as_array().expect("jobs");
    let is_direct = ["network", "controller"].iter().all(|layer| document.get(layer).is_none());
    if is_direct
        && document["protocol"].get("scheduler").is_none()
        && jobs.iter().all(|job| job["rw"] != "odxcopy" && job["rw"] != "servercopy")
    {
        let read: u64 = stack.recorder().jobs.iter().map(|job| job.by_op[0].bytes).sum();
        prop_assert_eq!(served, read, "each byte read has one source");
    }
    Ok(())
}

/// The stays of a request lie without gap or overlap between its begin and its end; it, or what it is a part of, begins in the window.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // whole numbers of nanoseconds
fn journeys_fill_the_lives_of_requests(stack: &Stack, window: std::ops::Range<u64>) -> Result<(), TestCaseError> {
    let journeys = stack.journeys().expect("journeys were asked for");
    let by_request = |request: u32| journeys.requests.binary_search_by_key(&request, |journey| journey.request).ok();
    let mut reached: Vec<u64> = journeys.requests.iter().map(|journey| journey.asked.submitted_ns).collect();
    for stay in &journeys.stays {
        let row = by_request(stay.request).expect("a stay is a request's");
        prop_assert_eq!(stay.from_ns, reached[row], "{:?} of {:?}", stay, journeys.requests[row]);
        prop_assert!(stay.to_ns > stay.from_ns);
        reached[row] = stay.to_ns;
    }
    // Those of workers are in the log, with their latencies.
    let logged: BTreeSet<(u64, u64)> = reals(stack, "ops.submit_ns")
        .iter()
        .zip(reals(stack, "ops.latency_ns"))
        .map(|(from, for_ns)| (*from as u64, for_ns as u64))
        .collect();
    for (journey, reached) in journeys.requests.iter().zip(reached) {
        let latency = (journey.asked.submitted_ns, reached - journey.asked.submitted_ns);
        let is_logged = journey.asked.owner.layer == LayerId::Workload && journey.parent.is_none();
        prop_assert!(!is_logged || logged.contains(&latency), "its stays add up to {}: {:?}", latency.1, journey);
        let begin_ns = journey.asked.submitted_ns;
        match journey.parent {
            Some(parent) => {
                let row = by_request(parent).expect("parts are kept with their whole");
                prop_assert!(journeys.requests[row].asked.submitted_ns <= begin_ns);
            }
            None => prop_assert!(window.contains(&begin_ns), "{} of {:?}", begin_ns, window),
        }
    }
    Ok(())
}

#[test]
fn random_scenarios_have_every_layer() {
    let mut runner = TestRunner::deterministic();
    let all = scenario(prop_oneof![plain(), under_zfs()]);
    let drawn: Vec<Value> = (0..400).map(|_| all.new_tree(&mut runner).expect("a scenario").current()).collect();
    let missing: Vec<&str> = fields().into_iter().filter(|field| drawn.iter().all(|document| document[*field].is_null())).collect();
    assert!(missing.is_empty(), "no random scenario has {missing:?}");
}

// 1,024 scenarios, in two tests because a machine has two cores.
proptest! {
    #![proptest_config(ProptestConfig { cases: 440, ..ProptestConfig::default() })]

    #[test]
    fn every_request_completes_once_and_its_phases_add_up(document in scenario(plain()), seed in 0u64..1000) {
        check(&document, seed)?;
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 584, ..ProptestConfig::default() })]

    #[test]
    fn every_request_under_zfs_completes_once_and_bytes_and_delays_balance(document in scenario(under_zfs()), seed in 0u64..1000) {
        check(&document, seed)?;
    }
}

proptest! {
    // Each of these scenarios runs twice, once in small steps; which layers it has matters little to that.
    #![proptest_config(ProptestConfig { cases: 256, ..ProptestConfig::default() })]

    #[test]
    fn the_result_does_not_depend_on_how_the_run_is_stepped_or_watched(document in scenario(prop_oneof![3 => plain(), 4 => under_zfs()]), seed in 0u64..1000, step in 1u64..50) {
        let whole = run(&document, seed, 1 << 20);
        let mut watched = document.clone();
        let (from, until) = (whole.now_ns() / 10, whole.now_ns() / 2 + 1);
        watched["record"]["journeys"] = json!({"from": from, "until": until});
        let stepped = run(&watched, seed, step);
        prop_assert_eq!(whole.recorder().fingerprint.hex(), stepped.recorder().fingerprint.hex());
        journeys_fill_the_lives_of_requests(&stepped, from..until)?;
    }
}
