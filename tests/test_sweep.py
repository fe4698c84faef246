"""A sweep: one table of many runs, the same on every executor, with every core at work."""

from __future__ import annotations

import csv
import io
import json
import math
import os
import subprocess
import sys
import threading
import tracemalloc
from array import array
from collections import deque
from concurrent.futures import Executor, Future, ProcessPoolExecutor
from multiprocessing import get_context
from time import perf_counter
from typing import TYPE_CHECKING, Any

import pytest

import seeklab
from seeklab import Table, _sweep
from seeklab.data.columns import TextColumn
from seeklab.engine.host import engine

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from conftest import CommandLine

CASE = "dirty-sizing"
PATH = "zfs.dirty_data_max"


def small() -> seeklab.Case:
    return seeklab.case(CASE)


def as_dictionaries(table: Table) -> list[dict[str, Any]]:
    return [{name: str(value) for name, value in row.items()} for row in table.rows()]


def test_each_row_is_the_run_of_its_values_and_the_seed_changes_fastest() -> None:
    table = seeklab.sweep(small(), {PATH: ["1GiB", "2GiB"]}, seeds=[3, 4], progress=False)
    assert table[PATH] == ("1GiB", "1GiB", "2GiB", "2GiB")
    assert table["seed"].tolist() == [3, 4, 3, 4]
    assert table.columns[:3] == (PATH, "seed", "variant")
    for row in table.rows():
        run = small().with_({PATH: row[PATH]}).run(seed=row["seed"])
        assert {name: row[name] for name in run.metrics} == dict(run.metrics)
        assert row["variant"] == run.variant


def test_variants_are_swept_by_name_and_numbers_stay_numbers() -> None:
    variants = small().variants[:2]
    table = seeklab.sweep(CASE, {PATH: [1 << 30, 1 << 31]}, variants=variants, progress=False)
    assert table["variant"] == variants * 2
    assert table[PATH].tolist() == [1 << 30, 1 << 30, 1 << 31, 1 << 31]


def test_a_sweep_of_seeds_alone_is_a_sweep() -> None:
    assert len(seeklab.sweep(CASE, {}, seeds=range(3), progress=False)) == 3


def test_progress_rises_to_one() -> None:
    told: list[float] = []
    seeklab.sweep(CASE, {}, seeds=range(4), progress=told.append)
    assert told == [0.25, 0.5, 0.75, 1.0]


@pytest.mark.parametrize(
    ("values", "options", "wanted"),
    [
        pytest.param({PATH: ["1GiB", "2q"]}, {}, [PATH, '"2q"', f"{PATH}=2q", "seed=1"], id="not a size"),
        pytest.param({"zfs.dirty_max": [1]}, {}, ["dirty_max", "zfs.dirty_max=1"], id="no such field"),
        pytest.param({"limits.events": [10**9, 9999]}, {}, ["limits.events=9999"], id="a limit"),
        pytest.param({PATH: "1GiB"}, {}, [PATH, "['1GiB']"], id="no list"),
        pytest.param({PATH: []}, {}, [PATH, "empty"], id="nothing to try"),
        pytest.param({PATH: [1]}, {"seeds": range(2_000_000)}, ["2000000 runs", "1000000"], id="too many"),
        pytest.param({}, {"variants": ["brokn"]}, ["brokn"], id="no such variant"),
        pytest.param({}, {"seeds": [-1]}, ["-1", "whole number"], id="not a seed"),
    ],
)
def test_a_sweep_that_cannot_be_says_which_run(
    values: dict[str, Any], options: dict[str, Any], wanted: list[str]
) -> None:
    with pytest.raises(seeklab.SeeklabError) as told:
        seeklab.sweep(CASE, values, progress=False, **options)
    for part in wanted:
        assert part in str(told.value)


def test_the_first_failure_calls_the_other_runs_off() -> None:
    with pytest.raises(seeklab.LimitExceeded):
        seeklab.sweep(CASE, {"limits.events": [1_000, *[10**9] * 3000]}, progress=False)
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("seeklab-sweep")]


class _AtOnce(Executor):
    """The least that an executor is."""

    def __init__(self) -> None:
        self.tasks = 0

    def submit(self, task: Callable[..., Any], /, *arguments: Any, **options: Any) -> Future[Any]:
        self.tasks += 1
        future: Future[Any] = Future()
        try:
            future.set_result(task(*arguments, **options))
        except BaseException as error:  # noqa: BLE001 -- what an executor does
            future.set_exception(error)
        return future


