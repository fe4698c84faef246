"""The likeliest wrong answers to every exercise, each with the code of its mistake, and the right ones of solutions.

Answers are those of `LEARNER`, whose systems are the same in every run.
"""

from __future__ import annotations

import json
import math
import random
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from exercises import SOLUTIONS
from policies import Lru
from seeklab.exercises import (
    blind_diagnosis,
    bonnie_decoded,
    hci_taxonomy,
    honest_percentiles,
    pool_design,
    shard_count,
    which_throttle,
)
from seeklab.judge import Code, Seeds, Variant, Verdict, catalogue, judge
from seeklab.judge.identity import practice_draws
from seeklab.judge.programs import Live

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from seeklab import LogQueue, Read, ShardHistory, ThrottleHistory
    from seeklab.judge import Mistake

LEARNER = "Ada Lovelace"
ONE_SEED = {"seeds": 1.0}
"""What breaks a bound on every seed breaks it on one; the grader draws two."""


@dataclass(frozen=True)
class Wrong:
    """An answer that is wrong, to which task, and the code of its mistake."""

    task: str
    answers: Mapping[str, Any]
    code: str


def judged(name: str, task: str, answers: Mapping[str, Any], key: bytes) -> Verdict:
    """Judge answers to one task of an exercise; programs run here, and seeds come from the key."""
    assignment = catalogue.assignment(name)
    given = {
        one: Live(answer) if isinstance(assignment.kinds[one], Code) and callable(answer) else answer
        for one, answer in answers.items()
    }
    (verdict,) = judge(assignment, given, Variant(practice_draws(LEARNER), ONE_SEED), Seeds(key), [task])
    return verdict


def _elsewhere(*wrong: tuple[Any, str]) -> list[Wrong]:
    """Return wrong rules or settings of the exercises of two shapes."""
    return [Wrong("check-elsewhere", {"rule" if callable(work) else "fix": work}, code) for work, code in wrong]


def solution(name: str, answer: str) -> Any:
    """Return an answer of the notebook with solutions."""
    notebook = json.loads((SOLUTIONS / name / f"{name}.ipynb").read_text(encoding="utf-8"))
    names: dict[str, Any] = {}
    for cell in notebook["cells"]:
        if cell["id"] == catalogue.assignment(name).cells[answer]:
            exec("".join(cell["source"]), names)  # noqa: S102 -- the course's own code
    return names[answer]


# Exercises of two shapes: rules and settings that are judged on systems of every kind.

CHUNK = {"buffer_compress_percentage": 50, "buffer_compress_chunk": 512}
CARD = {"server.nic.rings": 2, "server.nic.blank": "25us"}
KEPT = {"server.buffers.object_cache": True}


def _reserve(amplification: float, trimmed: float) -> float:
    return 100 * ((1 + 1 / (2 * amplification - 1)) * (1 - trimmed / 100) - 1)


def _throttled(system: Mapping[str, float], wrong: str = "") -> dict[str, float]:
    writes = system["limit_bytes"] / system["write_bytes"]
    seconds = system["sync_s"] - 7 / 8 * system["limit_bytes"] / system["load"]
    late = system["threads"] * seconds / system["tick_s"]
    stops = late > writes / 8
    slept = writes / 8 if stops or wrong == "slept" else late
    stopped = system["threads"] if stops or wrong == "stopped" else 0
    return {"passed": writes - slept - (0 if wrong == "passed" else stopped), "slept": slept, "stopped": stopped}


def _feeding(system: Mapping[str, float], share: float, interval: float) -> float:
    return share * system["data_bytes"] * interval / system["warm_in_s"]


def _estimate(system: Mapping[str, float], wrong: str = "") -> float:
    if "window_kib" in system:
        window = system["window_kib"] / 1024 / system["round_trip_ms"] * 1000
        return system["mbit_per_s"] / 8 if wrong == "far" else window
    one = 1000 / (system["seek_ms"] + (0 if wrong == "disk" else 30_000 / system["rpm"]))
    return one * system["disks" if wrong == "pool" else "threads"]


