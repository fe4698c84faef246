use proptest::prelude::*;
use seeklab_spec::Op;
use seeklab_spec::trace::*;

use super::*;

/// Line and fault of what is wrong with a text.
pub(super) fn fault(text: &str) -> (u64, Fault) {
    let problem = read(text.as_bytes(), None).expect_err("bad");
    (problem.line, problem.fault)
}

pub(super) fn negative(field: &'static str, found: &str) -> Fault {
    Fault::Negative { field, found: found.into() }
}

pub(super) fn not_whole(field: &'static str, found: &str) -> Fault {
    Fault::Number { field, found: found.into(), accepted: text::WHOLE }
}

pub(super) fn action(found: &str, known: &'static str) -> Fault {
    Fault::Action { found: found.into(), known }
}

pub(super) fn cut_off(found: &str, wanted: &'static str) -> Fault {
    Fault::Truncated { found: found.into(), wanted }
}

/// Time, direction, target, offset and bytes of each request.
pub(super) fn requests(trace: &Trace) -> Vec<(u64, Op, &str, u64, u32)> {
    trace
        .rows
        .iter()
        .map(|row| (row.time_ns, row.op, trace.targets[usize::from(row.target)].name.as_str(), row.offset, row.bytes))
        .collect()
}

#[test]
fn formats_are_told_apart_by_their_first_line() {
    for (line, format) in [
        ("fio version 2 iolog", Some(Format::FioIologV2)),
        ("fio version 3 iolog", Some(Format::FioIologV3)),
        ("fio version 1 iolog", None),
        ("  8,0    3        1     0.000000000   697  G   W 223490 + 8 [kjournald]", Some(Format::Blkparse)),
        ("Input file sda.blktrace.0 added", Some(Format::Blkparse)),
        ("Timestamp,Hostname,DiskNumber,Type,Offset,Size,ResponseTime", Some(Format::MsrCambridge)),
        ("128166372003061629,hm,1,Read,383496192,32768,113736", Some(Format::MsrCambridge)),
        ("id,job,op,offset,bytes,submit_ns,latency_ns", Some(Format::Operations)),
        ("0,77,4096", None),
        ("hello", None),
    ] {
        assert_eq!(detect(line.as_bytes()), format, "{line}");
    }
}

#[test]
fn what_is_no_trace_is_told_with_what_was_found() {
    assert_eq!(fault("\n\nhello\n"), (3, Fault::Unknown { found: "hello".into() }));
    assert_eq!(fault(""), (1, Fault::Empty));
    assert_eq!(fault("fio version 3 iolog\n1 f add\n2 f sync 0 0\n"), (3, Fault::Empty));
}

#[test]
fn a_line_too_long_to_be_one_is_refused() {
    let text = format!("fio version 3 iolog\n1 {} read 0 4096\n", "x".repeat(5000));
    assert_eq!(fault(&text), (2, Fault::Oversized { found: 5014 }));
}

#[test]
fn requests_are_put_in_order_of_time_which_counts_from_the_first() {
    let trace = read(b"fio version 3 iolog\n50 f read 0 512\n30 f write 512 512\n50 f read 1024 512", None).expect("a trace");
    assert_eq!(trace.rows.iter().map(|row| (row.time_ns, row.offset)).collect::<Vec<_>>(), [(0, 512), (20_000, 0), (20_000, 1024)]);
    assert_eq!((trace.reordered, trace.span_ns()), (1, 20_000));
}

#[test]
fn requests_are_widened_to_whole_sectors_and_counted() {
    let trace = read(b"fio version 3 iolog\n1 f read 1000 100\n1 f read 512 1024", None).expect("a trace");
    assert_eq!(trace.rows.iter().map(|row| (row.offset, row.bytes)).collect::<Vec<_>>(), [(512, 1024), (512, 1024)]);
    assert_eq!(trace.widened, 1);
}

