"""JSON request handlers for front-ends such as a browser page.

A host sends and receives JSON texts, and needs no Python objects. Invalid input gets a sentence as its answer; all
other errors are raised.
"""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any

from seeklab._errors import SeeklabError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

TOO_LITTLE_MEMORY = "There is too little memory for this here; pass fewer or shorter files."


def _silent(_: float) -> None:
    """Ignore the progress."""


class JsonHandler(ABC):
    """Receives a front-end's messages as JSON, and answers each with the result or `{"problem": sentence}`."""

    def answer(self, message: str, progress: Callable[[float], object] = _silent) -> str:
        """Answer a message; `progress` receives the completed share, from 0 to 1."""
        try:
            return json.dumps(self._answer(json.loads(message), progress), allow_nan=False)
        except SeeklabError as error:
            return json.dumps({"problem": str(error)})
        except MemoryError:
            return json.dumps({"problem": TOO_LITTLE_MEMORY})

    @abstractmethod
    def _answer(self, asked: Mapping[str, Any], progress: Callable[[float], object]) -> Mapping[str, Any]:
        """Return the answer to a message; raise SeeklabError if the message is invalid."""
