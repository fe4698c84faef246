"""Notebook 12, design a pool: its tasks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from seeklab._case import case
from seeklab._design import design
from seeklab.course.task import Task
from seeklab.judge import ANSWER, Bound, Cases, Change, Evidence, Function, Mistake, Settings

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from seeklab._design import Design
    from seeklab.judge import Asked

STREAMS_MIB_PER_S, SMALL_READ_US = 1100, 150
FIXED = {"cores": 4, "server_gbit": 2, "working_set_gib": 96}
CHOSEN = ("disks", "width", "parity", "memory_gib", "read_ssds", "log_ssds")
TERABYTES, READS, WRITES, BUDGET = 10, 5_000, 15_000, 18_500

CLIENTS = (
    [(0, 3, 300), (0, 3, 150)],
    [(0, 3, 300), (3, 6, 300)],
    [(2, 5, 120), (0, 3, 240), (1, 4, 180)],
    [(1, 2, 90), (0, 5, 200)],
)
"""For each client: its start and end in seconds, and the MiB that it read."""


def _rate(clients: Sequence[tuple[float, float, float]]) -> float:
    begin, end = min(begin for begin, _, _ in clients), max(end for _, end, _ in clients)
    return sum(mib for _, _, mib in clients) / (end - begin)


def _checked(pool: Design) -> Iterator[Evidence]:
    """Check everything that needs no run first."""
    terabytes = pool.capacity_bytes / 1e12
    spent: Mapping[str, float] = {name: pool.prices.get(name, 0) * count for name, count in pool.numbers.items()}
    most = max(spent, key=lambda name: spent[name])
    yield Evidence("capacity", terabytes, f">= {TERABYTES}", terabytes >= TERABYTES, "TB").because(
        Mistake("capacity", f"It must hold {TERABYTES} TB.")
    )
    yield Evidence("cost", pool.cost, f"<= {BUDGET:,}", pool.cost <= BUDGET).because(
        Mistake("cost", f"It costs more than you have; most of the money goes into {most}.")
    )
    writes = pool.run("9-sync-writes").value
    yield Evidence("synchronous writes per second", writes, f">= {WRITES:,}", writes >= WRITES).because(
        Mistake("writes", "It makes too few synchronous writes per second durable.")
    )
    reads = pool.run("working-set")
    yield Evidence("reads per second", reads.value, f">= {READS:,}", reads.value >= READS).because(
        Mistake(
            "reads",
            f"It does too few reads per second of the working set; the limit is: {reads.binds}. A read that "
            "memory answers needs no disk.",
        )
    )


def _pool(asked: Asked) -> list[Evidence]:
    """Return the first broken bound, or else the last bound."""
    checked = None
    for checked in _checked(design(**{**asked.answers[ANSWER], **FIXED})):
        if not checked.met:
            break
    return [checked] if checked else []


TASKS = (
    Task(
        "design/card",
        question=(
            "Set the network card so that the streams get at least 1,100 MiB/s in total and the small read takes "
            "at most 150 µs. Two transmit rings are already set; frames stay at 1500 bytes, because the switches "
            "accept no others. Assign a dictionary: server.nic.<setting>, and its value."
        ),
        kind=Settings(),
        check=Change(
            lambda changes: case("nic-tuning").with_({"record.log": False, **changes}).run("two-rings"),
            lambda: [
                Bound(
                    "streams.read_mib_per_s",
                    at_least=STREAMS_MIB_PER_S,
                    why=Mistake(
                        "cycles",
                        "The cores are full: which setting lets them spend fewer cycles on each byte that is sent?",
                    ),
                ),
                Bound(
                    "ping.read_latency_mean_ms",
                    at_most=SMALL_READ_US / 1000,
                    why=Mistake(
                        "interrupts",
                        "The single reader waits for the card's interrupt: how long does the card delay it?",
                    ),
                ),
            ],
            stays=(
                Mistake(
                    "fixed-setting",
                    "{match} is not a setting of the card; cores, frames and cables stay as they are.",
                    when=lambda changes: next((path for path in changes if not path.startswith("server.nic.")), None),
                ),
            ),
        ),
        why="Large sends save more cycles than short waits cost. One setting pays for the other.",
        hints=(
            "card.scenario('two-rings')['server']['nic'] has all settings.",
            "blank is the longest delay of an interrupt by the card, in nanoseconds or as '50us'.",
            "large_send lets the card cut large segments into frames by itself.",
        ),
        setup='import seeklab\ncard = seeklab.case("nic-tuning")\n',
        answer='settings = {"server.nic.large_send": True, "server.nic.blank": "20us"}',
    ),
    Task(
        "design/rate",
        question=(
            "Write the calculation that the benchmark should have done. It is a function of a list of clients; "
            "each is a tuple of its start and end in seconds and the MiB that it read. Return the rate of the "
            "server in MiB/s, from the first start to the last end."
        ),
        kind=Function("a list of clients"),
        check=Cases(
            _rate,
            [(clients,) for clients in CLIENTS],
            "For the clients {clients}",
            (
                Mistake(
                    "sum-of-rates",
                    "That is the sum of the rates that the clients report, but they did not all have them at the "
                    "same time.",
                    gives=lambda clients: sum(_rate([client]) for client in clients),
                ),
                Mistake(
                    "sum-of-times",
                    "The clients ran in parallel; the sum of their times counts the same seconds several times.",
                    gives=lambda clients: (
                        sum(mib for _, _, mib in clients) / sum(end - begin for begin, end, _ in clients)
                    ),
                ),
                Mistake("other", "Use the earliest start and the latest end of all, whatever their order."),
            ),
            unit=" MiB/s",
        ),
        why="Bytes can be added up, and a second counts once. Rates cannot be added up.",
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
    Task(
        "design/pool",
        question=(
            "A database needs 10 TB, 5,000 random reads per second in a working set of 96 GiB, and 15,000 "
            "synchronous writes per second (each durable before it is answered). You have 18,500. Choose disks, "
            "width and parity of a group (width 2 and parity 0 is a mirror), memory_gib, read_ssds and log_ssds: "
            "assign a dictionary of part names and numbers."
        ),
        kind=Settings(CHOSEN),
        check=_pool,
        why="It holds the data, it is fast enough, and every part is necessary.",
        hints=(
            "seeklab.design(**parts).cost and .capacity_bytes need no run; a mirror holds half of its disks.",
            "A log SSD makes about 12,000 synchronous writes per second durable. How many SSDs does that take?",
            "Data in memory need not be read from disk. A GiB of memory costs 40, a disk 300.",
        ),
        setup="import seeklab\n",
        answer='parts = {"disks": 20, "width": 2, "memory_gib": 72, "log_ssds": 2}',
    ),
)
