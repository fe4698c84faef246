"""Notebook 15, data that compresses: what the learner writes."""

from __future__ import annotations

import random
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from seeklab._case import case
from seeklab.course.task import UnconvertedTask as Task

if TYPE_CHECKING:
    from collections.abc import Callable

    from seeklab._result import Result

CASE = "compressible-data"
BLOCK = 4096
NEAR = 0.005
ZERO_BUFFERS = {"reduction.buffer_compress_percentage": 0, "reduction.zero_buffers": True}
WORTH = 0.1
"""Below this share of the data, nothing worth a name was saved."""


def _zeros_wrong(answer: Any) -> str | None:  # noqa: ANN401 -- whatever the learner has made
    if not callable(answer):
        return f"Wanted is a function of a buffer; this is {type(answer).__name__}."
    count: Callable[[bytes], Any] = answer
    noise = random.Random(1)  # noqa: S311 -- data to look at, no secret
    empty = bytes(BLOCK)
    halves = noise.randbytes(8 * BLOCK) + 8 * empty
    sectors = b"".join(noise.randbytes(256) + bytes(256) for _ in range(128))
    straddling = noise.randbytes(BLOCK // 2) + empty + noise.randbytes(BLOCK // 2)
    got = float(count(halves))
    if abs(got - 50) < 1 or abs(got - 8) < NEAR:
        return f"For a buffer of 16 blocks, 8 of them zeros, it gives {got:g}; wanted is the share, 0.5."
    if abs(got - 0.5) > NEAR:
        return (
            f"For a buffer of 16 blocks, 8 of them zeros, it gives {got:g}; half of its blocks are nothing but zeros."
        )
    got = float(count(sectors))
    if abs(got) > NEAR:
        return (
            f"For half of each 512 bytes zeros it gives {got:.2g}: that counts bytes, or smaller pieces. Storage looks "
            "at blocks of 4,096 bytes, and none of these is nothing but zeros."
        )
    got = float(count(straddling))
    if abs(got) > NEAR:
        return (
            f"With 4,096 zeros that begin in the middle of a block it gives {got:.2g}. The zeros lie in two blocks, "
            "and neither of them is empty: blocks begin at multiples of 4,096."
        )
    got = float(count(4 * empty))
    return None if abs(got - 1) <= NEAR else f"For a buffer of zeros it gives {got:g}; all of it is empty, 1."


def _duplicates_wrong(answer: Any) -> str | None:  # noqa: ANN401 -- whatever the learner has made
    if not callable(answer):
        return f"Wanted is a function of a list of buffers; this is {type(answer).__name__}."
    share: Callable[[list[bytes]], Any] = answer
    noise = random.Random(2)  # noqa: S311 -- data to look at, no secret
    one = noise.randbytes(16 * BLOCK)
    got = float(share([one] * 64))
    if abs(got - 63 / 64) > NEAR:
        if abs(got - 1) <= NEAR:
            return "For one buffer sent 64 times it gives 1: the first one has to be stored, and is no duplicate."
        return f"For one buffer sent 64 times it gives {got:.3g}; 63 of 64 were there before, {63 / 64:.3f}."
    first, second = one[:BLOCK], one[BLOCK : 2 * BLOCK]
    got = float(share([first + second, second + first]))
    if abs(got - 0.5) > NEAR:
        return (
            f"For two buffers with the same two blocks in another order it gives {got:.2g}. Storage compares blocks of "
            "4,096 bytes, wherever in a write they come: half of these were there before."
        )
    got = float(share([noise.randbytes(2 * BLOCK) for _ in range(4)]))
    return None if abs(got) <= NEAR else f"For buffers without a common block it gives {got:.2g}; nothing repeats, 0."


def _honest_wrong(answer: Any) -> str | None:  # noqa: ANN401 -- whatever the learner has made
    changes = {str(path): value for path, value in dict(answer).items()}
    if "reduction.fio" in changes:
        return "The version stays 2.20: that is what team A has installed. One of its options will do."
    strange = [path for path in changes if not path.startswith("reduction.")]
    if strange:
        return f"{strange[0]} has nothing to do with what is in the buffers; the options are called reduction.<option>."
    metrics = case(CASE).with_(changes).run("percentage-2017").metrics
    zeros, duplicates = metrics["reduction_zeros_share_percent"], metrics["reduction_duplicates_share_percent"]
    ratio = metrics["reduction_compression_ratio"]
    if zeros > 1:
        return f"Zero suppression still takes {zeros:.0f} %: there are whole blocks of 4 KiB with nothing in them."
    if duplicates > 1:
        return (
            f"Deduplication takes {duplicates:.0f} %: the same bytes fill whole blocks of 4 KiB in one write after "
            "the other. What is left may compress, but it is not half of the data."
        )
    if not 1.8 <= ratio <= 2.2:  # noqa: PLR2004 -- two to one, give or take a tenth
        return f"The compressor finds {ratio:.2f} : 1, and not 2 : 1."
    return None


def _verdict_wrong(answer: Any) -> str | None:  # noqa: ANN401 -- whatever the learner has made
    if not callable(answer):
        return f"Wanted is a function of a result; this is {type(answer).__name__}."
    verdict: Callable[[Result], Any] = answer
    loads = [(name, case(CASE).run(name)) for name in case(CASE).variants]
    loads.append(("zero buffers", case(CASE).with_(ZERO_BUFFERS).run("percentage-2017")))
    for name, result in loads:
        truth, said = _saver(result), verdict(result)
        if said == truth:
            continue
        if said == "compression" and truth == "duplicates":
            return (
                f"{name}: you say compression. The compressor's ratio is what it would make of everything that zero "
                "suppression leaves; deduplication stands before it and has taken those bytes already."
            )
        if truth == "nothing":
            return f"{name}: you say {said}, and all three together save less than a tenth."
        return f"{name}: you say {said}; most was saved by {truth}."
    return None


def _saver(result: Result) -> str:
    stages = ("in", "after_zeros", "after_duplicates", "after_compression")
    sizes = [result.metrics[f"reduction_{stage}_bytes"] for stage in stages]
    saved = [before - after for before, after in pairwise(sizes)]
    if sum(saved) < WORTH * sizes[0]:
        return "nothing"
    return ("zeros", "duplicates", "compression")[saved.index(max(saved))]


TASKS = {
    "data/zeros": Task(
        question=(
            "Write what zero suppression does: a function of a buffer that gives the share of its blocks of 4,096 "
            "bytes that are nothing but zeros. It is tried with buffers that you have not seen."
        ),
        wants="a function of bytes that gives a number between 0 and 1",
        wrong=_zeros_wrong,
        why="It finds emptiness, and only in whole blocks.",
        hints=(
            "buffer[start:start + 4096] is one block; range(0, len(buffer), 4096) has all starts.",
            "bytes(4096) is a block of zeros to compare with; or ask: not any(block).",
            "Divide the number of empty blocks by the number of blocks.",
        ),
        answer=(
            "def zeros(buffer):\n"
            "    blocks = [buffer[start:start + 4096] for start in range(0, len(buffer), 4096)]\n"
            "    return sum(not any(block) for block in blocks) / len(blocks)"
        ),
    ),
    "data/duplicates": Task(
        question=(
            "Now deduplication: a function of a list of buffers, in the order in which they were written, that gives "
            "the share of blocks of 4,096 bytes that were there before."
        ),
        wants="a function of a list of bytes that gives a number between 0 and 1",
        wrong=_duplicates_wrong,
        why="It finds blocks that were seen before, byte for byte, and nothing that is merely alike.",
        hints=(
            "Cut each buffer into blocks as before, and put all blocks in one list.",
            "A set keeps each block once.",
            "What is not in the set a second time was there before: 1 - len(set(blocks)) / len(blocks).",
        ),
        answer=(
            "def duplicates(buffers):\n"
            "    blocks = [buffer[start:start + 4096] for buffer in buffers for start in range(0, len(buffer), 4096)]\n"
            "    return 1 - len(set(blocks)) / len(blocks)"
        ),
    ),
    "data/honest": Task(
        question=(
            "Team A wants to test the compressor, with its fio 2.20: two to one from the compressor, and nothing from "
            "zero suppression or deduplication. Which option must be added to buffer_compress_percentage=50?"
        ),
        wants="a dictionary: reduction.<option>, and its value",
        wrong=_honest_wrong,
        why="With so small a chunk no block of the storage is empty and none repeats: the compressor gets it all.",
        hints=(
            "[control['path'] for control in case.controls] has options; their paths begin with reduction.",
            "What was it that fio 3.33 did otherwise?",
            "The chunk: reduction.buffer_compress_chunk, in bytes.",
        ),
        answer='honest = {"reduction.buffer_compress_chunk": 512}',
    ),
    "data/verdict": Task(
        question=(
            "Write what a report should say: a function of a result that names what saved the most bytes, 'zeros', "
            "'duplicates' or 'compression', or says 'nothing' where all three together save less than a tenth."
        ),
        wants="a function of a result that gives one of four words",
        wrong=_verdict_wrong,
        why="A single ratio says that bytes were saved. Only the stages say whose work it was.",
        hints=(
            "result.metrics has reduction_in_bytes, and reduction_after_X_bytes for zeros, duplicates and compression.",
            "What a stage saves is what comes in less what goes out; the three stand in this order.",
            "max(saved, key=saved.get) names the largest value of a dictionary.",
        ),
        answer=(
            "def verdict(result):\n"
            '    names = ("in", "after_zeros", "after_duplicates", "after_compression")\n'
            '    start, first, second, end = (result.metrics[f"reduction_{name}_bytes"] for name in names)\n'
            '    saved = {"zeros": start - first, "duplicates": first - second, "compression": second - end}\n'
            '    return max(saved, key=saved.get) if start - end >= start / 10 else "nothing"'
        ),
    ),
}
