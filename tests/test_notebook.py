"""The notebook's widgets as the kernel sees them; what the reader sees is tested in a browser."""

from __future__ import annotations

import re
import subprocess
import sys
from array import array
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

import pytest

import seeklab
from runs import run_case
from seeklab import Problem, SeeklabError, Table
from seeklab._chart import PHASE_COLOURS, Bars, Lines
from seeklab._displays import show_session
from seeklab.oncall import Session
from sentences import numbers

if TYPE_CHECKING:
    from seeklab.notebook import Prediction

notebook = pytest.importorskip("seeklab.notebook", reason="anywidget is not installed; `make lab` installs it")

CASE = "odx-prefetch"


@pytest.fixture(autouse=True)
def in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep the record of commitments out of this folder."""
    monkeypatch.chdir(tmp_path)


def test_a_lab_starts_as_its_case_has_it() -> None:
    lab = seeklab.lab(CASE)
    document = seeklab.case(CASE).document
    assert (lab.case_id, lab.variant, lab.view) == (CASE, document["default_variant"], document["view"])
    assert (lab.set, lab.seed, lab.controls, lab.result) == ({}, 1, [], {})


def test_the_kernel_runs_what_the_chart_shows() -> None:
    lab = seeklab.lab(CASE, variant="broken", seed=4)
    lab.variant = "fixed"  # as when the reader clicks
    assert lab.run().fingerprint == run_case(CASE, "fixed", 4).fingerprint
    lab.set = {"volume.prefetch.chunk": 4 << 20}
    assert lab.run().fingerprint != run_case(CASE, "fixed", 4).fingerprint


@pytest.mark.parametrize(
    ("options", "wanted"),
    [
        ({"variant": "brokn"}, "broken"),
        ({"view": "prefetch"}, "prefetch-strip"),
        ({"set": {"volume.prefetch.chunck": 1}}, "chunk"),
    ],
)
def test_a_mistake_is_told_in_the_notebooks_own_cell(options: dict[str, object], wanted: str) -> None:
    with pytest.raises(SeeklabError, match=wanted):
        seeklab.lab(CASE, **options)


def numbers_told(prediction: Prediction) -> list[str]:
    """Return the numbers of the answer that the reader sees."""
    return numbers(re.sub("<[^>]*>", "", prediction._told.value))  # noqa: SLF001 -- what the reader sees


def test_a_prediction_is_answered_once_and_only_after_it_was_made() -> None:
    asked: list[None] = []

    def answer() -> float:
        asked.append(None)
        return 10.0

    prediction = notebook.Prediction("How much slower?", answer, low=1, high=100, scale="log", reveal="{answer} times.")
    assert (prediction.value, prediction.actual, asked) == (None, None, [])
    prediction.commit(5)
    prediction.commit(10)
    assert prediction.value == pytest.approx(5)
    assert prediction.actual == 10
    assert len(asked) == 1
    assert numbers_told(prediction) == ["5", "2", "10"]


@pytest.mark.parametrize(
    ("said", "given", "told"),
    [
        (1, 1_234_567, ["1", "1,234,567", "1,234,567"]),
        (0, 59.2, ["0", "59.2"]),
        (2, 2.001, ["2", "2"]),
    ],
)
def test_the_distance_is_told_without_exponents(said: float, given: float, told: list[str]) -> None:
    prediction = notebook.Prediction("How much?", lambda: given, low=0, high=10)
    prediction.commit(said)
    assert numbers_told(prediction) == told


def test_a_skipped_question_tells_its_answer_once() -> None:
    prediction = notebook.predict("bonnie-decoded")
    prediction.skip()
    told = prediction._told.value  # noqa: SLF001 -- what the reader sees
    assert told.count(f"{prediction.actual:.3g}") == 1
    assert prediction.skipped


def test_a_case_that_asks_for_bytes_is_asked_in_a_unit_that_its_answers_are_read_in() -> None:
    prediction = notebook.predict("dirty-sizing")
    prediction.skip()
    assert "1.04 GB" in prediction._told.value  # noqa: SLF001 -- what the reader sees


@pytest.mark.parametrize(
    ("given", "told"),
    [(1244.3, "1,244"), (99.97, "100"), (0.00123, "0.00123"), (70.0, "70"), (1.5, "1.5"), (0, "0"), (-2500, "-2,500")],
)
def test_a_number_is_told_without_an_exponent(given: float, told: str) -> None:
    asked = notebook.Prediction("How many?", lambda: given, name="many", low=1, high=10)
    asked.skip()
    assert numbers_told(asked) == [told.removeprefix("-")]


def test_a_choice_must_be_made_before_it_is_answered() -> None:
    prediction = notebook.Prediction("Which phase?", lambda: "queue", choices=["seek", "queue"])
    prediction.commit()
    untouched = prediction.value
    prediction.commit("seek")
    assert (untouched, prediction.value, prediction.actual) == (None, "seek", "queue")


def test_a_cases_own_question_is_answered_by_its_runs() -> None:
    prediction = seeklab.predict(CASE)
    prediction.commit(3)
    means = [run_case(CASE, variant).metrics["odx.read_latency_mean_ms"] for variant in ("broken", "fixed")]
    assert prediction.actual == pytest.approx(means[0] / means[1])


def test_a_table_of_words_is_text_and_html() -> None:
    rows = notebook.Rows(["disk", "reads"], [("disk0", 20), ("<b>", 3)])
    assert repr(rows) == "disk   reads\ndisk0  20\n<b>    3"
    assert "&lt;b&gt;" in rows._repr_html_()


def test_numbers_in_a_table_end_at_the_right_and_words_begin_at_the_left() -> None:
    rows = [("disk0", "1,204 KiB", "0.5 to 2", "-", "none yet"), ("2008", "17 KiB", "3", "4.1 %", "12")]
    shown = notebook.Rows(["disk", "read", "range", "share", "stall"], rows)._repr_html_()
    aligned = re.findall(r'<(?:td|th scope="row") style="text-align:(\w+)', shown)
    assert aligned == ["left", "right", "right", "right", "left"] * 2


def test_an_address_in_a_table_is_a_link() -> None:
    shown = notebook.Rows(["", ""], [("address", "https://example.org/a?b&c")])._repr_html_()
    assert '<a href="https://example.org/a?b&amp;c">https://example.org/a?b&amp;c</a>' in shown


def test_a_setting_is_written_as_prose_writes_it() -> None:
    assert [notebook.spaced(setting) for setting in ("64KiB", "20us", 0)] == ["64 KiB", "20 µs", "0"]


def test_printed_text_keeps_its_lines() -> None:
    text = notebook.Text("a < b\n")
    assert repr(text) == "a < b"
    assert "a &lt; b" in text._repr_html_()


def picture(chart: Lines | Bars) -> str:
    """Give the SVG in a chart's image."""
    return unquote(chart._repr_html_().partition("data:image/svg+xml,")[2])


