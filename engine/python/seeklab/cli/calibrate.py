"""`seeklab calibrate`: a preset of your device, from recorded or new fio runs."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from seeklab import _user_presets
from seeklab._errors import Problem, SeeklabError
from seeklab._progress import ProgressBar
from seeklab._saving import write_whole
from seeklab.calibration import measure
from seeklab.calibration.fio_results import read_results
from seeklab.calibration.fit import Calibration, calibrate
from seeklab.calibration.plots import page, svg
from seeklab.cli import _values
from seeklab.cli._exit import CHECK_FAILED, DONE
from seeklab.cli._output import complain, print_json, print_table
from seeklab.data.files import shown

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Sequence

    from seeklab.calibration.plan import Job
    from seeklab.cli._commands import Commands

MAX_S = 600.0


def add(commands: Commands) -> None:
    """Add the command."""
    text = "Fit a preset to a device, from live or recorded fio runs, and report the quality of the fit."
    added = commands.add("calibrate", run, text)
    source = added.add_mutually_exclusive_group(required=True)
    source.add_argument("--from", dest="recorded", metavar="FOLDER", help="fit the fio reports (json+) in this folder")
    source.add_argument(
        "--in", dest="folder", metavar="FOLDER", help="measure now with fio, on a scratch file in this folder"
    )
    source.add_argument(
        "--device", metavar="PATH", help="read this whole block device now with fio; nothing is written to it"
    )
    added.add_argument("--out", metavar="FILE", help="write the preset here (default: where --on mine finds it)")
    added.add_argument("--name", metavar="NAME", default=_user_presets.MINE, help="name of the preset (default mine)")
    added.add_argument("--page", metavar="FILE", help="write the evidence as a page (.html), or only the chart (.svg)")
    added.add_argument("--capacity", metavar="SIZE", help="capacity of the device, such as 1TB")
    added.add_argument("--family", choices=("lun", "ssd", "hdd"), help="fit this device family instead of the best one")
    added.add_argument("--size", metavar="SIZE", type=_bytes, help="size of the scratch file, such as 512m")
    added.add_argument("--keep", metavar="FOLDER", help="keep fio's reports here")
    added.add_argument(
        "--time-limit", metavar="S", type=_values.whole, default=round(MAX_S), help="time limit for fio (default 600)"
    )
    added.add_argument(
        "--repeats", metavar="N", type=_values.whole, default=measure.REPEATS, help="repeats of each read (default 3)"
    )
    added.add_argument("--dry-run", action="store_true", help="print the jobs and exit")
    added.add_argument("--yes", action="store_true", help="do not ask for confirmation")
    added.add_argument(
        "--accept-noise", action="store_true", help="fit a noisy recording too; the preset is marked as rough"
    )


def run(options: Namespace) -> int:
    """Calibrate."""
    if options.recorded:
        return _fit(options, Path(options.recorded))
    target = (
        measure.choose_device(Path(options.device))
        if options.device
        else measure.choose_file(Path(options.folder), options.size)
    )
    if options.dry_run:
        listed = _listed(options, target, disk_like=False)
        _announce(target, listed)
        for line in measure.names(listed):
            print(line)
        for _, job in listed:
            print(f"\n# {job.name}\n{job.text(str(target.path), 'libaio', 1, target.size)}", end="")
        return DONE
    measure.find_fio()
    _announce(target, _listed(options, target, disk_like=False))
    if not options.yes and not _agreed():
        return DONE
    if options.keep:
        return _measure(options, target, Path(options.keep))
    with tempfile.TemporaryDirectory(prefix="seeklab-calibrate-") as folder:
        return _measure(options, target, Path(folder))


def _listed(options: Namespace, target: measure.Target, *, disk_like: bool) -> list[tuple[int, Job]]:
    return measure.plan(target, disk_like=disk_like, repeats=max(1, options.repeats), seconds_most=options.time_limit)


def _announce(target: measure.Target, listed: Sequence[tuple[int, Job]]) -> None:
    for warning in target.warnings:
        complain(f"note: {warning}")
    what = (
        "is read; nothing is written to it"
        if target.is_device
        else (
            f"is created with {target.size >> 20} MiB and removed at the end; at most "
            f"{measure.written_bytes(listed, target.size) >> 20} MiB are written"
        )
    )
    complain(
        f"{shown(target.path)} {what}. {len(listed)} jobs take about "
        f"{measure.duration_s(listed):.0f} s. Run nothing else meanwhile."
    )


def _agreed() -> bool:
    if sys.stdin is None or not sys.stdin.isatty():
        message = "needs confirmation, but stdin is not a terminal; pass --yes"
        raise SeeklabError([Problem("calibrate", message)])
    return input("Continue? [y/N] ").strip().lower() in ("y", "yes")


def _measure(options: Namespace, target: measure.Target, folder: Path) -> int:
    with ProgressBar() as progress:
        listed = _listed(options, target, disk_like=False)
        first, rest = listed[:1], listed[1:]
        with tempfile.TemporaryDirectory(prefix="seeklab-probe-") as probe:
            measure.record(target, first, Path(probe))
            disk_like = measure.looks_like_a_disk(Path(probe))
        measure.record(
            target, _listed(options, target, disk_like=True) if disk_like else [*first, *rest], folder, progress
        )
    return _fit(options, folder)


def _fit(options: Namespace, folder: Path) -> int:
    results = read_results(folder)
    with ProgressBar() as progress:
        found = calibrate(
            results,
            capacity=options.capacity,
            family=options.family,
            accept_noise=options.accept_noise,
            progress=progress,
        )
    if options.json:
        print_json(found.document())
    else:
        _print(found)
    title = f"{found.family.upper()} measured"
    if options.page:
        _write(Path(options.page), svg(found) if options.page.endswith(".svg") else page(found, title))
    if not found.fits():
        complain("no model fits; no preset written")
        return CHECK_FAILED
    out = Path(options.out) if options.out else _user_presets.folder() / f"{options.name}.toml"
    _write(out, found.preset_toml(options.name))
    complain(f"note: the preset is in {shown(out)}; use it with --on {options.out or options.name}")
    return DONE


def _print(found: Calibration) -> None:
    print(f"{found.verdict}.\n")
    for name, verdict in found.others.items():
        print(f"As a {name}: {verdict}.")
    rows = [(item.name, item.value, item.how, item.why) for item in found.parameters]
    print_table(("parameter", "value", "how", "why"), rows)
    print()
    lines = [
        (
            str(check.job.key),
            "held out" if check.held_out else "",
            *(f"{value:.4g}" for value in (check.job.mean, check.simulated.mean)),
            f"{check.mean_error:+.1f}",
            *(f"{value:.4g}" for value in (check.job.q(99), check.simulated.q(99))),
            f"{check.p99_error:+.1f}",
        )
        for check in found.checks
    ]
    head = ("job", "", "mean, us", "simulated", "off, %", "p99, us", "simulated", "off, %")
    print_table(head, lines, right=range(2, len(head)))
    for warning in found.warnings:
        complain(f"note: {warning}")
    for reason in found.results.left_out if found.results else []:
        complain(f"note: not used: {reason}")


def _write(path: Path, text: str) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, text)
    except OSError as error:
        raise SeeklabError([Problem(shown(path), f"{error.strerror}; pass a file that can be written")]) from None


def _bytes(text: str) -> int:
    import argparse

    from seeklab.calibration.fio_results import PREFIXES, SIZE

    found = SIZE.fullmatch(text)
    if not found:
        message = f'"{text}" is not a size; write 512m or 1g'
        raise argparse.ArgumentTypeError(message)
    return int(found[1]) * PREFIXES[found[2].lower()]
