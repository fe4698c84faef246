"""The assignment on benchmark data: fio options for data of a given kind, for every version of fio.

A compressor must shrink the data by a given factor, and the data must have neither blocks of zeros nor repeated blocks.
The same options are judged under three versions of fio.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from seeklab._case import case as load_case
from seeklab._question import Question
from seeklab.exercises._shapes import Shape, System, at_most, named
from seeklab.judge import Evidence, Settings

if TYPE_CHECKING:
    import random
    from collections.abc import Mapping

    from seeklab._result import Result

CASE = "compressible-data"
VERSIONS = ("2.1.3", "2.20", "3.33")
KIB = 1 << 10
TAKEN_PERCENT = 2
OFF_PERCENT = 8
MAY_SET = (
    *("buffer_compress_percentage", "buffer_compress_chunk", "buffer_pattern", "dedupe_percentage"),
    *("refill_buffers", "scramble_buffers", "zero_buffers"),
)
"""Allowed options, by fio's names."""
PERCENT = 50

QUESTIONS = {
    "zeros_percent": Question(
        f"Only buffer_compress_percentage={PERCENT}, fio 2.20: what share does zero suppression remove, in %?", unit="%"
    ),
    "ratio": Question(
        "The same under fio 3.33: which compression ratio does the compressor reach on the rest (1 is none)?", unit="x"
    ),
}


def _drawn(source: random.Random) -> System:
    known = {"wanted_ratio": 2.0, "bs_kib": source.choice((32, 64, 128)), "block": source.choice((2048, 4096, 8192))}
    told = (
        f"writes of {known['bs_kib']} KiB to storage with blocks of {known['block']:,} bytes; a compressor should "
        f"shrink the data {known['wanted_ratio']:g} to 1"
    )
    return System(known, told)


def run(system: System, options: Mapping[str, Any], version: str, seed: int = 1) -> Result:
    """Analyse the data that a version of fio generates with some options."""
    changes = {
        "reduction.fio": version,
        "reduction.buffer_compress_percentage": 0,
        "reduction.block": system["block"],
        "reduction.buffers": 32,
        "jobs[writer].bs": round(system["bs_kib"]) * KIB,
        "jobs[writer].number_ios": 4,
        "record.log": False,
        **{f"reduction.{name}": value for name, value in options.items()},
    }
    return load_case(CASE).with_(changes).run(seed=seed)


def _near(system: System, seed: int) -> dict[str, float]:
    options = {"buffer_compress_percentage": PERCENT}
    old, new = (run(system, options, version, seed).metrics for version in ("2.20", "3.33"))
    return {
        "zeros_percent": old["reduction_zeros_share_percent"],
        "ratio": new["reduction_compression_ratio"],
    }


WHY = named(
    zero_blocks="whole blocks of zeros: fio leaves part of each chunk empty; with a chunk as large as a write, many "
    "storage blocks are empty, and the compressor never sees them",
    repeated_blocks="repeated blocks: a pattern, or a buffer that is neither refilled nor scrambled, repeats whole "
    "storage blocks; deduplication removes them before the compressor sees them",
    ratio="the compressor finds another ratio: for n to 1, a share of (n - 1) / n of the data must be compressible",
)


def _judge(system: System, options: Mapping[str, Any], seed: int) -> list[Evidence]:
    found = {version: run(system, options, version, seed).metrics for version in VERSIONS}
    wanted = system["wanted_ratio"]

    def off(version: str) -> float:
        return 100 * abs(found[version]["reduction_compression_ratio"] / wanted - 1)

    def taken(version: str, by: str) -> float:
        return found[version][f"reduction_{by}_share_percent"]

    zeros = max(VERSIONS, key=lambda version: taken(version, "zeros"))
    repeats = max(VERSIONS, key=lambda version: taken(version, "duplicates"))
    ratio = max(VERSIONS, key=off)
    return [
        at_most(f"zeros under fio {zeros}", taken(zeros, "zeros"), TAKEN_PERCENT, "%", seed, WHY["zero-blocks"]),
        at_most(
            f"repeats under fio {repeats}",
            taken(repeats, "duplicates"),
            TAKEN_PERCENT,
            "%",
            seed,
            WHY["repeated-blocks"],
        ),
        at_most(f"compression ratio under fio {ratio}, off by", off(ratio), OFF_PERCENT, "%", seed, WHY["ratio"]),
    ]


SHAPE = Shape(
    id="honest-data",
    what="test",
    kinds={"any": _drawn},
    questions=QUESTIONS,
    near=_near,
    judge=_judge,
    parts=3,
    fix=Settings(MAY_SET, {"fio": "you cannot choose the version; the options must work with all three"}),
    hints=(
        "Storage looks for three kinds of redundancy: empty blocks, known blocks, and repetition within a unit.",
        "Where in a block is the compressible part? Each version has its own default for the chunk.",
        "A chunk much smaller than a storage block puts compressible and random bytes into each block.",
    ),
)
system, briefing = SHAPE.own, SHAPE.briefing
ASSIGNMENT, check, hint = SHAPE.exercise()
