"""Closed forms from a few measured numbers to one parameter. Times in us, sizes in bytes, rates in bytes/us (MB/s).

Each is an identity of the model's own stages. They rest on Little's law; least squares; the uniform wait for a sector;
the seek curve a + B sqrt(x) + C x.
"""

from __future__ import annotations

from math import log, sqrt
from statistics import fmean
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

KIB = 1024
MIB = 1 << 20
ROUNDING = 1e-9
SPEEDS_RPM = (4200, 5400, 5900, 7200, 10000, 10500, 15000)
"""Rotation speeds of disks on the market."""
US_PER_MINUTE = 60e6


class Line(NamedTuple):
    """A straight line."""

    intercept: float
    slope: float


def line(points: Mapping[float, float]) -> Line:
    """Fit a line by least squares of relative errors, so that latencies of 1 MiB do not outweigh those of 4 KiB."""
    weights = {x: 1 / (y * y) for x, y in points.items()}
    total = sum(weights.values())
    mean_x = sum(weights[x] * x for x in points) / total
    mean_y = sum(weights[x] * y for x, y in points.items()) / total
    slope = sum(weights[x] * (x - mean_x) * (y - mean_y) for x, y in points.items()) / sum(
        weights[x] * (x - mean_x) ** 2 for x in points
    )
    return Line(mean_y - slope * mean_x, slope)


class Link(NamedTuple):
    """A drive's link, as far as requests reveal it."""

    rate: float
    """Bytes per microsecond."""
    command: float
    """Time of a command on the link, in us; 0 if it cannot be measured."""
    ratio: float
    """How well the request rates of three sizes lie on one line: 1 if the link limits all of them."""
    is_bound: bool


BOUND_RATIO = (0.75, 1.33)


def link(x4: float, x16: float, x128: float) -> Link:
    """Return the link's rate and command time, from requests per second at 4, 16 and 128 KiB and great depth."""
    rate = 124 * KIB / (1e6 / x128 - 1e6 / x4)
    ratio = (1e6 / x16 - 1e6 / x4) / (12 * KIB / rate)
    is_bound = BOUND_RATIO[0] <= ratio <= BOUND_RATIO[1]
    command = max(0.0, 1e6 / x4 - 4 * KIB / rate) if is_bound else 0.0
    return Link(rate, command, ratio, is_bound)


def link_by_slope(latency_16: float, latency_64: float) -> float:
    """Return the link's rate, from latencies of single requests of 16 and 64 KiB."""
    return 48 * KIB / (latency_64 - latency_16)


class Buffer(NamedTuple):
    """A drive's write buffer."""

    drain: float
    """Drain rate, in bytes per microsecond."""
    size: float
    """Bytes."""
    is_seen: bool
    """Whether the buffer ever filled: it drains slower than the link fills it."""


def buffer(moved_200ms: float, moved_500ms: float, link_rate: float) -> Buffer:
    """Return a buffer's drain rate and size, from the bytes written in 200 and in 500 ms after a rest."""
    drain = (moved_500ms - moved_200ms) / 300e3
    return Buffer(drain, max(0.0, moved_200ms - 200e3 * drain), is_seen=drain <= 0.95 * link_rate)


TYPES = (2, 3, 4)
"""Bits per cell, which is the number of page types that share it: MLC, TLC, QLC."""
PLATEAU = 0.3
"""Half of the evaluated middle part of a mode, as a share of the mode; the edges are ignored."""
MIN_TYPES_APART = 1.1
MAX_BETWEEN = 0.3
"""Maximum share of the whole spread within modes; without modes it is about two thirds."""


def page_types(quantile: Callable[[float], float]) -> tuple[float, ...]:
    """Return the latencies of page types: the equal modes in the percentiles of single reads, or () without modes."""
    best: tuple[float, tuple[float, ...]] | None = None
    for count in TYPES:
        middles = [100 * (nth + 0.5) / count for nth in range(count)]
        half = 100 * PLATEAU / count
        spread = quantile(middles[-1] + half) - quantile(middles[0] - half)
        levels = tuple(quantile(middle) for middle in middles)
        if spread <= 0 or levels[-1] < MIN_TYPES_APART * levels[0]:
            continue
        within = sum(quantile(middle + half) - quantile(middle - half) for middle in middles) / spread
        if within <= MAX_BETWEEN and (best is None or within < best[0]):
            best = (within, levels)
    return best[1] if best else ()


