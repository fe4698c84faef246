"""Evidence as engineers paste it, for each cause with other tools than elsewhere, and reports of healthy systems.

`diagnosis_evidence.txt` has the texts, with our own numbers in the tools' formats. A line `=== CAUSE` precedes each;
after `=== none`, no cause may be likely.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from seeklab.bring import blocks
from seeklab.diagnosis import answer
from seeklab.diagnosis.causes import LIKELY, SHOWN

FILE = Path(__file__).with_name("diagnosis_evidence.txt")
TEXTS = re.findall(r"(?ms)^=== (\S+)\n(.*?)(?=^=== |\Z)", FILE.read_text(encoding="utf-8"))
HEALTHY = "none"


@pytest.mark.parametrize(("cause", "text"), [pair for pair in TEXTS if pair[0] != HEALTHY])
def test_the_cause_comes_first(cause: str, text: str) -> None:
    assert [verdict.cause.id for verdict in answer([blocks(text)]).causes][:1] == [cause]


@pytest.mark.parametrize("text", [text for cause, text in TEXTS if cause == HEALTHY])
def test_a_healthy_system_is_read_and_no_cause_is_likely(text: str) -> None:
    found = blocks(text)
    assert found.blocks
    assert not [each.cause.id for each in answer([found]).causes if each.confidence in (SHOWN, LIKELY)]
