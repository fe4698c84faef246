"""The file of a problem: the engine knows only texts and lines, but people need file names."""

from __future__ import annotations

from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

from seeklab._errors import Problem, SeeklabError
from seeklab.data.files import LOOKED_AT, MAX_TEXT_BYTES, Stream, decode, is_text, shown
from seeklab.data.public_traces import (
    chosen,
    described,
    is_oracle_general,
    layout_of,
    object_layout_of,
    objects,
    oracle_general,
    requests,
    sentence,
)
from seeklab.engine.host import engine

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from os import PathLike

    from seeklab.data.files import Kind
    from seeklab.data.public_traces import Rewritten

CUT = f"only the first {MAX_TEXT_BYTES >> 20} MiB of the trace are used; cut the file to use another part"
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
        progress: Callable[[float], object] | None = None,
    ) -> None:
        """Read the trace, unless the argument is the text itself.

        A layout of `public_traces` is rewritten for the engine, unless `format` names another. `columns` numbers the
        columns of any other table. A file is read in pieces; one that is larger than the engine's limit is cut.
        """
        self.name = WHOLE if is_text(trace) else shown(trace)
        self.understood: tuple[str, ...] = ()
        """Sentences about the trace: its layout, its first requests, and what was changed or left out."""
        self.layout: str | None = None
        """The name of the layout, if the text was rewritten for the engine, which then knows only its own form."""
        with self.named():
            if is_text(trace):
                self._take(
                    str(trace)[:LOOKED_AT],
                    str(trace).removesuffix("\n").split("\n").__iter__,
                    lambda: (str(trace),),
                    columns,
                    format,
                    of_objects,
                )
                return
            stream = Stream(trace, kind, progress)
            head = stream.head()
            if format is None and not _is_text(head) and is_oracle_general(head):
                if not of_objects:
                    layout = "oracleGeneral"
                    raise _of_objects(layout)
                self._use(oracle_general(stream.pieces()))
                return
            first = decode(self.name, head[: head.rfind(b"\n") + 1] or head, kind)
            self._take(first, stream.lines, stream.whole_lines, columns, format, of_objects)

    def _take(
        self,
        head: str,
        lines: Callable[[], Iterable[str]],
        texts: Callable[[], Iterable[str]],
        columns: str | None,
        format: str | None,  # noqa: A002 -- the word for it
        of_objects: bool,  # noqa: FBT001 -- passed on
    ) -> None:
        layout = chosen(columns, head) if columns else layout_of(head, of_objects=of_objects) if not format else None
        log = object_layout_of(head) if not layout and not format else None
        if layout:
            self._use(requests(lines(), layout))
        elif log and not of_objects and log[0].time is not None:
            raise _of_objects(log[0].name)
        elif log and of_objects:
            self._use(objects(lines(), log[0], headed=log[1]))
        else:
            self.text, is_cut = _up_to(MAX_TEXT_BYTES, texts())
            self.understood = (*_first(head, format), *((CUT,) if is_cut else ()))

    def _use(self, rewritten: Rewritten) -> None:
        self.text, self.understood, self.layout = rewritten.text, tuple(described(rewritten)), rewritten.layout

    def named(self) -> AbstractContextManager[None]:
        """Prefix problems of the trace or its lines with its name."""
        return naming(lambda path: self.name if path == WHOLE or is_line(path) else None)


def _of_objects(layout: str) -> SeeklabError:
    message = (
        f"is a log of objects ({layout}), which have no addresses on a device; pass it to seeklab cache, or name the "
        "columns with --columns"
    )
    return SeeklabError([Problem(WHOLE, message)])


def _is_text(head: bytes) -> bool:
    return b"\0" not in head


def _up_to(most: int, texts: Iterable[str]) -> tuple[str, bool]:
    """Return the texts, joined, up to a length; and whether more follow."""
    kept: list[str] = []
    length = 0
    for text in texts:
        length += len(text)
        if length > most:
            return "".join(kept), True
        kept.append(text)
    return "".join(kept), False


def _first(head: str, format: str | None) -> list[str]:  # noqa: A002 -- the word for it
    """Return sentences about the first requests of a trace in one of the engine's own formats, or none."""
    asked = {"text": head} if format is None else {"text": head, "format": format}
    try:
        info = engine().call("trace_info", asked)
    except SeeklabError:
        return []  # the whole trace will be refused with a better reason, or it is a list of objects
    rows = [
        sentence(row["line"], row["time_ns"], row["op"], row["bytes"], row["offset"], row["target"])
        for row in info["first"]
    ]
    return [f"read as {info['format']}", *rows]
