//! How a job ended, beyond its statistics: too slow, steady, at a limit.

/// Why a job failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Failure {
    /// It was slower than its least rate.
    TooSlow,
    /// A request took longer than the longest latency that is allowed.
    TooLate,
}

impl Failure {
    /// The error number that fio reports: EIO, ETIMEDOUT.
    #[must_use]
    pub const fn errno(self) -> u32 {
        match self {
            Self::TooSlow => 5,
            Self::TooLate => 110,
        }
    }
}

/// The result of the search for a steady state.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Steadiness {
    /// Whether the state was reached.
    pub attained: bool,
    /// The criterion as last taken, in percent of the mean.
    pub criterion_percent: f64,
    /// The greatest distance from the mean, in its unit.
    pub max_deviation: f64,
    /// The slope, in its unit a second.
    pub slope: f64,
    /// Requests of each second of the window.
    pub iops: Vec<u64>,
    /// Bytes of each second of the window.
    pub bw: Vec<u64>,
}