def test_any_executor_gives_the_same_table_in_few_tasks() -> None:
    executor = _AtOnce()
    alone = seeklab.sweep(CASE, {}, seeds=range(300), executor=executor, progress=False)
    assert executor.tasks == 150
    assert as_dictionaries(alone) == as_dictionaries(seeklab.sweep(CASE, {}, seeds=range(300), progress=False))


def test_processes_give_the_same_table_and_the_same_errors() -> None:
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as executor:
        there = seeklab.sweep(CASE, {PATH: ["1GiB", "2GiB"]}, seeds=[1, 2], executor=executor, progress=False)
        with pytest.raises(seeklab.SeeklabError, match="2q"):
            seeklab.sweep(CASE, {PATH: ["2q"]}, executor=executor, progress=False)
    here = seeklab.sweep(CASE, {PATH: ["1GiB", "2GiB"]}, seeds=[1, 2], progress=False)
    assert as_dictionaries(there) == as_dictionaries(here)


def test_a_dask_cluster_gives_the_same_table_and_the_same_errors(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    distributed = pytest.importorskip("distributed", reason="distributed is not installed; `make test` installs it")
    monkeypatch.chdir(tmp_path)
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, dashboard_address=None, local_directory=str(tmp_path)
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        there = seeklab.sweep(
            CASE, {PATH: ["1GiB", "2GiB"]}, seeds=[1, 2], executor=client.get_executor(), progress=False
        )
        with pytest.raises(seeklab.SeeklabError, match="2q"):
            seeklab.sweep(CASE, {PATH: ["2q"]}, executor=client.get_executor(), progress=False)
        assert {*client.run(os.getpid).values()}.isdisjoint({os.getpid()})
    here = seeklab.sweep(CASE, {PATH: ["1GiB", "2GiB"]}, seeds=[1, 2], progress=False)
    assert as_dictionaries(there) == as_dictionaries(here)


def test_under_pyodide_runs_go_one_after_the_other(monkeypatch: pytest.MonkeyPatch) -> None:
    def no_threads(*_: object) -> None:
        pytest.fail("a thread was asked for")

    wanted = seeklab.sweep(CASE, {}, seeds=[1, 2], progress=False)  # and the engine of this platform is loaded
    monkeypatch.setattr(_sweep, "ThreadPoolExecutor", no_threads)
    monkeypatch.setattr(sys, "platform", "emscripten")
    assert as_dictionaries(seeklab.sweep(CASE, {}, seeds=[1, 2], progress=False)) == as_dictionaries(wanted)


def test_as_many_runs_are_under_way_at_once_as_there_are_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    cores = _sweep.usable_cores()
    plain, met = _sweep.run_batch, threading.Barrier(cores)

    def meeting(*arguments: Any, **options: Any) -> Any:
        met.wait(300)
        return plain(*arguments, **options)

    monkeypatch.setattr(_sweep, "run_batch", meeting)
    assert len(seeklab.sweep(CASE, {}, seeds=range(3 * cores), progress=False)) == 3 * cores


def test_other_threads_of_python_work_while_a_run_is_inside_the_engine() -> None:
    stamps: deque[float] = deque()
    ended = threading.Event()

    def stamp() -> None:
        while not ended.wait(0.001):
            stamps.append(perf_counter())

    def in_the_middle_of_a_step() -> bool:
        stamps.clear()
        start = perf_counter()
        assert 0 < run.step(1_000_000) < 1
        third = (perf_counter() - start) / 3
        return any(start + third < at < start + 2 * third for at in list(stamps))

    job = {"name": "a", "rw": "randread", "size": "1GiB", "time_based": True, "runtime": "80000s"}
    run = engine().open_run({"scenario": {"jobs": [job], "devices": [{"preset": "nvme"}], "record": {"log": False}}})
    thread = threading.Thread(target=stamp)
    thread.start()
    worked = any(in_the_middle_of_a_step() for _ in range(20))  # on a busy machine it may not get a turn at once
    ended.set()
    thread.join()
    run.close()
    assert worked


def test_text_columns_cross_to_arrow_with_letters_of_any_width() -> None:
    pyarrow = pytest.importorskip("pyarrow", reason="pyarrow is not installed; `make lab` installs it")
    texts = ["1GiB", "", "µs", "缓存"]
    taken = pyarrow.table(Table({"size": TextColumn(texts), "n": array("I", range(4))}))
    taken.validate(full=True)
    assert taken.schema.types == [pyarrow.string(), pyarrow.uint32()]
    assert taken.column("size").to_pylist() == texts


def test_the_command_prints_one_json_document_of_rows(command_line: CommandLine) -> None:
    done = command_line("sweep", CASE, "--set", f"{PATH}=1GiB,2GiB", "--seeds", "1-2,5", "--json")
    rows = json.loads(done.stdout)
    assert [(row[PATH], row["seed"]) for row in rows] == [(size, n) for size in ("1GiB", "2GiB") for n in (1, 2, 5)]
    assert all(math.isfinite(row["client.write_mib_per_s"]) for row in rows)


def test_the_command_prints_csv_with_every_metric_and_a_table_of_the_cases_own(command_line: CommandLine) -> None:
    head, row = command_line("sweep", CASE, "--set", f"{PATH}=1GiB", "--csv").stdout.splitlines()
    assert head.startswith(f"{PATH},seed,variant,")
    assert len(head.split(",")) == len(row.split(",")) > 40
    shown = command_line("sweep", CASE, "--set", f"{PATH}=1GiB", "--metric", "zfs_groups").stdout.split()
    assert shown == [PATH, "seed", "variant", "zfs_groups", "1GiB", "1", "200-mb", "5"]


def test_the_rows_of_a_sweep_that_is_killed_are_there_as_far_as_it_came() -> None:
    command = [sys.executable, "-m", "seeklab.cli", "sweep", CASE, "--set", f"{PATH}=1GiB,2GiB", "--csv", "--seeds"]
    done = subprocess.run([*command, "1-3"], capture_output=True, text=True, check=True)
    whole = list(csv.DictReader(io.StringIO(done.stdout)))
    with subprocess.Popen([*command, "1-100000"], stdout=subprocess.PIPE, text=True) as running:
        assert running.stdout is not None
        lines = [running.stdout.readline() for _ in range(4)]
        running.kill()
    assert running.returncode != 0
    rows = list(csv.DictReader(lines))
    assert [row["seed"] for row in rows] == ["1", "2", "3"]
    for row, complete in zip(rows, whole, strict=False):
        both = row.keys() & complete.keys()
        assert len(both) > 40
        assert {name: row[name] for name in both} == {name: complete[name] for name in both}


def test_rows_come_in_order_and_lose_no_metric_that_the_header_lacks(command_line: CommandLine) -> None:
    values: dict[str, list[object]] = {
        "record.log": [False],
        PATH: ["1GiB", 1 << 30],
        "jobs[client].rw": ["write", "read"],
    }
    case = seeklab.case("dirty-sizing").with_({"jobs[client].runtime": "2s"})
    table = seeklab.sweep(case, values, seeds=[1, 2, 3], progress=False)
    streamed = _sweep.stream(case, values, seeds=[1, 2, 3], progress=False)
    rows = list(streamed.rows)
    assert streamed.may_have_more
    assert {name for row in rows for name in row} == {*table.columns} > {*streamed.columns}
    for row, wanted in zip(rows, table.rows(), strict=True):
        assert row == {name: value for name, value in wanted.items() if value == value}  # noqa: PLR0124 -- not NaN
    chosen = ("--set", "jobs[client].runtime=2s", "--set", "jobs[client].rw=write,read", "--seeds", "1-9")
    done = command_line("sweep", "dirty-sizing", "--csv", *chosen)
    written = list(csv.DictReader(io.StringIO(done.stdout)))
    assert all(len(row) == len(written[0]) and None not in row for row in written)
    assert "client.read_iops=" in written[-1]["more"]
    assert not written[0]["more"]


def test_a_million_requests_take_no_memory_before_they_are_made() -> None:
    values = {PATH: range(1000)}
    tracemalloc.start()
    points = _sweep._Points(small(), values, None, range(1000))  # noqa: SLF001 -- a run of all would take hours
    last, peak = points[len(points) - 1], tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert (len(points), last["set"][PATH], last["seed"]) == (1_000_000, 999, 999)
    assert [points[nth]["seed"] for nth in (0, 1, 1000)] == [0, 1, 0]
    assert peak < 1 << 20


def test_a_stream_that_is_closed_calls_its_runs_off() -> None:
    streamed = _sweep.stream(small(), {}, seeds=range(3000), progress=False)
    next(streamed.rows)
    streamed.rows.close()
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("seeklab-sweep")]


@pytest.mark.parametrize(
    ("arguments", "wanted"),
    [
        (["--set", f"{PATH}=1GiB,2q"], [f"{PATH}=2q", '"2q" is not a size']),
        (["--seeds", "5-1"], ["'5-1'", "1-5"]),
        (["--seeds", "x"], ["'x'", "whole number"]),
        (["--set", PATH], ["PATH=VALUE"]),
    ],
)
def test_the_command_names_path_and_value(command_line: CommandLine, arguments: list[str], wanted: list[str]) -> None:
    done = command_line("sweep", CASE, *arguments)
    assert (done.returncode, done.stdout) == (2, "")
    for part in wanted:
        assert part in done.stderr
