"""The library of cases and presets, and the part of it that one request needs.

An instance of the engine parses the library that it receives. Nearly all of it is cases, but a run reads at most one.
"""

from __future__ import annotations

import json
from functools import cached_property
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping


class Library:
    """The library as JSON text."""

    def __init__(self, text: bytes) -> None:
        """Take the file that was built with the engine."""
        self.text = text.decode()
        self._parts: dict[tuple[str, bool], str] = {}

    def part_for(self, request: Mapping[str, object]) -> str:
        """Return the presets, and the case that a request names.

        A request for all facts, or for a case that does not exist, gets the whole library: the engine lists the names.
        """
        facts = request.get("facts")
        if facts is not None and not isinstance(facts, dict):
            return self.text
        name = request.get("case") if facts is None else facts.get("case")
        if name is None and facts is None:
            name = ""
        elif not isinstance(name, str) or name not in self._cases:
            return self.text
        key = name, facts is not None
        if key not in self._parts:
            self._parts[key] = self._part(name, has_facts=facts is not None)
        return self._parts[key]

    def _part(self, name: str, *, has_facts: bool) -> str:
        part = {field: self._document[field] for field in ("presets", "families")}
        if has_facts:
            part["ranges"] = self._document["ranges"]
        return json.dumps({**part, "cases": [self._cases[name]] if name else []})

    @cached_property
    def _document(self) -> dict[str, Any]:
        document: dict[str, Any] = json.loads(self.text)
        return document

    @cached_property
    def _cases(self) -> dict[str, Any]:
        return {entry["document"].get("id"): entry for entry in self._document["cases"]}
