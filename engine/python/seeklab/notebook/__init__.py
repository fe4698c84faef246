"""The building blocks of a notebook: charts with sliders, questions that gate their answers, coding tasks, tables."""

from seeklab._chart import Bars, Lines
from seeklab.notebook._calibration import calibration
from seeklab.notebook._case_tables import fact_table, source_table, what_if_table
from seeklab.notebook._gate import NotYetError, after, install_gates
from seeklab.notebook._lab import Lab, explore, lab
from seeklab.notebook._prediction import Prediction, predict
from seeklab.notebook._shift import session_widget
from seeklab.notebook._tables import Prose, Rows, Text, sentence, spaced
from seeklab.notebook._turn import Checked, check, turn
from seeklab.notebook._you import three_questions, you

__all__ = [
    "Bars",
    "Checked",
    "Lab",
    "Lines",
    "NotYetError",
    "Prediction",
    "Prose",
    "Rows",
    "Text",
    "after",
    "calibration",
    "check",
    "explore",
    "fact_table",
    "lab",
    "predict",
    "sentence",
    "session_widget",
    "source_table",
    "spaced",
    "three_questions",
    "turn",
    "what_if_table",
    "you",
]

install_gates()
