//! Flows: workers that issue requests in proportion to their weights.
//!
//! As fio 3.33 has it: a worker whose requests for each unit of its weight are more than those of the whole flow for each unit of all
//! weights waits. A worker that ends takes its requests and its weight out of the flow.

/// A flow.
#[derive(Clone, Debug, Default)]
pub struct Flow {
    /// Its number.
    pub id: u32,
    weight: u64,
    issued: u64,
    /// Workers that wait for others to issue.
    pub waiting: Vec<u32>,
}

impl Flow {
    /// A flow without workers.
    pub fn new(id: u32) -> Self {
        Self { id, ..Self::default() }
    }

    /// A worker of this weight joins.
    pub fn join(&mut self, weight: u32) {
        self.weight += u64::from(weight);
    }

    /// A worker leaves.
    pub fn leave(&mut self, weight: u32, issued: u64) {
        self.weight -= u64::from(weight);
        self.issued -= issued;
    }

    /// Whether a worker that has issued so many is ahead.
    pub fn is_ahead(&self, weight: u32, issued: u64) -> bool {
        u128::from(issued) * u128::from(self.weight) > u128::from(self.issued) * u128::from(weight)
    }

    /// One of its workers issues a request.
    pub fn issue(&mut self) {
        self.issued += 1;
    }
}
