"""Sweeps: one case at many values and seeds, as one table.

A run spends its time inside the engine, where other Python threads can work: of the 15 ms of the smallest case, only
0.6 ms hold the interpreter. Threads therefore keep the cores of a desktop busy. Unlike processes, they need no
importable main program, so sweeps work from a notebook and from standard input. For more cores or machines, any
executor of `concurrent.futures` takes over; it receives plain data only.
"""

from __future__ import annotations

import math
import os
import sys
from array import array
from collections import deque
from collections.abc import Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Executor, Future, ThreadPoolExecutor, wait
from contextlib import closing, contextmanager
from dataclasses import dataclass
from itertools import islice
from threading import Event
from typing import TYPE_CHECKING, Any, TypeAlias

from seeklab._case import Case
from seeklab._case import case as load_case
from seeklab._errors import Problem, SeeklabError
from seeklab._progress import ProgressBar
from seeklab._result import execute
from seeklab.data.columns import TextColumn
from seeklab.data.table import Table

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable, Iterator

    from seeklab._result import Progress

Point: TypeAlias = "dict[str, Any]"
"""One run: the engine's request."""
Metrics: TypeAlias = "dict[str, float]"

VARIANTS, SEEDS = "variants", "seeds"
MAX_RUNS = 1_000_000
AHEAD = 64
"""Number of runs per core that are started before the first result is returned."""
MAX_BATCHES = 256
"""Number of tasks that a sweep gives to an external executor: few to send, but enough to share evenly."""


def sweep(
    case: Case | str,
    values: Mapping[str, Iterable[object]],
    *,
    variants: Iterable[str] | None = None,
    seeds: Iterable[int] = (1,),
    executor: Executor | None = None,
    progress: Progress | bool = True,
) -> Table:
    """Run a case at every combination of values, variants and seeds; return one table with one row for each run.

    `values` lists for each path the values to try: `{"volume.prefetch.chunk": ["4MiB", "8MiB"]}`. The columns are these
    paths, then `seed`, `variant` and every metric; a missing metric is NaN. Rows have the order of the values, and the
    seed changes fastest. No metric needs the operation log, so `record.log` is off unless the case sets it.

    Runs use threads, one for each core that this process may use, or `executor`: any of `concurrent.futures`, such as a
    Dask client's `get_executor()` for a cluster. Under Pyodide they run one after the other. `progress` is called with
    the completed share of runs; True draws a bar, False nothing.

    >>> windows = {"monitor.window": ["5s", "10s"]}
    >>> table = seeklab.sweep("averaged-away", windows, variants=["burst-1s"], seeds=[1, 2], progress=False)
    >>> len(table)
    4

    Raises:
        SeeklabError: For the first run that is refused or exceeds a limit, with its values; the sweep then ends.
    """
    chosen = load_case(case) if isinstance(case, str) else case
    points = _Points(chosen, values, variants, seeds)
    with _reporting(progress) as report:
        return _table(list(values), points, list(_run(points, len(points), executor, report)))


@dataclass(frozen=True)
class Stream:
    """A sweep whose rows are available while it runs."""

    columns: tuple[str, ...]
    """The paths, `seed`, `variant`, and every metric of the first runs."""
    may_have_more: bool
    """Whether later rows can have further metrics."""
    rows: Generator[dict[str, Any]]
    """Each row as a dictionary, in the table's order. Closing the iterator ends the sweep."""


