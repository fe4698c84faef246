"""A learner's start page in a notebook: what is next, what is known, and three questions."""

from __future__ import annotations

import random
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import ipywidgets

from seeklab._commitments import all_attempts, commitments
from seeklab.course import known as progress
from seeklab.inventory.misconceptions import MISCONCEPTIONS
from seeklab.notebook._prediction import Prediction
from seeklab.notebook._tables import Rows, paragraphs

if TYPE_CHECKING:
    from collections.abc import Sequence

    from seeklab.course.known import Known, Step

DOTS = 5


def where() -> tuple[list[Step], dict[str, float]]:
    """Return the steps of the course, and the share of each notebook that is done, by its key."""
    course = progress.steps()
    given, solved = commitments(), progress.solved_tasks(all_attempts())
    return course, {step.key: progress.done(step, given, solved) for step in course}


class You:
    """The learner's progress: the next notebook, the notebooks of each week, and the concepts met so far."""

    def __init__(self) -> None:
        """Read the commitments of this folder."""
        self.course, self.shares = where()
        self.next = progress.next_step(self.course, self.shares)
        self.known = progress.known(commitments())

    @property
    def week(self) -> int:
        """The week of the next notebook."""
        return self.next[0].week if self.next else self.course[-1].week

    @property
    def advice(self) -> str:
        """The next notebook and the reason, as a sentence."""
        if self.next is None:
            return "You have done all notebooks. Practise with the three questions and on-call shifts."
        step, why = self.next
        part = f", {step.part}" if step.part else ""
        return f"Next: {step.number} {step.title}{part} ({step.minutes:.0f} minutes), because {why}."

    def notebooks(self) -> Rows:
        """Return the notebooks of the course with the share that is done."""
        rows = []
        for step in self.course:
            share = self.shares[step.key]
            state = "done" if share >= 1 else f"{100 * share:.0f}%" if share else "optional" if step.optional else ""
            rows.append((step.week, step.number, step.title, step.part, f"{step.minutes:.0f}", state))
        return Rows(["week", "notebook", "title", "part", "minutes", "done"], rows)

    def concepts(self) -> Rows:
        """Return the concepts with at least one answer: box, due date, right answers, and what went wrong."""
        rows = [
            (
                one.item.concept,
                "●" * min(one.box, DOTS) + "○" * (DOTS - one.box),
                f"{one.box} of {DOTS}",
                f"{one.right} of {one.seen}",
                one.due.isoformat() if one.due else "",
                "; ".join(MISCONCEPTIONS[code] for code, _ in one.misconceptions.most_common(1)),
            )
            for one in self.known.values()
            if one.seen
        ]
        empty = [("none yet: run the cell with the three questions", "", "", "", "", "")]
        return Rows(["concept", "", "box", "right", "next question", "mixed up with"], rows or empty)

    def __repr__(self) -> str:
        """Return all of it as text."""
        return f"{self.advice}\n\n{self.notebooks()!r}\n\n{self.concepts()!r}"

    def _repr_html_(self) -> str:
        tables = f"{self.notebooks()._repr_html_()}<h3>Concepts</h3>{self.concepts()._repr_html_()}"
        step = self.next[0] if self.next else None
        link = f'<p><a href="{step.file}">Open {step.file}</a></p>' if step else ""
        return f"{paragraphs(self.advice, bold=True)}{link}{tables}"


def you() -> You:
    """Return the learner's start page."""
    return You()


def three_questions() -> ipywidgets.VBox:
    """Ask about three concepts that are due, each with new numbers; answers move the concepts among their boxes."""
    page = You()
    asked = progress.due(page.known, datetime.now(UTC).date(), page.week)
    if not asked:
        return ipywidgets.VBox([ipywidgets.HTML(paragraphs("Nothing is due today. Come back tomorrow."))])
    return ipywidgets.VBox([part for one in asked for part in _practice(one)])


def _practice(one: Known) -> Sequence[ipywidgets.Widget]:
    """Return the question on a concept, after the help that the learner needs, which fades with right answers."""
    id_ = progress.question_id(one)
    item, posed = progress.posed_of(id_)
    options = posed.options(posed.measure())
    key = next(option.text for option in options if not option.misconception)
    because = {
        option.text: f"You may have thought that {MISCONCEPTIONS[option.misconception]}."
        for option in options
        if option.misconception
    }
    shown = [ipywidgets.HTML(paragraphs(*_help(one)))] if one.help else []
    asked = Prediction(
        posed.stem,
        lambda: key,
        name=id_,
        choices=[option.text for option in options],
        because=because,
        reveal=item.principle,
    )
    return [*shown, asked.widget]


def _help(one: Known) -> list[str]:
    """Return the principle, or a worked example with other numbers if the learner was wrong twice in the same way."""
    said = [f"Remember: {one.item.principle}"]
    if one.help > 1:
        posed = one.item.pose(random.Random(f"worked {one.item.id} {one.seen}"))
        options = posed.options(posed.measure())
        key = next(option.text for option in options if not option.misconception)
        said = [
            f"A worked example. {posed.stem}",
            *(
                f"Not {option.text}: this would follow if {MISCONCEPTIONS[option.misconception]}."
                for option in options
                if option.misconception
            ),
            f"The run gives: {key}. {one.item.principle}",
            "Now the same with other numbers:",
        ]
    return said
