"""A shard map of one's own: the run pauses at each request and asks which shard owns its range."""

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
    case_lacks="has no controllers; take vdisk-sharding",
    scenario_lacks="is missing; a shard map needs a scenario with controllers",
)
INTERLEAVED = "interleaved"
"""The engine's own map: ranges belong to the shards in turn."""
ENGINES_OWN = "fixed"
"""What the scenario calls it."""
WANTED = "a function of range, shards and history"


class ShardHistory(NamedTuple):
    """What the primary can know when it hands a request on. Times are in nanoseconds."""

    now_ns: int
    """Since the start of the run."""
    disk: int
    """The virtual disk, from 0."""
    owner: int | None
    """The shard that owns the range now; None before its first request, or when that shard is gone."""
    in_flight: int
    """Requests of the range that are with its owner. A range with any moves only when they are done."""
    requests: int
    """Requests of the range so far, without this one."""
    bytes: int
    """Bytes of this request in the range."""
    write: bool
    """Whether it writes."""
    queued: tuple[int, ...]
    """Requests with each shard, at work and waiting."""
    busy_ns: tuple[int, ...]
    """Work that each shard has done."""


class ShardMap(Protocol):
    """A map of ranges to the shards that own them."""

    def __call__(self, range_: int, shards: int, history: ShardHistory, /) -> int:
        """Name the shard, from 0 to `shards` - 1, that owns this range from now on."""


def run_shard_map(
    system: Case | Mapping[str, Any],
    policy: ShardMap | str,
    *,
    variant: str | None = None,
    seed: int = 1,
) -> Result:
    """Run a case or a scenario with controllers under a shard map of one's own.

    `policy` is called for each request and each range that it touches, in order of simulated time, and names a shard:

        def owner(range_, shards, history):
            return hash((range_, 7)) % shards

        mine = seeklab.run_shard_map(seeklab.case("vdisk-sharding"), owner, variant="both")

    To name another shard than the present owner moves the range: what of it is under way finishes first, what comes
    meanwhile waits and is not asked about, and the first request with the new owner costs `controller.takeover` more.
    So a map may change its mind at any time without a request overtaking another of its range. With one shard there is
    nothing to ask. A policy that keeps notes is a closure or an object with `__call__`. "interleaved" instead of a
    policy runs the engine's own map on the same system, for a race.

    What the policy raises comes out as it is, with a note that says at which request; an answer that is no shard raises
    `SeeklabError`. Neither touches another run.
    """
    if policy == INTERLEAVED:
        return execute({**OWNER.request(system, ENGINES_OWN, variant), "seed": seed})
    if isinstance(policy, str):
        message = f'"{policy}" is no map of the engine; write "{INTERLEAVED}", or give a function'
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
