//! The tables of journeys (see [`crate::kernel::journeys`]): requests, their stays, and marks.

use super::columns::Take::{Index, Whole};
use super::columns::{Column, Table, Tables};
use crate::kernel::journeys::Journeys;

/// A row of any of the three tables, as its numbers in order: one form for all keeps the module small.
type Row = [u64; 9];

fn whole<const AT: usize>(row: &Row) -> u64 {
    row[AT]
}

fn index<const AT: usize>(row: &Row) -> u32 {
    u32::try_from(row[AT]).unwrap_or(u32::MAX)
}

/// A row for each request whose journey is kept, with the job of its worker. It ends with its last stay.
const REQUESTS: Table<Row> = Table::new(
    "journeys",
    &[
        ("request", Index(index::<0>)),
        ("parent", Index(index::<1>)),
        ("owner", Index(index::<2>)),
        ("job", Index(index::<3>)),
        ("worker", Index(index::<4>)),
        ("op", Index(index::<5>)),
        ("offset", Whole(whole::<6>)),
        ("bytes", Whole(whole::<7>)),
        ("begin_ns", Whole(whole::<8>)),
    ],
);

/// A row for each stay.
const STAYS: Table<Row> = Table::new(
    "stays",
    &[
        ("request", Index(index::<0>)),
        ("layer", Index(index::<1>)),
        ("part", Index(index::<2>)),
        ("phase", Index(index::<3>)),
        ("from_ns", Whole(whole::<4>)),
        ("to_ns", Whole(whole::<5>)),
    ],
);

/// A row for each mark.
const MARKS: Table<Row> = Table::new(
    "marks",
    &[("time_ns", Whole(whole::<0>)), ("kind", Index(index::<1>)), ("object", Whole(whole::<2>)), ("value", Whole(whole::<3>))],
);

fn row<const N: usize>(numbers: [u64; N]) -> Row {
    let mut row = Row::default();
    row[..N].copy_from_slice(&numbers);
    row
}

/// Reports the journeys of a run; `job` names the job of a worker.
pub fn tables(journeys: Option<&Journeys>, job: &dyn Fn(u32) -> u32, tables: &mut Tables) {
    let none = || Box::new(std::iter::empty()) as Box<dyn Iterator<Item = Row>>;
    let requests = journeys.map_or_else(none, |journeys| {
        Box::new(journeys.requests.iter().map(|journey| {
            let asked = &journey.asked;
            let small = [journey.request, journey.parent.unwrap_or(u32::MAX), asked.owner.layer as u32, job(asked.worker), asked.worker];
            let [request, parent, owner, job, worker] = small.map(u64::from);
            [request, parent, owner, job, worker, asked.op as u64, asked.offset, asked.bytes, asked.submitted_ns]
        }))
    });
    tables.table(&REQUESTS, requests);
    let stays = journeys.map_or_else(none, |journeys| {
        Box::new(journeys.stays.iter().map(|stay| {
            row([u64::from(stay.request), stay.layer as u64, u64::from(stay.part), u64::from(stay.phase), stay.from_ns, stay.to_ns])
        }))
    });
    tables.table(&STAYS, stays);
    let marks = journeys.map_or_else(none, |journeys| {
        Box::new(journeys.marks.iter().map(|mark| row([mark.time_ns, mark.kind as u64, mark.object, mark.value])))
    });
    tables.table(&MARKS, marks);
    tables.column("journey", "every", || Column::U32(journeys.map(Journeys::every).into_iter().collect()));
}
