"""The judge: answers as data in, verdicts out, by one mechanism for notebook, browser and grader."""

from seeklab.judge.answers import Choice, Code, Fields, Number, Settings
from seeklab.judge.assignment import MANY, Asked, Assignment, Commitment, Seeds, Task, Variant, Verdict, judge
from seeklab.judge.evidence import Bound, Evidence, Outcome, largest, near, number
from seeklab.judge.practice import Practice, draws_of, handed_text

__all__ = [
    "MANY",
    "Asked",
    "Assignment",
    "Bound",
    "Choice",
    "Code",
    "Commitment",
    "Evidence",
    "Fields",
    "Number",
    "Outcome",
    "Practice",
    "Seeds",
    "Settings",
    "Task",
    "Variant",
    "Verdict",
    "draws_of",
    "handed_text",
    "judge",
    "largest",
    "near",
    "number",
]
