//! Job files as people write them, and what becomes of them.

use std::collections::BTreeMap;

use proptest::prelude::*;
use seeklab_spec::testing::has_values;
use serde_json::{Value, json};

use super::report::{DiskReport, Latency, Report};
use super::{FILE_BYTES_MAX, FioJobs, Reading, parse, parse_all, to_scenario};

fn read(text: &str) -> Result<FioJobs, Vec<String>> {
    let files = BTreeMap::from_iter([("job.fio".to_owned(), text.to_owned())]);
    parse(&files, "job.fio").map_err(|problems| problems.iter().map(ToString::to_string).collect())
}

/// The scenario's jobs of a valid job file.
fn jobs(text: &str) -> Vec<Value> {
    read(text).expect(text).jobs.into_iter().map(|job| job.scenario).collect()
}

fn only_problem(text: &str) -> String {
    let problems = read(text).expect_err(text);
    assert_eq!(problems.len(), 1, "{problems:?}");
    problems.concat()
}

#[test]
fn defaults_of_global_sections_reach_the_jobs_after_them_only() {
    let found = jobs("[global]\nsize=1g\nbs=8k\n[a]\nrw=randread\n[global]\nbs=64k\n[b]\nrw=write\nsize=2m\n");
    assert_eq!(
        found,
        [
            json!({"name": "a", "rw": "randread", "bs": 8192, "iodepth": 1, "size": 1u64 << 30}),
            json!({"name": "b", "rw": "write", "bs": 65536, "iodepth": 1, "size": 2 << 20}),
        ]
    );
}

#[test]
fn comments_blank_lines_and_white_space_do_not_matter() {
    let found = jobs("\u{feff}; a comment\n# another\n\n  [reader]  ; here too\r\n\tbs=16k # and here\r\nsize=1m;\n");
    assert_eq!(found, [json!({"name": "reader", "rw": "read", "bs": 16384, "iodepth": 1, "size": 1 << 20})]);
}

#[test]
fn the_shapes_of_the_first_milestone_are_read() {
    let found = jobs(
        "[global]\nioengine=libaio\ndirect=1\nsize=256m\n\
         [seq]\nrw=read\nbs=1m\n\
         [rand]\nstonewall\nrw=randread\niodepth=32\nruntime=10\ntime_based\nnumjobs=4\n\
         [mixed]\nwait_for_previous\nrw=randrw\nrwmixread=70\niodepth=8\n\
         [ranged]\nstonewall\nrw=write\nbsrange=64k-4k\nthinktime=2ms\nthinktime_blocks=4\n\
         [limited]\nrw=randwrite\nrandom_distribution=zipf:1.2\nnorandommap\nrate_iops=500\nrate_process=poisson\nramp_time=500ms\nstartdelay=1\n",
    );
    let mib = 1u64 << 20;
    assert_eq!(found[0], json!({"name": "seq", "rw": "read", "bs": mib, "iodepth": 1, "size": 256 * mib}));
    assert_eq!(
        found[1],
        json!({"name": "rand", "rw": "randread", "bs": 4096, "iodepth": 32, "size": 256 * mib, "runtime": 10_000_000_000u64,
               "time_based": true, "numjobs": 4, "stonewall": true})
    );
    assert_eq!(
        found[2],
        json!({"name": "mixed", "rw": "randrw", "bs": 4096, "iodepth": 8, "size": 256 * mib, "rwmixread": 70, "stonewall": true})
    );
    assert_eq!(
        found[3],
        json!({"name": "ranged", "rw": "write", "bsrange": {"min": 4096, "max": 65536}, "iodepth": 1, "size": 256 * mib,
               "thinktime": 2_000_000, "thinktime_blocks": 4, "stonewall": true})
    );
    assert_eq!(
        found[4],
        json!({"name": "limited", "rw": "randwrite", "bs": 4096, "iodepth": 1, "size": 256 * mib, "ramp_time": 500_000_000,
               "startdelay": 1_000_000_000, "rate_iops": 500, "rate_process": "poisson", "random_distribution": "zipf:1.2", "norandommap": true})
    );
}

#[test]
fn kb_base_counts_wherever_it_stands_in_the_section() {
    assert_eq!(jobs("[a]\nbs=64k\nsize=1m\nkb_base=1000\n")[0]["bs"], 64_000);
}

#[test]
fn the_misleading_prefix_is_read_as_fio_does_and_warned_about() {
    let found = read("[a]\nbs=64KiB\nsize=1m\n").expect("valid");
    assert_eq!(found.jobs[0].scenario["bs"], 64_000);
    assert!(has_values(&found.warnings[0], "64KiB, kb_base=1000"), "{:?}", found.warnings);
    assert!(read("[a]\nbs=4KiB\nsize=1m\nkb_base=1000\n").expect("valid").warnings.is_empty());
}

#[test]
fn a_synchronous_engine_has_a_queue_depth_of_one() {
    let found = read("[a]\niodepth=16\nsize=1m\n").expect("valid");
    assert_eq!(found.jobs[0].scenario["iodepth"], 1);
    assert!(has_values(&found.warnings[0], "psync, 16"), "{:?}", found.warnings);
    assert_eq!(jobs("[a]\nioengine=io_uring\niodepth=16\nsize=1m\n")[0]["iodepth"], 16);
}

#[test]
fn options_of_real_hosts_are_listed_with_a_reason() {
    let found = read("[global]\ninvalidate=1\n[a]\nioengine=libaio\ndirect=1\nfilename=/dev/sdb\nthread\n[b]\nsize=1m\n").expect("valid");
    let listed: Vec<(&str, &str, &str)> = found.ignored.iter().map(|i| (i.job.as_str(), i.option.as_str(), i.value.as_str())).collect();
    assert_eq!(
        listed,
        [
            ("global", "invalidate", "1"),
            ("a", "ioengine", "libaio"),
            ("a", "direct", "1"),
            ("a", "filename", "/dev/sdb"),
            ("a", "thread", ""),
            ("b", "direct", "0 (fio's default)"),
        ]
    );
    assert!(found.ignored.iter().all(|ignored| !ignored.reason.is_empty()));
}

