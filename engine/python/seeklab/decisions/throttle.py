"""Your own write throttle: the run pauses at each write, and asks how long to delay it."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from seeklab._errors import Problem, SeeklabError
from seeklab._result import Result, execute
from seeklab.decisions import Decision, ask, must_be_callable, refuse

if TYPE_CHECKING:
    from collections.abc import Mapping

    from seeklab._case import Case

DELAY = Decision(
    answers="delays",
    field="zfs.throttle",
    asked="asked",
    layer="zfs",
    case_lacks="has no ZFS layer to throttle; use one of family Z",
    scenario_lacks="is missing; a throttle needs a scenario with a ZFS layer",
)
WANTED = "a function of dirty, limit and history"


class ThrottleHistory(NamedTuple):
    """Facts that a file system knows about itself when a write wants to enter. Times are in nanoseconds."""

    now_ns: int
    """Time since the start of the run."""
    waited_ns: int
    """Wait of this write so far, for example for space or for a block that it had to read."""
    bytes: int
    """Bytes that this write will make dirty."""
    drained_bytes: int
    """Dirty bytes written to the backend since the start."""
    drain_bytes_per_s: int
    """Dirty bytes written to the backend in the last second."""
    sync_bytes_per_s: int
    """Bytes per second of the last transaction group during its sync; 0 before the first."""
    in_flight: int
    """Number of group writes on the devices now."""
    in_flight_bytes: int
    """Bytes of these writes."""
    group_bytes: int
    """Dirty bytes of the open transaction group."""
    group_age_ns: int
    """Time since that group opened."""
    asleep: int
    """Number of delayed writes now."""


class ThrottlePolicy(Protocol):
    """A write throttle: from the amount of dirty data to a delay."""

    def __call__(self, dirty: int, limit: int, history: ThrottleHistory, /) -> float:
        """Return the delay of this write in nanoseconds, from 0 to 60e9; `dirty` < `limit`, both in bytes."""


def run_throttle(
    system: Case | Mapping[str, Any],
    policy: ThrottlePolicy | str,
    *,
    variant: str | None = None,
    seed: int = 1,
) -> Result:
    """Run a case or a scenario with a ZFS layer under your own write throttle.

    `policy` is called once for each write, in order of simulated time, and returns the delay in nanoseconds:

    >>> def delay_ns(dirty, limit, history):
    ...     return 0 if dirty < limit // 2 else 1_000_000
    >>> mine = seeklab.run_throttle(seeklab.case("openzfs-throttle"), delay_ns)

    At the limit the engine stops writers and wakes them one at a time, as ZFS does; then each asks the policy. A policy
    with state is a closure or an object with `__call__`. The name of a built-in throttle ("none", "zfs2008", "zfs2010",
    "diagonal", "openzfs") runs that one on the same system, for comparison.

    Exceptions of the policy are passed on, with a note that names the write. They do not affect other runs.

    Raises:
        SeeklabError: If an answer is not a delay.
    """
    if policy == DELAY.asked:
        raise SeeklabError([Problem("policy", f'is the text "asked"; pass {WANTED}')])
    if isinstance(policy, str):
        return execute({**DELAY.request(system, policy, variant), "seed": seed})
    must_be_callable("policy", policy, WANTED)
    return DELAY.run(system, lambda question: {"delay_ns": _delay(policy, question)}, variant, seed)


def _delay(policy: ThrottlePolicy, question: dict[str, int]) -> int:
    dirty, limit = question.pop("dirty_bytes"), question.pop("limit_bytes")
    history = ThrottleHistory(**question)
    place = f"{history.now_ns / 1e9:.6f} s of the run, {dirty} of {limit} bytes dirty"
    delay: Any = ask("throttle", place, policy, dirty, limit, history)
    is_number = isinstance(delay, (int, float)) or hasattr(delay, "__float__")
    if isinstance(delay, bool) or not is_number or not math.isfinite(delay):
        refuse("delay_ns", delay, place, "nanoseconds, a number of at least 0")
    delay_ns: int = round(delay)
    return delay_ns
