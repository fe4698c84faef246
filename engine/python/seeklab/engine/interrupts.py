"""Interrupts from the keyboard (Ctrl-C, or the notebook's stop button) that come while the engine works.

Python raises KeyboardInterrupt in the main thread, between two steps of the interpreter. Two things follow. While the
main thread is inside a call of the engine, no interrupt is heeded: `stoppable` therefore makes a call that may take
long on another thread, and the main one waits. And an interrupt that falls into a destructor is reported and dropped,
as every exception there is: `NoneDropped` raises it after the call. The host of the engine frees objects by
destructors at the end of each call, which is just when a pending interrupt comes up.
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
"""Windows heeds an interrupt only between two waits; elsewhere it ends the wait."""


def is_interruptible() -> bool:
    """Whether an interrupt would come up in this thread."""
    return current_thread() is main_thread()


def stoppable(call: Callable[[], T], stop: Callable[[], object]) -> T:
    """Make a call on another thread. An interrupt of this one calls `stop`, waits for the call's end, and is raised."""
    outcome: list[T] = []
    errors: list[BaseException] = []
    ended = Event()

    def work() -> None:
        try:
            outcome.append(call())
        except BaseException as error:  # noqa: BLE001 -- raised below, in the thread that asked
            errors.append(error)
        finally:
            ended.set()

    thread = Thread(target=work, name="seeklab-call", daemon=True)
    try:
        try:
            thread.start()
        except RuntimeError as error:  # the system gives no thread
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
    """Raises at its end an interrupt that fell into a destructor within it. Does nothing outside the main thread."""

    __slots__ = ("_dropped", "_report")

    def __enter__(self) -> None:
        """Watch what destructors drop."""
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
