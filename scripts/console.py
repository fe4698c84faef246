"""Commands and steps: steps that are up to date do not run again, and failures are reported in one sentence.

A step's output goes to `.cache/logs/`; the terminal shows one line when it starts and one when it ends. A step is up to
date if the files that it reads (and the versions that it names) have the contents of its last success, and its outputs
still exist. Contents count instead of times, because a new clone has no meaningful times.
"""

from __future__ import annotations

import hashlib
import inspect
import os
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import re
    from collections.abc import Callable, Iterable, Mapping, Sequence

ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / ".venv"
CACHE = ROOT / ".cache"
LOGS = CACHE / "logs"
STAMPS = CACHE / "stamps"

TAIL_LINES = 40
SIGN_OF_LIFE_S = 30.0

# People and programs read the logs later: no colours, progress bars or questions.
QUIET_ENVIRONMENT = {
    "CARGO_TERM_COLOR": "never",
    "CARGO_TERM_PROGRESS_WHEN": "never",
    "NO_COLOR": "1",
    "PIP_DISABLE_PIP_VERSION_CHECK": "1",
    "PIP_NO_INPUT": "1",
    "PY_COLORS": "0",
    "npm_config_progress": "false",
}

_BUILT_FOLDERS = {"target", "node_modules", "pkg", "generated", "dist", "_engine", "__pycache__", ".ipynb_checkpoints"}

_print_lock = threading.Lock()


class StepFailedError(Exception):
    """A step failed. The message says what happened and what to do."""


@dataclass(frozen=True)
class Step:
    """One action of the build."""

    name: str
    """The name of its log and stamp."""
    title: str
    work: Callable[[], str | None]
    """Does the work; its result is printed next to the time."""
    needs: tuple[str, ...] = ()
    reads: tuple[Path, ...] = ()
    """Files and folders whose contents decide whether it must run again."""
    versions: Callable[[], Iterable[str]] = tuple
    """Further text whose change makes it run again."""
    makes: tuple[Path, ...] = ()


def say(line: str = "") -> None:
    """Print a complete line at once, from any thread."""
    with _print_lock:
        print(line, flush=True)


def environment(extra: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return the variables for commands: those of this process, with the virtual environment first on the PATH."""
    path = f"{VENV / 'bin'}{os.pathsep}{os.environ.get('PATH', os.defpath)}"
    return {**os.environ, **QUIET_ENVIRONMENT, "PATH": path, **(extra or {})}


def capture(*command: str | Path) -> str | None:
    """Return a command's output without surrounding space, or None if it fails or is missing."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT)
    except (OSError, subprocess.CalledProcessError):
        return None
    return done.stdout.strip()


def run(
    log: str, *command: str | Path, folder: Path = ROOT, extra_environment: Mapping[str, str] | None = None
) -> None:
    """Run a command with its output in the log; if it fails, raise with the end of the log."""
    LOGS.mkdir(parents=True, exist_ok=True)
    path = LOGS / f"{log}.log"
    shown = " ".join(str(word) for word in command)
    with path.open("a", encoding="utf-8") as file:
        file.write(f"$ {shown}\n")
        file.flush()
        try:
            code = subprocess.run(
                command,
                stdin=subprocess.DEVNULL,
                stdout=file,
                stderr=subprocess.STDOUT,
                cwd=folder,
                env=environment(extra_environment),
                check=False,
            ).returncode
        except OSError as error:
            message = f"{shown} could not be started: {error}"
            raise StepFailedError(message) from None
    if code != 0:
        tail = "\n".join(path.read_text(encoding="utf-8", errors="replace").splitlines()[-TAIL_LINES:])
        message = f"{tail}\n{shown} ended with exit code {code}; the full log is {path.relative_to(ROOT)}."
        raise StepFailedError(message)


class Outcome(NamedTuple):
    """The result of a command."""

    code: int
    output: str
    limit_reached: bool = False


def stream(
    log: str,
    command: Sequence[str | Path],
    folder: Path,
    limit_s: float,
    *,
    extra_environment: Mapping[str, str] | None = None,
    routine: re.Pattern[str] | None = None,
) -> Outcome:
    """Run a command within the time limit; log its output, and show it except for routine lines."""
    LOGS.mkdir(parents=True, exist_ok=True)
    lines: list[str] = []
    try:
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            cwd=folder,
            env=environment(extra_environment),
            start_new_session=True,  # so that the time limit also ends the command's children
        )
    except OSError as error:
        say(f"{command[0]} could not be started: {error}")
        return Outcome(127, "")
    limit_reached = threading.Event()

    def end() -> None:
        limit_reached.set()
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)

    timer = threading.Timer(limit_s, end)
    timer.start()
    try:
        with (LOGS / f"{log}.log").open("w", encoding="utf-8") as file:
            shown = time.monotonic()
            for line in process.stdout or ():
                file.write(line)
                lines.append(line)
                if routine is None or not routine.search(line):
                    say(line.rstrip("\n"))
                elif time.monotonic() - shown < SIGN_OF_LIFE_S:
                    continue
                else:
                    say(f"... {line.strip()}")
                shown = time.monotonic()
        code = process.wait()
    except BaseException:
        os.killpg(process.pid, signal.SIGKILL)
        raise
    finally:
        timer.cancel()
    if limit_reached.is_set():
        say(f"Stopped after the limit of {limit_s:.0f} s.")
    return Outcome(code, "".join(lines), limit_reached.is_set())


