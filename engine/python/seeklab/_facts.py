"""Facts: documented numbers compared with simulated ones, judged in steps and on every core."""

from __future__ import annotations

import functools
import sys
from concurrent.futures import ThreadPoolExecutor, as_completed
from copy import deepcopy
from threading import Event
from typing import TYPE_CHECKING, Any

from seeklab._case import cases
from seeklab._result import advance
from seeklab._sweep import usable_cores
from seeklab.engine.host import engine

if TYPE_CHECKING:
    from collections.abc import Mapping

    from seeklab._result import Progress

Row = dict[str, Any]

HOLDS = "holds"
MODEL_MISSES = "model misses"
SOURCE_CONTRADICTS_ITSELF = "source contradicts itself"


def facts(
    case: str | None = None,
    id: str | None = None,  # noqa: A002 -- as in the case files
    *,
    seeds: int = 1,
    inputs: bool = False,
    progress: Progress | None = None,
) -> list[Row]:
    """Compare documented numbers with simulated ones, for one case or all. This runs simulations.

    Each row has a `verdict`: "holds", "model misses" or "source contradicts itself". With several `seeds` a fact must
    hold on each, and `range` and `values` are the results. With `inputs` it must also hold at other values of its
    inputs. The last stored results of both are in `stored`, and the verdict uses them. `progress` receives the
    completed share from time to time; an interrupt stops the work.

    >>> [fact] = seeklab.facts("odx-prefetch", "Q1.1")
    >>> fact["documented"], fact["simulated"], fact["verdict"]
    (8388608.0, 8388608.0, 'holds')
    """
    options = {"seeds": seeds, "inputs": inputs}
    if case is not None or id is not None or sys.platform == "emscripten":
        if progress is None:
            return deepcopy(_judged(case, id, seeds, inputs))
        return judge({**_named(case, id), **options}, progress)
    return _on_threads([row["id"] for row in cases()], options, progress)


@functools.cache
def _judged(case: str | None, id_: str | None, seeds: int, inputs: bool) -> list[Row]:  # noqa: FBT001 -- a cache's key
    """Judge facts once in a session: a notebook shows the same facts in several tables."""
    return judge({**_named(case, id_), "seeds": seeds, "inputs": inputs})


def _named(case: str | None, id_: str | None) -> dict[str, str]:
    return {name: value for name, value in (("case", case), ("id", id_)) if value is not None}


def judge(asked: Mapping[str, object], progress: Progress | None = None) -> list[Row]:
    """Judge the requested facts, in slices short enough for interrupts."""
    handle = engine().open_run({"facts": asked})
    try:
        advance(handle, progress)
        rows: Any = handle.summary()  # raises any error
        return list(rows)
    finally:
        handle.close()


class _StoppedError(Exception):
    """The work was cancelled while this part was running."""


def _on_threads(case_ids: list[str], options: Mapping[str, object], progress: Progress | None) -> list[Row]:
    """Judge several cases, with one thread for each core; the facts of a case share its runs."""
    stop = Event()
    shares = dict.fromkeys(case_ids, 0.0)

    def part(case_id: str) -> list[Row]:
        def heed(done: float) -> None:
            if stop.is_set():
                raise _StoppedError
            shares[case_id] = done

        return judge({"case": case_id, **options}, heed)

    with ThreadPoolExecutor(usable_cores(), thread_name_prefix="seeklab-facts") as pool:
        futures = [pool.submit(part, case_id) for case_id in case_ids]
        try:
            for future in as_completed(futures):
                future.result()
                if progress is not None:
                    progress(sum(shares.values()) / len(shares))
            return [row for future in futures for row in future.result()]
        except BaseException:
            stop.set()
            for future in futures:
                future.cancel()
            raise
