"""The tasks of the notebooks: each right answer passes, and each named mistake gets its code."""

from __future__ import annotations

import random
import re
from typing import TYPE_CHECKING, Any

import pytest

import seeklab.course.task
from policies import Lru
from random_answers import random_answer
from seeklab.course.tasks import bonnie, cache, copies, disk, groups, odx, tasks, throttle
from seeklab.judge import Cases, Fields, Mistake, Number, Outcome, Settings, Table, Value, Without, diagnose
from seeklab.judge.mistakes import scaled

if TYPE_CHECKING:
    from collections.abc import Iterator

    from seeklab import Result
    from seeklab.course.task import Task
    from seeklab.judge.answers import Kind

Held = Cases | Value
HELD: list[tuple[Task, Held]] = [(task, task.check) for task in tasks().values() if isinstance(task.check, Held)]


MAX_EVENTS = 2_000_000
"""Events of a check that simulates a random answer, which could otherwise run for long."""


def drawable(task: Task) -> Kind:
    """Return the kind of answers to draw: if any setting may change, those of the right answer and an unknown one."""
    if task.kind == Settings():
        return Settings([*re.findall(r'"([^"]+)":', task.answer), "no.path"])
    return task.kind


def mistaken(check: Held, mistake: Mistake) -> object:
    """Return the answer that a mistake leads to."""
    if isinstance(check, Cases):
        gives = mistake.gives
        if mistake.times is not None:
            return lambda *case: scaled(check.right(*case), mistake.times)
        return gives if callable(gives) else lambda *_: gives
    if mistake.times is not None:
        return scaled(check.right(), mistake.times)
    return mistake.gives() if callable(mistake.gives) else mistake.gives


def told_by_value() -> Iterator[Any]:
    for task, check in HELD:
        for mistake in check.mistakes:
            if mistake.times is not None or mistake.gives is not None:
                yield pytest.param(task, check, mistake, id=f"{task.id}-{mistake.code}")


@pytest.mark.parametrize(("task", "check"), HELD, ids=[task.id for task, _ in HELD])
def test_the_right_answer_passes_and_codes_are_unique(task: Task, check: Held) -> None:
    verdict = task.judge(check.right if isinstance(check, Cases) else check.right())
    assert (verdict.outcome, verdict.code) == (Outcome.PASS, ""), verdict
    codes = [mistake.code for mistake in check.mistakes]
    assert len(set(codes)) == len(codes)


@pytest.mark.parametrize(("task", "check", "mistake"), [*told_by_value()])
def test_the_answer_that_a_mistake_leads_to_gets_its_code(task: Task, check: Held, mistake: Mistake) -> None:
    verdict = task.judge(mistaken(check, mistake))
    assert (verdict.outcome, verdict.code) == (Outcome.FAIL, mistake.code), verdict


def _share(result: Result, stage: str) -> float:
    return result.metrics[f"reduction_{stage}_share_percent"]


