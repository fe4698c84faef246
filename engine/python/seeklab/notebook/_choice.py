"""A group of radio buttons with a name, which a screen reader says. The group of ipywidgets has none."""

from __future__ import annotations

from importlib import resources
from typing import Any

import anywidget
import traitlets

SCRIPT = resources.files("seeklab.notebook").joinpath("question.js").read_text(encoding="utf-8")


class Choice(anywidget.AnyWidget):
    """One choice of several, under a question that names the group."""

    _esm = SCRIPT
    legend = traitlets.Unicode().tag(sync=True)
    """The question."""
    options = traitlets.List(traitlets.Unicode()).tag(sync=True)
    value = traitlets.Unicode(None, allow_none=True).tag(sync=True)
    """The chosen option; None before the choice."""
    disabled = traitlets.Bool(False).tag(sync=True)  # noqa: FBT003 -- a trait takes its default by position

    @traitlets.validate("value")
    def _is_an_option(self, proposal: Any) -> Any:
        if proposal["value"] is not None and proposal["value"] not in self.options:
            message = f"{proposal['value']!r} is not a choice; the choices are {', '.join(self.options)}"
            raise traitlets.TraitError(message)
        return proposal["value"]
