"""Predictions about the ZFS write path at inputs that no case knows, against formulas written apart from the engine."""

from __future__ import annotations

import random
from math import floor
from typing import TYPE_CHECKING, Any, TypeVar

import pytest

import seeklab

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

T = TypeVar("T")

DRAWN = random.Random(2_013_2008)
MIB = 1 << 20
MS, US, S = 1_000_000, 1000, 1_000_000_000
BLOCK = 8 << 10
TARGET_S = 5
OTHER_INPUTS = 2


def draws(draw: Callable[[], T], count: int = OTHER_INPUTS) -> list[T]:
    """Draw inputs from the tests' seed."""
    return [draw() for _ in range(count)]


def between(low: int, high: int) -> Callable[[], int]:
    """Draw a whole number."""
    return lambda: DRAWN.randint(low, high)


def metrics(case_id: str, variant: str, changes: Mapping[str, Any]) -> Mapping[str, float]:
    """Run a variant with changes."""
    return seeklab.case(case_id).with_(changes).run(variant).metrics


# Z1.2


@pytest.mark.parametrize(
    ("threads", "rate_mib", "cycles"), draws(lambda: (DRAWN.randint(4, 40), DRAWN.randint(20, 80), DRAWN.randint(4, 9)))
)
def test_each_thread_stops_once_in_each_group(threads: int, rate_mib: int, cycles: int) -> None:
    runtime_s = cycles * TARGET_S + 2
    found = metrics(
        "throttle-2008",
        "2008",
        {
            "jobs[writers].numjobs": threads,
            "jobs[writers].runtime": f"{runtime_s}s",
            "devices[pool].lun.rate": rate_mib * MIB,
            "zfs.write_limit": TARGET_S * rate_mib * MIB,
        },
    )
    groups = floor(runtime_s / TARGET_S) + 1
    assert found["writers.write_stalls"] == threads * groups
    assert found["zfs_groups_with_stops"] == groups


# Z2.1: a group takes 5 s to drain. So long as the next one cannot sync, each thread makes one write a tick; the rest of
# the group is filled at the speed of memory, 8 KiB in 20 us and thread.

COPY_S = BLOCK / 409_600_000
TICK_S = 0.01
CYCLES = 8


@pytest.mark.parametrize("threads", draws(between(4, 14)))
def test_few_threads_are_delayed_as_often_wherever_the_threshold_lies(threads: int) -> None:
    group = TARGET_S * 100 * MIB / BLOCK
    each_s = TICK_S + COPY_S

    def delayed(fast_writes: float) -> float:
        return (TARGET_S - fast_writes * COPY_S / threads) * threads / each_s

    with_bug = (TARGET_S - group * COPY_S / threads) * threads / each_s / (1 - COPY_S / each_s)
    for variant, expected in (("bug-ten", with_bug), ("intended-ten", delayed(group * 7 / 8))):
        found = metrics("delay-everything", variant, {"jobs[writers].numjobs": threads})
        assert found["zfs_delayed_writes"] == pytest.approx(CYCLES * expected, rel=0.02)
        assert found["writers.write_mib_per_s"] == pytest.approx(100, rel=0.02)


# Z3.1 and Z3.2


@pytest.mark.parametrize(("threads", "rate_mib"), draws(lambda: (DRAWN.randint(4, 40), DRAWN.randint(60, 300))))
def test_a_group_is_free_until_seven_eighths(threads: int, rate_mib: int) -> None:
    writes_per_s = rate_mib * MIB / BLOCK
    found = metrics(
        "frictionless",
        "steady",
        {
            "jobs[writers].numjobs": threads,
            "jobs[writers].rate_iops": writes_per_s / threads,
            "devices[pool].lun.rate": rate_mib * MIB,
            "zfs.write_limit": TARGET_S * rate_mib * MIB,
        },
    )
    free = writes_per_s * TARGET_S * 7 / 8
    # All threads ask in one instant: those of that instant have not been copied yet.
    assert found["zfs_writes_before_delay"] == pytest.approx(free, abs=threads)
    assert found["zfs_first_delay_s"] == pytest.approx(TARGET_S * 7 / 8, rel=0.001)
    cycle_us = threads * 1e6 / found["writers.write_iops"]
    assert cycle_us == pytest.approx(threads * 1e6 / writes_per_s, rel=0.01)


# Z4.1 and Z4.6


