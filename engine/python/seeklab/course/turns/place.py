"""Notebook 08, where is my data: what the learner writes."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from seeklab._case import case
from seeklab.course.tasks import Task

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from seeklab._result import Result

CASE = "hci-taxonomy"
MOVE_NS, HALF_NS = 1e9, 5e8
OLD_NODE, NEW_NODE = 0, 5
NEAR = 0.01
KEPT = ("cluster.link", "cluster.nodes", "cluster.copies", "cluster.design", "cluster.failures")
FULL_MB_PER_S = 8000


@cache
def _run(design: str) -> Result:
    return case(CASE).with_({"cluster.failures": []}).run(design)


@cache
def _reads(design: str) -> Sequence[tuple[float, int, float]]:
    """Give the machine's reads: time of day, node that served them, time for looking up."""
    log, mine = _run(design).ops, _run(design).jobs.index("vm")
    columns = (log[name] for name in ("job", "submit_ns", "device", "lookup_ns"))
    return [tuple(rest) for job, *rest in zip(*columns, strict=True) if job == mine]


def _served(own: Mapping[bool, int]) -> dict[int, float]:
    counts: dict[int, list[bool]] = {}
    for submit, node, _ in _reads("locality"):
        counts.setdefault(int(submit / HALF_NS), []).append(node == own[submit >= MOVE_NS])
    return {half: sum(local) / len(local) for half, local in counts.items()}


def _served_wrong(answer: Any) -> str | None:  # noqa: ANN401 -- whatever the learner has made
    truth = _served({False: OLD_NODE, True: NEW_NODE})
    found = {int(half): float(share) for half, share in dict(answer).items()}
    if set(found) != set(truth):
        return f"Wanted are the half seconds 0 to {max(truth)}; your keys are {sorted(found)[:10]}."

    def agrees(other: Mapping[int, float]) -> bool:
        return all(abs(found[half] - other[half]) <= NEAR for half in other)

    if agrees(truth):
        return None
    if agrees({half: 100 * share for half, share in truth.items()}):
        return "These are per cent; give shares between 0 and 1."
    if agrees(_served({False: OLD_NODE, True: OLD_NODE})):
        return "That is what node 0 served. The machine has moved: from 1 s on its own node is node 5."
    if agrees(_served({False: NEW_NODE, True: NEW_NODE})):
        return "That is what node 5 served. In the first second the machine's own node is node 0."
    off = max(truth, key=lambda half: abs(found[half] - truth[half]))
    return (
        f"For half second {off} you give {found[off]:.3g}; its own node served {truth[off]:.3g} of the machine's "
        "reads. The log also has the reads of seven other machines."
    )


def _lookups_wrong(answer: Any) -> str | None:  # noqa: ANN401 -- whatever the learner has made
    trip_ns = case(CASE).scenario("hash")["cluster"]["round_trip"]
    found = {str(design): float(asked) for design, asked in dict(answer).items()}
    missing = [design for design in case(CASE).variants if design not in found]
    if missing:
        return f"{missing[0]} is missing: a number for each of the five designs is wanted."
    for design in case(CASE).variants:
        spent = [(submit >= MOVE_NS, lookup) for submit, _, lookup in _reads(design)]
        after = [lookup for is_after, lookup in spent if is_after]
        truth, given = sum(after) / len(after) / trip_ns, found[design]
        if abs(given - truth) <= NEAR:
            continue
        if abs(given - sum(lookup for _, lookup in spent) / len(spent) / trip_ns) <= NEAR:
            return f"{design}: {given:.3g} is the mean over the whole run. Take only the reads after the move, at 1 s."
        if abs(given - sum(lookup > 0 for lookup in after) / len(after)) <= NEAR:
            return (
                f"{design}: {given:.3g} is the share of reads that asked anybody. Some ask twice: add up lookup_ns and "
                "divide by a round trip."
            )
        if abs(given / max(truth, NEAR) - trip_ns) <= NEAR * trip_ns:
            return f"{design}: {given:,.0f} are nanoseconds; each node that is asked takes {trip_ns:,} of them."
        return f"{design}: you give {given:.3g} nodes for a read, the log has {truth:.3g}."
    return None


def _senders_wrong(answer: Any) -> str | None:  # noqa: ANN401 -- whatever the learner has made
    changes = {str(path): value for path, value in dict(answer).items()}
    touched = [path for path in changes if path.startswith(KEPT)]
    if touched:
        return f"{touched[0]} stays as it is: same nodes, same links, same design, same loss. What is spread unevenly?"
    quiet = case(CASE).with_({"jobs[vm].rate_iops": 100, "record.log": False, **changes})
    rate = quiet.run("locality").metrics["cluster_reprotect_mb_per_s"]
    if rate >= FULL_MB_PER_S:
        return None
    told = f"Then {rate:,.0f} MB/s are copied, and {FULL_MB_PER_S:,} are wanted"
    if "cluster.rebuild_in_flight" in changes:
        return f"{told}. More copies in flight wait for the same link: one node still has to send nearly everything."
    return f"{told}. Whose first copies lie on one node alone, and how many of them are there?"


