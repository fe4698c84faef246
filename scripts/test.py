"""`make test`: all checks, even from an empty clone. The last line counts passes and failures."""

from __future__ import annotations

import time

import machine
from console import apply, main, say
from stages import LINT, RUST_DOCUMENTATION, TESTS, Count, check
from steps import FOR_TESTS


def test() -> int:
    """Prepare, run every stage that can run, and count."""
    start = time.monotonic()
    machine.require_for_tests()
    failed_steps = {name for name, failure in apply(FOR_TESTS).items() if failure is not None}
    say(f"Prepared in {time.monotonic() - start:.0f} s.")
    count = check((*LINT, *TESTS, RUST_DOCUMENTATION), failed_steps) + Count(failed=len(failed_steps))
    if failed_steps:
        say(f"These steps failed: {', '.join(sorted(failed_steps))}; the reasons are above and in .cache/logs.")
    say(f"The whole run took {time.monotonic() - start:.0f} s.\n")
    say(str(count))
    return 1 if count.failed else 0


if __name__ == "__main__":
    main(test)
