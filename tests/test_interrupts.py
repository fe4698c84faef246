"""Interrupts from the keyboard: heeded between the slices of a run, within one long call, and in a destructor.

No test here counts seconds of the clock, which pass whatever the machine does: what is stopped would take minutes, and
how soon it is stopped is counted in processor time.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

from conftest import GIVE_UP_S

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.skipif(os.name == "nt", reason="Windows has no SIGINT for one process")


@pytest.fixture(autouse=True)
def interrupts_are_heard() -> Iterator[None]:
    """Let children hear interrupts: what a shell starts in the background ignores them, and so would they."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


DAY = "[global]\nrw=randread\nbs=4k\nsize=1g\ntime_based\nruntime=80000\n[a]\n"
FIO = ["fio", "-", "--on", "hdd-7200"]

SAYS_WHEN_IT_RUNS = """
import sys
from seeklab import cli
from seeklab.engine import wasmtime as _wasmtime

step = _wasmtime.WasmtimeRun.step

def said(self, events):
    done = step(self, events)
    if done > 0:
        print("running", flush=True)
        _wasmtime.WasmtimeRun.step = step
    return done

_wasmtime.WasmtimeRun.step = said
sys.exit(cli.main(sys.argv[1:]))
"""


def test_an_interrupt_stops_a_long_run_between_two_slices() -> None:
    command = [sys.executable, "-c", SAYS_WHEN_IT_RUNS, *FIO]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as running:
        assert running.stdin is not None
        assert running.stdout is not None
        running.stdin.write(DAY.encode())
        running.stdin.close()
        assert running.stdout.readline() == b"running\n"
        running.send_signal(signal.SIGINT)
        assert running.wait(timeout=GIVE_UP_S) == 130
        assert running.stderr is not None
        assert running.stderr.read().endswith(b"\nseeklab: interrupted\n")


DROPS_AN_INTERRUPT = """
import signal, sys
from seeklab import cli
from seeklab.engine import fast_call as _fast_call
from seeklab.engine import wasmtime as _wasmtime

class Dropped:
    def __del__(self):
        signal.raise_signal(signal.SIGINT)

call, step, at = _fast_call.FastCall.__call__, _wasmtime.WasmtimeRun.step, []

def drops(self, *arguments):
    found = call(self, *arguments)
    if at == ["a slice"]:
        at.append("dropped")
        dropped = Dropped()
        del dropped
    return found

def slice(self, events):
    at[:] = at or ["a slice"]
    return step(self, events)

_fast_call.FastCall.__call__ = drops
_wasmtime.WasmtimeRun.step = slice
"""
ON_THE_COMMAND_LINE = "sys.exit(cli.main(sys.argv[1:]))"
IN_A_NOTEBOOK = """
import seeklab
job = {"name": "a", "rw": "randread", "size": "1GiB", "time_based": True, "runtime": "80000s"}
try:
    seeklab.run({"jobs": [job], "devices": [{"preset": "hdd-7200"}]})
except KeyboardInterrupt:
    sys.exit(130 if at == ["a slice", "dropped"] else 1)
"""


@pytest.mark.parametrize("place", [ON_THE_COMMAND_LINE, IN_A_NOTEBOOK], ids=["on the command line", "in a notebook"])
def test_an_interrupt_that_falls_into_a_destructor_is_not_lost(place: str) -> None:
    command = [sys.executable, "-c", DROPS_AN_INTERRUPT + place, *FIO]
    done = subprocess.run(command, input=DAY.encode(), capture_output=True, timeout=GIVE_UP_S, check=False)
    assert done.returncode == 130, done.stderr
    assert place == IN_A_NOTEBOOK or done.stderr.endswith(b"\nseeklab: interrupted\n")


WITHIN_A_CALL = """
import json, os, signal, sys, threading, time
import seeklab
from seeklab.engine import wasmtime as _wasmtime

signalled = []

def signalling():
    signalled.append(time.process_time())
    os.kill(os.getpid(), signal.SIGINT)

trace = "time,object,size\\n" + "".join(f"{n},{n * n % 99991},1\\n" for n in range(100_000))
before = seeklab.cache(trace, ["arc"], [1000])
threading.Timer(0.5, signalling).start()
try:
    LONG
except KeyboardInterrupt:
    processor_s = time.process_time() - signalled[0]
print(json.dumps({
    "processor_s": processor_s,
    "instances": len([instance for instance in _wasmtime._Instance.alive if not instance._stopped]),
    "threads": threading.active_count(),
    "as_before": seeklab.cache(trace, ["arc"], [1000]) == before,
}))
"""


@pytest.mark.parametrize(
    "long",
    [
        pytest.param('seeklab.cache(trace, ["arc", "s3-fifo"] * 500, range(1000, 1100))', id="cache"),
        pytest.param('seeklab.facts("l2arc-warmth", "S7.1")', id="a fact"),
    ],
)
def test_an_interrupt_stops_one_long_call_and_the_next_call_is_answered(long: str) -> None:
    found = run_script(WITHIN_A_CALL.replace("LONG", long))
    assert found["processor_s"] < 1
    assert found["as_before"]
    assert found["instances"] <= 1, "what was stopped has given its memory back"
    assert found["threads"] == 1


TWO_THREADS = """
import json, os, signal, sys, threading
import seeklab
from seeklab.engine import wasmtime as _wasmtime

trace = "time,object,size\\n" + "".join(f"{n},{n * n % 99991},1\\n" for n in range(300_000))
alone, found, began = seeklab.cache(trace, ["arc"] * 8, [1000]), [], threading.Barrier(2)
other = threading.Thread(target=lambda: (began.wait(), found.append(seeklab.cache(trace, ["arc"] * 8, [1000]))))
other.start()
began.wait()
threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
try:
    seeklab.cache(trace, ["arc"] * 1000, range(1000, 1100))
except KeyboardInterrupt:
    other.join()
print(json.dumps({"same": found == [alone]}))
"""


def test_an_interrupt_stops_the_main_threads_call_alone() -> None:
    assert run_script(TWO_THREADS)["same"]


def run_script(script: str) -> dict[str, Any]:
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=GIVE_UP_S, check=False
    )
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found