@pytest.mark.parametrize(("threads", "rate_mib"), draws(lambda: (DRAWN.randint(250, 1500), DRAWN.randint(60, 140))))
def test_a_later_group_is_seven_eighths_free_and_stops_each_thread(threads: int, rate_mib: int) -> None:
    found = metrics(
        "thousand-threads",
        "thousand",
        {
            "jobs[writers].numjobs": threads,
            "devices[pool].lun.rate": rate_mib * MIB,
            "zfs.write_limit": TARGET_S * rate_mib * MIB,
        },
    )
    group = TARGET_S * rate_mib * MIB // BLOCK
    assert found["zfs_later_groups_blocked_p50"] == threads
    assert found["zfs_later_groups_not_delayed_p50"] == pytest.approx(group * 7 / 8 - threads, abs=1)
    assert found["zfs_later_groups_delayed_p50"] == pytest.approx(group / 8, rel=0.01)


# Z5.1


def on_the_diagonal() -> tuple[int, int, int]:
    """Draw a rate, the age of a group and more than the diagonal allows in it, in MiB/s, ns and MiB."""
    rate, age_ns = DRAWN.randint(50, 300), DRAWN.randrange(100, 900) * MS + DRAWN.randrange(MS)
    return rate, age_ns, rate * age_ns // S + DRAWN.randint(1, 60)


