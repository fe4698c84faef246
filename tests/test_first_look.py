"""The on-call page's stored first look is what the shift prints today."""

from __future__ import annotations

import json

import first_look


def test_the_stored_first_look_is_current() -> None:
    stored = json.loads(first_look.FILE.read_text(encoding="utf-8"))
    fresh = json.loads(json.dumps(first_look.first_look()))
    assert stored == fresh, "run make update what=first-look"


def test_the_stored_answers_do_not_name_the_cause() -> None:
    stored = json.loads(first_look.FILE.read_text(encoding="utf-8"))
    assert all(reply["ended"] is None for reply in stored["replies"].values())
