"""Notebook 08, where is my data: its tasks."""

from __future__ import annotations

from functools import cache
from statistics import fmean
from typing import TYPE_CHECKING, Any

from seeklab._case import case
from seeklab.course.task import Task
from seeklab.judge import Bound, Change, Fields, Mistake, Number, Settings, Value

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from seeklab._result import Result

CASE = "hci-taxonomy"
MOVE_NS, HALF_NS = 1e9, 5e8
OLD_NODE, NEW_NODE = 0, 5
NEAR = 0.01
STAYS = ("cluster.link", "cluster.nodes", "cluster.copies", "cluster.design", "cluster.failures")
FULL_MB_PER_S = 8000
MACHINES = 8


@cache
def _run(design: str) -> Result:
    return case(CASE).with_({"cluster.failures": []}).run(design)


@cache
def _reads(design: str) -> Sequence[tuple[float, int, float]]:
    """Return the machine's reads: time, node that served them, and lookup time."""
    log, mine = _run(design).ops, _run(design).jobs.index("vm")
    columns = (log[name] for name in ("job", "submit_ns", "device", "lookup_ns"))
    return [tuple(rest) for job, *rest in zip(*columns, strict=True) if job == mine]


def _served(before: int = OLD_NODE, after: int = NEW_NODE) -> dict[int, float]:
    """Return, by half second, the share of reads that these nodes served before and after the move."""
    counts: dict[int, list[bool]] = {}
    for submit, node, _ in _reads("locality"):
        counts.setdefault(int(submit / HALF_NS), []).append(node == (after if submit >= MOVE_NS else before))
    return {half: fmean(local) for half, local in counts.items()}


def _asked(*, is_after: bool = True) -> dict[str, float]:
    """Return how many nodes a read of each design had to ask, after the move or in the whole run."""
    trip_ns = case(CASE).scenario("hash")["cluster"]["round_trip"]
    return {
        design: fmean(lookup for submit, _, lookup in _reads(design) if submit >= MOVE_NS * is_after) / trip_ns
        for design in case(CASE).variants
    }


def _asking() -> dict[str, float]:
    """Return the share of the reads after the move that asked any node."""
    return {
        design: fmean(lookup > 0 for submit, _, lookup in _reads(design) if submit >= MOVE_NS)
        for design in case(CASE).variants
    }


def _copying(changes: Mapping[str, Any]) -> Result:
    return case(CASE).with_({"jobs[vm].rate_iops": 100, "record.log": False, **changes}).run("locality")


def _stored(changes: Mapping[str, Any], design: str) -> Result:
    still = {"cluster.failures": [], "jobs[vm].rate_iops": 1, "record.log": False}
    return case(CASE).with_({**still, **changes}).run(design)


def _one_table() -> list[Bound]:
    best = _stored({}, "dedup-spread").metrics["cluster_space_percent"]
    return [Bound("cluster_space_percent", at_most=best + 1)]


_BEFORE = (
    "import seeklab\n"
    'case = seeklab.case("hci-taxonomy")\n'
    'calm = case.with_({"cluster.failures": []})\n'
    "runs = {design: calm.run(design) for design in case.variants}\n"
    'moved = runs["locality"]\n'
    'vm = moved.jobs.index("vm")\n'
)

