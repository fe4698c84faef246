"""Gates of cells: a cell waits for a question that is not answered, or a task that is neither solved nor skipped.

A cell that waits shows one line and ends without an error, so "Run All" reaches the end of the notebook. When the
reader answers, the waiting cells run one after the other and fill their own places, up to the next open question. The
reader presses nothing and stays where they are.

For this, IPython passes each cell to `_Gates` before it runs. A cell whose first line is `after(...)` with an open
question is replaced by its place. Outside IPython, and where a cell calls `after` later, it raises `NotYetError`.

A kernel does not know the order of cells in the notebook. A task therefore closes nothing before its box is shown. A
cell that was open once stays open, so cells above an open task, including the one with its box, can be run again.
"""

from __future__ import annotations

import ast
import html
import linecache
import os
import sys
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

GATES = "SEEKLAB_GATES"
"""The value `open` of this environment variable opens all gates, for authors and for tests."""

OF_QUESTION = "Above is a question: commit to an answer, or skip it."
OF_TURN = "A task is open: replace its dots and run that cell, or press Skip in the box before it."

_shown_turns: set[str] = set()
"""Tasks whose box was shown in this kernel."""

_waiting_turns: dict[str, Callable[[], bool]] = {}
"""Those whose cell was run with its dots, each with a function that says whether it was skipped."""

_opened_cells: set[str] = set()
"""The texts of the cells that have passed their gate once."""

GATED = ("after", "calibration")
"""Functions whose cell may wait: a gate, and the table at the end, which waits for all cells above."""

WAITS = "Opens after the question or task above."


class NotYetError(Exception):
    """The question of a cell is still open. A notebook shows only the sentence, without a traceback."""

    def _render_traceback_(self) -> list[str]:
        return [str(self)]


class Question(Protocol):
    """A question that a cell can wait for."""

    @property
    def is_open(self) -> bool:
        """Whether the reader has neither committed nor skipped."""


def gates_are_open() -> bool:
    """Return whether the environment opens all gates."""
    return os.environ.get(GATES) == "open"


def after(*questions: Question) -> None:
    """Raise NotYetError unless these questions were answered or skipped, and no task above still has its dots."""
    if gates_are_open():
        return
    cell = _text_of(sys._getframe(1).f_code.co_filename)  # noqa: SLF001 -- the documented way to one's caller
    waiting = _reason_to_wait(questions, cell)
    if waiting:
        message = f"Not yet. {waiting}\nThen run this cell and those below with Shift+Enter, one after the other."
        raise NotYetError(message)
    _opened_cells.add(cell.strip())


def _reason_to_wait(questions: Sequence[Question], cell: str) -> str:
    """Return what the reader must do before this cell runs; empty if it may run."""
    for name in [name for name, is_skipped in _waiting_turns.items() if is_skipped()]:
        turn_is_done(name)
    if any(question.is_open for question in questions):
        return OF_QUESTION
    return OF_TURN if _waiting_turns and cell.strip() not in _opened_cells else ""


def _text_of(file: str) -> str:
    """Return the text of a cell by its compiled file name, or the name itself if the text is not stored."""
    return "".join(linecache.getlines(file)) or file


def turn_is_shown(name: str) -> None:
    """Record that the reader sees the task, with its hints and the button to skip it."""
    _shown_turns.add(name)


def turn_waits(name: str, is_skipped: Callable[[], bool]) -> bool:
    """Close the cells after this task until it is solved or skipped; return False if its box was not shown yet."""
    if name not in _shown_turns:
        return False
    _waiting_turns[name] = is_skipped
    return True


def turn_is_done(name: str) -> None:
    """Open the cells that waited for this task."""
    _waiting_turns.pop(name, None)


@dataclass
class _Place:
    """A cell that waits, and the output that it will fill."""

    text: str
    names: Sequence[str]
    """The names of the questions in its gate."""
    output: Any = field(default=None)


