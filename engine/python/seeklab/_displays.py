"""Notebook displays of objects whose modules do not depend on notebooks.

IPython finds a display by the name of a type (`for_type_by_name`), so registering one imports neither the type nor the
widget. Importing any part of `seeklab` registers them: a notebook that imports only `seeklab.oncall` shows the widget
of an on-call session. Without the packages of the extra `notebook`, IPython prints the `repr`.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from seeklab.oncall.session import Session


def register_displays() -> None:
    """Register all displays with the running IPython, if there is one."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython else None
    if shell is not None:
        formatter = shell.display_formatter.mimebundle_formatter
        formatter.for_type_by_name("seeklab.oncall.session", "Session", show_session)


def show_session(session: Session) -> Any:
    """Return the widget of a session for IPython; None without the packages that it needs."""
    try:
        from seeklab.notebook import session_widget
    except ImportError:
        return None
    return session_widget(session)._repr_mimebundle_()
