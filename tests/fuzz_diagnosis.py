"""Fuzzing of the diagnosis: samples of all tools are mutated and spliced, and each text must be read without an error.

`python tests/fuzz_diagnosis.py --seconds 600` runs for this time and prints the number of texts and the slowest one. A
text that fails is printed with its seed and number, which give it again. `make test` runs a few hundred.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import test_diagnosis
import test_diagnosis_evidence
import test_diagnosis_readers
import test_diagnosis_states
from seeklab.bring import blocks
from seeklab.bring.lines import cleaned
from seeklab.bring.redaction import Redactor
from seeklab.diagnosis import answer

if TYPE_CHECKING:
    from collections.abc import Iterator

FIELD = Path(__file__).parents[2] / "shared" / "field-diagnose"
SMALLEST = 60
MAX_LETTERS = 6000
LETTERS = '0123456789.,:;-+*/%|<>()[]{}"= \t\n\r\0eKMGs\u00e9\u2212\u00a0\U0001f600'
NUMBERS = ("0", "-1", "1e308", "9" * 30, "nan", "inf", "0x10", "1.2.3", "1,5", "", "-", "99999999999K", "0.0000001")
EVERY = 8
"""Of so many texts, one is also diagnosed and redacted."""
WHOLE, EXCERPT_LINES = 4, 12
"""Of so many texts, one is whole. The others have at most so many lines, which are read far sooner."""


def samples() -> list[str]:
    """Return the texts of the tests, and of the field where it is present."""
    found = [
        text
        for module in (test_diagnosis, test_diagnosis_readers, test_diagnosis_states)
        for text in vars(module).values()
        if isinstance(text, str) and "\n" in text and len(text) > SMALLEST
    ]
    files = sorted(path for path in FIELD.glob("*/*") if path.is_file())
    found += [text for _, text in test_diagnosis_evidence.TEXTS]
    return [*found, *(path.read_text(encoding="utf-8", errors="replace")[:MAX_LETTERS] for path in files)]


def texts(seed: int) -> Iterator[str]:
    """Yield mutated and spliced samples without end."""
    generator = random.Random(seed)
    known = samples()
    while True:
        text = _spliced(generator, known)
        yield _mutated(generator, _excerpt(generator, text) if generator.randrange(WHOLE) else text)


def _excerpt(generator: random.Random, text: str) -> str:
    lines = text.split("\n")
    first = generator.choice((0, generator.randrange(len(lines))))
    return "\n".join(lines[first : first + generator.randint(1, EXCERPT_LINES)])


def _spliced(generator: random.Random, known: list[str]) -> str:
    text = generator.choice(known)
    for _ in range(generator.choice((0, 0, 1, 1, 2))):
        other = generator.choice(known).split("\n")
        lines = text.split("\n")
        first, at = generator.randrange(len(other)), generator.randrange(len(lines) + 1)
        cut = other[first : first + generator.randrange(1, 12)]
        text = "\n".join(lines[:at] + cut + lines[at + generator.randrange(3) :])
    return text[:MAX_LETTERS]


def _mutated(generator: random.Random, text: str) -> str:
    letters = list(text)
    for _ in range(generator.choice((0, 1, 1, 2, 4, 12))):
        if not letters:
            break
        at, kind = generator.randrange(len(letters)), generator.randrange(6)
        if kind == 0:
            letters[at] = generator.choice(LETTERS)
        elif kind == 1:
            del letters[at : at + generator.randrange(1, 40)]
        elif kind == 2:
            letters[at:at] = generator.choice(NUMBERS)
        elif kind == 3:
            piece = letters[at : at + generator.randrange(1, 120)]
            letters[at:at] = piece * generator.randrange(1, 4)
        elif kind == 4:
            letters[at:at] = f" {generator.choice(NUMBERS)} "
        else:
            end = generator.randrange(len(letters))
            letters[at:end] = reversed(letters[at:end])
    return "".join(letters)


def check(text: str, *, wholly: bool) -> None:
    """Read a text; raise if a rule of blocks or of the answer is broken."""
    found = blocks(text)
    total, end = len(cleaned(text)), 0
    for block in found.blocks:
        if not end < block.first <= block.last <= total:
            message = f"block {block.tool} has the lines {block.first} to {block.last} after {end}, of {total}"
            raise AssertionError(message)
        end = block.last
    if wholly:
        json.dumps(answer([found]).document(), allow_nan=False)
        Redactor().redact(text)


def main() -> int:
    """Fuzz for some seconds."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=60.0, help="how long (default 60)")
    parser.add_argument("--seed", type=int, default=1, help="the seed (default 1)")
    options = parser.parse_args()
    began, count, slowest = time.monotonic(), 0, 0.0
    for count, text in enumerate(texts(options.seed), 1):
        start = time.process_time()
        try:
            check(text, wholly=count % EVERY == 0)
        except Exception:
            sys.stderr.write(f"seed {options.seed}, text {count}:\n{text!r}\n")
            raise
        slowest = max(slowest, time.process_time() - start)
        if time.monotonic() - began > options.seconds:
            break
    sys.stdout.write(f"{count:,} texts without an error; the slowest took {1e3 * slowest:.0f} ms\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
