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
import io
import linecache
import os
import sys
import threading
from contextlib import contextmanager, redirect_stdout
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

GATES = "SEEKLAB_GATES"
"""The value `open` of this environment variable opens all gates, for authors and for tests."""

OF_QUESTION = "Above is a question: commit to an answer, or skip it."
OF_TURN = "A task is open: replace its dots and run that cell, or press Skip in the box before it."

_shown_turns: set[str] = set()
"""Tasks whose box was shown in this kernel."""

_waiting_turns: dict[str, Callable[[], bool]] = {}
"""Those whose cell was run with its dots, each with a function that says whether it was skipped."""

_early_turns: dict[str, Callable[[], bool]] = {}
"""Those whose cell was run with its dots before their box was shown."""

_opened_cells: set[str] = set()
"""The texts of the cells that have passed their gate once."""

GATED = ("after", "calibration")
"""Functions whose cell may wait: a gate, and the table at the end, which waits for all cells above."""

TABLE = [GATED[1]]
WAITS = "Opens after the question or task above."
RUNS = "Running ..."
STOPPED = "Stopped. Run this cell again to continue here. The cells below follow by themselves."


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
    """Record that the reader sees the task; if its cell was run before, with its dots, close the cells after it."""
    _shown_turns.add(name)
    if name in _early_turns:
        _waiting_turns[name] = _early_turns.pop(name)


def turn_waits(name: str, is_skipped: Callable[[], bool]) -> bool:
    """Close the cells after this task until it is solved or skipped; return False if its box was not shown yet."""
    if name not in _shown_turns:
        _early_turns[name] = is_skipped
        return False
    _waiting_turns[name] = is_skipped
    return True


def turn_is_done(name: str) -> None:
    """Open the cells that waited for this task."""
    _waiting_turns.pop(name, None)
    _early_turns.pop(name, None)


@dataclass
class _Place:
    """A cell that waits, and the output that it will fill."""

    cell: str
    """The cell's name in the notebook; where there is none, its text."""
    text: str
    names: Sequence[str]
    """The names of the questions in its gate."""
    output: Any = field(default=None)
    is_stopped: bool = False
    """Whether the reader stopped it while it filled; then it waits to be run, and so do the cells below."""


class _Gates(ast.NodeTransformer):
    """Replaces a cell that must wait by its place."""

    def __init__(self, shell: Any) -> None:
        """Take IPython's shell."""
        self._shell = shell
        self._places: list[_Place] = []
        self._cell, self._text = "", ""
        """Name and text of the cell that runs."""
        self._shown: _Place | None = None
        """The place that this cell shows."""
        self._fills = False

    def before_cell(self, info: Any) -> None:
        """Remember the cell that starts."""
        self._text = info.raw_cell
        self._cell = getattr(info, "cell_id", None) or info.raw_cell

    def visit_Module(self, node: ast.Module) -> ast.Module:
        """Return the cell, or its place."""
        if self._fills:
            return _with_display(node)
        names = _gate_of(node)
        if names is None or gates_are_open():
            return node
        before = next((nth for nth, place in enumerate(self._places) if place.cell == self._cell), len(self._places))
        del self._places[before : before + 1]
        if not self._must_wait(names, self._text):
            return node
        self._shown = _Place(self._cell, self._text, names)
        self._places.insert(before, self._shown)
        return ast.parse(f"__import__({__name__!r}, fromlist=['show_place']).show_place()")

    def _must_wait(self, names: Sequence[str], text: str) -> bool:
        if names == TABLE:
            return bool(self._places)
        found = self._questions(names)
        # Cells above wait, so this one does too, even if its own question has an answer or does not exist yet.
        is_below = bool(self._places) and text.strip() not in _opened_cells
        return is_below or bool(found is not None and _reason_to_wait(found, text))

    def _questions(self, names: Sequence[str]) -> list[Question] | None:
        """Return the questions with these names; None if one was not asked yet."""
        found = [self._shell.user_ns.get(name) for name in names]
        return found if all(hasattr(one, "is_open") for one in found) else None

    def show_place(self) -> Any:
        """Return the place of the cell that runs."""
        import ipywidgets

        output = ipywidgets.Output(outputs=(_as_html(WAITS),))
        if self._shown is not None:
            self._shown.output = output
        return output

    def soon(self, *_: object) -> None:
        """Fill the places when the kernel has done what it does now.

        A kernel handles the messages of widgets in threads of their own, but cells and their output belong to the main
        thread. So only that one fills places, between two cells.
        """
        loop = getattr(getattr(self._shell, "kernel", None), "io_loop", None)
        if not self._places:
            return
        if loop is None:
            self._fill()
        else:
            loop.add_callback(self._fill)

    def _fill(self) -> None:
        """Run the cells that waited, in order, up to the first that must still wait or that fails."""
        if self._fills:
            return
        self._fills = True
        try:
            with _interruptible(self._shell):
                while self._places and not self._is_closed(self._places[0]):
                    place = self._places.pop(0)
                    if not _filled(self._shell, place):
                        if place.is_stopped:
                            self._places.insert(0, place)
                        break
        finally:
            self._fills = False

    def _is_closed(self, place: _Place) -> bool:
        if place.is_stopped:
            return True
        if place.names == TABLE:
            return False
        found = self._questions(place.names)
        # A question that does not exist now never will: the cell tells so itself.
        return found is not None and bool(_reason_to_wait(found, place.text))


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
    shell.events.register("post_run_cell", _gates.soon)