#[test]
fn targets_follow_each_other_aligned_and_one_can_be_kept() {
    let trace = read(b"fio version 3 iolog\n1 a read 0 512\n5 b write 4096 512\n9 b read 0 512", None).expect("a trace");
    assert_eq!(trace.targets.iter().map(|target| (target.name.as_str(), target.start)).collect::<Vec<_>>(), [("a", 0), ("b", 1 << 20)]);
    assert_eq!(trace.rows.iter().map(|row| trace.address(row)).collect::<Vec<_>>(), [0, (1 << 20) + 4096, 1 << 20]);
    assert_eq!(trace.end(), (1 << 20) + 4608);
    let alone = trace.clone().only("b").expect("a target");
    assert_eq!(requests(&alone), [(0, Op::Write, "b", 4096, 512), (4000, Op::Read, "b", 0, 512)]);
    assert_eq!((alone.address(&alone.rows[0]), alone.skipped.values().copied().collect()), (4096, vec![1]));
    assert_eq!(trace.only("c"), None);
}

#[test]
fn a_request_beyond_the_device_is_refused_with_its_line() {
    let trace = read(b"fio version 3 iolog\n1 a read 0 4096\n5 a write 4096 4096", None).expect("a trace");
    assert_eq!(trace.check(8192), Ok(()));
    assert_eq!(trace.check(8191), Err(Problem { line: 3, fault: Fault::Beyond { end: 8192, capacity: 8191 } }));
}

#[test]
fn requests_and_offsets_that_no_device_takes_are_refused() {
    let too_large = |field, found: &str, most| (2, Fault::TooLarge { field, found: found.into(), most });
    assert_eq!(fault("fio version 3 iolog\n1 a read 0 1073741825"), too_large("length", "1073741825", 1 << 30));
    let offset = "18446744073709551616";
    assert_eq!(fault(&format!("fio version 3 iolog\n1 a read {offset} 512")), too_large("offset", offset, 1 << 60));
}

#[test]
fn a_cache_sees_each_block_that_a_request_touches() {
    let trace = read(b"fio version 3 iolog\n1 a read 0 8192\n5 a write 4096 512", None).expect("a trace");
    let blocks = to_cache_trace(&trace, 4096).expect("short");
    assert_eq!(blocks.objects().iter().map(|object| blocks.key(*object)).collect::<Vec<_>>(), [0, 1, 1]);
}

/// Text that looks like a trace for a while.
fn damaged() -> impl Strategy<Value = Vec<u8>> {
    const WORDS: [&str; 30] = [
        "fio version 2 iolog\n",
        "fio version 3 iolog\n",
        "Timestamp,",
        "id,job,op,offset,bytes,submit_ns,latency_ns\n",
        "8,0",
        "  ",
        " ",
        ",",
        "\n",
        "read",
        "write",
        "add",
        "wait",
        "sync",
        "Q",
        "D",
        "FWS",
        "R",
        "+",
        "[x]",
        "(12)",
        "0",
        "7",
        "4096",
        "0.5",
        "-1",
        "1e9",
        "18446744073709551615",
        "99999999999999999999999",
        "\u{e9}",
    ];
    let piece = prop_oneof![8 => proptest::sample::select(WORDS.to_vec()).prop_map(|word| word.as_bytes().to_vec()), 1 => proptest::collection::vec(any::<u8>(), 0..4)];
    proptest::collection::vec(piece, 0..60).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, ..ProptestConfig::default() })]

    #[test]
    fn any_bytes_are_read_or_refused(text in damaged(), format in proptest::option::of(proptest::sample::select(Format::ALL.to_vec()))) {
        let lines = text.split(|byte| *byte == b'\n').count() as u64;
        match read(&text, format) {
            Ok(trace) => {
                prop_assert!(!trace.rows.is_empty());
                prop_assert!(trace.rows.is_sorted_by_key(|row| row.time_ns));
                prop_assert_eq!(trace.targets.iter().map(|target| target.requests).sum::<u64>(), trace.rows.len() as u64);
                prop_assert_eq!(trace.check(trace.end()), Ok(()));
            }
            Err(problem) => prop_assert!((1..=lines).contains(&problem.line), "{}", problem),
        }
    }
}
