"""From a short series of fio runs to the parameters of a device model, with evidence and held-out errors.

    found = seeklab.calibration.calibrate(seeklab.calibration.read_results("results/"))
    found.verdict.grade, found.preset_toml("mine")

What is identified, and from which job, follows closed forms where they exist (`closed`) and a search with the engine
where they do not (`ssd`, `disk`). A part of the jobs is never used in a fit, and judges it.
"""

from __future__ import annotations

from seeklab.calibration.fio_results import Measured, Results, read_results
from seeklab.calibration.fit import Calibration, calibrate

__all__ = ["Calibration", "Measured", "Results", "calibrate", "read_results"]
