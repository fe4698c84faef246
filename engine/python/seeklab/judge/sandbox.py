"""The sandbox that runs learners' code: without network or access to anyone's files, and with limited resources.

`bubblewrap` builds it with its own namespaces for processes, network, users and files. The system, this interpreter and
this package are read-only; the only writable place is a small /tmp in memory. The child is its only process. It sets
the kernel's limits, gives up all system calls except those of `_syscalls`, and reports this. Only then does the grader
send the learner's code. An earlier failure is the sandbox's fault, a later one the submission's. A thread in the grader
watches the memory. All output is parsed as JSON and checked before it is used.

If root starts it, as in a CI, bubblewrap creates no user namespace. The child then becomes an unprivileged user that no
other child uses. Without bubblewrap nothing runs, unless the caller passes `unsafe`.
"""

from __future__ import annotations

import json
import math
import os
import platform
import secrets
import select
import shutil
import signal
import site
import socket
import subprocess
import sys
import threading
import time
from collections import deque
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from seeklab._errors import Problem, SeeklabError
from seeklab.judge import _sandbox_child
from seeklab.judge._syscalls import filter_here

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

MIB = 1 << 20
FIRST_UID, UIDS = 61_184, 4_000
"""User ids that no system assigns to people; each sandbox started by root uses one of them."""
WATCH_S = 0.1
START_WITHIN_S = 30.0
BYTES_OF_A_FILE = 2048
"""Kernel memory of an empty file, in bytes."""
MAX_STARVED = 4
"""Multiple of a time limit that a child may wait uncharged while other processes use the processors."""
LAST_MOMENT_S = 2.0
MAX_LINE = 2 * MIB
MEMORY = ("VmRSS", "VmSwap", "VmPTE")
"""The kernel's counts of a process's memory: pages, swapped pages, and the tables of pages."""
LIBRARIES = ("/lib", "/lib64", "/lib32", "/usr/lib", "/usr/lib64", "/usr/lib32")
CHILD, PYTHON = "/child.py", "/python"
"""Names inside the sandbox, which reveal nothing about this machine."""
KEY_LISTINGS = ("/proc/keys", "/proc/key-users")
SYSTEM_FOLDERS = ("/usr", "/bin", "/lib", "/lib64", "/lib32", "/sbin")
WORK = "/submission"
DEVICES = ("/dev/null", "/dev/random", "/dev/urandom", "/dev/full")
"""Without /dev/zero and /dev/shm: memory mapped from them is not counted for any process."""
NO_NESTING = "--disable-userns"
UNSAFE = (
    "files, processes and the network of this machine can be reached",
    "no system call is refused",
    "memory and processor time are limited for each process, not in total",
)
"""Protections that are missing without a sandbox."""
ENDED, TOO_LATE = "ended the interpreter before it answered", "gave no answer within"
PROCESSOR_TIME, NO_VALUE = "processor time", "has no value"
ELSEWHERE = "grade on another machine, or pass --unsafe"
HOW = "install it (on Debian and Ubuntu: apt-get install bubblewrap), or pass --unsafe"


@dataclass(frozen=True)
class Limits:
    """Limits of a submission: memory, processes and space for each child, and time for all children together."""

    memory_bytes: int = 1 << 30
    cpu_s: int = 60
    wall_s: float = 120.0
    processes: int = 32
    tmp_bytes: int = 32 * MIB
    output_bytes: int = 4 * MIB


@dataclass
class Spent:
    """The time used by the children of one submission, which run one after the other."""

    cpu_s: float = 0.0
    waited_s: float = 0.0
    """The grader's wait for them, without their waits for a processor."""


class SandboxError(SeeklabError):
    """No sandbox is available here; the message says what to do."""

    @classmethod
    def because(cls, sentence: str) -> SandboxError:
        """Return the error with this sentence."""
        return cls([Problem("sandbox", sentence)])


class BrokenOutError(Exception):
    """A child was killed by a limit or for an invalid message. The text says which."""