MISTAKEN: list[tuple[str, object, str]] = [
    ("blind/burst", {"busy_s": 5, "in_flight": 30.8}, "other-time"),
    ("blind/burst", {"busy_s": 1.0726, "in_flight": 5}, "other"),
    ("blind/evidence", {"reads per write": 5, "extra KiB per write": 4}, "other"),
    ("blind/extra", lambda *_: 1, "whole-blocks"),
    ("blind/extra", lambda *_: 5, "one-border"),
    ("blind/extra", lambda start, size: int(start % 4096 > 0 or (start + size) % 4096 > 0), "other"),
    ("blind/rates", lambda window_s: {7: 426 / window_s}, "other-windows"),
    ("blind/rates", lambda _: {1: 5}, "other"),
    ("battery/onsets", lambda _: [], "other"),
    ("battery/through", lambda lead, discharge, threshold, *_: lead + (1 - threshold) * discharge, "enough-charge"),
    ("battery/through", lambda _, discharge, *__: discharge, "whole-discharge"),
    ("battery/through", lambda _, discharge, threshold, *__: threshold * discharge, "no-charging"),
    ("battery/through", lambda *_: 1, "other"),
    (
        "battery/queue",
        lambda tps, ceiling, cached, s: [(tps - ceiling) * s, (tps - ceiling) * s / (cached - tps)],
        "negative",
    ),
    ("battery/queue", lambda *_: [1, 1], "waiting"),
    ("battery/queue", lambda tps, ceiling, _, s: [(tps - ceiling) * s, 1], "other"),
    ("battery/queue", lambda *_: 1, "unreadable"),
    ("battery/share", lambda *_: 0.5, "other"),
    ("bonnie/limit", lambda _: "cpu", "word"),
    ("bonnie/limit", lambda busy: bonnie._limit(busy, 0), "no-part-is-full"),  # noqa: SLF001 -- a rule without 90%
    ("bonnie/limit", lambda _: "devices", "other"),
    ("bonnie/wire", lambda payload: payload + 140 - 90 * (-payload // 1448), "header-apart"),
    ("bonnie/wire", lambda payload: payload + 140 + 90 * ((payload + 140) // 1448), "last-frame"),
    ("bonnie/wire", lambda _: 1, "other"),
    ("bonnie/distance", lambda _: 1, "other"),
    ("bonnie/buffer", lambda bits, _: bits, "too-large"),
    ("bonnie/buffer", lambda *_: 1, "too-small"),
    ("bonnie/buffer", lambda *_: 1 << 20, "other"),
    ("cache/gaps", {260: 10_000}, "first-request"),
    ("cache/gaps", {260: 9000, 1: 740}, "not-the-last"),
    ("cache/gaps", {260: 7}, "other"),
    ("cache/users", {**dict.fromkeys(cache.POLICIES, 5.0)}, "other"),
    ("cache/users", {"lru": 5.0}, "unreadable"),
    ("cache/policy", Lru, "is-lru"),
    ("cache/policy", object, "program"),
    ("commit/one", lambda *_: 5, "other"),
    ("commit/one", lambda *_: "5", "unreadable"),
    ("commit/one", lambda *_: 1 // 0, "program"),
    ("commit/one", 5, "unreadable"),
    ("commit/ceiling", lambda _: 5, "other"),
    ("commit/batches", lambda arrivals, _: [1] * len(arrivals[1:]), "lost-transactions"),
    ("commit/batches", lambda arrivals, _: [len(arrivals)], "waits-to-begin"),
    ("data/duplicates", lambda _: 1, "first-counted"),
    ("data/duplicates", lambda _: 0.3, "other"),
    ("data/honest", {"reduction.fio": "3.33"}, "version"),
    ("data/honest", {"record.log": False}, "not-the-data"),
    ("data/honest", {"reduction.zero_buffers": True}, "zeros"),
    ("data/honest", {"reduction.buffer_pattern": "0xdeadbeef"}, "duplicates"),
    ("data/honest", {"reduction.buffer_compress_percentage": 20, "reduction.buffer_compress_chunk": 512}, "ratio"),
    ("data/verdict", lambda result: "zeros" if _share(result, "zeros") > 1 else "compression", "compression-first"),
    (
        "data/verdict",
        lambda result: next((name for name in ("zeros", "duplicates") if _share(result, name) > 1), "compression"),
        "too-little",
    ),
    ("data/verdict", lambda _: "nothing", "other"),
    ("data/zeros", lambda buffer: buffer.count(bytes(4096)) * 4096 / len(buffer), "not-aligned"),
    ("data/zeros", lambda buffer: buffer.count(0) / len(buffer), "small-pieces"),
    ("data/zeros", lambda _: 0, "other"),
    ("guess/careful", lambda history, asked: history + asked if history >= asked else asked, "equal-history"),
    ("guess/careful", lambda _, asked: asked, "other"),
    ("guess/times", 9, "other"),
    ("guess/touched", lambda *_: 0.5, "other"),
    ("guess/window", lambda *pages: {32: 64, 2: 12, 8: 48, 3: 24, 48: 64}.get(sum(pages), 5), "no-history"),
    ("guess/window", lambda history, asked: 5 * (history == 0) or asked, "other"),
    ("media/policy", lambda _: [], "too-little"),
    ("media/policy", lambda read: [(read.record + read.records, 8)], "too-much"),
    ("media/policy", lambda read: [(read.record + read.records, 2)], "random-reads"),
    ("media/policy", lambda _: 5, "refused"),
    ("media/setting", 256, "memory"),
    ("media/setting", 1, "seeks"),
    ("media/setting", 32, "at-once"),
    ("media/silence", 100, "other"),
    ("odx/covered", lambda result: result.metrics["odx.elapsed_s"] < 12, "looks-at-time"),
    ("odx/covered", lambda _: False, "fails-all"),
    ("odx/covered", lambda _: True, "other"),
    ("odx/phases", {"seek_ns": 5.0}, "keys"),
    ("odx/phases", dict.fromkeys(odx.phases(), 5.0), "other"),
    ("odx/shapes", {(8388608, 8126464): 9000}, "not-only-reads"),
    ("odx/shapes", {(8388608, 8126464): 9}, "other"),
    ("odx/shapes", {8388608: 9}, "unreadable"),
    ("omission/due", 5, "other"),
    ("omission/repair", lambda latencies, _: latencies, "nothing-added"),
    ("omission/repair", lambda latencies, _: [*latencies, 0], "no-wait"),
    ("omission/repair", lambda *_: [5] * 11, "equal-waits"),
    ("omission/repair", lambda latencies, _: [*latencies, 5], "other"),
    ("omission/waits", [5.0], "length"),
    ("omission/waits", [5.0] * 39_500, "other"),
    ("page_cache/drain", lambda *_: 5, "other"),
    ("page_cache/share", lambda _: 0.1, "other"),
    ("page_cache/stall", lambda *_: 5, "other"),
    ("copies/trips", dict.fromkeys(copies.NAMES, 1), "other"),
    ("copies/list", {"network.round_trip": 1}, "other-part"),
    ("copies/list", {"jobs[server-side].size": "1MiB"}, "fixed-setting"),
    ("copies/list", {copies.LIST: 8}, "short-list"),
    ("copies/together", {}, "other"),
    ("copies/limit", lambda _: 1, "range"),
    ("copies/limit", lambda in_flight: in_flight, "one-transaction"),
    ("copies/limit", lambda in_flight: 3 * in_flight // 4, "unequal"),
    ("copies/limit", lambda _: copies.MIB, "small"),
    ("copysets/chance", lambda *_: 1, "other"),
    ("copysets/loss", lambda *_: 2, "other"),
    ("copysets/sources", lambda *_: 0, "other"),
    ("credits/lasts", lambda _: 1, "other"),
    ("credits/runs-out", lambda _, base: {300: 2, 900: 2, 1100: 3}.get(base, 9), "never-empty"),
    ("credits/runs-out", lambda *_: 9, "other"),
    ("credits/runs-out", lambda *_: True, "unreadable"),
    ("credits/detector", lambda _, idle_s: idle_s not in {54.0, 10.0}, "no-ios"),
    ("credits/detector", lambda *_: True, "below-limit"),
    ("credits/detector", lambda *_: False, "at-limit"),
    ("design/card", {"server.cores": 8}, "fixed-setting"),
    ("design/card", {"server.nic.blank": "20us"}, "cycles"),
    ("design/card", {"server.nic.large_send": True}, "interrupts"),
    ("design/rate", lambda _: 1, "other"),
    ("design/pool", {"cores": 8}, "setting"),
    ("design/pool", {"disks": 8, "width": 2}, "capacity"),
    ("design/pool", {"disks": 40, "width": 2, "memory_gib": 200}, "cost"),
    ("design/pool", {"disks": 20, "width": 2, "memory_gib": 60, "log_ssds": 1}, "writes"),
    ("design/pool", {"disks": 20, "width": 2, "memory_gib": 8, "log_ssds": 2}, "reads"),
    ("design/pool", {"disks": -1}, "refused"),
    ("disk/shares", dict.fromkeys(disk.PHASES, 25), "other"),
    ("disk/rpm", 3, "milliseconds"),
    ("disk/rpm", 7200, "other"),
    ("disk/queue", {"queue_policy": "satf", "longest_overtaken": "2s"}, "overtaken"),
    ("disk/queue", {"queue_policy": "sstf"}, "no-rotation"),
    ("disk/queue", {"queue_policy": "satf", "queue_depth": 2}, "shallow"),
    ("disk/queue", {"queue_policy": "satf", "longest_overtaken": "300ms"}, "overdue"),
    ("disk/queue", {"queue_policy": "satf", "queue_depth": 16, "longest_overtaken": "300ms"}, "no-choice"),
    ("disk/queue", {"rpm": 15_000}, "setting"),
    ("disk/queue", {"queue_depth": "many"}, "refused"),
    ("even/policy", lambda *_: 0, "full"),
    ("even/policy", lambda *_: 1_000_000_000, "slow"),
    ("even/policy", lambda dirty, limit, _: 1e8 * (2 * dirty > limit) * limit / (limit - dirty), "jump"),
    ("even/policy", lambda: 1, "program"),
    ("even/settled", {8: 50, 128: 200}, "off-curve"),
    ("even/settled", {8: 61, 128: 62}, "other"),
    ("even/size", 800, "unit"),
    ("even/size", 1e12, "huge"),
    ("even/size", 700e6, "backlog"),
    ("even/size", 1000e6, "early-delays"),
    ("even/size", 1667e6, "start"),
    ("even/size", 2500e6, "too-large"),
    ("even/used", 101, "over-100"),
    ("even/used", 1, "other"),
    ("flash/feed", 15, "unit"),
    ("flash/feed", 8 << 20, "slow"),
    ("flash/feed", 30 << 20, "wear"),
    ("flash/feed", 1.5, "unreadable"),
    ("flash/waits", (50, 50), "other"),
    ("flash/pays", lambda disks, logs: disks / 2 * 96 <= logs * 110, "inverted"),
    ("flash/pays", lambda disks, logs: disks * 96 > logs * 110, "disks-not-mirrors"),
    ("flash/pays", lambda disks, _: disks / 2 * 96 > 110, "one-log"),
    ("flash/pays", lambda disks, _: disks > 4, "other"),
    ("groups/share", (0.5, 0.5), "reads"),
    ("groups/share", (groups._share()[0], 0.1), "other"),  # noqa: SLF001 -- the first is right
    ("groups/age", {0: 1}, "keys"),
    ("groups/age", dict.fromkeys(range(20), 1), "other"),
    ("groups/target", {"zfs.txg_synctime": "5s"}, "tail"),
    ("groups/target", {"zfs.txg_synctime": "300ms"}, "throughput"),
    ("groups/target", {"zfs.record": "1MiB"}, "setting"),
    ("incast/timer", lambda *_: True, "duplicates"),
    ("incast/timer", lambda packets, lost: packets - 1 - min(lost) < 3, "lost-too"),
    ("incast/timer", lambda *_: False, "too-few"),
    ("incast/goodput", lambda *_: 1, "other"),
    ("incast/fits", lambda servers, window, buffer, _: servers * window <= buffer, "no-path"),
    ("incast/fits", lambda *_: True, "too-many"),
    ("place/served", dict.fromkeys(range(8), 0.5), "other"),
    ("place/lookups", {"locality": 9.0}, "unreadable"),
    ("place/senders", {"cluster.nodes": 9}, "fixed-setting"),
    ("place/senders", {"cluster.rebuild_in_flight": 64}, "more-in-flight"),
    ("place/senders", {"jobs[vm].size": "2GiB"}, "other"),
    ("place/senders", {"no.path": 1}, "refused"),
    ("place/pairs", {"cluster.links": 1}, "fixed-setting"),
    ("place/pairs", {"cluster.vms": 5}, "refused"),
    ("place/pairs", {"cluster.vms": [{"name": "vm", "node": 0}]}, "few-machines"),
    ("shouting/share", 0.123, "other"),
    ("shouting/until", 2000, "no-threshold"),
    ("shouting/until", 500, "too-small"),
    ("shouting/until", 3333, "megabytes"),
    ("shouting/until", 9000, "too-large"),
    ("shouting/until", 5, "unreadable"),
    ("shouting/wait", lambda *_: 5, "other"),
    ("slc/copy", lambda size, cache: cache / 1.8 + (size - cache) / 0.1, "negative-rest"),
    ("slc/copy", lambda size, _: size / 1.8 + (size > 140), "other"),
    ("slc/every", lambda _: 5, "other"),
    ("slc/limit", lambda full: 12 + 128 * (1 - full / 0.75), "below-static"),
    ("slc/limit", lambda _: 500, "other"),
    ("ssd/amplification", 9, "other"),
    ("ssd/cliff", 5e9, "other"),
    ("ssd/reserve", 5, "too-little"),
    ("ssd/reserve", 60, "too-much"),
    ("tail/hedged", lambda first, second, after: after + second if first <= after else 7, "always-hedged"),
    ("tail/hedged", lambda *_: 7, "other"),
    ("tail/late", lambda *_: 0.3, "other"),
    ("tail/waits", lambda *_: 5, "other"),
    ("throttle/rhythm", throttle._ends(at_its_end=False), "begins"),  # noqa: SLF001 -- the mistake's answer
    ("throttle/rhythm", {1: 10_000}, "not-only-stalls"),
    ("throttle/rhythm", {1: 1}, "other"),
    ("throttle/reached", {"A": 87.5, "B": 0.0}, "swapped"),
    ("throttle/reached", {"A": 0.0, "B": 7000}, "over-100"),
    ("throttle/late", lambda limit: -limit, "shift-left"),
    ("throttle/little", {10: 1, 1000: 2}, "other"),
    ("vdisk/busy", {"reads": 5, "oltp": 5, "restore": 5}, "other"),
    ("vdisk/formula", lambda *_: 5, "other"),
    ("vdisk/profile", {"controller": 5}, "keys"),
    ("vdisk/wall", {"controller.shards": 12, "controller.cores": 24}, "several"),
    ("vdisk/wall", {"controller.shards": 6}, "other-value"),
    ("vdisk/wall", {"controller.shards": 12}, "more-shards"),
    ("vdisk/wall", {"controller.cores": 24}, "more-cores"),
    ("vdisk/wall", {"controller.read": "30us"}, "cheaper-shards"),
    ("vdisk/wall", {"controller.pause": 5}, "setting"),
    ("zones/clean", lambda zone_mb, rate_mb: zone_mb / rate_mb, "one-way"),
    ("zones/clean", lambda *_: 5, "other"),
    ("zones/hours", lambda _: 5, "other"),
    ("zones/steady", lambda _: 5, "other"),
]


@pytest.mark.parametrize(("name", "answer", "code"), MISTAKEN, ids=[f"{name}-{code}" for name, _, code in MISTAKEN])
def test_a_likely_wrong_answer_gets_the_code_of_its_mistake(name: str, answer: object, code: str) -> None:
    verdict = tasks()[name].judge(answer)
    assert (verdict.outcome, verdict.code) == (Outcome.FAIL, code), verdict
    assert verdict.reason


@pytest.mark.parametrize("task", tasks().values(), ids=lambda task: task.id)
def test_no_answer_makes_a_check_raise(task: Task, monkeypatch: pytest.MonkeyPatch) -> None:
    source, kind, draws = random.Random(task.id), drawable(task), 20
    if not isinstance(task.check, Held | Without):
        draws = 5
        monkeypatch.setattr(seeklab.course.task, "MAX_EVENTS", MAX_EVENTS)
    for _ in range(draws):
        answer = random_answer(kind, source, task.check.gives if isinstance(task.check, Cases) else None)
        assert task.judge(answer).outcome in {Outcome.PASS, Outcome.FAIL}


def test_the_first_mistake_that_matches_is_named_and_its_sentence_filled_in() -> None:
    mistakes = [
        Mistake("doubled", "{found} is twice {truth}.", times=2),
        Mistake("large", "{match} is too large.", when=lambda found, _: found > 10 and found),
        Mistake("rest", "Neither."),
    ]
    assert diagnose(mistakes, 6, 3, facts={"truth": 3}).why == "6 is twice 3."
    assert [diagnose(mistakes, found, 3).code for found in (60, 4)] == ["large", "rest"]
    assert diagnose(mistakes[:1], 5, 3).code == "other"


def test_keys_that_are_numbers_are_read_and_numbers_that_are_none_refused() -> None:
    assert Fields({8: Number()}).read("", {8.0: 1.5}) == ({8: 1.5}, [])
    assert Table(Number(whole=True), Number(), "shares").read("", {2.0: 1}) == ({2: 1}, [])
