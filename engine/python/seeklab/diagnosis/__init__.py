"""Diagnosis of a slow system from the output of tools: readings with their sums, causes as rules, the next look.

found = seeklab.diagnosis.diagnose(["iostat.txt", "dmesg.txt"])
[(cause.cause.id, cause.confidence) for cause in found.causes]
"""

from seeklab.diagnosis.answer import Diagnosis, answer, diagnose, redacted
from seeklab.diagnosis.causes import Cause, Verdict
from seeklab.diagnosis.reading import Reading

__all__ = ["Cause", "Diagnosis", "Reading", "Verdict", "answer", "diagnose", "redacted"]
