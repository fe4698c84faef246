"""The incident room: a night on call, drawn from all incidents, played in a shell.

`Night` is the game without its shell, `Room` the same with one for front-ends: `Room(7)` at the end of a notebook's
cell is a night to be played there.
"""

from seeklab.oncall.night import Night
from seeklab.oncall.room import Room

__all__ = ["Night", "Room"]