class _Gates(ast.NodeTransformer):
    """Replaces a cell that must wait by its place."""

    def __init__(self, shell: Any) -> None:
        """Take IPython's shell."""
        self._shell = shell
        self._places: list[_Place] = []
        self._text = ""
        """The text of the cell that runs."""
        self._fills = False

    def before_cell(self, info: Any) -> None:
        """Remember the text of the cell that starts."""
        self._text = info.raw_cell

    def visit_Module(self, node: ast.Module) -> ast.Module:
        """Return the cell, or its place."""
        names = _gate_of(node)
        if names is None or gates_are_open():
            return node
        text = self._text
        if not self._fills:
            self._places = [place for place in self._places if place.text != text]
        if not self._must_wait(names, text):
            return node
        self._places.append(_Place(text, names))
        return ast.parse(f"__import__({__name__!r}, fromlist=['show_place']).show_place()")

    def _must_wait(self, names: Sequence[str], text: str) -> bool:
        found = [self._shell.user_ns.get(name) for name in names]
        # The name of a question is missing while the cell that asks it waits itself.
        if not all(hasattr(one, "is_open") for one in found) or names == list(GATED[1:]):
            return bool(self._places)
        return bool(_reason_to_wait(found, text))

    def show_place(self) -> Any:
        """Return the place of the cell that runs."""
        import ipywidgets

        place = self._places[-1]
        place.output = ipywidgets.Output(outputs=(_as_html(WAITS),))
        return place.output

    def fill(self, *_: object) -> None:
        """Run the cells that waited, in order, up to the first that must still wait."""
        if self._fills:
            return
        self._fills = True
        try:
            while self._places and not self._is_closed(self._places[0]):
                place = self._places.pop(0)
                if place.output is not None:
                    place.output.outputs = _outputs_of(self._shell, place.text)
        finally:
            self._fills = False

    def _is_closed(self, place: _Place) -> bool:
        if list(place.names) == list(GATED[1:]):
            return False
        return self._must_wait(place.names, place.text)


_gates: _Gates | None = None


def install_gates() -> None:
    """Make cells of this kernel wait in place; do nothing outside IPython."""
    global _gates  # noqa: PLW0603 -- one kernel has one shell
    shell = _shell()
    if shell is None or _gates is not None:
        return
    _gates = _Gates(shell)
    shell.ast_transformers.append(_gates)
    shell.events.register("pre_run_cell", _gates.before_cell)
    shell.events.register("post_run_cell", _gates.fill)


def fill_places() -> None:
    """Run the cells that waited for an answer that the reader has just given."""
    if _gates is not None:
        _gates.fill()


def show_place() -> Any:
    """Return the place of the cell that runs and must wait."""
    return None if _gates is None else _gates.show_place()


def _shell() -> Any:
    # Without IPython there are no cells, and importing it would take half a second.
    module = sys.modules.get("IPython")
    return None if module is None else module.get_ipython()


def _gate_of(cell: ast.Module) -> list[str] | None:
    """Return the names of the questions in a cell's gate; None for a cell without one."""
    first = cell.body[0] if cell.body else None
    if not isinstance(first, ast.Expr) or not isinstance(first.value, ast.Call):
        return None
    call = first.value
    if not isinstance(call.func, ast.Name) or call.func.id not in GATED:
        return None
    if call.func.id == GATED[1]:
        return list(GATED[1:])
    names = [one.id for one in call.args if isinstance(one, ast.Name)]
    return names if len(names) == len(call.args) else None


def _outputs_of(shell: Any, text: str) -> tuple[dict[str, Any], ...]:
    """Run a cell; return its outputs in the form of a notebook file. An error is its last line, as text."""
    from IPython.utils.capture import capture_output

    hook = shell.display_trap.hook
    try:
        with capture_output() as captured:
            # Outside a cell, IPython would put its own hook in the place of the one that captures.
            shell.display_trap.hook = sys.displayhook
            result = shell.run_cell(text, store_history=False)
    finally:
        shell.display_trap.hook = hook
    error = result.error_before_exec or result.error_in_exec
    streams = [("stdout", captured.stdout if error is None else ""), ("stderr", captured.stderr)]
    return (
        *({"output_type": "stream", "name": name, "text": said} for name, said in streams if said),
        *(
            {"output_type": "display_data", "data": shown.data, "metadata": shown.metadata or {}}
            for shown in captured.outputs
        ),
        *(
            [_as_html(str(error) if isinstance(error, NotYetError) else f"{type(error).__name__}: {error}")]
            if error
            else []
        ),
    )


def _as_html(text: str) -> dict[str, Any]:
    shown = f'<p role="status" style="color:var(--jp-ui-font-color2,#57606a)">{html.escape(text)}</p>'
    return {"output_type": "display_data", "data": {"text/plain": text, "text/html": shown}, "metadata": {}}
