"""Your own commit policy: the run pauses when a log is free and transactions wait, and asks which to flush."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from seeklab._errors import Problem, SeeklabError
from seeklab._result import Result, execute
from seeklab.decisions import Decision, ask, must_be_callable, refuse, whole

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from seeklab._case import Case

ENGINES_OWN = ("all", "one")
"""The engine's own policies, by their names in the scenario."""
WANTED = "a function of a log's queue"
MAX_WAIT_MS = 60_000.0
NS_PER_MS = 1e6


class LogQueue(NamedTuple):
    """A free log and its waiting transactions: the tuples have one entry for each, in order of arrival."""

    log: str
    """Name of the log."""
    now_ms: float
    """Time since the start of the run, in ms."""
    waiting: int
    """Number of waiting transactions."""
    transactions: tuple[int, ...]
    """Their numbers, in order of their start."""
    stages: tuple[int, ...]
    """The stage of each transaction, from 0."""
    waited_ms: tuple[float, ...]
    """Wait of each so far, in ms."""
    flushes: tuple[int, ...]
    """Number of this log's flushes that each has waited for: the one in progress at its arrival, and later ones."""
    elsewhere: int
    """Number of the database's transactions elsewhere: in progress, or at another log."""
    last_batch: int
    """Number of transactions in the last flush of this log; 0 before the first."""
    last_flush_ms: float
    """Duration of that flush, in ms."""


class CommitPolicy(Protocol):
    """A rule that selects the transactions that share the next flush of a log."""

    def __call__(self, queue: LogQueue, /) -> Iterable[int] | float:
        """Return the places of the transactions to flush, in their order in the log, or milliseconds to wait."""


def run_commit_policy(
    system: Case | Mapping[str, Any],
    policy: CommitPolicy | str,
    *,
    log: str = "replication",
    variant: str | None = None,
    seed: int = 1,
) -> Result:
    """Run a case or a scenario with a database under your own commit policy for the log of that name.

    `policy` is called whenever the log is free and transactions wait for it, in order of simulated time:

    >>> def first_two(queue):
    ...     return range(min(2, queue.waiting))
    >>> mine = seeklab.run_commit_policy(seeklab.case("lost-group-commit"), first_two)

    It returns the places in the queue, from 0, of the transactions for the next flush, in the order for the log. A
    number instead of the list, such as 2.5, is a time to wait, in milliseconds; the policy is asked again after this
    time, or when another transaction arrives. A policy with state is a closure or an object with `__call__`. The text
    "all" or "one" runs the engine's own policy on the same system, for comparison.

    Exceptions of the policy are passed on, with a note that names the time. They do not affect other runs.

    Raises:
        SeeklabError: If an answer is not a list of places or a time.
    """
    if isinstance(policy, str):
        if policy not in ENGINES_OWN:
            message = f'"{policy}" is not a policy of the engine; write "all" or "one", or pass a function'
            raise SeeklabError([Problem("policy", message)])
        return execute({**_decision(log).request(system, policy, variant), "seed": seed})
    must_be_callable("policy", policy, WANTED)
    return _decision(log).run(system, lambda question: _answer(policy, question), variant, seed)


def _decision(log: str) -> Decision:
    return Decision(
        answers="batches",
        field=f"commit.logs[{log}].batch",
        asked="asked",
        layer="commit",
        case_lacks="has no database that commits; use lost-group-commit",
        scenario_lacks="is missing; a commit policy needs a scenario with a database",
    )


def _queue(question: dict[str, Any]) -> LogQueue:
    now_ns = question["now_ns"]
    return LogQueue(
        log=question["log"],
        now_ms=now_ns / NS_PER_MS,
        waiting=len(question["transactions"]),
        transactions=tuple(question["transactions"]),
        stages=tuple(question["stages"]),
        waited_ms=tuple((now_ns - since_ns) / NS_PER_MS for since_ns in question["since_ns"]),
        flushes=tuple(question["flushes"]),
        elsewhere=question["elsewhere"],
        last_batch=question["last_batch"],
        last_flush_ms=question["last_flush_ns"] / NS_PER_MS,
    )


def _answer(policy: CommitPolicy, question: dict[str, Any]) -> dict[str, object]:
    queue = _queue(question)
    at = f"{queue.now_ms / 1e3:.6f} s of the run, {queue.waiting} waiting"
    given: Any = ask("commit policy", at, policy, queue)
    accepted = (
        f"places from 0 to {queue.waiting - 1}, each at most once, or milliseconds to wait, more than 0 and at most"
        f" {MAX_WAIT_MS:g}"
    )
    if isinstance(given, int | float) and not isinstance(given, bool):
        if not 0 < given <= MAX_WAIT_MS:
            refuse("wait", given, at, accepted)
        return {"take": [], "wait_ns": max(1, round(given * NS_PER_MS))}
    try:
        places = [whole(place) for place in given]
    except TypeError:
        places = []
    if not places or len(set(places)) < len(places) or not set(places) <= set(range(queue.waiting)):
        refuse("take", given, at, accepted)
    return {"take": places, "wait_ns": 0}
