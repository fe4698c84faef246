"""The notebook's widgets as the kernel sees them; what the reader sees is tested in a browser."""

from __future__ import annotations

import pytest

import seeklab
from runs import run_case
from seeklab import SeeklabError

notebook = pytest.importorskip("seeklab.notebook", reason="anywidget is not installed; `make lab` installs it")

CASE = "odx-prefetch"


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
    assert "off by a factor 2" in prediction._told.value  # noqa: SLF001 -- what the reader sees
    assert "10 times." in prediction._told.value  # noqa: SLF001 -- what the reader sees


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


def test_printed_text_keeps_its_lines() -> None:
    text = notebook.Text("a < b\n")
    assert repr(text) == "a < b"
    assert "a &lt; b" in text._repr_html_()
