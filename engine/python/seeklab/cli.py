"""The command line. Output is for people unless `--json` asks for one JSON document; errors are sentences on stderr.

Exit status: 0 done, 1 a check failed, 2 bad input, 70 a defect of Seeklab, 130 interrupted.
"""

from __future__ import annotations

import _thread
import argparse
import io
import json
import math
import os
import re
import shutil
import sys
import textwrap
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import seeklab
from seeklab._errors import EngineError, SeeklabError
from seeklab._progress import ProgressBar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from seeklab._result import Result

DONE, CHECK_FAILED, BAD_INPUT, DEFECT, INTERRUPTED = 0, 1, 2, 70, 130

TOOLS = (
    *("oplog", "histogram", "iostat", "iostat-json", "monitor", "monitor-json", "parted", "fio", "fio-json", "folded"),
    *("quantize", "lquantize", "packed", "dirty", "sync", "delays", "bonnie", "bonnie-csv", "analytics"),
)
"""Tools whose output the engine prints: of operations and devices, as fio, as DTrace's aggregations, as Bonnie++."""
SHOW_OPTIONS = ("by", "job", "skip", "limit", "window", "phase", "from", "to", "step")
TRACE_FORMATS = ("fio-iolog-v2", "fio-iolog-v3", "blkparse", "msr-cambridge", "seeklab-ops")
LARGEST_SEED = 2**53 - 1
MOST_COMPLAINTS = 20
MOST_SEEDS = 1_000_000
INTERRUPT_AGAIN_S = 0.01


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; the exit status."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")  # a terminal that cannot show a letter is no reason to fail
    options = _parser().parse_args(arguments)
    command: Callable[[argparse.Namespace], int] = options.command
    try:
        with _no_interrupt_lost():
            status = command(options)
        sys.stdout.flush()
    except SeeklabError as error:
        _complain(str(error))
        return BAD_INPUT
    except EngineError as error:
        _complain(str(error))
        return DEFECT
    except KeyboardInterrupt:
        _complain("interrupted")
        return INTERRUPTED
    except BrokenPipeError:
        # The reader has left (`seeklab ... | head`). Python would complain again when it flushes stdout at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return DONE
    except Exception as error:
        if os.environ.get("SEEKLAB_TRACEBACK"):
            raise
        _complain(
            f"a defect of Seeklab: {type(error).__name__}: {error}. "
            "Please report it with the output of the same command under SEEKLAB_TRACEBACK=1."
        )
        return DEFECT
    return status


@contextmanager
def _no_interrupt_lost() -> Iterator[None]:
    """Interrupt once more when an interrupt fell into a destructor, where Python reports exceptions and drops them.

    The host of the engine frees objects by destructors after each slice of a run.
    """
    report = sys.unraisablehook

    def again(dropped: sys.UnraisableHookArgs) -> None:
        if issubclass(dropped.exc_type, KeyboardInterrupt):
            threading.Timer(INTERRUPT_AGAIN_S, _thread.interrupt_main).start()
        else:
            report(dropped)

    sys.unraisablehook = again
    try:
        yield
    finally:
        sys.unraisablehook = report


def _complain(text: str) -> None:
    lines = text.splitlines()
    for line in lines[:MOST_COMPLAINTS]:
        print(f"seeklab: {line}", file=sys.stderr)
    if len(lines) > MOST_COMPLAINTS:
        print(f"seeklab: and {len(lines) - MOST_COMPLAINTS} more", file=sys.stderr)


# Commands


def _cases(options: argparse.Namespace) -> int:
    found = seeklab.cases()
    if options.json:
        names = ("id", "code", "title", "family", "source", "variants", "controls")
        _print_json([{name: case[name] for name in names if name in case} for case in found])
    else:
        _print_table(
            ("case", "variants", "title"), [(case["id"], ", ".join(case["variants"]), case["title"]) for case in found]
        )
    return DONE


def _run(options: argparse.Namespace) -> int:
    result = _run_case(options)
    if options.json:
        _print_json(_run_document(result))
        return DONE
    times = f"{result.simulated_s:.3f} s simulated in {result.wall_s:.3f} s"
    print(f"{result.case} {result.variant}, seed {result.seed}: {times}")
    _print_metrics(result)
    return DONE


def _print_metrics(result: Result) -> None:
    print(f"fingerprint {result.fingerprint}, {result.events} events")
    print()
    rows = [(name, _number(value), result.units.get(name, "")) for name, value in result.metrics.items()]
    _print_table(("metric", "value", "unit"), rows, right={1})


