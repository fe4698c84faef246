//! Flushes whose transactions the engine's host chooses: when a log is free and somebody waits, the run stops, asks which of them
//! the next flush is for, and continues with the answer.
//!
//! An answer takes some of those that wait, in the order in which they are to stand in the log; or it takes none and says for how long it
//! would wait. Then it is asked again when that time is over, or when another transaction comes to the log, whichever is first.
//! No simulated time passes between question and answer.
//!
//! [`Question`] is all that the host learns: what a database could know.

use super::{Database, Timer, place};
use crate::decision::{Asked, Decision, to_question};
use crate::kernel::Kernel;
use seeklab_spec::Problem;
use seeklab_spec::commit::Batch;
use serde_json::{Map, Value};

/// Longest that an answer may wait.
const MAX_WAIT_NS: u64 = 60_000_000_000;

/// The decision which transactions share a flush of a log.
pub(super) const BATCH: Decision<Database> = Decision {
    asked: Asked {
        name: "batches",
        field: "commit.logs",
        run_with: "run_commit_policy",
        is_asked: |scenario| scenario.commit.as_ref().is_some_and(|commit| commit.logs.iter().any(|log| log.batch == Batch::Asked)),
    },
    waits: |commit| !commit.asking.is_empty(),
    question: |commit, kernel| to_question(&commit.question(kernel)?),
    answer: |commit, kernel, answer| {
        let waiting = commit.question(kernel).map_or(0, |question| question.transactions.len());
        let (places, wait_ns) = places_and_wait(answer, waiting)?;
        commit.answer(kernel, &places, wait_ns);
        Ok(())
    },
};

/// The places of an answer `{"take": [place, ...], "wait_ns"}` among those that wait, and for how long to wait.
fn places_and_wait(answer: &Map<String, Value>, waiting: usize) -> Result<(Vec<usize>, u64), Problem> {
    let given = answer.get("take").unwrap_or(&Value::Null);
    let place = |place: &Value| place.as_u64().and_then(|place| usize::try_from(place).ok()).filter(|place| *place < waiting);
    let places: Option<Vec<usize>> = given.as_array().and_then(|places| places.iter().map(place).collect());
    let once = |places: &Vec<usize>| {
        let mut sorted = places.clone();
        sorted.sort_unstable();
        sorted.windows(2).all(|pair| pair[0] != pair[1])
    };
    let places = places.filter(once).ok_or_else(|| {
        let last = waiting.saturating_sub(1);
        Problem::new("take", format!("{given} is not a valid batch; answer with a list of distinct queue positions from 0 to {last}"))
    })?;
    let wait = answer.get("wait_ns").unwrap_or(&Value::Null);
    let wait_ns = wait.as_u64().filter(|ns| *ns <= MAX_WAIT_NS && (*ns > 0 || !places.is_empty())).ok_or_else(|| {
        let message = format!("{wait} is not a wait time; give nanoseconds up to {MAX_WAIT_NS}, and more than 0 for an empty batch");
        Problem::new("wait_ns", message)
    })?;
    Ok((places, wait_ns))
}

/// The data of a question when a log is free and transactions wait for it. The lists have an entry for each waiting transaction, in order
/// of arrival.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(test, derive(serde::Deserialize))]
pub struct Question {
    /// The present, in nanoseconds since the start of the run.
    pub now_ns: u64,
    /// Name of the log.
    pub log: String,
    /// Numbers of the transactions, in the order in which they began.
    pub transactions: Vec<u64>,
    /// The stage that each is at, from 0.
    pub stages: Vec<u64>,
    /// Since when each waits here.
    pub since_ns: Vec<u64>,
    /// Flushes of this log that each has waited for: those that were in progress when it came, or began since.
    pub flushes: Vec<u64>,
    /// Transactions of the database that are not here: worked on, or at another log.
    pub elsewhere: u64,
    /// Transactions of the last flush of this log; 0 before the first.
    pub last_batch: u64,
    /// How long that flush took.
    pub last_flush_ns: u64,
}

impl Database {
    /// For which flush transactions are asked for.
    #[must_use]
    pub fn question(&self, kernel: &Kernel) -> Option<Question> {
        let log = &self.logs[*self.asking.front()?];
        let of = |what: &dyn Fn(&super::Transaction, u64) -> u64| {
            let one = |id: &crate::kernel::RequestId| what(&self.transactions[id.0 as usize], kernel.requests[*id].charged_ns);
            log.queue.iter().map(one).collect()
        };
        Some(Question {
            now_ns: kernel.now_ns(),
            log: log.name.clone(),
            transactions: of(&|transaction, _| transaction.number),
            stages: of(&|transaction, _| transaction.next as u64 - 1),
            since_ns: of(&|_, since_ns| since_ns),
            flushes: of(&|transaction, _| log.usage.flushes - transaction.flushes),
            elsewhere: self.inside - log.queue.len() as u64,
            last_batch: log.usage.last_batch,
            last_flush_ns: log.usage.last_flush_ns,
        })
    }

    /// Takes the host's answer: the next flush is for those at these places of the question's lists, or for nobody yet. Places that
    /// are not there, or named twice, are ignored.
    pub fn answer(&mut self, kernel: &mut Kernel, places: &[usize], wait_ns: u64) {
        let Some(number) = self.asking.pop_front() else { return };
        let log = &mut self.logs[number];
        let mut is_left = vec![true; log.queue.len()];
        let mut first_left = 0;
        for at in places {
            if !is_left.get(*at).is_some_and(|left| *left) {
                continue;
            }
            // What stands in the log before an earlier one has overtaken it.
            log.usage.overtaken += u64::from(*at != first_left);
            is_left[*at] = false;
            first_left += is_left[first_left..].iter().take_while(|left| !**left).count();
            log.flushing.push(log.queue[*at]);
        }
        if log.flushing.is_empty() {
            let again = place(number);
            return kernel.wake_at(kernel.now_ns() + wait_ns.max(1), again, Timer::Again(again.index - 1));
        }
        let mut left = is_left.into_iter();
        log.queue.retain(|_| left.next().unwrap_or(true));
        self.flush(kernel, number);
    }
}
