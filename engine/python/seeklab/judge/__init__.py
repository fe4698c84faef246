"""The judge: answers as data in, verdicts out, by one mechanism for notebook, browser and grader."""

from seeklab.judge.answers import (
    Choice,
    Code,
    Counts,
    Fields,
    Function,
    Items,
    Number,
    OrNone,
    Settings,
    Table,
    Truth,
    Word,
)
from seeklab.judge.assignment import MANY, Asked, Assignment, Commitment, Seeds, Task, Variant, Verdict, judge
from seeklab.judge.evidence import Bound, Evidence, Outcome, largest, near, number
from seeklab.judge.mistakes import ANSWER, Cases, Change, Mistake, Value, diagnose
from seeklab.judge.practice import Practice, draws_of, handed_text

__all__ = [
    "ANSWER",
    "MANY",
    "Asked",
    "Assignment",
    "Bound",
    "Cases",
    "Change",
    "Choice",
    "Code",
    "Commitment",
    "Counts",
    "Evidence",
    "Fields",
    "Function",
    "Items",
    "Mistake",
    "Number",
    "OrNone",
    "Outcome",
    "Practice",
    "Seeds",
    "Settings",
    "Table",
    "Task",
    "Truth",
    "Value",
    "Variant",
    "Verdict",
    "Word",
    "diagnose",
    "draws_of",
    "handed_text",
    "judge",
    "largest",
    "near",
    "number",
]