def _pairs_wrong(answer: Any) -> str | None:  # noqa: ANN401 -- whatever the learner has made
    changes = {str(path): value for path, value in dict(answer).items()}
    others = [path for path in changes if path != "cluster.vms"]
    if others:
        return f"{others[0]} stays as it is; only cluster.vms changes, which says where each machine runs."
    still = case(CASE).with_({"cluster.failures": [], "jobs[vm].rate_iops": 1, "record.log": False})
    found, best = (
        still.with_(change).run(design).metrics["cluster_space_percent"]
        for change, design in ((changes, "dedup-pairs"), ({}, "dedup-spread"))
    )
    if found <= best + 1:
        return None
    told = f"Then {found:.1f} % are stored, and one table for the whole cluster would store {best:.1f} %."
    named = {str(machine["name"]) for machine in changes.get("cluster.vms", [])}
    if len(named) < len(case(CASE).scenario("dedup-pairs")["jobs"]):
        return f"{told} You placed {len(named)} machines; the others run where they ran. List all eight."
    return f"{told} Equal blocks in two pairs are stored twice. How many pairs do your machines use?"


_BEFORE = (
    "import seeklab\n"
    'case = seeklab.case("hci-taxonomy")\n'
    'calm = case.with_({"cluster.failures": []})\n'
    "runs = {design: calm.run(design) for design in case.variants}\n"
    'moved = runs["locality"]\n'
    'vm = moved.jobs.index("vm")\n'
)

TASKS = {
    "place/served": Task(
        question=(
            "moved is the run of the design locality. Each row of its log is a read: job says which machine read (ours "
            "has the number vm), submit_ns when, in nanoseconds, and device which node served it. What share of the "
            "machine's reads did its own node serve in each half second? Its own node is node 0 for the first second, "
            "and then node 5."
        ),
        wants="a dictionary: number of the half second (0 to 7), and a share between 0 and 1",
        wrong=_served_wrong,
        why="All local before the move. After it, about a seventh, from the beginning to the end.",
        hints=(
            "Loop over moved.ops.rows() and keep the rows with row['job'] == vm.",
            "int(row['submit_ns'] / 5e8) is the half second; its own node is 0 in the half seconds 0 and 1, else 5.",
            "Collect row['device'] == own for each half second in a list; sum(list) / len(list) is the share.",
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
    "place/lookups": Task(
        question=(
            "runs has a result for each design. How many nodes had to be asked before a read, on average, after the "
            "machine's move at 1 s? Each of them costs a round trip of 100,000 ns, and lookup_ns in the log is the sum "
            "for one read."
        ),
        wants="a dictionary: name of the design, and nodes asked before a read",
        wrong=_lookups_wrong,
        why="From none to one and a half, before the first byte has been read.",
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
    "place/senders": Task(
        question=(
            "Change one setting so that, under locality, the seven nodes that are left copy at 8,000 MB/s or more. The "
            "number of nodes and of copies, the links, the design and the loss stay as they are."
        ),
        wants="a dictionary: the path of a setting, and its value",
        wrong=_senders_wrong,
        why="When all machines have disks of one size, the copies that must be sent are spread evenly over the nodes.",
        hints=(
            "Under locality one copy of everything lies where its machine runs. Which machine is the largest?",
            "case.scenario('locality')['jobs'] has the machines with their sizes in bytes.",
            "The path is jobs[vm].size; the other seven have 512MiB.",
        ),
        setup=_BEFORE,
        answer='evenly = {"jobs[vm].size": "512MiB"}',
    ),
    "place/pairs": Task(
        question=(
            "Place the machines so that dedup-pairs stores as little as one table for the whole cluster would, within "
            "1 %. The setting `cluster.vms` is a list with an entry for each machine, such as "
            '`{"name": "vm", "node": 0}`; the pairs are nodes 0 and 1, 2 and 3, 4 and 5, 6 and 7.'
        ),
        wants="a dictionary: the path cluster.vms, and a list of machines with their nodes",
        wrong=_pairs_wrong,
        why="One pair has all blocks in its table and finds every duplicate.",
        hints=(
            "The machines are the jobs of the scenario: vm, and vm1 to vm7.",
            "A duplicate is found if both machines run in the same pair, on either of its nodes.",
            "Put all eight on nodes 0 and 1: number % 2 gives 0 and 1 in turn.",
        ),
        setup=_BEFORE,
        answer=(
            'names = [job["name"] for job in case.scenario("dedup-pairs")["jobs"]]\n'
            'placed = {"cluster.vms": [{"name": name, "node": number % 2} for number, name in enumerate(names)]}'
        ),
    ),
}
