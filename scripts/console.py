"""Running commands and steps: what is up to date is not done again, and what fails says so in one sentence.

A step's output goes to `.cache/logs/`; the terminal sees one line when it starts and one when it ends. A step is
up to date when the contents of the files it reads (and the versions it names) are those of its last success, and what
it makes is still there. Contents, not times: a fresh clone has no times worth trusting.
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

# Logs are read later, by people and by programs: no colours, no progress bars, no questions.
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
    """A step could not be done. The message says what happened and what to do."""


@dataclass(frozen=True)
class Step:
    """Something to prepare."""

    name: str
    """The name of its log and stamp."""
    title: str
    work: Callable[[], str | None]
    """Does it; what it returns is printed beside the time."""
    needs: tuple[str, ...] = ()
    reads: tuple[Path, ...] = ()
    """Files and folders whose contents decide whether it must be done again."""
    versions: Callable[[], Iterable[str]] = tuple
    """What else decides."""
    makes: tuple[Path, ...] = ()


def say(line: str = "") -> None:
    """Print a line at once, whole, whichever thread it comes from."""
    with _print_lock:
        print(line, flush=True)


def environment(extra: Mapping[str, str] | None = None) -> dict[str, str]:
    """Give the variables that commands run with: this process's, with the virtual environment first on the PATH."""
    path = f"{VENV / 'bin'}{os.pathsep}{os.environ.get('PATH', os.defpath)}"
    return {**os.environ, **QUIET_ENVIRONMENT, "PATH": path, **(extra or {})}


def capture(*command: str | Path) -> str | None:
    """Give what a command prints, stripped, or None when it fails or is not there."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT)
    except (OSError, subprocess.CalledProcessError):
        return None
    return done.stdout.strip()


def run(
    log: str, *command: str | Path, folder: Path = ROOT, extra_environment: Mapping[str, str] | None = None
) -> None:
    """Run a command with its output in the log; raise with the log's end when it fails."""
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
        message = f"{tail}\n{shown} ended with exit code {code}; the whole log is {path.relative_to(ROOT)}."
        raise StepFailedError(message)


class Outcome(NamedTuple):
    """How a command ended."""

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
    """Run a command, at most as long as the limit, its output logged and shown, except for lines of routine."""
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
            start_new_session=True,  # so that the time limit ends the command's children as well
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
        say(f"Ended after the limit of {limit_s:.0f} s.")
    return Outcome(code, "".join(lines), limit_reached.is_set())


def apply(steps: Sequence[Step]) -> dict[str, StepFailedError | None]:
    """Do the steps, side by side where they do not need each other. Gives each step's failure, or None.

    The list is in order: a step stands after those it needs, as far as they are in it. One that needs a failed step
    fails with it.
    """
    outcomes: dict[str, Future[StepFailedError | None]] = {}

    def attempt(step: Step, needed: list[Future[StepFailedError | None]]) -> StepFailedError | None:
        for future in needed:
            if future.result() is not None:
                return StepFailedError(f"{step.title}: not tried, because {' or '.join(step.needs)} failed.")
        return _do(step)

    with ThreadPoolExecutor(max_workers=max(1, len(steps))) as pool:
        for step in steps:
            needed = [outcomes[name] for name in step.needs if name in outcomes]
            outcomes[step.name] = pool.submit(attempt, step, needed)
        return {name: future.result() for name, future in outcomes.items()}


def apply_all(steps: Sequence[Step]) -> None:
    """Do the steps; raise the first failure that is not another's consequence."""
    failures = [failure for failure in apply(steps).values() if failure is not None]
    if failures:
        raise failures[0]


def _do(step: Step) -> StepFailedError | None:
    stamp = STAMPS / step.name
    digest = _digest(step)
    if stamp.exists() and stamp.read_text() == digest and all(path.exists() for path in step.makes):
        return None
    # From here on what the step makes may be half made: a step that is killed has no stamp and is done again.
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
    # The recipe counts as well: a step that is done another way is done again.
    return digest_of(inspect.getsource(step.work), step.versions(), step.reads)


def digest_of(recipe: str, words: Iterable[str], reads: Iterable[Path]) -> str:
    """Return a digest of how something is done, of the words that decide besides, and of the contents of files."""
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
    """Run a verb and end the process: 0, the verb's own code, or 1 with the reason on standard error."""
    try:
        sys.exit(verb())
    except StepFailedError as failure:
        # A failed step has already told its story beside the others; the last line is the one that is read.
        say()
        print(str(failure).splitlines()[-1], file=sys.stderr)
        sys.exit(1)
    except KeyboardInterrupt:
        say("\nStopped.")
        sys.exit(130)
