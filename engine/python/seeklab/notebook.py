"""Widgets for a notebook: the case's own chart with sliders, and a prediction to commit to.

The chart is the page's: one bundle with the engine inside, so that it simulates again in the browser while a slider
moves, even when the kernel is busy. The kernel learns the values when the slider is released.
"""

from __future__ import annotations

import html
import math
from importlib.resources import files
from typing import TYPE_CHECKING, Any

import anywidget
import ipywidgets
import traitlets

from seeklab import checks
from seeklab._case import Case, measure
from seeklab._case import case as load_case
from seeklab._chart import Bars, Lines
from seeklab._errors import EngineError, Problem, SeeklabError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from seeklab._result import Result


__all__ = ["Bars", "Lab", "Lines", "Prediction", "Rows", "Text", "explore", "lab", "predict"]


def _widget_script() -> str:
    bundle = files("seeklab").joinpath("_engine", "widget.js")
    try:
        return bundle.read_text(encoding="utf-8")
    except FileNotFoundError:
        message = f"The widget's bundle {bundle} is missing. Build it with `make lab`, or install the seeklab wheel."
        raise EngineError(message) from None


class Lab(anywidget.AnyWidget):
    """A case's chart with sliders. What the reader sets arrives in `variant`, `set`, `seed` and `result`."""

    case_id = traitlets.Unicode().tag(sync=True)
    variant = traitlets.Unicode().tag(sync=True)
    set = traitlets.Dict().tag(sync=True)
    """Values that differ from the variant's own, by path."""
    seed = traitlets.Int(1).tag(sync=True)
    view = traitlets.Unicode().tag(sync=True)
    """The view on the stage, such as `prefetch-strip`."""
    controls = traitlets.List(traitlets.Unicode()).tag(sync=True)
    """Paths of the sliders; empty for the case's own."""
    result = traitlets.Dict().tag(sync=True)
    """The summary of the run that is shown: metrics, units, fingerprint."""

    def __init__(self, **traits: Any) -> None:  # noqa: ANN401 -- the traits above
        """Load the bundle with the first widget, not with the module."""
        if not hasattr(type(self), "_esm"):
            type(self)._esm = _widget_script()  # noqa: SLF001 -- the name that anywidget prescribes
        super().__init__(**traits)

    @property
    def case(self) -> Case:
        """The case with the reader's changes."""
        return load_case(self.case_id).with_(self.set)

    def run(self) -> Result:
        """Run in the kernel what the chart shows; the fingerprint is the chart's."""
        return self.case.run(self.variant, seed=self.seed)


def lab(  # noqa: PLR0913 -- one parameter for each thing a notebook may choose
    case: str | Case,
    *,
    variant: str | None = None,
    view: str | None = None,
    controls: Sequence[str] | None = None,
    set: Mapping[str, object] | None = None,  # noqa: A002 -- the word of the command line and of the page
    seed: int = 1,
) -> Lab:
    """Show a case's chart with sliders. Everything left out is as the case has it."""
    chosen = case if isinstance(case, Case) else load_case(case)
    chosen = chosen.with_(set or {})
    chosen.scenario(variant)  # an unknown variant, path or value is told here, in the notebook's own cell
    document = chosen.document
    known_views = list(dict.fromkeys([document["view"], *document["views"]]))
    if view is not None and view not in known_views:
        raise SeeklabError([Problem("view", f'"{view}" is not a view of {chosen.id}; known: {", ".join(known_views)}')])
    return Lab(
        case_id=chosen.id,
        variant=variant or chosen.default_variant,
        set=dict(chosen.changes),
        seed=seed,
        view=view or document["view"],
        controls=list(controls or ()),
    )


