"""Readings of blocks: every function takes all blocks and yields what they say."""

from __future__ import annotations

from typing import TYPE_CHECKING

from seeklab.diagnosis.readings import devices, host, jobs, pools, requests, words

if TYPE_CHECKING:
    from collections.abc import Sequence

    from seeklab.bring.block import Block
    from seeklab.diagnosis.reading import Reading

PARTS = (words, devices, pools, jobs, requests, host)


def readings(blocks: Sequence[Block]) -> list[Reading]:
    """Return everything that the blocks say, strongest first."""
    found = [reading for part in PARTS for reading in part.read(blocks)]
    return sorted(found, key=lambda reading: reading.strength)
