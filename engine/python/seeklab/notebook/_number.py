"""A number, typed or chosen with a slider, under a question that names both. The slider of ipywidgets has no name."""

from __future__ import annotations

from typing import Any

import anywidget
import traitlets

from seeklab._errors import Problem, SeeklabError
from seeklab.notebook._choice import SCRIPT


class Number(anywidget.AnyWidget):
    """One number between two ends. A typed number stays as typed; the slider gives three digits."""

    _esm = SCRIPT
    legend = traitlets.Unicode().tag(sync=True)
    """The question."""
    low = traitlets.Float().tag(sync=True)
    high = traitlets.Float().tag(sync=True)
    is_log = traitlets.Bool(False).tag(sync=True)  # noqa: FBT003 -- a trait takes its default by position
    """Whether equal steps of the slider are equal factors."""
    unit = traitlets.Unicode().tag(sync=True)
    value = traitlets.Float().tag(sync=True)
    disabled = traitlets.Bool(False).tag(sync=True)  # noqa: FBT003 -- a trait takes its default by position

    def __init__(self, **traits: Any) -> None:
        """Start at the low end."""
        if traits["is_log"] and traits["low"] <= 0:
            given = f"{traits['low']} cannot start a logarithmic slider; use a value above 0"
            raise SeeklabError([Problem("low", given)])
        super().__init__(value=traits["low"], **traits)

    @traitlets.validate("value")
    def _is_between(self, proposal: Any) -> Any:
        return min(self.high, max(self.low, proposal["value"]))