@dataclass(frozen=True)
class Sandbox:
    """Starts children with limits."""

    limits: Limits = field(default_factory=Limits)
    unsafe: bool = False
    spent: Spent | None = None
    """The time of one submission; if None, each child has the full time."""

    def for_one_submission(self, *hidden: Path) -> Sandbox:
        """Return this sandbox with one time budget for all its children; raise if a child could read a hidden file."""
        if not self.unsafe:
            for path in hidden:
                _must_be_hidden(path)
        return replace(self, spent=Spent())

    def missing(self) -> list[str]:
        """Return the features that are missing in this machine's sandbox, one sentence each."""
        if self.unsafe:
            return list(UNSAFE)
        _, options = _bubblewrap()
        lacks = []
        if os.geteuid() != 0 and NO_NESTING not in options:
            lacks.append("this bubblewrap has no --disable-userns: only the filter refuses user namespaces")
        if not Path("/proc/self/schedstat").exists():
            lacks.append("this kernel does not report how long a process waits for a processor: all waiting is charged")
        return lacks

    def with_limits(self, **limits: Any) -> Sandbox:
        """Return the same sandbox with other limits."""
        return replace(self, limits=replace(self.limits, **limits))

    def start(self, order: Mapping[str, Any], files: Mapping[str, str] | None = None) -> SandboxChild:
        """Start a child with `files` (text by name) in its working directory, and send it the order."""
        limits, spent = self.limits, self.spent or Spent()
        if spent.cpu_s >= limits.cpu_s:
            message = f"has used the {limits.cpu_s} s of {PROCESSOR_TIME} of a submission"
            raise BrokenOutError(message)
        filter_ = None if self.unsafe else filter_here()
        if filter_ is None and not self.unsafe:
            message = f"the system call numbers of this machine ({platform.machine()}) are not known; {ELSEWHERE}"
            raise SandboxError.because(message)
        uid, claim = _free_uid()
        setup = {
            "path": [] if order["do"] == "play" else _import_path(),
            "uid": uid,
            "filter": "" if filter_ is None else filter_.hex(),
            "limits": {
                "DATA": limits.memory_bytes,
                "CPU": math.ceil(limits.cpu_s - spent.cpu_s),
                "FSIZE": limits.tmp_bytes,
                "NOFILE": 256,
                "CORE": 0,
                "NPROC": limits.processes,
            },
        }
        command, environment, passed = self._command(files or {}, is_program=order["do"] == "play")
        try:
            process = subprocess.Popen(  # noqa: S603 -- a fixed command
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                env=environment,
                cwd="/",
                pass_fds=passed,
                bufsize=0,
                start_new_session=True,
            )
        finally:
            for number in passed:
                os.close(number)
        child = SandboxChild(process, limits, spent, claim)
        try:
            child.begin(setup)
            child.tell(order)
        except BaseException:
            child.close()
            raise
        return child

    def _command(self, files: Mapping[str, str], *, is_program: bool) -> tuple[list[str], dict[str, str], list[int]]:
        """Return the command, its environment, and the pipes that it reads options and files from."""
        flags = ["-P", "-s", "-S", "-B"]
        environment = {
            "PATH": "/usr/bin:/bin",
            "HOME": "/tmp",  # noqa: S108 -- the sandbox's own, in memory
            "LANG": "C.UTF-8",
            "PYTHONHASHSEED": "0",
            "PYTHONUTF8": "1",
        }
        if self.unsafe:
            return [sys.executable, *flags, _sandbox_child.__file__], environment, []
        # As process 1 the child is alone in the sandbox, so it cannot reach an unfiltered process.
        options = ["--die-with-parent", "--new-session", "--as-pid-1", "--clearenv", "--cap-drop", "ALL"]
        options += ["--unshare-ipc", "--unshare-pid", "--unshare-net", "--unshare-uts", "--unshare-cgroup-try"]
        program, user_options = _bubblewrap()
        options += user_options
        options += ["--hostname", "sandbox"]
        for folder in ("/dev", "/etc"):  # those that bubblewrap creates would be accessible to root only
            options += ["--perms", "0755", "--dir", folder]
        for device in DEVICES:
            options += ["--dev-bind", device, device]
        if is_program:
            options += _library()
        else:
            options += ["--proc", "/proc"]
            for listing in KEY_LISTINGS:
                options += ["--ro-bind", "/dev/null", listing] if Path(listing).exists() else []
            options += ["--remount-ro", "/proc"]
            options += ["--perms", "1777", "--size", str(self.limits.tmp_bytes), "--tmpfs", "/tmp"]  # noqa: S108 -- the sandbox's own, in memory
            options += _seen()
        options += ["--ro-bind", _sandbox_child.__file__, CHILD, "--symlink", str(_interpreter()), PYTHON]
        passed: list[int] = []
        options += ["--perms", "0755", "--dir", WORK]
        for name, text in files.items():
            passed.append(_piped(text.encode()))
            options += ["--perms", "0444", "--ro-bind-data", str(passed[-1]), f"{WORK}/{name}"]
        options += ["--chdir", WORK, "--remount-ro", "/"]
        for name, value in {**environment, "XDG_CACHE_HOME": "/cache"}.items():
            options += ["--setenv", name, value]
        passed.append(_piped("\0".join(options).encode()))
        return [program, "--args", str(passed[-1]), "--", PYTHON, *flags, CHILD], {}, passed


