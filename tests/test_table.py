"""A table gives its columns without a copy, and writes itself for people and for spreadsheets."""

from __future__ import annotations

import io
import re
from array import array
from typing import TYPE_CHECKING

import pytest

from seeklab import Table
from seeklab.data.columns import TextColumn

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def table() -> Table:
    """Three operations."""
    return Table({"id": array("I", [0, 1, 2]), "latency_ns": array("d", [1.5, 2_000_000.0, 3.25])})


def test_a_column_is_a_read_only_view_of_its_memory(table: Table) -> None:
    column = table["latency_ns"]
    assert column.format == "d"
    assert column.tolist() == [1.5, 2_000_000.0, 3.25]
    with pytest.raises(TypeError):
        column[0] = 0.0


def test_rows_come_as_dictionaries_in_order(table: Table) -> None:
    assert len(table) == 3
    assert list(table.rows())[1] == {"id": 1, "latency_ns": 2_000_000.0}


def test_an_unknown_column_is_told_with_the_known_ones(table: Table) -> None:
    with pytest.raises(KeyError, match="id, latency_ns"):
        table["latency"]


def test_csv_goes_to_a_path_or_an_open_file_and_keeps_every_digit(table: Table, tmp_path: Path) -> None:
    text = io.StringIO()
    table.to_csv(text)
    table.to_csv(tmp_path / "ops.csv")
    assert text.getvalue() == "id,latency_ns\n0,1.5\n1,2000000\n2,3.25\n"
    assert (tmp_path / "ops.csv").read_text(encoding="utf-8") == text.getvalue()


def test_a_notebook_shows_the_first_rows_and_says_how_many_there_are() -> None:
    shown = Table({"id": array("I", range(100))})._repr_html_()
    assert ">7</td>" in shown
    assert ">8</td>" not in shown
    assert "8 of 100 rows" in shown


def test_columns_of_different_lengths_are_refused() -> None:
    with pytest.raises(ValueError, match=r"found \[1, 2\]"):
        Table({"a": array("I", [1]), "b": array("I", [1, 2])})


def test_texts_are_shown_as_they_are_and_a_missing_number_as_nothing() -> None:
    table = Table({"size": TextColumn(["1GiB", "<b>"]), "n": array("d", [float("nan"), 2.0])})
    text = io.StringIO()
    table.to_csv(text)
    assert text.getvalue() == "size,n\n1GiB,\n<b>,2\n"
    assert re.search(r">1GiB</th><td[^>]*></td>", table._repr_html_())
    assert "&lt;b&gt;" in table._repr_html_()