def _run_document(result: Result) -> dict[str, Any]:
    return {
        "case": result.case,
        "variant": result.variant,
        "seed": result.seed,
        "fingerprint": result.fingerprint,
        "metrics": dict(result.metrics),
        "events": result.events,
        "wall_s": result.wall_s,
    }


def _facts(options: argparse.Namespace) -> int:
    wanted = [seeklab.case(options.case)] if options.case else [seeklab.case(case["id"]) for case in seeklab.cases()]
    asked = [(case.id, fact["id"]) for case in wanted for fact in case.facts]
    rows: list[dict[str, Any]] = []
    with ProgressBar() as progress:
        for index, (case_id, fact_id) in enumerate(asked):
            progress(index / len(asked), fact_id)
            rows += seeklab.facts(case_id, fact_id)
    missed = [row for row in rows if not row["ok"]]
    if options.json:
        _print_json(rows)
    else:
        _print_table(
            ("fact", "kind", "documented", "simulated", "unit", "tolerance", "", "what"),
            [line for row in rows for line in _fact_lines(row)],
            right={2, 3},
        )
        for row in missed:
            if row["misses_because"]:
                print(f"\n{row['id']} misses because {row['misses_because']}")
        print(f"\n{len(rows) - len(missed)} of {len(rows)} facts hold.")
    return CHECK_FAILED if missed else DONE


def _fact_lines(row: Mapping[str, Any]) -> list[tuple[str, ...]]:
    """Write a fact, and below it those of its further checks that miss: a fact may miss by one of these alone."""
    missed = [{**check, "id": "", "kind": ""} for check in row["checks"] if not check["ok"]]
    return [_fact_line(line) for line in (row, *missed)]


def _fact_line(row: Mapping[str, Any]) -> tuple[str, ...]:
    documented = row["documented"]
    text = " to ".join(map(_number, documented)) if isinstance(documented, list) else _number(documented)
    held = "ok" if row["ok"] else "MISS"
    return (row["id"], row["kind"], text, _number(row["simulated"]), row["unit"], row["tolerance"], held, row["title"])


def _show(options: argparse.Namespace) -> int:
    if options.tool == "analytics":
        options.set = [*options.set, ("record.analytics", True)]
    result = _run_case(options)
    chosen = {name: getattr(options, name) for name in SHOW_OPTIONS if getattr(options, name) is not None}
    text = result.text(options.tool, **chosen)
    if options.json:
        _print_json({**_run_document(result), "tool": options.tool, "text": text})
    else:
        _print_text(text)
    return DONE


def _fio(options: argparse.Namespace) -> int:
    job = seeklab.fio(options.jobfile, options.on)
    for warning in job.warnings:
        _complain(f"note: {warning}")
    for item in job.ignored:
        _complain(f"note: [{item['job']}] {item['option']}={item['value']} is ignored: {item['reason']}")
    with ProgressBar() as progress:
        result = job.run(seed=options.seed, progress=progress)
    _print_text(job.report(result, options.output_format))
    return DONE


def _replay(options: argparse.Namespace) -> int:
    with ProgressBar() as progress:
        result = seeklab.replay(
            options.trace,
            options.on,
            mode=options.mode,
            iodepth=options.iodepth,
            format=options.format,
            target=options.target,
            scale=options.scale,
            seed=options.seed,
            progress=progress,
        )
    replayed = result.replay or {}
    if options.json:
        _print_json({**_run_document(result), "replay": dict(replayed)})
        return DONE
    for what, count in replayed["skipped"].items():
        _complain(f"note: not replayed: {count} {what}")
    if replayed["widened"]:
        _complain(f"note: {replayed['widened']} requests were widened to whole sectors of 512 bytes")
    what = f"{replayed['requests']} requests of a {replayed['format']} trace, {replayed['mode']}, on {options.on}"
    print(f"{what}: {result.simulated_s:.3f} s simulated in {result.wall_s:.3f} s")
    _print_metrics(result)
    return DONE


