"""The incident room: a night on call, drawn from all incidents, played in a shell.

`Night` is the game without its shell, `Room` the same with one for front-ends: `Room(7)` at the end of a notebook's
cell is a night to be played there. `read_case` reads a case of one's own for both, `findings` says whether it can be
played, and `sealed` seals it for a peer.
"""

from seeklab.oncall.check import findings
from seeklab.oncall.night import Night
from seeklab.oncall.own import case_of, read_case
from seeklab.oncall.room import Room
from seeklab.oncall.sealed import sealed

__all__ = ["Night", "Room", "case_of", "findings", "read_case", "sealed"]
