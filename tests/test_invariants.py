"""What parts and pools of 2008 can do, by fio job files on presets, and over pools that no case file knows."""

from __future__ import annotations

import json
import random
from typing import TYPE_CHECKING, Any

import pytest

import seeklab

if TYPE_CHECKING:
    from pathlib import Path

    from conftest import CommandLine

MIB = 1 << 20

RANDOM_READS = """
[global]
ioengine=libaio
rw=randread
bs=8k
filename=/dev/sdb
norandommap=1
time_based=1
ramp_time=2
runtime=20
[reader]
"""


def reads_per_s(command_line: CommandLine, path: Path, preset: str, *options: str) -> float:
    """Run random reads of 8 KiB with further options on a preset."""
    job = path / "job.fio"
    job.write_text(RANDOM_READS + "\n".join(options) + "\n", encoding="utf-8")
    done = command_line("fio", str(job), "--on", preset, "--output-format=json")
    assert done.returncode == 0, done.stderr
    return float(sum(row["read"]["iops"] for row in json.loads(done.stdout)["jobs"]))


@pytest.mark.parametrize(
    ("preset", "options", "bounds"),
    [
        ("hdd-7200-2008", ("iodepth=1",), (73, 81)),
        # The measured disk that the preset follows: 111 at depth 16 and 131 at 32, 15% to either side. S9.1
        # has 150 to 200.
        ("hdd-7200-2008", ("iodepth=16",), (94, 128)),
        ("hdd-7200-2008", ("iodepth=45",), (111, 151)),
        ("ssd-2008-read", ("iodepth=1",), (2945, 3255)),
        ("pool-2008-mirrored", ("iodepth=704",), (44 * 94, 44 * 128)),
        ("pool-2008-mirrored", ("iodepth=20",), (400, 2000)),
        ("pool-2008-raidz", ("bs=128k", "iodepth=16"), (0.7 * 94, 128)),
    ],
)
def test_a_job_file_on_a_preset_makes_the_reads_that_its_hardware_can(
    command_line: CommandLine, tmp_path: Path, preset: str, options: tuple[str, ...], bounds: tuple[float, float]
) -> None:
    assert bounds[0] <= reads_per_s(command_line, tmp_path, preset, *options) <= bounds[1]


def pool(layout: dict[str, Any], disks: int, job: dict[str, Any]) -> seeklab.Result:
    """Run a job on disks of 2008."""
    reader = {"name": "job", "filename": "volume", "time_based": True, "ramp_time": "1s", "runtime": "8s", **job}
    return seeklab.run(
        {
            "jobs": [{"norandommap": True, **reader}],
            "layout": {"unit": "128KiB", **layout},
            "devices": [{"name": "disk", "preset": "hdd-7200-2008", "count": disks}],
            "record": {"log": False},
        }
    )


def drawn(count: int) -> list[random.Random]:
    """Give sources of inputs, the same every time."""
    return [random.Random(seed) for seed in range(count)]


@pytest.mark.parametrize("source", drawn(4), ids=range(4))
def test_a_raidz_group_reads_whole_records_no_faster_than_one_of_its_disks(source: random.Random) -> None:
    width, depth = source.randrange(5, 18), source.randrange(8, 33)
    layout = {"kind": "raidz", "parity": source.randrange(1, 3), "ashift": 9}
    group = pool(layout, width, {"rw": "randread", "bs": "128KiB", "iodepth": depth})
    disk = pool({"kind": "stripe"}, 1, {"rw": "randread", "bs": "8KiB", "iodepth": depth})
    share = group.metrics["job.read_iops"] / disk.metrics["job.read_iops"]
    assert 0.7 <= share <= 1.05, (width, depth, layout, share)


@pytest.mark.parametrize("source", drawn(4), ids=range(4))
def test_a_draid_reads_records_as_fast_as_its_whole_groups(source: random.Random) -> None:
    data, parity, spares = source.randrange(3, 9), source.randrange(1, 3), source.randrange(3)
    disks = source.randrange(2, 6) * (data + parity) + spares
    layout = {"kind": "draid", "width": data + parity, "parity": parity, "spares": spares}
    pool_of = pool(layout, disks, {"rw": "randread", "bs": "128KiB", "iodepth": 16 * disks // data})
    disk = pool({"kind": "stripe"}, 1, {"rw": "randread", "bs": "8KiB", "iodepth": 16})
    share = pool_of.metrics["job.read_iops"] / disk.metrics["job.read_iops"] / ((disks - spares) // (data + parity))
    # zpoolconcepts(7): floor((N-S)/(D+P)) times a disk. Parity is not read, so a little more.
    assert 0.7 <= share <= (data + parity) / data * 1.1, (data, parity, spares, disks, share)


@pytest.mark.parametrize("source", drawn(4), ids=range(4))
def test_random_reads_add_up_over_the_disks_of_mirrors(source: random.Random) -> None:
    disks, depth = 2 * source.randrange(2, 23), source.randrange(16, 33)
    layout = {"kind": "mirror", "width": 2, "read_balance": source.choice(["region", "pending"])}
    run = pool(layout, disks, {"rw": "randread", "bs": "8KiB", "iodepth": disks * depth})
    each = run.metrics["job.read_iops"] / disks
    # The disk alone makes 111 at depth 16 and 131 at 32.
    assert 111 <= each <= 200, (disks, depth, layout, each)


def test_a_pool_with_fewer_disks_than_its_layout_needs_is_refused() -> None:
    with pytest.raises(seeklab.SeeklabError, match=r"layout\.width: 2 "):
        pool({"kind": "raidz", "parity": 2}, 2, {"rw": "read", "bs": MIB})
    with pytest.raises(seeklab.SeeklabError, match=r"layout\.width: 4 .*\b5\b"):
        pool({"kind": "raidz", "width": 5}, 4, {"rw": "read", "bs": MIB})


def test_a_pool_preset_in_place_of_a_device_is_refused_with_the_known_ones() -> None:
    scenario = {"jobs": [{"name": "a", "size": "1GiB"}], "devices": [{"preset": "pool-2008-mirrored"}]}
    with pytest.raises(seeklab.SeeklabError, match=r"devices\[0\]\.preset.*hdd-7200-2008"):
        seeklab.validate(scenario)
