"""A run and its result."""

from __future__ import annotations

import html
import json
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from time import perf_counter
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NoReturn

from seeklab._errors import LimitExceeded, Problem, SeeklabError
from seeklab.data.table import Table
from seeklab.engine.host import engine
from seeklab.engine.protocol import TYPE_CODES, RunHandle

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    Progress = Callable[[float], object]
    """Called from time to time with the share of the run that is done, from 0 to 1."""

FIRST_SLICE_EVENTS = 20_000
SLICE_S = 0.05
"""Time between two looks at the keyboard and the progress callback."""


@dataclass
class _Budget:
    """Events that the runs of one piece of work may take together."""

    events: int
    left: int


_budget: ContextVar[_Budget | None] = ContextVar("budget", default=None)


@contextmanager
def at_most_events(events: int) -> Iterator[None]:
    """Let the runs within take that many events together; the run that would take more raises LimitExceeded."""
    before = _budget.set(_Budget(events, events))
    try:
        yield
    finally:
        _budget.reset(before)


class Result:
    """What a run leaves behind: a summary, tables, and the text that observation tools print about it."""

    def __init__(self, handle: RunHandle, wall_s: float) -> None:
        """Take over a finished run; raises the reason when it exceeded a limit."""
        self._handle = handle
        self._summary = handle.summary()
        self._columns: list[dict[str, Any]] | None = None
        self._tables: dict[str, Table] = {}
        self.wall_s: float = wall_s
        """Real time that the run took, in seconds."""

    @property
    def case(self) -> str | None:
        """The case that was run; None for a scenario of one's own."""
        name: str | None = self._summary.get("case")
        return name

    @property
    def variant(self) -> str | None:
        """The variant of the case."""
        name: str | None = self._summary.get("variant")
        return name

    @property
    def replay(self) -> Mapping[str, Any] | None:
        """What was replayed, how, and what of the trace was skipped; None when the run was no replay."""
        replayed: dict[str, Any] | None = self._summary.get("replay")
        return None if replayed is None else MappingProxyType(replayed)

    @property
    def warnings(self) -> tuple[Problem, ...]:
        """What the scenario says that is seldom meant, such as a scheduler's total below its minimums."""
        return tuple(Problem.read(warning) for warning in self._summary.get("warnings", []))

    @property
    def seed(self) -> int:
        """The seed of the run's randomness."""
        return int(self._summary["seed"])

    @property
    def fingerprint(self) -> str:
        """A hash of the completed operations: equal fingerprints mean the same run, on every host."""
        return str(self._summary["fingerprint"])

    @property
    def metrics(self) -> Mapping[str, float]:
        """Every number of the summary; the names end with their units."""
        return MappingProxyType(self._summary["metrics"])

    @property
    def units(self) -> Mapping[str, str]:
        """The unit of every metric."""
        return MappingProxyType(self._summary["units"])

    @property
    def events(self) -> int:
        """Events that the engine handled."""
        return int(self._summary["events"])

    @property
    def simulated_s(self) -> float:
        """Simulated time that the run covers, in seconds."""
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
        """The operation log: one row per completed operation. Empty when the scenario's `record.log` is off."""
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
        """What a power failure would lose: the most bytes in each interval; those at its end by whose memory it is."""
        return self._table("unsafe")

    @property
    def device_table(self) -> Table:
        """One row per device."""
        return self._table("devices")

    @property
    def slc(self) -> Table:
        """What a drive with an SLC cache wrote and folded in each interval, and the cache at its end. Else empty."""
        return self._table("slc")

    @property
    def raid_cache(self) -> Table:
        """What was written to a controller's cache and through it in each interval, charge and policy. Else empty."""
        return self._table("raid_cache")

    @property
    def learn_cycles(self) -> Table:
        """The log of a controller with a battery: a row for each line, with its time. Empty without one."""
        return self._table("learn_cycles")

    @property
    def backlog(self) -> Table:
        """For each job with a plan, how many operations were due at the end of an interval and had not completed."""
        return self._table("backlog")

    @property
    def page_cache(self) -> Table:
        """What a page cache wrote back in each interval, and what was dirty or on its way at its end. Else empty."""
        return self._table("page_cache")

    @property
    def journal(self) -> Table:
        """The commits of a page cache's journal: begin, end, data that they wrote first, and who waited."""
        return self._table("journal")

    @property
    def read_ahead(self) -> Table:
        """What a page cache decided at each page that made it fetch something, in pages of the file. Empty without one.

        `why` is 0 when nothing spoke for a stream, 1 when a window begins, 2 when it goes on, 3 for a marker, and 4 for
        cached pages before the missing one.
        """
        return self._table("read_ahead")

    @property
    def shingled(self) -> Table:
        """What a shingled drive wrote and cleaned in each interval, and its cache at its end. Empty without one."""
        return self._table("shingled")

    @property
    def credits(self) -> Table:
        """What a volume with I/O credits did in each interval, and the credits at its end. Empty without one."""
        return self._table("credits")

    @property
    def service_times(self) -> Table:
        """How many requests of each disk had its arm for how long; empty when no disk is shaken."""
        return self._table("services")

    @property
    def analytics(self) -> Table:
        """What each client (`of` 0), job (1) and device (2) did in each interval; empty without `record.analytics`."""
        return self._table("analytics")

    @property
    def cores(self) -> Table:
        """The cycles that a server's cores spent in each interval; empty without `record.analytics`."""
        return self._table("cores")

    @property
    def cpu(self) -> Table:
        """What each controller of each virtual disk did; number 0 is the primary. Empty without a controller."""
        return self._table("cpu")

    @property
    def shards(self) -> Table:
        """How many shards each virtual disk had, and since when. Empty without a controller."""
        return self._table("shards")

    @property
    def zfs(self) -> Table:
        """The ZFS write path, one row per interval as in `series`. Empty without that layer."""
        return self._table("zfs")

    @property
    def sources(self) -> Table:
        """Where reads through a ZFS ARC found their bytes, and what the caches held, by interval; empty without one."""
        return self._table("sources")

    @property
    def groups(self) -> Table:
        """The transaction groups: when each opened, closed and was synced, and what became of its writes."""
        return self._table("groups")

    @property
    def commits(self) -> Table:
        """The first commits of the intent logs: when each began and was durable, its writers and its bytes."""
        return self._table("commits")

    @property
    def journeys(self) -> Table:
        """One row for each request of the window that `record.journeys` asks for, and for each part of one."""
        return self._table("journeys")

    @property
    def stays(self) -> Table:
        """One row for each stay of those requests: layer, phase, from and to.

        Phases are numbered in the order of the `*_ns` columns of `ops` after `latency_ns`; 255 is the time that another
        request, named by `part`, was at work.
        """
        return self._table("stays")

    @property
    def marks(self) -> Table:
        """One row for each mark around those requests, such as a packet sent or a lock taken."""
        return self._table("marks")

    def text(self, tool: str, **options: object) -> str:
        """Print what an observation tool shows of this run.

        `seeklab.tools()` has all of them, such as `oplog`, `iostat`, `fio` and DTrace's `quantize`.
        """
        return self._handle.text({"tool": tool, **options})

    def monitor(
        self, window: str | int | None = None, phase: str | int | None = None, *, job: str | None = None
    ) -> list[dict[str, Any]]:
        """Give what a monitor shows whose points stand for `window` and begin at `phase`, of this run as it is.

        Times are texts such as "20s" or nanoseconds; what is left out is the scenario's monitor's own. Each point has
        `from_ns`, `ios`, `bytes`, `mib_per_s` and `latency_mean_ms`, which is None where nothing completed. Raises
        SeeklabError when the window is longer than what was watched.
        """
        chosen = {"window": window, "phase": phase, "job": job}
        asked = {name: value for name, value in chosen.items() if value is not None}
        windows: list[dict[str, Any]] = json.loads(self.text("monitor-json", **asked))["windows"]
        return windows

    def close(self) -> None:
        """Give the run's memory back now, not when the result is dropped. Metrics and tables taken so far stay."""
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
        """Say what was run, and its fingerprint."""
        return f"<Result of {self._title()}>"

    def _repr_html_(self) -> str:
        """Show the main numbers of every job in a notebook."""
        shown = ("ios", "mib_per_s", "latency_mean_ms", "latency_p99_ms", "latency_max_ms")
        rows = ""
        for job in self.jobs:
            for direction in ("read", "write"):
                cells = [self.metrics.get(f"{job}.{direction}_{name}") for name in shown]
                if not cells[0]:
                    continue
                numbers = "".join(f"<td>{'' if cell is None else f'{cell:.4g}'}</td>" for cell in [*cells[1:]])
                rows += f"<tr><td>{html.escape(job)}</td><td>{direction}</td><td>{cells[0]:.0f}</td>{numbers}</tr>"
        head = "".join(f"<th>{title}</th>" for title in ("job", "", "I/Os", "MiB/s", "mean ms", "p99 ms", "max ms"))
        title = html.escape(self._title())
        return f"<table><caption>{title}</caption><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"


def execute(payload: Mapping[str, object], progress: Progress | None = None) -> Result:
    """Open a run and carry it to its end."""
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
    """Return how many more events a run may take that has taken `used`: None without a budget; raises at its end."""
    budget = _budget.get()
    if budget is None:
        return None
    if used >= budget.left:
        message = f"the runs take more than {budget.events:,} events together; make fewer or larger requests"
        raise LimitExceeded([Problem("events", message)])
    return budget.left - used


def charge(events: int) -> None:
    """Count the events of a run that has ended: how many slices it took depends on the machine."""
    budget = _budget.get()
    if budget is not None:
        budget.left -= events


def advance(handle: RunHandle, progress: Progress | None = None) -> bool:
    """Carry a run to its end, in slices short enough for an interrupt to act soon. Whether it got there."""
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
    """Raise why a run failed."""
    try:
        handle.summary()
    except SeeklabError as error:
        raise LimitExceeded(error.problems) from None
    message = "the run failed without a reason"
    raise LimitExceeded([Problem("", message)])


def run(scenario: Mapping[str, Any], *, seed: int = 1, progress: Progress | None = None) -> Result:
    """Run a scenario of one's own. `schema()` describes what it may hold."""
    return execute({"scenario": scenario, "seed": seed}, progress)
