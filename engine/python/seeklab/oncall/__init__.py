"""On-call shifts: a system with something wrong, drawn from all incidents, played in a shell.

`Shift` is the game without its shell, `Session` the same with one for front-ends: `Session(7)` at the end of a
notebook's cell is a shift to be played there. `read_case` reads a case of one's own for both, `findings` says whether
it can be played, and `sealed` seals it for a peer.
"""

from seeklab.oncall.learner_case import case_of, read_case
from seeklab.oncall.seal import sealed
from seeklab.oncall.session import Session
from seeklab.oncall.shift import Shift
from seeklab.oncall.validate import findings

Room = Session
"""The name that `Session` had, for notebooks that learners have."""

__all__ = ["Room", "Session", "Shift", "case_of", "findings", "read_case", "sealed"]