#[test]
fn all_problems_are_told_at_once_with_line_section_and_option() {
    let problems = read(
        "[global]\nsize=1m\n[reader]\nbs=8q\niodeph=4\ncreate_only=1\ncreate_only=0\nrw=randred\n[writer]\nruntime=5min\nbs = 8k\nloops=\n",
    )
    .unwrap_err();
    let expected = [
        ("job.fio:4 [reader] bs: ", "8q"),
        ("job.fio:5 [reader] iodeph: ", "iodepth"),
        ("job.fio:6 [reader] create_only: ", "create_only=1"),
        ("job.fio:8 [reader] rw: ", "randread"),
        ("job.fio:10 [writer] runtime: ", "5min"),
        ("job.fio:11 [writer] bs: ", "bs=8k"),
        ("job.fio:12 [writer] loops: ", "loops="),
    ];
    assert_eq!(problems.len(), expected.len(), "{problems:#?}");
    for (problem, (place, part)) in problems.iter().zip(expected) {
        assert!(problem.starts_with(place) && problem.contains(part), "{problem}");
    }
}

#[test]
fn what_would_change_the_result_is_refused_by_name() {
    for (setting, part) in [
        ("bssplit=4k/60:8k/50", "100%"),
        ("bssplit=4q/50", "4q"),
        ("rw=randread:8k", "randread:8"),
        ("rw=read:x", "read:-8k"),
        ("sync=2", "2"),
        ("file_service_type=zipf", "sequential"),
        ("random_distribution=pareto:2", "2"),
        ("random_distribution=zoned:60/5:60/15", "100%"),
        ("random_distribution=zoned:100/5,100/6", ""),
        ("steadystate=iops:30", "30"),
        ("wait_for=b", "[b]"),
        ("exit_what=some", "some"),
        ("random_distribution=zipf:1", "1"),
        ("startdelay=1-5", "1-5"),
        ("ioengine=rbd", "rbd"),
        ("ioengine=libaoi", "libaio"),
        ("zonemode=zdb", "zbd"),
        ("zone_reset_threshold=0.5", "0.5"),
        ("size=${SIZE}", "--env SIZE=VALUE"),
        ("iodepth=$ncpus", "$ncpus"),
        ("direct=yes", "yes"),
        ("numjobs=0", "0"),
        ("rwmixread=101", "100"),
        ("offset=101%", "101%"),
    ] {
        let problem = only_problem(&format!("[a]\nsize=1m\n{setting}\n"));
        let option = setting.split('=').next().expect("an option");
        assert!(problem.starts_with(&format!("job.fio:3 [a] {option}: ")) && problem.contains(part), "{problem}");
    }
    for harmless in ["sync=0", "fsync=0", "verify=0", "nrfiles=1", "rw=randread:1", "zonemode=none", "iodepth_batch=1"] {
        assert!(read(&format!("[a]\nsize=1m\n{harmless}\n")).is_ok(), "{harmless}");
    }
}

#[test]
fn directions_of_a_mixed_job_have_sizes_and_rates_of_their_own() {
    let mixed = &jobs("[a]\nrw=rw\nsize=1m\nbs=4k,8k\nrate=1m,2m\n")[0];
    assert_eq!(mixed["bssplit"], json!({"read": [{"bs": 4096, "percent": 100.0}], "write": [{"bs": 8192, "percent": 100.0}]}));
    assert_eq!(mixed["rate_each"], json!({"read": 1 << 20, "write": 2 << 20}));
    let ranges = &jobs("[a]\nrw=rw\nsize=1m\nbsrange=4k-8k,16k-16k\n")[0]["bssplit"];
    assert_eq!(ranges["read"], json!([{"bs": 4096, "percent": 50.0}, {"bs": 8192, "percent": 50.0}]));
    assert_eq!(ranges["write"], json!([{"bs": 16384, "percent": 100.0}]));
    assert!(has_values(&only_problem("[a]\nrw=rw\nsize=1m\nbsrange=4k-6k,8k-16k\n"), "bsrange, reads, writes"));
    assert_eq!(jobs("[a]\nrw=write\nsize=1m\nbs=4k,8k\nrate=1m,2m\n")[0]["bs"], 8192);
    assert_eq!(jobs("[a]\nrw=write\nsize=1m\nbs=4k,8k\nrate=1m,2m\n")[0]["rate"], 2 << 20);
}

#[test]
fn mixes_of_sizes_are_read_with_what_is_left_out() {
    let found = jobs("[a]\nrw=randrw\nsize=1m\nbssplit=4k/10:64k/50:32k/,512/\n");
    let read = json!([{"bs": 4096, "percent": 10.0}, {"bs": 65536, "percent": 50.0}, {"bs": 32768, "percent": 40.0}]);
    assert_eq!(found[0]["bssplit"], json!({"read": read, "write": [{"bs": 512, "percent": 100.0}]}));
    let one = jobs("[a]\nrw=write\nsize=1m\nbssplit=4k/10:64k/50:32k/,512/\n");
    assert_eq!(one[0]["bssplit"], json!({"read": [{"bs": 512, "percent": 100.0}]}));
}

