"""Likeness of programs: planted copies are found; the given code and independent answers are not."""

from __future__ import annotations

import pytest

from seeklab.judge.likeness import ALIKE, MAX_PAIRS, alike, grams, likeness

GIVEN = '''
class Policy:
    """Read ahead: return a list of (first record, count)."""

    def __init__(self):
        self.last = {}

    def __call__(self, read):
        return []
'''

ORIGINAL = """
class Policy:
    def __init__(self):
        self.last = {}
        self.hits = 0

    def __call__(self, read):
        # Sequential readers only.
        before = self.last.get(read.reader)
        self.last[read.reader] = read.record + read.records
        if before == read.record:
            self.hits += 1
            window = min(16, 2 + self.hits)
            return [(read.record + read.records, window)]
        return []
"""

RENAMED = (
    ORIGINAL.replace("before", "expected")
    .replace("window", "how_many")
    .replace("self.hits", "self.streak")
    .replace("16", "12")
)
REORDERED = """
class Policy:
    def __call__(self, read):
        before = self.last.get(read.reader)
        self.last[read.reader] = read.record + read.records
        if before == read.record:
            window = min(16, 2 + self.hits)
            self.hits += 1
            return [(read.record + read.records, window)]
        return []

    def __init__(self):
        self.hits = 0
        self.last = {}
"""
COMMENTED = ORIGINAL.replace("# Sequential readers only.", '"""My own idea."""\n        # It looks at the last read.')

INDEPENDENT = [
    """
class Policy:
    def __init__(self):
        self.seen = {}

    def __call__(self, read):
        history = self.seen.setdefault(read.reader, [])
        history.append(read.record)
        if len(history) < 3:
            return []
        steps = {b - a for a, b in zip(history[-3:], history[-2:])}
        return [(read.record + read.records, 4)] if len(steps) == 1 else []
""",
    """
class Policy:
    def __init__(self):
        self.ends = set()

    def __call__(self, read):
        follows = read.record in self.ends
        self.ends.discard(read.record)
        self.ends.add(read.record + read.records)
        if not follows:
            return []
        return [(read.record + read.records, 8)]
""",
    """
from collections import defaultdict

class Policy:
    def __init__(self):
        self.run = defaultdict(int)
        self.next = {}

    def __call__(self, read):
        if self.next.get(read.reader) == read.record:
            self.run[read.reader] += read.records
        else:
            self.run[read.reader] = 0
        self.next[read.reader] = read.record + read.records
        count = max(0, min(self.run[read.reader], 32))
        return [(self.next[read.reader], count)] if count else []
""",
    """
def Policy():
    memory = {}
    def decide(read):
        old = memory.pop(read.reader, None)
        memory[read.reader] = (read.record, read.records)
        if old is None or sum(old) != read.record:
            return []
        return [(sum(memory[read.reader]), old[1])]
    return decide
""",
]


@pytest.mark.parametrize("copy", [RENAMED, REORDERED, COMMENTED], ids=["renamed", "re-ordered", "re-commented"])
def test_a_planted_copy_is_found(copy: str) -> None:
    assert copy != ORIGINAL
    students = {f"s{nth}": text for nth, text in enumerate([ORIGINAL, *INDEPENDENT])}
    (pair,) = alike({**students, "copy": copy}, GIVEN)
    assert {pair.one, pair.other} == {"s0", "copy"}
    assert pair.share >= ALIKE


def test_independent_answers_are_not_reported() -> None:
    assert alike({f"s{nth}": text for nth, text in enumerate([ORIGINAL, *INDEPENDENT])}, GIVEN) == []


def test_the_shipped_code_is_not_a_copy_of_itself() -> None:
    assert alike({f"s{nth}": GIVEN for nth in range(30)}, GIVEN) == []


def test_a_short_answer_is_not_compared() -> None:
    rule = "def rule(known):\n    return known['rate'] / 2\n"
    assert alike({f"s{nth}": rule for nth in range(30)}) == []


def test_text_that_is_not_python_has_no_grams() -> None:
    assert grams("def (") == {}
    assert grams("\0") == {}
    assert likeness(grams(""), grams("")) == 0


def test_a_large_class_is_sampled_and_its_copy_found() -> None:
    texts = [ORIGINAL, *INDEPENDENT]
    padded = {
        f"s{nth}": texts[nth % 5] + f"\ndef extra_{nth}(a, b):\n" + f"    a = a + b.x{nth}\n    b.y{nth}(a)\n" * 8
        for nth in range(120)
    }
    assert len(padded) * (len(padded) - 1) // 2 > MAX_PAIRS
    copy = padded["s7"].replace("a =", "q =").replace("(a, b)", "(q, b)")
    (pair,) = alike({**padded, "copy": copy}, GIVEN)
    assert (pair.one, pair.other) == ("copy", "s7")