@pytest.mark.parametrize(("rate_mib", "age_ns", "inside_mib"), draws(on_the_diagonal, 5))
def test_the_diagonal_delays_until_it_covers_what_is_inside(rate_mib: int, age_ns: int, inside_mib: int) -> None:
    found = metrics(
        "diagonal",
        "example",
        {
            "zfs.diagonal_rate": rate_mib * MIB,
            "zfs.record": MIB,
            "jobs[writers].bs": MIB,
            "jobs[writers].size": MIB,
            "jobs[writers].numjobs": inside_mib,
            "jobs[next].bs": MIB,
            "jobs[next].size": MIB,
            "jobs[writers].startdelay": age_ns,
            "jobs[next].startdelay": age_ns,
        },
    )
    # Each write finds those before it inside.
    waits_ns = sum(max(0, before_mib * S // rate_mib - age_ns) for before_mib in range(inside_mib + 1))
    assert round(found["zfs_delay_total_s"] * S) == waits_ns > 0


# Z6.1 and Z6.2: Python's integers have no largest.


def delay_ns(dirty: int, most: int, percent: int, scale_ns: int, longest_ns: int) -> int:
    """Give the delay of 2013 as its description says it."""
    start = most * percent // 100
    return 0 if dirty <= start else min(scale_ns * (dirty - start) // (most - dirty), longest_ns)


def test_the_delay_is_that_of_big_integers_at_ten_thousand_inputs() -> None:
    source = random.Random(6_1)
    tried = 0
    for _ in range(100):
        most = 1 + source.randrange(1 << source.randint(8, 56))
        percent, scale_ns = source.randint(0, 100), source.choice((500_000, source.randrange(1, 10 * S)))
        longest_ns = source.choice((100 * MS, source.randrange(1, 1 << 60)))
        dirty = [source.randrange(most) for _ in range(90)]
        dirty += [most - 1 - source.randrange(min(most, 50)) for _ in range(10)]
        given = {
            "dirty_data_max": most,
            "delay_min_dirty_percent": percent,
            "delay_scale": scale_ns,
            "delay_max": longest_ns,
        }
        points = seeklab.curve("openzfs-delay", dirty, given)
        expected = [delay_ns(x, most, percent, scale_ns, longest_ns) for x in dirty]
        assert [point["y"] for point in points] == expected, given
        tried += len(points)
    assert tried == 10_000


def writes_in_flight(dirty: int, span: tuple[int, int], least: int, high: int) -> int:
    """Give the most group writes in flight as the description of 2013 says it."""
    begins, ends = span
    if dirty < begins:
        return least
    if dirty > ends or begins == ends:
        return high
    return (dirty - begins) * (high - least) // (ends - begins) + least


@pytest.mark.parametrize(("era", "least"), [("2013", 1), ("0.7", 2)])
def test_the_ramp_is_that_of_big_integers(era: str, least: int) -> None:
    source = random.Random(6_2)
    for _ in range(50):
        most = 1 + source.randrange(1 << source.randint(8, 56))
        begins, ends = sorted((source.randint(0, 100), source.randint(0, 100)))
        high = source.randint(least, 40)
        dirty = [source.randrange(most + 1) for _ in range(100)]
        given = {
            "era": era,
            "dirty_data_max": most,
            "max_active": high,
            "min_dirty_percent": begins,
            "max_dirty_percent": ends,
        }
        points = seeklab.curve("openzfs-async-writes", dirty, given)
        span = (most * begins // 100, most * ends // 100)
        assert [point["y"] for point in points] == [writes_in_flight(x, span, least, high) for x in dirty], given


# Z6.3: writes at drawn times; half of them must read their block first and have credit for it.

SMALL = 4 << 10
READ_NS = 100 * US
COPY_RATE = 8_192_000_000


def late_writes(seed: int) -> list[tuple[int, bool]]:
    """Draw when writes begin and whether they change half a block; far enough apart that no two read at once."""
    source = random.Random(seed)
    now_ns, writes = 2 * S, []
    for _ in range(40):
        now_ns += READ_NS + source.randrange(300 * US)
        writes.append((now_ns, source.random() < 0.5))
    return writes


def expected_delays(writes: list[tuple[int, bool]], dirty: int, most: int) -> list[int]:
    """Give what each write sleeps, by the rule of the shared time line."""
    copies_ns: list[int] = []
    last_ns, delays = 0, []
    asks = sorted((start + READ_NS * half, start, half, index) for index, (start, half) in enumerate(writes))
    for now, start, half, index in asks:
        inside = dirty + SMALL * sum(done <= now for done in copies_ns)
        due = delay_ns(inside, most, 60, 500 * US, 100 * MS)
        wake = now
        if inside > most * 60 // 100 and now <= start + due:
            wake = last_ns = max(start + due, last_ns + due)
        delays.append((index, wake - now))
        copies_ns.append(wake + -(-(SMALL // 2 if half else SMALL) * S // COPY_RATE))
    return [delay for _, delay in sorted(delays)]


@pytest.mark.parametrize("dirty_blocks", draws(between(620, 900), 4))
def test_writers_share_one_time_line_and_are_credited_their_reads(dirty_blocks: int) -> None:
    writes = late_writes(dirty_blocks)
    result = seeklab.run(
        {
            "zfs": {
                "era": "openzfs-2013",
                "record": SMALL,
                "memory": "16GiB",
                "dirty_data_max": 1000 * SMALL,
                "dirty_data_sync": "16GiB",
                "copy_rate": COPY_RATE,
            },
            "devices": [{"lun": {"capacity": "1TiB", "rate": SMALL * S // READ_NS}}],
            "jobs": [
                {"name": "fill", "rw": "write", "bs": SMALL, "size": SMALL, "numjobs": dirty_blocks, "number_ios": 1},
                *(
                    {
                        "name": f"late{index}",
                        "rw": "write",
                        "bs": SMALL // 2 if half else SMALL,
                        "size": SMALL,
                        "number_ios": 1,
                        "startdelay": start,
                    }
                    for index, (start, half) in enumerate(writes)
                ),
            ],
            "record": {"log": True},
        }
    )
    slept = {row["job"]: row["throttle_delay_ns"] for row in result.ops.rows()}
    found = [slept[index + 1] for index in range(len(writes))]
    assert found == expected_delays(writes, dirty_blocks * SMALL, 1000 * SMALL)
    assert any(found)


# Z6.6


def settling() -> tuple[int, int, int, int]:
    """Draw a block, a backend's rate, writers and a scale."""
    block, rate = DRAWN.choice((16, 32, 64)) << 10, DRAWN.randint(60, 200) * 10**6
    return block, rate, DRAWN.randint(4, 128), DRAWN.randint(200, 900) * US


@pytest.mark.parametrize(("block", "rate", "threads", "scale_ns"), draws(settling))
def test_dirty_data_settle_where_the_delay_matches_the_backend(
    block: int, rate: int, threads: int, scale_ns: int
) -> None:
    found = metrics(
        "openzfs-throttle",
        "small-blocks",
        {
            "zfs.record": block,
            "zfs.delay_scale": scale_ns,
            "devices[pool].lun.rate": rate,
            "jobs[writers].bs": block,
            "jobs[writers].numjobs": threads,
        },
    )
    each_ns = block * S / rate
    expected = (each_ns + 0.6 * scale_ns) / (each_ns + scale_ns)
    assert found["zfs_dirty_settled_share_percent"] == pytest.approx(100 * expected, rel=0.005)


# Z8.1

FIRST_SYNC = 64 * MIB


@pytest.mark.parametrize(
    ("most", "client", "backend"),
    draws(lambda: (DRAWN.randint(150, 600) * 10**6, DRAWN.randint(180, 400) * 10**6, DRAWN.randint(50, 120) * 10**6)),
)
def test_the_first_delay_comes_when_the_burst_has_filled_three_fifths(most: int, client: int, backend: int) -> None:
    found = metrics(
        "dirty-sizing",
        "200-mb",
        {"zfs.dirty_data_max": most, "devices[pool].lun.rate": backend, "jobs[client].rate": client // 16},
    )
    expected_s = FIRST_SYNC / client + (0.6 * most - FIRST_SYNC) / (client - backend)
    assert found["zfs_first_delay_s"] == pytest.approx(expected_s, rel=0.03)
