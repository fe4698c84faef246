//! Answers to the questions of a run.

use seeklab_model::layers::commit::asked::LONGEST_WAIT_NS;
use seeklab_model::layers::zfs::throttle::asked::LONGEST_DELAY_NS;
use seeklab_model::layers::zfs::volume;
use seeklab_model::layers::zfs::zfetch;
use seeklab_model::layers::zfs::zfetch::asked::MOST_RECORDS;
use seeklab_model::stack::{Question, Stack};
use seeklab_spec::commit::Batch;
use seeklab_spec::controller::OwnerMap;
use seeklab_spec::zfs::ThrottleKind;
use seeklab_spec::{Problem, Problems, Scenario};
use serde_json::{Map, Value};

use crate::input::text;

/// Gives a run that asks for a delay `{"delay_ns"}`, for the owner of a range `{"shard"}`, what to read ahead
/// `{"runs": [[record, records], ...]}`, for whom a log is flushed `{"take": [place, ...], "wait_ns"}`.
pub(crate) fn answer(stack: &mut Stack, input: &Map<String, Value>) -> Result<(), Problems> {
    let (name, what, most) = match stack.question() {
        Some(Question::Volume(volume::Question::Ahead(_)) | Question::Pages(_)) => return answer_ahead(stack, input),
        Some(Question::Volume(volume::Question::Delay(_))) => ("delay_ns", "a delay; give a whole number of nanoseconds", LONGEST_DELAY_NS),
        Some(Question::Owner(question)) => ("shard", "a shard; give a whole number", question.queued.len() as u64 - 1),
        Some(Question::Batch(question)) => return answer_batch(stack, question.transactions.len(), input),
        None => return Err(vec![Problem::new("answer", "nothing was asked")]),
    };
    let given = input.get(name).unwrap_or(&Value::Null);
    let answer = given
        .as_u64()
        .filter(|number| *number <= most)
        .ok_or_else(|| vec![Problem::new(name, format!("{given} is not {what} from 0 to {most}"))])?;
    if name == "shard" {
        stack.answer_owner(u32::try_from(answer).unwrap_or(0)); // shards are few
    } else {
        stack.answer(answer);
    }
    Ok(())
}

fn answer_ahead(stack: &mut Stack, input: &Map<String, Value>) -> Result<(), Problems> {
    let given = input.get("runs").unwrap_or(&Value::Null);
    let run = |run: &Value| match run.as_array().map(Vec::as_slice) {
        Some([block, blocks]) => Some(zfetch::Run { block: block.as_u64()?, blocks: blocks.as_u64()? }),
        _ => None,
    };
    let runs: Option<Vec<zfetch::Run>> = given.as_array().and_then(|runs| runs.iter().map(run).collect());
    let few = |runs: &Vec<zfetch::Run>| runs.iter().fold(0u64, |sum, run| sum.saturating_add(run.blocks)) <= MOST_RECORDS;
    let runs = runs.filter(few).ok_or_else(|| {
        let message = format!("{given} is not what to read ahead; give a list of [record, how many], at most {MOST_RECORDS} records");
        vec![Problem::new("runs", message)]
    })?;
    stack.answer_runs(&runs);
    Ok(())
}

fn answer_batch(stack: &mut Stack, waiting: usize, input: &Map<String, Value>) -> Result<(), Problems> {
    let given = input.get("take").unwrap_or(&Value::Null);
    let place = |place: &Value| place.as_u64().and_then(|place| usize::try_from(place).ok()).filter(|place| *place < waiting);
    let places: Option<Vec<usize>> = given.as_array().and_then(|places| places.iter().map(place).collect());
    let once = |places: &Vec<usize>| {
        let mut sorted = places.clone();
        sorted.sort_unstable();
        sorted.windows(2).all(|pair| pair[0] != pair[1])
    };
    let places = places.filter(once).ok_or_else(|| {
        let message = format!("{given} is not for whom to flush; give a list of places from 0 to {}, each at most once", waiting - 1);
        vec![Problem::new("take", message)]
    })?;
    let wait = input.get("wait_ns").unwrap_or(&Value::Null);
    let wait_ns = wait.as_u64().filter(|ns| *ns <= LONGEST_WAIT_NS && (*ns > 0 || !places.is_empty())).ok_or_else(|| {
        let message =
            format!("{wait} is not how long to wait; give nanoseconds up to {LONGEST_WAIT_NS}, and more than 0 where nobody is taken");
        vec![Problem::new("wait_ns", message)]
    })?;
    stack.answer_batch(&places, wait_ns);
    Ok(())
}

/// A scenario that asks its host needs a host that says it will answer.
pub(crate) fn check_answers(scenario: &Scenario, input: &Map<String, Value>) -> Result<(), Problems> {
    let prefetch = scenario.zfs.as_ref().and_then(|zfs| zfs.prefetch.as_ref());
    let ahead = prefetch.is_some_and(|prefetch| prefetch.on && prefetch.asked);
    let pages = scenario.page_cache.as_ref().and_then(|cache| cache.read_ahead.as_ref()).is_some_and(|ahead| ahead.asked);
    let delays = scenario.zfs.as_ref().is_some_and(|zfs| zfs.throttle == Some(ThrottleKind::Asked));
    let owners = scenario.controller.as_ref().is_some_and(|controller| controller.map == OwnerMap::Asked);
    let batches = scenario.commit.as_ref().is_some_and(|commit| commit.logs.iter().any(|log| log.batch == Batch::Asked));
    let answers = text(input, "answers")?;
    let asks = [
        (delays, "delays", "zfs.throttle", "run_throttle"),
        (ahead, "ahead", "zfs.prefetch.asked", "run_prefetcher"),
        (pages, "ahead", "page_cache.read_ahead.asked", "run_prefetcher"),
        (owners, "owners", "controller.map", "run_shard_map"),
        (batches, "batches", "commit.logs", "run_commit_policy"),
    ];
    if let Some((_, _, path, with)) = asks.into_iter().find(|(asked, kind, ..)| *asked && answers != Some(kind)) {
        let message = format!("\"asked\" takes each answer from a program of yours; run it with seeklab.{with}, or choose another");
        return Err(vec![Problem::new(path, message)]);
    }
    Ok(())
}
