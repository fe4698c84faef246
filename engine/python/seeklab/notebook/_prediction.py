"""A question before the run that answers it: a slider or a choice, how sure one is, and a button to commit.

A cell below begins with `after(prediction)` and shows nothing until the reader has committed or skipped.
"""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, Any

import ipywidgets

from seeklab._case import Case, measure
from seeklab._case import case as load_case
from seeklab._commitments import Commitment, first_commitment, keep
from seeklab._errors import Problem, SeeklabError
from seeklab.judge.evidence import factor_between
from seeklab.notebook._case_tables import format_value
from seeklab.notebook._gate import gates_are_open
from seeklab.notebook._stored import with_data
from seeklab.notebook._tables import paragraphs

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

NEAR = 1.5
"""A number counts as right within this factor; the question says so beside the confidence."""

BYTES = {"GB": 1e9, "MB": 1e6, "KB": 1e3, "B": 1.0}
"""Units for an answer in bytes: the largest of which the slider's low end is at least a tenth."""

READOUT = ",.3r"
"""How a slider shows its number: three digits, thousands apart, no exponent."""

SURE = (50, 60, 70, 80, 90, 95)
"""How sure one can say one is, in percent."""


class Prediction:
    """One question, one slider or choice, and a button to commit. Only then is the simulated answer computed and shown.

    `value` is None until the reader commits, and never changes afterwards; what was committed in this folder before is
    remembered.
    """

    def __init__(  # noqa: PLR0913 -- one parameter for each thing a question has
        self,
        question: str,
        answer: Callable[[], float | str],
        *,
        name: str = "",
        low: float = 0.0,
        high: float = 100.0,
        scale: str = "linear",
        unit: str = "",
        choices: Sequence[str] | None = None,
        because: dict[str, str] | None = None,
        reveal: str = "",
    ) -> None:
        """Ask. `answer` computes what the run gives, after the reader has committed; `reveal` may hold `{answer}`.

        `name` identifies the question in `commits.json`; without one it is made of the question's words. `because` says
        for each wrong choice why it is wrong.
        """
        self.name = name or re.sub(r"[^a-z0-9]+", "-", question.lower()).strip("-")[:60]
        self.value: float | str | None = None
        """What the reader has committed to."""
        self.actual: float | str | None = None
        """What the run gives; None before."""
        self.skipped = False
        self._question = question
        self._compute = answer
        self._unit = unit
        self._reveal = reveal
        self._choices = list(choices or ())
        self._because = because or {}
        if choices:
            self._input = ipywidgets.RadioButtons(options=self._choices, value=None)
            sure = "How sure are you?"
        else:
            sure = f"How sure are you to be within a factor {NEAR:g}?"
            self._input = _slider(low, high, scale)
        self._input.layout = ipywidgets.Layout(width="32em")
        self._sure = ipywidgets.Dropdown(
            options=[(f"{percent} %", percent) for percent in SURE], value=70, layout=ipywidgets.Layout(width="6em")
        )
        self._button = ipywidgets.Button(description="Commit", tooltip="Keep this prediction and see the answer")
        self._button.on_click(lambda _: self.commit())
        self._pass = ipywidgets.Button(description="Skip", tooltip="See the answer without a prediction")
        self._pass.on_click(lambda _: self.skip())
        self._told = ipywidgets.HTML()
        self.widget = ipywidgets.VBox(
            [
                ipywidgets.HTML(paragraphs(question, bold=True)),
                ipywidgets.HBox([self._input, ipywidgets.Label(unit)]),
                ipywidgets.HBox([ipywidgets.Label(sure), self._sure, self._button, self._pass]),
                self._told,
            ]
        )
        self._remember()

    @property
    def is_open(self) -> bool:
        """Whether the reader has neither committed nor skipped."""
        return self.value is None and not self.skipped

    def commit(self, value: float | str | None = None, confidence: int | None = None) -> None:
        """Keep the prediction (the control's, unless it is given here) and show the answer with its distance."""
        if not self.is_open:
            return
        if value is not None:
            self._input.value = value
        if self._input.value is None:
            self._told.value = "Choose one first."
            return
        self.value = self._input.value
        sure = self._sure.value if confidence is None else confidence
        self._close()
        kept = keep(Commitment(self.name, self.value, sure, near=self._near()))
        if not kept:
            self._told.value += paragraphs(
                "It could not be written to commits.json and is remembered until the kernel stops."
            )

    def skip(self) -> None:
        """Show the answer without a prediction; that it was skipped is kept."""
        if not self.is_open:
            return
        self.skipped = True
        self._close()
        keep(Commitment(self.name, None, skipped=True))

    def _remember(self) -> None:
        given = first_commitment(self.name)
        if given is None or gates_are_open():
            return
        if given.value is None or not self._takes(given.value):
            self.skipped = True
        else:
            self.value = given.value
        self._close()

    def _takes(self, value: float | str) -> bool:
        try:
            self._input.value = value
        except Exception:  # noqa: BLE001 -- whatever a widget raises at a value of another question's
            return False
        return True

    def _close(self) -> None:
        for control in (self._input, self._sure, self._button, self._pass):
            control.disabled = True
        self._told.value = "Running ..."
        self.actual = self._compute()
        self._told.value = paragraphs(self._distance(), "Now run the cells below.")

    def _near(self) -> bool | None:
        if self.value is None or self.actual is None:
            return None
        if isinstance(self.value, str) or isinstance(self.actual, str):
            return self.value == self.actual
        return factor_between(self.value, self.actual) <= NEAR

    def _distance(self) -> str:
        if self.actual is None:
            return ""
        answer = self.actual if isinstance(self.actual, str) else format_value(self.actual)
        reveal = self._reveal.replace("{answer}", answer)
        unit = f" {self._unit}" if self._unit else ""
        if isinstance(self.value, str) or isinstance(self.actual, str):
            return f"{self._choice_told(answer)} {reveal}".strip()
        you_said = "Skipped" if self.value is None else f"You said {format_value(self.value)}{unit}"
        off = "" if self.value is None else _off(self.value, self.actual)
        if self._reveal.startswith("{answer}"):
            return f"{you_said}{off}. The run gives {reveal}"
        if self.value is None:
            return f"{you_said}. The run gives {answer}{unit}. {reveal}".strip()
        return f"{you_said}; the run gives {answer}{unit}{off}. {reveal}".strip()

    def _choice_told(self, answer: str) -> str:
        if self.value is None:
            return f"Skipped. The run gives {answer}."
        if self.value == self.actual:
            return f"Right: {answer}."
        return f"You said {self.value}; the run shows {answer}. {self._because.get(str(self.value), '')}".rstrip()

    def _repr_mimebundle_(self, **options: Any) -> Any:  # noqa: ANN401 -- as ipywidgets has it
        """Show the control in a notebook, and keep the question in its file."""
        return with_data(
            self.widget._repr_mimebundle_(**options),
            "question",
            name=self.name,
            question=self._question,
            unit=self._unit,
            choices=self._choices,
            because=self._because,
        )