def apply(steps: Sequence[Step]) -> dict[str, StepFailedError | None]:
    """Run the steps, in parallel if they do not need each other. Return each step's failure, or None.

    The list must be in order: a step comes after those steps of the list that it needs. If a needed step fails, the
    step fails too.
    """
    outcomes: dict[str, Future[StepFailedError | None]] = {}

    def attempt(step: Step, needed: list[Future[StepFailedError | None]]) -> StepFailedError | None:
        for future in needed:
            if future.result() is not None:
                return StepFailedError(f"{step.title}: not run, because {' or '.join(step.needs)} failed.")
        return _do(step)

    with ThreadPoolExecutor(max_workers=max(1, len(steps))) as pool:
        for step in steps:
            needed = [outcomes[name] for name in step.needs if name in outcomes]
            outcomes[step.name] = pool.submit(attempt, step, needed)
        return {name: future.result() for name, future in outcomes.items()}


def apply_all(steps: Sequence[Step]) -> None:
    """Run the steps; raise the first failure that is not a consequence of another."""
    failures = [failure for failure in apply(steps).values() if failure is not None]
    if failures:
        raise failures[0]


def _do(step: Step) -> StepFailedError | None:
    stamp = STAMPS / step.name
    digest = _digest(step)
    if stamp.exists() and stamp.read_text() == digest and all(path.exists() for path in step.makes):
        return None
    # From here on the outputs may be incomplete: a step that is killed has no stamp and runs again.
    stamp.unlink(missing_ok=True)
    say(f"{step.title} ...")
    (LOGS / f"{step.name}.log").unlink(missing_ok=True)
    start = time.monotonic()
    try:
        note = step.work()
    except StepFailedError as failure:
        say(f"{step.title} failed after {time.monotonic() - start:.0f} s.\n{failure}")
        return failure
    say(f"{step.title}: done in {time.monotonic() - start:.0f} s{f' ({note})' if note else ''}")
    STAMPS.mkdir(parents=True, exist_ok=True)
    stamp.write_text(digest)
    return None


def _digest(step: Step) -> str:
    # The recipe counts as well: a step whose recipe changes runs again.
    return digest_of(inspect.getsource(step.work), step.versions(), step.reads)


def digest_of(recipe: str, words: Iterable[str], reads: Iterable[Path]) -> str:
    """Return a digest of a recipe, of further words, and of the contents of files."""
    digest = hashlib.sha256(recipe.encode())
    for word in words:
        digest.update(word.encode() + b"\0")
    for top in reads:
        for path in [top] if top.is_file() else sorted(_sources(top)):
            digest.update(str(path.relative_to(ROOT)).encode() + b"\0")
            digest.update(hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()


def _sources(folder: Path) -> Iterable[Path]:
    for parent, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if name not in _BUILT_FOLDERS and not name.endswith(".egg-info")]
        yield from (Path(parent, name) for name in names)


def main(verb: Callable[[], int | None]) -> None:
    """Run a verb and end the process with 0, with the verb's own code, or with 1 and the reason on standard error."""
    try:
        sys.exit(verb())
    except StepFailedError as failure:
        # A failed step has already printed its log; readers look at the last line.
        say()
        print(str(failure).splitlines()[-1], file=sys.stderr)
        sys.exit(1)
    except KeyboardInterrupt:
        say("\nStopped.")
        sys.exit(130)
