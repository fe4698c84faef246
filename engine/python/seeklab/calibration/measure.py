"""Measurement on this machine with real fio: the jobs, their limits, checks, and the removal of the scratch file.

The file is created (`O_EXCL`, without following links) in a folder that the user names, filled with random data, and
removed at the end, also after an interrupt. A device is only read, with fio's `readonly`, and only if the user names it
with a separate option; it is never written.
"""

from __future__ import annotations

import os
import re
import shutil
import signal
import stat
import subprocess
from dataclasses import dataclass
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING

from seeklab._errors import Problem, SeeklabError
from seeklab.calibration.fio_results import MIN_FIO, read_results
from seeklab.calibration.plan import GIB, MIB, Job, disk_jobs, drive_jobs, judging_disk_jobs, judging_jobs
from seeklab.data.files import shown

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

SCRATCH = "seeklab-calibrate.scratch"
MIN_BYTES, MAX_BYTES = 256 * MIB, GIB
SHARE_OF_FREE = 0.05
KEPT_FREE_BYTES, KEPT_FREE_SHARE = 2 * GIB, 0.1
REPEATS = 3
START_S = 0.3
"""Time of fio's own start and end, per job."""
GIVE_UP_S = 60.0
IN_MEMORY = ("tmpfs", "ramfs")
STACKED = ("overlay", "fuse", "nfs", "9p", "zfs", "btrfs", "cifs")
NO_SPACE_LEFT, NO_PERMISSION, DISK_ERROR, INVALID = 28, 13, 5, 22


@dataclass(frozen=True)
class Target:
    """The file or device to measure."""

    path: Path
    size: int
    is_device: bool
    warnings: tuple[str, ...] = ()


def refuse(message: str) -> SeeklabError:
    """Return the error of a calibration that cannot start."""
    return SeeklabError([Problem("calibrate", message)])


def find_fio() -> str:
    """Return the path of fio; raise SeeklabError if it is missing or too old."""
    found = shutil.which("fio")
    if found is None:
        message = "fio is not on the PATH; install the package fio, or fit recorded reports with --from FOLDER"
        raise refuse(message)
    asked = subprocess.run([found, "--version"], capture_output=True, text=True, check=False)  # noqa: S603 -- found on the PATH
    said = asked.stdout.strip()
    numbers = re.match(r"fio-(\d{1,4})\.(\d{1,4})(?!\d)", said)
    if numbers is None or (int(numbers[1]), int(numbers[2])) < MIN_FIO:
        message = f'{found} is "{said}"; fio-{MIN_FIO[0]}.{MIN_FIO[1]} or later is needed'
        raise refuse(message)
    return found


def choose_file(folder: Path, size: int | None) -> Target:
    """Return the file to create; raise SeeklabError for folders that would not measure a device."""
    if not folder.is_dir():
        message = f"{shown(folder)} is not a folder; pass one on the disk you want to measure"
        raise refuse(message)
    kind = file_system(folder)
    if kind in IN_MEMORY:
        message = f"{shown(folder)} is in memory ({kind}), not on a disk; pass a folder on the disk you want to measure"
        raise refuse(message)
    space = shutil.disk_usage(folder)
    chosen = size or min(MAX_BYTES, round(space.free * SHARE_OF_FREE) // MIB * MIB)
    kept = max(KEPT_FREE_BYTES, KEPT_FREE_SHARE * space.total)
    if chosen < MIN_BYTES or space.free - chosen < kept:
        message = (
            f"a file of {chosen >> 20} MiB does not fit: {space.free >> 20} MiB are free in {shown(folder)}. At least "
            f"{round(kept) >> 20} MiB must stay free, and the file needs at least {MIN_BYTES >> 20} "
            "MiB. Free some space, or pass another folder"
        )
        raise refuse(message)
    stacked = any(kind.startswith(name) for name in STACKED)
    warnings = (f"{shown(folder)} is on {kind}: the result describes the whole stack, not a device",) if stacked else ()
    return Target(folder / SCRATCH, chosen, is_device=False, warnings=warnings)


def choose_device(path: Path) -> Target:
    """Return the device to read; raise SeeklabError if it is not a block device or is in use."""
    try:
        mode = path.stat().st_mode
    except OSError as error:
        message = f"{shown(path)}: {error.strerror}; pass a block device such as /dev/sdb"
        raise refuse(message) from None
    if not stat.S_ISBLK(mode):
        message = (
            f"{shown(path)} is not a block device; pass one such as /dev/sdb, or measure a file in a "
            "folder with --in FOLDER"
        )
        raise refuse(message)
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_EXCL)
    except OSError as error:
        message = (
            f"{shown(path)} cannot be opened exclusively: {error.strerror}; it is mounted, or part of "
            "something mounted, or you have no permission to read it"
        )
        raise refuse(message) from None
    try:
        size = os.lseek(descriptor, 0, os.SEEK_END)
    finally:
        os.close(descriptor)
    return Target(path, size, is_device=True)


