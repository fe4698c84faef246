//! Every layer above the devices: over each field that is a resource or a cost.

use serde_json::{Value, json};

use crate::load::{KIB, Load, MIB, Pattern, load, set};
use crate::measure::Effort;
use crate::rules::{Bound, Rule, Unit};

use Pattern::{RandRead, RandRw, RandWrite, Read, ReadWrite, Write};

/// A field and its values from the worst to the best.
pub struct Axis {
    path: &'static str,
    values: Vec<Value>,
}

pub fn axis(path: &'static str, values: impl IntoIterator<Item = impl Into<Value>>) -> Axis {
    Axis { path, values: values.into_iter().map(Into::into).collect() }
}

/// Costs in nanoseconds, from the largest to none.
pub fn costs(path: &'static str) -> Axis {
    axis(path, [1_000_000, 300_000, 100_000, 30_000, 10_000, 1_000, 0])
}

/// All axes of a system under all loads: one unit for each load and axis.
pub fn sweep(system: &str, base: &Value, axes: &[Axis], loads: &[Load], shape: &dyn Fn(&mut Value)) -> Vec<Unit> {
    let unit = |load: &Load, axis: &Axis| {
        let mut unit = Unit::new(format!("{system}: {}", load.name()));
        let point = |value: &Value| {
            let mut system = base.clone();
            set(&mut system, axis.path, value.clone());
            let mut point = load.on(&system, format!("{} = {value}", axis.path));
            shape(&mut point.document);
            // A client without credits does not send.
            point.in_flight = point.in_flight.filter(|_| axis.path != "protocol.credits");
            point
        };
        unit.line(axis.path, axis.values.iter().map(point));
        unit
    };
    loads.iter().flat_map(|load| axes.iter().map(move |axis| unit(load, axis))).collect()
}

/// Depth and workers on a system.
pub fn in_flight(
    system: &str,
    base: &Value,
    kinds: &[(Pattern, u64)],
    bounds: &dyn Fn(Load) -> Vec<Bound>,
    shape: &dyn Fn(&mut Value),
) -> Vec<Unit> {
    let unit = |(pattern, bytes): &(Pattern, u64)| {
        let mut unit = Unit::new(format!("{system}: {}", load(*pattern, *bytes, 1, 1).kind()));
        let point = |depth, jobs| {
            let load = load(*pattern, *bytes, depth, jobs);
            let mut point = load.on(base, load.name());
            point.bounds = bounds(load);
            shape(&mut point.document);
            point
        };
        let counts = [1, 2, 4, 8, 16, 32, 64];
        unit.line("depth", counts.map(|depth| point(depth, 1)));
        unit.line("workers", counts.map(|jobs| point(1, jobs)));
        unit
    };
    kinds.iter().map(unit).collect()
}

pub fn as_is(_: &mut Value) {}

pub fn loads(kinds: &[(Pattern, u64, u64, u64)]) -> Vec<Load> {
    kinds.iter().map(|(pattern, bytes, depth, jobs)| load(*pattern, *bytes, *depth, *jobs)).collect()
}

pub fn no_bounds(_: Load) -> Vec<Bound> {
    Vec::new()
}

/// A backend so fast that what is above it is seen.
fn fast() -> Value {
    json!([{"lun": {"capacity": "1TB", "rate": 20_000_000_000_u64, "latency": "20us"}}])
}

fn mixed() -> Vec<Load> {
    loads(&[
        (Read, 128 * KIB, 1, 1),
        (Read, 128 * KIB, 8, 1),
        (Write, 128 * KIB, 8, 1),
        (Read, MIB, 4, 4),
        (Write, MIB, 4, 4),
        (ReadWrite, 64 * KIB, 16, 2),
        (RandRead, 4 * KIB, 1, 1),
        (RandRead, 4 * KIB, 32, 1),
        (RandWrite, 4 * KIB, 32, 1),
        (RandRw, 8 * KIB, 4, 8),
        (RandRead, 8 * KIB, 1, 32),
    ])
}

/// A disk in its own order may pass over a request for so long.
const PATIENCE_NS: f64 = 1e9;

