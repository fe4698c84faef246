"""The assignment on group commit: a Python policy chooses which transactions share the next flush of a log.

Each learner has a database. The check runs the policy with 1, 16 and 256 clients, and compares it with the engine's
policy that takes all waiting transactions. It also checks the order in the replication log and how many flushes a
transaction waits.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from seeklab._question import Question
from seeklab.decisions.commit_policy import LogQueue, run_commit_policy
from seeklab.exercises._shapes import exercise, named, source_from
from seeklab.judge import Asked, Code, Commitment, Evidence, Task, draws_of

if TYPE_CHECKING:
    import random
    from collections.abc import Callable, Iterable, Mapping

    from seeklab.decisions.commit_policy import CommitPolicy

LOG = "replication"
CLIENTS = (1, 16, 256)
FLUSHES = 1200
"""The length of a run, in flushes of the replication log."""
ALONE_TIMES = 0.95
CROWD_TIMES = 0.9
MAX_FLUSHES = 2
ALL, ONE = "all", "one"
MAX_WAIT_FLUSHES = 100
"""A policy that leaves the log idle this long, in mean flush times, is waiting for a transaction that never comes."""

QUESTIONS = {
    "one_tps": Question("One client: how many commits a second does your database reach?", unit="1/s"),
    "crowd_tps": Question(
        "256 clients, and each flush of the replication log carries one transaction: how many commits a second?",
        unit="1/s",
    ),
}
"""Questions that a learner answers before the first run."""

DEMANDS = (
    f"with one client, at least {ALONE_TIMES:g} times the commits of the best policy known",
    f"with 16 and with 256 clients, at least {CROWD_TIMES:g} times as many as that policy",
    "transactions enter the replication log in the order of their arrival",
    f"no transaction waits there for more than {MAX_FLUSHES} flushes before its own",
)


class NobodyComesError(Exception):
    """The policy waits for another transaction, but none comes."""


@dataclass(frozen=True)
class Database:
    """A database with an engine log and a replication log; its flush times are means."""

    work_ms: float
    engine_ms: float
    replication_ms: float
    per_commit_ms: float

    def __str__(self) -> str:
        """Describe it in one line."""
        return (
            f"{self.work_ms:g} ms of work, a flush of the engine's log in {self.engine_ms:g} ms and of the "
            f"replication log in {self.replication_ms:g}, on average, and {self.per_commit_ms:g} ms more for each "
            "transaction"
        )

    def scenario(self, clients: int) -> dict[str, Any]:
        """Return the scenario with N clients, where each flush of the replication log carries one transaction."""

        def flush(mean_ms: float) -> dict[str, int]:
            return {"mean": _ns(mean_ms), "per_commit": _ns(self.per_commit_ms)}

        run_ms = FLUSHES * self.replication_ms
        return {
            "commit": {
                "work": _ns(self.work_ms),
                "serial_work": _ns(0.1),
                "stages": ["engine", LOG, "engine"],
                "logs": [
                    {"name": "engine", "flush": flush(self.engine_ms)},
                    {"name": LOG, "batch": ONE, "flush": flush(self.replication_ms)},
                ],
            },
            "devices": [{"name": "array", "lun": {"capacity": "1GiB", "rate": "300MB"}}],
            "jobs": [
                {
                    "name": "clients",
                    "rw": "write",
                    "bs": 512,
                    "numjobs": clients,
                    "filename": "table",
                    "size": "1MiB",
                    "time_based": True,
                    "ramp_time": _ns(run_ms / 10),
                    "runtime": _ns(run_ms),
                }
            ],
            "record": {"log": False},
        }

    def run(self, policy: CommitPolicy | str, clients: int, seed: int = 1) -> Mapping[str, float]:
        """Run a policy, or the engine's "all" or "one", with N clients."""

        def heeded(queue: LogQueue) -> Iterable[int] | float:
            given = policy(queue)  # type: ignore[operator] # a name has no question asked of it
            if isinstance(given, int | float) and queue.waited_ms[0] > MAX_WAIT_FLUSHES * self.replication_ms:
                raise NobodyComesError(WHY["endless-wait"].why)
            return given

        asked = policy if isinstance(policy, str) or not callable(policy) else heeded
        return run_commit_policy(self.scenario(clients), asked, log=LOG, seed=seed).metrics


def _ns(ms: float) -> int:
    return round(ms * 1e6)


def _slow(source: random.Random) -> Database:
    """Draw a database on disks."""
    return Database(
        work_ms=source.choice((1, 1.5, 2, 3)),
        engine_ms=source.randrange(16, 33) / 2,
        replication_ms=source.randrange(20, 41) / 2,
        per_commit_ms=source.choice((0.08, 0.1, 0.12, 0.15)),
    )


def _quick(source: random.Random) -> Database:
    """Draw a database behind a non-volatile cache: there, any wait is long."""
    return Database(
        work_ms=source.choice((1, 1.5, 2)),
        engine_ms=source.randrange(6, 13) / 100,
        replication_ms=source.randrange(60, 100) / 100,
        per_commit_ms=0.001,
    )


def database(learner: object) -> Database:
    """Return the learner's own database."""
    return _slow(source_from(bytes(draws_of(learner))))