#[test]
fn orders_and_places_are_read() {
    let field = |settings: &str, field: &str| jobs(&format!("[a]\nsize=1m\n{settings}\n"))[0][field].clone();
    assert_eq!(field("rw=read:8k", "stride"), json!({"skip": 8192, "backwards": false}));
    assert_eq!(field("rw=read:-8k", "stride"), json!({"skip": 8192, "backwards": true}));
    assert_eq!(field("rw=randread:8\nrw_sequencer=identical", "random_every"), json!(8));
    assert_eq!(field("rw=randread:8\nrw_sequencer=identical", "repeat_place"), json!(true));
    assert_eq!(field("rw=randread\nrandom_distribution=zoned:50/5:30/15:20/", "random_distribution"), json!("zoned:50/5:30/15:20/80"));
    assert_eq!(field("rw=randread\nrandom_distribution=zoned_abs:60/1k:40/2k", "random_distribution"), json!("zoned_abs:60/1024:40/2048"));
    assert_eq!(field("rw=randread\nrandom_distribution=pareto", "random_distribution"), json!("pareto:0.2"));
    assert_eq!(field("zonemode=strided\nzonesize=16k\nzoneskip=32k", "zones"), json!({"size": 16384, "range": null, "skip": 32768}));
    assert_eq!(
        field("rw=randwrite\nzonemode=zbd\nzonesize=64k\nzonecapacity=48k\nmax_open_zones=4", "zoned"),
        json!({"size": 65536, "capacity": 49152, "max_open": 4, "read_beyond": false})
    );
    assert_eq!(field("zonemode=zbd\nzonesize=64k\nread_beyond_wp=1", "zoned")["read_beyond"], json!(true));
    assert_eq!(field("filename=a:b:c", "nrfiles"), json!(3));
    assert_eq!(field("nrfiles=4\nfile_service_type=random:2", "file_service_ios"), json!(2));
    assert_eq!(field("ioengine=libaio\niodepth=16\niodepth_batch_complete_min=4\niodepth_low=8", "iodepth_batch_complete"), json!(4));
}

#[test]
fn verification_reads_back_what_was_written_and_only_that() {
    let of = |settings: &str| jobs(&format!("[a]\nsize=1m\n{settings}\n"))[0].clone();
    assert_eq!(of("rw=write\nverify=md5\nverify_backlog=8")["verify"], json!({"backlog": 8, "batch": null}));
    for without in ["rw=read\nverify=md5", "rw=write\nverify=0", "rw=write\nverify=md5\ndo_verify=0"] {
        assert_eq!(of(without).get("verify"), None, "{without}");
    }
    assert_eq!(of("rw=randwrite\nverify=md5\nverify_only=1")["rw"], "randread");
    assert_eq!(of("rw=write\nend_fsync=1")["end_fsync"], json!(true));
    assert_eq!(of("rw=write\nsync_file_range=wait_before,write:8")["fdatasync"], json!(8));
}

#[test]
fn limits_and_searches_are_read() {
    let of = |settings: &str| jobs(&format!("[a]\nsize=1m\n{settings}\n"))[0].clone();
    assert_eq!(of("rate=1m\nrate_min=500k")["rate_min"], json!({"rate": 512_000, "cycle": 1_000_000_000}));
    assert_eq!(
        of("latency_target=500\nlatency_window=10ms\nlatency_percentile=99")["latency_target"],
        json!({"target": 500_000, "window": 10_000_000, "percent": 99.0, "keep_adapting": false})
    );
    assert_eq!(
        of("ss=bw_slope:0.3%\nss_dur=30s\nss_ramp=10s")["steadystate"],
        json!({"of": "bw_slope", "percent": 0.3, "duration": 30_000_000_000u64, "ramp": 10_000_000_000u64})
    );
    assert_eq!(of("flow=8\nflow_sleep=1000")["flow"], json!({"weight": 8, "id": 0, "sleep": 1_000_000}));
    assert_eq!(of("ioengine=null")["null"], json!(1000));
}

#[test]
fn jobs_wait_for_others_and_end_their_group() {
    let found =
        jobs("[global]\nsize=1m\n[a]\nexitall\n[b]\nwait_for=a\n[c]\nnew_group\n[d]\nfilename=f\nsize=2m\n[e]\nfilename=f\nsize=0\n");
    assert_eq!((found[0]["exitall"].clone(), found[0]["exit_what"].clone()), (json!(true), json!("group")));
    assert_eq!((found[1]["wait_for"].clone(), found[2]["group"].clone()), (json!("a"), json!(1)));
    assert_eq!(found[4]["size"], json!(2 << 20), "a file has the size that it was given before");
}

#[test]
fn variables_sections_and_several_files_are_those_of_the_command_line() {
    let files = BTreeMap::from_iter([
        ("a.fio".to_owned(), "[global]\nsize=1m\nbs=${BS}\n[one]\n[two]\nrw=${KIND}read\n".to_owned()),
        ("b.fio".to_owned(), "[three]\nsize=2m\n".to_owned()),
    ]);
    let environment = BTreeMap::from_iter([("BS".to_owned(), "8k".to_owned()), ("KIND".to_owned(), "rand".to_owned())]);
    let reading = Reading { environment, sections: Vec::new() };
    let all = parse_all(&files, &["a.fio", "b.fio"], &reading).expect("valid");
    let names: Vec<&str> = all.jobs.iter().map(|job| job.name.as_str()).collect();
    assert_eq!(names, ["one", "two", "three"]);
    assert_eq!((all.jobs[1].scenario["rw"].clone(), all.jobs[1].scenario["bs"].clone()), (json!("randread"), json!(8192)));
    assert_eq!((all.jobs[2].scenario["stonewall"].clone(), all.jobs[2].scenario["bs"].clone()), (json!(true), json!(4096)));
    let two = parse_all(&files, &["a.fio"], &Reading { sections: vec!["two".to_owned()], ..reading.clone() }).expect("valid");
    assert_eq!((two.jobs.len(), two.jobs[0].name.as_str()), (1, "two"));
    let none = parse_all(&files, &["a.fio"], &Reading { sections: vec!["twoo".to_owned()], ..reading }).expect_err("no such section");
    assert!(none[0].to_string().contains("\"two\""), "{none:?}");
}