def _user_options() -> list[list[str]]:
    """Return the alternative options for the child's user, the best first."""
    if os.geteuid() == 0:
        return [["--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID"]]
    return [["--unshare-user", NO_NESTING], ["--unshare-user"]]


def _free_uid() -> tuple[int, socket.socket | None]:
    """Return a user id that no other sandbox uses while the socket is open; only root's sandboxes need one."""
    if os.geteuid() != 0:
        return os.geteuid(), None
    while True:
        uid = FIRST_UID + secrets.randbelow(UIDS)
        claim = socket.socket(socket.AF_UNIX)
        with suppress(OSError):
            claim.bind(f"\0seeklab-sandbox-{uid}")
            return uid, claim
        claim.close()


def _seen() -> list[str]:
    """Return the options that bind what cells of a notebook see: system, interpreter, package, compiled engines."""
    options = [*_system(SYSTEM_FOLDERS), *_bound(_own_folders())]
    options += ["--perms", "0755", "--dir", "/cache", "--perms", "0755", "--dir", "/cache/seeklab"]
    for compiled in _compiled_engines():
        options += ["--ro-bind", str(compiled), f"/cache/seeklab/{compiled.name}"]
    return options


def _library() -> list[str]:
    """Return the options that bind what a program sees: this interpreter and its standard library, without packages."""
    own = [part for part in _parts_of(sys.base_prefix) if Path(part).name.startswith("lib")]
    own = [path for path in (*own, str(_interpreter())) if not _is_within(Path(path), LIBRARIES)]
    options = [*_system(LIBRARIES), *_bound(own)]
    bound = (*LIBRARIES, *own)
    packages = [Path(path) for path in (*site.getsitepackages(), site.getusersitepackages(), str(_package()))]
    packages += [path for folder in bound for path in Path(folder).glob("python3*/*-packages")]
    for path in dict.fromkeys(path for path in packages if path.is_dir() and _is_within(path, bound)):
        options += ["--tmpfs", str(path), "--remount-ro", str(path)]
    return options


def _interpreter() -> Path:
    """Return the interpreter that the environment's interpreter links to."""
    return Path(getattr(sys, "_base_executable", sys.executable)).resolve()


def _is_within(path: Path, folders: Iterable[str]) -> bool:
    return any(path.is_relative_to(folder) for folder in folders)


def _system(folders: Iterable[str]) -> list[str]:
    options: list[str] = []
    for folder in folders:
        path = Path(folder)
        if path.is_symlink():
            options += ["--symlink", str(path.readlink()), folder]
        elif path.is_dir():
            options += _bound([folder])
    return [*options, *_bound(["/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/ld.so.conf.d"])]


