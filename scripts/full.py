"""`make full`: the complete checks, which take too long for `make test`. The last line counts passes and failures."""

from __future__ import annotations

import time

import machine
from console import apply, main, say
from stages import FULL, Count, check
from steps import FOR_FULL


def full() -> int:
    """Prepare, run every stage that can run, and count."""
    start = time.monotonic()
    machine.require_for_full()
    failed_steps = {name for name, failure in apply(FOR_FULL).items() if failure is not None}
    count = check(FULL, failed_steps) + Count(failed=len(failed_steps))
    say(f"The whole run took {time.monotonic() - start:.0f} s.\n")
    say(str(count))
    return 1 if count.failed else 0


if __name__ == "__main__":
    main(full)
