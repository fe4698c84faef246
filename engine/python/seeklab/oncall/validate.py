"""Checks of an author's case before it is sealed: whether the shift can be played, and whether a player can fail it.

The runs are the shift's own, with neutral names: the seeds of the ticket and of the judging, and two more.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from seeklab._errors import Problem, SeeklabError
from seeklab._result import run
from seeklab.oncall.incidents import complaint_metric
from seeklab.oncall.settings import changed
from seeklab.oncall.shift import JUDGED_ON_SEEDS, TICKET_SEED, seed_of
from seeklab.oncall.tools import TOOLS

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from seeklab._result import Result
    from seeklab.oncall.learner_case import LearnerCase

NUMBERS = (TICKET_SEED, *JUDGED_ON_SEEDS, 21, 22)
"""The numbers of the shift's runs that are checked."""
MIN_LOSS = 1.25
"""The smallest loss that users complain about; the same limit applies to the library's shifts."""
NEARLY_ALL = 0.8
"""The share of the loss that a fix must restore, in logarithms."""
STEM = 5
"""Two words count as the same if this many first letters agree: buffer and buffers, compress and compression."""
EVERYDAY = frozenset(
    re.findall(
        "[a-z]+",
        "about after again application because before below between comes could device devices disk disks does every"
        " first gives have itself large longer many month more most much nobody nothing number other others reads read"
        " requests request same server servers should since slow slower small some still storage system systems than"
        " that their them then there these they this those through time times under until users user very wait waits"
        " what when where which while whole with would write writes",
    )
)
"""Words that do not point to a cause."""


@dataclass(frozen=True)
class Finding:
    """The result of one check."""

    field: str
    """The field of `[shift]` that was checked."""
    ok: bool
    what: str


def _ok(field: str, what: str) -> Finding:
    return Finding(field, ok=True, what=what)


def _no(field: str, what: str) -> Finding:
    return Finding(field, ok=False, what=what)


def findings(own: LearnerCase) -> Iterator[Finding]:
    """Check a case; yield one finding after the other."""
    yield _ticket(own)
    wanted = [_metric(own, own.healthy, number) for number in NUMBERS]
    found = [_metric(own, own.system.scenario, number) for number in NUMBERS]
    mended = [_metric(own, changed(own.system.scenario, own.system.remedy), number) for number in NUMBERS]
    yield _loss(own, wanted, found)
    yield _restored(own, wanted, found, mended)
    yield _command(own)


def _metric(own: LearnerCase, scenario: Mapping[str, Any], number: int) -> float:
    name = complaint_metric(own.system.incident)
    metrics = run(dict(scenario), seed=seed_of(own.seed, number)).metrics
    if name in metrics:
        return float(metrics[name])
    job = next(iter(own.names.jobs))
    prefix = name.partition(".")[0] + "."
    there = ", ".join(sorted(one.removeprefix(prefix) for one in metrics if one.startswith(prefix)))
    number_of_the_job = own.system.incident.metric.removeprefix(f"{job}.")
    message = f"{job} has no number {number_of_the_job} in this system; it has: {there}"
    raise SeeklabError([Problem("shift.metric", message)])


def _better(own: LearnerCase, one: float, other: float) -> float:
    """Return how many times better `one` is than `other`."""
    if one <= 0 or other <= 0:
        return 1.0 if one == other else math.inf if (one > other) == own.system.incident.more_is_better else 0.0
    return one / other if own.system.incident.more_is_better else other / one


def _loss(own: LearnerCase, wanted: list[float], found: list[float]) -> Finding:
    least = min(_better(own, one, other) for one, other in zip(wanted, found, strict=True))
    values = f"{own.system.incident.metric}: {wanted[0]:.4g} in the healthy system, {found[0]:.4g} in the failing one"
    if least >= MIN_LOSS:
        return _ok("metric", f"{values}; at least {least:.2f} times worse on {len(NUMBERS)} seeds")
    message = f"{values}; on one of {len(NUMBERS)} seeds only {least:.2f} times worse, the minimum is {MIN_LOSS}"
    return _no("metric", message)


def _restored(own: LearnerCase, wanted: list[float], found: list[float], mended: list[float]) -> Finding:
    shares = []
    for was, now, then in zip(wanted, found, mended, strict=True):
        lost, back = _better(own, was, now), _better(own, then, now)
        finite = 0 < back < math.inf and 1 < lost < math.inf
        shares.append(math.log(back) / math.log(lost) if finite else float(back >= lost > 1))
    least = min(shares)
    values = f"the fix brings {own.system.incident.metric} to {mended[0]:.4g}"
    if least >= NEARLY_ALL:
        return _ok("fix", f"{values} and restores at least {100 * least:.0f}% of the loss on {len(NUMBERS)} seeds")
    enough = f"at least {100 * NEARLY_ALL:.0f}% is needed"
    return _no("fix", f"{values}; on one of {len(NUMBERS)} seeds it restores {100 * least:.0f}% of the loss, {enough}")


def _command(own: LearnerCase) -> Finding:
    """Run the command on both systems: if the output is the same, it shows nothing about the cause."""
    tool, seed = TOOLS[own.system.incident.command], seed_of(own.seed, TICKET_SEED)
    results: list[Result] = []
    printed = []
    for system in (own.healthy, own.system.scenario):
        scenario = {**system, "record": {**system["record"], "log": tool.log}}
        results.append(run(scenario, seed=seed))
        printed.append(tool.prints(results[-1], scenario))
    name = own.system.incident.command
    if printed[0] == printed[1]:
        return _no("command", f"{name} prints the same for both systems, so it does not show the cause")
    events = max(result.events for result in results)
    return _ok("command", f"{name} prints different output for the healthy system; one run takes {events:,} events")


def _ticket(own: LearnerCase) -> Finding:
    """Compare the ticket's words with those in the cause, in the fix, and in the command that shows the cause."""
    if own.ticket is None:
        return _ok("ticket", "the ticket has the usual text, which names no cause")
    parts = {
        "the cause": own.system.incident.cause,
        "the fix": " ".join(own.system.incident.fix),
        "the command": f"{own.system.incident.command} {own.system.incident.tells}",
    }
    said = {_stem(word): word for word in _words(own.ticket)}
    for whose, text in parts.items():
        for word in _words(text):
            if _stem(word) in said:
                message = (
                    f'the ticket says "{said[_stem(word)]}", and {whose} uses the same word: describe what users notice'
                )
                return _no("ticket", message)
    return _ok("ticket", "the ticket shares no word with the cause, the fix, or the command that shows the cause")


def _words(text: str) -> list[str]:
    return [word for word in re.findall(r"[a-z]{4,}", text.lower()) if word not in EVERYDAY]


def _stem(word: str) -> str:
    return word[:STEM]