def _bound(paths: Iterable[str]) -> list[str]:
    """Return options that bind existing paths read-only at the same place."""
    options: list[str] = []
    for path in paths:
        # Created first: only root can enter the parent folders that bubblewrap creates itself.
        for above in reversed(Path(path).parents[:-1]):
            if str(above) != "/tmp":  # noqa: S108 -- the sandbox's own, in memory
                options += ["--perms", "0755", "--dir", str(above)]
        options += ["--ro-bind-try", path, path]
    return options


def _piped(content: bytes) -> int:
    """Write a file's content to a pipe, whose buffer holds a megabyte; return the end to read from."""
    import fcntl

    reading, writing = os.pipe()
    try:
        with suppress(OSError):
            fcntl.fcntl(writing, 1031, MIB)  # F_SETPIPE_SZ
        os.set_blocking(writing, False)
        if os.write(writing, content) == len(content):
            return reading
    finally:
        os.close(writing)
    os.close(reading)
    message = "the files next to the notebook are too large for the sandbox"
    raise SandboxError.because(message)


def _import_path() -> list[str]:
    """Return the folders that a child imports from: this interpreter's packages and this package."""
    packages = [path for path in site.getsitepackages() if Path(path).is_dir()]
    return [str(_package().parent), *packages]


def _package() -> Path:
    return Path(_sandbox_child.__file__).resolve().parent.parent


def _own_folders() -> list[str]:
    """Return the folders bound besides the system: interpreter, environment and package, but not their parents."""
    prefixes = dict.fromkeys((sys.base_prefix, sys.prefix, sys.base_exec_prefix))
    folders = [part for prefix in prefixes for part in _parts_of(prefix)]
    return [folder for folder in (*folders, str(_package())) if not _is_within(Path(folder), SYSTEM_FOLDERS)]


def _parts_of(prefix: str) -> list[str]:
    """Return the parts of its prefix that an interpreter needs; the prefix can contain any other files."""
    return [str(Path(prefix) / part) for part in ("bin", "lib", "lib64", "pyvenv.cfg")]


def _compiled_engines() -> list[Path]:
    """Return the files of compiled engines, so that a child need not compile one."""
    from seeklab.engine.compiled import cache_directory

    found: list[Path] = []
    with suppress(RuntimeError, OSError):
        for path in cache_directory().glob("engine-*.cwasm"):
            if os.geteuid() == 0:
                path.chmod(0o644)  # in a folder that only root may enter
            found.append(path)
    return found


def _must_be_hidden(path: Path) -> None:
    for folder in (*SYSTEM_FOLDERS, *_own_folders()):
        if path.resolve().is_relative_to(Path(folder).resolve()):
            message = f"{path} is in {folder}, which learners' code can read; move it to another folder"
            raise SandboxError.because(message)


@cache
def _bubblewrap() -> tuple[str, list[str]]:
    """Find bubblewrap and test once whether it can build a sandbox here; return its path and the accepted options."""
    if platform.system() != "Linux":
        message = (
            f"the sandbox for learners' code needs Linux; this is {platform.system()}; grade on Linux "
            "(a virtual machine or a container is enough), or pass --unsafe"
        )
        raise SandboxError.because(message)
    found = shutil.which("bwrap")
    if found is None:
        message = f"bubblewrap, which runs learners' code in a sandbox, is not installed; {HOW}"
        raise SandboxError.because(message)
    # bubblewrap as root creates no user namespace, so it needs the rights of a privileged container.
    for options in _user_options():
        trial = [found, *options, "--unshare-pid", "--unshare-net"]
        trial += ["--ro-bind", "/", "/", "--proc", "/proc", "/bin/true"]
        tried = subprocess.run(  # noqa: S603 -- a fixed command
            trial,
            capture_output=True,
            text=True,
            check=False,
        )
        if tried.returncode == 0:
            return found, options
    message = (
        f"bubblewrap cannot build a sandbox here ({tried.stderr.strip()}); allow user namespaces for this user "
        "(in a container: start it with --privileged or --security-opt seccomp=unconfined), or pass --unsafe"
    )
    raise SandboxError.because(message)


class Wait:
    """A wait for a child: its start, and the child's time without a processor until then."""

    __slots__ = ("began", "starved_s")

    def __init__(self, starved_s: float) -> None:
        """Start the wait now."""
        self.began, self.starved_s = time.monotonic(), starved_s