def _sweep(options: argparse.Namespace) -> int:
    case = seeklab.case(options.case)
    values = dict(options.set)
    table = seeklab.sweep(case, values, variants=options.variant, seeds=options.seeds)
    if options.json:
        rows = [{name: None if _is_missing(value) else value for name, value in row.items()} for row in table.rows()]
        _print_json(rows)
    elif options.csv:
        table.to_csv(sys.stdout)
    else:
        named = options.metric or re.findall(r"\{([^}]+)\}", str(case.document["sentence"]))
        shown = [*values, "seed", "variant", *(name for name in named if name in table)]
        lines = [[_cell(row[name]) for name in shown] for row in table.rows()]
        _print_table(shown, lines, right=[nth for nth, name in enumerate(shown) if not isinstance(table[name], tuple)])
    return DONE


def _is_missing(value: float | str) -> bool:
    return isinstance(value, float) and math.isnan(value)


def _cell(value: float | str) -> str:
    return value if isinstance(value, str) else _number(None if _is_missing(value) else value)


def _cache(options: argparse.Namespace) -> int:
    rows = seeklab.cache(
        options.trace,
        options.policy,
        options.size,
        objects=options.objects,
        one_in=options.one_in,
        block=options.block,
        format=options.format,
        target=options.target,
    )
    if options.json:
        _print_json([{name: row[name] for name in ("policy", "size", "requests", "hits")} for row in rows])
    else:
        lines = [
            (
                row["policy"],
                str(row["size"]),
                str(row["requests"]),
                str(row["hits"]),
                _share(row["hits"], row["requests"]),
            )
            for row in rows
        ]
        _print_table(("policy", "size", "requests", "hits", "hit %"), lines, right=(1, 2, 3, 4))
    return DONE


def _share(part: int, whole: int) -> str:
    return f"{100 * part / whole:.2f}" if whole else "-"


def _curve(options: argparse.Namespace) -> int:
    points = seeklab.curve(options.name, options.at, dict(options.set))
    if options.json:
        _print_json(points)
    else:
        lines = [(str(point["x"]), str(point["y"]), point["unit"]) for point in points]
        _print_table(("x", "y", "unit"), lines, right=(0, 1))
    return DONE


def _design(options: argparse.Namespace) -> int:
    prices = {name.removeprefix("prices."): value for name, value in options.set if name.startswith("prices.")}
    numbers = {name: value for name, value in options.set if not name.startswith("prices.")}
    pool = seeklab.design(prices=prices, **numbers)
    for warning in pool.warnings:
        _complain(f"note: {warning}")
    measured = []
    with ProgressBar() as progress:
        for nth, name in enumerate(pool.tests if options.run else ()):
            progress(nth / len(pool.tests), name)
            measured.append(pool.run(name, seed=options.seed))
    if options.json:
        found = [{"test": row.name, "value": row.value, "unit": row.unit, "binds": row.binds} for row in measured]
        _print_json({**pool.document, "measured": found} if options.run else pool.document)
        return DONE
    parts = [part for part in pool.document["parts"] if part["number"] or part["cost"]]
    lines = [(f"{part['title']}, {part['unit']}".rstrip(", "), part["number"], part["cost"]) for part in parts]
    shown = [(title, _number(number), _number(cost) if cost else "") for title, number, cost in lines]
    _print_table(("part", "number", "cost"), [*shown, ("all", "", _number(pool.cost))], right=(1, 2))
    held = f"{pool.capacity_bytes / 1e12:.1f} TB in {pool.document['layout']}"
    print(f"\n{held}. Prices are sample values; give yours.\n")
    values = {row.name: row for row in measured}
    rows = []
    for test in pool.document["tests"]:
        least, row = test["bounds"][0], values.get(test["name"])
        run = (_number(row.value), f"{100 * row.share:.0f} %", row.binds) if row else ("", "", least["what"])
        rows.append((test["title"], run[0], _number(least["most"]), run[1], test["unit"], run[2]))
    _print_table(("test", "measured", "at most", "", "unit", "binds"), rows, right=(1, 2, 3))
    return DONE


def _align(options: argparse.Namespace) -> int:
    found = seeklab.alignment(options.start, block=options.block, bs=options.bs)
    if options.json:
        _print_json(found)
    elif found["aligned"]:
        print(f"{found['start']} is aligned: a whole number of blocks of {found['block']} bytes.")
    else:
        print(f"{found['start']} is not aligned: {found['into_block']} bytes into a block of {found['block']} bytes.")
        print(
            f"A write of {found['bs']} bytes needs {found['extra_reads']} reads; {found['bytes_written']} are written."
        )
        print(f"Aligned starts nearest to it: {found['before']} and {found['after']}.")
    return DONE if found["aligned"] else CHECK_FAILED


