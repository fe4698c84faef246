"""Statistics of the inventory: items, reliability, and the normalised gain from the first to the last wave."""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from dataclasses import dataclass
from statistics import StatisticsError, correlation, pvariance
from statistics import fmean as mean
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from seeklab.inventory.records import Answer

FEW = 20
"""Below this number of learners only counts are reported."""
EXTREME = 0.27
"""The share of learners in the upper and in the lower group of the discrimination index."""
EASY, HARD, WEAK = 0.9, 0.2, 0.2
"""An item is flagged above this difficulty, below that one, and below this discrimination."""
RESAMPLES = 2000
INTERVAL = 0.95


@dataclass(frozen=True)
class Gain:
    """The normalised gain of a class, (last - first) / (1 - first), with its bootstrap interval."""

    learners: int
    """Learners with both waves."""
    first: float
    last: float
    gain: float
    low: float
    high: float

    @property
    def verdict(self) -> str:
        """Return what the interval says: it is above 0, below 0, or contains 0."""
        return "gain" if self.low > 0 else "loss" if self.high < 0 else "no gain shown"


def analyse(answers: Sequence[Answer]) -> dict[str, Any]:
    """Return the statistics of a study as JSON: items and reliability by wave, and the gain.

    With fewer than 20 learners in a wave, its items have counts only; with fewer than 20 in both waves, there is no
    gain.
    """
    found: dict[str, Any] = {"waves": {}}
    for wave in sorted({one.wave for one in answers}):
        found["waves"][wave] = _wave([one for one in answers if one.wave == wave])
    gained = gain(answers)
    found["gain"] = None if gained is None else {**vars(gained), "verdict": gained.verdict}
    found["items"] = {} if gained is None else _gains_by_item(answers)
    return found


def gain(answers: Sequence[Answer], seed: int = 1) -> Gain | None:
    """Return the gain of the learners with both waves; None below 20 learners or if the first wave was all right.

    The interval resamples learners, 2000 times, from a fixed seed.
    """
    shares = _shares(answers)
    paired = [(waves["first"], waves["last"]) for waves in shares.values() if len(waves) > 1]
    if len(paired) < FEW or mean(first for first, _ in paired) >= 1:
        return None
    source = random.Random(seed)
    drawn = sorted(_normalised(source.choices(paired, k=len(paired))) for _ in range(RESAMPLES))
    outside = round(RESAMPLES * (1 - INTERVAL) / 2)
    return Gain(
        len(paired),
        mean(first for first, _ in paired),
        mean(last for _, last in paired),
        _normalised(paired),
        drawn[outside],
        drawn[-1 - outside],
    )


def kr20(rights: Mapping[str, Mapping[str, int]]) -> float | None:
    """Return Kuder-Richardson 20, which is Cronbach's alpha of items scored 0 or 1; None if all totals are equal.

    `rights` has the score of each item, by learner. Only learners who met all items count.
    """
    items = sorted({item for scores in rights.values() for item in scores})
    whole = [scores for scores in rights.values() if len(scores) == len(items)]
    count = len(items)
    if count <= 1 or not whole:
        return None
    spread = pvariance([sum(scores.values()) for scores in whole])
    shares = [mean(scores[item] for scores in whole) for item in items]
    return None if spread == 0 else count / (count - 1) * (1 - sum(p * (1 - p) for p in shares) / spread)


def _normalised(paired: Sequence[tuple[float, float]]) -> float:
    first, last = mean(one for one, _ in paired), mean(one for _, one in paired)
    return (last - first) / (1 - first) if first < 1 else 0.0


def _shares(answers: Sequence[Answer]) -> dict[str, dict[str, float]]:
    """Return the share of right answers by learner and wave; an empty answer is not right."""
    given: dict[tuple[str, str], list[int]] = defaultdict(list)
    for one in answers:
        given[one.learner, one.wave].append(one.right)
    shares: dict[str, dict[str, float]] = defaultdict(dict)
    for (learner, wave), rights in given.items():
        shares[learner][wave] = mean(rights)
    return shares


def _wave(answers: Sequence[Answer]) -> dict[str, Any]:
    rights: dict[str, dict[str, int]] = defaultdict(dict)
    for one in answers:
        rights[one.learner][one.item] = one.right
    few = len(rights) < FEW
    items = {
        item: _item([one for one in answers if one.item == item], rights, few=few)
        for item in dict.fromkeys(one.item for one in answers)
    }
    return {"learners": len(rights), "kr20": None if few else kr20(rights), "items": items}


def _item(answers: Sequence[Answer], rights: Mapping[str, Mapping[str, int]], *, few: bool) -> dict[str, Any]:
    chosen = Counter(one.misconception or ("" if one.right else "none") for one in answers)
    found: dict[str, Any] = {
        "answers": len(answers),
        "right": chosen.pop("", 0),
        "empty": chosen.pop("none", 0),
        "misconceptions": dict(chosen.most_common()),
    }
    if few:
        return found
    item = answers[0].item
    score = {one.learner: one.right for one in answers}
    rest = {learner: sum(rights[learner].values()) - score[learner] for learner in score}
    ranked = sorted(score, key=lambda learner: (rest[learner], learner))
    group = max(1, round(EXTREME * len(ranked)))
    difficulty = mean(score.values())
    apart = mean(score[one] for one in ranked[-group:]) - mean(score[one] for one in ranked[:group])
    try:
        together: float | None = correlation(list(score.values()), [rest[learner] for learner in score])
    except StatisticsError:
        together = None
    sure = {
        right: [one.confidence for one in answers if one.right == right and one.confidence is not None]
        for right in (0, 1)
    }
    flags = [
        *(["easy"] if difficulty > EASY else []),
        *(["hard"] if difficulty < HARD else []),
        *(["does not discriminate"] if apart < WEAK else []),
        *(["a distractor that was never chosen"] if len(chosen) < len(_distractors(item)) else []),
    ]
    return {
        **found,
        "difficulty": difficulty,
        "discrimination": apart,
        "point_biserial": together,
        "confidence_right": mean(sure[1]) if sure[1] else None,
        "confidence_wrong": mean(sure[0]) if sure[0] else None,
        "flags": flags,
    }


def _distractors(item: str) -> list[str]:
    from seeklab.inventory.items import ITEMS

    posed = next((one.pose(random.Random(0)) for one in ITEMS if one.id == item), None)
    if posed is None:
        return []
    return posed.misconceptions


def _gains_by_item(answers: Sequence[Answer]) -> dict[str, float | None]:
    gains: dict[str, float | None] = {}
    for item in dict.fromkeys(one.item for one in answers):
        waves = {
            wave: [one.right for one in answers if one.item == item and one.wave == wave] for wave in ("first", "last")
        }
        if all(waves.values()):
            first, last = mean(waves["first"]), mean(waves["last"])
            gains[item] = None if first >= 1 else (last - first) / (1 - first)
    return gains