def stream(
    case: Case,
    values: Mapping[str, Iterable[object]],
    *,
    variants: Iterable[str] | None = None,
    seeds: Iterable[int] = (1,),
    progress: Progress | bool = True,
) -> Stream:
    """Run a sweep and return its rows as they complete, each as soon as all earlier ones have completed.

    The metrics of a run are known only after it, because a phase without requests has no metric. The columns are
    therefore taken from the first run of each variant, and from as many further runs as there are cores.
    """
    points = _Points(case, values, variants, seeds)
    runs, step = len(points), len(points.axes[SEEDS])
    first_of_variants = range(0, step * len(points.axes[VARIANTS]), step)
    scouts = sorted({*first_of_variants, *range(min(usable_cores(), runs))})
    tried = {path: _column(points.axes[path]) for path in values}
    known = frozenset(scouts)

    def report_part(report: Progress, before: int, part: int) -> Progress:
        return lambda done: report((before + done * part) / runs)

    with _reporting(progress) as report:
        report_scouts = report_part(report, 0, len(scouts))
        some = [points[nth] for nth in scouts]
        found = dict(zip(scouts, _run(some, len(some), None, report_scouts), strict=True))
    names = dict.fromkeys(name for metrics in found.values() for name in metrics)

    def rows() -> Generator[dict[str, Any]]:
        others = (points[nth] for nth in range(runs) if nth not in known)
        with _reporting(progress) as report:
            report_others = report_part(report, len(scouts), runs - len(scouts))
            with closing(_run(others, runs - len(scouts), None, report_others)) as rest:
                for nth in range(runs):
                    point, places = points[nth], points.places(nth)
                    where = {path: column[places[path]] for path, column in tried.items()}
                    metrics = found.pop(nth, None) or next(rest)
                    yield {**where, "seed": point["seed"], "variant": point["variant"], **metrics}

    return Stream((*values, "seed", "variant", *names), runs > len(scouts), rows())


@contextmanager
def _reporting(progress: Progress | bool) -> Iterator[Progress]:  # noqa: FBT001 -- as the public argument
    if callable(progress):
        yield progress
    elif progress:
        with ProgressBar() as bar:
            yield bar
    else:
        yield _ignore


def _run(points: Iterable[Point], runs: int, executor: Executor | None, report: Progress) -> Generator[Metrics]:
    """Make the runs in this platform's way; yield their metrics in the order of the points as soon as possible."""
    if not runs:
        return
    if executor is not None:
        yield from _on_executor(points, runs, executor, report)
    elif sys.platform == "emscripten":
        for nth, point in enumerate(points, 1):
            metrics = _metrics(point)
            report(nth / runs)
            yield metrics
    else:
        yield from _on_threads(points, runs, report)


def _ignore(_done: float) -> None:
    """Ignore the progress."""


class _Points(Sequence[Point]):
    """The runs of a sweep in order. Each request is made when it is needed: a million would fill hundreds of MB."""

    def __init__(
        self, case: Case, values: Mapping[str, Iterable[object]], variants: Iterable[str] | None, seeds: Iterable[int]
    ) -> None:
        self._case = case
        self._fixed = {"record.log": False, **case.changes}
        self._paths = list(values)
        self.axes: dict[str, list[Any]] = {path: _several(path, tried) for path, tried in values.items()}
        self.axes[VARIANTS] = _several(VARIANTS, (case.default_variant,) if variants is None else variants)
        self.axes[SEEDS] = _several(SEEDS, seeds)
        self._runs = math.prod(map(len, self.axes.values()))
        if self._runs > MAX_RUNS:
            sizes = ", ".join(f"{len(tried)} of {path}" for path, tried in self.axes.items())
            message = f"{sizes} make {self._runs} runs; the limit for a sweep is {MAX_RUNS}"
            raise SeeklabError([Problem("values", message)])

    def __len__(self) -> int:
        return self._runs

    def places(self, nth: int) -> dict[str, int]:
        """Return the position on each axis; the last axis changes fastest."""
        found: dict[str, int] = {}
        for name in reversed(self.axes):
            nth, found[name] = divmod(nth, len(self.axes[name]))
        return found

    def __getitem__(self, nth: Any) -> Any:
        if not 0 <= nth < self._runs:
            raise IndexError(nth)
        chosen = {name: self.axes[name][place] for name, place in self.places(nth).items()}
        changes = {**self._fixed, **{path: chosen[path] for path in self._paths}}
        return {"case": self._case.id, "variant": chosen[VARIANTS], "set": changes, "seed": chosen[SEEDS]}


def _several(path: str, tried: Iterable[object]) -> list[object]:
    if isinstance(tried, (str, bytes, Mapping)) or not hasattr(tried, "__iter__"):
        message = f"{tried!r} is not a list of values to try; write [{tried!r}] for a single one"
        raise SeeklabError([Problem(path, message)])
    found = list(tried)
    if not found:
        raise SeeklabError([Problem(path, "the list of values to try is empty")])
    return found