TASKS = (
    Task(
        "place/served",
        question=(
            "moved is the run of the design locality. Each row of its log is a read. Its job is the machine that "
            "read (ours has the number vm), submit_ns is the time in nanoseconds, and device is the node that "
            "served it. What share of the machine's reads, from 0 to 1, did its own node serve in each half "
            "second? Its own node is node 0 for the first second, and then node 5. Assign a dictionary with the "
            "numbers of the half seconds, 0 to 7, as keys."
        ),
        kind=Fields(dict.fromkeys(range(8), Number())),
        check=Value(
            _served,
            (
                Mistake("percent", "That is a percentage. Use shares between 0 and 1.", times=100),
                Mistake(
                    "old-node",
                    "That is what node 0 served. The machine has moved: from 1 s on its own node is node 5.",
                    gives=lambda: _served(OLD_NODE, OLD_NODE),
                ),
                Mistake(
                    "new-node",
                    "That is what node 5 served. In the first second the machine's own node is node 0.",
                    gives=lambda: _served(NEW_NODE, NEW_NODE),
                ),
                Mistake(
                    "other",
                    "Divide the reads that its own node served by the machine's reads in this half second. The log "
                    "also has the reads of seven other machines.",
                ),
            ),
            apart=NEAR,
            label="Half second {key}",
        ),
        why="All reads are local before the move. After it, about a seventh are, until the end of the run.",
        hints=(
            "Loop over moved.ops.rows() and keep the rows with row['job'] == vm.",
            "int(row['submit_ns'] / 5e8) is the half second; its own node is 0 in the half seconds 0 and 1, else 5.",
            "Collect row['device'] == own in a list for each half second; sum(list) / len(list) is the share.",
        ),
        setup=_BEFORE,
        answer=(
            "halves = {}\n"
            "for row in moved.ops.rows():\n"
            '    if row["job"] == vm:\n'
            '        half = int(row["submit_ns"] / 5e8)\n'
            '        halves.setdefault(half, []).append(row["device"] == (0 if half < 2 else 5))\n'
            "served = {half: sum(local) / len(local) for half, local in halves.items()}"
        ),
    ),
    Task(
        "place/lookups",
        question=(
            "runs has a result for each design. How many nodes did a read ask first, on average, after the "
            "machine's move at 1 s? Each of them costs a round trip of 100,000 ns. In the log, lookup_ns is the "
            "sum for one read. Use the names of the designs as keys."
        ),
        kind=Fields(dict.fromkeys(case(CASE).variants, Number())),
        check=Value(
            _asked,
            (
                Mistake(
                    "whole-run",
                    "That is the mean over the whole run. Take only the reads after the move, at 1 s.",
                    gives=lambda: _asked(is_after=False),
                ),
                Mistake(
                    "share-asking",
                    "That is the share of reads that asked another node. Some ask twice: add up lookup_ns and divide "
                    "by a round trip.",
                    gives=_asking,
                ),
                Mistake("nanoseconds", "That is in nanoseconds; each node that is asked takes 100,000.", times=1e5),
                Mistake("other", "Add up the nodes asked over all reads after the move, and divide by their number."),
            ),
            apart=NEAR,
        ),
        why="A read asks up to one and a half nodes on average before it reads the first byte.",
        hints=(
            "For one design: lookups = [row['lookup_ns'] for row in result.ops.rows() if row['job'] == vm and ...].",
            "After the move means row['submit_ns'] of 1e9 or more.",
            "The mean of these, divided by 100,000; then the same for all of runs.items().",
        ),
        setup=_BEFORE,
        answer=(
            "asked = {}\n"
            "for design, result in runs.items():\n"
            "    spent = [\n"
            '        row["lookup_ns"] for row in result.ops.rows() if row["job"] == vm and row["submit_ns"] >= 1e9\n'
            "    ]\n"
            "    asked[design] = sum(spent) / len(spent) / 100_000\n"
            "nodes_asked = asked"
        ),
    ),
    Task(
        "place/senders",
        question=(
            "Change one setting so that, under locality, the seven remaining nodes copy at 8,000 MB/s or more. "
            "Keep the number of nodes and copies, the links, the design and the loss. Assign a dictionary of a "
            "path and its value."
        ),
        kind=Settings(),
        check=Change(
            _copying,
            lambda: [Bound("cluster_reprotect_mb_per_s", at_least=FULL_MB_PER_S)],
            stays=(
                Mistake(
                    "fixed-setting",
                    "{match} stays as it is: same nodes, same links, same design, same loss. What is spread unevenly?",
                    when=lambda changes: next((path for path in changes if path.startswith(STAYS)), None),
                ),
            ),
            mistakes=(
                Mistake(
                    "more-in-flight",
                    "More copies in flight wait for the same link: one node still must send nearly everything.",
                    when=lambda changes: "cluster.rebuild_in_flight" in changes,
                ),
                Mistake("other", "Which machine's first copies are all on one node, and how many are there?"),
            ),
        ),
        why="If all machines have disks of the same size, each node must send about as many copies.",
        hints=(
            "Under locality one copy of everything is where its machine runs. Which machine is the largest?",
            "case.scenario('locality')['jobs'] has the machines with their sizes in bytes.",
            "The path is jobs[vm].size; the other seven have 512MiB.",
        ),
        setup=_BEFORE,
        answer='evenly = {"jobs[vm].size": "512MiB"}',
    ),
    Task(
        "place/pairs",
        question=(
            "Place the machines so that dedup-pairs stores as little as one table for the whole cluster would, within "
            "1%. The setting `cluster.vms` is a list with an entry for each machine, such as "
            '`{"name": "vm", "node": 0}`. The pairs are nodes 0 and 1, 2 and 3, 4 and 5, 6 and 7.'
        ),
        kind=Settings(),
        check=Change(
            lambda changes: _stored(changes, "dedup-pairs"),
            _one_table,
            stays=(
                Mistake(
                    "fixed-setting",
                    "{match} stays as it is. Change only cluster.vms, the node of each machine.",
                    when=lambda changes: next((path for path in changes if path != "cluster.vms"), None),
                ),
            ),
            mistakes=(
                Mistake(
                    "few-machines",
                    "You placed {match} of the eight machines; the others did not move. List all eight.",
                    when=lambda changes: (
                        len(named := {machine["name"] for machine in changes["cluster.vms"]}) < MACHINES and len(named)
                    ),
                ),
                Mistake(
                    "many-pairs", "Equal blocks in two pairs are stored twice. How many pairs do your machines use?"
                ),
            ),
        ),
        why="One pair has all blocks in its table and finds every duplicate.",
        hints=(
            "The machines are the jobs of the scenario: vm, and vm1 to vm7.",
            "A duplicate is found if both machines run in the same pair, on either of its nodes.",
            "Put all eight on nodes 0 and 1: number % 2 alternates between 0 and 1.",
        ),
        setup=_BEFORE,
        answer=(
            'names = [job["name"] for job in case.scenario("dedup-pairs")["jobs"]]\n'
            'placed = {"cluster.vms": [{"name": name, "node": number % 2} for number, name in enumerate(names)]}'
        ),
    ),
)
