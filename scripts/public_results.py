"""Write docs/reference/calibration-accuracy.md: how well calibrated models predict depths that they were not fitted to.

Usage: public_results.py FOLDER [PAGE]. FOLDER has one folder per device with published reports of fio: random reads
and writes of 4 KiB at several depths. Its folder `unseen` has recordings that the fit was not written with.
The page has the errors, and no report's content.

Every second depth is used for the fit, the others are predicted. The two-number model has a base latency and a maximum
rate from the same depths. Its mean at depth n is the larger of the base and n divided by the rate. Its 99th percentile
is a constant multiple of the mean, from the smallest depth.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass, replace
from math import exp, log
from pathlib import Path
from statistics import fmean, median
from typing import TYPE_CHECKING

from seeklab._errors import SeeklabError
from seeklab.calibration.fio_results import Results, read_results
from seeklab.calibration.fit import calibrate
from seeklab.calibration.simulated import ask

if TYPE_CHECKING:
    from seeklab.calibration.fio_results import Key, Measured

SIZE = 4096
MIN_DEPTHS = 4
UNSEEN = "unseen"
IOS = {"hdd": 3_000, "ssd": 40_000, "lun": 20_000}
HEAD = """# Accuracy of calibrated models

<!-- Written by `python scripts/public_results.py FOLDER`; the reports come from their own repositories. -->

{count} recordings that others published, each of one device or array: random reads and writes of 4 KiB at several
depths. `seeklab calibrate` fits every second depth. The table has the mean error at the other depths, in percent. An
error is the larger value divided by the smaller one, minus 1, so twice and half are both 100%.

The reports are from louwrentius/fio-plot, louwrentius/fio-plot-data and SamYaple/fio-plot-results.

The *two-number model* has a base latency and a maximum rate, fitted to the same depths.

{summary}

| recording | family | direction | depths | mean | p99 | two numbers: mean | p99 |
|---|---|---|---|---|---|---|---|
"""


@dataclass
class Row:
    """The errors of one direction of a recording, in percent. `unseen` recordings played no part in writing the fit."""

    name: str
    family: str
    rw: str
    depths: tuple[int, ...]
    mean: float
    p99: float
    simple_mean: float
    simple_p99: float
    unseen: bool = False


def main(folder: Path, page: Path) -> None:
    """Fit and judge each recording."""
    rows: list[Row] = []
    places = sorted(path for path in folder.iterdir() if path.is_dir() and path.name != UNSEEN)
    places += sorted(path for path in (folder / UNSEEN).glob("*") if path.is_dir())
    for recording in places:
        try:
            found = judged(recording.name, read_results(recording))
        except SeeklabError as error:
            print(f"{recording.name}: {error}", file=sys.stderr)
            continue
        for row in found:
            print(
                f"{row.name} {row.family} {row.rw} {row.depths}: mean {row.mean:.1f} ({row.simple_mean:.1f}), "
                f"p99 {row.p99:.1f} ({row.simple_p99:.1f})",
                file=sys.stderr,
            )
        rows += [replace(row, unseen=recording.parent.name == UNSEEN) for row in found]
    page.write_text(_page(rows), encoding="utf-8")


def judged(name: str, results: Results) -> list[Row]:
    """Return the errors at every second depth of a model that is fitted to the others."""
    series = {
        rw: {key.depth: job for key, job in sorted(results.jobs.items()) if (key.rw, key.size) == (rw, SIZE)}
        for rw in ("randread", "randwrite")
    }
    series = {rw: jobs for rw, jobs in series.items() if len(jobs) >= MIN_DEPTHS}
    kept = {rw: sorted(jobs)[1::2] for rw, jobs in series.items()}
    fitted: dict[Key, Measured] = {
        key: job for key, job in results.jobs.items() if key.depth not in kept.get(key.rw, ()) or key.size != SIZE
    }
    found = calibrate(Results(jobs=fitted, versions=results.versions), accept_noise=True)
    rows = []
    for rw, jobs in series.items():
        base = [jobs[depth] for depth in sorted(jobs) if depth not in kept[rw]]
        most = max(job.iops for job in base)
        errors: list[tuple[float, ...]] = []
        for depth in kept[rw]:
            job = jobs[depth]
            model = ask(found.device, job.key, most_ios=IOS[found.family])
            simple = max(base[0].mean, 1e6 * depth / most)
            tail = simple * base[0].q(99) / base[0].mean
            pairs = ((model.mean, job.mean), (model.q(99), job.q(99)), (simple, job.mean), (tail, job.q(99)))
            errors.append(tuple(100 * (exp(abs(log(one / other))) - 1) for one, other in pairs))
        mean, p99, simple_mean, simple_p99 = (fmean(column) for column in zip(*errors, strict=True))
        rows.append(Row(name, found.family, rw, tuple(kept[rw]), mean, p99, simple_mean, simple_p99))
    return rows


def _page(rows: list[Row]) -> str:
    parts = []
    directions = (("randread", "reads"), ("randwrite", "writes"))
    kinds = [(rw, what, unseen) for unseen in (False, True) for rw, what in directions]
    for rw, what, unseen in kinds:
        of = [row for row in rows if row.rw == rw and row.unseen == unseen]
        if of:
            these = "new to it" if unseen else "that the fit was written with"
            parts.append(
                f"Random {what}, recordings {these} ({len(of)}), median: mean {median(row.mean for row in of):.1f}% "
                f"(two numbers: {median(row.simple_mean for row in of):.1f}%), 99th percentile "
                f"{median(row.p99 for row in of):.1f}% ({median(row.simple_p99 for row in of):.1f}%)."
            )
    items = "\n".join(f"- {part}" for part in parts)
    head = HEAD.format(count=len({row.name for row in rows}), summary=items)
    return head + "".join(
        f"| {row.name}{' (unseen)' if row.unseen else ''} | {row.family} | {row.rw} "
        f"| {', '.join(map(str, row.depths))} | {row.mean:.1f} | {row.p99:.1f} "
        f"| {row.simple_mean:.1f} | {row.simple_p99:.1f} |\n"
        for row in rows
    )


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2] if len(sys.argv) > 2 else "docs/reference/calibration-accuracy.md"))