def file_system(folder: Path) -> str:
    """Return the type of the file system of a folder; empty if the system does not report it."""
    try:
        mounts = Path("/proc/self/mountinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return ""
    wanted, best, kind = folder.resolve(), -1, ""
    for line in mounts:
        before, _, after = line.partition(" - ")
        point = Path(before.split()[4].replace("\\040", " "))
        if (wanted == point or point in wanted.parents) and len(str(point)) >= best:
            best, kind = len(str(point)), after.split()[0]
    return kind


def plan(target: Target, *, disk_like: bool, repeats: int, seconds_most: float) -> list[tuple[int, Job]]:
    """Return the jobs with the number of their repeat: repeats interleaved, as many as the time allows.

    Jobs that judge are never dropped; repeats are dropped first.
    """
    writes = not target.is_device
    fitted = disk_jobs(target.size, writes=writes) if disk_like else drive_jobs(target.size, writes=writes)
    judging = judging_disk_jobs(target.size, writes=writes) if disk_like else judging_jobs(target.size, writes=writes)
    for count in range(1 if disk_like else repeats, 0, -1):
        listed = [
            (repeat, job) for repeat in range(1, count + 1) for job in (fitted if repeat == 1 else _repeated(fitted))
        ]
        listed += [(repeat, job) for repeat in range(1, min(2, count) + 1) for job in judging]
        if duration_s(listed) <= seconds_most:
            return listed
    message = f"one pass of the jobs takes {duration_s(listed):.0f} s, more than --time-limit {seconds_most:.0f}s"
    raise refuse(message)


def _repeated(jobs: Sequence[Job]) -> list[Job]:
    """Return the jobs that are repeated: the short ones that only read."""
    return [job for job in jobs if job.key.rw == "randread"]


def duration_s(listed: Sequence[tuple[int, Job]]) -> float:
    """Return the duration of the jobs, in seconds."""
    return sum(job.seconds + START_S + (5.0 if job.rests else 0.0) for _, job in listed)


def written_bytes(listed: Sequence[tuple[int, Job]], size: int) -> int:
    """Return the maximum number of bytes written, including the file itself."""
    bursts = sum(256 * MIB for _, job in listed if job.key.limit_ms)
    return size + min(size, bursts + 100 * MIB)


def record(
    target: Target,
    listed: Sequence[tuple[int, Job]],
    folder: Path,
    progress: Callable[[float], object] | None = None,
) -> None:
    """Create the file, run the jobs with output in `folder`, and remove the file."""
    fio = find_fio()
    folder.mkdir(parents=True, exist_ok=True)
    with _scratch(target):
        if not target.is_device:
            _lay_out(fio, target, folder)
        engine = _engine(fio, target)
        start, whole = monotonic(), duration_s(listed)
        for repeat, job in listed:
            _run_one(
                fio,
                job.text(str(target.path), engine, repeat, target.size),
                folder / f"{job.name}.{repeat}",
                job,
                target,
            )
            if progress:
                progress(min(0.99, (monotonic() - start) / whole))


class _scratch:  # noqa: N801 -- used as a statement
    """The scratch file while it is needed; a signal removes it too."""

    def __init__(self, target: Target) -> None:
        self._target = target

    def __enter__(self) -> None:
        if self._target.is_device:
            return
        try:
            flags = os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_WRONLY
            os.close(os.open(self._target.path, flags, 0o600))
        except FileExistsError:
            message = (
                f"{shown(self._target.path)} exists: another calibration is running, or one was "
                "killed; if none is running, remove the file"
            )
            raise refuse(message) from None
        except OSError as error:
            message = f"{shown(self._target.path)} cannot be created: {error.strerror}"
            raise refuse(message) from None
        self._before = signal.signal(signal.SIGTERM, self._ended)

    def __exit__(self, *_: object) -> None:
        if not self._target.is_device:
            signal.signal(signal.SIGTERM, self._before)
            self._target.path.unlink(missing_ok=True)

    @staticmethod
    def _ended(*_: object) -> None:
        raise KeyboardInterrupt


def _lay_out(fio: str, target: Target, folder: Path) -> None:
    text = (
        f"[layout]\nfilename={target.path}\nrw=write\nbs=1m\niodepth=4\nioengine=libaio\ndirect=1\nsize={target.size}\n"
        "refill_buffers=1\nend_fsync=1\nallow_file_create=1\n"
    )
    code, said = _call(fio, text, folder / "layout.txt", ["--output-format=normal"], GIVE_UP_S * 10)
    if code:
        raise refuse(_reason(said, target))


def _engine(fio: str, target: Target) -> str:
    """Return an I/O engine that keeps requests in flight."""
    for engine in ("libaio", "io_uring"):
        options = f"ioengine={engine}\ndirect=1\nrw=randread\nbs=4k\niodepth=4\nsize={MIN_BYTES}\nnumber_ios=8\n"
        text = f"[try]\nfilename={target.path}\n{options}"
        code, said = _call(fio, text, Path(os.devnull), ["--readonly"], GIVE_UP_S)
        if not code:
            return engine
    raise refuse(_reason(said, target))


def _run_one(fio: str, text: str, path: Path, job: Job, target: Target) -> None:
    path.with_name(f"{path.name}.fio").write_text(text, encoding="utf-8")
    output = path.with_name(f"{path.name}.json")
    arguments = ["--output-format=json+", *(["--readonly"] if target.is_device else [])]
    code, said = _call(fio, text, output, arguments, job.seconds + GIVE_UP_S)
    if code and any(f"err={number}" in said or f"error={number}" in said for number in (DISK_ERROR, NO_SPACE_LEFT)):
        raise refuse(_reason(said, target))


def _call(fio: str, text: str, output: Path, arguments: Sequence[str], most_s: float) -> tuple[int, str]:
    # fio gets its own process group, so that all its processes end with it.
    process = subprocess.Popen(  # noqa: S603 -- found on the PATH
        [fio, *arguments, f"--output={output}", "-"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )
    try:
        said, _ = process.communicate(text, timeout=most_s)
    except BaseException as error:
        os.killpg(process.pid, signal.SIGTERM)
        process.wait(10)
        if isinstance(error, subprocess.TimeoutExpired):
            message = f"a job took more than {most_s:.0f} s; the disk is hung, or slower than any model"
            raise refuse(message) from None
        raise
    return process.returncode, said


def _reason(said: str, target: Target) -> str:
    name = shown(target.path)
    for number, words in (
        (NO_SPACE_LEFT, f"no space is left for {name}"),
        (NO_PERMISSION, f"you have no permission to open {name}"),
        (DISK_ERROR, f"the disk reported an error on {name}; check the kernel's log and save your data"),
        (INVALID, f"{name} cannot be opened with O_DIRECT, without the page cache; use another file system"),
    ):
        if f"err={number}" in said or f"error={number}" in said or f"errno={number}" in said:
            return words
    lines = [line for line in said.splitlines() if line.strip()]
    return f"fio failed on {name}: {lines[-1] if lines else 'without a message'}"


def looks_like_a_disk(folder: Path) -> bool | None:
    """Return whether the first reads of a recording look like a disk's; None without reads."""
    from seeklab.calibration.fit import is_disk

    try:
        return is_disk(read_results(folder))
    except SeeklabError:
        return None


def probe(target: Target) -> list[tuple[int, Job]]:
    """Return the one job that distinguishes a disk from a flash drive."""
    return [(1, drive_jobs(target.size, writes=False)[0])]


def names(listed: Sequence[tuple[int, Job]]) -> Iterator[str]:
    """Yield the jobs as readable text."""
    for repeat, job in listed:
        yield f"{job.name} (repeat {repeat}, {job.seconds:g} s): {job.key}"
