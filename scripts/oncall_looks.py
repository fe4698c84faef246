"""Measure how much one look tells about shifts: `python scripts/oncall_looks.py [TEST [TRAIN]]`.

A naive Bayes classifier, one for each platform, learns from TRAIN shifts of level 1 and names the cause of TEST others.
It sees what is free (ticket, sheet, lists, the users' number), alone or with a single look. Numbers become bins of half
a power of two. Shifts are worth playing if neither suffices.
"""

from __future__ import annotations

import math
import sys
from collections import Counter, defaultdict
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING

from console import main

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

TEST, TRAIN = 300, 900
FIRST_OF_TRAINING = 10_000
FREE = "free"
MOST_FREE, MOST_BY_ONE_LOOK = 0.35, 0.65
"""Limits of the design: shares of shifts."""


@dataclass(frozen=True)
class Seen:
    """One shift as a player sees it: the features of what is free and of each look."""

    platform: str
    cause: str
    features: dict[str, frozenset[str]]


def seen(seed: int) -> Seen:
    """Run one shift of level 1 and collect the features of all looks."""
    from seeklab._result import run
    from seeklab.oncall.platform_shift import PlatformShift
    from seeklab.oncall.printed import numbers
    from seeklab.oncall.tools import TOOLS

    shift = PlatformShift(seed)
    words = shift.ticket.replace(str(seed), "").split()
    free = {*words, *shift.sheet.splitlines(), *shift.offered(), *shift.causes, _bin("users", shift.users[0][1])}
    features = {FREE: frozenset(free)}
    logged = {**shift.scenario, "record": {**shift.scenario["record"], "log": True}}
    result = run(logged, seed=seed + 1)
    for command in TOOLS:
        text = shift.prints(command, result, logged)
        plain = {word for word in text.split() if not any(letter.isdigit() for letter in word)}
        features[command] = frozenset({*plain, *(_bin(name, value) for name, value in numbers(text).items())})
    values = shift.settable()
    for path in shift.offered():
        features[f"get {path}"] = frozenset({f"{path} {values.get(path)}"})
    return Seen(shift.platform.id, shift.truths[0].id, features)


def _bin(name: str, value: float) -> str:
    return f"{name} {math.copysign(1, value):.0f} {round(2 * math.log2(abs(value) + 0.01))}"


class Bayes:
    """A naive Bayes classifier over sets of features (multinomial, with one added to each count)."""

    def __init__(self, learned: Iterable[tuple[str, frozenset[str]]]) -> None:
        """Count the features of each class."""
        self._counts: dict[str, Counter[str]] = defaultdict(Counter)
        self._classes: Counter[str] = Counter()
        for name, features in learned:
            self._classes[name] += 1
            self._counts[name].update(features)

    def best(self, features: frozenset[str]) -> str:
        """Return the likeliest class."""
        return max(sorted(self._classes), key=lambda name: self._likelihood(name, features))

    def _likelihood(self, name: str, features: frozenset[str]) -> float:
        counts, of = self._counts[name], self._classes[name]
        return math.log(of) + sum(math.log((counts[one] + 0.1) / (of + 0.2)) for one in features)


def shares(train: Sequence[Seen], test: Sequence[Seen]) -> dict[str, float]:
    """Return, for what is free and for each look, the share of test shifts whose cause the classifier names."""
    found: Counter[str] = Counter()
    looks = list(test[0].features)
    looks += sorted({look for shift in test for look in shift.features} - set(looks))
    for platform in {shift.platform for shift in test}:
        own = [shift for shift in train if shift.platform == platform]
        for look in looks:
            learned = [(shift.cause, shift.features[FREE] | shift.features.get(look, frozenset())) for shift in own]
            bayes = Bayes(learned)
            found[look] += sum(
                bayes.best(shift.features[FREE] | shift.features.get(look, frozenset())) == shift.cause
                for shift in test
                if shift.platform == platform
            )
    return {look: found[look] / len(test) for look in looks}


def by_platform(train: Sequence[Seen], test: Sequence[Seen]) -> dict[str, dict[str, float]]:
    """Return the shares for each platform alone."""
    platforms = sorted({shift.platform for shift in test})
    return {one: shares(train, [shift for shift in test if shift.platform == one]) for one in platforms}


def shifts() -> int:
    """Print the shares, and fail if one exceeds its limit."""
    test, train = (int(word) for word in (*sys.argv[1:3], *(str(n) for n in (TEST, TRAIN)[len(sys.argv) - 1 :])))
    seeds = [*range(test), *range(FIRST_OF_TRAINING, FIRST_OF_TRAINING + train)]
    with ProcessPoolExecutor() as pool:
        found = list(pool.map(seen, seeds, chunksize=10))
    every = shares(found[test:], found[:test])
    looks = sorted((look for look in every if look != FREE), key=lambda look: -every[look])
    print(f"{test} shifts, learned from {train} others")
    print(f"{every[FREE]:6.1%}  what is free (limit {MOST_FREE:.0%})")
    for look in looks[:8]:
        print(f"{every[look]:6.1%}  {look} (limit {MOST_BY_ONE_LOOK:.0%})")
    for platform, some in by_platform(found[test:], found[:test]).items():
        best = max((look for look in some if look != FREE), key=lambda look: some[look])
        print(f"{platform:<14} free {some[FREE]:6.1%}, best look {some[best]:6.1%} ({best})")
    return int(every[FREE] > MOST_FREE or every[looks[0]] > MOST_BY_ONE_LOOK)


if __name__ == "__main__":
    main(shifts)