class SandboxChild:
    """A process in the sandbox, and its output."""

    def __init__(
        self, process: subprocess.Popen[bytes], limits: Limits, spent: Spent, claim: socket.socket | None
    ) -> None:
        """Take over a started process and its reserved user id."""
        self._process, self._limits, self._spent, self._claim = process, limits, spent, claim
        assert process.stdin is not None  # noqa: S101 -- for the type checker
        assert process.stdout is not None  # noqa: S101 -- for the type checker
        self._in, self._out = process.stdin.fileno(), process.stdout.fileno()
        self._poll = select.poll()
        self._poll.register(self._out, select.POLLIN | select.POLLHUP)
        self._lines: deque[bytes] = deque()
        self._rest = bytearray()
        self._read = 0
        self._has_begun = False
        self._waited_s = 0.0
        self._wait: Wait | None = None
        self._cpu_s = self._starved_s = 0.0
        """The child's processor time, and the time that awaited answers spent waiting for a processor."""
        self._grader = threading.get_native_id()
        self._grader_starved_s = self._inmate_starved_s = 0.0
        with suppress(OSError, ValueError, IndexError):
            self._grader_starved_s = _starved_s(self._grader)
        self._reason = ""
        self._pid = process.pid
        self._first: int | None = None
        """The child itself: its process id and a descriptor. Bubblewrap waits for it."""
        self._closed = threading.Event()
        self._watcher = threading.Thread(target=self._watch, daemon=True)
        os.set_blocking(self._in, False)

    def __enter__(self) -> Self:
        """Return the child."""
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        """End the child; after its work it has a moment to exit by itself."""
        if kind is None and self._process.stdin is not None:
            self._look()
            with suppress(OSError):
                self._process.stdin.close()
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(LAST_MOMENT_S)
        self.close()

    def begin(self, setup: Mapping[str, Any]) -> None:
        """Let the child lock the sandbox. None of the learner's code has been sent, so a failure is the sandbox's."""
        assert self._process.stderr is not None  # noqa: S101 -- for the type checker
        errors = os.dup(self._process.stderr.fileno())
        os.set_blocking(errors, False)
        try:
            self.tell(setup)
            answer = _document(self.line())
        except BrokenOutError as error:
            said = b""
            with suppress(OSError):
                said = os.read(errors, 4096)
            answer = {"failed": said.decode(errors="replace").strip() or str(error)}
        finally:
            os.close(errors)
        if answer != {"locked": True}:
            message = f"the sandbox could not be locked: {str(answer.get('failed'))[:500]}; {ELSEWHERE}"
            raise SandboxError.because(message)
        self._process.stderr.close()  # its errors are no longer read
        with suppress(OSError, ValueError, AttributeError):  # without such descriptors bubblewrap is killed instead
            (self._pid,) = _children(self._process.pid)
            self._first = os.pidfd_open(self._pid)
        self._waited_s, self._has_begun = 0.0, True
        self._watcher.start()

    def tell(self, document: object) -> None:
        """Send a line of JSON."""
        content = memoryview(json.dumps(document).encode() + b"\n")
        try:
            with suppress(BlockingIOError):
                content = content[os.write(self._in, content) :]
            if content:
                self._wait = Wait(self._starved_s)
                while content:
                    self._must_have_time(self._wait, "was not done within")
                    if select.select([], [self._in], [], WATCH_S)[1]:
                        content = content[os.write(self._in, content) :]
        except BrokenPipeError:
            raise BrokenOutError(self._last_words()) from None
        finally:
            self._charge()

    def line(self, within_s: float = math.inf) -> bytes:
        """Return the child's next line; raise BrokenOutError if none comes in time."""
        if not self._lines:
            wait = self._wait = Wait(self._starved_s)
            try:
                while not self._lines:
                    if self._poll.poll(1000 * WATCH_S):
                        self._take(os.read(self._out, 1 << 16))
                    # Also after a line: a child that writes all the time gets no more time than others.
                    self._must_have_time(wait, TOO_LATE, within_s)
            finally:
                self._charge()
        return self._lines.popleft()

    def _must_have_time(self, wait: Wait, missed: str, within_s: float = math.inf) -> None:
        """Kill the child if its time is over.

        Time that the child and the grader wait for a processor is not charged, up to a limit: the child cannot help it.
        """
        waited_s = time.monotonic() - wait.began
        limit_s = self._limits.wall_s if self._has_begun else START_WITHIN_S
        for most_s, taken_s, starved_s in (
            (within_s, waited_s, self._starved_s - wait.starved_s),
            (limit_s, self._spent.waited_s + self._waited_s + waited_s, self._starved_s),
        ):
            if taken_s - min(starved_s, MAX_STARVED * most_s) >= most_s:
                self.close()
                message = f"{missed} {most_s:g} s"
                raise BrokenOutError(message)

    @contextmanager
    def charged(self) -> Iterator[None]:
        """Charge the grader's own work on the child's answers as well: a large answer is cheap to write."""
        began = time.monotonic()
        try:
            yield
        finally:
            self._waited_s += time.monotonic() - began

    def _charge(self) -> None:
        """Charge the current wait to the child, if there is one."""
        if self._wait is not None:
            self._waited_s += time.monotonic() - self._wait.began
            self._wait = None

    def _take(self, part: bytes) -> None:
        """Collect a piece of output, which may end in the middle of a line."""
        if not part:
            raise BrokenOutError(self._last_words())
        self._read += len(part)
        first, *others = part.split(b"\n")
        self._rest += first
        if others:
            self._lines += [bytes(self._rest), *others[:-1]]
            self._rest = bytearray(others[-1])
        if self._read > self._limits.output_bytes or len(self._rest) > MAX_LINE:
            self.close()
            message = f"wrote more than {self._limits.output_bytes // MIB} MiB of answers"
            raise BrokenOutError(message)

    def forgive_output(self) -> None:
        """Reset the count of output bytes, because a policy may write a little very often."""
        self._read = 0

    def _watch(self) -> None:
        """Kill the child when it uses too much memory, independently of its output."""
        while not self._closed.wait(WATCH_S):
            if self._look() > self._limits.memory_bytes:
                self._reason = f"used more than {self._limits.memory_bytes / (1 << 30):g} GiB of memory"
                self._kill()
                return

    def _look(self) -> int:
        """Record the child's times; return its memory and swap space in bytes."""
        held = 0
        if self._process.poll() is not None:
            return held
        with suppress(OSError, ValueError, IndexError):  # the child has ended, or the kernel does not report it
            place = Path(f"/proc/{self._pid}")
            fields = dict(line.split(":", 1) for line in (place / "status").read_text().splitlines())
            held = sum(int(fields[name].split()[0]) << 10 for name in MEMORY if name in fields)
            held += _files_bytes(place / "root" / "tmp")
            ticks = (place / "stat").read_text().rpartition(")")[2].split()[11:13]
            self._cpu_s = sum(map(int, ticks)) / os.sysconf("SC_CLK_TCK")
            before, self._inmate_starved_s = self._inmate_starved_s, _starved_s(self._pid)
            self._starved_s += self._inmate_starved_s - before
            before, self._grader_starved_s = self._grader_starved_s, _starved_s(self._grader)
            if self._wait is not None:
                self._starved_s += self._grader_starved_s - before
        return held

    def _last_words(self) -> str:
        """Return how the child ended."""
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(5)
        code = self._process.returncode
        self.close()
        if self._reason:
            return self._reason
        if code in (128 + 24, -24, 128 + 9, -9):
            return f"was killed by a limit ({self._limits.cpu_s} s of {PROCESSOR_TIME}, or memory)"
        return ENDED

    def _kill(self) -> None:
        """Kill the child; bubblewrap then ends by itself."""
        with suppress(ProcessLookupError):
            if self._first is None:
                self._process.kill()
            else:
                signal.pidfd_send_signal(self._first, signal.SIGKILL)

    def close(self) -> None:
        """End the child, and charge its time to the submission."""
        if self._closed.is_set():
            return
        self._look()
        self._closed.set()
        if self._watcher.is_alive():
            self._watcher.join()
        self._charge()
        self._spent.cpu_s += self._cpu_s
        self._spent.waited_s += max(0.0, self._waited_s - self._starved_s)
        self._kill()
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(LAST_MOMENT_S)
        self._process.kill()  # if it has not ended by itself
        self._process.wait()
        if self._first is not None:
            os.close(self._first)
            self._first = None
        if self._claim is not None:
            self._claim.close()
        for stream in (self._process.stdin, self._process.stdout, self._process.stderr):
            if stream is not None:
                with suppress(OSError):
                    stream.close()