def _validate(options: argparse.Namespace) -> int:
    found = seeklab.validate_drive(options.drive, options.trace)
    if options.json:
        _print_json(found)
        return DONE
    rows = [("all", found), ("reads", found["read"]), ("writes", found["write"])]
    names = ("requests", "mean_ms", "measured_mean_ms", "rms_ms")
    lines = [(title, *(_number(row[name]) for name in names), f"{100 * row['demerit']:.3f} %") for title, row in rows]
    print(found["drive"])
    _print_table(("class", "requests", "mean ms", "measured ms", "rms ms", "demerit"), lines, right=(1, 2, 3, 4, 5))
    print(f"{100 * found['within_300_us']:.1f} % of requests are within 0.3 ms of the measured time, one by one.")
    return DONE


def _presets(options: argparse.Namespace) -> int:
    found = seeklab.presets()
    if options.json:
        _print_json(found)
    else:
        _print_table(
            ("preset", "kind", "what"), [(preset["name"], preset["kind"], preset["title"]) for preset in found]
        )
        for preset in found:
            print()
            source = f"{preset['name']}: {preset['source']}"
            print(textwrap.fill(source, width=min(100, shutil.get_terminal_size().columns), subsequent_indent="  "))
    return DONE


def _schema(_options: argparse.Namespace) -> int:
    _print_json(seeklab.schema())
    return DONE


def _version(options: argparse.Namespace) -> int:
    versions = {"seeklab": seeklab.__version__, "engine": seeklab.engine_version()}
    if options.json:
        _print_json(versions)
    else:
        print(f"seeklab {versions['seeklab']}, engine {versions['engine']}")
    return DONE


# Reading the command line


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="seeklab",
        description="Reproduce documented storage incidents, and see what a change does.",
        epilog="Exit status: 0 done, 1 a fact misses, 2 bad input.",
        allow_abbrev=False,
    )
    commands = parser.add_subparsers(metavar="COMMAND", required=True)

    def add(
        name: str, command: Callable[[argparse.Namespace], int], text: str, *, json_option: bool = True
    ) -> argparse.ArgumentParser:
        added = commands.add_parser(name, help=text, description=text, allow_abbrev=False)
        added.set_defaults(command=command)
        if json_option:
            added.add_argument("--json", action="store_true", help="print one JSON document")
        return added

    def add_run_options(added: argparse.ArgumentParser) -> None:
        added.add_argument("case", metavar="CASE", help="a case's name; `seeklab cases` lists them")
        added.add_argument("--variant", metavar="V", help="a variant of the case; its default one when left out")
        added.add_argument(
            "--set",
            metavar="PATH=VALUE",
            action="append",
            default=[],
            type=_assignment,
            help="change a value of the scenario, such as volume.prefetch.chunk=4MiB; may be repeated",
        )
        add_seed(added)

    def add_seed(added: argparse.ArgumentParser) -> None:
        added.add_argument(
            "--seed", metavar="N", type=_seed, default=1, help="seed of the run's randomness (default 1)"
        )

    add("cases", _cases, "List the cases.")
    add_run_options(add("run", _run, "Run a case and print its metrics."))

    _add_sweep_options(add("sweep", _sweep, "Run a case at many values and seeds and print one table."))

    facts = add("facts", _facts, "Compare what the sources document with what the engine simulates.")
    facts.add_argument("case", metavar="CASE", nargs="?", help="one case; all when left out")

    show = add("show", _show, "Run a case and print what an observation tool would have shown.")
    add_run_options(show)
    _add_show_options(show)

    fio = add("fio", _fio, "Run a fio job file on a modelled device.", json_option=False)
    fio.add_argument("jobfile", metavar="JOBFILE", help="a fio job file; - reads the standard input")
    fio.add_argument("--on", metavar="PRESET", required=True, help="the device; `seeklab presets` lists them")
    fio.add_argument("--output-format", choices=("normal", "json"), default="normal", help="as fio's own option")
    add_seed(fio)

    replay = add("replay", _replay, "Replay a recorded trace on a modelled device.")
    _add_replay_options(replay)
    add_seed(replay)

    _add_cache_options(add("cache", _cache, "Count the hits of cache policies over a trace."))

    curve = add("curve", _curve, "Print points of a mechanism's own curve.")
    curve.add_argument("name", metavar="NAME", help="openzfs-delay, openzfs-async-writes or zfs2008-limit")
    curve.add_argument("--at", metavar="X,...", type=_list, required=True, help="points, such as 3435973836 or 3GiB")
    curve.add_argument(
        "--set",
        metavar="KEY=VALUE",
        action="append",
        default=[],
        type=_assignment,
        help="a setting of the curve, such as dirty_data_max=4GiB; may be repeated",
    )

    pool = add("design", _design, "Cost, capacity and bounds of a pool, and the eleven tests on it.")
    pool.add_argument(
        "--set",
        metavar="PART=NUMBER",
        action="append",
        default=[],
        type=_assignment,
        help="such as disks=24, memory_gib=64 or prices.disks=250; may be repeated",
    )
    pool.add_argument("--run", action="store_true", help="measure the tests too")
    add_seed(pool)

    _add_align_options(add("align", _align, "Check whether a partition starts at a whole block; exit 1 if not."))

    validate = add("validate", _validate, "Replay a measured drive's trace on the disk model.")
    validate.add_argument("drive", metavar="DRIVE.json", help="the drive's parameters")
    validate.add_argument("trace", metavar="TRACE.csv.gz", help="requests and their measured service times")

    add("presets", _presets, "List the modelled devices.")
    add("schema", _schema, "Print the JSON Schema of a scenario.", json_option=False)
    add("version", _version, "Print the versions of the package and of the engine.")
    return parser


