"""The assignment on I/O credits: how long a burst lasts, what a graph shows, and which volume a workload needs.

Each learner has a volume of some size with a full account. Runs of this volume judge the predictions. The learner's
function chooses a size for each demand that the check draws, and the volume of that size must serve the demand.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from seeklab._case import case as load_case
from seeklab._question import Question
from seeklab.exercises._shapes import at_most, exercise, named, returned, source_from
from seeklab.judge import Asked, Code, Commitment, Evidence, Number, Task, draws_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from seeklab._case import Case

CASE = "burst-credits"
PER_GIB, LEAST, BURST = 3, 100, 3000
"""Credits a second for each GiB, the minimum of a volume, and the I/Os a second in a burst."""
MAX_GIB = 1000
SECONDS = 5
"""Seconds of one period of a demand. Demands are scaled-down days, with an account to match."""
PATIENCE_S = 0.5
SLACK_PERCENT = 6.0

QUESTIONS = {
    "burst_s": Question("For how many seconds does the volume burst at 3000 I/Os a second?", unit="s"),
    "first_hour_iops": Question(
        "How many I/Os a second does a graph with one point an hour show for the first hour?", unit="1/s"
    ),
    "after_ms": Question("How long does an I/O take once the credits are used up, in ms?", unit="ms"),
    "refill_h": Question("The application stops when the account is empty. After how many hours is it full?", unit="h"),
}
"""Questions that a learner answers first."""


def base_of(gib: float) -> int:
    """Return the credits a second that a volume of that size earns."""
    return max(LEAST, round(PER_GIB * gib))


def _size_and_depth(learner: object) -> tuple[int, int]:
    source = source_from(bytes(draws_of(learner)))
    return source.randrange(40, 220, 5), source.choice((8, 16, 24, 48, 64))


def system(learner: object) -> Case:
    """Return the learner's own volume."""
    gib, depth = _size_and_depth(learner)
    return load_case(CASE).with_(
        {
            "devices[volume].lun.capacity": f"{gib}GiB",
            "devices[volume].lun.credits.base": base_of(gib),
            "jobs[app].size": "20GiB",
            "jobs[app].iodepth": depth,
        }
    )


def briefing(learner: object) -> str:
    """Describe the learner's volume."""
    gib, depth = _size_and_depth(learner)
    return (
        f"The volume of {learner} has {gib} GiB. It earns {PER_GIB} credits a second for each GiB (at least "
        f"{LEAST}) and holds 5.4 million; it starts with a full account. An I/O costs one credit, and while it "
        f"has credits the volume serves {BURST} a second. The application keeps {depth} reads of 16 KiB in flight "
        "all the time."
    )


def _near(asked: Asked) -> dict[str, float]:
    own = system(asked.draws)
    hour = own.run("migration", seed=asked.seed).metrics
    idle = {"jobs[app].startdelay": "20h", "devices[volume].lun.credits.initial": 0}
    refilled = own.with_(idle).run("migration", seed=asked.seed).metrics["credits_first_full_s"]
    return {
        "burst_s": hour["credits_first_empty_s"],
        "first_hour_iops": hour["app.read_iops"],
        "after_ms": hour["app.read_latency_max_ms"],
        "refill_h": refilled / 3600,
    }


def drawn(seed: int) -> tuple[list[int], int]:
    """Draw a demand, in I/Os a second for each period, and the credits of a full account."""
    source = source_from(seed)
    demand = [source.randrange(100, 700, 10) for _ in range(16)]
    for begin in (source.randrange(1, 5), source.randrange(8, 12)):
        height = source.randrange(1800, 2900, 50)
        demand[begin : begin + source.randrange(2, 5)] = [height] * source.randrange(2, 5)
    return demand, source.randrange(8000, 14_000, 500)


def volume(demand: Sequence[int], capacity: int, gib: float) -> Case:
    """Return the scenario of a volume of that size under a demand."""
    job = load_case(CASE).scenario("migration")["jobs"][0]
    for name in ("fluid", "runtime", "time_based"):
        job.pop(name, None)
    jobs = [
        job
        | {
            "name": f"period{nth}",
            "bs": 4096,
            "size": 4096 * SECONDS * per_s,
            "iodepth": 16_384,
            "rate_iops": per_s,
            "number_ios": SECONDS * per_s,
            "startdelay": nth * SECONDS * 1_000_000_000,
        }
        for nth, per_s in enumerate(demand)
    ]
    account = {"base": base_of(gib), "capacity": capacity}
    return load_case(CASE).with_({"jobs": jobs, "devices[volume].lun.credits": account})


def _throttled_s(asked: Asked, demand: Sequence[int], capacity: int, gib: float) -> float:
    found: float = volume(demand, capacity, gib).run("migration", seed=asked.seed).metrics["credits_throttled_s"]
    return found


def _sized(asked: Asked) -> list[Evidence]:
    """Judge the function on an unseen demand: the chosen volume serves it, and a smaller one does not."""
    demand, capacity = drawn(asked.seed)
    with asked.play("cheapest") as play:
        gib = play(demand, SECONDS, capacity)
    gib, broken = returned(Number(at_least=1, at_most=MAX_GIB), gib, "a demand", 2)
    if broken:
        return broken
    waits = _throttled_s(asked, demand, capacity, float(gib))
    smaller = _throttled_s(asked, demand, capacity, float(gib) * (1 - SLACK_PERCENT / 100))
    mean, peak = (abs(gib * PER_GIB / per_s - 1) < ALIKE for per_s in (sum(demand) / len(demand), max(demand)))
    enough = asked.bound("patience_s")
    return [
        at_most("waits for credits", waits, enough, "s", asked.seed, WHY["mean" if mean else "empty-account"]),
        Evidence(f"waits on a volume {SLACK_PERCENT:g}% smaller", smaller, "> 0", smaller > 0, "s", asked.seed).because(
            WHY["peak" if peak else "too-large"]
        ),
    ]


ALIKE = 0.02
"""Relative difference below which a size counts as a known mistake."""
WHY = named(
    mean="the volume earns the average demand over the whole day, but the peak comes before the rest of it",
    empty_account=(
        "the account is empty during a peak: follow the credits from period to period, and never let them exceed "
        "the capacity"
    ),
    peak="a volume whose base rate is the peak does not use its account; saved credits can pay for part of the peak",
    too_large="a smaller volume would also be enough; try sizes until the account is just large enough",
)
CHEAPEST = Code(("demand", "seconds", "capacity"))
HINTS = (
    "How does an account of credits change in one period if demand is above what it earns, and if it is below?",
    "Start full. In each period add (base - demand) x seconds, and never exceed the capacity.",
    "Try sizes from small to large, base = max(100, 3 x size), until the account never drops below 0.",
)

ASSIGNMENT, check, hint = exercise(
    "burst-budget",
    Commitment("check-prediction", 3, "prediction", QUESTIONS, _near),
    Task("check-cheapest", 2, {"cheapest": CHEAPEST}, _sized, HINTS, seeds=2),
    Task("check-cheapest-elsewhere", 5, {"cheapest": CHEAPEST}, _sized, HINTS, seeds=3),
    bounds={"patience_s": PATIENCE_S},
)
