"""Interrupts from the keyboard (Ctrl-C, or the notebook's stop button) while the engine works.

Python raises KeyboardInterrupt in the main thread, between two steps of the interpreter. This has two consequences.
First, no interrupt arrives while the main thread is inside a call of the engine. `stoppable` therefore makes long calls
on another thread while the main thread waits. Second, an interrupt within a destructor is reported and dropped, like
every exception there; `NoneDropped` raises it after the call. The engine's host frees objects with destructors at the
end of each call, which is when a pending interrupt arrives.
"""

from __future__ import annotations

import sys
from threading import Event, Thread, current_thread, main_thread
from typing import TYPE_CHECKING, TypeVar

from seeklab._errors import MachineError

if TYPE_CHECKING:
    from collections.abc import Callable

T = TypeVar("T")

LOOK_S = 0.2
"""On Windows an interrupt arrives only between two waits; elsewhere it ends the wait."""


def is_interruptible() -> bool:
    """Return whether an interrupt would arrive in this thread."""
    return current_thread() is main_thread()


def stoppable(call: Callable[[], T], stop: Callable[[], object]) -> T:
    """Make a call on another thread. An interrupt of this one calls `stop`, waits for the call's end, and is raised."""
    outcome: list[T] = []
    errors: list[BaseException] = []
    ended = Event()

    def work() -> None:
        try:
            outcome.append(call())
        except BaseException as error:  # noqa: BLE001 -- raised below, in the calling thread
            errors.append(error)
        finally:
            ended.set()

    thread = Thread(target=work, name="seeklab-call", daemon=True)
    try:
        try:
            thread.start()
        except RuntimeError as error:  # the system provides no thread
            raise MachineError.lacking_memory(str(error)) from error
        while not ended.wait(LOOK_S):
            pass
    except BaseException:
        stop()
        if thread.ident is not None:
            thread.join()
        raise
    thread.join()
    if errors:
        raise errors[0]
    return outcome[0]


class NoneDropped:
    """Raises at its end an interrupt that a destructor dropped. Does nothing outside the main thread."""

    __slots__ = ("_dropped", "_report")

    def __enter__(self) -> None:
        """Watch for exceptions that destructors drop."""
        self._dropped = False
        self._report = sys.unraisablehook if is_interruptible() else None
        if self._report is not None:
            sys.unraisablehook = self._note

    def __exit__(self, *_: object) -> None:
        """Raise the interrupt, if there was one."""
        if self._report is not None:
            sys.unraisablehook = self._report
            if self._dropped:
                raise KeyboardInterrupt

    def _note(self, dropped: sys.UnraisableHookArgs) -> None:
        if issubclass(dropped.exc_type, KeyboardInterrupt):
            self._dropped = True
        elif self._report is not None:
            self._report(dropped)
