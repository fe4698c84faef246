"""Data libraries take a table over through Arrow's capsules, and its memory lives exactly as long as needed."""

from __future__ import annotations

import gc
import subprocess
import sys
from array import array
from typing import TYPE_CHECKING, Any

import pytest

from runs import run_case
from seeklab import Table
from seeklab.data import arrow as _arrow

if TYPE_CHECKING:
    from collections.abc import Callable

pyarrow = pytest.importorskip("pyarrow", reason="pyarrow is not installed; `make lab` installs it")


@pytest.fixture
def table() -> Table:
    """Make a table with both column types."""
    return Table({"id": array("I", range(1000)), "latency_ns": array("d", (i / 4 for i in range(1000)))})


def test_pyarrow_reads_names_types_and_values(table: Table) -> None:
    taken = pyarrow.table(table)
    assert taken.schema.names == ["id", "latency_ns"]
    assert taken.schema.types == [pyarrow.uint32(), pyarrow.float64()]
    assert taken.column("latency_ns").to_pylist() == table["latency_ns"].tolist()
    taken.validate(full=True)


def test_the_schema_alone_can_be_asked_for(table: Table) -> None:
    assert pyarrow.schema(table) == pyarrow.table(table).schema


def test_the_memory_is_lent_and_not_copied(table: Table) -> None:
    chunk = pyarrow.table(table).column("latency_ns").chunk(0)
    with memoryview(table["latency_ns"]) as ours:
        address = pyarrow.py_buffer(ours).address
    assert chunk.buffers()[1].address == address


def test_the_memory_outlives_the_table_and_is_let_go_with_the_last_consumer(table: Table) -> None:
    before = len(_arrow.alive)
    column = pyarrow.table(table).column("latency_ns")
    expected = table["latency_ns"].tolist()
    del table
    gc.collect()
    assert len(_arrow.alive) > before
    assert column.to_pylist() == expected
    del column
    gc.collect()
    assert len(_arrow.alive) == before


def test_capsules_that_nobody_takes_release_what_they_hold(table: Table) -> None:
    before = len(_arrow.alive), len(_arrow.in_capsules)
    capsules = [table.__arrow_c_stream__(), table.__arrow_c_schema__()]
    assert len(_arrow.alive) > before[0]
    capsules.clear()
    gc.collect()
    assert (len(_arrow.alive), len(_arrow.in_capsules)) == before


def test_an_empty_table_keeps_its_columns() -> None:
    taken = pyarrow.table(Table({"id": array("I"), "latency_ns": array("d")}))
    assert taken.num_rows == 0
    assert taken.schema.names == ["id", "latency_ns"]


def test_a_consumer_that_lives_until_exit_does_no_harm() -> None:
    program = (
        "import pyarrow, seeklab; from array import array; "
        "kept = pyarrow.table(seeklab.Table({'a': array('d', range(9))})); print(kept.num_rows)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "9\n", "")


@pytest.mark.parametrize("library", ["polars", "pandas", "nanoarrow"])
def test_other_libraries_take_the_same_table(library: str, table: Table) -> None:
    module = pytest.importorskip(library, reason=f"{library} is optional and not installed")
    column: Callable[[], Any] = {
        "polars": lambda: module.DataFrame(table)["latency_ns"],
        "pandas": lambda: module.DataFrame.from_arrow(table)["latency_ns"],
        "nanoarrow": lambda: [row["latency_ns"] for row in module.ArrayStream(table).read_all().to_pylist()],
    }[library]
    assert sum(column()) == sum(table["latency_ns"])


def test_duckdb_asks_the_table_by_the_name_of_its_variable(table: Table) -> None:
    duckdb = pytest.importorskip("duckdb", reason="duckdb is optional and not installed")
    ops = table
    assert duckdb.sql("select sum(latency_ns) from ops").fetchall() == [(sum(ops["latency_ns"]),)]


def test_the_operation_log_of_a_run_crosses_whole() -> None:
    ops = run_case("odx-prefetch", "broken").ops
    taken = pyarrow.table(ops)
    assert taken.num_rows == len(ops) > 0
    assert taken.schema.names == list(ops.columns)