def predict(case: str | Case) -> Prediction:
    """Ask the case's own question. A question of one's own is a `Prediction`."""
    chosen = case if isinstance(case, Case) else load_case(case)
    ask = chosen.document["ask"]
    unit, size = ask["unit"], 1.0
    if unit == "B":
        unit, size = next(((name, size) for name, size in BYTES.items() if ask["min"] >= size / 10), (unit, size))
    return Prediction(
        ask["question"],
        lambda: measure(chosen, ask["measure"]) / size,
        name=chosen.id,
        low=ask["min"] / size,
        high=ask["max"] / size,
        scale=ask["scale"],
        unit=unit,
        reveal=ask["reveal"],
    )


def _off(value: float, actual: float) -> str:
    factor = factor_between(value, actual)
    if math.isinf(factor):
        return ""
    return ": exactly" if format_value(factor) == "1" else f": off by a factor {format_value(factor)}"


def _slider(low: float, high: float, scale: str) -> ipywidgets.FloatSlider | ipywidgets.FloatLogSlider:
    if scale == "log":
        low, high = _log10(low), _log10(high)
        return ipywidgets.FloatLogSlider(
            value=10**low, min=low, max=high, step=(high - low) / 100, readout_format=READOUT
        )
    return ipywidgets.FloatSlider(value=low, min=low, max=high, step=(high - low) / 100, readout_format=READOUT)


def _log10(value: float) -> float:
    if value <= 0:
        raise SeeklabError([Problem("low", f"{value} cannot start a logarithmic slider; give a value above 0")])
    return math.log10(value)