def briefing(learner: object) -> str:
    """Describe the learner's database."""
    return (
        f"The database of {learner}: {database(learner)}. A transaction flushes the engine's log, the replication log "
        "and the engine's log again. A flush of the engine's log carries all waiting transactions; your policy "
        "decides which ones a flush of the replication log carries. Flush times are exponentially distributed."
    )


def practise(policy: Callable[[], CommitPolicy], learner: object, seed: int = 1) -> list[tuple[str, ...]]:
    """Race a policy with the engine's two on the learner's database, as rows: policy, clients and results."""
    rows: list[tuple[str, ...]] = []
    for clients in CLIENTS:
        for name, racer in (("yours", policy()), (ALL, ALL), (ONE, ONE)):
            found = database(learner).run(racer, clients, seed)
            rows.append(
                (
                    name,
                    str(clients),
                    f"{found['clients.write_iops']:,.1f}",
                    f"{found[f'commit.{LOG}_batch_mean']:.1f}",
                    f"{found[f'commit.{LOG}_overtaken']:,.0f}",
                    f"{found[f'commit.{LOG}_flushes_waited_max']:,.0f}",
                )
            )
    return rows


def _near(asked: Asked) -> dict[str, float]:
    own = database(asked.draws)
    return {
        "one_tps": own.run(ONE, 1, asked.seed)["clients.write_iops"],
        "crowd_tps": own.run(ONE, CLIENTS[-1], asked.seed)["clients.write_iops"],
    }


WHY = named(
    endless_wait="a transaction waits at an idle log and no other arrives, so the policy waits forever: a wait needs a "
    "limit, and a lone client needs no wait",
    lone_wait="with one client, no other transaction can arrive during the wait, so each commit loses that time; look "
    "at how many transactions are elsewhere",
    small_batch=(
        "a flush carries too few transactions: a flush for all waiting ones takes hardly longer than for one, "
        "and the rest stay in the queue"
    ),
    idle_log=(
        "the log is idle while transactions wait for it: a wait makes flushes larger, but lowers their number more"
    ),
    order="replicas apply transactions in log order, but this policy puts some into the log before earlier ones: "
    "take positions from 0 on, and return them in order",
    left_behind="a transaction waited for more than two flushes: the longest waiting one must be in the flush",
)


NOTHING: Mapping[str, float] = {
    "clients.write_iops": 0.0,
    f"commit.{LOG}_batch_mean": 0.0,
    f"commit.{LOG}_overtaken": 0.0,
    f"commit.{LOG}_flushes_waited_max": 0.0,
}
"""The result of a policy that never flushes."""


def _measure(asked: Asked, on: Database) -> list[Evidence]:
    evidence, found = [], []
    for clients in CLIENTS:
        waits_for_ever = False
        with asked.play("Policy") as policy:
            try:
                mine = on.run(policy, clients, asked.seed)
            except NobodyComesError:
                mine, waits_for_ever = NOTHING, True
        rival = on.run(ALL, clients, asked.seed)
        found.append(mine)
        name = "alone_times" if clients == 1 else "crowd_times"
        times = asked.bound(name)
        tps, least = mine["clients.write_iops"], times * rival["clients.write_iops"]
        batch = f"commit.{LOG}_batch_mean"
        few = "small-batch" if mine[batch] < times * rival[batch] else "idle-log"
        slow = WHY["endless-wait" if waits_for_ever else "lone-wait" if clients == 1 else few]
        said = f">= {least:,.1f} ({times:g} times the best policy known)"
        evidence.append(Evidence(f"{on}: {clients} clients", tps, said, tps >= least, "1/s", asked.seed).because(slow))
    overtaken = max(of[f"commit.{LOG}_overtaken"] for of in found)
    waited = max(of[f"commit.{LOG}_flushes_waited_max"] for of in found)
    most = asked.bound("most_flushes")
    return [
        *evidence,
        Evidence(
            f"{on}: flushes waited for", waited, f"at most {most:g}", waited <= most, "flushes", asked.seed
        ).because(WHY["left-behind"]),
        Evidence(f"{on}: out of order", overtaken, "0", overtaken == 0, "transactions", asked.seed).because(
            WHY["order"]
        ),
    ]


CODE = Code(("queue",), {"queue": LogQueue._fields}, made=True)
HINTS = (
    "How long is a flush for one transaction, and for fifty? How many arrive during that time?",
    "Transactions that wait when a flush starts need no separate flush. The queue's order is the log's order.",
    "Who gains if a transaction stays in the queue? A wait pays off only if another transaction is about to arrive.",
)

ASSIGNMENT, check, hint = exercise(
    "commit-policy",
    Commitment("check-prediction", 2, "prediction", QUESTIONS, _near),
    Task("check-policy", 2, {"Policy": CODE}, lambda asked: _measure(asked, database(asked.draws)), HINTS),
    Task(
        "check-policy-elsewhere",
        4,
        {"Policy": CODE},
        lambda asked: _measure(asked, _quick(source_from(asked.seed))),
        HINTS,
    ),
    cells={"Policy": "policy"},
    bounds={"alone_times": ALONE_TIMES, "crowd_times": CROWD_TIMES, "most_flushes": MAX_FLUSHES},
)
