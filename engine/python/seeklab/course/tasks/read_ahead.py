"""Notebook 24, the guess that read three times too much: what the learner writes."""

from __future__ import annotations

from functools import cache
from typing import Any

import seeklab
from seeklab.course.task import UnconvertedTask as Task

CASE = "context-read-ahead"
MAX = 32
"""Pages of the largest window."""
CONTEXT = 4
"""What `why` says of a guess."""
NEAR = 0.005
MISSES = ((16, 16), (1, 1), (4, 4), (2, 1), (32, 16), (0, 16), (0, 4))
"""Cached pages before, and pages asked for."""
READS = ((10_000, 32_768), (18_000, 32_768), (1000, 1024), (100_000, 32_768))


def _first(pages: int) -> int:
    size = 1 << (pages - 1).bit_length()
    return 4 * size if size <= MAX // 32 else 2 * size if size <= MAX // 4 else MAX


def _at_once(history: int, asked: int) -> int:
    if not history:
        return asked
    window = _first(history + asked)
    return window + min(MAX, (4 if window < MAX // 16 else 2) * window)


def _window_wrong(answer: Any) -> str | None:  # noqa: ANN401 -- whatever the learner has made
    if not callable(answer):
        return f"Wanted is a function of two numbers of pages; this is {type(answer).__name__}."
    for history, asked in MISSES:
        found, truth = answer(history, asked), _at_once(history, asked)
        if found == truth:
            continue
        told = f"With {history} pages cached before it and {asked} asked for it gives {found}."
        if not history:
            return f"{told} Nothing before it is cached: what was asked for is read, and no more."
        if found == _first(history + asked):
            return f"{told} That is the window. The reader stands on its marker, so the next one is read with it."
        if found == _at_once(history, asked) - asked:
            return f"{told} That is what was read beside it; wanted is all that is read."
        return f"{told} The sum of both, rounded up to a power of two, makes the window; then add the next one."
    return None


def _touched(reads: int, places: int) -> float:
    return float(1 - (1 - 1 / places) ** reads)


def _touched_wrong(answer: Any) -> str | None:  # noqa: ANN401 -- whatever the learner has made
    if not callable(answer):
        return f"Wanted is a function of reads and places; this is {type(answer).__name__}."
    for reads, places in READS:
        found, truth = float(answer(reads, places)), _touched(reads, places)
        if abs(found / truth - 1) <= NEAR:
            continue
        told = f"After {reads:,} reads of {places:,} places it gives {found:.3f}."
        if abs(found - reads / places) <= NEAR:
            return f"{told} So it would be if no place came twice; with {reads:,} draws many do."
        if abs(found - (1 - truth)) <= NEAR:
            return f"{told} That is the share that nobody has asked for yet."
        return f"{told} One read leaves a given place alone with a chance of 1 - 1/{places:,}; all {reads:,} have to."
    return None


@cache
def _guesses() -> list[dict[str, float]]:
    return [dict(row) for row in seeklab.case(CASE).run("2009").read_ahead.rows()]


def _times(rows: list[dict[str, float]], of: str = "fetched") -> float:
    return sum(row[of] for row in rows) / sum(row["asked"] for row in rows)


def _times_wrong(answer: Any) -> str | None:  # noqa: ANN401 -- whatever the learner has made
    try:
        found = float(answer)
    except (TypeError, ValueError):
        return f"Wanted is a number; this is {type(answer).__name__}."
    contexts = [row for row in _guesses() if row["why"] == CONTEXT]
    truth = _times(contexts)
    if abs(found / truth - 1) <= NEAR:
        return None
    told = f"You give {found:.2f}."
    if abs(found / _times(_guesses()) - 1) <= NEAR:
        return f"{told} That is over all decisions. Take the guesses alone: those whose why is {CONTEXT}."
    if abs(found / (truth - 1) - 1) <= NEAR:
        return f"{told} That is what was read beside what was asked for; wanted is all that was read."
    wide = sum(row["end"] - row["start"] for row in contexts) / sum(row["asked"] for row in contexts)
    if abs(found / wide - 1) <= NEAR:
        return f"{told} That is how wide the windows are. Some of their pages were cached already and were not read."
    return f"{told} Sum what was fetched over all guesses, and divide by the sum of what was asked for."


def _careful(history: int, asked: int) -> int:
    return min(history + asked, MAX) if history > asked else asked


def _careful_wrong(answer: Any) -> str | None:  # noqa: ANN401 -- whatever the learner has made
    if not callable(answer):
        return f"Wanted is a function of two numbers of pages; this is {type(answer).__name__}."
    for history, asked in ((16, 16), (17, 16), (32, 16), (0, 16), (1, 1), (2, 1), (31, 16)):
        found, truth = answer(history, asked), _careful(history, asked)
        if found == truth:
            continue
        told = f"With {history} pages cached before it and {asked} asked for it gives {found}."
        if history == asked:
            return (
                f"{told} As many as were asked for is what one earlier read by chance leaves. It takes more than that."
            )
        if history > asked and found > MAX:
            return f"{told} No window is larger than {MAX} pages."
        return f"{told} A longer history gives history + asked, {MAX} at most; any other gives what was asked for."
    return None


TASKS = {
    "guess/window": Task(
        question=(
            "A page is missing; `history` pages just before it are cached, and `asked` pages are wanted from it on. "
            "The kernel of 2009 adds the two and rounds the sum up to a power of two, n. The window is 4 n pages if n "
            "is 1, 2 n if n is at most 8, and otherwise 32. The reader stands on its marker already, so the next "
            "window, twice as large but at most 32 pages, is read at once as well. Without a history just what was "
            "asked for is read. Write a function of history and asked: how many pages are read in all?"
        ),
        wants="a function of two whole numbers that gives a whole number",
        wrong=_window_wrong,
        why="A read of 16 pages is half a window, and two windows are read for it.",
        hints=(
            "First the sum, then the next power of two: (n - 1).bit_length() helps.",
            "The window is 4 n, 2 n or 32. The second one is min(32, 2 * window).",
            "return asked if history is 0, else window + min(32, 2 * window)",
        ),
        answer=(
            "def at_once(history, asked):\n"
            "    if history == 0:\n"
            "        return asked\n"
            "    n = 1 << (history + asked - 1).bit_length()\n"
            "    window = 4 * n if n == 1 else 2 * n if n <= 8 else 32\n"
            "    return window + min(32, 2 * window)"
        ),
    ),
    "guess/touched": Task(
        question=(
            "A file consists of `places` pieces of 64 KiB. Each read draws one of them at random, and two reads may "
            "draw the same. Write a function of reads and places: after so many reads, what share of the file (0 to 1) "
            "has been asked for?"
        ),
        wants="a function of two numbers that gives a share from 0 to 1",
        wrong=_touched_wrong,
        why="10,000 reads of 32,768 places ask for 26 % of them: 1 in 7 came again.",
        hints=(
            "Look at one place. What is the chance that a single read does not draw it?",
            "1 - 1 / places. The chance that none of the reads draws it is that to the power of reads.",
            "1 - (1 - 1 / places) ** reads",
        ),
        answer="def touched(reads, places):\n    return 1 - (1 - 1 / places) ** reads",
    ),
    "guess/times": Task(
        question=(
            '`case.run("2009").read_ahead.rows()` gives a row for each decision: `why` (4 is a guess from context), '
            "`asked` and `fetched`, in pages, and the window from `start` to `end`. How many pages did all guesses "
            "together fetch for each page that was asked for?"
        ),
        wants="a number: pages fetched for each page asked for",
        wrong=_times_wrong,
        why=(
            "A guess reads up to four times what was asked for; it is less because some of those pages are cached "
            "already."
        ),
        hints=(
            "Keep the rows with why 4.",
            "Two sums over them: fetched and asked.",
            'sum(row["fetched"] for row in guesses) / sum(row["asked"] for row in guesses)',
        ),
        answer=(
            'guesses = [row for row in case.run("2009").read_ahead.rows() if row["why"] == 4]\n'
            'times = sum(row["fetched"] for row in guesses) / sum(row["asked"] for row in guesses)'
        ),
        setup='import seeklab\n\ncase = seeklab.case("context-read-ahead")',
    ),
    "guess/careful": Task(
        question=(
            "Write the rule of 2013: a history counts only if it is longer than what is asked for; then history + "
            "asked pages are read, at most 32. Otherwise what was asked for is read. A function of history and asked."
        ),
        wants="a function of two whole numbers that gives a whole number",
        wrong=_careful_wrong,
        why=(
            "One earlier read by chance leaves just as many pages as a read asks for. To be taken in now, it takes two "
            "in a row."
        ),
        hints=(
            "Two cases: history > asked, and all others.",
            "min(history + asked, 32) in the first case, asked in the second.",
            "return min(history + asked, 32) if history > asked else asked",
        ),
        answer="def careful(history, asked):\n    return min(history + asked, 32) if history > asked else asked",
    ),
}
