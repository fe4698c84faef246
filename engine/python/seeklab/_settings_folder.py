"""The folder of a user's settings."""

from __future__ import annotations

import os
from pathlib import Path


def settings_folder() -> Path:
    """Return the folder of this user's settings for Seeklab. Relative paths are ignored, as XDG requires."""
    chosen = Path(os.environ.get("XDG_CONFIG_HOME", ""))
    return (chosen if chosen.is_absolute() else Path.home() / ".config") / "seeklab"
