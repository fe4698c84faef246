"""The parameters that writes reveal: a drive's buffer, its programs, and whether reads suspend programs."""

from __future__ import annotations

from math import exp, log
from typing import TYPE_CHECKING

from seeklab._errors import SeeklabError
from seeklab.calibration import closed_forms
from seeklab.calibration.closed_forms import KIB, MIB
from seeklab.calibration.parameter import Parameter, number
from seeklab.calibration.ssd_drive import (
    AS_GOOD,
    ASSUMED_BUFFER,
    ASSUMED_ERASE_US,
    ASSUMED_PLANES,
    ASSUMED_PROGRAM_US,
    ASSUMED_SPARE,
)

if TYPE_CHECKING:
    from seeklab.calibration.fio_results import Measured, Results
    from seeklab.calibration.ssd_drive import Drive

MOSTLY_READS = 90
PROGRAMS = (0.15, 0.2, 0.27, 0.36, 0.42, 0.5, 0.58, 0.67, 0.8, 1.0)
"""Candidate times of a program, as shares of the longest observed one."""
PROGRAMS_US = (150.0, 20_000.0)
"""Candidate range of program times for drives with page types: from fast TLC to QLC flash."""
PAGES_AT_ONCE = (2, 4, 8, 12, 16, 24, 32, 48, 64, 72, 96, 128)
READ_PLANES = (1, 2, 4, 6)
PLANES_OF_SEARCH = 4
PER_PAGE_US = (4.0, 2000.0)
DRAINS = 7
"""Halvings of the range above, to a precision of 5%."""
TAILS = (95.0, 98.0, 99.0, 99.5)
"""Percentiles of reads that waited for a program."""
DEEP_TAILS = (50.0, 75.0, 90.0, 95.0, 99.0)
"""Percentiles of reads that waited for programs that reads suspend up to a limited number of times."""
FEW_IOS = 10_000
DELAYED = 1.2
"""A read that took at least this multiple of the usual time has waited for a program."""


def fit_writes(results: Results, four: Measured, drive: Drive, known: list[Parameter]) -> None:
    """Fit the parameters that writes reveal; `four` are single reads of 4 KiB."""
    short, long = (next((job for key, job in results.jobs.items() if key.limit_ms == ms), None) for ms in (200, 500))
    is_drained = _buffer(short, long, drive, known)
    mixed = next(
        (job for key, job in results.jobs.items() if key.rw == "randrw" and key.mix == MOSTLY_READS and key.depth == 1),
        None,
    )
    deep = next(
        (job for key, job in results.jobs.items() if key.rw == "randrw" and key.size == 4 * KIB and key.depth > 1), None
    )
    if drive.factors and mixed and deep and short and long and is_drained:
        _programs([(mixed, (99.0,)), (deep, DEEP_TAILS)], short, long, drive, known)
    else:
        _waited(mixed, four, drive, known)
        known.append(
            Parameter("pages at once", str(ASSUMED_PLANES), "assumed", "needs sequential writes to a clean drive")
        )
    known += [
        Parameter("erase", f"{ASSUMED_ERASE_US / 1000:g} ms", "assumed", "typical; needs a drive filled twice over"),
        Parameter("spare flash", f"{ASSUMED_SPARE}%", "assumed", "needs a drive filled at random twice over"),
    ]


def _buffer(short: Measured | None, long: Measured | None, drive: Drive, known: list[Parameter]) -> bool:
    """Fit the write buffer to two bursts; return whether it filled."""
    if not short or not long:
        known.append(
            Parameter("write buffer", f"{ASSUMED_BUFFER // MIB} MiB", "assumed", "no bursts of writes were recorded")
        )
        return False
    room = closed_forms.buffer(short.io_bytes, long.io_bytes, drive.link_rate)
    if room.is_seen:
        drive.buffer = max(1, round(room.size / (64 * KIB))) * 64 * KIB
        known.append(
            Parameter(
                "write buffer",
                f"{number(room.size / MIB)} MiB",
                "measured",
                f"bytes written in 200 and in 500 ms; the buffer drains at {number(room.drain)} MB/s",
            )
        )
    else:
        known.append(
            Parameter(
                "write buffer", f"at least {number(short.io_bytes / MIB)} MiB", "bound", "it never filled in 500 ms"
            )
        )
        drive.buffer = max(drive.buffer, round(short.io_bytes / MIB) * MIB)
    return room.is_seen


