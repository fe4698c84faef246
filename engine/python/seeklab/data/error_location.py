"""The file of a problem: the engine knows only texts and lines, but people need file names."""

from __future__ import annotations

from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

from seeklab._errors import SeeklabError
from seeklab.data.files import decode, is_text, read_data, read_text, shown
from seeklab.data.public_traces import (
    chosen,
    described,
    is_oracle_general,
    layout_of,
    objects,
    oracle_general,
    requests,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from os import PathLike

    from seeklab.data.files import Kind

WHOLE = "trace"
"""The engine's name for a trace as a whole."""


@contextmanager
def naming(file_of: Callable[[str], str | None]) -> Iterator[None]:
    """Prefix the paths of problems with the file's name. `file_of` returns it, or None for paths outside files."""
    try:
        yield
    except SeeklabError as error:
        if type(error) is not SeeklabError:
            raise
        named = [(file_of(problem.path), problem) for problem in error.problems]
    else:
        return
    raise SeeklabError(
        replace(problem, path=_within(name, problem.path)) if name else problem for name, problem in named
    )


def _within(name: str, path: str) -> str:
    return name if path in {"", WHOLE} else f"{name} {path}"


def is_line(path: str) -> bool:
    """Return whether a problem is about a line or a request of a trace."""
    return path.startswith(("line ", "request "))


class LocatedTrace:
    """A trace, and its name for the engine's problems."""

    def __init__(
        self,
        trace: str | PathLike[str],
        kind: Kind,
        *,
        columns: str | None = None,
        format: str | None = None,  # noqa: A002 -- the word for it
        of_objects: bool = False,
    ) -> None:
        """Read the trace, unless the argument is the text itself.

        A layout of `public_traces` is rewritten for the engine, unless `format` names another. `columns` numbers the
        columns of any other table.
        """
        self.name = WHOLE if is_text(trace) else shown(trace)
        self.understood: tuple[str, ...] = ()
        """Sentences about a rewritten trace: its layout and its first requests."""
        self.text = self._read(trace, kind, of_objects=of_objects)
        if format is not None:
            return
        with self.named():
            layout = chosen(columns, self.text) if columns else layout_of(self.text)
            rewritten = requests(self.text, layout) if layout else objects(self.text) if of_objects else None
        if rewritten:
            self.text, self.understood = rewritten.text, tuple(described(rewritten))

    def _read(self, trace: str | PathLike[str], kind: Kind, *, of_objects: bool) -> str:
        if is_text(trace):
            return str(trace)
        if not of_objects:
            return read_text(trace, kind)
        data = read_data(trace, kind)
        if is_oracle_general(data):
            self.understood = ("read as oracleGeneral",)
            return oracle_general(data)
        return decode(self.name, data, kind)

    def named(self) -> AbstractContextManager[None]:
        """Prefix problems of the trace or its lines with its name."""
        return naming(lambda path: self.name if path == WHOLE or is_line(path) else None)
