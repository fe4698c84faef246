"""A fingerprint can be computed by anybody: XXH64 over the operation log, as the kernel describes it."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING

import pytest

import seeklab

if TYPE_CHECKING:
    from collections.abc import Iterator

MASK = (1 << 64) - 1
P1, P2, P3, P4, P5 = (
    11400714785074694791,
    14029467366897019727,
    1609587929392839161,
    9650029242287828579,
    2870177450012600261,
)
"""The primes of XXH64, from its specification."""


def _rotated(word: int, by: int) -> int:
    return ((word << by) | (word >> (64 - by))) & MASK


def _round(lane: int, word: int) -> int:
    return _rotated((lane + word * P2) & MASK, 31) * P1 & MASK


def xxh64(words: list[int]) -> int:
    """Hash 64-bit little-endian words with seed 0."""
    rest, count = 0, len(words)
    if count >= 4:
        lanes = [(P1 + P2) & MASK, P2, 0, (-P1) & MASK]
        rest = count - count % 4
        for place in range(0, rest, 4):
            lanes = [_round(lane, word) for lane, word in zip(lanes, words[place : place + 4], strict=True)]
        value = sum(_rotated(lane, by) for lane, by in zip(lanes, (1, 7, 12, 18), strict=True)) & MASK
        for lane in lanes:
            value = ((value ^ _round(0, lane)) * P1 + P4) & MASK
    else:
        value = P5
    value = (value + 8 * count) & MASK
    for word in words[rest:]:
        value = (_rotated(value ^ _round(0, word), 27) * P1 + P4) & MASK
    value = (value ^ (value >> 33)) * P2 & MASK
    value = (value ^ (value >> 29)) * P3 & MASK
    return value ^ (value >> 32)


def _words(ops: seeklab.Table) -> Iterator[int]:
    columns = [ops[name] for name in ("job", "op", "offset", "bytes", "submit_ns", "latency_ns")]
    for job, op, offset, size, submitted, latency in zip(*columns, strict=True):
        yield from (int(job) * 2 + int(op), int(offset), int(size), int(submitted), int(submitted) + int(latency))


def test_the_hash_of_this_test_is_the_published_one() -> None:
    assert f"{xxh64([]):016x}" == "ef46db3751d8e999"
    assert xxh64([struct.unpack("<Q", b"abcdefgh")[0]]) == 0x3AD351775B4634B7


@pytest.mark.parametrize("case", ["odx-prefetch", "misaligned-io", "copy-offload"])
def test_a_fingerprint_is_the_hash_of_the_operation_log(case: str) -> None:
    result = seeklab.case(case).run()
    assert f"{xxh64(list(_words(result.ops))):016x}" == result.fingerprint
