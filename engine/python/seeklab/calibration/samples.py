"""Sample devices for the calibration: the jobs of its plan run on a preset and produce fio reports."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from seeklab._errors import Problem, SeeklabError
from seeklab._result import run
from seeklab.calibration.plan import GIB, Job, disk_jobs, drive_jobs, judging_disk_jobs, judging_jobs
from seeklab.calibration.simulated import scenario
from seeklab.engine.host import engine

if TYPE_CHECKING:
    from collections.abc import Callable

SAMPLES = {"ssd": "ssd-sata", "disk": "hdd-7200", "unit": "lun-100mb"}
SEED = 7
"""A seed that no candidate uses."""
SPAN = 16 * GIB
MAX_IOS = 4_000
MAX_IOS_OF_DISK = 3_000
FAMILIES = ("hdd", "ssd", "lun")


def record(name: str, progress: Callable[[float], object]) -> dict[str, str]:
    """Run the jobs on a sample; return fio's reports by file name."""
    preset = SAMPLES.get(name)
    if preset is None:
        raise SeeklabError([Problem("sample", f'"{name}" is unknown; accepted: {", ".join(SAMPLES)}')])
    whole = {"jobs": [{"name": "job", "size": "1MiB"}], "devices": [{"name": "disk", "preset": preset}]}
    group = engine().call("validate", {"scenario": whole})["devices"][0]
    family = next(family for family in FAMILIES if group.get(family))
    device = {family: group[family]}
    is_disk = family == "hdd"
    size = group[family]["capacity"] if is_disk else SPAN
    jobs = [*disk_jobs(size), *judging_disk_jobs(size)] if is_disk else [*drive_jobs(size), *judging_jobs(size)]
    most = MAX_IOS_OF_DISK if is_disk else MAX_IOS
    reports = {}
    for number, job in enumerate(jobs, 1):
        reports[f"{number:02}-{job.name}.json"] = _report(device, job, size, most)
        progress(number / len(jobs))
    return reports


def _report(device: dict[str, object], job: Job, size: int, most_ios: int) -> str:
    limit_s = job.key.limit_ms / 1000
    # A burst into the buffer is limited by its time; all other jobs are limited by a number of requests.
    result = run(scenario(device, job.key, 10**8 if limit_s else most_ios, limit_s), seed=SEED)
    report = json.loads(result.text("fio-json+"))
    result.close()
    lines = (line.partition("=") for line in job.text("disk", "libaio", 1, size).splitlines()[1:])
    asked = {option: value for option, _, value in lines}
    # The jobs end after a number of requests, not after a time.
    if not limit_s:
        del asked["runtime"], asked["time_based"]
    report["jobs"][0]["job options"] = asked
    return json.dumps(report)
