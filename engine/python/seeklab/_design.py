"""A storage pool as a design: its cost, its capacity, and its results in the eleven tests.

    pool = seeklab.design(disks=24, width=2, memory_gib=64, log_ssds=2)
    pool.cost, pool.capacity_bytes
    for row in pool.measure():
        print(row.title, row.value, row.unit, row.binds)

The engine turns a design into changes of the case `eleven-metrics`, and computes the bounds of each test. A measurement
is an ordinary run of that case.
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
"""A test is bound by a part if it reaches this share of the part's bound. Below, disks can still be busy for as large a
share of the time with seeks. Otherwise requests wait for each other and no part is full."""
WAITING, SEEKING = "waiting", "disks, seeking"


@dataclass(frozen=True)
class Measured:
    """The result of one test of a pool."""

    name: str
    """Name of the test."""
    title: str
    """Description of the test."""
    value: float
    """The measured value."""
    unit: str
    """Unit of the value."""
    bound: float
    """The limit set by the binding part."""
    bound_by: str
    """The part with the smallest bound."""
    result: Result
    """The run."""

    @property
    def share(self) -> float:
        """The measured value divided by the bound."""
        return self.value / self.bound if self.bound else 0.0

    @property
    def binds(self) -> str:
        """The part that binds the test; or seeking disks; or waiting, if no part is full."""
        if self.share >= FULL:
            return self.bound_by
        busy = self.result.metrics.get("load.devices_busy_share_percent", 0) / 100
        return SEEKING if busy >= FULL else WAITING


@dataclass(frozen=True)
class Design:
    """A pool: the numbers of its parts, and their prices. It is immutable: `with_` returns a new one."""

    document: Mapping[str, Any]
    """The engine's description: parts, cost, capacity, and the tests with their bounds and changes."""

    @property
    def numbers(self) -> dict[str, int]:
        """The number of each part."""
        return {part["name"]: int(part["number"]) for part in self.document["parts"]}

    @property
    def prices(self) -> dict[str, float]:
        """The unit price of each part that has one."""
        return {part["name"]: float(part["price"]) for part in self.document["parts"] if part["is_priced"]}

    @property
    def cost(self) -> float:
        """The total price of all parts."""
        return float(self.document["cost"])

    @property
    def capacity_bytes(self) -> float:
        """The capacity for data, in bytes."""
        return float(self.document["capacity_bytes"])

    @property
    def warnings(self) -> tuple[Problem, ...]:
        """Settings that are allowed but seldom intended, such as a log that is larger than useful."""
        return tuple(Problem.read(problem) for problem in self.document["warnings"])

    @property
    def tests(self) -> tuple[str, ...]:
        """Names of the tests."""
        return tuple(test["name"] for test in self.document["tests"])

    def with_(self, **numbers: int) -> Design:
        """Return the same pool with other numbers."""
        return design(prices=self.prices, **{**self.numbers, **numbers})

    def bounds(self, test: str) -> dict[str, float]:
        """Return the limit that each part sets in a test, the smallest first."""
        return {row["what"]: float(row["most"]) for row in self._test(test)["bounds"]}

    def scenario(self, test: str, changes: Mapping[str, object] | None = None) -> dict[str, Any]:
        """Return the complete scenario of a test, with further changes by path."""
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
        """Run one test, with further changes of its load by path: `{"jobs[load].numjobs": 40}`.

        The bounds belong to the unchanged test; a load with another number of threads has other bounds.
        """
        row = self._test(test)
        request = {"case": self.document["case"], "variant": row["variant"], "seed": seed}
        result = execute({**request, "set": {**row["set"], **(changes or {})}}, progress)
        least = row["bounds"][0]
        value = result.metrics[row["metric"]]
        return Measured(row["name"], row["title"], value, row["unit"], float(least["most"]), least["what"], result)

    def measure(self, tests: Iterable[str] | None = None, *, seed: int = 1) -> list[Measured]:
        """Run several tests; None runs all."""
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

    The numbers are `disks`; `width` and `parity` of a group; `record_kib`, `memory_gib`, and `cache_gib` (0 uses all
    memory that is left); `read_ssds`, `log_ssds`, `log_gb`, `cores`, `client_gbit`, `server_gbit`, and
    `working_set_gib`. All have defaults. Prices are sample values unless given.

    >>> pool = seeklab.design(disks=12, width=6, parity=2)
    >>> next(iter(pool.bounds("7-write")))
    "clients' links"
    >>> pool.with_(disks=24).capacity_bytes == 2 * pool.capacity_bytes
    True

    Raises:
        SeeklabError: If the design cannot be built; it lists all problems.
    """
    request: dict[str, Any] = dict(numbers)
    if prices is not None:
        request["prices"] = dict(prices)
    return Design(engine().call("design", request))
