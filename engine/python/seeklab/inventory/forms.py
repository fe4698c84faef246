"""The two forms of the inventory, their sheets and their keys.

Both forms have all items; only the drawn numbers differ. The numbers come from the course's secret, so a learner who
has this package cannot compute a form in advance. A sheet has no key.
"""

from __future__ import annotations

import hashlib
import hmac
import html
import random
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from seeklab.inventory.items import ITEMS

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from seeklab.inventory.item import Item, Option, Posed

FORMS = ("A", "B")
CONFIDENCES = (0, 25, 50, 75, 100)
"""The degrees of confidence that a learner may state, in percent; 0 is a guess."""
MINUTES = 35
MAX_TRIES = 50
"""Draws of form B for one item until its numbers differ from those of form A."""


@dataclass(frozen=True)
class Asked:
    """One item of a form: its drawn question and the options; the key has no misconception."""

    item: Item
    stem: str
    options: Sequence[Option]
    measured: float

    @property
    def key(self) -> int:
        """Return the position of the key."""
        return next(nth for nth, option in enumerate(self.options) if not option.misconception)


@dataclass(frozen=True)
class Form:
    """A form, with the runs' results."""

    name: str
    asked: Sequence[Asked]

    def sheet(self) -> dict[str, Any]:
        """Return what learners get: questions and options."""
        items = [
            {"id": one.item.id, "stem": one.stem, "options": [option.text for option in one.options]}
            for one in self.asked
        ]
        return {"form": self.name, "confidences": list(CONFIDENCES), "items": items}

    def key(self) -> dict[str, Any]:
        """Return what the teacher keeps: the keys, and the misconception of each other option."""
        items = [
            {
                "id": one.item.id,
                "concept": one.item.concept,
                "week": one.item.week,
                "key": one.key,
                "measured": one.measured,
                "misconceptions": [option.misconception for option in one.options],
            }
            for one in self.asked
        ]
        return {"form": self.name, "items": items}

    def page(self) -> str:
        """Return the form as an HTML page to print, without scripts."""
        told = html.escape
        style = "body{font:16px/1.5 system-ui,sans-serif;max-width:46rem;margin:2rem auto;padding:0 1rem}"
        style += "li{margin:0 0 1.2rem;break-inside:avoid}label{display:block}fieldset{border:0;padding:0;margin:0}"
        parts = [
            f"<h1>Concept inventory, form {told(self.name)}</h1>",
            f"<p>{len(self.asked)} questions, {MINUTES} minutes. Choose one answer for each, and say how sure you are.",
            "Leave a question empty if you do not want to answer it. Name or code: ____________</p><ol>",
        ]
        for one in self.asked:
            name = told(one.item.id)
            boxes = "".join(
                f'<label><input type=radio name="{name}"> {told(option.text)}</label>' for option in one.options
            )
            sure = " ".join(
                f'<label style="display:inline"><input type=radio name="{name}-sure"> {percent}%</label>'
                for percent in CONFIDENCES
            )
            parts.append(
                f"<li><fieldset><legend>{told(one.stem)}</legend>{boxes}</fieldset>"
                f"<fieldset><legend>How sure are you?</legend>{sure}</fieldset>"
            )
        head = "<!doctype html><html lang=en><meta charset=utf-8>"
        return f"{head}<title>Concept inventory</title><style>{style}</style>{' '.join(parts)}</ol></html>\n"


def form(name: str, secret: bytes, told: Callable[[float], None] = lambda _: None) -> Form:
    """Draw a form and run the simulator for its keys. `told` gets the share that is done, from 0 to 1.

    Raises:
        ValueError: If the form has another name than A or B.
    """
    if name not in FORMS:
        message = f'"{name}" is not a form; the forms are {" and ".join(FORMS)}'
        raise ValueError(message)
    asked = []
    for nth, item in enumerate(ITEMS):
        told(nth / len(ITEMS))
        posed = _drawn(item, name, secret)
        measured = posed.measure()
        asked.append(Asked(item, posed.stem, posed.options(measured), measured))
    return Form(name, asked)


def form_of(student: str, secret: bytes) -> str:
    """Return the form that a student gets first; the other one comes at the end of the course."""
    return FORMS[hmac.new(secret, b"form\0" + student.encode(), hashlib.sha256).digest()[0] % len(FORMS)]


def _drawn(item: Item, name: str, secret: bytes) -> Posed:
    first = item.pose(_source(item, secret, 0))
    if name == FORMS[0]:
        return first
    others = (item.pose(_source(item, secret, nth)) for nth in range(1, MAX_TRIES))
    return next(posed for posed in others if posed.stem != first.stem)


def _source(item: Item, secret: bytes, nth: int) -> random.Random:
    digest = hmac.new(secret, f"inventory\0{item.id}\0{nth}".encode(), hashlib.sha256).digest()
    return random.Random(digest)