#[test]
fn trims_are_read_where_the_model_has_them_and_refused_by_name_where_not() {
    for pattern in ["trim", "randtrim", "trimwrite"] {
        match read(&format!("[a]\nsize=1m\nrw={pattern}\n")) {
            Ok(found) => assert_eq!(found.jobs[0].scenario["rw"], pattern),
            Err(problems) => assert!(has_values(&problems[0], &format!("rw={pattern}")), "{problems:?}"),
        }
    }
}

#[test]
fn engines_of_other_machines_are_refused_without_a_word_on_their_own_options() {
    let problem = only_problem("[a]\nioengine=http\nhttp_mode=s3\nsize=1m\n");
    assert!(problem.contains("\"http\""), "{problem}");
    assert!(only_problem("[a]\nioengine=falloc\nsize=1m\n").contains("\"falloc\""));
    for more in ["", "filename_format=bucket.$jobnum\n", "size=50%\n"] {
        let problem = only_problem(&format!("[a]\nioengine=http\n{more}"));
        assert!(problem.contains("\"http\""), "{more}: {problem}");
    }
    // A section with an engine of its own is read whole.
    let problems = read("[global]\nioengine=http\n[a]\nioengine=psync\n").expect_err("no size");
    assert!(problems[1].contains("size"), "{problems:?}");
}

#[test]
fn writes_with_fua_are_synchronous_writes() {
    let found = jobs("[a]\nioengine=sg\nfilename=/dev/sg0\nrw=write\nwritefua=1\n[b]\nfilename=/dev/sg0\nrw=write\nwritefua=0\n");
    assert_eq!(found[0]["sync"], true);
    assert!(found[1].get("sync").is_none());
}

#[test]
fn libblkio_opens_a_device_by_its_own_option() {
    for (path, device) in [("/dev/nvme0n1", "/dev/nvme0n1"), ("/sys/bus/pci/devices/0000:00:01.0", "/dev/bus/pci/devices/0000:00:01.0")] {
        let found = jobs(&format!("[global]\nioengine=libblkio\nlibblkio_path={path}\n[a]\n[b]\nioengine=psync\nsize=1m\n"));
        assert_eq!((&found[0]["filename"], found[0].get("size")), (&json!(device), None));
        assert!(found[1].get("filename").is_none());
    }
    assert!(only_problem("[a]\nioengine=libblkio\nlibblkio_path=/tmp/file\n").contains("size"));
    assert!(only_problem("[a]\nioengine=libblkio\n").contains("size"));
    assert!(only_problem("[a]\nioengine=libaio\nlibblkio_path=/dev/sdb\n").contains("size"));
}

#[test]
fn a_file_needs_a_size_and_a_device_does_not() {
    assert!(only_problem("[a]\nrw=read\n").starts_with("job.fio:1 [a]: "));
    assert_eq!(
        jobs("[a]\nfilename=/dev/sdb\nsize=50%\noffset=25%\n")[0],
        json!({"name": "a", "rw": "read", "bs": 4096, "iodepth": 1, "filename": "/dev/sdb", "size": "50%", "offset": "25%"})
    );
    assert!(jobs("[a]\nfilename=/dev/sdb\n")[0].get("size").is_none());
    assert_eq!(jobs("[a]\nsize=64k\nfilesize=16k\nio_size=50%\n")[0]["size"], 16384);
    assert_eq!(jobs("[a]\nsize=64k\nfilesize=16k\nio_size=50%\n")[0]["io_size"], 8192);
    assert!(only_problem("[a]\nsize=1k\n").contains("4096"));
}

#[test]
fn two_devices_are_one_modelled_storage() {
    let found = read("[a]\nfilename=/dev/sdb\n[b]\nfilename=/dev/sdc\n").expect("valid");
    assert_eq!(found.jobs[1].scenario["filename"], "/dev/sdb");
    assert!(has_values(&found.warnings[0], "/dev/sdc, /dev/sdb"));
}

#[test]
fn offset_increment_makes_a_job_of_each_worker() {
    let found = read("[a]\nnumjobs=3\nsize=1m\noffset=4k\noffset_increment=1m\nstonewall\nfilename=shared\n").expect("valid");
    let offsets: Vec<&Value> = found.jobs.iter().map(|job| &job.scenario["offset"]).collect();
    assert_eq!(offsets, [&json!(4096), &json!(4096 + (1 << 20)), &json!(4096 + (2 << 20))]);
    let names: Vec<&Value> = found.jobs.iter().map(|job| &job.scenario["name"]).collect();
    assert_eq!(names, ["a.0", "a.1", "a.2"]);
    assert_eq!(found.jobs.iter().filter(|job| job.scenario.get("stonewall").is_some()).count(), 1);
}

#[test]
fn sections_of_one_name_share_a_file_and_get_names_of_their_own() {
    let found = jobs("[a]\nsize=1m\n[a]\nsize=1m\nname=a\n[b]\nsize=1m\n");
    assert_eq!((&found[0]["name"], &found[0]["filename"]), (&json!("a"), &json!("a.0.0")));
    assert_eq!((&found[1]["name"], &found[1]["filename"]), (&json!("a-2"), &json!("a.0.0")));
    assert!(found[2].get("filename").is_none());
}

#[test]
fn stonewall_and_new_group_begin_reporting_groups() {
    let found = read("[global]\nsize=1m\n[a]\nstonewall\n[b]\n[c]\nnew_group\n[d]\nstonewall\ngroup_reporting\n").expect("valid");
    assert_eq!(found.jobs.iter().map(|job| job.group).collect::<Vec<_>>(), [0, 0, 1, 2]);
    assert!(found.jobs[3].group_reporting);
}

