"""Notebook 22, shouting at disks: what the learner writes."""

from __future__ import annotations

from typing import Any

from seeklab.course.tasks import Task

NEAR = 0.01
ATTEMPTS = ((0.2, 8.333), (0.5, 6.0), (0.9, 8.333), (0.95, 4.0))
"""How likely an attempt fails, and how long a revolution takes in ms."""
PIECES = ((1.638, 8.333, 0.2), (1.638, 8.333, 0.95), (6.55, 6.0, 0.5))
"""What a piece takes undisturbed, a revolution, and how likely an attempt fails."""
MEMORY = ((2048, 0, 200), (2048, 300, 200), (4096, 500, 150), (1024, 0, 400))
"""The limit of dirty data, what is dirty already, and what arrives in a second."""
DELAY_FROM = 0.6


def _wait(off_track: float, turn_ms: float) -> float:
    return turn_ms * off_track / (1 - off_track)


def _is_near(found: float, truth: float) -> bool:
    return abs(found - truth) <= NEAR * abs(truth)


def _wait_wrong(answer: Any) -> str | None:  # noqa: ANN401 -- whatever the learner has made
    if not callable(answer):
        return f"Wanted is a function of two numbers; this is {type(answer).__name__}."
    for off_track, turn_ms in ATTEMPTS:
        found, truth = float(answer(off_track, turn_ms)), _wait(off_track, turn_ms)
        if _is_near(found, truth):
            continue
        told = f"With a probability of {off_track:g} and {turn_ms:g} ms it gives {found:.4g} ms."
        if _is_near(found, off_track * turn_ms):
            return f"{told} That is one retry at most; the second attempt can fail as well, and the third."
        if _is_near(found, turn_ms / (1 - off_track)):
            return f"{told} That counts all attempts; the one that succeeds costs no revolution."
        if _is_near(found, 0.5 * turn_ms * off_track / (1 - off_track)):
            return (
                f"{told} Half a revolution is what a random request waits; a sector that was just missed takes a whole."
            )
        return f"{told} How many attempts fail before one succeeds, on average?"
    return None


def _share_wrong(answer: Any) -> str | None:  # noqa: ANN401 -- whatever the learner has made
    if not callable(answer):
        return f"Wanted is a function of three numbers; this is {type(answer).__name__}."
    for piece_ms, turn_ms, off_track in PIECES:
        wait = _wait(off_track, turn_ms)
        found, truth = float(answer(piece_ms, turn_ms, off_track)), piece_ms / (piece_ms + wait)
        if _is_near(found, truth):
            continue
        told = f"With {piece_ms:g} ms, {turn_ms:g} ms and {off_track:g} it gives {found:.4g}."
        if _is_near(found, 1 - off_track):
            return f"{told} So it would be if a failed attempt took as long as the piece. It takes a whole revolution."
        if _is_near(found, wait / (piece_ms + wait)):
            return f"{told} That is the share of the time that is lost; asked for is what is left."
        if _is_near(found, piece_ms / wait):
            return f"{told} The disk spends both times on each piece, one after the other."
        return f"{told} How much of a piece's time is the time that it would take anyhow?"
    return None


def _until_wrong(answer: Any) -> str | None:  # noqa: ANN401 -- whatever the learner has made
    if not callable(answer):
        return f"Wanted is a function of three numbers; this is {type(answer).__name__}."
    for limit, dirty, ingest in MEMORY:
        found, truth = float(answer(limit, dirty, ingest)), (DELAY_FROM * limit - dirty) / ingest
        if _is_near(found, truth):
            continue
        told = f"With a limit of {limit} MB, {dirty} MB dirty and {ingest} MB/s it gives {found:.4g} s."
        if _is_near(found, (limit - dirty) / ingest):
            return f"{told} Writes are delayed before memory is full: from {DELAY_FROM:.0%} of the limit on."
        if _is_near(found, DELAY_FROM * limit / ingest):
            return f"{told} What is dirty already has its place in memory, too."
        if _is_near(found, DELAY_FROM * (limit - dirty) / ingest):
            return f"{told} The threshold is a share of the limit, not of what is left of it."
        return f"{told} How much more may arrive until {DELAY_FROM:.0%} of the limit are dirty?"
    return None


TASKS = {
    "shouting/wait": Task(
        question=(
            "An attempt fails with a probability of `off_track`, each independently of those before. A failed attempt "
            "costs a revolution of `turn_ms` milliseconds. Write a function of off_track and turn_ms: how many ms does "
            "a request lose on average?"
        ),
        wants="a function of two numbers that gives milliseconds",
        wrong=_wait_wrong,
        why="One attempt in five costs a quarter of a revolution; nineteen of twenty cost nineteen revolutions.",
        hints=(
            "A request has one failed attempt with a probability of off_track, a second one with off_track squared.",
            "q + q^2 + q^3 + ... has a short form.",
            "lambda off_track, turn_ms: turn_ms * off_track / (1 - off_track)",
        ),
        answer="def wait(off_track, turn_ms):\n    return turn_ms * off_track / (1 - off_track)",
    ),
    "shouting/share": Task(
        question=(
            "A disk streams. A piece takes `piece_ms` when nothing shakes the disk. Write a function of piece_ms, "
            "turn_ms and off_track: which share of its rate does the disk keep when it is shaken?"
        ),
        wants="a function of three numbers that gives a share from 0 to 1",
        wrong=_share_wrong,
        why="The shorter a piece, the less is left: whoever streams in small pieces is hit hardest.",
        hints=(
            "How long does a piece take on average now?",
            "The time that it takes anyhow, and the wait from before.",
            "lambda piece_ms, turn_ms, off_track: piece_ms / (piece_ms + turn_ms * off_track / (1 - off_track))",
        ),
        answer=(
            "def share(piece_ms, turn_ms, off_track):\n"
            "    return piece_ms / (piece_ms + turn_ms * off_track / (1 - off_track))"
        ),
    ),
    "shouting/until": Task(
        question=(
            "Writes of applications end in memory. There `limit` MB may be dirty, `dirty` MB are, and `ingest` MB "
            f"arrive in a second. From {DELAY_FROM:.0%} of the limit on writes are delayed. The disks stand still. "
            "Write a function of limit, dirty and ingest: after how many seconds does an application notice?"
        ),
        wants="a function of three numbers that gives seconds",
        wrong=_until_wrong,
        why="Memory buys time, not throughput: the same seconds, whatever it is that stops the disks.",
        hints=(
            "How many MB may be dirty before writes are delayed?",
            "Some of them are dirty already; the others have to arrive first.",
            "lambda limit, dirty, ingest: (0.6 * limit - dirty) / ingest",
        ),
        answer="def until(limit, dirty, ingest):\n    return (0.6 * limit - dirty) / ingest",
    ),
}
