"""nbgrader's own command line with a trusted judge: the preprocessor that takes the place of `Execute`.

nbgrader scores what a grade cell has printed, gives one without output its full points, and leaves no grade where a
kernel died. So nothing of a submission is executed here: its answers are taken out in the jail, the judge's verdicts
become the grade cells' outputs, and nbgrader's own steps go on from there. All other cells end without outputs.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from nbgrader.preprocessors import NbGraderPreprocessor
from traitlets import Bool, Integer, Unicode

from seeklab.exercises import NAMES
from seeklab.exercises import assignment as find_assignment
from seeklab.judge.grading import Grade, Work, grade_notebook
from seeklab.judge.identity import open_course
from seeklab.judge.jail import Jail, Limits
from seeklab.judge.submission import notebook_of
from seeklab.judge.tickets import is_ticketed

if TYPE_CHECKING:
    from collections.abc import Iterator

    from seeklab.judge.assignment import Verdict


class Judge(NbGraderPreprocessor):  # type: ignore[misc] # nbgrader is published without types
    """Writes the judge's verdicts where the outputs of grade cells would be."""

    secret_file = Unicode("", help="The course's secret; empty for the usual place").tag(config=True)
    unsafe = Bool(False, help="Run learners' code without a jail. For those who insist.").tag(config=True)  # noqa: FBT003 -- how traitlets has it
    memory_mib = Integer(1024, help="What the code of one submission may take").tag(config=True)
    seconds = Integer(120, help="How long the code of one submission may run at a stretch").tag(config=True)

    def preprocess(self, nb: Any, resources: Any) -> tuple[Any, Any]:  # noqa: ANN401 -- plain data, or a learner's
        """Judge one notebook."""
        who = resources["nbgrader"]
        student, name, notebook = who["student"], who["assignment"], who["notebook"]
        for cell in nb.cells:
            if cell.cell_type == "code":
                cell.outputs, cell.execution_count = [], None
        if name not in NAMES:
            message = f"{name} is no assignment of Seeklab's; leave Seeklab's Judge out of its configuration"
            raise ValueError(message)
        course, _ = open_course(Path(self.secret_file) if self.secret_file else None, Path.cwd())
        limits = Limits(memory_bytes=self.memory_mib << 20, cpu_s=self.seconds, wall_s=2.0 * self.seconds)
        folder = Path(resources["metadata"]["path"])
        work = Work(student, name, str(folder / f"{notebook}.ipynb"), is_ticketed(course, student, name))
        assignment = find_assignment(name)
        graded = grade_notebook(notebook_of(nb, assignment), assignment, work, course, Jail(limits, unsafe=self.unsafe))
        _write(nb, graded)
        return nb, resources


def _write(nb: Any, graded: Grade) -> None:  # noqa: ANN401 -- plain data, or a learner's
    verdicts = {verdict.task: verdict for verdict in graded.verdicts}
    for cell in nb.cells:
        own = cell.metadata.get("nbgrader", {})
        if cell.cell_type == "code" and own.get("grade") and not own.get("solution"):
            verdict = verdicts.get(own.get("grade_id"))
            cell.outputs = list(_outputs(verdict, graded))
            cell.execution_count = 1


def _outputs(verdict: Verdict | None, graded: Grade) -> Iterator[Any]:
    """Give a cell's outputs: the words, then the points, which nbgrader reads as a partial score."""
    from nbformat.v4 import new_output  # noqa: PLC0415 -- what not every host has, or every command needs

    words = "no task of this assignment" if verdict is None else str(verdict)
    flags = "".join(f"\nnote: {flag}" for flag in graded.flags)
    yield new_output("stream", name="stdout", text=f"{words}{flags}\n")
    points = 0.0 if verdict is None else verdict.points
    yield new_output("execute_result", data={"text/plain": f"{points:g}"}, execution_count=1)
