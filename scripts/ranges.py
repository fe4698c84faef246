"""`make ranges`: measure every fact anew, over seeds and inputs; write engine/ranges.json and the README's tables."""

from __future__ import annotations

import machine
from console import ROOT, StepFailedError, apply_all, main, say, stream
from steps import FOR_FULL, LIBRARY, VENV_BIN

LIMIT_S = 7200.0


def ranges() -> None:
    """Build, measure, write; the library again, since it carries what was measured."""
    machine.require_for_lab()
    apply_all(FOR_FULL)
    for written in ("fact_ranges", "readme_facts"):
        say(f"\n== tests/{written}.py")
        outcome = stream(written, (VENV_BIN / "python", ROOT / "tests" / f"{written}.py"), ROOT, LIMIT_S)
        if outcome.code != 0:
            message = f"tests/{written}.py ended with exit code {outcome.code}."
            raise StepFailedError(message)
        apply_all((LIBRARY,))


if __name__ == "__main__":
    main(ranges)
