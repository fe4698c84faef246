"""Diagnosis: from the output of observation tools on a slow system to similar incidents.

    found = seeklab.diagnosis.diagnose(["iostat.json", "ops.csv"])
    found.says, found.ranked[0].incident, found.next

`summary` computes what the numbers show without any incident. `signatures` compares scale-free numbers with those of
simulated incidents at many other parameters; if none is near, the answer is none of these.
"""

from __future__ import annotations

from seeklab.diagnosis.evidence import Evidence, read_evidence
from seeklab.diagnosis.signatures import Diagnosis, Fit, diagnose

__all__ = ["Diagnosis", "Evidence", "Fit", "diagnose", "read_evidence"]