#[test]
fn included_files_add_options_to_the_section() {
    let mut files = BTreeMap::from_iter([("dir/job.fio".to_owned(), "[global]\ninclude common.fio\n[a]\nbs=8k\n".to_owned())]);
    let missing = parse(&files, "dir/job.fio").unwrap_err();
    assert_eq!((missing[0].path.as_str(), missing[0].nearest.as_deref()), ("include", Some("dir/common.fio")));
    files.insert("dir/common.fio".to_owned(), "size=1m\nbs=4k\n".to_owned());
    assert_eq!(parse(&files, "dir/job.fio").expect("complete").jobs[0].scenario["size"], 1 << 20);
    files.insert("dir/common.fio".to_owned(), "[b]\nsize=1m\n".to_owned());
    assert!(parse(&files, "dir/job.fio").unwrap_err()[0].message.contains("[b]"));
    files.insert("dir/common.fio".to_owned(), "include job.fio\n".to_owned());
    assert!(parse(&files, "dir/job.fio").unwrap_err()[0].message.contains("dir/job.fio -> dir/common.fio -> dir/job.fio"));
}

#[test]
fn what_is_not_a_job_file_is_told_in_a_sentence() {
    assert!(only_problem("hello\nworld\n").starts_with("job.fio"));
    assert!(only_problem("").starts_with("job.fio"));
    assert!(only_problem("\u{0}\u{1}ELF").starts_with("job.fio"));
    assert!(only_problem("bs=4k\n[a]\nsize=1m\n").starts_with("job.fio:1: \"bs\""));
    assert!(only_problem("[global]\nbs=4k\n").starts_with("job.fio"));
    assert!(only_problem("[a\nsize=1m").starts_with("job.fio:1"));
    assert!(only_problem("[a] b\nsize=1m").contains("\"b\""));
    assert!(only_problem(&" ".repeat(FILE_BYTES_MAX + 1)).contains("1048576"));
    assert!(only_problem(&"[a]\nsize=1m\n".repeat(257)).contains("256"));
    assert_eq!(read(&format!("[a]\nsize=1m\n{}", "x=1\n".repeat(5000))).unwrap_err().len(), 101);
    assert_eq!(parse(&BTreeMap::default(), "gone.fio").unwrap_err()[0].nearest.as_deref(), Some("gone.fio"));
}

#[test]
fn jobs_are_put_into_a_system() {
    let found = read("[a]\nsize=1m\n").expect("valid");
    let scenario = to_scenario(&found, json!({"devices": [{"preset": "nvme"}]}));
    assert_eq!(scenario["devices"][0]["preset"], "nvme");
    assert_eq!(scenario["jobs"][0]["name"], "a");
}

fn measured() -> Report {
    let found = read("[global]\nsize=64m\n[seq]\nrw=read\nbs=64k\ndescription=one\n[mix]\nstonewall\nrw=randrw\nnumjobs=2\ngroup_reporting=1\nioengine=libaio\niodepth=16\n").expect("valid");
    let mut report = Report::of(&found, "seeklab-0.1.0");
    report.elapsed_ns = 3_100_000_000;
    let second = report.jobs[1].clone();
    report.jobs.push(second);
    for (index, job) in report.jobs.iter_mut().enumerate() {
        job.spec.workers = 1;
        job.job_runtime_ns = 1_992_500_000;
        job.read.io_bytes = 16 << 20;
        job.read.total_ios = 256;
        job.read.runtime_ns = 1_992_500_000;
        job.read.latency = Latency {
            min_ns: 3_000,
            max_ns: 7_000_000,
            mean_ns: 112_000.0,
            stddev_ns: 600_000.0,
            counts: vec![(3_000, 128), (6_144, 126), (7_340_032, 2)],
        };
        job.read.sample(&[(4 << 20, 64), (4 << 20, 64), (5 << 20, 80)]);
        job.depths = [128, 128, 0, 0, 0, 0, 0];
        if index > 0 {
            job.write = job.read.clone();
        }
    }
    report.disks.push(DiskReport {
        name: "disk0".to_owned(),
        ios: [256, 0],
        merges: [0, 0],
        ticks_ms: [29, 0],
        in_queue_ms: 29,
        util_percent: 1.72,
    });
    report
}

#[test]
fn the_normal_output_has_the_percentiles_that_the_job_asks_for() {
    let mut report = measured();
    let (list, both) = (vec![50.0, 99.0, 99.9, 99.999], [true, true]);
    for job in &mut report.jobs {
        (job.spec.percentile_list, job.spec.percentiles) = (list.clone(), both);
    }
    let text = super::normal(&report);
    let wanted = "     | 50.000th=[    3], 99.000th=[    7], 99.900th=[ 7000], 99.999th=[ 7000]";
    let [of_completion, of_all] =
        ["    clat percentiles (usec):\n", "    lat percentiles (usec):\n"].map(|line| text.matches(line).count());
    assert!(of_all > 1 && of_completion == of_all, "{text}");
    assert_eq!(text.matches(wanted).count(), 2 * of_all, "{text}");
}

