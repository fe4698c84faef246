"""Notebook 24, the guess that read three times too much: its tasks."""

from __future__ import annotations

from functools import cache

import seeklab
from seeklab.course.task import Task
from seeklab.judge import Cases, Function, Mistake, Number, Value

CASE = "context-read-ahead"
MAX = 32
"""Pages of the largest window."""
CONTEXT = 4
"""The value of `why` for a guess."""
CASE_IS = "With history = {history} and asked = {asked}"


def _first(pages: int) -> int:
    size = 1 << (pages - 1).bit_length()
    return 4 * size if size <= MAX // 32 else 2 * size if size <= MAX // 4 else MAX


def _at_once(history: int, asked: int) -> int:
    if not history:
        return asked
    window = _first(history + asked)
    return window + min(MAX, (4 if window < MAX // 16 else 2) * window)


def _touched(reads: int, places: int) -> float:
    return float(1 - (1 - 1 / places) ** reads)


@cache
def _decisions() -> list[dict[str, float]]:
    return [dict(row) for row in seeklab.case(CASE).run("2009").read_ahead.rows()]


def _times(*, only_guesses: bool = True, windows: bool = False) -> float:
    """Return the pages fetched, or the pages of the windows, for each page that was requested."""
    rows = [row for row in _decisions() if row["why"] == CONTEXT or not only_guesses]
    pages = sum(row["end"] - row["start"] if windows else row["fetched"] for row in rows)
    return pages / sum(row["asked"] for row in rows)


def _careful(history: int, asked: int, most: int = MAX) -> int:
    return min(history + asked, most) if history > asked else asked


TASKS = (
    Task(
        "guess/window",
        question=(
            "A page is missing. `history` pages just before it are cached, and a read requests `asked` pages "
            "from there on. The kernel of 2009 rounds the sum of the two up to a power of two, called n. If n is "
            "1, the window has 4 n pages. If n is at most 8, it has 2 n pages, and otherwise 32. The reader is "
            "already at the marker of this window, so the kernel also reads the next window at once, twice as "
            "large but at most 32 pages. Without a history it reads only the requested pages. Write a function "
            "of history and asked: how many pages does the kernel read in total?"
        ),
        kind=Function("history and asked"),
        check=Cases(
            _at_once,
            ((16, 16), (1, 1), (4, 4), (2, 1), (32, 16), (0, 16), (0, 4)),
            CASE_IS,
            (
                Mistake(
                    "no-history",
                    "No page before it is cached: the kernel reads only the requested pages.",
                    when=lambda _, __, history, ___: not history,
                ),
                Mistake(
                    "one-window",
                    "That is the window. The reader is at its marker, so the kernel also reads the next one.",
                    gives=lambda history, asked: _first(history + asked),
                ),
                Mistake(
                    "without-asked",
                    "That leaves out the requested pages. Return all pages that are read.",
                    gives=lambda history, asked: _at_once(history, asked) - asked,
                ),
                Mistake(
                    "other",
                    "The window is the sum of both, rounded up to a power of two; then add the next window.",
                ),
            ),
            gives=Number(),
            within=0,
        ),
        why="A read of 16 pages is half a window, and the kernel reads two windows for it.",
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
    Task(
        "guess/touched",
        question=(
            "A file consists of `places` pieces of 64 KiB. Each read draws one of them at random, and two reads "
            "may draw the same. Write a function of reads and places: what share of the file (0 to 1) do the "
            "reads request?"
        ),
        kind=Function("reads and places"),
        check=Cases(
            _touched,
            ((10_000, 32_768), (18_000, 32_768), (1000, 1024), (100_000, 32_768)),
            "After {reads:,} reads of {places:,} places",
            (
                Mistake(
                    "no-repeats",
                    "That would be right if no place were drawn twice; with {reads:,} draws many are.",
                    gives=lambda reads, places: reads / places,
                ),
                Mistake(
                    "untouched",
                    "That is the share that no read has requested yet.",
                    gives=lambda reads, places: 1 - _touched(reads, places),
                ),
                Mistake(
                    "other",
                    (
                        "One read leaves out a given place with a probability of 1 - 1/{places:,}; all {reads:,} "
                        "must do so."
                    ),
                ),
            ),
        ),
        why="10,000 reads of 32,768 places request 26% of them: 1 in 7 was a repeat.",
        hints=(
            "Look at one place. What is the probability that a single read does not draw it?",
            "1 - 1 / places. The probability that none of the reads draws it is that to the power of reads.",
            "1 - (1 - 1 / places) ** reads",
        ),
        answer="def touched(reads, places):\n    return 1 - (1 - 1 / places) ** reads",
    ),
    Task(
        "guess/times",
        question=(
            '`case.run("2009").read_ahead.rows()` has a row for each decision: `why` (4 is a guess from context), '
            "`asked` and `fetched`, in pages, and the window from `start` to `end`. How many pages did all guesses "
            "together fetch for each requested page?"
        ),
        kind=Number(),
        check=Value(
            _times,
            (
                Mistake(
                    "all-decisions",
                    f"That is over all decisions. Take only the guesses: those whose why is {CONTEXT}.",
                    gives=lambda: _times(only_guesses=False),
                ),
                Mistake(
                    "without-asked",
                    "That leaves out the requested pages. Count all pages that were fetched.",
                    gives=lambda: _times() - 1,
                ),
                Mistake(
                    "windows",
                    "That is the width of the windows. Some of their pages were already cached and were not read.",
                    gives=lambda: _times(windows=True),
                ),
                Mistake("other", "Add up `fetched` over all guesses, and divide by the sum of `asked`."),
            ),
            within=0.005,
        ),
        why=(
            "A guess reads up to four times the requested pages; the mean is lower because some of those pages "
            "are already cached."
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
    Task(
        "guess/careful",
        question=(
            "Write the rule of 2013 as a function of history and asked. A history counts only if it is longer "
            "than the request; then the kernel reads history + asked pages, at most 32. Otherwise it reads only "
            "the requested pages."
        ),
        kind=Function("history and asked"),
        check=Cases(
            _careful,
            ((16, 16), (17, 16), (32, 16), (0, 16), (1, 1), (2, 1), (31, 16)),
            CASE_IS,
            (
                Mistake(
                    "equal-history",
                    "A single earlier read, by chance, leaves as many pages as a request has. The rule demands more.",
                    when=lambda _, __, history, asked: history == asked,
                ),
                Mistake(
                    "no-maximum",
                    f"No window is larger than {MAX} pages.",
                    gives=lambda history, asked: _careful(history, asked, history + asked),
                ),
                Mistake(
                    "other",
                    f"A history longer than asked gives history + asked, at most {MAX}; any other gives asked.",
                ),
            ),
            gives=Number(),
            within=0,
        ),
        why=(
            "One earlier read by chance leaves just as many pages as a read requests. Now only two such reads in "
            "a row deceive the kernel."
        ),
        hints=(
            "Two cases: history > asked, and all others.",
            "min(history + asked, 32) in the first case, asked in the second.",
            "return min(history + asked, 32) if history > asked else asked",
        ),
        answer="def careful(history, asked):\n    return min(history + asked, 32) if history > asked else asked",
    ),
)
