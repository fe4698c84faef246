"""A question before the run that answers it: a slider or a choice, a confidence, and a button to commit.

A cell below starts with `after(prediction)` and shows nothing until the reader has committed or skipped.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import ipywidgets

from seeklab._case import Case, measure
from seeklab._case import case as load_case
from seeklab._commitments import Commitment, first_commitment, keep
from seeklab._question import NEAR, Question
from seeklab.data.format import format_number
from seeklab.notebook._choice import Choice
from seeklab.notebook._gate import fill_places, gates_are_open
from seeklab.notebook._number import Number
from seeklab.notebook._stored import with_data
from seeklab.notebook._tables import CONTROLS, announced

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

SURE = (10, 25, 50, 60, 70, 80, 90, 95)
"""The confidence levels that a reader may choose, in percent; those up to a mere guess are left out."""

WHOLE_LABEL = {"description_width": "initial"}
"""A label as wide as its text. The label of a control is its name for a screen reader."""


class Prediction:
    """One question, one slider or choice, and a button to commit. Only then is the simulated answer computed and shown.

    `value` is None until the reader commits, and never changes afterwards. Predictions already committed in this
    folder are restored.
    """

    def __init__(
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
        """Ask. `answer` computes the run's result, after the reader has committed; `reveal` may contain `{answer}`.

        `name` identifies the question in `commits.json`; by default it is made of the question's words. `because` has
        the reason for each wrong choice.
        """
        self.name = name or re.sub(r"[^a-z0-9]+", "-", question.lower()).strip("-")[:60]
        self.value: float | str | None = None
        """The committed prediction."""
        self.actual: float | str | None = None
        """The result of the run; None before it."""
        self.skipped = False
        self._question = Question(
            question, low, high, scale, unit, choices=list(choices or ()), because=because or {}, reveal=reveal
        )
        self._measure = answer
        if choices:
            self._input: Any = Choice(legend=question, options=list(choices))
            sure, guess = "How sure are you?", round(100 / len(choices))
        else:
            near = (
                f"{format_number(self._question.tolerance)} {unit}".rstrip()
                if scale == "linear"
                else f"a factor {NEAR:g}"
            )
            sure, guess = f"How sure are you to be within {near}?", 0
            self._input = Number(legend=question, low=low, high=high, is_log=scale == "log", unit=unit)
        self._input.layout = ipywidgets.Layout(width="40em")
        self._sure = ipywidgets.Dropdown(
            options=[("no idea", guess), *((f"{percent}%", percent) for percent in SURE if percent > guess)],
            value=guess,
            description=sure,
            style=WHOLE_LABEL,
            layout=ipywidgets.Layout(width="max-content"),
        )
        self._button = ipywidgets.Button(description="Commit", tooltip="Keep this prediction and see the answer")
        self._button.on_click(lambda _: self.commit())
        self._pass = ipywidgets.Button(description="Skip", tooltip="See the answer without a prediction")
        self._pass.on_click(lambda _: self.skip())
        self._told = ipywidgets.HTML()
        self.widget = ipywidgets.VBox(
            [
                self._input,
                ipywidgets.HBox([self._sure, self._button, self._pass]),
                self._told,
            ]
        )
        self.widget.add_class(CONTROLS)
        self._remember()

    @property
    def is_open(self) -> bool:
        """Whether the reader has neither committed nor skipped."""
        return self.value is None and not self.skipped

    def commit(self, value: float | str | None = None, confidence: int | None = None) -> None:
        """Keep the prediction (by default the control's) and show the answer with the distance."""
        if not self.is_open:
            return
        if value is not None:
            self._input.value = value
        if self._input.value is None:
            self._told.value = announced("Choose one first.")
            return
        self.value = self._input.value
        sure = self._sure.value if confidence is None else confidence
        self._close()
        near = None if self.actual is None else self._question.is_near(self.value, self.actual)
        kept = keep(Commitment(self.name, self.value, sure, near=near))
        if not kept:
            self._told.value += announced(
                "It could not be written to commits.json, so it is kept only until the kernel stops."
            )
        fill_places()

    def skip(self) -> None:
        """Show the answer without a prediction, and record the skip."""
        if not self.is_open:
            return
        self.skipped = True
        self._close()
        keep(Commitment(self.name, None, skipped=True))
        fill_places()

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
        except Exception:  # noqa: BLE001 -- a widget may raise any error for another question's value
            return False
        return True

    def _close(self) -> None:
        for control in (self._input, self._sure, self._button, self._pass):
            control.disabled = True
        self._told.value = "Running ..."
        self.actual = self._measure()
        self._told.value = announced(self._question.compare(self.value, self.actual))

    def _repr_mimebundle_(self, **options: Any) -> Any:
        """Show the control in a notebook, and keep the question in its file."""
        return with_data(
            self.widget._repr_mimebundle_(**options),
            "question",
            name=self.name,
            question=self._question.text,
            unit=self._question.unit,
            choices=self._question.choices,
            because=self._question.because,
        )


def predict(case: str | Case) -> Prediction:
    """Ask the case's own question. For your own question, use `Prediction`."""
    chosen = case if isinstance(case, Case) else load_case(case)
    asked = Question.of_case(chosen)
    return Prediction(
        asked.text,
        lambda: measure(chosen, chosen.document["ask"]["measure"]) / asked.unit_size,
        name=chosen.id,
        low=asked.low,
        high=asked.high,
        scale=asked.scale,
        unit=asked.unit,
        reveal=asked.reveal,
    )