def _add_sweep_options(added: argparse.ArgumentParser) -> None:
    added.add_argument("case", metavar="CASE", help="a case's name; `seeklab cases` lists them")
    added.add_argument(
        "--set",
        metavar="PATH=V1,V2,...",
        action="append",
        default=[],
        type=_tried,
        help="values to try, such as volume.prefetch.chunk=4MiB,8MiB; repeated, every combination is run",
    )
    added.add_argument("--variant", metavar="V,...", type=_list, help="variants to run; the default one when left out")
    added.add_argument("--seeds", metavar="N,M-N", type=_seeds, default=[1], help="such as 1-5 or 1,7 (default 1)")
    added.add_argument("--metric", metavar="M,...", type=_list, help="columns to print; the case's own when left out")
    added.add_argument("--csv", action="store_true", help="print every column as comma-separated values")


def _add_cache_options(cache: argparse.ArgumentParser) -> None:
    cache.add_argument("trace", metavar="TRACE", help="time,object,size lines or any trace that replay takes")
    cache.add_argument(
        "--policy", metavar="P,...", type=_list, required=True, help="lru, arc, ...; belady is the optimum"
    )
    cache.add_argument("--size", metavar="N,...", type=_list, required=True, help="bytes, such as 1000 or 4MiB")
    cache.add_argument("--objects", action="store_true", help="count objects in place of bytes")
    cache.add_argument("--one-in", metavar="N", type=int, default=1, help="sample one object in N (an estimate)")

    cache.add_argument("--block", metavar="N", help="bytes of a block of recorded requests (default 4KiB)")
    cache.add_argument("--format", choices=TRACE_FORMATS, help="the trace's format; its first line tells when left out")
    cache.add_argument("--target", metavar="NAME", help="one file or device of a trace that has several")


def _add_show_options(show: argparse.ArgumentParser) -> None:
    show.add_argument("--as", dest="tool", choices=TOOLS, required=True, help="the tool")
    show.add_argument("--by", choices=("time", "client", "device"), help="rows of the server's analytics")
    show.add_argument("--job", metavar="NAME", help="only this job in the operation log")
    show.add_argument("--skip", metavar="N", type=int, help="begin after so many lines of the operation log")
    show.add_argument("--limit", metavar="N", type=int, help="at most so many lines of the operation log (default 40)")
    show.add_argument("--window", metavar="TIME", help="what one point of the monitor stands for, such as 20s")
    show.add_argument("--phase", metavar="TIME", help="when the monitor's windows begin, such as 5.5s")
    for name, help_ in (("from", "start (default 0)"), ("to", "end (default 50, at most 1000)"), ("step", "width (1)")):
        show.add_argument(f"--{name}", metavar="MS", type=int, help=f"{help_} of lquantize's buckets")


def _add_align_options(align: argparse.ArgumentParser) -> None:
    align.add_argument("start", metavar="START", help="first byte, as 1536, 1MiB or, in sectors, 63s")
    align.add_argument("--block", metavar="SIZE", default="4096", help="physical block (default 4096)")
    align.add_argument("--bs", metavar="SIZE", default="1MiB", help="size of a write (default 1MiB)")


