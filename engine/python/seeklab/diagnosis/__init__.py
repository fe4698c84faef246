"""From what observation tools printed of a slow system to what the numbers say, and which incidents they resemble.

    found = seeklab.diagnosis.diagnose(["iostat.json", "ops.csv"])
    found.says, found.ranked[0].incident, found.next

What the numbers say by themselves (`plain`) needs no incident. Which incidents fit (`signatures`) is a comparison of
numbers without a scale with those of simulated incidents at many other parameters; when none is near, the answer is
none of these.
"""

from __future__ import annotations

from seeklab.diagnosis.evidence import Evidence, read_evidence
from seeklab.diagnosis.signatures import Diagnosis, Fit, diagnose

__all__ = ["Diagnosis", "Evidence", "Fit", "diagnose", "read_evidence"]
