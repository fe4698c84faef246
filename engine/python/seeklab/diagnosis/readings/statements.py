"""Readings of the slow statements and requests that applications log: where their time went, as far as they tell."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from seeklab.bring.block import Value
from seeklab.diagnosis.reading import Reading, Strength, count
from seeklab.diagnosis.reading import time as in_time

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from seeklab.bring.block import Block

MANY_ROWS, PER_ROW = 10_000, 1000
"""Rows that a statement examines without an index, and how many for each row that it returns."""
MOSTLY = 0.5
PEERS = ("sub_op_commit_rec", "waiting for subops", "waiting for sub ops")
"""States of a request of Ceph that waits for another OSD."""


def read(blocks: Sequence[Block]) -> Iterator[Reading]:
    """Yield what logged statements and requests say about their time."""
    for block in blocks:
        values = [record for record in block.records if isinstance(record, Value)]
        if block.tool in ("mongodb-log", "mysql-log"):
            yield from _statements(block.tool.removesuffix("-log"), list(_lines(values)))
        elif block.tool == "elasticsearch-log":
            yield from _collections(list(_lines(values)))
        elif block.tool == "ceph-log":
            yield from _requests([str(value.value) for value in values if value.name == "currently"])


def _lines(values: Sequence[Value]) -> Iterator[dict[str, float | str]]:
    """Yield the values of each line."""
    of: dict[int, dict[str, float | str]] = {}
    for value in values:
        of.setdefault(value.line, {})[value.name] = value.value
    yield from of.values()


def _number(of: dict[str, float | str], name: str) -> float:
    value = of.get(name)
    return value if isinstance(value, float) else 0.0


def _statements(program: str, statements: Sequence[dict[str, float | str]]) -> Iterator[Reading]:
    """Find statements that examine far more rows than they return, and statements that wait for locks."""
    broad = [
        of
        for of in statements
        if _number(of, "examined") >= max(MANY_ROWS, PER_ROW * _number(of, "returned")) and _number(of, "ms") > 0
    ]
    if broad:
        most = max(broad, key=lambda of: _number(of, "examined"))
        ms, reading_ms = _number(most, "ms"), _number(most, "us of reading") / 1e3
        is_told = "us of reading" in most or "storage" in most
        storage = (
            f" Reads from the storage took {in_time(reading_ms) if reading_ms else 'none'} of it." if is_told else ""
        )
        yield Reading(
            "rows-examined",
            program,
            f"A statement of {program} examines {count(_number(most, 'examined'))} rows to return "
            f"{count(_number(most, 'returned'))}, and takes {in_time(ms)}.{storage}",
            f"{in_time(ms)} / {count(_number(most, 'examined'))} = {in_time(ms / _number(most, 'examined'))} for a row",
            Strength.WORDS,
            {
                "ms": ms,
                "examined": _number(most, "examined"),
                "of_storage": reading_ms / ms if is_told else 1.0,
                "statements": len(broad),
            },
        )
    locked = [of for of in statements if _number(of, "s of locks") * 1e3 > MOSTLY * _number(of, "ms") > 0]
    if locked:
        longest = max(locked, key=lambda of: _number(of, "s of locks"))
        yield Reading(
            "lock-waits",
            program,
            f"{len(locked)} of {len(statements)} slow statements of {program} wait for locks most of their time, "
            f"{in_time(1e3 * _number(longest, 's of locks'))} of {in_time(_number(longest, 'ms'))} at the longest.",
            "",
            Strength.WORDS,
            {"lines": len(locked)},
        )


def _collections(intervals: Sequence[dict[str, float | str]]) -> Iterator[Reading]:
    """Compare the time of garbage collections with the intervals that the log names."""
    known = [of for of in intervals if _number(of, "interval") > 0]
    if not known:
        return
    spent, of_all = sum(_number(of, "ms") for of in known), sum(_number(of, "interval") for of in known)
    share = min(1.0, spent / of_all)
    yield Reading(
        "gc-overhead",
        "java",
        f"In {len(known)} {'interval' if len(known) == 1 else 'intervals'} that the log names, Java spends "
        f"{100 * share:.0f}% of the time on collecting garbage. The program stops meanwhile, and slow disks do "
        "not cause it.",
        f"{in_time(spent)} / {in_time(of_all)} = {count(share)}",
        Strength.WORDS,
        {"share": share, "ms": spent},
    )


def _requests(states: Sequence[str]) -> Iterator[Reading]:
    """Say what slow requests of Ceph were waiting for when they were logged."""
    if not states:
        return
    state, number = Counter(states).most_common(1)[0]
    waits = state.startswith(PEERS)
    where = " That is another OSD, or the network to it: compare its device with the others." if waits else ""
    yield Reading(
        "requests-wait-for-peer" if waits else "requests-wait",
        "ceph",
        f'{number} of {len(states)} slow requests were in the state "{state}".{where}',
        "",
        Strength.WORDS,
        {"share": number / len(states), "requests": len(states)},
    )
