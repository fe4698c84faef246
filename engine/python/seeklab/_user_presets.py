"""Your own devices: presets in a file, as `seeklab calibrate` writes them, by name or by path."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from seeklab._documents import UnreadableError, odd_value, read_json, read_toml
from seeklab._errors import Problem, SeeklabError
from seeklab._settings_folder import settings_folder
from seeklab.data.files import Kind, read_text, shown

if TYPE_CHECKING:
    from collections.abc import Mapping

PRESET_FILE = Kind("a preset such as `seeklab calibrate` writes", most_bytes=1 << 20, may_be_packed=False)
MINE = "mine"
"""The preset that `--on mine` means, and the default output of `seeklab calibrate`."""
ENDINGS = (".toml", ".json")
KINDS = ("hdd", "ssd", "lun")


def folder() -> Path:
    """Return the folder of user presets: `SEEKLAB_PRESETS`, or a folder in the system's place for settings."""
    chosen = os.environ.get("SEEKLAB_PRESETS")
    return Path(chosen) if chosen else settings_folder() / "presets"


def own_preset(name: str) -> dict[str, Any] | None:
    """Read your own preset `name`; return None if the name is one of the library.

    A name that ends like a file is a path. `mine`, and any other name with a file in the folder, is a preset there.
    """
    path = Path(name) if name.endswith(ENDINGS) else folder() / f"{name}.toml"
    if not name.endswith(ENDINGS) and not path.is_file():
        if name == MINE:
            message = f'the preset "{MINE}" does not exist yet ({shown(path)}); create it with `seeklab calibrate`'
            raise SeeklabError([Problem("on", message)])
        return None
    return read_preset(path)


def read_preset(path: Path) -> dict[str, Any]:
    """Read a preset from a TOML or JSON file; raise SeeklabError if it is not a valid one."""
    text, name = read_text(path, PRESET_FILE), shown(path)
    try:
        document = read_json(text) if path.suffix == ".json" else read_toml(text)
    except UnreadableError as error:
        raise SeeklabError([Problem(name, f"{error}; pass {PRESET_FILE.what}")]) from None
    odd = odd_value(document)
    if odd is not None:
        raise SeeklabError([Problem(f"{name}: {odd[0]}", f"{odd[1]}; pass {PRESET_FILE.what}")])
    device = document.get("device") if isinstance(document, dict) else None
    kinds = [kind for kind in KINDS if isinstance(device, dict) and isinstance(device.get(kind), dict)]
    if len(kinds) != 1:
        found = ", ".join(kinds) or "none"
        message = f"has {found} of device.hdd, device.ssd and device.lun; a preset has exactly one of them"
        raise SeeklabError([Problem(name, message)])
    return dict(document)


def groups_on(groups: list[Mapping[str, Any]], preset: Mapping[str, Any] | str) -> dict[str, object]:
    """Return the changes that put a scenario's devices on the preset; names and counts of the groups stay."""
    device = {"preset": preset} if isinstance(preset, str) else dict(preset["device"])
    kept = ("name", "count")
    return {
        f"devices[{index}]": {**{field: group[field] for field in kept if field in group}, **device}
        for index, group in enumerate(groups)
    }