/// Stripes, mirrors, RAID-5, RAID-6 and RAID-Z of more and more devices.
pub fn layouts() -> Vec<Unit> {
    let mut units = Vec::new();
    let loads = loads(&[
        (Read, 128 * KIB, 1, 1),
        (Read, 128 * KIB, 32, 1),
        (Read, MIB, 8, 1),
        (Write, 128 * KIB, 32, 1),
        (Write, MIB, 8, 1),
        (RandRead, 4 * KIB, 1, 1),
        (RandRead, 8 * KIB, 64, 1),
        (RandWrite, 8 * KIB, 64, 1),
        (RandRw, 8 * KIB, 16, 4),
        (RandRead, MIB, 8, 1),
    ]);
    for preset in ["disk-array-2021", "hdd-7200", "ssd-sata"] {
        let shapes: [(&str, Value, Vec<u64>); 9] = [
            ("stripe", json!({"kind": "stripe", "unit": "128KiB"}), vec![1, 2, 4, 8, 16]),
            ("mirrors of 2", json!({"kind": "mirror", "width": 2, "unit": "128KiB"}), vec![2, 4, 8, 16]),
            (
                "mirrors of 2 by region",
                json!({"kind": "mirror", "width": 2, "unit": "128KiB", "read_balance": "region"}),
                vec![2, 4, 8, 16],
            ),
            (
                "mirrors of 2 by pending",
                json!({"kind": "mirror", "width": 2, "unit": "128KiB", "read_balance": "pending"}),
                vec![2, 4, 8, 16],
            ),
            ("raid5 of 4", json!({"kind": "raid5", "width": 4, "unit": "128KiB"}), vec![4, 8, 16]),
            ("raid6 of 6", json!({"kind": "raid6", "width": 6, "unit": "128KiB"}), vec![6, 12, 24]),
            ("raidz of 4", json!({"kind": "raidz", "width": 4, "parity": 1, "unit": "128KiB"}), vec![4, 8, 16]),
            ("raidz2 of 6", json!({"kind": "raidz", "width": 6, "parity": 2, "unit": "128KiB"}), vec![6, 12, 24]),
            ("draid of 4", json!({"kind": "draid", "width": 4, "parity": 1, "unit": "128KiB"}), vec![4, 6, 8, 11, 16]),
        ];
        for (name, layout, counts) in shapes {
            let base = json!({"layout": layout, "devices": [{"preset": preset}]});
            let mut of_shape = sweep(&format!("{name} on {preset}"), &base, &[axis("devices[0].count", counts)], &loads, &as_is);
            if preset.starts_with("hdd") {
                of_shape.iter_mut().flat_map(|unit| &mut unit.points).for_each(|point| point.patience_ns = PATIENCE_NS);
            }
            units.extend(of_shape);
        }
        let reads: Vec<Load> = loads.iter().copied().filter(|load| !load.pattern.writes()).collect();
        for balance in ["region", "pending", "load"] {
            let mut all = Vec::new();
            for load in &reads {
                let mut unit = Unit::new(format!("one mirror by {balance} on {preset}: {}", load.name()));
                let point = |sides: u64| {
                    let layout = if sides == 1 {
                        json!({"kind": "stripe"})
                    } else {
                        json!({"kind": "mirror", "width": sides, "read_balance": balance})
                    };
                    load.on(&json!({"layout": layout, "devices": [{"preset": preset, "count": sides}]}), format!("{sides} sides"))
                };
                unit.line("sides", [1, 2, 3, 4].map(point));
                all.push(unit);
            }
            units.extend(all);
        }
    }
    for preset in ["pool-2008-mirrored", "pool-2008-raidz"] {
        let base = json!({"preset": preset});
        let kinds = [
            (Read, 128 * KIB),
            (Write, 128 * KIB),
            (Read, MIB),
            (RandRead, 8 * KIB),
            (RandWrite, 8 * KIB),
            (RandRw, 8 * KIB),
            (RandRead, 128 * KIB),
        ];
        units.extend(in_flight(preset, &base, &kinds, &no_bounds, &as_is));
    }
    units.extend(raidz_geometries());
    units
}