#[test]
fn the_normal_output_has_the_lines_of_fio() {
    let text = super::normal(&measured());
    for line in [
        "seq: (g=0): rw=read, bs=(R) 64.0KiB-64.0KiB, (W) 64.0KiB-64.0KiB, (T) 64.0KiB-64.0KiB, ioengine=psync, iodepth=1",
        "...",
        "seeklab-0.1.0",
        "Starting 3 processes",
        "seq: (groupid=0, jobs=1): err= 0: pid=0: Thu Jan  1 00:00:00 1970",
        "  Description  : [one]",
        "  read: IOPS=128, BW=8221KiB/s (8418kB/s)(16.0MiB/1993msec)",
        "    clat (usec): min=3, max=7000, avg=112.00, stdev=600.00",
        "    clat percentiles (usec):",
        "     |  1.00th=[    3],  5.00th=[    3], 10.00th=[    3], 20.00th=[    3],",
        "     | 99.00th=[    7], 99.50th=[ 7000], 99.90th=[ 7000], 99.95th=[ 7000],",
        "     | 99.99th=[ 7000]",
        "   bw (  KiB/s): min= 8192, max=10240, per=100.00%, avg=8874.67, stdev=1182.41, samples=3",
        "   iops        : min=  128, max=  160, avg=138.67, stdev=18.48, samples=3",
        "  lat (usec)   : 4=50.00%, 10=49.22%",
        "  lat (msec)   : 10=0.78%",
        "  IO depths    : 1=50.0%, 2=50.0%, 4=0.0%, 8=0.0%, 16=0.0%, 32=0.0%, >=64=0.0%",
        "     submit    : 0=0.0%, 4=100.0%, 8=0.0%, 16=0.0%, 32=0.0%, 64=0.0%, >=64=0.0%",
        "     issued rwts: total=256,0,0,0 short=0,0,0,0 dropped=0,0,0,0",
        "mix: (groupid=1, jobs=2): err= 0: pid=0: Thu Jan  1 00:00:00 1970",
        "  write: IOPS=256, BW=16.1MiB/s (16.8MB/s)(32.0MiB/1993msec); 0 zone resets",
        "Run status group 1 (all jobs):",
        "   READ: bw=8221KiB/s (8418kB/s), 8221KiB/s-8221KiB/s (8418kB/s-8418kB/s), io=16.0MiB (16.8MB), run=1993-1993msec",
        "Disk stats (read/write):",
        "  disk0: ios=256/0, merge=0/0, ticks=29/0, in_queue=29, util=1.72%",
    ] {
        assert!(text.lines().any(|found| found == line), "no line\n{line}\nin\n{text}");
    }
}

#[test]
fn the_json_output_parses_and_has_the_fields_of_fio() {
    let text = super::json(&measured(), super::Bins::Without);
    assert!(text.contains("\"iops\" : 128.449574"), "{text}");
    let found: Value = serde_json::from_str(&text).expect("JSON");
    assert_eq!(found["jobs"].as_array().map(Vec::len), Some(2), "workers of a group are merged");
    let job = &found["jobs"][1];
    assert_eq!(job["job options"]["group_reporting"], "1");
    assert_eq!(job["read"]["total_ios"], 512);
    assert_eq!(job["read"]["clat_ns"]["percentile"]["99.500000"], 7_000_000);
    assert_eq!(job["read"]["bw_min"], 16384);
    assert_eq!(job["latency_depth"], 16);
    assert_eq!(found["jobs"][0]["desc"], "one");
    assert_eq!(found["jobs"][0]["read"]["bw_bytes"], 8_418_071);
    assert_eq!(found["jobs"][0]["latency_us"]["4"], 50.0);
    assert_eq!(found["jobs"][0]["trim"]["slat_ns"]["N"], 0);
    assert_eq!(found["disk_util"][0]["util"], 1.72);
}

#[test]
fn merged_latencies_have_the_moments_of_all_requests() {
    let mut report = measured();
    report.jobs[2].read.latency = Latency { min_ns: 1_000, max_ns: 1_000, mean_ns: 1_000.0, stddev_ns: 0.0, counts: vec![(1_000, 256)] };
    let merged = report.merged();
    let latency = &merged[1].read.latency;
    assert_eq!((latency.min_ns, latency.max_ns, latency.samples()), (1_000, 7_000_000, 512));
    assert!((latency.mean_ns - 56_500.0).abs() < 1e-6);
    let expected = (0.5 * (600_000.0f64.powi(2) + 55_500.0f64.powi(2)) + 0.5 * 55_500.0f64.powi(2)).sqrt();
    assert!((latency.stddev_ns - expected).abs() < 1e-3, "{} {expected}", latency.stddev_ns);
}

proptest! {
    #[test]
    fn arbitrary_text_is_read_or_refused(text in any::<String>()) {
        let _ = read(&text);
    }

    #[test]
    fn text_like_a_job_file_is_read_or_refused_and_what_is_read_prints(lines in prop::collection::vec(job_file_line(), 0..12)) {
        if let Ok(found) = read(&lines.join("\n")) {
            let report = Report::of(&found, "seeklab");
            prop_assert!(super::normal(&report).contains("Starting"));
            prop_assert!(serde_json::from_str::<Value>(&super::json(&report, super::Bins::With)).is_ok());
        }
    }
}

fn job_file_line() -> impl Strategy<Value = String> {
    let names: Vec<&'static str> = super::options::names().collect();
    let values = prop_oneof![
        Just(String::new()),
        Just("1".to_owned()),
        "[0-9]{1,20}[kKmMgGtTpPiIbBsSuUhHdD%]{0,3}".prop_map(String::from),
        "[0-9]{1,3}k?[,:-][0-9]{1,3}k?".prop_map(String::from),
        "(read|write|randread|randrw|libaio|psync|zipf:[0-9]\\.[0-9]|/dev/sd[a-c]|name)".prop_map(String::from),
        any::<String>(),
    ];
    prop_oneof![
        "\\[(global|a|b)\\]".prop_map(String::from),
        (prop::sample::select(names), values).prop_map(|(name, value)| format!("{name}={value}")),
        Just("size=1g".to_owned()),
    ]
}

#[test]
fn command_lines_are_read_as_fio_reads_them() {
    let line = "sudo fio --direct=1 --size 1m \\\n  -name=a -rw=randread --bs='8k' --name=b \"--rw=write\" --time_based --runtime=2 | tee x\nfio --name=c\n";
    let found = read(line).expect("a command line");
    let names: Vec<&str> = found.jobs.iter().map(|job| job.name.as_str()).collect();
    assert_eq!(names, ["a", "b"]);
    assert_eq!(found.jobs[0].scenario, json!({"name": "a", "rw": "randread", "bs": 8192, "iodepth": 1, "size": 1 << 20}));
    assert_eq!((&found.jobs[1].scenario["time_based"], &found.jobs[1].scenario["size"]), (&json!(true), &json!(1 << 20)));
    let formats = read("fio --output-format=json --name=a --size=1m --eta=never --minimal").expect("a command line");
    assert_eq!(formats.output_format.as_deref(), Some("terse"));
    assert!(formats.ignored.iter().any(|ignored| ignored.option == "--eta"));
    assert_eq!(read("[a]\nsize=1m\n; fio --name=b\n").expect("a job file").jobs.len(), 1);
}