def fill_places() -> None:
    """Run the cells that waited for an answer that the reader has just given."""
    if _gates is not None:
        _gates.soon()


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
        return TABLE
    names = [one.id for one in call.args if isinstance(one, ast.Name)]
    return names if len(names) == len(call.args) else None


def _with_display(cell: ast.Module) -> ast.Module:
    """Return a cell that displays the value of its last line itself."""
    last = cell.body[-1] if cell.body else None
    if isinstance(last, ast.Expr):
        call = ast.parse(f"__import__({__name__!r}, fromlist=['shown']).shown", mode="eval").body
        last.value = ast.copy_location(ast.Call(call, [last.value], []), last.value)
    return ast.fix_missing_locations(cell)


def shown(value: object) -> None:
    """Display the value of a cell's last line."""
    if value is not None:
        from IPython.display import display

        display(value)  # type: ignore[no-untyped-call] # IPython declares no types here


@contextmanager
def _interruptible(shell: Any) -> Iterator[None]:
    """Let Stop interrupt what runs between two cells, as it does in a cell."""
    kernel: Any = getattr(shell, "kernel", None)
    if not hasattr(kernel, "pre_handler_hook"):
        yield
        return
    kernel.pre_handler_hook()
    try:
        yield
    finally:
        kernel.post_handler_hook()


def _filled(shell: Any, place: _Place) -> bool:
    """Run a cell and put its outputs in its place; return whether it ran without an error, which is the last line."""
    outputs: list[dict[str, Any]] = []
    output, publisher = place.output, shell.display_pub
    if output is not None:
        output.outputs = (_as_html(RUNS),)
    thread, publish, printed = threading.current_thread(), publisher.publish, io.StringIO()

    def keep_printed() -> None:
        if printed.getvalue():
            outputs.append({"output_type": "stream", "name": "stdout", "text": printed.getvalue()})
            printed.seek(0)
            printed.truncate()

    def keep(data: Any, metadata: Any = None, **more: Any) -> None:
        keep_printed()
        if more.get("update") or threading.current_thread() is not thread:
            publish(data, metadata, **more)
        else:
            outputs.append({"output_type": "display_data", "data": data, "metadata": metadata or {}})

    hidden = {"showtraceback": _nothing, "showsyntaxerror": _nothing}
    with redirect_stdout(printed), _replaced(publisher, publish=keep), _replaced(shell, **hidden):
        try:
            result = shell.run_cell(place.text, store_history=False)
            error = result.error_before_exec or result.error_in_exec
        except KeyboardInterrupt as stopped:  # between two cells, outside IPython's own handler
            error = stopped
    keep_printed()
    place.is_stopped = isinstance(error, KeyboardInterrupt)
    if error is not None:
        outputs.append(_as_html(_sentence_of(error)))
    if output is not None:
        output.outputs = tuple(outputs)
    return error is None


def _sentence_of(error: BaseException) -> str:
    """Return what a place says about an error; never a line of code, which may have an answer."""
    if isinstance(error, KeyboardInterrupt):
        return STOPPED
    # Errors with a sentence of their own for notebooks: a gate, and a check that was stopped.
    is_sentence = hasattr(error, "_render_traceback_")
    return str(error) if is_sentence else f"{type(error).__name__}: {error}"


def _nothing(*_: object, **__: object) -> None:
    """Show no traceback: the place tells the error."""


@contextmanager
def _replaced(owner: Any, **values: Any) -> Iterator[None]:
    """Replace methods of an object until the block ends."""
    for name, value in values.items():
        setattr(owner, name, value)
    try:
        yield
    finally:
        for name in values:
            delattr(owner, name)


def _as_html(text: str) -> dict[str, Any]:
    told = f'<p role="status" style="color:var(--jp-ui-font-color2,#57606a)">{html.escape(text)}</p>'
    return {"output_type": "display_data", "data": {"text/plain": text, "text/html": told}, "metadata": {}}
