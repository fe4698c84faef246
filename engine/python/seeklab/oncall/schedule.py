"""Which incidents a shift is drawn from: all, or those of some weeks of the course; and why some are in none."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from seeklab._errors import Problem, SeeklabError
from seeklab.oncall.incidents import INCIDENTS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from seeklab.oncall.incidents import Incident

LAST_WEEK = 10
WEEKS: Mapping[int, tuple[str, ...]] = {
    1: ("averaged-away",),
    2: ("misaligned-io", "invariants"),
    4: ("l2arc-warmth",),
    5: ("odx-prefetch", "copy-offload", "combine-limit", "media-prefetch"),
    6: ("throttle-2008", "delay-everything", "frictionless", "picket-fence", "dirty-sizing", "tune-openzfs"),
    7: ("sync-serialised", "slog-divert", "txg-seconds"),
    8: ("vdisk-sharding", "tlb-shootdown", "nic-tuning", "one-window-per-rtt"),
    9: ("burst-credits",),
    10: ("compressible-data",),
}
"""The cases of shifts, by the week of the course that teaches their mechanism."""

NO_SHIFT: Mapping[str, str] = {
    "battery-learns": "it is over by itself, found or not; the one setting that ends it sooner acknowledges what a"
    " power failure would lose, and what helps is to plan the next one, which a shift does not see",
    "bonnie-decoded": "nothing is broken: the test measures its client's processor, and no setting makes that faster",
    "context-read-ahead": "what mends it is another kernel: a smaller window takes from those who read in order what it"
    " saves those who do not, and a quarter of a rate that comes and goes with memory is too little for a complaint",
    "coordinated-omission": "the server stands still once, and what is wrong is how the test counts, which no tool of"
    " the system shows and no setting mends",
    "copysets": "nothing fails while anybody looks: what is wrong is where copies lie, which an outage a year shows and"
    " no setting moves on a running system",
    "diagonal": "its throttle was never shipped, so nobody is on call for it",
    "eleven-metrics": "eleven tests of one sound pool: each is bound by the part that was bought",
    "hci-taxonomy": "it compares designs of clusters, and a running cluster's design is not set",
    "incast": "what drops is a switch, and what waits is a sender's timer: no tool of the room shows a port or a timer,"
    " and the disks' own show nothing at all",
    "lost-group-commit": "what mends it is another version of the database: no setting lets transactions share that"
    " flush, and not to flush the log at all gives up what was promised",
    "openzfs-throttle": "its throttle is the remedy; what fails in it is the throttle of Z1, which has a shift."
    " Delays that begin at 96 to 98 % in place of 60 % make the longest write 1.2 to 1.6 times as long, too little for"
    " a complaint",
    "ordered-journal": "no tool of the incident room shows what is dirty or which transaction is being committed, and"
    " without them a shift of it is a guess",
    "shouting": "what is wrong is in the room, or in a screw: no setting of a running system makes a head stay on its"
    " track",
    "slc-cliff": "the drive does what it was made for: what helps is a pause or fewer bytes at once, and no setting of"
    " a running system gives back cells that are taken",
    "smr-resilver": "the drive does what it was made for, and no setting of a running array changes the order in which"
    " it rebuilds: what helps is another drive, or a version that sorts",
    "tail-at-scale": "no server is at fault: each is slow once in a while, and what helps is how clients ask, which no"
    " tool of the system shows",
    "thousand-threads": "no setting of 2008 mends it: ticks of 200 ms in place of 10 still leave stops of 3 s, of 4.5",
}
"""Cases that no shift is drawn from, each with the reason."""


def week_of(case: str) -> int | None:
    """Give the week of a case that has a shift."""
    return next((week for week, cases in WEEKS.items() if case in cases), None)


def pool(weeks: str | None = None) -> tuple[Incident, ...]:
    """Give the incidents of some weeks, such as `1-5`, or all; raises SeeklabError when there are none."""
    if weeks is None:
        return INCIDENTS
    found = re.fullmatch(r"([0-9]{1,2})(?:-([0-9]{1,2}))?", weeks)
    first, last = (int(found[1]), int(found[2] or found[1])) if found else (0, 0)
    if not 1 <= first <= last <= LAST_WEEK:
        message = f"{weeks[:40]!r} names no weeks; write one from 1 to {LAST_WEEK}, or a range such as 1-5"
        raise SeeklabError([Problem("weeks", message)])
    chosen = tuple(one for one in INCIDENTS if first <= (week_of(one.case) or 0) <= last)
    if not chosen:
        message = f"week {weeks} has no incident for a shift; those that have one: {', '.join(map(str, WEEKS))}"
        raise SeeklabError([Problem("weeks", message)])
    return chosen
