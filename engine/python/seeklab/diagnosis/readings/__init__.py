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


def readings(blocks: Sequence[Block]) -> list[Reading]:
    """Return everything that the blocks say, strongest first."""
    whole = with_job_files(blocks)
    found = [reading for part in PARTS for reading in part.read(whole)]
    return sorted(found, key=lambda reading: reading.strength)
