"""The assignment on shaken disks: find the disks of a shelf that lose revolutions, by service times alone.

Each learner has a shelf of disks that stream. Some are shaken; three others only look faulty: one writes at its inner
edge, one has more work, and one is being rebuilt. A function names the shaken ones. The named disks are mounted firmly,
and the shelf runs again. The bounds cover the remaining lost revolutions and the sound disks that were named.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from seeklab._case import case as load_case
from seeklab._question import Question
from seeklab.exercises._shapes import at_most, exercise, named, returned, source_from
from seeklab.judge import Asked, Code, Commitment, Evidence, Items, Number, Task, draws_of

if TYPE_CHECKING:
    import random
    from collections.abc import Mapping, Sequence

    from seeklab._result import Result

CASE = "shouting"
DISKS = 8
PIECES = 3000
TB = 1_000_000_000_000
RETRIES_LEFT_PERCENT = 0.5
"""Share of all attempts, in %, that may still fail after the named disks are mounted firmly."""

QUESTIONS = {
    "longer_ms": Question(
        "A disk of your shelf streams pieces of 128 KiB, and one attempt in five finds its head off the track. By "
        "how many ms is its mean service time longer than an unshaken disk's?",
        unit="ms",
    ),
}
"""Questions that a learner answers first."""


@dataclass(frozen=True)
class Shelf:
    """A shelf: the speed of its disks, the shaken ones and their strength, and those that only look shaken."""

    rpm: int
    shaken: Mapping[int, float]
    inner: int
    busy: int
    rebuilt: int

    def __str__(self) -> str:
        """Describe it in one line, without the truth."""
        return f"{DISKS} disks of {self.rpm:,} rpm"

    def run(self, firm: Sequence[int] = (), seed: int = 1) -> Result:
        """Let all disks stream, with some of them mounted firmly."""
        left = {disk: share for disk, share in self.shaken.items() if disk not in firm}
        return load_case(CASE).with_(self._changes(left)).run("shout", seed=seed)

    def _changes(self, left: Mapping[int, float]) -> dict[str, Any]:
        drive = _drive(self.rpm)
        groups = [
            {"name": f"disk{disk}-", "hdd": {**drive, "shake": {"off_track": left.get(disk, 0.0)}}}
            for disk in range(DISKS)
        ]
        jobs = [self._job(disk) for disk in range(DISKS)]
        jobs.append(
            {
                "name": "rebuild",
                "filename": "shelf",
                "rw": "read",
                "bs": "64KiB",
                "iodepth": 2,
                "offset": self.rebuilt * TB + TB // 2,
                "size": "20GB",
                "number_ios": PIECES,
            }
        )
        return {"devices": groups, "layout": {"kind": "concat"}, "jobs": jobs}

    def _job(self, disk: int) -> dict[str, Any]:
        place = disk * TB + (TB - 30_000_000_000 if disk == self.inner else 0)
        pieces = PIECES * (4 if disk == self.busy else 1)
        return {
            "name": f"stream{disk}",
            "filename": "shelf",
            "rw": "write",
            "bs": "128KiB",
            "iodepth": 4,
            "offset": place,
            "size": "20GB",
            "number_ios": pieces,
        }


def _drive(rpm: int) -> dict[str, Any]:
    return {
        "rpm": rpm,
        "capacity": TB,
        "heads": 8,
        "zones": 16,
        "outer_rate": 96_000_000,
        "inner_rate": 48_000_000,
        "seek_single": "0.8ms",
        "seek_average": "8.5ms",
        "seek_full": "17ms",
        "head_switch": "0.8ms",
        "write_settle": "0.2ms",
        "overhead": "300us",
        "interface_rate": 270_000_000,
        "buffer": 32_000_000,
        "write_cache": False,
        "queue_policy": "fcfs",
    }


def _drawn(source: random.Random) -> Shelf:
    places = source.sample(range(DISKS), 5)
    shares = [0.01 * source.randrange(8, 13), 0.01 * source.randrange(20, 31)]
    return Shelf(source.choice((5400, 7200, 10_000)), dict(zip(places[:2], shares, strict=True)), *places[2:])


def shelf(learner: object) -> Shelf:
    """Return the learner's own shelf."""
    return _drawn(source_from(bytes(draws_of(learner))))


