"""A pool on paper: its cost, its capacity, and what each of the eleven tests makes of it.

    pool = seeklab.design(disks=24, width=2, memory_gib=64, log_ssds=2)
    pool.cost, pool.capacity_bytes
    for row in pool.measure():
        print(row.title, row.value, row.unit, row.binds)

The engine turns a design into changes of the case `eleven-metrics` and computes the bounds of each test; a measurement
is a run of that case like any other.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from seeklab._case import case as load_case
from seeklab._errors import Problem
from seeklab._result import Result, execute
from seeklab.engine.host import engine

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from seeklab._result import Progress

FULL = 0.8
"""From this share of its bound on a test is bound by it. Below, disks may be busy for as large a share of the time
all the same, with moving their arms; else requests wait for each other and nothing is full."""
WAITING, SEEKING = "waiting", "disks, seeking"


@dataclass(frozen=True)
class Measured:
    """A test of a pool, measured."""

    name: str
    """Name of the test."""
    title: str
    """What it does."""
    value: float
    """What was measured."""
    unit: str
    """Its unit."""
    bound: float
    """The most that the binding part allows."""
    bound_by: str
    """The part whose bound is the least."""
    result: Result
    """The run."""

    @property
    def share(self) -> float:
        """Part of the bound that was reached."""
        return self.value / self.bound if self.bound else 0.0

    @property
    def binds(self) -> str:
        """The part that binds the test; or disks that seek; or waiting, when nothing is full."""
        if self.share >= FULL:
            return self.bound_by
        busy = self.result.metrics.get("load.devices_busy_share_percent", 0) / 100
        return SEEKING if busy >= FULL else WAITING


@dataclass(frozen=True)
class Design:
    """A pool: how many of what, at which prices. It never changes: `with_` gives a new one."""

    document: Mapping[str, Any]
    """What the engine says of it: parts, cost, capacity, tests with their bounds and changes."""

    @property
    def numbers(self) -> dict[str, int]:
        """How many of each part."""
        return {part["name"]: int(part["number"]) for part in self.document["parts"]}

    @property
    def prices(self) -> dict[str, float]:
        """The price of one of each part that has one."""
        return {part["name"]: float(part["price"]) for part in self.document["parts"] if part["is_priced"]}

    @property
    def cost(self) -> float:
        """What all parts cost."""
        return float(self.document["cost"])

    @property
    def capacity_bytes(self) -> float:
        """Bytes of data that it holds."""
        return float(self.document["capacity_bytes"])

    @property
    def warnings(self) -> tuple[Problem, ...]:
        """What can be but is seldom meant, such as a log larger than can be used."""
        return tuple(Problem.read(problem) for problem in self.document["warnings"])

    @property
    def tests(self) -> tuple[str, ...]:
        """Names of the tests."""
        return tuple(test["name"] for test in self.document["tests"])

    def with_(self, **numbers: int) -> Design:
        """Give the same pool with other numbers."""
        return design(prices=self.prices, **{**self.numbers, **numbers})

    def bounds(self, test: str) -> dict[str, float]:
        """Give the most that each part allows in a test, the least first."""
        return {row["what"]: float(row["most"]) for row in self._test(test)["bounds"]}

    def scenario(self, test: str, changes: Mapping[str, object] | None = None) -> dict[str, Any]:
        """Give the complete scenario of a test, with further changes by path."""
        row = self._test(test)
        return load_case(self.document["case"]).with_({**row["set"], **(changes or {})}).scenario(row["variant"])

    def run(
        self,
        test: str,
        changes: Mapping[str, object] | None = None,
        *,
        seed: int = 1,
        progress: Progress | None = None,
    ) -> Measured:
        """Measure one test, with further changes of its load by path: `{"jobs[load].numjobs": 40}`.

        The bounds are those of the test as it stands; a load with other threads has others.
        """
        row = self._test(test)
        request = {"case": self.document["case"], "variant": row["variant"], "seed": seed}
        result = execute({**request, "set": {**row["set"], **(changes or {})}}, progress)
        least = row["bounds"][0]
        value = result.metrics[row["metric"]]
        return Measured(row["name"], row["title"], value, row["unit"], float(least["most"]), least["what"], result)

    def measure(self, tests: Iterable[str] | None = None, *, seed: int = 1) -> list[Measured]:
        """Measure several tests, all when none is named."""
        return [self.run(name, seed=seed) for name in (self.tests if tests is None else tests)]

    def _test(self, name: str) -> dict[str, Any]:
        for test in self.document["tests"]:
            if test["name"] == name:
                found: dict[str, Any] = test
                return found
        message = f'"{name}" is not a test of a pool; choose one of {", ".join(self.tests)}'
        raise ValueError(message)


def design(*, prices: Mapping[str, float] | None = None, **numbers: int) -> Design:
    """Design a pool from its numbers.

    They are `disks`, `width` and `parity` of a group, `record_kib`, `memory_gib`, `cache_gib` (0 for all that memory
    leaves), `read_ssds`, `log_ssds`, `log_gb`, `cores`, `client_gbit`, `server_gbit`, `working_set_gib`. What is not
    given has its default; prices are sample values until given.

    A design that cannot be built is refused with everything that is wrong with it.
    """
    request: dict[str, Any] = dict(numbers)
    if prices is not None:
        request["prices"] = dict(prices)
    return Design(engine().call("design", request))
