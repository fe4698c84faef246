"""nbgrader's command line with a trusted judge: a preprocessor that replaces `Execute`.

nbgrader scores what a grade cell has printed, gives full points to a cell without output, and gives no grade if the
kernel died. Therefore nothing of a submission runs here. The sandbox computes its answers, and the judge's verdicts
become the outputs of the grade cells. nbgrader's own steps then follow. All other cells have no outputs.
"""

from __future__ import annotations

import copy
import logging
import os
import stat
import tempfile
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

import nbformat
from nbconvert.exporters import HTMLExporter, NotebookExporter
from nbgrader.api import Gradebook, Student
from nbgrader.preprocessors import NbGraderPreprocessor
from nbgrader.utils import parse_utc
from sqlalchemy import event
from traitlets import Bool, Integer, Unicode

from seeklab.judge.catalogue import NAMES
from seeklab.judge.catalogue import assignment as find_assignment
from seeklab.judge.cleaning import KERNEL, NOTES, UNREADABLE, PlainCells
from seeklab.judge.exports import POLICY, looks_like_html
from seeklab.judge.grading import Grade, Work, grade_notebook, not_graded
from seeklab.judge.identity import open_course, remember, remembered
from seeklab.judge.practice import COMMITS, TICKET
from seeklab.judge.sandbox import Limits, Sandbox
from seeklab.judge.submission import MAX_BYTES, MB, UnreadableSubmissionError, notebook_of, parsed, read_submitted
from seeklab.judge.tickets import is_ticketed

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from seeklab.judge.assignment import Verdict
    from seeklab.judge.identity import Course

__all__ = ["Feedback", "Judge", "PlainCells", "Submitted", "set_aside"]

TIME = "timestamp.txt"
LONGEST_TIME = 100
FILES = (COMMITS, TICKET, TIME, "submission_secret.txt")
"""The files of a submission besides its notebook; the last two are nbgrader's."""
SET_ASIDE = "set-aside"


@event.listens_for(Student.id, "set")
def _refuse_markup(_: object, name: str, *__: object) -> None:
    """Raise an error for a student's name that looks like HTML, because the formgrader does not escape names."""
    if looks_like_html(name):
        message = f"{name!a} cannot be a student's name: the formgrader would render it as HTML; rename the folder"
        raise ValueError(message)


def set_aside(*, notebooks: Sequence[str], **_: object) -> None:
    """Move files that are not part of a submission out of it: nbgrader would copy link targets, and serve any page.

    This is nbgrader's `pre_convert_hook`, which runs before it copies a submission's files.
    """
    for folder in sorted({Path(notebook).parent for notebook in notebooks}):
        place = folder.parents[2] / SET_ASIDE / folder.parent.name
        try:
            for path in _foreign(folder):
                place.mkdir(parents=True, exist_ok=True)
                path.rename(Path(tempfile.mkdtemp(prefix=f"{folder.name}-", dir=place)) / path.name)
                _tell(f"{str(path)!a} is not part of a submission; it was moved to {str(place)!a}")
        except OSError as error:
            # nbgrader ignores exceptions in a hook, and would then follow the links.
            message = f"{folder} contains files that cannot be moved ({error}); move them, then grade again"
            raise SystemExit(message) from None


def _foreign(folder: Path) -> list[Path]:
    """Return the entries that do not belong in a submission's folder: links, pipes, folders, other files."""
    links = [path for path in (folder.parent, folder) if path.is_symlink()]
    if links:
        return links[:1]
    folder.chmod(stat.S_IMODE(folder.stat().st_mode) | stat.S_IRWXU)
    wanted = {f"{folder.name}.ipynb", *FILES}
    return [
        Path(entry.path)
        for entry in sorted(os.scandir(folder), key=lambda entry: entry.name)
        if entry.name not in wanted
        or not entry.is_file(follow_symlinks=False)
        or (entry.name == TIME and not _is_time(Path(entry.path)))
    ]


def _is_time(path: Path) -> bool:
    """Return whether nbgrader can read the time in a file; otherwise, the submission would get no grade."""
    try:
        text = read_submitted(path, LONGEST_TIME).decode()
        parse_utc(text.strip())
    except (UnreadableSubmissionError, ValueError, OverflowError, TypeError):
        return False
    return True


def _tell(message: str) -> None:
    logging.getLogger(__name__).warning("%s", message)


class Submitted(NotebookExporter):
    """Reads any submitted file: one that is not a notebook becomes an empty notebook, which gets no points."""

    def from_file(self, file_stream: Any, resources: Any = None, **kw: Any) -> Any:
        """Read a file and convert it."""
        try:
            nb = _read(file_stream)
        except Exception as error:  # noqa: BLE001 -- a learner's file can make the reader raise anything
            nb = nbformat.v4.new_notebook()
            resources[UNREADABLE] = f"the file cannot be read as a notebook ({type(error).__name__})"
        return self.from_notebook_node(nb, resources=resources, **kw)  # type: ignore[no-untyped-call] # nbconvert's


