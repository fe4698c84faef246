"""`make test`: all checks, even from an empty clone. The last line counts passes and failures."""

from __future__ import annotations

import time

import machine
from console import apply, capture, main, say
from stages import LINT, RUST_DOCUMENTATION, TESTED, TESTS, Count, check
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
    _remember(is_green=count.failed == 0)
    return 1 if count.failed else 0


def _remember(*, is_green: bool) -> None:
    """Store the commit that passed, for `make release`. A tree with changes is not a commit."""
    TESTED.unlink(missing_ok=True)
    head = capture("git", "rev-parse", "HEAD")
    if is_green and head is not None and capture("git", "status", "--porcelain") == "":
        TESTED.parent.mkdir(parents=True, exist_ok=True)
        TESTED.write_text(head)


if __name__ == "__main__":
    main(test)
