"""A commit policy of one's own: the run pauses when a log is free and somebody waits, and asks for whom to flush it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from seeklab._errors import Problem, SeeklabError
from seeklab._result import Result, execute
from seeklab.decisions import Decision, ask, must_be_callable, refuse, whole

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from seeklab._case import Case

ENGINES_OWN = ("all", "one")
"""The engine's own policies, as the scenario calls them."""
WANTED = "a function of a log's queue"
MAX_WAIT_MS = 60_000.0
NS_PER_MS = 1e6


class LogQueue(NamedTuple):
    """A log that is free, and who waits for it: the tuples have an entry for each, in order of arrival."""

    log: str
    """Name of the log."""
    now_ms: float
    """Since the start of the run."""
    waiting: int
    """How many wait."""
    transactions: tuple[int, ...]
    """Their numbers, in the order in which they began."""
    stages: tuple[int, ...]
    """The stage that each is at, from 0."""
    waited_ms: tuple[float, ...]
    """How long each has waited here."""
    flushes: tuple[int, ...]
    """Flushes of this log that each has waited for: the one under way when it came, and those that began since."""
    elsewhere: int
    """Transactions of the database that are not here: worked on, or at another log."""
    last_batch: int
    """Transactions of the last flush of this log; 0 before the first."""
    last_flush_ms: float
    """How long it took."""


class CommitPolicy(Protocol):
    """A choice of those that share the next flush of a log."""

    def __call__(self, queue: LogQueue, /) -> Iterable[int] | float:
        """Give the places of those that the flush is for, in their order in the log; or milliseconds to wait."""


def run_commit_policy(
    system: Case | Mapping[str, Any],
    policy: CommitPolicy | str,
    *,
    log: str = "replication",
    variant: str | None = None,
    seed: int = 1,
) -> Result:
    """Run a case or a scenario with a database under a commit policy of one's own for the log of that name.

    `policy` is called whenever the log is free and somebody waits for it, in order of simulated time:

        def first_two(queue):
            return [place for place in range(queue.waiting)][:2]

        mine = seeklab.run_commit_policy(seeklab.case("lost-group-commit"), first_two)

    It gives the places in the queue, from 0, of those that the next flush is for, in the order in which they are to
    stand in the log. A number in place of the list, such as 2.5, is how many milliseconds it would rather wait; it is
    asked again when they are over, or when another transaction comes to the log. A policy that keeps notes is a closure
    or an object with `__call__`. "all" or "one" instead of a policy runs the engine's own on the same system, for a
    race.

    What the policy raises comes out as it is, with a note that says when; an answer that is neither raises
    `SeeklabError`. Neither touches another run.
    """
    if isinstance(policy, str):
        if policy not in ENGINES_OWN:
            message = f'"{policy}" is no policy of the engine; write "all" or "one", or give a function'
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
        case_lacks="has no database that commits; take lost-group-commit",
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
