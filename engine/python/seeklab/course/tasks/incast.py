"""Notebook 23, more servers, less data: its tasks."""

from __future__ import annotations

from seeklab.course.task import Task
from seeklab.judge import Cases, Function, Mistake, Truth

DUPLICATES = 3


def _after(packets: int, lost: set[int]) -> int:
    """Count all packets after the first loss, both lost and received."""
    return packets - 1 - min(lost)


def _waits(packets: int, lost: set[int]) -> bool:
    return sum(packet not in lost for packet in range(min(lost) + 1, packets)) < DUPLICATES


def _fits(servers: int, window: int, buffer: int, path: int) -> bool:
    return servers * window <= buffer + path and (servers - 1) * window <= buffer


def _goodput(mbit: float, plain_ms: float, share: float, wait_ms: float) -> float:
    return 1000 * mbit / (plain_ms + share * wait_ms)


TASKS = (
    Task(
        "incast/timer",
        question=(
            "A server sends packets 0 to packets - 1 in one burst, and those in the set `lost` do not arrive. "
            "For each packet that arrives, the client returns the number of the first one that is still missing. "
            "So each packet that arrives after a gap makes it repeat the same number. After three such repeats, "
            "or duplicates, the server sends the missing packet again at once; otherwise it waits until a timer "
            "expires. Write a function of packets and lost: does the server wait for its timer? Return True or "
            "False."
        ),
        kind=Function("a number of packets and a set of lost ones"),
        check=Cases(
            _waits,
            [
                (4, {3}),
                (4, {1}),
                (8, {2}),
                (8, {5}),
                (20, {0, 19}),
                (20, {16}),
                (20, {17}),
                (8, {2, 4, 5}),
                (8, {2, 4, 5, 6}),
            ],
            lambda packets, lost: f"When {sorted(lost)} of packets 0 to {packets - 1} are lost",
            (
                Mistake(
                    "duplicates",
                    f"{DUPLICATES} or more packets arrived after the first loss; each makes a duplicate.",
                    when=lambda found, *_: found,
                ),
                Mistake(
                    "lost-too",
                    "A packet that is also lost makes no duplicate: count those that arrive.",
                    when=lambda _, __, *case: _after(*case) >= DUPLICATES,
                ),
                Mistake(
                    "too-few",
                    f"Only {{match}} come after the first loss, too few for {DUPLICATES} duplicates.",
                    when=lambda _, __, *case: str(_after(*case)),
                ),
            ),
            gives=Truth(),
        ),
        why="Only packets that arrive after a loss can report it, and none arrives after the end of a burst.",
        hints=(
            "Which packets make the client repeat itself?",
            "Those that arrive after the first lost one.",
            "sum(packet not in lost for packet in range(min(lost) + 1, packets)) < 3",
        ),
        answer=(
            "def timer(packets, lost):\n"
            "    return sum(packet not in lost for packet in range(min(lost) + 1, packets)) < 3"
        ),
    ),
    Task(
        "incast/goodput",
        question=(
            "A block of `mbit` Mbit takes plain_ms when nothing is lost. A share of the blocks takes wait_ms longer. "
            "The client reads one block after the other. Write a function of mbit, plain_ms, share (0 to 1) and "
            "wait_ms: how many Mbit/s does it get?"
        ),
        kind=Function("four numbers"),
        check=Cases(
            _goodput,
            ((8.4, 9.0, 0.64, 194.0), (8.4, 9.0, 0.0, 194.0), (8.4, 9.0, 1.0, 400.0), (33.6, 36.0, 0.5, 200.0)),
            "For {mbit} Mbit in {plain_ms} ms, and {wait_ms} ms more for {share:.0%} of the blocks",
            (
                Mistake(
                    "mean-of-rates",
                    "That is the mean of two rates. Slow blocks take more of the time: average the times.",
                    gives=lambda mbit, plain_ms, share, wait_ms: (
                        1000 * mbit * ((1 - share) / plain_ms + share / (plain_ms + wait_ms))
                    ),
                ),
                Mistake("milliseconds", "The times are in ms; return Mbit per second.", times=1e-3),
                Mistake(
                    "all-wait",
                    "Not every block waits.",
                    gives=lambda mbit, plain_ms, _, wait_ms: _goodput(mbit, plain_ms, 1, wait_ms),
                ),
                Mistake("other", "Divide the block by its mean time, which is in ms."),
            ),
            unit=" Mbit/s",
            within=0.01,
        ),
        why="Blocks follow one another, so their times add up, and the slow ones take nearly all of the time.",
        hints=(
            "How long does a block take on average?",
            "plain_ms + share * wait_ms. The goodput is the block over that time.",
            "1000 * mbit / (plain_ms + share * wait_ms)",
        ),
        answer=("def goodput(mbit, plain_ms, share, wait_ms):\n    return 1000 * mbit / (plain_ms + share * wait_ms)"),
    ),
    Task(
        "incast/fits",
        question=(
            "Each of `servers` servers may have `window` packets in flight. The port of the switch holds "
            "`buffer` packets, and the links to and from it hold `path` more. Once data flows, all packets in "
            "flight must fit into both. The first moment is harder: all servers send their windows at once. The "
            "packets of one server leave the port as fast as they arrive; the packets of all other servers wait in the "
            "port. Write a function of servers, window, buffer and path: is there room for every packet at both "
            "moments? Return True or False."
        ),
        kind=Function("four numbers"),
        check=Cases(
            _fits,
            (
                (16, 4, 64, 9),
                (16, 5, 64, 9),
                (8, 9, 64, 9),
                (8, 10, 64, 9),
                (2, 36, 63, 9),
                (8, 5, 32, 9),
                (1, 60, 64, 9),
                (32, 3, 128, 9),
                (4, 40, 128, 33),
            ),
            "For {servers} servers, a window of {window}, a buffer of {buffer} and {path} packets on the path",
            (
                Mistake(
                    "no-path",
                    "{match} packets fit: the path holds {path} besides the buffer.",
                    when=lambda _, truth, servers, window, *__: truth and servers * window,
                ),
                Mistake(
                    "first-burst",
                    "All packets would fit once data flows. But in the first burst, the port forwards the "
                    "packets of one server as they arrive, while the packets of all other servers wait.",
                    gives=lambda servers, window, buffer, path: servers * window <= buffer + path,
                ),
                Mistake(
                    "too-many",
                    "{match} packets may be in flight, but buffer and path hold only {buffer} and {path}.",
                    when=lambda _, __, servers, window, *___: servers * window,
                ),
            ),
            gives=Truth(),
        ),
        why="Nothing is dropped if there is room for all packets that may be in flight, even at the worst moment.",
        hints=(
            "How many packets may be in flight at most, and where are they?",
            "Two conditions: all windows fit into buffer and path together; all but one fit into the buffer.",
            "servers * window <= buffer + path and (servers - 1) * window <= buffer",
        ),
        answer=(
            "def fits(servers, window, buffer, path):\n"
            "    return servers * window <= buffer + path and (servers - 1) * window <= buffer"
        ),
    ),
)