def _files_bytes(folder: Path) -> int:
    """Return the memory used by the files of a file system in memory; empty files use some as well."""
    with suppress(OSError):  # a program has no such folder
        found = os.statvfs(folder)
        return (found.f_blocks - found.f_bfree) * found.f_frsize + (found.f_files - found.f_ffree) * BYTES_OF_A_FILE
    return 0


def _starved_s(thread: int) -> float:
    """Return how long a thread has waited for a processor, in seconds."""
    return int(Path(f"/proc/{thread}/schedstat").read_text().split()[1]) / 1e9


def _children(pid: int) -> list[int]:
    """Return the child processes of a process."""
    return list(map(int, Path(f"/proc/{pid}/task/{pid}/children").read_text().split()))


@dataclass
class SandboxResult:
    """The output of a child that ran a notebook."""

    values: dict[str, Any] = field(default_factory=dict)
    """Answers by name."""
    reasons: dict[str, str] = field(default_factory=dict)
    """The reason why an answer has no value, by name."""
    programs: dict[str, list[int]] = field(default_factory=dict)
    """The numbers of the cells that a program needs, by name."""
    wrong: dict[str, str] = field(default_factory=dict)
    """The error of a cell, by its label."""

    def take(self, told: Mapping[str, Any], cells: int, wanted: Mapping[str, bool]) -> None:
        """Add one line; invalid parts are ignored."""
        reason = str(told.get("reason", ""))[: 2 * _sandbox_child.MAX_MESSAGE]
        name = told.get("name", told.get("program", told.get("cell")))
        if not isinstance(name, str) or len(name) > _sandbox_child.MAX_MESSAGE:
            return
        if "cell" in told:
            self.wrong.setdefault(name, reason)
        elif name not in wanted:
            return
        elif "program" in told:
            numbers = told.get("cells")
            if isinstance(numbers, list):
                self.programs[name] = sorted({at for at in numbers if type(at) is int and 0 <= at < cells})
        elif "value" in told:
            try:
                self.values[name] = _sandbox_child.strict(told["value"])
            except _sandbox_child.NotDataError as error:
                self.reasons[name] = str(error)
        else:
            self.reasons[name] = reason or "is missing"


def answers_of(
    sandbox: Sandbox,
    cells: Sequence[Mapping[str, Any]],
    wanted: Mapping[str, bool],
    files: Mapping[str, str] | None = None,
) -> SandboxResult:
    """Run a notebook's cells for the answers in `wanted`. True marks a program: only its cells are reported."""
    found = SandboxResult()
    ended = ""
    try:
        with sandbox.start({"do": "answers", "cells": list(cells), "wanted": dict(wanted)}, files) as child:
            while not (told := _document(child.line())).get("done"):
                found.take(told, len(cells), wanted)
    except BrokenOutError as error:
        ended = str(error)
    for name in wanted:
        if name not in found.values and name not in found.reasons:
            found.reasons[name] = f"{NO_VALUE}: the notebook's code {ended or 'stopped earlier'}"
    return found


def _document(line: bytes) -> dict[str, Any]:
    """Parse a child's output, which can be any data."""
    try:
        document = json.loads(line)
    except (ValueError, RecursionError):
        message = "wrote invalid JSON to the answers"
        raise BrokenOutError(message) from None
    if not isinstance(document, dict):
        message = "wrote invalid data to the answers"
        raise BrokenOutError(message)
    return document