/// RAID-Z over widths, records and sectors: what columns, parity and padding leave of the devices.
fn raidz_geometries() -> Vec<Unit> {
    let mut units = Vec::new();
    for (parity, load) in
        [1, 2].into_iter().flat_map(|parity| loads(&[(Write, MIB, 4, 1), (Read, MIB, 4, 1)]).into_iter().map(move |load| (parity, load)))
    {
        let point = |width: u64, kib: u64, ashift: u64| {
            let layout = json!({"kind": "raidz", "width": width, "parity": parity, "unit": kib * KIB, "ashift": ashift});
            let system = json!({"layout": layout, "devices": [{"preset": "hdd-7200", "count": width}]});
            load.on(&system, format!("{width} disks, records of {kib} KiB, ashift {ashift}"))
        };
        let (widths, records) = ([3, 5, 8, 10, 12], [8, 16, 32, 64, 128]);
        let name = |rest: String| format!("RAID-Z{parity}, {rest}: {}", load.name());
        for (ashift, kib) in [9, 12].into_iter().flat_map(|ashift| records.map(|kib| (ashift, kib))) {
            let mut unit = Unit::new(name(format!("records of {kib} KiB, ashift {ashift}")));
            unit.line("width", widths.map(|width| point(width, kib, ashift)));
            units.push(unit);
        }
        for width in widths {
            let mut unit = Unit::new(name(format!("{width} disks")));
            for ashift in [9, 12] {
                unit.line("record", records.map(|kib| point(width, kib, ashift)));
            }
            for kib in records {
                unit.line("ashift", [12, 9].map(|ashift| point(width, kib, ashift)));
            }
            units.push(unit);
        }
    }
    units
}

/// The host of fast devices, of disks, and of what is in memory.
pub fn host() -> Vec<Unit> {
    let base = json!({
        "host": {"cores": 4, "hz": 3_000_000_000_u64, "submit_cycles": 3000, "complete_cycles": 3000, "link": "8GB", "tags": 32},
        "devices": [{"lun": {"capacity": "1TB", "rate": 3_000_000_000_u64, "latency": "20us"}, "count": 4}],
        "layout": {"kind": "stripe", "unit": "128KiB"},
    });
    let axes = [
        axis("host.cores", [1, 2, 4, 16]),
        axis("host.hz", [100_000_000_u64, 1_000_000_000, 3_000_000_000]),
        axis("host.submit_cycles", [1_000_000, 100_000, 10_000, 1_000, 0]),
        axis("host.complete_cycles", [1_000_000, 100_000, 10_000, 1_000, 0]),
        axis("host.link", [100_000_000_u64, 1_000_000_000, 8_000_000_000, 32_000_000_000]),
        axis("host.tags", [1, 2, 8, 32, 256]),
        costs("devices[0].lun.latency"),
    ];
    let mut units = sweep("host of 4 cores", &base, &axes, &mixed(), &as_is);
    let kinds = [(Read, 4 * KIB), (Write, MIB), (RandRead, 4 * KIB), (RandWrite, 4 * KIB), (RandRw, 8 * KIB)];
    units.extend(in_flight("host of 4 cores", &base, &kinds, &no_bounds, &as_is));
    for preset in ["samsung-860-pro", "hdd-7200-2008"] {
        let base = json!({"host": {"cores": 1}, "devices": [{"preset": preset}]});
        let axes = [
            axis("host.cores", [1, 2, 4]),
            axis("host.hz", [100_000_000_u64, 1_000_000_000, 3_000_000_000]),
            axis("host.tags", [1, 2, 8, 32]),
        ];
        let some = loads(&[(Read, 128 * KIB, 8, 1), (RandRead, 4 * KIB, 32, 1), (RandRead, 4 * KIB, 1, 32)]);
        units.extend(sweep(&format!("host of {preset}"), &base, &axes, &some, &as_is));
    }
    let memory = json!({
        "host": {"cores": 4}, "zfs": {"era": "openzfs-2.2", "arc": {"size": "256MiB"}},
        "devices": [{"preset": "nvme-pcie4"}],
    });
    let axes = [
        axis("host.memory_rate", [1_000_000_000_u64, 10_000_000_000, 100_000_000_000]),
        axis("host.hit", [1_000_000, 100_000, 10_000, 1_000, 0]),
        axis("zfs.cores", [1, 2, 4, 16]),
    ];
    let some = loads(&[(RandRead, 4 * KIB, 16, 1), (RandRead, 128 * KIB, 1, 16), (Read, 128 * KIB, 4, 1)]);
    let some: Vec<Load> = some.into_iter().map(|load| load.spread_over(64 * MIB).measuring(256 * MIB)).collect();
    units.extend(sweep("what is in memory", &memory, &axes, &some, &as_is));
    units
}

