"""Notebook 15, data that compresses: its tasks."""

from __future__ import annotations

import random
from functools import cache
from itertools import pairwise
from typing import TYPE_CHECKING

from seeklab._case import case
from seeklab.course.task import Task
from seeklab.judge import Bound, Cases, Change, Function, Mistake, Settings, Word

if TYPE_CHECKING:
    from collections.abc import Sequence

    from seeklab._result import Result

CASE = "compressible-data"
BLOCK = 4096
ZERO_BUFFERS = {"reduction.buffer_compress_percentage": 0, "reduction.zero_buffers": True}
WORTH = 0.1
"""The smallest share of the data that counts as savings."""
SAVERS = ("zeros", "duplicates", "compression")


@cache
def _buffers() -> dict[bytes, str]:
    """Return buffers, each with its description."""
    noise = random.Random(1)
    empty = bytes(BLOCK)
    return {
        noise.randbytes(8 * BLOCK) + 8 * empty: "a buffer of 16 blocks, 8 of them zeros",
        b"".join(noise.randbytes(256) + bytes(256) for _ in range(128)): "256 zeros in each 512 bytes",
        noise.randbytes(BLOCK // 2) + empty + noise.randbytes(BLOCK // 2): "4,096 zeros from the middle of a block on",
        4 * empty: "a buffer of zeros",
    }


@cache
def _written() -> dict[tuple[bytes, ...], str]:
    """Return lists of buffers, each with its description."""
    noise = random.Random(2)
    one = noise.randbytes(16 * BLOCK)
    first, second = one[:BLOCK], one[BLOCK : 2 * BLOCK]
    return {
        (one,) * 64: "one buffer sent 64 times",
        (first + second, second + first): "two buffers with the same two blocks in another order",
        tuple(noise.randbytes(2 * BLOCK) for _ in range(4)): "buffers without a common block",
    }


@cache
def _loads() -> dict[str, Result]:
    runs = {name: case(CASE).run(name) for name in case(CASE).variants}
    return {**runs, "zero buffers": case(CASE).with_(ZERO_BUFFERS).run("percentage-2017")}


def _blocks(buffer: bytes) -> list[bytes]:
    return [buffer[start : start + BLOCK] for start in range(0, len(buffer), BLOCK)]


def _zeros(buffer: bytes) -> float:
    blocks = _blocks(buffer)
    return sum(not any(block) for block in blocks) / len(blocks)


def _duplicates(buffers: Sequence[bytes]) -> float:
    return 1 - len(set(buffers)) / len(buffers)


def _saver(result: Result) -> str:
    stages = ("in", *(f"after_{saver}" for saver in SAVERS))
    sizes = [result.metrics[f"reduction_{stage}_bytes"] for stage in stages]
    saved = [before - after for before, after in pairwise(sizes)]
    return SAVERS[saved.index(max(saved))] if sum(saved) >= WORTH * sizes[0] else "nothing"


TASKS = (
    Task(
        "data/zeros",
        question=(
            "Write zero suppression: a function of a buffer that returns the share of its blocks of 4,096 bytes "
            "that are all zeros. The check uses buffers that you have not seen."
        ),
        kind=Function("a buffer"),
        check=Cases(
            _zeros,
            lambda: [(buffer,) for buffer in _buffers()],
            lambda buffer: f"For {_buffers()[buffer]}",
            (
                Mistake(
                    "count",
                    "That is the number of empty blocks; return their share.",
                    gives=lambda buffer: _zeros(buffer) * len(_blocks(buffer)),
                ),
                Mistake("percent", "That is in percent; return a share from 0 to 1.", times=100),
                Mistake(
                    "not-aligned",
                    "The zeros are in two blocks, but neither of them is empty: blocks start at multiples of 4,096.",
                    when=lambda _, truth, buffer: not truth and bytes(BLOCK) in buffer,
                ),
                Mistake(
                    "small-pieces",
                    "That counts bytes, or pieces smaller than a block. Storage looks at blocks of 4,096 bytes, and "
                    "none of these is all zeros.",
                    when=lambda _, truth, __: not truth,
                ),
                Mistake("other", "Cut the buffer into blocks of 4096 bytes, and count those that are all zeros."),
            ),
        ),
        why="It finds only whole blocks that are empty.",
        hints=(
            "buffer[start:start + 4096] is one block; range(0, len(buffer), 4096) has all starts.",
            "bytes(4096) is a block of zeros to compare with; or test not any(block).",
            "Divide the number of empty blocks by the number of blocks.",
        ),
        answer=(
            "def zeros(buffer):\n"
            "    blocks = [buffer[start:start + 4096] for start in range(0, len(buffer), 4096)]\n"
            "    return sum(not any(block) for block in blocks) / len(blocks)"
        ),
    ),
    Task(
        "data/duplicates",
        question=(
            "Now deduplication: write a function of a list of buffers, in the order they were written. "
            "What share of their blocks of 4,096 bytes was already stored?"
        ),
        kind=Function("a list of buffers"),
        check=Cases(
            lambda buffers: _duplicates([block for buffer in buffers for block in _blocks(buffer)]),
            lambda: [(list(buffers),) for buffers in _written()],
            lambda buffers: f"For {_written()[tuple(buffers)]}",
            (
                Mistake(
                    "first-counted",
                    "The first one must be stored, and is not a duplicate.",
                    when=lambda found, truth, _: truth < found == 1,
                ),
                Mistake(
                    "whole-buffers",
                    "Storage compares blocks of 4,096 bytes, wherever they are in a write: half of these were "
                    "already stored.",
                    gives=_duplicates,
                ),
                Mistake("other", "Count the blocks that equal an earlier one, over all buffers."),
            ),
        ),
        why="It finds blocks that were written before, byte for byte, but not blocks that are merely similar.",
        hints=(
            "Cut each buffer into blocks as before, and put all blocks in one list.",
            "A set keeps each block once.",
            "The blocks that the set does not keep a second time are duplicates: 1 - len(set(blocks)) / len(blocks).",
        ),
        answer=(
            "def duplicates(buffers):\n"
            "    blocks = [buffer[start:start + 4096] for buffer in buffers for start in range(0, len(buffer), 4096)]\n"
            "    return 1 - len(set(blocks)) / len(blocks)"
        ),
    ),
    Task(
        "data/honest",
        question=(
            "Team A wants to test the compressor, with its fio 2.20: two to one from the compressor, and nothing "
            "from zero suppression or deduplication. Which option must be added to "
            "buffer_compress_percentage=50? Assign a dictionary with reduction.<option> and its value."
        ),
        kind=Settings(),
        check=Change(
            lambda changes: case(CASE).with_(changes).run("percentage-2017"),
            lambda: [
                Bound(
                    "reduction_zeros_share_percent",
                    at_most=1,
                    why=Mistake("zeros", "Zero suppression still works: some whole blocks of 4 KiB are all zeros."),
                ),
                Bound(
                    "reduction_duplicates_share_percent",
                    at_most=1,
                    why=Mistake(
                        "duplicates",
                        "The same bytes fill whole blocks of 4 KiB in each write. The rest may compress, but it is not "
                        "half of the data.",
                    ),
                ),
                Bound(
                    "reduction_compression_ratio",
                    at_least=1.8,
                    at_most=2.2,
                    why=Mistake("ratio", "The compressor must find 2 : 1."),
                ),
            ],
            stays=(
                Mistake(
                    "version",
                    "The version stays 2.20, which team A has installed. Use one of its options.",
                    when=lambda changes: "reduction.fio" in changes,
                ),
                Mistake(
                    "not-the-data",
                    "{match} does not change what is in the buffers; the options are called reduction.<option>.",
                    when=lambda changes: next((path for path in changes if not path.startswith("reduction.")), None),
                ),
            ),
        ),
        why="With such a small chunk no block of the storage is empty and none repeats: the compressor gets all data.",
        hints=(
            "[control['path'] for control in case.controls] has options; their paths start with reduction.",
            "What did fio 3.33 do differently?",
            "The chunk: reduction.buffer_compress_chunk, in bytes.",
        ),
        answer='honest = {"reduction.buffer_compress_chunk": 512}',
    ),
    Task(
        "data/verdict",
        question=(
            "Write the verdict of a report: a function of a result that returns the stage that saved the most "
            "bytes: 'zeros', 'duplicates' or 'compression'. If all three together save less than a tenth, it "
            "returns 'nothing'."
        ),
        kind=Function("a result"),
        check=Cases(
            _saver,
            lambda: [(result,) for result in _loads().values()],
            lambda result: f"For {next(name for name, load in _loads().items() if load is result)}",
            (
                Mistake(
                    "compression-first",
                    "The compressor's ratio covers all data after zero suppression. But deduplication precedes "
                    "compression and has already removed those bytes.",
                    when=lambda found, truth, _: (found, truth) == ("compression", "duplicates"),
                ),
                Mistake(
                    "too-little",
                    "All three together save less than a tenth.",
                    when=lambda _, truth, __: truth == "nothing",
                ),
                Mistake("other", "Compare what each of the three saved, in bytes."),
            ),
            gives=Word(),
        ),
        why="A single ratio says that bytes were saved. Only the stages say which of them saved the bytes.",
        hints=(
            "result.metrics has reduction_in_bytes, and reduction_after_X_bytes for zeros, duplicates and compression.",
            "A stage saves the incoming bytes minus the outgoing ones; the stages are in this order.",
            "max(saved, key=saved.get) returns the key with the largest value of a dictionary.",
        ),
        answer=(
            "def verdict(result):\n"
            '    names = ("in", "after_zeros", "after_duplicates", "after_compression")\n'
            '    start, first, second, end = (result.metrics[f"reduction_{name}_bytes"] for name in names)\n'
            '    saved = {"zeros": start - first, "duplicates": first - second, "compression": second - end}\n'
            '    return max(saved, key=saved.get) if start - end >= start / 10 else "nothing"'
        ),
    ),
)
