"""Notebook 23, more servers, less data: what the learner writes."""

from __future__ import annotations

from typing import Any

from seeklab.course.task import UnconvertedTask as Task

DUPLICATES = 3
NEAR = 0.01
LOSSES = ((4, {3}), (4, {1}), (8, {2}), (8, {5}), (20, {0, 19}), (20, {16}), (20, {17}), (8, {2, 4, 5}))
"""Packets of a burst, and which of them are lost."""
PLANS = (
    (16, 4, 64, 9),
    (16, 5, 64, 9),
    (8, 9, 64, 9),
    (8, 10, 64, 9),
    (2, 36, 63, 9),
    (8, 5, 32, 9),
    (1, 60, 64, 9),
    (32, 3, 128, 9),
    (4, 40, 128, 33),
)
"""Servers, window, buffer, and packets that the path holds."""
BLOCKS = ((8.4, 9.0, 0.64, 194.0), (8.4, 9.0, 0.0, 194.0), (8.4, 9.0, 1.0, 400.0), (33.6, 36.0, 0.5, 200.0))
"""Mbit of a block, ms that it takes without a loss, share of the blocks that wait for a timer, ms of the wait."""


def _waits(packets: int, lost: set[int]) -> bool:
    first = min(lost)
    return sum(packet not in lost for packet in range(first + 1, packets)) < DUPLICATES


def _timer_wrong(answer: Any) -> str | None:  # noqa: ANN401 -- whatever the learner has made
    if not callable(answer):
        return f"Wanted is a function of a number and a set; this is {type(answer).__name__}."
    for packets, lost in LOSSES:
        found, truth = answer(packets, set(lost)), _waits(packets, lost)
        if bool(found) == truth:
            continue
        told = f"Of packets 0 to {packets - 1}, {sorted(lost)} are lost: it gives {found!r}."
        after = packets - 1 - min(lost)
        if not truth:
            return f"{told} {DUPLICATES} or more packets came after the first loss; each makes a duplicate."
        if after >= DUPLICATES:
            return f"{told} A packet that is lost as well makes no duplicate: count those that arrive."
        return f"{told} Only {after} packets come after the first loss, too few for {DUPLICATES} duplicates."
    return None


def _fits(servers: int, window: int, buffer: int, path: int) -> bool:
    return servers * window <= buffer + path and (servers - 1) * window <= buffer


def _fits_wrong(answer: Any) -> str | None:  # noqa: ANN401 -- whatever the learner has made
    if not callable(answer):
        return f"Wanted is a function of four numbers; this is {type(answer).__name__}."
    for plan in PLANS:
        servers, window, buffer, path = plan
        found, truth = answer(*plan), _fits(*plan)
        if bool(found) == truth:
            continue
        told = (
            f"{servers} servers with a window of {window}, a buffer of {buffer} and {path} packets on the path: it"
            f" gives {found!r}."
        )
        if truth:
            return f"{told} {servers * window} packets fit: the path holds {path} besides the buffer."
        if servers * window <= buffer + path:
            return (
                f"{told} All of them would fit once they flow. But the first burst leaves all servers at once: one"
                f" server's packets go on as they come, and those of the {servers - 1} others wait in the port."
            )
        return f"{told} {servers * window} packets are more than {buffer} and {path}."
    return None


def _goodput(mbit: float, plain_ms: float, share: float, wait_ms: float) -> float:
    return 1000 * mbit / (plain_ms + share * wait_ms)


def _goodput_wrong(answer: Any) -> str | None:  # noqa: ANN401 -- whatever the learner has made
    if not callable(answer):
        return f"Wanted is a function of four numbers; this is {type(answer).__name__}."
    for block in BLOCKS:
        mbit, plain_ms, share, wait_ms = block
        found, truth = float(answer(*block)), _goodput(*block)
        if abs(found / truth - 1) <= NEAR:
            continue
        told = f"{mbit} Mbit in {plain_ms} ms, {share:.0%} of the blocks {wait_ms} ms later: it gives {found:.4g}."
        mean_of_rates = 1000 * mbit * ((1 - share) / plain_ms + share / (plain_ms + wait_ms))
        if abs(found / mean_of_rates - 1) <= NEAR:
            return f"{told} That is the mean of two rates. Slow blocks take more of the time: average the times."
        if abs(found * 1000 / truth - 1) <= NEAR:
            return f"{told} A thousandth of it: the times are ms, the answer is per second."
        if abs(found / (1000 * mbit / (plain_ms + wait_ms)) - 1) <= NEAR:
            return f"{told} Not every block waits."
        return f"{told} Divide the block by its mean time, and mind that this is in ms."
    return None


TASKS = {
    "incast/timer": Task(
        question=(
            "A server sends packets 0 to packets - 1 in one go, and those in the set `lost` do not arrive. For each "
            "packet that arrives the client sends back the number of the first one that it still lacks. So what "
            "arrives after a gap makes it repeat the same number. After three such repeats, or duplicates, the server "
            "sends the missing packet again at once; otherwise it waits until a timer runs out. Write a function of "
            "packets and lost: does the server wait for its timer?"
        ),
        wants="a function of a number and a set that gives True or False",
        wrong=_timer_wrong,
        why="Only what comes after a loss can tell of it, and after the end of a burst nothing comes.",
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
    "incast/goodput": Task(
        question=(
            "A block of `mbit` Mbit takes plain_ms when nothing is lost. A share of the blocks takes wait_ms longer. "
            "The client reads one block after the other. Write a function of mbit, plain_ms, share (0 to 1) and "
            "wait_ms: how many Mbit/s does it get?"
        ),
        wants="a function of four numbers that gives Mbit/s",
        wrong=_goodput_wrong,
        why="One block follows the other, so their times add up, and the slow ones take nearly all of the time.",
        hints=(
            "How long does a block take on average?",
            "plain_ms + share * wait_ms. The goodput is the block over that time.",
            "1000 * mbit / (plain_ms + share * wait_ms)",
        ),
        answer=("def goodput(mbit, plain_ms, share, wait_ms):\n    return 1000 * mbit / (plain_ms + share * wait_ms)"),
    ),
    "incast/fits": Task(
        question=(
            "Each of `servers` servers may have `window` packets under way. The port of the switch holds `buffer` "
            "packets, and the links to and from it hold `path` more. Once data flow, everything under way must fit "
            "into both. The first moment is harder: all servers send their windows at once, the packets of one of them "
            "leave the port as fast as they come, and those of all the others have to wait in the port. Write a "
            "function of servers, window, buffer and path: is there room for every packet, at both moments?"
        ),
        wants="a function of four numbers that gives True or False",
        wrong=_fits_wrong,
        why="Nothing is dropped if there is room for everything that may be under way, at the worst moment too.",
        hints=(
            "How many packets may be under way at most, and where are they?",
            "Two conditions: all windows fit into buffer and path together; all but one fit into the buffer.",
            "servers * window <= buffer + path and (servers - 1) * window <= buffer",
        ),
        answer=(
            "def fits(servers, window, buffer, path):\n"
            "    return servers * window <= buffer + path and (servers - 1) * window <= buffer"
        ),
    ),
}
