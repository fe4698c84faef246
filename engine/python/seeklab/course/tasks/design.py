"""Notebook 12, design a pool: what the learner writes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from seeklab._case import case
from seeklab._design import design
from seeklab.course.task import UnconvertedTask as Task

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

CARD = "nic-tuning"
STREAMS_MIB_PER_S, SMALL_READ_US = 1100, 150
FIXED = {"cores": 4, "server_gbit": 2, "working_set_gib": 96}
CHOSEN = ("disks", "width", "parity", "memory_gib", "read_ssds", "log_ssds")
TERABYTES, READS, WRITES, BUDGET = 10, 5_000, 15_000, 18_500
NEAR = 0.005

Clients = list[tuple[float, float, float]]
CLIENTS: tuple[tuple[str, Clients], ...] = (
    ("two that start together", [(0, 3, 300), (0, 3, 150)]),
    ("two, one after the other", [(0, 3, 300), (3, 6, 300)]),
    ("three, and the first in the list starts last", [(2, 5, 120), (0, 3, 240), (1, 4, 180)]),
    ("two of different length", [(1, 2, 90), (0, 5, 200)]),
)
"""For each client when it began and ended, in seconds, and what it read, in MiB."""


def _card_wrong(answer: Any) -> str | None:  # noqa: ANN401 -- whatever the learner has made
    changes = {str(path): value for path, value in dict(answer).items()}
    strange = [path for path in changes if not path.startswith("server.nic.")]
    if strange:
        return f"{strange[0]} is no setting of the card; cores, frames and cables stay as they are."
    metrics = case(CARD).with_({"record.log": False, **changes}).run("two-rings").metrics
    streams, small_us = metrics["streams.read_mib_per_s"], 1000 * metrics["ping.read_latency_mean_ms"]
    told = f"Then the streams get {streams:,.0f} MiB/s and a small read takes {small_us:.0f} µs"
    if streams >= STREAMS_MIB_PER_S and small_us <= SMALL_READ_US:
        return None
    if streams >= STREAMS_MIB_PER_S:
        return (
            f"{told}. The lone reader waits until the card feels like telling: how long does it hold an interrupt back?"
        )
    if small_us <= SMALL_READ_US:
        return f"{told}. The cores are full: which setting lets them spend fewer cycles on each byte that is sent?"
    return f"{told}. Two settings are needed, one for the cycles of a byte and one for the wait of the lone reader."


def _rate_wrong(answer: Any) -> str | None:  # noqa: ANN401 -- whatever the learner has made
    if not callable(answer):
        return f"Wanted is a function of a list of clients; this is {type(answer).__name__}."
    rate: Callable[[Sequence[tuple[float, float, float]]], Any] = answer
    for name, clients in CLIENTS:
        size = sum(mib for _, _, mib in clients)
        begin, end = min(first for first, _, _ in clients), max(last for _, last, _ in clients)
        truth, said = size / (end - begin), float(rate(list(clients)))
        if abs(said - truth) <= NEAR * truth:
            continue
        told = (
            f"For {name} you give {said:,.4g} MiB/s, and {size:g} MiB were read from {begin:g} s to {end:g} s: "
            f"{truth:,.4g}. "
        )
        if abs(said - sum(mib / (last - first) for first, last, mib in clients)) <= NEAR * truth:
            return told + "That is the sum of what each client reports: rates that were not there at the same time."
        if abs(said - size / sum(last - first for first, last, _ in clients)) <= NEAR * truth:
            return told + "The clients ran side by side; adding up their times counts the same seconds several times."
        return told + "Take the earliest start and the latest end of all, whatever their order."
    return None


def _pool_wrong(answer: Any) -> str | None:  # noqa: ANN401 -- whatever the learner has made
    numbers = {str(name): value for name, value in dict(answer).items()}
    strange = [name for name in numbers if name not in CHOSEN]
    if strange:
        return f"{strange[0]} is not yours to choose here; the parts are {', '.join(CHOSEN)}."
    pool = design(**{**numbers, **FIXED})
    if pool.capacity_bytes < TERABYTES * 1e12:
        return f"It holds {pool.capacity_bytes / 1e12:.1f} TB, and {TERABYTES} are wanted."
    if pool.cost > BUDGET:
        parts = {name: pool.prices.get(name, 0) * count for name, count in pool.numbers.items()}
        dearest = max(parts, key=lambda name: parts[name])
        return f"It costs {pool.cost:,.0f}, and {BUDGET:,} are there; most of it goes into {dearest}."
    writes = pool.run("9-sync-writes")
    if writes.value < WRITES:
        return f"It makes {writes.value:,.0f} synchronous writes a second durable, and {WRITES:,} are wanted."
    reads = pool.run("working-set")
    if reads.value < READS:
        return (
            f"It does {reads.value:,.0f} reads a second of the working set, and {READS:,} are wanted; what binds: "
            f"{reads.binds}. Every read that memory answers is one that no disk must do."
        )
    return None


TASKS = {
    "design/card": Task(
        question=(
            "Set the network card so that the streams get at least 1,100 MiB/s in all and the small read takes at most "
            "150 µs. Two transmit rings are set already; frames stay at 1500 bytes, for the switches take no others."
        ),
        wants="a dictionary: server.nic.<setting>, and its value",
        wrong=_card_wrong,
        why="Large sends save more cycles than short waits cost. One setting pays for the other.",
        hints=(
            "card.scenario('two-rings')['server']['nic'] has all settings.",
            "blank is how long the card may hold an interrupt back, in nanoseconds or as '50us'.",
            "large_send lets the card cut large segments into frames by itself.",
        ),
        setup='import seeklab\ncard = seeklab.case("nic-tuning")\n',
        answer='settings = {"server.nic.large_send": True, "server.nic.blank": "20us"}',
    ),
    "design/rate": Task(
        question=(
            "Write what the benchmark should have calculated: a function of a list of clients, each a tuple of its "
            "start and its end in seconds and of the MiB that it read. It gives the rate of the server in MiB/s, from "
            "the first start to the last end."
        ),
        wants="a function of a list of (start, end, MiB) that gives a number",
        wrong=_rate_wrong,
        why="Bytes can be added up, and time that passed once counts once. Rates cannot be added up.",
        hints=(
            "Add up the MiB of all clients.",
            "min(start for start, _, _ in clients) is the first start.",
            "Divide all MiB by the time from there to the last end.",
        ),
        answer=(
            "def true_rate(clients):\n"
            "    begin, end = min(start for start, _, _ in clients), max(end for _, end, _ in clients)\n"
            "    return sum(mib for _, _, mib in clients) / (end - begin)"
        ),
    ),
    "design/pool": Task(
        question=(
            "A database needs 10 TB, 5,000 random reads a second in a working set of 96 GiB, and 15,000 synchronous "
            "writes a second (each durable before it is answered). You have 18,500. Choose disks, width and parity of "
            "a group (width 2 and parity 0 is a mirror), memory_gib, read_ssds and log_ssds."
        ),
        wants="a dictionary: the name of a part, and how many",
        wrong=_pool_wrong,
        why="It holds the data, it is fast enough where speed is asked for, and nothing is bought that nobody needs.",
        hints=(
            "seeklab.design(**parts).cost and .capacity_bytes cost no run; a mirror holds half of its disks.",
            "A log SSD makes some 12,000 synchronous writes a second durable. How many SSDs does that take?",
            "What is in memory need not be read from disk. A GiB of memory costs 40, a disk 300.",
        ),
        setup="import seeklab\n",
        answer='parts = {"disks": 20, "width": 2, "memory_gib": 60, "log_ssds": 2}',
    ),
}
