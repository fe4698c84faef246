"""Requests of the diagnosis page: `{"files": [names]}` or `{"record": sample}`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from seeklab._case import case
from seeklab._json_handlers import JsonHandler
from seeklab.diagnosis.evidence import read_evidence
from seeklab.diagnosis.samples import record
from seeklab.diagnosis.signatures import judge

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

MAX_BYTES = 1 << 25
"""Limit for the text of a file, because a page has less memory than a machine."""


class Handler(JsonHandler):
    """Diagnoses files in the working directory, and records samples."""

    def _answer(self, asked: Mapping[str, Any], _: Callable[[float], object]) -> Mapping[str, Any]:
        if "record" in asked:
            return {"files": record(asked["record"])}
        found = judge(read_evidence(asked["files"], MAX_BYTES))
        document = found.document()
        for fit in document["ranked"]:
            incident = case(fit["incident"]).document
            fit |= {"code": incident["code"], "title": incident["title"], "symptom": incident["symptom"]}
        return {**document, "sources": found.sources}