def test_a_line_chart_is_a_table_and_a_picture_with_every_name() -> None:
    lines = notebook.Lines({"lru": [(1, 50.0), (10, 25.0)], "a<b": [(1, 40.0)]}, x="size", y="misses, %", log_x=True)
    assert repr(lines) == "misses, %\nsize  lru  a<b\n1     50   40\n10    25"
    drawn = picture(lines)
    assert drawn.count("<polyline") == 2
    assert "a&lt;b" in drawn


def test_the_names_of_lines_that_end_together_stand_apart_within_the_picture() -> None:
    name = "a rate that swings, as told by the last sync"
    drawn = picture(notebook.Lines({name: [(0, 0.0)], "b": [(0, 0.0)], "c": [(0, 0.0)]}, x="time", y="rate"))
    (width, height) = map(float, re.findall(r'viewBox="0 0 (\d+) (\d+)"', drawn)[0])
    labels = re.findall(r'x="([\d.]+)" y="([\d.]+)" text-anchor="start" fill="#1b1f24">([^<]+)<', drawn)
    heights = sorted(float(y) for _, y, _ in labels)
    assert len(labels) == 3
    assert all(b - a >= 15 for a, b in pairwise(heights))
    assert heights[-1] < height
    assert all(float(x) + 6 * len(words) < width for x, _, words in labels)


def test_numbers_on_an_axis_do_not_touch() -> None:
    drawn = unquote(Lines({"all": [(1, 1.0), (9800, 2.0)]}, x="n", y="m", log_x=True)._repr_html_())
    ticks = re.findall(r'x="([\d.]+)" y="276.0"[^>]*>([\d,]+)<', drawn)
    assert ("1,000" in dict(map(reversed, ticks)), "2,000" in dict(map(reversed, ticks))) == (True, False)


def test_a_chart_is_an_image_that_an_untrusted_notebook_keeps() -> None:
    shown = notebook.Lines({"a": [(1, 2.0)], 'b"<': [(2, 3.0)]}, x="size", y="misses, %")._repr_html_()
    assert "<svg" not in shown
    assert 'alt="misses, % by size. a: from 2 at 1 to 2 at 1; b&quot;&lt;: from 3 at 2 to 3 at 2"' in shown
    address = shown.partition('src="')[2].partition('"')[0]
    assert unquote(address).startswith("data:image/svg+xml,<svg xmlns=")
    assert unquote(address).endswith("</svg>")