def _waited(mixed: Measured | None, four: Measured, drive: Drive, known: list[Parameter]) -> None:
    """Fit the program time to the reads that waited for a program."""
    delayed = mixed.runs[0].count_above(DELAYED * four.mean) if mixed else 0
    if mixed and delayed >= closed_forms.MIN_DELAYED:
        longest = max(drive.service, closed_forms.program_us(four.mean, _edge(mixed), delayed, 0.0) or 0.0)
        errors: dict[float, float] = {}
        for share in PROGRAMS:
            drive.program_us = longest * share
            errors[drive.program_us] = drive.error_of([(mixed, TAILS)], FEW_IOS)
        drive.program_us = min(errors, key=lambda us: errors[us])
        known.append(
            Parameter(
                "program",
                f"{number(drive.program_us)} us",
                "bound",
                f"matches {delayed} reads that waited, {100 * errors[drive.program_us]:.0f}% off; "
                f"the drive was not clean, so this includes collection; at most {number(longest)} us",
            )
        )
    else:
        why = f"{delayed} reads waited, fewer than {closed_forms.MIN_DELAYED}" if mixed else "no 90/10 mix was recorded"
        known.append(Parameter("program", f"{ASSUMED_PROGRAM_US:g} us", "assumed", f"{why}; typical of TLC flash"))


def _programs(
    mixes: list[tuple[Measured, tuple[float, ...]]],
    short: Measured,
    long: Measured,
    drive: Drive,
    known: list[Parameter],
) -> None:
    """Find the program time and its pages: the buffer's drain gives their ratio, and reads in mixes select the pair.

    Reads alone can mistake dies with independent planes for more dies; a program occupies all planes of a die.
    """
    per_page, readers = _program_of_a_page(short, long, drive), drive.dies
    errors: dict[tuple[int, int], float] = {}

    def take(read_planes: int, planes: int) -> None:
        drive.read_planes, drive.dies, drive.planes = read_planes, readers // read_planes, planes
        drive.program_us = planes * per_page / read_planes

    # Drives with visible page types are recent: they suspend programs, and their planes read independently.
    drive.suspends = True
    for read_planes in (count for count in READ_PLANES if readers % count == 0):
        for planes in PAGES_AT_ONCE:
            take(read_planes, planes)
            if planes % drive.stripe == 0 and PROGRAMS_US[0] <= drive.program_us <= PROGRAMS_US[1]:
                try:
                    errors[read_planes, planes] = drive.error_of(mixes)
                except SeeklabError:
                    errors[read_planes, planes] = float("inf")  # the buffer is too small for so many pages
    if not errors:
        errors[1, ASSUMED_PLANES] = float("inf")
    best = min(errors, key=lambda at: errors[at])
    take(*best)
    drive.suspends = False
    waiting = drive.error_of(mixes)
    drive.suspends = waiting > errors[best]
    good = [
        planes * per_page / read_planes
        for (read_planes, planes), error in errors.items()
        if error <= AS_GOOD[0] * errors[best]
    ]
    between = f"{number(min(good))} to {number(max(good))} us" if len(good) > 1 else "no other value"
    known += [
        Parameter(
            "program",
            f"{number(drive.program_us)} us",
            "bound" if len(good) > 1 else "measured",
            f"reads in mixes, {100 * min(waiting, errors[best]):.0f}% off; {between} would fit as well",
        ),
        Parameter(
            "pages at once",
            str(drive.planes),
            "bound",
            f"the buffer drains at {number(drive.program_us / drive.planes)} us a page, including collection",
        ),
        Parameter(
            "independent read planes",
            str(drive.read_planes),
            "bound",
            f"the same mixes: {readers} parallel reads on {drive.dies} dies that program",
        ),
        Parameter(
            "suspends programs",
            "yes" if drive.suspends else "no",
            "measured",
            f"without suspension, reads in mixes would be {100 * waiting:.0f}% off",
        ),
    ]


def _program_of_a_page(short: Measured, long: Measured, drive: Drive) -> float:
    """Return the program time per page, in us, that drains the buffer as measured."""
    wanted = long.io_bytes - short.io_bytes
    drive.planes = PLANES_OF_SEARCH * drive.stripe
    low, high = (log(edge) for edge in PER_PAGE_US)
    for _ in range(DRAINS):
        middle = (low + high) / 2
        drive.program_us = drive.planes * exp(middle)
        if drive.bytes_of(long) - drive.bytes_of(short) > wanted:
            low = middle
        else:
            high = middle
    return exp((low + high) / 2)


def _edge(mixed: Measured) -> float:
    """Return the upper edge of the delays: the last bin with three requests, because the longest alone is noise."""
    least = 3
    edge = [value for value, count in mixed.runs[0].bins if count >= least]
    return edge[-1] if edge else mixed.longest
