"""`make setup`: install and build everything for the lab, without opening it."""

from __future__ import annotations

import machine
from console import apply_all, main
from steps import FOR_LAB


def setup() -> None:
    """Prepare everything that `make lab` opens."""
    machine.require_for_lab()
    apply_all(FOR_LAB)


if __name__ == "__main__":
    main(setup)