def seen(on: Shelf, seed: int = 1) -> list[list[list[float]]]:
    """Return the observer's data for each disk: pairs of a service time in ms and a number of requests."""
    table = on.run(seed=seed).service_times
    disks: list[list[list[float]]] = [[] for _ in range(DISKS)]
    for disk, service, requests in zip(table["device"], table["service_ns"], table["requests"], strict=True):
        disks[int(disk)].append([float(service) / 1e6, int(requests)])
    return disks


def briefing(learner: object) -> str:
    """Describe the learner's shelf."""
    own = shelf(learner)
    return (
        f"The shelf of {learner}: {DISKS} disks of {own.rpm:,} revolutions a minute, numbered from 0 to "
        f"{DISKS - 1}. All stream in pieces of 128 KiB. Some are shaken; on one disk a rebuild reads during the "
        "stream, one writes at its inner edge, and one has four times as much to write."
    )


def _near(asked: Asked) -> dict[str, float]:
    own = shelf(asked.draws)
    changes = {"devices[disk].hdd.rpm": own.rpm}
    found = [
        load_case(CASE).with_(changes).run(variant, seed=asked.seed).metrics["shaken_service_mean_ms"]
        for variant in ("screw", "firm")
    ]
    return {"longer_ms": found[0] - found[1]}


WHY = named(
    sound="nothing is wrong with these disks: all their requests take about the same time",
    left_shaken="a shaken disk was not named; it need not be the slowest: look for a second cluster exactly one "
    "revolution later, even if that has only one request in ten",
    inner_edge="this disk is slower for all requests because it writes at its inner edge, where tracks are shorter; "
    "a single cluster of service times means no lost revolution",
    more_work="this disk only has more work; look at the share of its requests that are late, not at their number or "
    "total time",
    rebuild="this disk serves two streams and seeks in between, so its times are spread out; a lost revolution "
    "leaves a gap and then a cluster",
)


def _measure(asked: Asked, on: Shelf) -> list[Evidence]:
    with asked.play("shaken") as play:
        found: Any = play(seen(on, asked.seed), on.rpm)
    found, broken = returned(Items(Number(whole=True, at_least=0, at_most=DISKS - 1)), found, on, 5)
    if broken:
        return broken
    retries = on.run(found, asked.seed).metrics["off_track_retries"]
    left = 100 * retries / (PIECES * (DISKS + 4))
    most, seed = asked.bound("left_percent"), asked.seed
    return [
        *(
            at_most(f"{on}: the disk {what} taken out", float(disk in found), 0, "disks", seed, why)
            for what, disk, why in (
                ("that writes at its inner edge", on.inner, WHY["inner-edge"]),
                ("that has more to do", on.busy, WHY["more-work"]),
                ("that is being rebuilt", on.rebuilt, WHY["rebuild"]),
            )
        ),
        at_most(
            f"{on}: other sound disks taken out",
            float(len(set(found) - set(on.shaken) - {on.inner, on.busy, on.rebuilt})),
            0,
            "disks",
            seed,
            WHY["sound"],
        ),
        at_most(
            f"{on}: attempts that still fail once {sorted(set(found))} are firm",
            left,
            most,
            "%",
            seed,
            WHY["left-shaken"],
        ),
    ]


NAME = Code(("disks", "rpm"))
HINTS = (
    "What does a failed attempt add to a request's service time, and how precisely is that known?",
    "Find the most frequent service time of a disk. Then look one revolution later, and half a revolution later.",
    (
        "Look 60,000 / rpm ms after a disk's peak. The disk is shaken if at least one request in twenty is within "
        "0.6 ms of that time, and far fewer are half a revolution after the peak."
    ),
)

ASSIGNMENT, check, hint = exercise(
    "shaken-disks",
    Commitment("check-prediction", 2, "prediction", QUESTIONS, _near),
    Task("check-shaken", 2, {"shaken": NAME}, lambda asked: _measure(asked, shelf(asked.draws)), HINTS),
    Task(
        "check-shaken-elsewhere",
        5,
        {"shaken": NAME},
        lambda asked: _measure(asked, _drawn(source_from(asked.seed))),
        HINTS,
    ),
    bounds={"left_percent": RETRIES_LEFT_PERCENT},
)
