//! What is fuzzed: the scenario, and every reader of a file. Each target takes any bytes and must come back.
//!
//! What a reader accepts is used for a moment (a run is begun, a drive serves some requests), because mistakes in accepted
//! input show there. Used by the fuzzing programs of this package and, over the corpus and some mutations of it, by the
//! engine's own tests.

use std::sync::{Arc, OnceLock};

use seeklab_api::Engine;
use seeklab_cache::PolicyKind;
use seeklab_cache::ReplayPolicy;
use seeklab_cache::curve::curve;
use seeklab_cache::trace::Trace as CacheTrace;
use seeklab_formats::{fio, trace::read as read_trace};
use seeklab_library::Library;
use seeklab_library::case::Case;
use seeklab_model::layers::device::hdd::{Hdd, Params};
use seeklab_observe::validate::{parse_trace, validate};
use seeklab_spec::Op;
use seeklab_spec::Presets;
use seeklab_spec::trace::Format;
use serde_json::{Map, Value, json};

/// A target: its name, which is also its corpus folder's, and what it does with bytes.
pub type Target = (&'static str, fn(&[u8]));

/// Every target.
pub const TARGETS: [Target; 11] = [
    ("scenario", scenario_json),
    ("case", case_json),
    ("fio_job", fio_job),
    ("fio_command", fio_command),
    ("fio_iolog_v2", |bytes| trace(bytes, Format::FioIologV2)),
    ("fio_iolog_v3", |bytes| trace(bytes, Format::FioIologV3)),
    ("blkparse", |bytes| trace(bytes, Format::Blkparse)),
    ("msr_csv", |bytes| trace(bytes, Format::MsrCambridge)),
    ("operations_csv", |bytes| trace(bytes, Format::Operations)),
    ("cache_csv", cache_csv),
    ("drive", drive),
];

/// Longest input that is looked at, in bytes.
const MAX_INPUT_BYTES: usize = 16 << 10;
/// Events of a run that is begun.
const EVENTS: u32 = 300;
/// Memory that a run may take, in bytes: a fuzzer keeps making runs.
const MEMORY_BYTES: u64 = 4 << 20;
/// Requests that a drive serves, and its largest number of cylinders: making a larger one takes long.
const REQUESTS: u64 = 40;

/// Runs the target of that name.
///
/// # Panics
/// When there is none; a target does not panic, or something was found.
pub fn run(name: &str, bytes: &[u8]) {
    let (_, target) = TARGETS.iter().find(|(known, _)| *known == name).expect("a target of this name");
    if bytes.len() <= MAX_INPUT_BYTES {
        target(bytes);
    }
}

/// The presets of the checkout.
fn presets() -> &'static Presets {
    static LIBRARY: OnceLock<Library> = OnceLock::new();
    LIBRARY.get_or_init(|| Library::of_checkout().expect("the checkout's presets")).presets()
}

/// An engine that knows them.
fn engine() -> Engine {
    let file = serde_json::json!({"cases": [], "presets": presets().iter().collect::<Vec<_>>()});
    Engine::new(Library::from_json(file.as_object().expect("an object")).expect("a library"))
}

/// Whether what these bytes describe is run, too: a run costs a hundred times what reading does, and readers need many tries.
fn is_run(bytes: &[u8]) -> bool {
    bytes.iter().fold(0_u8, |sum, byte| sum.wrapping_mul(31).wrapping_add(*byte)) < 4
}

fn begin(mut document: Value) {
    if let Some(limits) = document.get_mut("limits").and_then(Value::as_object_mut) {
        limits.insert("memory".to_owned(), json!(MEMORY_BYTES));
    }
    if let Ok(mut run) = engine().open(&json!({"scenario": document, "seed": 3}).to_string()) {
        run.step(EVENTS);
        let _ = (run.summary(), run.columns());
    }
}

fn scenario_json(bytes: &[u8]) {
    let Ok(document) = serde_json::from_slice::<Value>(bytes) else { return };
    let checked = seeklab_model::read(&document, presets());
    if let Some(checked) = checked.ok().filter(|_| is_run(bytes)) {
        begin(serde_json::to_value(checked.scenario()).expect("a scenario is JSON"));
    }
}

