"""Seeklab: reproduce documented storage incidents, find the cause, and test a fix.

    case = seeklab.case("odx-prefetch")
    result = case.run("broken", seed=7)
    result.metrics["odx.read_latency_mean_ms"]

One simulator, compiled once to WebAssembly, gives identical results here, on the page and on the command line.
Importing this package loads only the standard library; the first call that needs the engine loads it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from seeklab._case import Case, case, cases, engine_version, presets, schema, tools, validate
from seeklab._curves import alignment, curve, reduce
from seeklab._design import Design, Measured, design
from seeklab._displays import register_displays
from seeklab._errors import EngineError, LimitExceeded, Problem, SeeklabError
from seeklab._facts import facts
from seeklab._fio import FioJob, fio
from seeklab._replay import replay, trace_info
from seeklab._result import Result, run
from seeklab._sweep import sweep
from seeklab._traces import cache, validate_drive
from seeklab.data.table import Table
from seeklab.decisions.commit_policy import CommitPolicy, LogQueue, run_commit_policy
from seeklab.decisions.eviction import EvictionPolicy, play_cache
from seeklab.decisions.read_ahead import Prefetcher, Read, run_prefetcher
from seeklab.decisions.shard_map import ShardHistory, ShardMap, run_shard_map
from seeklab.decisions.throttle import ThrottleHistory, ThrottlePolicy, run_throttle

if TYPE_CHECKING:
    from seeklab.notebook import Lab, Prediction

__version__ = "0.2.0"

__all__ = [
    "Case",
    "CommitPolicy",
    "Design",
    "EngineError",
    "EvictionPolicy",
    "FioJob",
    "LimitExceeded",
    "LogQueue",
    "Measured",
    "Prefetcher",
    "Problem",
    "Read",
    "Result",
    "SeeklabError",
    "ShardHistory",
    "ShardMap",
    "Table",
    "ThrottleHistory",
    "ThrottlePolicy",
    "alignment",
    "cache",
    "case",
    "cases",
    "curve",
    "design",
    "engine_version",
    "facts",
    "fio",
    "lab",
    "play_cache",
    "predict",
    "presets",
    "reduce",
    "replay",
    "run",
    "run_commit_policy",
    "run_prefetcher",
    "run_shard_map",
    "run_throttle",
    "schema",
    "sweep",
    "tools",
    "trace_info",
    "validate",
    "validate_drive",
]

register_displays()


def lab(case: str, **options: Any) -> Lab:
    """Show a case's chart and sliders in a notebook; see `seeklab.notebook.lab`. Needs the extra `notebook`.

    >>> chart = seeklab.lab("odx-prefetch")  # the last expression of a cell shows it
    """
    from seeklab import notebook

    return notebook.lab(case, **options)


def predict(case: str) -> Prediction:
    """Ask a case's question in a notebook; see `seeklab.notebook.predict`. Needs the extra `notebook`.

    >>> question = seeklab.predict("odx-prefetch")  # the last expression of a cell shows it
    """
    from seeklab import notebook

    return notebook.predict(case)
