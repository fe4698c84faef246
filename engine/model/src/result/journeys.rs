//! The tables of journeys (see [`crate::kernel::journeys`]): requests, their stays, and marks.

use super::columns::Take::{Index, Whole};
use super::columns::{Column, Table, Tables};
use crate::kernel::journeys::{Journey, Journeys, Marked, Stay};

/// A row for each request whose journey is kept, with the job of its worker. A request that had not ended has 0 as its end.
const REQUESTS: Table<(Journey, u32)> = Table::new(
    "journeys",
    &[
        ("request", Index(|row| row.0.request)),
        ("parent", Index(|row| row.0.parent.unwrap_or(u32::MAX))),
        ("owner", Index(|row| row.0.owner.layer as u32)),
        ("job", Index(|row| row.1)),
        ("worker", Index(|row| row.0.asked.worker)),
        ("op", Index(|row| row.0.asked.op as u32)),
        ("offset", Whole(|row| row.0.asked.offset)),
        ("bytes", Whole(|row| row.0.asked.bytes)),
        ("begin_ns", Whole(|row| row.0.asked.submitted_ns)),
        ("end_ns", Whole(|row| row.0.end_ns.unwrap_or(0))),
    ],
);

/// A row for each stay.
const STAYS: Table<Stay> = Table::new(
    "stays",
    &[
        ("request", Index(|row| row.request)),
        ("layer", Index(|row| row.layer as u32)),
        ("part", Index(|row| row.part)),
        ("phase", Index(|row| u32::from(row.phase))),
        ("from_ns", Whole(|row| row.from_ns)),
        ("to_ns", Whole(|row| row.to_ns)),
    ],
);

/// A row for each mark.
const MARKS: Table<Marked> = Table::new(
    "marks",
    &[
        ("time_ns", Whole(|row| row.time_ns)),
        ("kind", Index(|row| row.kind as u32)),
        ("object", Whole(|row| row.object)),
        ("value", Whole(|row| row.value)),
    ],
);

/// Reports the journeys of a run; `job` names the job of a worker.
pub fn tables(journeys: Option<&Journeys>, job: impl Fn(u32) -> u32, tables: &mut Tables) {
    let requests = journeys.into_iter().flat_map(|journeys| &journeys.requests);
    tables.table(&REQUESTS, requests.map(|journey| (*journey, job(journey.asked.worker))));
    tables.table(&STAYS, journeys.into_iter().flat_map(|journeys| journeys.stays.iter().copied()));
    tables.table(&MARKS, journeys.into_iter().flat_map(|journeys| journeys.marks.iter().copied()));
    tables.column("journey", "every", || Column::U32(journeys.map(Journeys::every).into_iter().collect()));
}