MIN_DELAYED = 300


def program_us(read_us: float, longest_us: float, delayed: int, channel_us: float) -> float | None:
    """Return a program's time, from the longest read that waited for one; None if too few reads waited."""
    return None if delayed < MIN_DELAYED else longest_us - read_us - channel_us


def stroke(share: float, inner_to_outer: float) -> float:
    """Return the part of the stroke with the first `share` of the bytes, for a rate that falls linearly."""
    bend = (1 - inner_to_outer) / 2
    if bend == 0:
        return share
    return (1 - sqrt(1 - 4 * bend * (1 - bend) * share)) / (2 * bend)


class Rates(NamedTuple):
    """The rates at a disk's outer and inner edge."""

    outer: float
    inner: float


def edges(rates: Mapping[float, float]) -> Rates:
    """Fit the rates at the edges to rates at positions, given as shares of the bytes."""
    inner_to_outer = 0.5
    outer = inner = 0.0
    for _ in range(20):
        points = {stroke(share, inner_to_outer): rate for share, rate in rates.items()}
        outer, fall = line(points)
        inner = outer + fall
        inner_to_outer = min(1.0, max(0.1, inner / outer))
    return Rates(outer, inner)


def rotation_us(q10: float, q90: float) -> tuple[float, float]:
    """Return the time of a turn, from the spread of reads in a narrow span: measured, and of the nearest real speed."""
    measured = (q90 - q10) / 0.8
    speed = min(SPEEDS_RPM, key=lambda rpm: abs(log(US_PER_MINUTE / rpm / measured)))
    return measured, US_PER_MINUTE / speed


class Seeks(NamedTuple):
    """A seek curve a + B sqrt(x) + C x over the part x of the stroke, in us."""

    a: float
    b: float
    c: float

    @property
    def single(self) -> float:
        """The shortest seek."""
        return self.a

    @property
    def average(self) -> float:
        """The mean of seeks between two random places."""
        return self.a + 8 * self.b / 15 + self.c / 3

    @property
    def full(self) -> float:
        """A seek over the whole stroke."""
        return self.a + self.b + self.c


def seeks(positioning: Mapping[float, float]) -> Seeks:
    """Fit the seek curve to mean positioning times over spans of the stroke; all coefficients are at least 0."""
    best: tuple[float, Seeks] | None = None
    for used in ((True, True), (True, False), (False, True)):
        columns = [[1.0] * len(positioning)]
        if used[0]:
            columns.append([8 / 15 * sqrt(x) for x in positioning])
        if used[1]:
            columns.append([x / 3 for x in positioning])
        found = iter(_least_squares(columns, list(positioning.values())))
        curve = Seeks(next(found), next(found) if used[0] else 0.0, next(found) if used[1] else 0.0)
        if min(curve) < -ROUNDING:
            continue
        error = sum((curve.a + 8 / 15 * curve.b * sqrt(x) + curve.c * x / 3 - y) ** 2 for x, y in positioning.items())
        if best is None or error < best[0]:
            best = (error, curve)
    return best[1] if best else Seeks(max(0.0, fmean(positioning.values())), 0.0, 0.0)


def _least_squares(columns: Sequence[Sequence[float]], values: Sequence[float]) -> list[float]:
    """Solve the normal equations by elimination, for at most three unknowns."""
    rows = [
        [sum(a * b for a, b in zip(one, other, strict=True)) for other in columns]
        + [sum(a * y for a, y in zip(one, values, strict=True))]
        for one in columns
    ]
    size = len(rows)
    for pivot in range(size):
        best = max(range(pivot, size), key=lambda row: abs(rows[row][pivot]))
        rows[pivot], rows[best] = rows[best], rows[pivot]
        for row in range(size):
            if row != pivot:
                factor = rows[row][pivot] / rows[pivot][pivot]
                rows[row] = [cell - factor * above for cell, above in zip(rows[row], rows[pivot], strict=True)]
    return [rows[row][size] / rows[row][row] for row in range(size)]