/// Links, windows, headers, the way between.
pub fn network() -> Vec<Unit> {
    let base = json!({"network": {"bits_per_s": 1_000_000_000_u64, "round_trip": "200us"}, "devices": fast()});
    let axes = [
        axis("network.bits_per_s", [10_000_000_u64, 100_000_000, 1_000_000_000, 10_000_000_000, 100_000_000_000]),
        axis("network.server_bits_per_s", [100_000_000_u64, 1_000_000_000, 10_000_000_000]),
        axis("network.server_links", [1, 2, 4, 8]),
        axis("network.round_trip", [100_000_000_u64, 10_000_000, 1_000_000, 100_000, 10_000, 0]),
        axis("network.mtu", [576, 1500, 4000, 9000]),
        axis("network.header", [65_536, 8192, 1024, 140, 0]),
        axis("network.connections", [1, 2, 4, 16]),
        axis("network.client_buffer", [16 * KIB, 48 * KIB, 256 * KIB, MIB, 16 * MIB]),
        axis("network.server_buffer", [16 * KIB, 48 * KIB, 256 * KIB, MIB, 16 * MIB]),
    ];
    let mut units = sweep("1 Gbit/s", &base, &axes, &mixed(), &as_is);
    let mut far = base.clone();
    far["network"]["round_trip"] = "20ms".into();
    far["network"]["clients"] = "worker".into();
    units.extend(sweep("1 Gbit/s, 20 ms away", &far, &axes, &mixed(), &as_is));
    let kinds = [
        (Read, 512),
        (Read, 32 * KIB),
        (Write, 32 * KIB),
        (Read, MIB),
        (Write, MIB),
        (ReadWrite, 64 * KIB),
        (RandRead, 4 * KIB),
        (RandRw, 8 * KIB),
    ];
    // Both ways at once carry twice a link.
    let link = |load: Load| {
        let ways = if load.pattern.reads() && load.pattern.writes() { 2.0 } else { 1.0 };
        vec![Bound { rule: Rule::Limit, what: "link: bits_per_s / 8", bytes_per_s: ways * 125e6, ahead_bytes: 0.0 }]
    };
    units.extend(in_flight("1 Gbit/s", &base, &kinds, &link, &as_is));
    units.extend(in_flight(
        "1 Gbit/s, 20 ms away",
        &json!({"network": {"bits_per_s": 1_000_000_000_u64, "round_trip": "20ms"}, "devices": fast()}),
        &kinds,
        &link,
        &as_is,
    ));
    // Windows that fit into the ports: what happens when they do not is told by bounds in the model's own tests.
    let switch = json!({
        "network": {"bits_per_s": 1_000_000_000_u64, "round_trip": "100us", "packets": {"servers": 4, "window": 8}}, "devices": fast(),
    });
    let axes = [
        axis("network.bits_per_s", [100_000_000_u64, 1_000_000_000, 10_000_000_000]),
        axis("network.round_trip", [10_000_000_u64, 1_000_000, 100_000, 0]),
        axis("network.packets.window", [1, 2, 4, 8, 16]),
        axis("network.packets.at_once", [1, 2, 3, 4]),
        axis("network.packets.buffer", [32, 64, 256, 4096]),
        axis("network.packets.rto_min", [1_000_000_000_u64, 200_000_000, 10_000_000]),
        axis("network.packets.request_jitter", [1_000_000_u64, 100_000, 5000, 0]),
    ];
    units.extend(sweep("four servers, 1 Gbit/s", &switch, &axes, &mixed(), &as_is));
    units.extend(in_flight("four servers, 1 Gbit/s", &switch, &kinds, &link, &as_is));
    units
}