#[test]
fn a_shell_script_is_read_from_its_first_fio_command_on() {
    let script = "#!/bin/sh\n# fio in three steps\nset -e\nif [ -z $D ]; then\n  D=/mnt\nfi\necho 'it does not'\n\
                  OUT=$(fio --name=a --size=$SIZE \"--bs=${BS}\" --filename=$D/x --filename_format=$jobnum --numjob=2)\n\
                  echo \"$OUT\"\nfio --name=b --size=1m\nfio --name=c --size=1m\n";
    let files = BTreeMap::from_iter([("s.sh".to_owned(), script.to_owned())]);
    let environment =
        BTreeMap::from_iter([("SIZE", "1m"), ("BS", "8k"), ("D", "/mnt")].map(|(name, value)| (name.to_owned(), value.to_owned())));
    let reading = Reading { environment, ..Reading::default() };
    let found = parse_all(&files, &["s.sh"], &reading).expect("a script");
    assert_eq!(
        found.jobs[0].scenario,
        json!({"name": "a", "rw": "read", "bs": 8192, "iodepth": 1, "filename": "/mnt/x", "size": 1 << 20, "numjobs": 2})
    );
    assert!(has_values(&found.warnings.join(" "), "s.sh, 2"));
    let problems = parse_all(&files, &["s.sh"], &Reading::default()).expect_err("no values");
    assert!(problems.iter().any(|problem| problem.message.contains("--env SIZE=VALUE")));
}

#[test]
fn a_variable_alone_stands_for_words() {
    let files = BTreeMap::from_iter([("s".to_owned(), "fio $OPTIONS --name=a".to_owned())]);
    let environment = BTreeMap::from_iter([("OPTIONS".to_owned(), "--size=1m --bs 8k".to_owned())]);
    let found = parse_all(&files, &["s"], &Reading { environment, ..Reading::default() }).expect("valid");
    assert_eq!((&found.jobs[0].scenario["size"], &found.jobs[0].scenario["bs"]), (&json!(1 << 20), &json!(8192)));
    assert!(parse(&files, "s").expect_err("unset").iter().any(|problem| problem.message.contains("${OPTIONS}")));
}

#[test]
fn prompts_before_a_command_are_no_comments() {
    for prompt in ["# ", "$ ", "root@host:~# ", "> sudo "] {
        assert_eq!(read(&format!("{prompt}fio --name=a --size=1m\n")).expect(prompt).jobs.len(), 1, "{prompt}");
    }
    assert!(only_problem("# run it with fio --name=a --size=1m\n").contains("[section]"));
}

#[test]
fn options_beside_a_job_file_are_defaults_of_its_jobs() {
    let files = BTreeMap::from_iter([
        ("line".to_owned(), "fio a.fio --bs=64k --size=1m".to_owned()),
        ("a.fio".to_owned(), "[one]\n[two]\nbs=8k\n".to_owned()),
    ]);
    let found = parse(&files, "line").expect("a command line");
    assert_eq!(found.jobs.iter().map(|job| job.scenario["bs"].clone()).collect::<Vec<_>>(), [json!(65536), json!(8192)]);
    let missing = parse(&BTreeMap::from_iter([("line".to_owned(), "fio a.fio --bs=64k".to_owned())]), "line").expect_err("no file");
    assert_eq!((missing[0].path.as_str(), missing[0].nearest.as_deref()), ("include", Some("a.fio")));
    assert!(only_problem("fio --name='a").contains("quote"));
    assert!(only_problem("fio --size=1m").contains("--name"));
}

#[test]
fn lines_of_shells_and_blogs_are_read_as_they_were_typed() {
    for line in [
        "nice -n 5 fio --name=a --rw=write --size=1m 2>&1 | tee out.txt",
        "for i in 1 2 3; do fio --name=a --rw=write --size=1m; done",
        "fio \u{2013}name=a \u{2014}rw=write \u{2013}\u{2013}size=1m",
        "fio --name=\u{201c}a\u{201d} --rw=\u{2018}write\u{2019} --size=1m",
    ] {
        let found = jobs(line);
        assert_eq!(
            (found.len(), &found[0]["name"], &found[0]["rw"], &found[0]["size"]),
            (1, &json!("a"), &json!("write"), &json!(1 << 20)),
            "{line}"
        );
    }
}

#[test]
fn odd_block_sizes_are_whole_pages_for_the_device() {
    let found = read("[a]\nrw=write\nbs=2300\nsize=2m\nfdatasync=1\n").expect("valid");
    assert_eq!((&found.jobs[0].scenario["bs"], &found.jobs[0].scenario["size"]), (&json!(4096), &json!(911 * 4096 + 512)));
    assert!(found.warnings.iter().any(|warning| warning.contains("fdatasync") && warning.contains("latency")));
    assert_eq!(found.jobs[0].pages.map(|pages| pages.asked(911 * 4096)), Some(911 * 2300));
    assert!(has_values(&only_problem("[a]\nbs=4KiB\nsize=1m\ndirect=1\n"), "4KiB, 4000, 4k"));
}