def _read(file: Any) -> Any:
    """Read a notebook, without metadata that would make nbconvert fail."""
    size = os.fstat(file.fileno()).st_size
    if size > MAX_BYTES:
        message = f"the file has {size / MB:,.0f} MB; the limit is {MAX_BYTES / MB:,.0f} MB"
        raise UnreadableSubmissionError(message)
    text = file.read()
    parsed(text.encode())  # refuses a notebook that would fill the memory
    nb = nbformat.reads(text, as_version=4)
    nb.metadata = nbformat.from_dict({name: nb.metadata[name] for name in (*KERNEL, NOTES) if name in nb.metadata})
    return copy.deepcopy(nb)  # nbconvert also does this, but there an exception ends the grading of this submission


class Feedback(HTMLExporter):
    """Writes nbgrader's feedback as a page that runs no scripts, whatever it contains."""

    def from_notebook_node(self, nb: Any, resources: Any = None, **kw: Any) -> Any:
        """Convert a notebook."""
        page, resources = super().from_notebook_node(nb, resources, **kw)
        before, head, after = page.partition("<head>")
        if not head:
            message = "the feedback template has no <head>, where the page's security policy belongs"
            raise ValueError(message)
        return before + head + POLICY + after, resources


class Judge(NbGraderPreprocessor):  # type: ignore[misc] # nbgrader is published without types
    """Writes the judge's verdicts as the outputs of grade cells."""

    secret_file = Unicode("", help="The file of the course's secret; empty for the default path").tag(config=True)
    unsafe = Bool(False, help="Run learners' code without the sandbox (unsafe).").tag(config=True)  # noqa: FBT003 -- how traitlets has it
    memory_mib = Integer(1024, help="Memory limit for the code of one submission, in MiB").tag(config=True)
    seconds = Integer(120, help="Processor time limit for the code of one submission, in seconds").tag(config=True)

    def preprocess(self, nb: Any, resources: Any) -> tuple[Any, Any]:
        """Judge one notebook."""
        who = resources["nbgrader"]
        student, name, notebook = who["student"], who["assignment"], who["notebook"]
        for cell in nb.cells:
            if cell.cell_type == "code":
                cell.outputs, cell.execution_count = [], None
        if name not in NAMES:
            message = f"{name} is not a Seeklab assignment; remove Seeklab's Judge from its configuration"
            raise ValueError(message)
        course = self._course(who["db_url"])
        limits = Limits(memory_bytes=self.memory_mib << 20, cpu_s=self.seconds, wall_s=2.0 * self.seconds)
        folder = Path(resources["metadata"]["path"])
        work = Work(student, name, str(folder / f"{notebook}.ipynb"), is_ticketed(course, student, name))
        assignment = find_assignment(name)
        sandbox = Sandbox(limits, unsafe=self.unsafe)
        try:
            graded = grade_notebook(notebook_of(nb, assignment), assignment, work, course, sandbox)
        except UnreadableSubmissionError as error:
            graded = not_graded(assignment, work, str(error))
        _write(nb, graded)
        return nb, resources

    def _course(self, gradebook_url: str) -> Course:
        """Open the course's secret; log when it is created, and require the secret that the gradebook was made with."""
        with Gradebook(gradebook_url) as gradebook, closing(gradebook.engine.raw_connection()) as database:
            path = Path(self.secret_file) if self.secret_file else None
            course, made = open_course(path, Path.cwd(), remembered(database))
            remember(database, course)
        if made:
            self.log.warning("created the course's secret in %s; back it up, and keep it from learners", course.folder)
        return course


def _write(nb: Any, graded: Grade) -> None:
    verdicts = {verdict.task: verdict for verdict in graded.verdicts}
    flags = tuple(dict.fromkeys((*nb.metadata.get(NOTES, {}).get("flags", ()), *graded.flags)))
    for cell in nb.cells:
        own = cell.metadata.get("nbgrader", {})
        if cell.cell_type == "code" and own.get("grade") and not own.get("solution"):
            verdict = verdicts.get(own.get("grade_id"))
            cell.outputs = list(_outputs(verdict, flags))
            cell.execution_count = 1


def _outputs(verdict: Verdict | None, flags: Sequence[str]) -> Iterator[Any]:
    """Yield a cell's outputs: the text, then the points, which nbgrader reads as a partial score."""
    from nbformat.v4 import new_output

    words = "not a task of this assignment" if verdict is None else str(verdict)
    notes = "".join(f"\nnote: {flag}" for flag in flags)
    yield new_output("stream", name="stdout", text=f"{words}{notes}\n")
    points = 0.0 if verdict is None else verdict.points
    yield new_output("execute_result", data={"text/plain": f"{points:g}"}, execution_count=1)
