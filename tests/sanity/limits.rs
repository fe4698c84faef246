//! What a device cannot exceed, in closed form from the fields of its own data sheet.

use seeklab_spec::{DeviceGroup, HddSpec, Lun, Ssd, to_f64};

use serde_json::Value;

use crate::load::{KIB, Load};
use crate::rules::{Bound, Rule};

/// A statistical share for what holds of the mean of some hundred random draws.
const DRAWS: f64 = 0.9;

/// Bounds of a load on so many equal devices, and the least time of a request on one of them.
pub fn of(group: &DeviceGroup, load: Load) -> (Vec<Bound>, f64) {
    let (mut bounds, service_ns) = match (&group.hdd, &group.ssd, &group.lun) {
        (Some(hdd), ..) => of_disk(hdd, &written(group)["hdd"], load),
        (_, Some(ssd), _) => of_flash(ssd, &written(group)["ssd"], load),
        (.., Some(lun)) => of_unit(lun, load),
        _ => (Vec::new(), 0.0),
    };
    for bound in &mut bounds {
        bound.bytes_per_s *= f64::from(group.count);
        bound.ahead_bytes *= f64::from(group.count);
    }
    (bounds, service_ns)
}

/// All fields of a device as they are written. Those that only some drives have are read from here.
fn written(group: &DeviceGroup) -> Value {
    serde_json::to_value(group).unwrap_or(Value::Null)
}

/// Whether a cache of the name keeps its data when the power fails.
fn is_protected(device: &Value, cache: &str, by_default: bool) -> bool {
    device[cache].as_str().map_or(by_default, |persistence| persistence == "protected")
}

fn at_most(what: &'static str, bytes_per_s: f64) -> Bound {
    Bound { rule: Rule::Limit, what, bytes_per_s, ahead_bytes: 0.0 }
}

/// A disk: its interface, its media, and where a request waits for the platter, its rotation.
fn of_disk(disk: &HddSpec, fields: &Value, load: Load) -> (Vec<Bound>, f64) {
    let (bytes, in_flight) = (to_f64(load.bytes), to_f64(load.in_flight()));
    let (interface, media, overhead_s) = (to_f64(disk.interface_rate.0), to_f64(disk.outer_rate.0), to_f64(disk.overhead.0) / 1e9);
    let turn_s = 60.0 / disk.rpm;
    let alone_s = overhead_s + bytes / interface;
    let mut bounds = vec![
        at_most("interface: interface_rate", interface),
        at_most("command: N / (overhead + bytes / interface_rate)", in_flight * bytes / alone_s),
    ];
    let waits = load.pattern.is_sync() && !is_protected(fields, "write_cache_is", false);
    let is_cached = disk.write_cache && load.pattern.writes() && !waits;
    let rule = if load.pattern.is_sync() { Rule::Durable } else { Rule::Limit };
    // Reads find what was read ahead; writes to a volatile cache are completed before they are written.
    let ahead = if is_cached {
        to_f64(disk.buffer.0)
    } else if load.pattern.reads() {
        (to_f64(disk.read_ahead.0) + bytes) * to_f64(load.jobs)
    } else {
        0.0
    };
    let bound = |what, bytes_per_s| Bound { rule, what, bytes_per_s, ahead_bytes: ahead };
    // Reads may find all that was written in the buffer.
    let finds = if load.pattern.reads() && load.pattern.writes() && disk.keeps_writes { 2.0 } else { 1.0 };
    bounds.push(bound("media: outer_rate", finds * media));
    if !is_cached && load.in_flight() == 1 && load.pattern.is_random() {
        bounds.push(bound(
            "rotation: 1 / (overhead + half a turn + bytes / outer_rate)",
            bytes / (overhead_s + DRAWS * turn_s / 2.0 + bytes / media),
        ));
    }
    // The place that a write continues at has passed the head by the time that the next command has come.
    let appends = load.pattern.writes() && !load.pattern.reads() && !load.pattern.is_random();
    if !is_cached && appends && load.depth == 1 && load.bytes <= 64 * KIB && overhead_s > 0.0 {
        bounds.push(bound("rotation: a turn for each write of a worker", 1.05 * in_flight * bytes / turn_s));
    }
    (bounds, alone_s * 1e9)
}