def run_batch(points: Sequence[Point], progress: Progress | None = None) -> list[Metrics]:
    """Make runs one after the other; return the metrics of each. Problems name the run's values in their messages."""
    return [_metrics(point, progress) for point in points]


def _metrics(point: Point, progress: Progress | None = None) -> Metrics:
    try:
        result = execute(point, progress)
    except SeeklabError as error:
        # The values identify one of many runs. The log setting is the sweep's own and identifies nothing.
        told = {name: value for name, value in point["set"].items() if name != "record.log"}
        told |= {"variant": point["variant"], "seed": point["seed"]}
        where = ", ".join(f"{name}={value}" for name, value in told.items())
        told_where = [
            Problem(problem.path, f"{problem.message} (in the run with {where})", problem.nearest)
            for problem in error.problems
        ]
        raise type(error)(told_where) from None
    metrics = dict(result.metrics)
    result.close()
    return metrics


class _StoppedError(Exception):
    """The sweep ended while this run was in progress."""


def usable_cores() -> int:
    """Return the number of cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _on_threads(points: Iterable[Point], runs: int, report: Progress) -> Generator[Metrics]:
    stop = Event()

    def heed(_done: float) -> None:
        if stop.is_set():
            raise _StoppedError

    with ThreadPoolExecutor(usable_cores(), thread_name_prefix="seeklab-sweep") as pool:
        try:
            tasks = ((pool.submit(run_batch, [point], heed), 1) for point in points)
            yield from _in_order(tasks, runs, AHEAD * usable_cores(), report)
        except BaseException:
            stop.set()
            raise


def _on_executor(points: Iterable[Point], runs: int, executor: Executor, report: Progress) -> Generator[Metrics]:
    size, rest = math.ceil(runs / MAX_BATCHES), iter(points)
    batches = iter(lambda: list(islice(rest, size)), [])
    tasks = [(executor.submit(run_batch, batch), len(batch)) for batch in batches]
    yield from _in_order(iter(tasks), runs, len(tasks), report)


def _in_order(
    tasks: Iterator[tuple[Future[list[Metrics]], int]], runs: int, most: int, report: Progress
) -> Generator[Metrics]:
    """Yield the results of tasks in order, and report the progress; the first failure cancels the other tasks.

    At most `most` tasks have started without having been yielded, and results are not kept afterwards: a sweep of a
    million runs must not hold a million results.
    """
    done = 0
    waiting: deque[Future[list[Metrics]]] = deque()
    under_way: dict[Future[list[Metrics]], int] = {}
    try:
        while True:
            for future, size in islice(tasks, most - len(waiting)):
                waiting.append(future)
                under_way[future] = size
            if not waiting:
                return
            for future in wait(under_way, return_when=FIRST_COMPLETED).done:
                future.result()
                done += under_way.pop(future)
                report(done / runs)
            while waiting and waiting[0] not in under_way:
                yield from waiting.popleft().result()
    except BaseException:
        for future in waiting:
            future.cancel()
        raise


def _table(paths: Sequence[str], points: Sequence[Point], rows: Sequence[Metrics]) -> Table:
    columns: dict[str, array[Any] | TextColumn] = {
        path: _column([point["set"][path] for point in points]) for path in paths
    }
    seeds = [point["seed"] for point in points]
    columns["seed"] = array("d" if max(seeds) >> 32 else "I", seeds)
    columns["variant"] = TextColumn(point["variant"] for point in points)
    for name in dict.fromkeys(name for row in rows for name in row):
        columns[name] = array("d", [row.get(name, math.nan) for row in rows])
    return Table(columns)


def _column(tried: Sequence[object]) -> array[Any] | TextColumn:
    """Return a numeric column if all values are numbers, otherwise a text column."""
    if all(isinstance(value, (int, float)) and not isinstance(value, bool) for value in tried):
        return array("d", tried)
    return TextColumn(str(value).lower() if isinstance(value, bool) else str(value) for value in tried)