/// A server's cores and its network card.
pub fn server() -> Vec<Unit> {
    let base = json!({
        "network": {"bits_per_s": 10_000_000_000_u64, "round_trip": "50us", "clients": "worker"},
        "server": {
            "cores": 4, "hz": 2_300_000_000_u64, "request_cycles": 50_000, "byte_cycles": 10, "device_byte_cycles": 5,
            "nic": {
                "blank": "200us", "blank_frames": 32, "interrupt_cycles": 12_000, "receive_cycles": 5_000, "send_cycles": 5_000,
                "post_cycles": 1_500, "copy_byte_cycles": 0.8, "map_cycles": 2_500, "rings": 2, "ring_cycles": 45_000,
            },
        },
        "devices": fast(),
    });
    let cycles = |path| axis(path, [1_000_000, 100_000, 10_000, 1_000, 0]);
    let axes = [
        axis("server.cores", [1, 2, 4, 8, 16, 32]),
        axis("server.hz", [100_000_000_u64, 1_000_000_000, 3_000_000_000, 9_000_000_000]),
        cycles("server.request_cycles"),
        axis("server.byte_cycles", [100.0, 10.0, 1.0, 0.0]),
        axis("server.device_byte_cycles", [100.0, 10.0, 1.0, 0.0]),
        cycles("server.nic.interrupt_cycles"),
        cycles("server.nic.receive_cycles"),
        cycles("server.nic.send_cycles"),
        cycles("server.nic.post_cycles"),
        cycles("server.nic.map_cycles"),
        cycles("server.nic.ring_cycles"),
        axis("server.nic.copy_byte_cycles", [100.0, 10.0, 1.0, 0.0]),
        axis("server.nic.large_send", [false, true]),
        axis("server.nic.rings", [1, 2, 4, 16]),
        axis("server.nic.receive_rings", [1, 2, 4, 16]),
        axis("network.round_trip", [100_000_000_u64, 10_000_000, 1_000_000, 100_000, 10_000, 0]),
        axis("network.bits_per_s", [100_000_000_u64, 1_000_000_000, 10_000_000_000, 100_000_000_000]),
    ];
    let mut units = sweep("4 cores", &base, &axes, &mixed(), &as_is);
    let mut buffers = base.clone();
    buffers["server"]["buffers"] = json!({"size": "1MiB", "keeps": "128KiB", "call_cycles": 2300, "answer_cycles": 2300});
    let axes = [
        axis("server.cores", [1, 2, 4, 8, 16, 32]),
        axis("server.buffers.call_cycles", [100_000, 10_000, 1_000, 0]),
        axis("server.buffers.answer_cycles", [100_000, 10_000, 1_000, 0]),
        axis("server.buffers.keeps", [128 * KIB, 2 * MIB]),
        axis("server.buffers.object_cache", [false, true]),
    ];
    units.extend(sweep("4 cores that unmap buffers", &buffers, &axes, &mixed(), &as_is));
    let kinds = [(Read, 32 * KIB), (Write, 32 * KIB), (Read, MIB), (RandRead, 4 * KIB), (RandRw, 8 * KIB)];
    units.extend(in_flight("4 cores", &base, &kinds, &no_bounds, &as_is));
    units
}

/// An NFS client.
pub fn client() -> Vec<Unit> {
    let base = json!({
        "network": {"bits_per_s": 1_000_000_000_u64, "round_trip": "200us"},
        "nfs": {"cache": "64MiB", "dirty": "4MiB"},
        "devices": fast(),
    });
    let axes = [
        axis("nfs.threads", [1, 2, 4, 8, 32, 128]),
        axis("nfs.read_ahead", [0, 1, 4, 16, 64]),
        axis("nfs.cache", [MIB, 16 * MIB, 64 * MIB, 1024 * MIB]),
        axis("nfs.dirty", [64 * KIB, MIB, 16 * MIB]),
        axis("nfs.cpus", [1, 2, 4, 16]),
        axis("nfs.cpu_speed", [0.1, 0.5, 1.0, 2.0, 10.0]),
        costs("nfs.per_call"),
        costs("nfs.per_operation"),
        axis("nfs.per_byte", [100.0, 10.0, 1.0, 0.0]),
        axis("nfs.per_wire_byte", [100.0, 10.0, 1.0, 0.0]),
        axis("network.round_trip", [20_000_000_u64, 1_000_000, 100_000, 0]),
        axis("network.bits_per_s", [100_000_000_u64, 1_000_000_000, 10_000_000_000]),
        axis("network.connections", [1, 2, 4]),
    ];
    let calls = loads(&[
        (Read, 8 * KIB, 1, 1),
        (Read, 128 * KIB, 1, 1),
        (Write, 8 * KIB, 1, 1),
        (Write, 128 * KIB, 1, 4),
        (ReadWrite, 32 * KIB, 1, 2),
        (RandRead, 4 * KIB, 1, 1),
        (RandRead, 8 * KIB, 1, 16),
        (RandWrite, 8 * KIB, 1, 4),
        (RandRw, 8 * KIB, 1, 8),
    ]);
    let calls: Vec<Load> = calls.into_iter().map(|load| load.measuring(32 * MIB)).collect();
    let mut units = sweep("NFS client", &base, &axes, &calls, &as_is);
    // Whoever reads at random takes whole transfers and uses little of them.
    let streams: Vec<Load> = calls.iter().copied().filter(|load| !load.pattern.is_random()).collect();
    units.extend(sweep("NFS client", &base, &[axis("nfs.transfer", [4 * KIB, 32 * KIB, 256 * KIB])], &streams, &as_is));
    let mut threads = base.clone();
    threads["nfs"]["threads"] = 128.into();
    units.extend(sweep("NFS client of 128 threads", &threads, &[axis("nfs.read_ahead", [0, 1, 4, 16, 64])], &streams, &as_is));
    for (call, pattern) in [("stat", Read), ("create", Write), ("delete", Write), ("char", Write), ("char", Read)] {
        let with_call = |document: &mut Value| document["jobs"][0]["call"] = call.into();
        let few: Vec<Load> = [1, 16].map(|jobs| load(pattern, 8 * KIB, 1, jobs).measuring(16 * MIB)).to_vec();
        units.extend(sweep(&format!("NFS client, {call}"), &base, &axes, &few, &with_call));
    }
    units
}

