"""`make lint`: check formats, lints and types of every language, texts and commits. Run no tests."""

from __future__ import annotations

import machine
from console import apply, main, say
from stages import LINT, RUST_DOCUMENTATION, Count, check
from steps import FOR_LINT


def lint() -> int:
    """Prepare the inputs of the type checkers, then check."""
    machine.require_for_lab()
    failed_steps = {name for name, failure in apply(FOR_LINT).items() if failure is not None}
    count = check((*LINT, RUST_DOCUMENTATION), failed_steps) + Count(failed=len(failed_steps))
    say(f"\n{count}")
    return 1 if count.failed else 0


if __name__ == "__main__":
    main(lint)