MIN_INSIDE = 1.2
"""With fewer requests in the server than this, a higher number cannot be estimated."""


class Server(NamedTuple):
    """A server that requests and bytes share: 1 / (requests per second) = command + bytes / rate."""

    command: float
    rate: float
    """Bytes per microsecond."""


MIN_COMMAND_SHARE = 0.2
"""Minimum share of a command in the smallest request's time; a smaller one cannot be distinguished from bytes."""
MAX_OFF_LINE = 0.15
MIN_ON_LINE = 3
"""Minimum number of sizes, because two always lie on a line."""


def server(rates: Mapping[int, float]) -> Server | None:
    """Return a server with a command time, from the maximum request rate of each size; None if bytes explain them.

    All sizes must lie on one line; otherwise there are two independent limits.
    """
    if len(rates) < MIN_ON_LINE:
        return None
    per_request = {float(size): 1e6 / most for size, most in rates.items()}
    command, slope = line(per_request)
    off = max(abs((command + slope * size) / time - 1) for size, time in per_request.items())
    if slope <= 0 or command < MIN_COMMAND_SHARE * min(per_request.values()) or off > MAX_OFF_LINE:
        return None
    return Server(command, 1 / slope)


Z_99 = 2.326
"""The standard normal deviate of the 99th percentile."""
MAX_SCATTER = 1.5


def scatter(p99_to_mean: float) -> float:
    """Return a gamma distribution's coefficient of variation, from its 99th percentile divided by its mean.

    This uses the Wilson-Hilferty approximation: the cube root of a gamma variable is nearly normal.
    """
    least, most = 0.0, MAX_SCATTER
    for _ in range(40):
        middle = (least + most) / 2
        ninth = middle * middle / 9
        below = (1 - ninth + Z_99 * sqrt(ninth)) ** 3 < p99_to_mean
        least, most = (middle, most) if below else (least, middle)
    return least


class Unit(NamedTuple):
    """A fixed-rate logical unit."""

    latency: float
    alone: float
    """Rate with one request in flight, in bytes per microsecond."""
    rate: float
    full_at: int | None
    """Requests in flight that reach the full rate; None if the rate does not vary."""


def unit(latencies: Mapping[float, float], rates: Mapping[int, float], size: int = MIB) -> Unit:
    """Return a logical unit, from single latencies by size, and from requests per second of `size` by depth."""
    latency, slope = line(latencies)
    latency, alone = max(0.0, latency), 1 / slope
    rate = max(x * size / 1e6 for x in rates.values())
    if rate <= 1.05 * alone:
        return Unit(latency, alone, rate, None)
    fulls = []
    for depth, x in rates.items():
        inside = depth - x / 1e6 * latency
        now = x * size / 1e6
        if 1.03 * alone < now < 0.97 * rate and inside > MIN_INSIDE:
            fulls.append(1 + (inside - 1) * (rate - alone) / (now - alone))
    if not fulls:
        return Unit(latency, alone, rate, 2)
    fulls.sort()
    return Unit(latency, alone, rate, max(2, round(fulls[len(fulls) // 2])))


class Bucket(NamedTuple):
    """A token bucket: one rate while its tokens last, and a lower one afterwards."""

    burst: float
    refill: float
    tokens: float
    explains: float
    """Share of the variance that the two levels explain."""


MIN_EXPLAINED = 0.5
MIN_STEP = 1.15


def bucket(per_second: Sequence[float]) -> Bucket | None:
    """Return the best split of a series into two levels; None if the levels do not differ clearly."""
    least = 3
    if len(per_second) < 2 * least:
        return None
    mean = fmean(per_second)
    whole = sum((y - mean) ** 2 for y in per_second)
    if whole == 0:
        return None
    best: Bucket | None = None
    for split in range(least, len(per_second) - least + 1):
        before, after = per_second[:split], per_second[split:]
        burst, refill = fmean(before), fmean(after)
        rest = sum((y - burst) ** 2 for y in before) + sum((y - refill) ** 2 for y in after)
        explains = 1 - rest / whole
        if best is None or explains > best.explains:
            best = Bucket(burst, refill, (burst - refill) * split, explains)
    if best is None or best.explains < MIN_EXPLAINED or best.burst <= MIN_STEP * best.refill:
        return None
    return best