/// A solid-state drive: its interface, its dies, its channels.
fn of_flash(ssd: &Ssd, fields: &Value, load: Load) -> (Vec<Bound>, f64) {
    let more = |field: &str| fields["flash"][field].as_f64().unwrap_or(1.0);
    let (bytes, in_flight) = (to_f64(load.bytes), to_f64(load.in_flight().min(u64::from(ssd.queue_depth))));
    let interface = to_f64(ssd.interface_rate.0);
    let of_write = fields["write_overhead"].as_f64().filter(|_| load.pattern.writes()).unwrap_or(f64::INFINITY);
    let of_read = if load.pattern.reads() || of_write.is_infinite() { to_f64(ssd.overhead.0) } else { f64::INFINITY };
    let overhead_s = of_read.min(of_write) / 1e9;
    let flash = ssd.flash.as_ref();
    let command_s = flash.map_or(0.0, |flash| {
        let of_write = flash.write_command.filter(|_| load.pattern.writes()).unwrap_or(flash.command);
        to_f64(if load.pattern.reads() { of_write.min(flash.command) } else { of_write }.0) / 1e9
    });
    let planes = flash.map_or(1, |flash| u64::from(flash.planes));
    let crossing_s = command_s + bytes / interface;
    let alone_s = overhead_s + crossing_s;
    let mut bounds = vec![
        at_most("interface: bytes / (command + bytes / interface_rate)", bytes / crossing_s),
        at_most("command: N / (overhead + command + bytes / interface_rate)", in_flight * bytes / alone_s),
    ];
    let pages = load.bytes.div_ceil(ssd.page.0);
    let page_bytes = to_f64(pages * ssd.page.0);
    let units = f64::from(ssd.units);
    if load.pattern.reads() && !load.pattern.writes() {
        // The fastest of the pages that share cells.
        let factors = fields["flash"]["read_factors"].as_array().into_iter().flatten().filter_map(Value::as_f64);
        let read_s = to_f64(ssd.read.0) / 1e9 * factors.fold(f64::INFINITY, f64::min).min(1.0);
        let at_once = to_f64(planes) * more("stripe");
        // A stream of small reads finds more of the same physical page in the register; a random read may be lucky.
        let row = to_f64(ssd.page.0) * more("stripe");
        let is_stream = !load.pattern.is_random() && bytes < row;
        let senses = if is_stream { bytes / row } else { (to_f64(pages) / at_once).max(1.0) };
        let ahead_bytes = units * at_once * to_f64(ssd.page.0);
        let what = "dies: units x planes that read / (reads of a request x read)";
        bounds.push(Bound { rule: Rule::Limit, what, bytes_per_s: units * more("read_planes") * bytes / (senses * read_s), ahead_bytes });
        if let Some(flash) = flash {
            let channels = f64::from(flash.channels) * to_f64(flash.channel_rate.0);
            bounds.push(at_most("channels: channels x channel_rate", channels * bytes / page_bytes));
        }
    } else if load.pattern.writes() && !load.pattern.reads() {
        let rule = if load.pattern.is_sync() { Rule::Durable } else { Rule::Limit };
        let at_once = units * to_f64(planes * ssd.page.0);
        let waits = load.pattern.is_sync() && !is_protected(fields, "write_buffer_is", true);
        let ahead_bytes = at_once + if waits { 0.0 } else { to_f64(ssd.write_buffer.0) };
        let in_cache =
            flash.and_then(|flash| flash.slc_cache.as_ref()).map_or(0.0, |cache| 1.0 / (f64::from(cache.bits) * to_f64(cache.program.0)));
        let bytes_per_s = at_once * 1e9 * in_cache.max(1.0 / to_f64(ssd.program.0));
        bounds.push(Bound { rule, what: "dies: units x pages at once / program, or those of the SLC cache", bytes_per_s, ahead_bytes });
    }
    (bounds, alone_s * 1e9)
}

/// A logical unit: its rate, which may vary, and its latency.
fn of_unit(unit: &Lun, load: Load) -> (Vec<Bound>, f64) {
    let (bytes, rate) = (to_f64(load.bytes), to_f64(unit.rate.0));
    let server_ns = to_f64(unit.command.0) + bytes / rate * 1e9;
    (vec![at_most("rate and command", bytes / server_ns * 1e9)], server_ns + to_f64(unit.latency.0))
}