class Prediction:
    """One question, one slider or choice, and a button to commit. Only then is the simulated answer computed and shown.

    `value` is None until the reader commits, and never changes afterwards.
    """

    def __init__(  # noqa: PLR0913 -- one parameter for each thing a question has
        self,
        question: str,
        answer: Callable[[], float | str],
        *,
        low: float = 0.0,
        high: float = 100.0,
        scale: str = "linear",
        unit: str = "",
        choices: Sequence[str] | None = None,
        reveal: str = "",
    ) -> None:
        """Ask. `answer` computes what the run gives, after the reader has committed; `reveal` may hold `{answer}`."""
        self.value: float | str | None = None
        """What the reader has committed to."""
        self.actual: float | str | None = None
        """What the run gives; None before."""
        self._compute = answer
        self._unit = unit
        self._reveal = reveal
        if choices:
            self._input = ipywidgets.RadioButtons(options=list(choices), value=None)
        elif scale == "log":
            low, high = _log10(low), _log10(high)
            self._input = ipywidgets.FloatLogSlider(
                value=10**low, min=low, max=high, step=(high - low) / 100, readout_format=".3g"
            )
        else:
            self._input = ipywidgets.FloatSlider(
                value=low, min=low, max=high, step=(high - low) / 100, readout_format=".3g"
            )
        self._input.layout = ipywidgets.Layout(width="32em")
        self._button = ipywidgets.Button(description="Commit", tooltip="Keep this prediction and see the answer")
        self._button.on_click(lambda _: self.commit())
        self._told = ipywidgets.HTML()
        label = ipywidgets.HTML(f"<b>{html.escape(question)}</b>")
        row = ipywidgets.HBox([self._input, ipywidgets.Label(unit), self._button])
        self.widget = ipywidgets.VBox([label, row, self._told])

    def commit(self, value: float | str | None = None) -> None:
        """Keep the prediction (the control's, unless it is given here) and show the answer with its distance."""
        if self.value is not None:
            return
        if value is not None:
            self._input.value = value
        if self._input.value is None:
            self._told.value = "Choose one first."
            return
        self.value = self._input.value
        self._input.disabled = self._button.disabled = True
        self._told.value = "Running ..."
        self.actual = self._compute()
        self._told.value = f"<p>{html.escape(self._distance())}</p>"

    def _distance(self) -> str:
        if self.value is None or self.actual is None:
            return ""
        if isinstance(self.actual, str) or isinstance(self.value, str):
            told = f"You said {self.value}; the run shows {self.actual}."
            answer = str(self.actual)
        else:
            answer = f"{self.actual:.3g}"
            verdict = checks.judge_prediction(self.value, self.actual)
            told = f"You said {self.value:.3g} {self._unit}; the run gives {answer} {self._unit}: {verdict.reason}."
        return f"{told} {self._reveal.replace('{answer}', answer)}".strip()

    def _repr_mimebundle_(self, **options: Any) -> Any:  # noqa: ANN401 -- as ipywidgets has it
        """Show the control in a notebook."""
        return self.widget._repr_mimebundle_(**options)


def predict(case: str | Case) -> Prediction:
    """Ask the case's own question. A question of one's own is a `Prediction`."""
    chosen = case if isinstance(case, Case) else load_case(case)
    ask = chosen.document["ask"]
    return Prediction(
        ask["question"],
        lambda: measure(chosen, ask["measure"]),
        low=ask["min"],
        high=ask["max"],
        scale=ask["scale"],
        unit=ask["unit"],
        reveal=ask["reveal"],
    )


def explore(show: Callable[..., object], **choices: Sequence[object]) -> ipywidgets.VBox:
    """Show what a function gives for the reader's choice of each argument, and again whenever one is changed.

    Numbers to choose from become a slider, words a list. The function runs in the kernel.
    """
    controls: dict[str, Any] = {}
    for name, values in choices.items():
        kind = ipywidgets.Dropdown if isinstance(values[0], str) else ipywidgets.SelectionSlider
        controls[name] = kind(
            options=list(values),
            description=name.replace("_", " "),
            style={"description_width": "8em"},
            layout=ipywidgets.Layout(width="32em"),
        )
    shown = ipywidgets.HTML()

    def draw(_change: object = None) -> None:
        try:
            found = show(**{name: control.value for name, control in controls.items()})
        except SeeklabError as error:
            shown.value = f"<p>{html.escape(str(error))}</p>"
            return
        as_html = getattr(found, "_repr_html_", None)
        shown.value = as_html() if callable(as_html) else f"<pre>{html.escape(str(found))}</pre>"

    for control in controls.values():
        control.observe(draw, names="value")
    draw()
    return ipywidgets.VBox([*controls.values(), shown])


def _log10(value: float) -> float:
    if value <= 0:
        raise SeeklabError([Problem("low", f"{value} cannot start a logarithmic slider; give a value above 0")])
    return math.log10(value)


class Rows:
    """A small table of words for a notebook: as HTML, and as text where that is all there is."""

    def __init__(self, head: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
        """Take the headings, and for each row what `str` makes of its cells."""
        self._head = [str(cell) for cell in head]
        self._rows = [[str(cell) for cell in row] for row in rows]

    def __repr__(self) -> str:
        """Give the table as text, in columns."""
        lines = [self._head, *self._rows]
        widths = [max(len(cell) for cell in column) for column in zip(*lines, strict=True)]
        return "\n".join(
            "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip() for line in lines
        )

    def _repr_html_(self) -> str:
        """Give the table as HTML."""
        head = "".join(f'<th style="text-align:left">{html.escape(cell)}</th>' for cell in self._head)
        body = "".join(
            "<tr>" + "".join(f'<td style="text-align:left">{html.escape(cell)}</td>' for cell in row) + "</tr>"
            for row in self._rows
        )
        return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


class Text:
    """What a tool has printed, in lines that a notebook does not break: those that are too long are scrolled."""

    def __init__(self, text: str) -> None:
        """Take the text, such as `result.text("oplog")`."""
        self._text = text.rstrip("\n")

    def __repr__(self) -> str:
        """Give the text itself."""
        return self._text

    def _repr_html_(self) -> str:
        """Give the text as HTML."""
        return f'<pre style="white-space:pre;overflow-x:auto;line-height:1.3">{html.escape(self._text)}</pre>'
