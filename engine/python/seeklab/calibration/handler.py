"""Requests of the calibration page: `{"files": [names], ...}`, `{"record": sample}` or `{"on": case}`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from seeklab._case import case
from seeklab._errors import Problem, SeeklabError
from seeklab._json_handlers import JsonHandler
from seeklab._user_presets import MINE, groups_on
from seeklab.calibration.fio_results import read_results
from seeklab.calibration.fit import Calibration, calibrate
from seeklab.calibration.samples import record

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

NO_DEVICE = "Fit a device first."


class Handler(JsonHandler):
    """Fits a device to fio reports in the working directory, and keeps it for the incidents that run on it."""

    def __init__(self) -> None:
        """Create a handler without a device."""
        self._found: Calibration | None = None

    def _answer(self, asked: Mapping[str, Any], progress: Callable[[float], object]) -> Mapping[str, Any]:
        if "record" in asked:
            return {"files": record(asked["record"], progress)}
        if "on" in asked:
            return {"set": self._changes(asked["on"])}
        self._found = found = calibrate(
            read_results(asked["files"]),
            capacity=asked.get("capacity"),
            family=asked.get("family"),
            accept_noise=asked.get("accept_noise", False),
            progress=progress,
        )
        return {
            **found.document(),
            "verdict": str(found.verdict),
            "others": {name: str(verdict) for name, verdict in found.others.items()},
            "preset": found.preset_toml(MINE) if found.fits() else None,
        }

    def _changes(self, name: str) -> dict[str, object]:
        """Return the changes that put a case on the device, as `--on` does."""
        if self._found is None or not self._found.fits():
            raise SeeklabError([Problem("", NO_DEVICE)])
        return groups_on(case(name).scenario()["devices"], {"device": self._found.device})
