"""The diagnosis of the incidents' own runs, recorded as tools print them, on other seeds and inputs.

`make test` checks a few incidents, `make full` all of them. The on-call room's tools are checked here, too: the readers
recognise what each of them prints.
"""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import pytest

import sampling
from incident_recordings import RECORDED, UNRECORDED, changed_inputs, failing_variant, record
from seeklab import cases, run
from seeklab.bring import blocks
from seeklab.diagnosis import answer
from seeklab.diagnosis.causes import CAUSES, LIKELY, SHOWN
from seeklab.oncall.incidents import incidents, system_of
from seeklab.oncall.shell import tool_of
from seeklab.oncall.tools import IOSTAT_COLUMNS, TOOLS

if TYPE_CHECKING:
    from seeklab.diagnosis import Verdict
    from seeklab.oncall.incidents import Incident

RUNS = range(5)
"""Run 0 has the incident's own inputs, the others have changed ones; each has its own seed."""
SEED = 11
MIN_FIRST = 4
"""Of these runs, the right cause is first in at least so many."""
MIN_INCIDENTS = 0.9
SAMPLE, SAMPLE_OF_SHIFTS = 5, 2


def found(name: str, variant: str, number: int) -> list[Verdict]:
    """Return the causes of a recording, the best first."""
    text = record(name, variant, SEED + number, changed_inputs(name, number))
    return answer([blocks(text)]).causes


def test_nearly_every_incident_is_recorded_and_the_others_have_a_reason() -> None:
    names = {each["id"] for each in cases()}
    assert set(RECORDED) | set(UNRECORDED) == names
    assert not set(RECORDED) & set(UNRECORDED)
    assert len(RECORDED) >= MIN_INCIDENTS * len(names)
    known = {cause.id for cause in CAUSES}
    assert all(set(of.causes) <= known for of in RECORDED.values())


def test_the_right_causes_of_an_incident_name_it() -> None:
    named = {cause.id: cause.incidents for cause in CAUSES}
    for name, of in RECORDED.items():
        assert any(name in named[cause] for cause in of.causes), name


@pytest.mark.parametrize("name", sampling.some(sorted(RECORDED), SAMPLE))
def test_the_right_cause_of_an_incident_comes_first(name: str) -> None:
    of = RECORDED[name]
    ranked = [[verdict.cause.id for verdict in found(name, failing_variant(name, number), number)] for number in RUNS]
    right = [ids[:1] and ids[0] in of.causes for ids in ranked]
    assert sum(map(bool, right)) >= MIN_FIRST, ranked


@pytest.mark.parametrize("name", sampling.some(sorted(name for name, of in RECORDED.items() if of.healthy), SAMPLE))
def test_a_variant_without_the_mechanism_does_not_get_its_cause(name: str) -> None:
    of = RECORDED[name]
    for variant in of.healthy:
        text = record(name, variant, SEED, of.set)
        alarms = [
            verdict.cause.id
            for verdict in answer([blocks(text)]).causes
            if verdict.cause.id in of.causes and verdict.confidence in (SHOWN, LIKELY)
        ]
        assert not alarms, variant


READ_AS = {
    "iostat -x": "iostat-x",
    "zpool iostat": "zpool-iostat",
    "zfs get all": "zfs-get",
    "mpstat -P ALL": "mpstat",
    "perf report": "perf",
    "ss -ti": "ss",
    "ping": "ping",
    "nfsstat": "nfsstat",
    "nstat -az": "nstat",
    "parted -l": "parted",
    "fio": "fio-text",
    "lat": "dtrace",
    "oplog": "oplog",
    "dashboard": "dashboard",
    "dtrace -s dirty.d": "dtrace",
    "dtrace -s sync.d": "dtrace",
    "dtrace -s delays.d": "dtrace",
    "cat /proc/spl/kstat/zfs/tank/txgs": "txgs",
    "zpool status": "zpool-status",
    "dmesg": "dmesg",
    "smartctl -a": "smartctl",
    "lsblk": "lsblk",
    "pidstat -d": "pidstat-d",
    "arcstat": "arcstat",
    "cat /proc/mdstat": "mdstat",
    "cat /proc/pressure/io": "psi",
}
"""The tool under which the readers recognise the output of a command of the room."""
ABSENT = ("bash: ", "cat: ", "dtrace: ", "Error", "ping: ", "txg      birth            state\n")
"""Beginnings of the answers of a tool that has nothing to show on a system."""
SHIFTS = incidents()


@pytest.mark.parametrize(
    "number", [int(name) for name in sampling.some([*map(str, range(len(SHIFTS)))], SAMPLE_OF_SHIFTS)]
)
def test_the_readers_recognise_every_tool_of_the_on_call_room(number: int) -> None:
    incident: Incident = SHIFTS[number]
    scenario = system_of(incident, random.Random(5)).scenario
    scenario = {**scenario, "record": {**scenario["record"], "log": True}}
    result = run(scenario, seed=3)
    assert set(READ_AS) == set(TOOLS)
    for command, tool in TOOLS.items():
        text = tool.prints(result, scenario)
        if text.strip() and not text.startswith(ABSENT):
            assert {block.tool for block in blocks(text).blocks} == {READ_AS[command]}, (command, text[:300])


@pytest.mark.parametrize(
    ("typed", "tool"),
    [
        ("iostat -x 1", "iostat -x"),
        ("iostat -xz", "iostat -x"),
        ("iostat -xy 1 5", "iostat -x"),
        ("dmesg -T", "dmesg"),
        ("top", "mpstat -P ALL"),
        ("vmstat 1", "mpstat -P ALL"),
        ("sar", "mpstat -P ALL"),
        ("sar -d 1 5", "iostat -x"),
        ("uptime", "mpstat -P ALL"),
        ("zpool status -v", "zpool status"),
        ("zpool iostat -v 1", "zpool iostat"),
        ("iostat -xz 1 3", "iostat -x"),
        ("iostat -x -d sda 1", "iostat -x"),
        ("sudo iostat -x 1 2>/dev/null", "iostat -x"),
        ("iostat -x 1 | grep -v loop | head -5", "iostat -x"),
        ("top -bn1 -o %CPU", "mpstat -P ALL"),
        ("cat /proc/loadavg", "mpstat -P ALL"),
        ("cat /proc/net/dev", "nstat -az"),
        ("dmesg -T --level=err,warn | tail", "dmesg"),
        ("lsblk -o NAME,SIZE,ROTA", "lsblk"),
        ("arcstat -f read,hits 1", "arcstat"),
        ("smartctl -x /dev/sda", "smartctl -a"),
        ("lsblk -t", "lsblk"),
        ("nfsiostat 1", "nfsstat"),
        ("ethtool -S eth0", "nstat -az"),
        ("nstat", "nstat -az"),
        ("cat /proc/spl/kstat/zfs/tank/txgs", "cat /proc/spl/kstat/zfs/tank/txgs"),
        ("cat /proc/diskstats", "iostat -x"),
        ("cat /proc/pressure/io", "cat /proc/pressure/io"),
    ],
)
def test_the_room_understands_what_engineers_type(typed: str, tool: str) -> None:
    assert tool in TOOLS
    assert tool_of(typed) == tool


def test_numbers_wider_than_their_column_stay_apart() -> None:
    text = record("combine-limit", "limit-64", SEED, {})
    (row,) = [line.split() for line in text.splitlines() if line.startswith("pool ")]
    assert len(row) == len(IOSTAT_COLUMNS) + 1
    assert max(map(len, row)) > dict(IOSTAT_COLUMNS)["rkB/s"] - 1
