"""The incident room: a night on call, drawn from all incidents, played in a shell.

`Night` is the game without its shell: a page or a widget asks it the same questions.
"""

from seeklab.oncall.night import Night

__all__ = ["Night"]
