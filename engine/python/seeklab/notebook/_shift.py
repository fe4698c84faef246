"""An on-call shift in a notebook: the page's shell, answered by the kernel."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

import anywidget
import traitlets

from seeklab._errors import SeeklabError
from seeklab.notebook._lab import widget_script

if TYPE_CHECKING:
    from seeklab.oncall.session import Session


class ShiftWidget(anywidget.AnyWidget):
    """The shell of a shift. What is typed comes as messages, and each is answered by its number."""

    kind = traitlets.Unicode("shift").tag(sync=True)
    """Which of the bundle's widgets this is."""

    def __init__(self, session: Session) -> None:
        """Show a shift that may already be under way."""
        if not hasattr(type(self), "_esm"):
            type(self)._esm = widget_script()  # noqa: SLF001 -- the name that anywidget prescribes
        super().__init__()
        self.session = session
        self.on_msg(self.answer)

    def answer(self, _widget: object, asked: dict[str, Any], _buffers: object) -> None:
        """Answer a message: a line to carry out, or without one, how the shift stands."""
        number = asked.get("id")
        try:
            line = asked.get("type")
            told = self.session.view() if line is None else self.session.type(str(line))
        except SeeklabError as error:
            told = {"problem": str(error)}
        except BaseException as error:
            self.send({"id": number, "answer": {"problem": f"The command failed: {type(error).__name__}."}})
            raise
        self.send({"id": number, "answer": told})


@cache
def session_widget(session: Session) -> ShiftWidget:
    """Return the widget of a session: the same one however often it is shown."""
    return ShiftWidget(session)
