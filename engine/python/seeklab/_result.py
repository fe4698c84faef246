"""A run and its result."""

from __future__ import annotations

import json
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from time import perf_counter
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NoReturn

from seeklab._errors import LimitExceeded, Problem, SeeklabError
from seeklab.data.html_table import html_table
from seeklab.data.table import Table
from seeklab.engine.host import engine
from seeklab.engine.protocol import TYPE_CODES, RunHandle

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    Progress = Callable[[float], object]
    """Called from time to time with the completed share of the run, from 0 to 1."""

FIRST_SLICE_EVENTS = 20_000
SLICE_S = 0.05
"""Time between two checks for an interrupt, and between two calls of the progress callback."""


@dataclass
class _Budget:
    """The number of events that several runs may use together."""

    events: int
    left: int


_budget: ContextVar[_Budget | None] = ContextVar("budget", default=None)


@contextmanager
def at_most_events(events: int) -> Iterator[None]:
    """Limit the events of all runs within; the run that would exceed the limit raises LimitExceeded."""
    before = _budget.set(_Budget(events, events))
    try:
        yield
    finally:
        _budget.reset(before)


class Result:
    """The result of a run: a summary, tables, and the output of observation tools."""

    def __init__(self, handle: RunHandle, wall_s: float) -> None:
        """Take over a finished run; raise LimitExceeded with the reason if it exceeded a limit."""
        self._handle = handle
        self._summary = handle.summary()
        self._columns: list[dict[str, Any]] | None = None
        self._tables: dict[str, Table] = {}
        self.wall_s: float = wall_s
        """Real time of the run, in seconds."""
        self.understood: tuple[str, ...] = ()
        """Of a replayed table, how it was read: its layout and its first requests."""
        self.layout: str | None = None
        """The form of a replayed trace that was rewritten for the engine; None for the engine's own forms."""

    @property
    def case(self) -> str | None:
        """The case that was run; None for your own scenario."""
        name: str | None = self._summary.get("case")
        return name

    @property
    def variant(self) -> str | None:
        """The variant of the case."""
        name: str | None = self._summary.get("variant")
        return name

    @property
    def replay(self) -> Mapping[str, Any] | None:
        """The replayed and the skipped parts of the trace, and the mode; None if the run was not a replay."""
        replayed: dict[str, Any] | None = self._summary.get("replay")
        if replayed is None:
            return None
        return MappingProxyType({**replayed, "format": self.layout or replayed["format"]})

    @property
    def warnings(self) -> tuple[Problem, ...]:
        """Settings of the scenario that are seldom intended, such as a scheduler's total below its minimums."""
        return tuple(Problem.read(warning) for warning in self._summary.get("warnings", []))

    @property
    def seed(self) -> int:
        """The seed of the run's random numbers."""
        return int(self._summary["seed"])

    @property
    def fingerprint(self) -> str:
        """A hash of the completed operations: equal fingerprints mean the same run, on every host."""
        return str(self._summary["fingerprint"])

    @property
    def metrics(self) -> Mapping[str, float]:
        """Every number of the summary by name; the names end in their units."""
        return MappingProxyType(self._summary["metrics"])

    @property
    def units(self) -> Mapping[str, str]:
        """The unit of every metric."""
        return MappingProxyType(self._summary["units"])

    @property
    def events(self) -> int:
        """Number of events that the engine processed."""
        return int(self._summary["events"])

    @property
    def simulated_s(self) -> float:
        """Simulated time of the run, in seconds."""
        return int(self._summary["simulated_ns"]) / 1e9

    @property
    def jobs(self) -> tuple[str, ...]:
        """Names of the jobs; the `job` columns count from 0 in this order."""
        return tuple(self._summary["jobs"])

    @property
    def devices(self) -> tuple[str, ...]:
        """Names of the devices; the `device` columns count from 0 in this order."""
        return tuple(self._summary["devices"])

    @property
    def ops(self) -> Table:
        """The operation log: one row per completed operation. Empty if the scenario's `record.log` is off."""
        return self._table("ops")

    @property
    def prefetches(self) -> Table:
        """One row per prefetch."""
        return self._table("prefetches")

    @property
    def bins(self) -> Table:
        """The latency histogram, by job and direction."""
        return self._table("bins")

    @property
    def series(self) -> Table:
        """One row per interval of simulated time."""
        return self._table("series")

    @property
    def unsafe(self) -> Table:
        """Data that a power failure would lose: the maximum bytes in each interval, and those at its end by memory."""
        return self._table("unsafe")

    @property
    def device_table(self) -> Table:
        """One row per device."""
        return self._table("devices")

    @property
    def slc(self) -> Table:
        """Bytes that an SLC cache drive wrote and folded in each interval, and its cache at the end. Else empty."""
        return self._table("slc")

    @property
    def raid_cache(self) -> Table:
        """Bytes written to and through a controller's cache in each interval, its charge and policy. Else empty."""
        return self._table("raid_cache")

    @property
    def learn_cycles(self) -> Table:
        """The log of a controller with a battery: one row per line, with its time. Empty without a battery."""
        return self._table("learn_cycles")

    @property
    def backlog(self) -> Table:
        """For each job with a plan, the number of operations due but not completed at the end of an interval."""
        return self._table("backlog")

    @property
    def page_cache(self) -> Table:
        """Bytes that a page cache wrote back in each interval, and those dirty or in flight at its end. Else empty."""
        return self._table("page_cache")

    @property
    def journal(self) -> Table:
        """The commits of a page cache's journal: start, end, the data written first, and the number of waiters."""
        return self._table("journal")

    @property
    def read_ahead(self) -> Table:
        """The page cache's decisions at each page that made it fetch something, in pages of the file. Else empty.

        `why` is the reason: 0 no sign of a stream, 1 a window starts, 2 a window continues, 3 a marker, 4 cached pages
        before the missing one.
        """
        return self._table("read_ahead")

    @property
    def shingled(self) -> Table:
        """Bytes that a shingled drive wrote and cleaned in each interval, and its cache at its end. Else empty."""
        return self._table("shingled")

    @property
    def credits(self) -> Table:
        """I/O of a volume with credits in each interval, and the credits at its end. Else empty."""
        return self._table("credits")

    @property
    def service_times(self) -> Table:
        """The number of requests of each disk by how long they held its arm; empty if no disk is shaken."""
        return self._table("services")

    @property
    def analytics(self) -> Table:
        """Activity of each client (`of` 0), job (1) and device (2) by interval; empty without `record.analytics`."""
        return self._table("analytics")

    @property
    def cores(self) -> Table:
        """Cycles of a server's cores in each interval; empty without `record.analytics`."""
        return self._table("cores")

    @property
    def cpu(self) -> Table:
        """Activity of each controller of each virtual disk; number 0 is the primary. Empty without a controller."""
        return self._table("cpu")

    @property
    def shards(self) -> Table:
        """Number of shards of each virtual disk, and the time of each change. Empty without a controller."""
        return self._table("shards")

    @property
    def zfs(self) -> Table:
        """The ZFS write path, one row per interval as in `series`. Empty without ZFS."""
        return self._table("zfs")

    @property
    def sources(self) -> Table:
        """Sources of reads through a ZFS ARC, and the contents of its caches, by interval; empty without an ARC."""
        return self._table("sources")

    @property
    def groups(self) -> Table:
        """The transaction groups: the times of opening, closing and sync, and the outcome of their writes."""
        return self._table("groups")

    @property
    def commits(self) -> Table:
        """The first commits of the intent logs: when each started and was durable, its writers and its bytes."""
        return self._table("commits")

    @property
    def journeys(self) -> Table:
        """One row for each request, and each part of one, in the window that `record.journeys` selects."""
        return self._table("journeys")

    @property
    def stays(self) -> Table:
        """One row for each stay of those requests: layer, phase, from and to.

        Phases are numbered in the order of the `*_ns` columns of `ops` after `latency_ns`. The number 255 is time
        during which another request, named by `part`, did the work.
        """
        return self._table("stays")

    @property
    def marks(self) -> Table:
        """One row for each mark near those requests, such as a packet sent or a lock taken."""
        return self._table("marks")

    def text(self, tool: str, **options: object) -> str:
        """Return the output of an observation tool for this run.

        `seeklab.tools()` lists the tools, such as `oplog`, `iostat`, `fio` and DTrace's `quantize`.
        """
        return self._handle.text({"tool": tool, **options})

    def monitor(
        self, window: str | int | None = None, phase: str | int | None = None, *, job: str | None = None
    ) -> list[dict[str, Any]]:
        """Return the points of a monitor for this run, with an averaging `window` and its first start at `phase`.

        Times are texts such as "20s", or nanoseconds; by default the scenario's monitor sets them. Each point
        has `from_ns`, `ios`, `bytes`, `mib_per_s` and `latency_mean_ms`, which is None if nothing completed.

        Raises:
            SeeklabError: If the window is longer than the recorded time.
        """
        chosen = {"window": window, "phase": phase, "job": job}
        asked = {name: value for name, value in chosen.items() if value is not None}
        windows: list[dict[str, Any]] = json.loads(self.text("monitor-json", **asked))["windows"]
        return windows

    def close(self) -> None:
        """Free the run's memory now instead of when the result is deleted. Metrics and tables taken so far remain."""
        self._handle.close()

    def _table(self, name: str) -> Table:
        if self._columns is None:
            self._columns = self._handle.columns()
        if name not in self._tables:
            prefix = f"{name}."
            self._tables[name] = Table(
                {
                    column["name"].removeprefix(prefix): self._handle.column(
                        column["name"], TYPE_CODES[column["dtype"]], column["length"]
                    )
                    for column in self._columns
                    if column["name"].startswith(prefix)
                }
            )
        return self._tables[name]

    def _title(self) -> str:
        name = " ".join(part for part in (self.case, self.variant) if part) or "scenario"
        return f"{name}, seed {self.seed}: {self.simulated_s:.3f} s simulated, fingerprint {self.fingerprint}"

    def __repr__(self) -> str:
        """Return the case or scenario, and its fingerprint."""
        return f"<Result of {self._title()}>"

    def _repr_html_(self) -> str:
        """Return a table with the main numbers of every job."""
        shown = ("ios", "mib_per_s", "latency_mean_ms", "latency_p99_ms", "latency_max_ms")
        rows = []
        for job in self.jobs:
            for direction in ("read", "write"):
                ios, *cells = (self.metrics.get(f"{job}.{direction}_{name}") for name in shown)
                if ios:
                    numbers = ("" if cell is None else f"{cell:.4g}" for cell in cells)
                    rows.append([job, direction, f"{ios:.0f}", *numbers])
        head = ("job", "direction", "I/Os", "MiB/s", "mean ms", "p99 ms", "max ms")
        return html_table(head, rows, caption=self._title())


