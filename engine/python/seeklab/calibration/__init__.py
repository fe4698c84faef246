"""Calibration: from a short series of fio runs to a device model's parameters, with evidence and held-out errors.

    found = seeklab.calibration.calibrate(seeklab.calibration.read_results("results/"))
    found.verdict.grade, found.preset_toml("mine")

Parameters follow from closed forms (`closed_forms`) where these exist, and otherwise from a search with the engine
(`ssd`, `disk`). Some jobs are never used in a fit; they judge it.
"""

from __future__ import annotations

from seeklab.calibration.fio_results import Measured, Results, read_results
from seeklab.calibration.fit import Calibration, calibrate

__all__ = ["Calibration", "Measured", "Results", "calibrate", "read_results"]