def _add_replay_options(added: argparse.ArgumentParser) -> None:
    kinds = "a fio iolog, blkparse text, MSR Cambridge CSV or ops CSV, gzipped or not"
    added.add_argument("trace", metavar="TRACE", help=kinds)
    added.add_argument("--on", metavar="PRESET", required=True, help="the device; `seeklab presets` lists them")
    modes = "issue at the recorded times, or when earlier requests complete: with the recorded pauses, or without"
    added.add_argument("--mode", choices=("open", "closed", "fast"), default="open", help=f"{modes} (default open)")
    added.add_argument("--iodepth", metavar="N", type=int, help="most in flight (default: closed 1, fast 32)")
    added.add_argument("--format", choices=TRACE_FORMATS, help="the trace's format; its first line tells when left out")
    added.add_argument("--target", metavar="NAME", help="one file or device of a trace that has several")
    added.add_argument("--scale", metavar="X", type=float, help="multiply the recorded times; 0.5 is twice as fast")


def _assignment(text: str) -> tuple[str, object]:
    """Read PATH=VALUE. A value is JSON where it can be (numbers, true, lists), and a word otherwise (8MiB, target)."""
    path, separator, value = text.partition("=")
    if not separator or not path:
        message = f"{text!r} is not PATH=VALUE; write, for example, volume.prefetch.chunk=4MiB"
        raise argparse.ArgumentTypeError(message)
    try:
        return path, json.loads(value, parse_constant=str)
    except ValueError:
        return path, value


def _tried(text: str) -> tuple[str, list[object]]:
    """Read PATH=V1,V2: each a value as in PATH=VALUE. A JSON list gives values that have commas themselves."""
    path, value = _assignment(text)
    if isinstance(value, list):
        return path, value
    return path, [_assignment(f"{path}={one}")[1] for one in _list(text.partition("=")[2])]


def _seeds(text: str) -> list[int]:
    """Read `1-5,9`."""
    seeds: list[int] = []
    for part in _list(text):
        first, dash, last = part.partition("-")
        low, high = _seed(first), _seed(last if dash else first)
        if not low <= high < low + MOST_SEEDS:
            message = f"{part!r} is not a range of seeds; write, for example, 1-5, at most {MOST_SEEDS} of them"
            raise argparse.ArgumentTypeError(message)
        seeds += range(low, high + 1)
    return seeds


def _list(text: str) -> list[str]:
    """Read `a,b,c`."""
    return [entry for entry in (part.strip() for part in text.split(",")) if entry]


def _seed(text: str) -> int:
    try:
        seed = int(text)
    except ValueError:
        seed = -1
    if not 0 <= seed <= LARGEST_SEED:
        message = f"{text!r} is not a seed; give a whole number from 0 to {LARGEST_SEED}"
        raise argparse.ArgumentTypeError(message)
    return seed


def _run_case(options: argparse.Namespace) -> Result:
    case = seeklab.case(options.case).with_(dict(options.set))
    with ProgressBar() as progress:
        result = case.run(options.variant, seed=options.seed, progress=progress)
    for warning in result.warnings:
        _complain(f"note: {warning.path}: {warning.message}")
    return result


# Writing


def _print_json(document: Any) -> None:  # noqa: ANN401 -- any JSON value
    print(json.dumps(document, indent=2, ensure_ascii=False, allow_nan=False))


def _print_text(text: str) -> None:
    print(text, end="" if text.endswith("\n") else "\n")


def _print_table(head: Sequence[str], rows: Iterable[Sequence[str]], right: Iterable[int] = ()) -> None:
    lines = [tuple(head), *(tuple(row) for row in rows)]
    widths = [max(len(line[column]) for line in lines) for column in range(len(head))]
    rights = set(right)
    for line in lines:
        cells = [
            cell.rjust(width) if column in rights else cell.ljust(width)
            for column, (cell, width) in enumerate(zip(line, widths, strict=True))
        ]
        print("  ".join(cells).rstrip())


def _number(value: float | None) -> str:
    """Write whole numbers in full and others with six digits."""
    if value is None:
        return "-"
    if isinstance(value, int) or float(value).is_integer():
        return f"{int(value)}"
    return f"{value:.6g}"


if __name__ == "__main__":
    sys.exit(main())
