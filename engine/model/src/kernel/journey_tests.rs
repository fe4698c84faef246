//! What journeys keep of the requests of a slab.

use super::journeys::{BELOW, Journeys, Mark, Marked};
use super::{Phase, Request, Requests};
use seeklab_spec::{JourneysSpec, Nanos};

fn requests(spec: &JourneysSpec) -> Requests {
    let mut requests = Requests::default();
    requests.journeys = Some(Box::new(Journeys::new(spec)));
    requests
}

/// `count` requests, one after the other, each with so many stays of 5 ns.
fn run(requests: &mut Requests, count: u64, stays: u64) {
    for nth in 0..count {
        let at = nth * stays * 5;
        let id = requests.insert(Request { submitted_ns: at, charged_ns: at, ..Request::default() });
        for stay in 0..stays {
            requests.charge_ns(id, if stay % 2 == 0 { Phase::Queue } else { Phase::Seek }, 5);
        }
        requests.remove(id);
    }
}

fn numbers(requests: &Requests) -> Vec<u32> {
    requests.journeys.iter().flat_map(|journeys| &journeys.requests).map(|journey| journey.request).collect()
}

#[test]
fn journeys_that_are_too_many_are_thinned_evenly_over_the_run() {
    let mut requests = requests(&JourneysSpec { stays: 1000, ..JourneysSpec::default() });
    run(&mut requests, 5000, 2);
    let journeys = requests.journeys.as_ref().expect("on");
    assert_eq!(journeys.every(), 16, "10,000 stays, at most 1000 of them");
    assert!(journeys.stays.len() < 1000, "{}", journeys.stays.len());
    let begins: Vec<u64> = journeys.requests.iter().map(|journey| journey.asked.submitted_ns).collect();
    assert_eq!(begins.len(), 5000_usize.div_ceil(16));
    assert!(begins.windows(2).all(|pair| pair[1] - pair[0] == 160), "every 16th of requests 10 ns apart");
}

#[test]
fn a_journey_that_is_too_long_ends_the_recording() {
    let mut requests = requests(&JourneysSpec { stays: 1000, ..JourneysSpec::default() });
    run(&mut requests, 3, 5000);
    let journeys = requests.journeys.as_ref().expect("on");
    assert_eq!(journeys.stays.len(), 1000);
    assert_eq!(numbers(&requests), [0]);
}

#[test]
fn only_requests_of_the_window_are_recorded() {
    let window = JourneysSpec { from: Nanos(100), until: Nanos(160), ..JourneysSpec::default() };
    let mut by_time = requests(&window);
    run(&mut by_time, 100, 2);
    let begins = |of: &Requests| -> Vec<u64> {
        of.journeys.iter().flat_map(|journeys| &journeys.requests).map(|journey| journey.asked.submitted_ns).collect()
    };
    assert_eq!(begins(&by_time), [100, 110, 120, 130, 140, 150]);
    let mut by_number = requests(&JourneysSpec { requests: 2, ..window });
    run(&mut by_number, 100, 2);
    assert_eq!(begins(&by_number), [100, 110]);
}

#[test]
fn parts_are_kept_or_dropped_with_what_they_are_part_of() {
    let mut requests = requests(&JourneysSpec { stays: 1000, ..JourneysSpec::default() });
    for nth in 0..2000 {
        let parent = requests.insert(Request { submitted_ns: nth * 5, charged_ns: nth * 5, ..Request::default() });
        let part = requests.insert(Request { parent: Some(parent), submitted_ns: nth * 5, charged_ns: nth * 5, ..Request::default() });
        requests.charge_ns(part, Phase::Seek, 5);
        requests.inherit(parent, part);
        requests.remove(part);
        requests.remove(parent);
    }
    let journeys = requests.journeys.as_ref().expect("on");
    assert_eq!(journeys.every(), 8);
    assert_eq!(journeys.requests.len(), 2 * 2000 / 8);
    for pair in journeys.requests.chunks(2) {
        assert_eq!(pair[1].parent, Some(pair[0].request));
    }
    for stay in journeys.stays.iter().filter(|stay| stay.phase == BELOW) {
        assert_eq!(stay.part, stay.request + 1, "it waited for its part");
    }
}

#[test]
fn a_flood_of_one_kind_of_marks_leaves_room_for_the_others() {
    let mut journeys = Journeys::new(&JourneysSpec { stays: 1000, ..JourneysSpec::default() });
    for time_ns in 0..10_000 {
        journeys.mark(Marked { time_ns, kind: Mark::Sent, object: 0, value: 0 });
    }
    journeys.mark(Marked { time_ns: 10_000, kind: Mark::Arm, object: 0, value: 7 });
    assert_eq!(journeys.marks.len(), 251);
    assert_eq!(journeys.marks[250].value, 7);
}
