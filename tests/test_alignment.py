"""Misaligned writes: what they cost, against geometry alone; and the checker."""

from __future__ import annotations

import json
import random
from typing import TYPE_CHECKING

import pytest

import seeklab
from seeklab import SeeklabError
from sentences import numbers

if TYPE_CHECKING:
    from conftest import CommandLine

CASE = "misaligned-io"
SMALL = {"jobs[writer].size": "32MiB", "jobs[writer].loops": 1}


def drawn() -> list[tuple[int, int]]:
    """Give starts and write sizes that no case file knows; the test's own seed draws them."""
    source = random.Random(1536)
    return [(source.randrange(1 << 20), source.randrange(1, 64) * 512) for _ in range(6)]


@pytest.mark.parametrize(("start", "size"), drawn())
@pytest.mark.parametrize("block", [512, 4096, 16384])
def test_reads_and_bytes_follow_from_where_writes_begin_and_end(start: int, size: int, block: int) -> None:
    case = seeklab.case(CASE).with_(
        {
            **SMALL,
            "partition.start": start,
            "partition.block": block,
            "jobs[writer].bs": size,
            "jobs[writer].iodepth": 3,
        }
    )
    result = case.run("ssd")
    reads = written = 0
    for row in result.ops.rows():
        begin = start + row["offset"]
        end = begin + row["bytes"]
        head, tail = begin // block, (end - 1) // block
        partial = {number for number in (head, tail) if begin > number * block or end < (number + 1) * block}
        reads += len(partial)
        written += (tail - head + 1) * block
    assert result.metrics["partition_extra_reads"] == reads
    assert sum(result.device_table["reads"]) == reads
    assert sum(result.device_table["write_bytes"]) == written


@pytest.mark.parametrize("rpm", [4500, 5000, 6300])
def test_the_loss_is_one_revolution_of_any_drive_whose_tail_lies_opposite_its_head(rpm: int) -> None:
    # 1 MiB over one and a half tracks: the last block is half a turn from the first, in reach on the way back to it.
    rate = round((1 << 20) / (1.5 * 60 / rpm))
    drive = {"rpm": rpm, "outer_rate": rate, "inner_rate": rate // 2}
    case = seeklab.case(CASE).with_(
        {"jobs[writer].loops": 1, **{f"devices[sd].hdd.{name}": value for name, value in drive.items()}}
    )
    latency = [case.run(variant).metrics["writer.write_latency_mean_ms"] for variant in ("misaligned", "aligned")]
    assert latency[0] - latency[1] == pytest.approx(60_000 / rpm, rel=0.05)


def test_the_checker_agrees_with_the_run() -> None:
    for start in ("1536", "63s", "2048s", 4096, "1MiB"):
        found = seeklab.alignment(start, bs="1MiB")
        metrics = seeklab.case(CASE).with_({**SMALL, "partition.start": found["start"]}).run().metrics
        assert metrics["partition_extra_reads_per_write"] == found["extra_reads"]
        assert found["aligned"] == (found["extra_reads"] == 0)


def test_the_checker_on_the_command_line(command_line: CommandLine) -> None:
    done = command_line("align", "1536")
    assert done.returncode == 1
    assert {"1536", "4096"} <= set(numbers(done.stdout))
    done = command_line("align", "1MiB", "--json")
    assert (done.returncode, json.loads(done.stdout)["aligned"]) == (0, True)
    done = command_line("align", "soon")
    assert done.returncode == 2
    assert "63s" in done.stderr


def test_parted_prints_the_start_of_each_disk(command_line: CommandLine) -> None:
    text = command_line("show", CASE, "--as", "parted").stdout
    assert text.count("Disk /dev/sd") == 4
    assert " 1      1536B " in text
    assert "Sector size (logical/physical): 512B/4096B" in text


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"partition.start": "2TB"}, r"partition\.start: 2000000000000\b"),
        ({"partition.block": 3000}, r"partition\.block: 3000\b"),
        ({"partition.start": "here"}, r"partition\.start: .*\bhere\b"),
    ],
)
def test_a_partition_that_cannot_be_is_refused(changes: dict[str, object], words: str) -> None:
    with pytest.raises(SeeklabError, match=words):
        seeklab.case(CASE).with_(changes).run()
