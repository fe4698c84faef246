"""An on-call shift in a notebook: the page's shell, with answers from the kernel."""

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
    """The shell of a shift. Input arrives as messages, and each answer has its message's number."""

    kind = traitlets.Unicode("shift").tag(sync=True)
    """The name of this widget in the bundle."""

    def __init__(self, session: Session) -> None:
        """Show a shift, which may have started already."""
        if not hasattr(type(self), "_esm"):
            type(self)._esm = widget_script()  # noqa: SLF001 -- the name that anywidget prescribes
        super().__init__()
        self.session = session
        self.on_msg(self.answer)

    def answer(self, _widget: object, asked: dict[str, Any], _buffers: object) -> None:
        """Answer a message: run its line, or without one return the state of the shift."""
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
    """Return the widget of a session, always the same one."""
    return ShiftWidget(session)
