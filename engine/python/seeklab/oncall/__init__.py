"""On-call shifts: a faulty system, drawn from all incidents, investigated in a shell.

`Shift` is the game without a shell. `Session` adds the shell for front-ends; `Session(7)` at the end of a notebook cell
shows a playable shift. `read_case` reads your own case for both, `findings` checks whether it is playable, and `sealed`
seals it for a peer.
"""

from seeklab.oncall.learner_case import case_of, read_case
from seeklab.oncall.seal import sealed
from seeklab.oncall.session import Session
from seeklab.oncall.shift import Shift
from seeklab.oncall.validate import findings

Room = Session
"""The old name of `Session`, for the notebooks that learners already have."""

__all__ = ["Room", "Session", "Shift", "case_of", "findings", "read_case", "sealed"]
