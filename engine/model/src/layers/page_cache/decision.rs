//! Decisions of the engine's host for the page cache: the pages to read ahead.

use super::PageCache;
use crate::decision::{Asked, Decision, to_question};
use crate::read_ahead;

/// The decision what to read ahead.
pub(super) const AHEAD: Decision<PageCache> = Decision {
    asked: Asked {
        name: "ahead",
        field: "page_cache.read_ahead.asked",
        run_with: "run_prefetcher",
        is_asked: |scenario| {
            let read_ahead = scenario.page_cache.as_ref().and_then(|cache| cache.read_ahead.as_ref());
            read_ahead.is_some_and(|ahead| ahead.asked)
        },
    },
    waits: |cache| cache.reads.as_ref().is_some_and(|reads| reads.asks()),
    question: |cache, _| to_question(&cache.reads.as_ref()?.question()?),
    answer: |cache, kernel, answer| {
        let runs = read_ahead::runs(answer)?;
        if let Some(id) = cache.reads.as_mut().and_then(|reads| reads.answer(kernel, &runs)) {
            cache.copy_out(kernel, id);
        }
        Ok(())
    },
};