def execute(payload: Mapping[str, object], progress: Progress | None = None) -> Result:
    """Open a run and finish it; return the result."""
    start = perf_counter()
    handle = engine().open_run(payload)
    try:
        if not advance(handle, progress):
            raise_limit(handle)
        result = Result(handle, perf_counter() - start)
    except BaseException:
        handle.close()
        raise
    charge(result.events)
    return result


def events_left(used: int) -> int | None:
    """Return how many more events a run may use after `used`; None without a budget. Raise LimitExceeded at its end."""
    budget = _budget.get()
    if budget is None:
        return None
    if used >= budget.left:
        message = f"the runs take more than {budget.events:,} events together; make fewer or larger requests"
        raise LimitExceeded([Problem("events", message)])
    return budget.left - used


def charge(events: int) -> None:
    """Count the events of a finished run, because the number of its slices depends on the machine."""
    budget = _budget.get()
    if budget is not None:
        budget.left -= events


def advance(handle: RunHandle, progress: Progress | None = None) -> bool:
    """Run to the end, in slices short enough for interrupts; return whether the run got there."""
    slice_events = FIRST_SLICE_EVENTS
    used = 0
    while True:
        slice_events = min(slice_events, events_left(used) or slice_events)
        slice_start = perf_counter()
        done = handle.step(slice_events)
        took_s = perf_counter() - slice_start
        if done < 0:
            return False
        used += slice_events
        if progress is not None:
            progress(done)
        if done >= 1:
            return True
        slice_events = max(1_000, min(slice_events * 4, int(slice_events * SLICE_S / max(took_s, 1e-6))))


def raise_limit(handle: RunHandle) -> NoReturn:
    """Raise the reason why a run failed."""
    try:
        handle.summary()
    except SeeklabError as error:
        raise LimitExceeded(error.problems) from None
    message = "the run failed without a reason"
    raise LimitExceeded([Problem("", message)])


def run(scenario: Mapping[str, Any], *, seed: int = 1, progress: Progress | None = None) -> Result:
    """Run your own scenario; `schema()` describes its fields.

    >>> reads = {"name": "reads", "rw": "randread", "bs": "4KiB", "size": "1GiB", "number_ios": 1000}
    >>> result = seeklab.run({"jobs": [reads], "devices": [{"preset": "nvme"}]}, seed=7)
    >>> result.metrics["reads.read_ios"]
    1000.0
    """
    return execute({"scenario": scenario, "seed": seed}, progress)