def _plan(system: Mapping[str, float], **wrong: float) -> dict[str, float]:
    lent = system["cells_gb"] / 8 * (1 - system["full_percent"] / 75)
    fast = 0.97 * (system["static_gb"] + lent) * (1 - system["service_mb"] / 1800)
    return {"fast_gb": fast, "pause_s": 0, "rate_mb": 98 - system["service_mb"], **wrong}


def _limits(system: Mapping[str, float], **wrong: float | str) -> dict[str, float | str]:
    limit = 0.25 * system["patience_ms"] / 1000 * system["disk_mb"]
    return {"background_mb": limit / 2, "limit_mb": limit, "expire_s": 30, "wakeup_s": 5, "log": "together", **wrong}


def _order(system: Mapping[str, float], **wrong: float | str) -> dict[str, float | str]:
    room = system["memory_gb"] / 100 * system["block_kib"] * 1024
    fits = system["mirror"] or room >= system["disk_gb"] * (system["disks"] - 1)
    plan = {"order": "address" if fits else "time", "sorted_gb": room, "rate_mb": system["pool_mb"]}
    return {**plan, **wrong}


SHAPED: dict[str, list[Wrong]] = {
    "by-heart": _elsewhere(
        (lambda system: _estimate(system, "disk"), "no-rotation"),
        (lambda system: _estimate(system, "pool"), "disks-not-threads"),
        (lambda system: _estimate(system, "far"), "line-rate"),
    ),
    "combined-size": _elsewhere(
        (lambda _: 64, "one-transaction"),
        (lambda _: 1, "too-small"),
        (lambda system: system["in_flight_mib"] * 3 // 4, "unequal"),
    ),
    "copy-beside-service": _elsewhere(
        (lambda system: {"fast_gb": system["copy_gb"], "pause_s": 0, "rate_mb": 1800}, "past-the-cache"),
        (lambda system: _plan(system, rate_mb=100), "too-fast"),
        (lambda system: _plan(system, fast_gb=0), "unused-cache"),
        (lambda system: _plan(system, pause_s=1400), "pause"),
    ),
    "copy-way": _elsewhere(
        (lambda _: "client", "client"),
        (lambda _: "server-side", "server-side"),
        (lambda _: "odx", "odx"),
    ),
    "dirty-limits": _elsewhere(
        (lambda system: _limits(system, limit_mb=24_000, background_mb=64), "high-limit"),
        (lambda system: _limits(system, limit_mb=system["patience_ms"] / 1000 * system["disk_mb"]), "one-wait"),
        (lambda system: _limits(system, limit_mb=24_000, background_mb=12_000, log="apart"), "queued"),
        (lambda system: _limits(system, limit_mb=1, background_mb=0.5), "idle-disk"),
        (lambda system: _limits(system, limit_mb=24_000, expire_s=1, wakeup_s=0.5), "short-expiry"),
    ),
    "flash-reserve": _elsewhere(
        (lambda system: _reserve(system["wanted_amplification"] + 1, system["trimmed_percent"]), "too-little"),
        (lambda system: _reserve(system["wanted_amplification"], 0), "no-trim"),
        (lambda system: 2 * _reserve(system["wanted_amplification"], 0), "too-much"),
    ),
    "group-length": _elsewhere(
        ({"zfs.txg_timeout": "2s"}, "timeout"),
        ({"zfs.txg_synctime": "4s"}, "overdue"),
        ({"zfs.txg_synctime": "1s"}, "too-short"),
    ),
    "hedge-budget": _elsewhere(
        (lambda system: {"after_ms": 1.5 * system["time_ms"], "budget_percent": 100}, "no-budget"),
        (lambda system: {"after_ms": 0.5 * system["time_ms"], "budget_percent": 2}, "too-early"),
        (lambda system: {"after_ms": 10 * system["time_ms"], "budget_percent": 2}, "too-late"),
        (lambda system: {"after_ms": 1.5 * system["time_ms"], "budget_percent": 0.5}, "small-budget"),
    ),
    "honest-data": _elsewhere(
        ({"buffer_compress_percentage": 50}, "zero-blocks"),
        ({"buffer_compress_percentage": 50, "buffer_pattern": "0xdeadbeef"}, "repeated-blocks"),
        ({**CHUNK, "buffer_compress_percentage": 33}, "ratio"),
    ),
    "incast-admission": _elsewhere(
        (lambda system: {"at_once": system["servers"], "window": 20}, "overflow"),
        (
            lambda system: {"at_once": min(4, system["servers"]), "window": system["buffer_at_least"]},
            "large-buffer",
        ),
        (lambda _: {"at_once": 1, "window": 16}, "gaps"),
        (lambda _: {"at_once": 4, "window": 1}, "small-window"),
    ),
    "log-lane": _elsewhere(
        ({"zfs.log.devices.count": 3}, "more-devices"),
        ({"zfs.log.slog_limit": "1MiB"}, "one-by-one"),
        ({"zfs.log.batch": True}, "bulk"),
    ),
    "rebuild-order": _elsewhere(
        (lambda system: _order(system, order="time", sorted_gb=0), "by-time"),
        (lambda system: _order(system, order="address"), "memory"),
        (
            lambda system: _order(
                system, order="time", sorted_gb=0.006 * system["memory_gb"] * system["block_kib"] * 1024
            ),
            "small-batch",
        ),
        (lambda system: _order(system, rate_mb=system["pool_mb"] / 3), "slow-pool"),
    ),
    "server-cycles": _elsewhere(
        ({"server.cores": 32}, "setting"),
        ({**CARD, **KEPT, "server.nic.rings": 1}, "one-ring"),
        ({"server.nic.rings": 2, "server.nic.blank_frames": 1, **KEPT}, "each-frame"),
        (CARD, "unmapped-buffers"),
    ),
    "throttle-sum": _elsewhere(
        (lambda system: _throttled(system, "stopped"), "stopped"),
        (lambda system: _throttled(system, "slept"), "slept"),
        (lambda system: _throttled(system, "passed"), "passed"),
    ),
    "warm-cache": _elsewhere(
        (lambda system: _feeding(system, system["warm_share"], 1), "per-second"),
        (lambda system: _feeding(system, 1, system["interval_s"]), "all-data"),
        (lambda system: _feeding(system, system["warm_share"], system["interval_s"]) / 2**20, "too-late"),
    ),
}


# Exercises of their own kind.


class Fifo(Lru):
    """Throw out what came first, used or not."""

    def hit(self, key: int) -> None:
        """Take no notice."""


class Counting(Lru):
    """Throw out what was used least often, whenever that was."""

    def __init__(self) -> None:
        super().__init__()
        self.uses = Counter[int]()

    def hit(self, key: int) -> None:
        """Count a use."""
        super().hit(key)
        self.uses[key] += 1

    def admitted(self, key: int, size: int) -> None:
        """Count the first use; old fame stays."""
        super().admitted(key, size)
        self.uses[key] += 1

    def evict(self, incoming: int) -> int:
        """Give the least used, the oldest of them."""
        del incoming
        return min(self.order, key=self.uses.__getitem__)


class AheadInOrder:
    """Fetch so many records for whoever reads in order."""

    def __init__(self, records: int) -> None:
        self.records = records
        self.expected: dict[int, int] = {}

    def __call__(self, read: Read) -> list[tuple[int, int]]:
        """Give what follows."""
        end = read.record + read.records
        follows = self.expected.get(read.file) == read.record
        self.expected[read.file] = end
        return [(end, self.records)] if follows else []


class EveryEnd:
    """Fetch for whoever begins where any read ever ended."""

    def __init__(self) -> None:
        self.ends: set[tuple[int, int]] = set()

    def __call__(self, read: Read) -> list[tuple[int, int]]:
        """Give what follows."""
        end = read.record + read.records
        follows = (read.file, read.record) in self.ends
        self.ends.add((read.file, end))
        return [(end, 64)] if follows else []


class HottestOnce:
    """Spread ranges by their heat once, at the start, and leave them there."""

    def __init__(self) -> None:
        self.asked = 0
        self.owner: dict[int, int] = {}
        self.heat = Counter[int]()

    def __call__(self, range_: int, shards: int, _history: ShardHistory) -> int:
        """Give the owner, who changes once."""
        self.asked += 1
        self.heat[range_] += 1
        if self.asked == 500:
            hottest = (at for at, _ in self.heat.most_common())
            self.owner = {at: nth % shards for nth, at in enumerate(hottest)}
        return self.owner.get(range_, range_ % shards)


def _for_company(queue: LogQueue) -> list[int] | float:
    """Wait for 5 ms whether somebody else comes."""
    return 5.0 if queue.waiting == 1 and queue.waited_ms[0] < 5 else list(range(queue.waiting))


def _mean_ms(times: list[list[float]]) -> float:
    return sum(time * count for time, count in times) / sum(count for _, count in times)


def _late(times: list[list[float]], rpm: float) -> float:
    return sum(count for time, count in times if time > 60_000 / rpm) / sum(count for _, count in times)


def _slow_disks(disks: list[list[list[float]]], _rpm: float) -> list[int]:
    """Name whatever is slower than the best on average."""
    least = min(map(_mean_ms, disks))
    return [disk for disk, times in enumerate(disks) if _mean_ms(times) > 1.1 * least]


def _busy_disks(disks: list[list[list[float]]], _rpm: float) -> list[int]:
    """Name the two with most requests, for they work longest."""
    requests = [sum(count for _, count in times) for times in disks]
    return sorted(range(len(disks)), key=requests.__getitem__)[-2:]


def _late_disks(disks: list[list[list[float]]], rpm: float) -> list[int]:
    """Name all on which some requests take longer than a revolution."""
    return [disk for disk, times in enumerate(disks) if _late(times, rpm) > 0.02]


def _latest_disk(disks: list[list[list[float]]], _rpm: float) -> list[int]:
    """Name the one with the longest of all service times."""
    return [max(range(len(disks)), key=lambda disk: max(time for time, _ in disks[disk]))]


def _by_turns(controllers: list[dict[str, Any]], hour: int, first_day: int = 0, days: int = 98) -> list[list[float]]:
    """Give each controller of a set a day of its own, the oldest first."""
    turns: dict[int, int] = {}
    pairs: list[list[float]] = [[0, 0] for _ in controllers]
    for nth in sorted(range(len(controllers)), key=lambda nth: -controllers[nth]["age_days"]):
        turn = turns[controllers[nth]["set"]] = turns.get(controllers[nth]["set"], -1) + 1
        pairs[nth] = [(first_day + turn) * 86_400 + 3600 * hour, days * 86_400]
    return pairs


def _by_name(task: str, answer: str, *wrong: tuple[Any, str]) -> list[Wrong]:
    """Give wrong answers to one task that takes one answer."""
    return [Wrong(task, {answer: work}, code) for work, code in wrong]


def _other_choices(name: str, task: str, answer: str, mistakes: Mapping[str, Mistake]) -> list[Wrong]:
    """Give the options that are not the right one, which is found by trying."""
    return [
        Wrong(task, {answer: choice}, mistake.code)
        for choice, mistake in mistakes.items()
        if not judged(name, task, {answer: choice}, b"a").passed
    ]


def _tick(delay_ns: int) -> Callable[[], Callable[[int, int, ThrottleHistory], int]]:
    """Give the throttle of 2008 with another tick: beyond 7/8 everybody sleeps for itself."""
    return lambda: lambda dirty, limit, _history: delay_ns if dirty > limit * 7 // 8 else 0


def _all_at_once(dirty: int, limit: int, _history: ThrottleHistory) -> int:
    """Let nobody write for as long as a good part of the buffer takes to drain."""
    return 5_000_000_000 if dirty > limit // 2 else 0


def frugal(learner: str) -> dict[str, Any]:
    """Disks for the capacity, memory for what they cannot read, a tenth more of the rest than the level needs."""
    own = pool_design.level(learner)
    disks = 2 * own["capacity_tb"]
    held = max(0.0, 1 - 0.75 * disks * pool_design.CHEAP_READS_PER_S / own["working-set"])
    streams = own["4-streams-warm"] * 2**20
    return {
        "disks": disks,
        "width": 2,
        "memory_gib": min(256, 4 * math.ceil((own["working_set_gib"] * held + 8) / 4)),
        "log_ssds": math.ceil(own["9-sync-writes"] / 10_000),
        "cores": math.ceil(1.12 * streams * 30 / 2.3e9),
        "server_gbit": math.ceil(1.02 * streams * 8.6 / 1e9),
    }


def _design(**changes: object) -> dict[str, Any]:
    """Return a design that meets the learner's level, with changes."""
    return {**frugal(LEARNER), **changes}


def _percentiles(waits: Sequence[float], percents: Sequence[float]) -> list[float]:
    return [honest_percentiles.percentile(waits, percent) for percent in percents]


def _as_long_as_the_longest(
    rows: Sequence[tuple[float, float]], interval: float, percents: Sequence[float]
) -> list[float]:
    """Add the missing requests, each as long as the one that hid it."""
    waits = [done - sent for sent, done in rows for _ in range(1 + int((done - sent) / interval))]
    return _percentiles(waits, percents)


def _half_of_it(rows: Sequence[tuple[float, float]], interval: float, percents: Sequence[float]) -> list[float]:
    """Add the missing requests, each with the mean of what they waited."""
    waits = [done - sent for sent, done in rows]
    return _percentiles([*waits, *(wait / 2 for wait in waits for _ in range(int(wait / interval)))], percents)


def _follow(demand: Sequence[int], seconds: int, capacity: float, most: float) -> float:
    """Give the smallest size whose account lasts, never above `most`."""
    for gib in range(1, 1001):
        base, held, least = max(100, 3 * gib), capacity, capacity
        for per_s in demand:
            held = min(most, held + (base - per_s) * seconds)
            least = min(least, held)
        if least > 0:
            return gib
    return 1000


def _dashboard(_outstanding: int, _mib: float, window_s: float, points: list[tuple[float, Any]]) -> tuple[float, float]:
    return max(points)[0], window_s


def _decoded(outstanding: int, mib: float, window_s: float, points: list[tuple[float, Any]]) -> tuple[float, float]:
    """Read the busiest point by Little's law, and forget that there may be two."""
    shown, ms = max(points)
    rate = outstanding * mib / (ms / 1000)
    return rate, shown * window_s / rate


def _whole_window(
    outstanding: int, mib: float, window_s: float, points: list[tuple[float, Any]]
) -> tuple[float, float]:
    """Read the rate rightly, and take the window for the burst."""
    return _decoded(outstanding, mib, window_s, points)[0], window_s


def _claims(local_again: str, asks_most: str) -> dict[str, str]:
    """Return the letters of two designs among the clusters of the learner."""
    letters = {design: letter for letter, design in hci_taxonomy.lettered(LEARNER).items()}
    return {"local_again": letters[local_again], "asks_most": letters[asks_most]}


def once(racks: list[int], _copies: int, _scatter: int) -> list[Sequence[int]]:
    """Divide the nodes a single time."""
    return _cut(range(len(racks)))


def _cut(line: Sequence[int]) -> list[Sequence[int]]:
    third = len(line) // 3
    return [line[first::third] for first in range(third)]


def one_by_one(count: int) -> Callable[[list[int], int, int], list[list[int]]]:
    """Draw so many sets, each of different racks."""

    def place(racks: list[int], copies: int, _scatter: int) -> list[list[int]]:
        draws = random.Random(1)
        sets: list[list[int]] = []
        while len(sets) < count:
            nodes = draws.sample(range(len(racks)), copies)
            if len({racks[node] for node in nodes}) == copies:
                sets.append(nodes)
        return sets

    return place


def without_racks(racks: list[int], copies: int, scatter: int) -> list[Sequence[int]]:
    """Divide the nodes as often as it takes, wherever they are."""
    draws, sets = random.Random(1), []
    for _ in range(scatter // (copies - 1)):
        sets += _cut(draws.sample(range(len(racks)), len(racks)))
    return sets


def _shards(**factors: float) -> Callable[[int, int, float, float], float]:
    """Give a rule that leaves a limit out."""

    def rule(cores: int, disks: int, dispatch_us: float, read_us: float) -> float:
        primary = read_us / dispatch_us * factors.get("primary", 1)
        of_cores = cores * read_us / (disks * (read_us + dispatch_us)) * factors.get("cores", 1)
        return min(shard_count.MAX_SHARDS, math.ceil(min(primary, of_cores)))

    return rule


OWN: dict[str, Callable[[], list[Wrong]]] = {
    "blind-diagnosis": lambda: _other_choices("blind-diagnosis", "check-cause", "cause", blind_diagnosis.CAUSES),
    "battery-planner": lambda: _by_name(
        "check-plan",
        "plan",
        (
            lambda controllers, night, _hours: [[3600 * night, 98 * 86_400] for _ in controllers],
            "together",
        ),
        (lambda controllers, _night, _hours: _by_turns(controllers, 13), "by-day"),
        (
            lambda controllers, night, _hours: _by_turns(controllers, night, first_day=90),
            "late",
        ),
        (lambda controllers, night, _hours: _by_turns(controllers, night, days=30), "often"),
    ),
    "bonnie-decoded": lambda: _by_name(
        "check-limits",
        "limits",
        (dict.fromkeys(bonnie_decoded.LINES, "devices"), "devices"),
        (dict.fromkeys(bonnie_decoded.LINES, "network"), "network"),
        (dict.fromkeys(bonnie_decoded.LINES, "latency"), "latency"),
    ),
    "buffer-size": lambda: _by_name(
        "check-size",
        "size",
        (lambda load, backend, burst_s, _percent: (load - backend) * burst_s, "full-buffer"),
        (lambda load, backend, burst_s, percent: (load - backend) * burst_s * 100 / percent, "late-start"),
        (lambda load, _backend, burst_s, percent: load * burst_s * 100 / percent, "too-large"),
    ),
    "burst-budget": lambda: _by_name(
        "check-cheapest",
        "cheapest",
        (lambda demand, _seconds, _capacity: sum(demand) / len(demand) / 3, "mean"),
        (lambda demand, _seconds, _capacity: max(demand) / 3, "peak"),
        (lambda demand, seconds, capacity: _follow(demand, seconds, capacity, math.inf), "empty-account"),
    ),
    "cache-policies": lambda: [
        Wrong("check-policy", {"Policy": Fifo}, "scan"),
        Wrong("check-policy", {"Policy": Counting}, "old-popularity"),
        Wrong("check-policy-elsewhere", {"Policy": Lru}, "loop"),
    ],
    "commit-policy": lambda: _by_name(
        "check-policy",
        "Policy",
        (lambda: lambda _queue: [0], "small-batch"),
        (lambda: _for_company, "lone-wait"),
        (lambda: lambda queue: list(range(queue.waiting))[::-1], "order"),
    ),
    "copyset-placement": lambda: _by_name(
        "check-place",
        "place",
        (once, "few-sets"),
        (one_by_one(4500), "many-sets"),
        (without_racks, "one-rack"),
    ),
    "disk-time": lambda: _by_name(
        "check-batch",
        "choice",
        ({"queue_policy": "fcfs", "queue_depth": 64}, "arrival-order"),
        ({"queue_policy": "sstf", "queue_depth": 16}, "seek-only"),
        ({"queue_policy": "satf", "queue_depth": 64}, "too-deep"),
        ({"queue_policy": "satf", "queue_depth": 4}, "too-shallow"),
    ),
    "hci-taxonomy": lambda: _by_name(
        "check-claims",
        "claims",
        (_claims("redirect-pairs", "dedup-spread"), "redirect-pairs"),
        (_claims("locality", "dedup-pairs"), "dedup-pairs"),
        (_claims("locality", "hash"), "hash"),
    ),
    "honest-percentiles": lambda: _by_name(
        "check-repaired",
        "repaired",
        (
            lambda rows, _interval, percents: _percentiles([done - sent for sent, done in rows], percents),
            "reported",
        ),
        (_as_long_as_the_longest, "too-long"),
        (_half_of_it, "too-short"),
    ),
    "monitors-lie": lambda: _by_name(
        "check-decode",
        "decode",
        (_dashboard, "shown-rate"),
        (_whole_window, "whole-window"),
        (_decoded, "two-windows"),
    ),
    "odx-prefetch": lambda: [
        Wrong("check-fix", {"fix": {"volume.prefetch.per_request": 2}}, "too-far-ahead"),
        Wrong("check-fix", {"fix": {"volume.prefetch.min_read": "64KiB"}}, "late-fetch"),
        Wrong("check-fix", {"fix": {"protocol.max_transaction": "8MiB"}}, "setting"),
        Wrong("check-fix", {"fix": {"volume.cache.size": "64GiB"}}, "setting"),
    ],
    "pool-design": lambda: _by_name(
        "check-cost",
        "design",
        (_design(width=1), "no-copy"),
        (_design(cores=32, memory_gib=256), "too-expensive"),
        (_design(log_ssds=0), "few-durable-writes"),
        (_design(memory_gib=4), "few-reads"),
    ),
    "context-window": lambda: [
        *_by_name(
            "check-random",
            "Policy",
            (lambda: lambda read: [(read.record + read.records, 32)], "every-read"),
            (EveryEnd, "chance"),
        ),
        *_by_name(
            "check-streams",
            "Policy",
            (lambda: lambda _read: [], "too-little"),
            (lambda: AheadInOrder(64), "one-stream"),
        ),
    ],
    "read-ahead": lambda: _by_name(
        "check-read-ahead",
        "Policy",
        (lambda: lambda _read: [], "too-little"),
        (lambda: lambda read: [(read.record + read.records, 2)], "wasted"),
        (lambda: AheadInOrder(256), "evicted"),
    ),
    "shaken-disks": lambda: _by_name(
        "check-shaken",
        "shaken",
        (_slow_disks, "inner-edge"),
        (_busy_disks, "more-work"),
        (_late_disks, "rebuild"),
        (_latest_disk, "left-shaken"),
    ),
    "shard-count": lambda: _by_name(
        "check-rule",
        "rule",
        (lambda *_: 1, "too-few"),
        (_shards(cores=100), "full-cores"),
        (_shards(primary=100), "full-primary"),
    ),
    "shard-map": lambda: _by_name(
        "check-map",
        "Policy",
        (lambda: lambda range_, shards, _history: range_ * 7 % shards, "static"),
        (
            lambda: lambda _range, shards, history: min(range(shards), key=lambda shard: history.queued[shard]),
            "restless",
        ),
        (HottestOnce, "late"),
    ),
    "tune-scheduler": lambda: _by_name(
        "check-rush",
        "choice",
        ({"async_write_max_active": 3, "async_write_min_active": 1, "delay_scale": "5ms"}, "few-writes"),
        ({"async_write_max_active": 15, "delay_scale": "5ms"}, "deep-queue"),
        ({"async_write_min_active": 1, "async_write_max_active": 8}, "small-delay"),
    ),
    "which-throttle": lambda: _other_choices(
        "which-throttle",
        "check-throttle",
        "throttle",
        {name: looks for name, (_, looks) in which_throttle.THROTTLES.items()},
    ),
    "write-throttle": lambda: _by_name(
        "check-throttle",
        "Policy",
        (_tick(10_000_000), "late-delay"),
        (lambda: lambda _dirty, _limit, _history: 1_000_000_000, "idle-backend"),
        (lambda: _all_at_once, "sudden-delay"),
    ),
}


def wrong_answers(name: str) -> list[Wrong]:
    """Give the likeliest wrong answers to an exercise."""
    return SHAPED[name] if name in SHAPED else OWN[name]()
