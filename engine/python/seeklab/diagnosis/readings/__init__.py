"""Readings of blocks: every function takes all blocks and yields what they say."""

from __future__ import annotations

from typing import TYPE_CHECKING

from seeklab.diagnosis.readings import (
    application,
    courses,
    devices,
    host,
    jobs,
    measurements,
    network,
    pools,
    profiles,
    requests,
    statements,
    states,
    words,
    write_path,
)
from seeklab.diagnosis.readings.jobs_of import with_job_files

if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import ModuleType

    from seeklab.bring.block import Block
    from seeklab.diagnosis.reading import Reading

PARTS = (
    words,
    statements,
    states,
    devices,
    courses,
    pools,
    jobs,
    application,
    write_path,
    network,
    profiles,
    measurements,
    requests,
    host,
)


def are_used(blocks: Sequence[Block]) -> list[bool]:
    """Return for each block whether it says anything by itself; the search stops at the first reading.

    Blocks of one tool usually have readings of the same part, so that one is asked first.
    """
    speaks: dict[str, ModuleType] = {}
    found = []
    for block in blocks:
        whole = with_job_files([block])
        first = speaks.get(block.tool)
        parts = PARTS if first is None else (first, *PARTS)
        part = next((part for part in parts if next(iter(part.read(whole)), None) is not None), None)
        if part is not None:
            speaks[block.tool] = part
        found.append(part is not None)
    return found


def readings(blocks: Sequence[Block]) -> list[Reading]:
    """Return everything that the blocks say, strongest first, and each sentence once."""
    whole = with_job_files(blocks)
    once: dict[tuple[str, ...], Reading] = {}
    for part in PARTS:
        for reading in part.read(whole):
            once.setdefault((reading.id, reading.subject, reading.sentence, reading.sum), reading)
    return sorted(once.values(), key=lambda reading: reading.strength)