/// Controllers of virtual disks.
pub fn controller() -> Vec<Unit> {
    let base = json!({
        "controller": {
            "cores": 8, "shards": 4, "dispatch": "10us", "read": "60us", "write": "75us", "per_byte": 0.1, "disks": "one",
            "lock": {"held_percent": 20, "exclusive": "writes"}, "replicas": {"copies": 1, "rate": 1_000_000_000},
        },
        "devices": fast(),
    });
    let axes = [
        axis("controller.cores", [1, 2, 4, 8, 16]),
        axis("controller.shards", [1, 2, 4, 8]),
        axis("controller.threads", [1, 2, 4, 8]),
        costs("controller.dispatch"),
        costs("controller.read"),
        costs("controller.write"),
        axis("controller.per_byte", [10.0, 1.0, 0.1, 0.0]),
        axis("controller.cost_percent", [1000, 200, 100, 50, 1]),
        axis("controller.lock.held_percent", [100, 50, 20, 0]),
        axis("controller.lock.exclusive", ["always", "writes", "never"]),
        axis("controller.replicas.copies", [4, 2, 1]),
        axis("controller.replicas.rate", [10_000_000_u64, 100_000_000, 1_000_000_000, 10_000_000_000]),
        axis("controller.spread", ["exponential", "constant"]),
    ];
    let mut units = sweep("controller", &base, &axes, &mixed(), &as_is);
    let mut by_file = base.clone();
    by_file["controller"]["disks"] = "file".into();
    units.extend(sweep("controllers by file", &by_file, &axes, &mixed(), &as_is));
    let kinds = [(Read, 64 * KIB), (Write, 64 * KIB), (RandRead, 4 * KIB), (RandWrite, 4 * KIB), (RandRw, 8 * KIB)];
    units.extend(in_flight("controller", &base, &kinds, &no_bounds, &as_is));
    units.extend(in_flight("controllers by file", &by_file, &kinds, &no_bounds, &as_is));
    units
}