#[test]
fn trims_have_the_third_size_and_the_third_rate() {
    let of = |options: &str, field: &str| jobs(&format!("[a]\nsize=4m\n{options}\n"))[0][field].clone();
    assert_eq!(of("rw=trim\nbs=8k,16k,32k", "bs"), 32768);
    assert_eq!(of("rw=randtrim\nbs=,,8k", "bs"), 8192);
    assert_eq!(of("rw=trim\nbs=8k,16k", "bs"), 16384);
    assert_eq!(of("rw=randtrimwrite\nbs=8k,32k,16k", "bs"), 16384);
    assert_eq!(of("rw=trim\nrate_iops=1k,2k,3k", "rate_iops"), 3072);
    assert_eq!(of("rw=randtrim\nbsrange=4k-8k,,16k-32k", "bsrange"), json!({"min": 16384, "max": 32768}));
    assert!(has_values(&only_problem("[a]\nrw=trimwrite\nsize=4m\nbs=8k,16k,32k\n"), "bs, trims, writes"));
}

#[test]
fn sizes_that_only_one_block_size_may_have_are_refused_with_the_next_sector() {
    assert!(has_values(&only_problem("[a]\nrw=write\nsize=1m\nbsrange=1000-3000\n"), "bsrange, 1000, 1024"));
    assert!(has_values(&only_problem("[a]\nrw=read\nsize=1m\nbssplit=4k/50:3000/50\n"), "bssplit, 3000, 3072"));
}

#[test]
fn different_sizes_of_one_random_map_are_noted() {
    let noted = |options: &str| {
        let found = read(&format!("[a]\nrw=randrw\nsize=4m\n{options}\n")).expect("valid");
        found.warnings.iter().any(|warning| warning.contains("norandommap"))
    };
    assert!(noted("bs=8k,32k"));
    assert!(noted("bs=,8k"));
    assert!(noted("rw=randtrim\nbs=,,8k"));
    assert!(!noted("bs=8k,32k\nnorandommap"));
    assert!(!noted("bs=8k"));
    assert!(!noted("bssplit=4k/50:8k/50,4k/50:64k/50"));
}

#[test]
fn an_offset_takes_from_a_file_of_known_size() {
    let of = |options: &str, field: &str| jobs(&format!("[a]\nrw=write\n{options}\n"))[0][field].clone();
    assert_eq!(of("filesize=1m\noffset=256k", "size"), 786_432);
    assert_eq!(of("filesize=1m\nsize=2m\noffset=768k", "size"), 262_144);
    assert_eq!(of("filesize=1m\nsize=50%\noffset=50%", "size"), 524_288);
    assert_eq!(of("filesize=1m\nsize=50%\noffset=50%", "offset"), 524_288);
    assert_eq!(of("size=1m\noffset=10%", "offset"), 106_496);
    assert_eq!(of("size=1m\noffset=256k", "size"), 1 << 20);
    assert!(only_problem("[a]\nfilesize=1m\noffset=1m\n").contains("offset"));
}

#[test]
fn lists_of_shares_are_read_as_fio_does() {
    let of = |options: &str| jobs(&format!("[a]\nsize=1m\nrw=randrw\n{options}\n")).remove(0);
    for (text, percent) in [("30,", 30), (",30", 30), ("30,70", 70)] {
        assert_eq!(of(&format!("rwmixread={text}"))["rwmixread"], percent, "{text}");
    }
    assert_eq!(of("rwmixwrite=,30")["rwmixread"], 70);
    assert!(only_problem("[a]\nsize=1m\nrwmixread=70%\n").contains("70%"));
    let read = json!([{"bs": 4096, "percent": 50.0}, {"bs": 8192, "percent": 50.0}]);
    assert_eq!(of("bssplit=4k/50:8k/50:")["bssplit"], json!({"read": read}));
    assert!(only_problem("[a]\nsize=1m\nbssplit=::\n").contains("bssplit"));
}

#[test]
fn verify_only_may_stand_alone() {
    assert_eq!(jobs("[a]\nrw=write\nsize=1m\nverify=crc32c\nverify_only\n")[0]["rw"], "read");
}

#[test]
fn empty_places_of_mixes_leave_the_block_size() {
    let of = |options: &str| jobs(&format!("[a]\nsize=1m\n{options}\n")).remove(0)["bssplit"].clone();
    let one = |bs: u64, percent: f64| json!({"bs": bs, "percent": percent});
    assert_eq!(of("rw=randrw\nbssplit=,4k/57:8k/43,"), json!({"read": [one(4096, 100.0)], "write": [one(4096, 57.0), one(8192, 43.0)]}));
    assert_eq!(of("rw=randtrim\nbssplit=,,32k/50:64k/50"), json!({"read": [one(32768, 50.0), one(65536, 50.0)]}));
    assert_eq!(of("rw=randread\nbssplit=,,32k/50:64k/50"), Value::Null);
    assert_eq!(of("rw=randread\nbssplit=4k/50:20k-28k/50"), json!({"read": [one(4096, 50.0), one(20480, 50.0)]}));
    assert_eq!(jobs("[a]\nsize=1m\nrw=randwrite\npercentage_random=,50,\n")[0]["percentage_random"], 50);
}

#[test]
fn file_names_add_up_and_formats_with_numbers_share_nothing_in_one_section() {
    assert_eq!(jobs("[global]\nfilename=x\n[a]\nsize=1m\nfilename=y\nfilename=z\n")[0]["nrfiles"], 3);
    assert_eq!(jobs("[a]\nsize=1m\nnumjobs=4\nfilename_format=f$jobnum\n")[0].get("filename"), None);
    assert!(only_problem("[global]\nsize=1m\nfilename_format=f$jobnum\n[a]\n[b]\n").contains("f$jobnum"));
    let drives = read("[a]\nfilename=/dev/sdb:/dev/sdc\n").expect("valid");
    assert!(drives.warnings.iter().any(|warning| warning.contains("/dev/sdb") && warning.contains("/dev/sdc")));
    assert_eq!(jobs("[a]\nrw=write\nfilesize=64k\nsize=25%\n")[0]["size"], 16384);
    assert!(only_problem("[a]\nsize=1m\nzonesize=64k\n").contains("zonemode"));
    assert!(only_problem("[a]\nread_iolog=t\n").contains("replay"));
}
