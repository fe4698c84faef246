"""Runs that pause and ask their host: the loop of questions and answers that every policy of a learner's own shares."""

from __future__ import annotations

from time import perf_counter
from typing import TYPE_CHECKING, Any

from seeklab._host import engine
from seeklab._result import Result, raise_limit

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    Answer = Callable[[dict[str, Any]], Mapping[str, object]]
    """From the engine's question to what it is told."""

EVENTS_A_STEP = 1 << 16
QUESTION = 2.0
"""What a step gives when a question waits."""


def run_asking(request: Mapping[str, object], answers: str, answer: Answer) -> Result:
    """Run to the end, and answer each question on the way. `answers` is the engine's name for their kind."""
    start = perf_counter()
    run = engine().open_run({**request, "answers": answers})
    try:
        progress = 0.0
        while progress != 1:
            progress = run.step(EVENTS_A_STEP)
            question: dict[str, Any] = run.question() if progress == QUESTION else {}
            while progress == QUESTION:
                step = run.answer({**answer(question), "events": EVENTS_A_STEP})
                progress, question = step["progress"], step["question"]
            if progress < 0:
                raise_limit(run)
        return Result(run, perf_counter() - start)
    except BaseException:
        run.close()
        raise
