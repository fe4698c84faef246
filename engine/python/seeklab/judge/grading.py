"""The steps from one submission to its grade: read, extract answers, judge, store. Every submission gets a grade."""

from __future__ import annotations

import json
import time
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from seeklab.judge.assignment import Verdict, judge
from seeklab.judge.catalogue import assignment as find_assignment
from seeklab.judge.evidence import Outcome
from seeklab.judge.identity import Share
from seeklab.judge.practice import COMMITS, MAX_FILE, TICKET, committed, less_hints
from seeklab.judge.printable import printable_data, sentence
from seeklab.judge.sandbox import Sandbox, SandboxError
from seeklab.judge.submission import (
    Notebook,
    UnreadableSubmissionError,
    answers_in,
    parsed,
    read_notebook,
    read_submitted,
)
from seeklab.judge.tickets import ticket_document

if TYPE_CHECKING:
    from collections.abc import Mapping

    from seeklab.judge.assignment import Assignment
    from seeklab.judge.identity import Course

NOT_JUDGED = "the judge could not judge this"
NO_TICKET = (
    "no ticket was handed out, so the answer could be computed from the student's name; "
    "`seeklab ticket` draws a system that only you know"
)
"""Flag of an exercise whose system should be unknown to the learner."""
MAX_FLAGS = 20
MAX_KEPT = 100_000
"""Maximum length of a stored answer, in characters: a hostile answer has megabytes, an honest one a few thousand."""


@dataclass(frozen=True)
class Work:
    """A submission to grade."""

    student: str
    assignment: str
    path: str
    """The notebook's path."""
    ticketed: bool = False
    """Whether this student received a ticket for this assignment."""
    refused: str = ""
    """The reason why it gets no points without being read; empty otherwise."""
    flags: tuple[str, ...] = ()
    """Notes for the instructor about the place of the submission."""


@dataclass(frozen=True)
class Grade:
    """The result of a submission."""

    student: str
    assignment: str
    verdicts: tuple[Verdict, ...]
    flags: tuple[str, ...] = ()
    seconds: float = 0.0
    answers: Mapping[str, Any] = field(default_factory=dict)
    """The submitted values, for the dashboard; programs as their text."""

    def __post_init__(self) -> None:
        """Clean learners' text, so that every grade can be stored and shown."""
        more = len(self.flags) - MAX_FLAGS
        flags = [*self.flags[:MAX_FLAGS], *([f"and {more:,} more flags"] if more > 0 else [])]
        object.__setattr__(self, "flags", tuple(map(sentence, flags)))
        answers = {name: _kept(printable_data(value)) for name, value in self.answers.items()}
        object.__setattr__(self, "answers", answers)

    @property
    def score(self) -> float:
        """The sum of the points."""
        return round(sum(verdict.points for verdict in self.verdicts), 2)

    @property
    def max_score(self) -> float:
        """The sum of the possible points."""
        return round(sum(verdict.max_points for verdict in self.verdicts), 2)

    def document(self) -> dict[str, Any]:
        """Return the grade as the JSON document that `seeklab grade` prints."""
        return {
            "student": self.student,
            "assignment": self.assignment,
            "score": self.score,
            "max_score": self.max_score,
            "tasks": [verdict.document() for verdict in self.verdicts],
            "flags": list(self.flags),
            "seconds": round(self.seconds, 3),
        }

    def details(self) -> dict[str, Any]:
        """Return the further data that dashboard and feedback show."""
        evidence = {verdict.task: [asdict(item) for item in verdict.evidence] for verdict in self.verdicts}
        return {"evidence": evidence, "answers": dict(self.answers)}


def grade(work: Work, course: Course | Share, sandbox: Sandbox) -> Grade:
    """Grade one submission. Raise SandboxError if there is no sandbox; any other error becomes a grade."""
    started = time.perf_counter()
    assignment = find_assignment(work.assignment)
    try:
        if work.refused:
            raise UnreadableSubmissionError(work.refused)  # noqa: TRY301 -- treated as an unreadable file
        notebook = read_notebook(Path(work.path), assignment)
        graded = grade_notebook(notebook, assignment, work, course, sandbox)
    except UnreadableSubmissionError as error:
        graded = not_graded(assignment, work, str(error))
    except SandboxError:
        raise
    except Exception as error:  # noqa: BLE001 -- one submission must not stop the grading of others
        graded = not_graded(assignment, work, stopped_by(error))
    return replace(graded, seconds=time.perf_counter() - started)


def stopped_by(error: Exception) -> str:
    """Return the reason why grading stopped, for the learner and the instructor."""
    if isinstance(error, MemoryError):
        return "grading it takes more memory than the grader has"
    return f"{NOT_JUDGED} ({type(error).__name__}); tell your instructor"


def grade_notebook(
    notebook: Notebook, assignment: Assignment, work: Work, course: Course | Share, sandbox: Sandbox
) -> Grade:
    """Grade the cells of a notebook."""
    secret = None if isinstance(course, Share) else course.folder  # a share contains no secret
    sandbox = sandbox.for_one_submission(Path(work.path), *([] if secret is None else [secret]))
    variant = course.variant(work.student, assignment.id, ticketed=work.ticketed)
    files = {}
    if work.ticketed:
        files[TICKET] = json.dumps(ticket_document(assignment, work.student, course))
    answers = answers_in(notebook, assignment, work.student, sandbox, files)
    commits = _beside(Path(work.path), COMMITS)
    given = committed(assignment, answers.values, commits)
    seeds = course.seeds(work.student, assignment.id, notebook.digest)
    verdicts: list[Verdict] = []
    flags = [*work.flags, *answers.flags]
    if assignment.blind is not None and not work.ticketed:
        flags.append(NO_TICKET)
    for task in assignment.tasks:
        try:
            (verdict,) = judge(assignment, given, variant, seeds, [task.id])
        except SandboxError:
            raise
        except Exception as error:  # noqa: BLE001 -- one task must not stop the grading of others
            reason = stopped_by(error)
            flags.append(f"{task.id}: {reason}")
            verdict = Verdict(task.id, Outcome.CANNOT_TELL, 0.0, task.points, reason)
        verdicts.append(less_hints(verdict, commits))
    return Grade(work.student, assignment.id, tuple(verdicts), tuple(flags), answers=_told(given))


def _told(answers: Mapping[str, object]) -> dict[str, Any]:
    """Return answers as plain data, for the statistics of a class."""
    told: dict[str, Any] = {}
    for name, value in answers.items():
        text = getattr(value, "text", None)
        if text is not None:
            told[name] = "\n".join(source["source"] for source in text.sources)
        elif isinstance(value, (dict, list, str, int, float)):
            told[name] = value
    return told


def _kept(answer: Any) -> Any:
    """Return an answer as it is stored: a long one is replaced by its beginning."""
    text = answer if isinstance(answer, str) else json.dumps(answer)
    return answer if len(text) <= MAX_KEPT else f"{text[:MAX_KEPT]}... ({len(text):,} characters)"


def not_graded(assignment: Assignment, work: Work, reason: str) -> Grade:
    """Return a grade without points, with the reason."""
    verdicts = tuple(Verdict(task.id, Outcome.FAIL, 0.0, task.points, reason) for task in assignment.tasks)
    return Grade(work.student, assignment.id, verdicts, (*work.flags, reason))


def _beside(notebook: Path, name: str) -> Any:
    """Read a small JSON file that was handed in with the notebook; return None if it is missing or invalid."""
    try:
        return parsed(read_submitted(notebook.parent / name, MAX_FILE))
    except UnreadableSubmissionError:
        return None
