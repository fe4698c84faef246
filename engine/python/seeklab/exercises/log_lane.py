"""The assignment on the intent log: settings that serve small synchronous writes despite a very large one.

Two loads share one pool: many threads that each wait for their write, and a database next to a client that commits
hundreds of megabytes at once. As found, the log handles one commit at a time and stores all its data.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from seeklab._case import case as load_case
from seeklab._question import Question
from seeklab.exercises._shapes import Shape, System, at_least, at_most, named
from seeklab.judge import Evidence, Settings

if TYPE_CHECKING:
    import random
    from collections.abc import Mapping

BATCH, LIMIT, DEVICES = "zfs.log.batch", "zfs.log.slog_limit", "zfs.log.devices.count"
FOUND: Mapping[str, Any] = {BATCH: False, LIMIT: 0, DEVICES: 1}
RATE_TIMES = 5
P99_TIMES = 0.02

QUESTIONS = {
    "threads_per_s": Question(
        "As found: how many synchronous writes a second do all threads together get?", unit="1/s"
    ),
    "p99_ms": Question("As found: what is the 99th percentile of the database's writes, in ms?", unit="ms"),
}


def _drawn(source: random.Random) -> System:
    known = {
        "threads": source.choice((48, 64, 96, 128)),
        "flush_us": source.randrange(800, 1600, 50),
        "commit_mib": source.randrange(250, 450, 10),
        "disks": source.choice((12, 16, 20)),
    }
    told = (
        f"{known['threads']} threads write 8 KiB each and wait, on a log device that needs {known['flush_us']} us to "
        "flush. On another file system a database makes 1000 small synchronous writes a second, while another client "
        f"commits {known['commit_mib']} MiB at once. The pool has {known['disks']} disks in mirrors"
    )
    return System(known, told)


def threads(system: System, settings: Mapping[str, Any], seed: int = 1) -> float:
    """Run the threads; return the synchronous writes a second."""
    changes = {
        "jobs[threads].numjobs": system["threads"],
        "jobs[threads].runtime": "1s",
        "zfs.log.flush": f"{system['flush_us']}us",
        "record.log": False,
        **FOUND,
        **settings,
    }
    return float(load_case("sync-serialised").with_(changes).run("serialised", seed=seed).metrics["threads.write_iops"])


def database(system: System, settings: Mapping[str, Any], seed: int = 1) -> float:
    """Run the database during the large commit; return the slowest of a hundred of its writes, in ms."""
    changes = {
        "jobs[database].runtime": "5s",
        "jobs[fsflush].number_ios": system["commit_mib"],
        "jobs[fsflush].fsync": system["commit_mib"],
        "devices[disk].count": system["disks"],
        "record.log": False,
        **FOUND,
        **settings,
    }
    found = load_case("slog-divert").with_(changes).run("diverted", seed=seed).metrics
    return float(found["database.write_latency_p99_ms"])


def _near(system: System, seed: int) -> dict[str, float]:
    return {"threads_per_s": threads(system, {}, seed), "p99_ms": database(system, {}, seed)}


WHY = named(
    more_devices="more log devices do not help: a log with one write at a time uses only one, and a commit of "
    "hundreds of megabytes still delays small ones",
    one_by_one="the threads gain nothing: each commit carries one write and a flush while the others queue, although "
    "the next commit could carry all of them",
    bulk="the database still waits behind the bulk: a log device answers fast but writes large commits slowly; "
    "beyond some size, their blocks belong in the pool",
)


def _judge(system: System, settings: Mapping[str, Any], seed: int) -> list[Evidence]:
    count = settings.get(DEVICES, 1)
    least = RATE_TIMES * threads(system, {}, seed)
    most = P99_TIMES * database(system, {}, seed)
    return [
        Evidence(f"{DEVICES}", float(count), "<= 1", count <= 1, "", seed).because(WHY["more-devices"])
        if isinstance(count, (int, float))
        else Evidence(DEVICES, str(count), "a number", met=False).because(WHY["more-devices"]),
        at_least(
            f"synchronous writes of {system['threads']} threads",
            threads(system, settings, seed),
            least,
            "1/s",
            seed,
            WHY["one-by-one"],
        ),
        at_most(
            "99th percentile of the database's writes", database(system, settings, seed), most, "ms", seed, WHY["bulk"]
        ),
    ]


SHAPE = Shape(
    id="log-lane",
    what="pool",
    kinds={"any": _drawn},
    questions=QUESTIONS,
    near=_near,
    judge=_judge,
    parts=3,
    fix=Settings((BATCH, LIMIT, DEVICES), {"zfs.log.flush": "the device determines how long a flush takes"}),
    hints=(
        "Two complaints, two causes. What does one commit carry, and how large may one be?",
        "While one commit is in progress, 63 of 64 threads wait. What could happen to their writes in the meantime?",
        "slog_limit is the commit size above which the blocks go to the pool; 0 means no limit.",
    ),
)
system, briefing = SHAPE.own, SHAPE.briefing
ASSIGNMENT, check, hint = SHAPE.exercise()
