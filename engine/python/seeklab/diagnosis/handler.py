"""Requests of the diagnosis page: `{"files": [names]}`, `{"redact": [names]}` or `{"record": sample}`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from seeklab._case import case
from seeklab._json_handlers import JsonHandler
from seeklab.diagnosis.answer import diagnose, redacted
from seeklab.diagnosis.samples import record

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


class Handler(JsonHandler):
    """Diagnoses files in the working directory, and records samples."""

    def _answer(self, asked: Mapping[str, Any], _: Callable[[float], object]) -> Mapping[str, Any]:
        if "record" in asked:
            return {"files": record(asked["record"])}
        if "redact" in asked:
            return {
                "text": "\n\n".join(text.content.rstrip() for text in redacted(asked["redact"]) if text.content) + "\n"
            }
        document = diagnose(asked["files"]).document()
        for cause in document["causes"]:
            named = [case(incident).document for incident in cause["incidents"]]
            cause["incidents"] = [
                {"id": incident, "code": of["code"], "title": of["title"]}
                for incident, of in zip(cause["incidents"], named, strict=True)
            ]
        return document