fn case_json(bytes: &[u8]) {
    let Ok(document) = serde_json::from_slice::<Value>(bytes) else { return };
    let Ok(case) = Case::read(&document) else { return };
    for variant in &case.variants {
        let _ = case.scenario(Some(&variant.name), &Map::new(), presets());
    }
    for what_if in &case.what_ifs {
        let _ = case.scenario(Some(&what_if.variant), &what_if.set, presets());
    }
}

fn fio_job(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    // What follows a line of `-- other` is a second file, for `include other`.
    let (main, other) = text.split_once("-- other\n").unwrap_or((text, ""));
    run_jobs(&[("main", main), ("other", other)], is_run(bytes));
}

/// A command line or a shell script, which may name the job file `other` and the variable `V`.
fn fio_command(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    run_jobs(&[("main", &format!("fio {text}")), ("other", "[job]\nsize=1m\n")], is_run(bytes));
    run_jobs(&[("main", text)], false);
}

/// Reads the job file `main` and runs its jobs for a moment.
fn run_jobs(files: &[(&str, &str)], is_run: bool) {
    let files = files.iter().map(|(name, text)| ((*name).to_owned(), (*text).to_owned())).collect();
    let environment = [("V".to_owned(), "4k".to_owned())].into_iter().collect();
    if let Ok(jobs) = fio::parse_all(&files, &["main"], &fio::Reading { environment, ..fio::Reading::default() }) {
        if !is_run {
            return;
        }
        let document = fio::to_scenario(&jobs, json!({"devices": [{"lun": {"rate": "100MB"}}], "record": {"log": false}}));
        if seeklab_model::read(&document, presets()).is_ok() {
            begin(document);
        }
    }
}

fn trace(bytes: &[u8], format: Format) {
    if let Ok(trace) = read_trace(bytes, Some(format)) {
        let _ = (trace.end(), trace.span_ns(), trace.has_responses());
        if let Some(name) = trace.targets.first().map(|target| target.name.clone()) {
            let _ = trace.only(&name);
        }
        if let Some(text) = std::str::from_utf8(bytes).ok().filter(|_| is_run(bytes)) {
            let request = json!({"replay": {"text": text, "mode": "fast"}, "preset": "lun-100mb"});
            if let Ok(mut run) = engine().open(&request.to_string()) {
                run.step(EVENTS);
            }
        }
    }
}

fn cache_csv(bytes: &[u8]) {
    if let Ok(trace) = CacheTrace::parse(bytes) {
        let policies = [ReplayPolicy::Belady, ReplayPolicy::Policy(PolicyKind::Lru), ReplayPolicy::Policy(PolicyKind::Arc)];
        let _ = curve(&trace, &policies, &[1, 1000, 1 << 20], 1);
        let _ = trace.sampled(3);
    }
}

/// A drive's file and, after a line of `-- trace`, a validation trace for it.
fn drive(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let (file, requests) = text.split_once("-- trace\n").unwrap_or((text, ""));
    let requests = parse_trace(requests);
    let Ok(params) = Params::from_drive_json(file) else { return };
    if let Ok(requests) = requests {
        let within = |lbn: u64, sectors: u32| lbn.checked_add(u64::from(sectors)).is_some_and(|end| end <= params.capacity_sectors());
        if requests.len() as u64 <= REQUESTS && requests.iter().all(|request| within(request.lbn, request.sectors)) {
            let _ = validate(&params, &requests);
        }
    }
    let capacity = params.capacity_sectors();
    let mut hdd = Hdd::new(Arc::new(params));
    let (mut now, mut place) = (0, 1_u64);
    for number in 0..REQUESTS {
        place = place.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let op = if place & 64 == 0 { Op::Read } else { Op::Write };
        let _ = hdd.positioning_ns(now, op, place);
        let service = hdd.serve(now, op, if number % 3 == 0 { place } else { place % capacity }, (place >> 50) as u32 % 200);
        now = service.done_ns + (place >> 40);
    }
}
