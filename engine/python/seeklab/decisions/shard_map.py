"""Your own shard map: the run pauses at each request, and asks which shard owns its range."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from seeklab._errors import Problem, SeeklabError
from seeklab._result import Result, execute
from seeklab.decisions import Decision, ask, must_be_callable, refuse, whole

if TYPE_CHECKING:
    from collections.abc import Mapping

    from seeklab._case import Case

OWNER = Decision(
    answers="owners",
    field="controller.map",
    asked="asked",
    layer="controller",
    case_lacks="has no controllers; use vdisk-sharding",
    scenario_lacks="is missing; a shard map needs a scenario with controllers",
)
INTERLEAVED = "interleaved"
"""The engine's own map: consecutive ranges belong to the shards in turn."""
ENGINES_OWN = "fixed"
"""The name of that map in the scenario."""
WANTED = "a function of range, shards and history"


class ShardHistory(NamedTuple):
    """Facts that the primary knows when it passes a request on. Times are in nanoseconds."""

    now_ns: int
    """Time since the start of the run."""
    disk: int
    """Number of the virtual disk, from 0."""
    owner: int | None
    """The current owner of the range; None before its first request, or if that shard no longer exists."""
    in_flight: int
    """Requests of the range at its owner. A range with such requests moves only when they are done."""
    requests: int
    """Requests of the range so far, without this one."""
    bytes: int
    """Bytes of this request within the range."""
    write: bool
    """Whether it writes."""
    queued: tuple[int, ...]
    """Requests at each shard, in progress and waiting."""
    busy_ns: tuple[int, ...]
    """Work done by each shard."""


class ShardMap(Protocol):
    """A map of ranges to the shards that own them."""

    def __call__(self, range_: int, shards: int, history: ShardHistory, /) -> int:
        """Return the shard, from 0 to `shards` - 1, that owns this range from now on."""


def run_shard_map(
    system: Case | Mapping[str, Any],
    policy: ShardMap | str,
    *,
    variant: str | None = None,
    seed: int = 1,
) -> Result:
    """Run a case or a scenario with controllers under your own shard map.

    `policy` is called for each request and each range that it touches, in order of simulated time, and returns a shard:

    >>> def owner(range_, shards, history):
    ...     return hash((range_, 7)) % shards
    >>> mine = seeklab.run_shard_map(seeklab.case("vdisk-sharding"), owner, variant="both")

    A shard other than the current owner moves the range. Requests of the range in progress finish first; requests that
    arrive meanwhile wait, without a question. The first request at the new owner costs `controller.takeover` more. A
    map can therefore change at any time, and no request overtakes another of its range. With one shard there is no
    question. A policy with state is a closure or an object with `__call__`. The text "interleaved" runs the engine's
    own map on the same system, for comparison.

    Exceptions of the policy are passed on, with a note that names the request. They do not affect other runs.

    Raises:
        SeeklabError: If an answer is not a shard.
    """
    if policy == INTERLEAVED:
        return execute({**OWNER.request(system, ENGINES_OWN, variant), "seed": seed})
    if isinstance(policy, str):
        message = f'"{policy}" is not a map of the engine; write "{INTERLEAVED}", or pass a function'
        raise SeeklabError([Problem("policy", message)])
    must_be_callable("policy", policy, WANTED)
    return OWNER.run(system, lambda question: {"shard": _owner(policy, question)}, variant, seed)


def _owner(policy: ShardMap, question: dict[str, Any]) -> int:
    range_ = question.pop("range")
    question["queued"], question["busy_ns"] = tuple(question["queued"]), tuple(question["busy_ns"])
    history = ShardHistory(**question)
    shards = len(history.queued)
    place = f"{history.now_ns / 1e9:.6f} s of the run, range {range_}"
    shard = ask("shard map", place, policy, range_, shards, history)
    number = whole(shard)
    if number is None or not 0 <= number < shards:
        refuse("shard", shard, place, f"a whole number from 0 to {shards - 1}")
    return number
