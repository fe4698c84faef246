"""`make sanity`: search every preset and every layer for implausible results. `make test` runs a sample of it."""

from __future__ import annotations

import machine
from console import main, say
from stages import SANITY, check


def sanity() -> int:
    """Run all sweeps; the last line counts their families."""
    machine.require_for_rust()
    count = check((SANITY,))
    say(f"\n{count}")
    return 1 if count.failed else 0


if __name__ == "__main__":
    main(sanity)