class Headings(HTMLParser):
    """The cells of tables by their scope, and the captions."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: list[tuple[str, str]] = []
        self._open = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._open = {"th": str(dict(attrs).get("scope")), "td": "cell", "caption": "caption"}.get(tag, "")

    def handle_data(self, data: str) -> None:
        if self._open:
            self.found.append((self._open, data))

    def handle_endtag(self, _: str) -> None:
        self._open = ""


TABLES: dict[str, tuple[Any, list[tuple[str, str]]]] = {
    "rows": (
        notebook.Rows(["disk", "read"], [("sda", "1 KiB")]),
        [("col", "disk"), ("col", "read"), ("row", "sda"), ("cell", "1 KiB")],
    ),
    "a heading that is empty": (notebook.Rows(["", "x"], [("a", "b")]), [("col", "x"), ("row", "a"), ("cell", "b")]),
    "columns": (
        Table({"id": array("I", [7] * 9)}),
        [("caption", "8 of 9 rows"), ("col", "id"), *[("cell", "7")] * 8],
    ),
    "lines": (
        Lines({"lru": [(1, 50.0)]}, x="size", y="misses, %"),
        [("caption", "misses, %"), ("col", "size"), ("col", "lru"), ("row", "1"), ("cell", "50")],
    ),
    "bars": (
        Bars({"read": {"seek": 4.0}}, unit="ms"),
        [("caption", "ms"), ("col", "ms"), ("col", "seek"), ("col", "sum"), ("row", "read"), *[("cell", "4")] * 2],
    ),
}


@pytest.mark.parametrize("kind", TABLES)
def test_every_number_has_the_names_of_its_column_and_row(kind: str) -> None:
    shown, expected = TABLES[kind]
    assert Headings(shown._repr_html_()).found == expected


def test_the_numbers_of_a_run_have_the_names_of_column_and_row() -> None:
    found = Headings(seeklab.case("odx-prefetch").run()._repr_html_()).found
    assert [scope for scope, _ in found[:8]] == ["caption", *["col"] * 7]
    assert [scope for scope, _ in found[8:]] == [*["row", *["cell"] * 6] * (len(found[8:]) // 7)]


def test_what_follows_an_answer_or_a_change_is_spoken() -> None:
    asked = notebook.Prediction("How?", lambda: 8.0, name="spoken")
    asked.commit(8)
    told = asked.widget.children[-1].value
    box = notebook.explore(lambda size: f"{size} blocks", size=[1, 2])
    size, shown = box.children
    before = shown.value
    size.value = 2
    assert ('role="alert"' in told, 'role="alert"' in before, 'role="alert"' in shown.value) == (True, False, True)


def test_bars_show_the_phases_in_the_order_and_the_colours_of_the_page() -> None:
    page = (Path(__file__).parents[1] / "web" / "src" / "base" / "colours.ts").read_text(encoding="utf-8")
    meanings = {"queue": "waiting"}
    for phase, colour in PHASE_COLOURS.items():
        (line,) = (
            line for line in page.splitlines() if line.strip().startswith(f"{meanings.get(phase, phase)}: colour(")
        )
        assert colour in line
    bars = notebook.Bars({"read": {"seek": 4.0, "queue": 2.0, "memory": 0.0}}, unit="ms")
    assert repr(bars) == "ms    queue  seek  sum\nread  2      4     6"
    drawn = picture(bars)
    assert drawn.index(PHASE_COLOURS["queue"]) < drawn.index(PHASE_COLOURS["seek"])


def test_exploring_shows_what_the_function_gives_and_again_after_a_choice() -> None:
    def show(size: int, word: str) -> str:
        if word == "bad":
            raise SeeklabError([Problem("word", "unheard of")])
        return f"{size} {word}"

    box = notebook.explore(show, size=[1, 2, 4], word=["good", "bad"])
    size, word, shown = box.children
    assert "1 good" in shown.value
    size.value = 4
    assert "4 good" in shown.value
    word.value = "bad"
    assert "unheard of" in shown.value


def test_a_shift_is_answered_by_the_kernel_message_by_message(monkeypatch: pytest.MonkeyPatch) -> None:
    from seeklab.notebook._shift import ShiftWidget

    session = Session(7)
    widget = notebook.session_widget(session)
    assert notebook.session_widget(session) is widget
    sent: list[dict[str, Any]] = []
    monkeypatch.setattr(ShiftWidget, "send", lambda _, content: sent.append(content))
    messages: list[dict[str, Any]] = [{}, {"type": "about"}, {"type": "name 99"}, {"type": 7}]
    for number, asked in enumerate(messages):
        widget.answer(None, {"id": number, **asked}, [])
    assert [message["id"] for message in sent] == [0, 1, 2, 3]
    assert sent[0]["answer"]["ticket"] == repr(session)
    assert "host      nas1" in sent[1]["answer"]["answers"][0]["output"]
    assert "name NUMBER" in sent[2]["answer"]["answers"][0]["output"]
    assert "7: command not found" in sent[3]["answer"]["answers"][0]["output"]
    assert [entry["command"] for entry in session.document["commands"]] == ["about", "name 99", "7"]


SHOWN = """
from IPython.core.interactiveshell import InteractiveShell
shell = InteractiveShell.instance()
from seeklab.oncall import Session
print(*shell.display_formatter.format(Session(7))[0])
"""


def test_a_notebook_that_imports_on_call_alone_shows_a_session_as_a_widget() -> None:
    done = subprocess.run((sys.executable, "-c", SHOWN), capture_output=True, text=True, check=True)
    assert "application/vnd.jupyter.widget-view+json" in done.stdout.split()


def test_without_the_packages_for_widgets_a_session_is_shown_as_text(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "seeklab.notebook", None)
    assert show_session(Session(7)) is None