/// A database whose flushes are drawn, and one whose logs are written below.
pub fn commit() -> Vec<Unit> {
    let flush = json!({"mean": "5ms", "times": "fixed", "per_commit": "100us"});
    let log = |name: &str, batch: &str| json!({"name": name, "batch": batch, "flush": flush});
    let database = |replication: &str| {
        json!({
            "commit": {
                "work": "2ms", "serial_work": "200us", "stages": ["engine", "replication", "engine"],
                "logs": [log("engine", "all"), log("replication", replication)],
            },
            "devices": fast(),
        })
    };
    let writes = loads(&[
        (Write, 4 * KIB, 1, 1),
        (Write, 4 * KIB, 16, 1),
        (Write, 4 * KIB, 1, 64),
        (RandWrite, 16 * KIB, 4, 8),
        (RandRw, 8 * KIB, 4, 8),
        (RandRead, 4 * KIB, 4, 1),
    ]);
    let axes = [
        costs("commit.work"),
        costs("commit.serial_work"),
        axis("commit.logs[replication].flush.mean", [100_000_000, 20_000_000, 5_000_000, 1_000_000, 100_000]),
        axis("commit.logs[replication].flush.per_commit", [1_000_000, 100_000, 0]),
        axis("commit.logs[replication].batch", ["one", "all"]),
    ];
    let mut units = sweep("database, one a flush", &database("one"), &axes, &writes, &as_is);
    units.extend(in_flight("database", &database("all"), &[(Write, 4 * KIB), (RandRw, 8 * KIB)], &no_bounds, &as_is));
    let mut below = database("one");
    below["commit"]["logs"] = json!([{"name": "engine"}, {"name": "replication", "batch": "one"}]);
    let axes = [
        axis("devices[0].lun.rate", [10_000_000_u64, 100_000_000, 1_000_000_000]),
        axis("devices[0].lun.latency", [10_000_000, 1_000_000, 100_000, 0]),
        axis("commit.logs[replication].batch", ["one", "all"]),
    ];
    units.extend(sweep("database over a device", &below, &axes, &writes, &as_is));
    units
}

/// Virtual machines on a cluster that grows.
const MACHINES: u64 = 16;

/// Nodes that share blocks.
pub fn cluster() -> Vec<Unit> {
    let mut units = Vec::new();
    let small = |load: Load| load.spread_over(256 * MIB);
    let loads: Vec<Load> = mixed().into_iter().map(small).collect();
    for design in ["locality", "hash", "dedup-pairs", "dedup-spread", "redirect-pairs"] {
        let base = json!({
            "cluster": {"design": design, "nodes": 4, "copies": 2, "block": "64KiB"},
            "devices": [{"count": 4, "lun": {"capacity": "64GiB", "rate": 3_200_000_000_u64, "latency": "20us"}}],
        });
        let axes = [
            axis("cluster.link", [10_000_000_u64, 125_000_000, 1_250_000_000, 12_500_000_000]),
            axis("cluster.round_trip", [10_000_000, 1_000_000, 100_000, 10_000, 0]),
            axis("cluster.maps", ["design", "everywhere"]),
            axis("devices[0].lun.rate", [32_000_000_u64, 320_000_000, 3_200_000_000]),
            axis("devices[0].lun.latency", [1_000_000, 100_000, 10_000, 0]),
        ];
        units.extend(sweep(&format!("cluster by {design}"), &base, &axes, &loads, &as_is));
        let more = loads.iter().map(|load| {
            let mut unit = Unit::new(format!("cluster by {design}: {}", load.name()));
            let with = |nodes: u64, copies: u64| {
                let mut system = base.clone();
                set(&mut system, "cluster.nodes", nodes.into());
                set(&mut system, "cluster.copies", copies.into());
                set(&mut system, "devices[0].count", nodes.into());
                // A machine on each of four nodes at least: one alone finds less of its own on more nodes.
                let mut point = load.on(&system, format!("{nodes} nodes, {copies} copies"));
                let machine = point.document["jobs"][0].clone();
                let named = |number: u64| {
                    let mut machine = machine.clone();
                    machine["name"] = format!("machine{number}").into();
                    machine["filename"] = format!("disk{number}").into();
                    machine
                };
                point.document["jobs"] = (0..MACHINES).map(named).collect();
                point.in_flight = point.in_flight.map(|count| count * MACHINES);
                point.effort = Effort::of(load.in_flight() * MACHINES, 600);
                point
            };
            if !design.contains("pairs") && !load.pattern.reads() {
                unit.line("fewer copies", [3, 2, 1].map(|copies| with(4, copies)));
            }
            if !design.contains("pairs") && !load.pattern.writes() {
                unit.line("copies", [1, 2, 3].map(|copies| with(4, copies)));
            }
            unit.line("nodes", [4, 8, 16].map(|nodes| with(nodes, 2)));
            unit
        });
        units.extend(more);
        let kinds = [(Read, 64 * KIB), (Write, 64 * KIB), (RandRead, 4 * KIB), (RandWrite, 4 * KIB), (RandRw, 8 * KIB)];
        units.extend(in_flight(&format!("cluster by {design}"), &base, &kinds, &no_bounds, &as_is));
    }
    units
}

