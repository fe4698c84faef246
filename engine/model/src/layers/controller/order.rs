//! Whether requests for the same range keep their order on the way through the controllers.

use crate::kernel::{RequestId, Requests};
use crate::plan::Plan;

/// Remembers the order of arrival, and the youngest request of each range that has gone down.
#[derive(Debug)]
pub(super) struct Order {
    range: u64,
    arrivals: u32,
    /// Order of arrival of each request, by its place in the slab.
    arrival: Vec<u32>,
    /// The youngest of each range.
    youngest: Vec<u32>,
    /// Parts that went down after a younger request.
    pub overtaken: u64,
}

impl Order {
    /// Over all ranges of a plan.
    pub fn new(range: u64, plan: &Plan) -> Self {
        let end = plan.workers.iter().map(|worker| worker.region.end).max().unwrap_or(0);
        let ranges = usize::try_from(end.div_ceil(range)).unwrap_or(0).min(MAX_RANGES);
        Self { range, arrivals: 0, arrival: Vec::new(), youngest: vec![0; ranges.max(1)], overtaken: 0 }
    }

    /// A request is taken in.
    pub fn enters(&mut self, id: RequestId) {
        self.arrivals += 1;
        let place = id.0 as usize;
        if self.arrival.len() <= place {
            self.arrival.resize(place + 1, 0);
        }
        self.arrival[place] = self.arrivals;
    }

    /// A request, or a part of one, goes down.
    pub fn leaves(&mut self, requests: &Requests, id: RequestId) {
        let part = requests[id];
        // A part that this layer has split off came when its whole came.
        let came = part.parent.filter(|_| part.owner == super::HERE).unwrap_or(id);
        let arrival = self.arrival[came.0 as usize];
        let mut late = false;
        for range in part.offset / self.range..=(part.offset + part.bytes.max(1) - 1) / self.range {
            let Some(youngest) = usize::try_from(range).ok().and_then(|range| self.youngest.get_mut(range)) else { break };
            late |= arrival < *youngest;
            *youngest = arrival.max(*youngest);
        }
        self.overtaken += u64::from(late);
    }
}

/// Ranges that are watched; those beyond are not.
const MAX_RANGES: usize = 1 << 20;
