"""Simulated learners, to test the analysis of a study before anyone has answered.

A learner has an ability and an item a difficulty, both normally distributed. A right answer has the probability of
the Rasch model, above a guess of one in four. In the last wave, a part g of what was missing is gained: p + g (1 -
p), so g is the expected normalised gain.
"""

from __future__ import annotations

import math
import random

from seeklab.inventory.forms import CONFIDENCES, FORMS
from seeklab.inventory.items import ITEMS
from seeklab.inventory.records import WAVES, Answer, pseudonym

GUESS = 0.25
ABILITY_SD, DIFFICULTY_SD = 1.0, 0.8
FAVOURITE = (0.5, 0.3, 0.2)
"""How often a wrong answer is the first, second and third distractor of an item."""


def simulate(learners: int, gain: float, seed: int) -> list[Answer]:
    """Return the answers of a class in both waves: half starts with form A, half with form B."""
    source = random.Random(seed)
    difficulties = {item.id: source.gauss(0, DIFFICULTY_SD) for item in ITEMS}
    distractors = {item.id: item.pose(random.Random(0)).misconceptions for item in ITEMS}
    answers = []
    for nth in range(learners):
        ability = source.gauss(0, ABILITY_SD)
        for wave, later in zip(WAVES, (0, 1), strict=True):
            for item in ITEMS:
                knows = 1 / (1 + math.exp(difficulties[item.id] - ability))
                chance = GUESS + (1 - GUESS) * knows
                right = source.random() < chance + later * gain * (1 - chance)
                wrong = source.choices(distractors[item.id], FAVOURITE)[0]
                answers.append(
                    Answer(
                        pseudonym(f"{nth}", seed.to_bytes(8, "big", signed=True)),
                        wave,
                        FORMS[(nth + later) % len(FORMS)],
                        item.id,
                        0 if right else 1,
                        int(right),
                        "" if right else wrong,
                        min(CONFIDENCES, key=lambda step: abs(step - 100 * source.gauss(chance, 0.2))),
                        round(source.uniform(15, 90), 1),
                    )
                )
    return answers