/// A controller's cache in front of disks and of a slow unit, with a battery that learns while it is measured.
pub fn raid_cache() -> Vec<Unit> {
    let battery = json!({"learn_at": 0, "learn_every": "1h", "lead": 0, "discharge": "1s", "threshold": 0.5, "charge": "1s"});
    let axes = [
        axis("raid_cache.size", [MIB, 8 * MIB, 64 * MIB, 512 * MIB]),
        costs("raid_cache.ack"),
        axis("raid_cache.bus", [50_000_000, 500_000_000, 8_000_000_000_u64]),
        axis("raid_cache.depth", [1, 4, 16, 64]),
        axis("raid_cache.policy", ["write_through", "write_back", "forced_write_back"]),
        axis("raid_cache.battery.threshold", [1.0, 0.5, 0.0]),
        axis("raid_cache.battery.write_back_returns", ["threshold", "complete"]),
    ];
    let systems = [
        ("disks", json!([{"preset": "disk-array-2021", "count": 4}])),
        ("a unit", json!([{"lun": {"capacity": "1TB", "rate": "100MB", "latency": "5ms"}}])),
    ];
    let writes = loads(&[(RandWrite, 4 * KIB, 1, 1), (RandWrite, 4 * KIB, 32, 1), (Write, 64 * KIB, 4, 1), (RandRw, 8 * KIB, 8, 2)]);
    let each = |(name, devices): (&str, Value)| {
        let base = json!({"raid_cache": {"battery": battery}, "devices": devices});
        sweep(&format!("controller cache over {name}"), &base, &axes, &writes, &as_is)
    };
    systems.into_iter().flat_map(each).collect()
}

/// Windows of read-ahead on flash, for readers in order.
pub fn read_ahead() -> Vec<Unit> {
    let base = json!({"page_cache": {"journal": "none", "read_ahead": {}}, "devices": [{"lun": {"capacity": "1TB", "rate": "200MB", "latency": "200us"}}]});
    // Readers in order alone: what is read beside random reads is never used, and beside mixed ones is overwritten, so a larger window
    // is no resource for them.
    let reads = loads(&[(Read, 4 * KIB, 1, 1), (Read, 64 * KIB, 1, 4), (Read, MIB, 1, 1)]);
    let axes = [
        // Windows of megabytes are a part of so short a run that counts: what is on its way at its end was read for nobody. Over a
        // gigabyte 2 MiB and 128 KiB give the same rate to 0.03 %.
        axis("page_cache.read_ahead.max", [4 * KIB, 16 * KIB, 64 * KIB, 128 * KIB, 512 * KIB]),
        axis("page_cache.memory_rate", [100_000_000_u64, 400_000_000, 2_000_000_000]),
    ];
    sweep("read-ahead", &base, &axes, &reads, &as_is)
}

/// A cache tier in front of a disk.
pub fn tier() -> Vec<Unit> {
    let ssd = json!({"capacity": "960GB", "units": 16, "page": 4096, "read": "60us", "program": "200us", "interface_rate": "550MB", "overhead": "20us", "queue_depth": 32});
    let base = json!({"tier": {"size": "64MiB", "admit": true, "ssd": ssd}, "devices": [{"preset": "disk-array-2021"}]});
    let reads = loads(&[(RandRead, 4 * KIB, 1, 1), (RandRead, 64 * KIB, 8, 1), (RandRw, 16 * KIB, 8, 1), (Read, 128 * KIB, 4, 1)]);
    let reads: Vec<Load> = reads.into_iter().map(|load| load.spread_over(256 * MIB).measuring(512 * MIB)).collect();
    let axes = [
        axis("tier.size", [4 * MIB, 32 * MIB, 128 * MIB, 512 * MIB]),
        axis("tier.admit", [false, true]),
        axis("tier.ssd.read", [500_000, 100_000, 20_000]),
        axis("tier.ssd.program", [2_000_000, 500_000, 100_000]),
        axis("tier.ssd.overhead", [500_000, 100_000, 20_000, 0]),
        axis("tier.ssd.interface_rate", [50_000_000_u64, 200_000_000, 2_000_000_000]),
        axis("tier.ssd.units", [1, 4, 16, 64]),
    ];
    let zipf = |document: &mut Value| document["jobs"][0]["random_distribution"] = "zipf:1.1".into();
    let mut units = sweep("tier", &base, &axes, &reads, &as_is);
    units.extend(sweep("tier, popular blocks", &base, &axes, &reads, &zipf));
    units
}
