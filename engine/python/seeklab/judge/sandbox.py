"""The sandbox: where learners' code runs, without network, without sight of anybody's files, with little of everything.

`bubblewrap` builds it: namespaces of its own for processes, network, users and files; the system, this interpreter and
this package read-only; a small /tmp in memory, and nothing else to write to. The child is the only process in it: it
sets the kernel's limits, gives up all system calls but those of `_syscalls`, says so, and only then is sent a byte of
the learner's. What fails before that is the sandbox's fault, what fails afterwards is the submission's. A thread here
watches memory. What comes out is read as JSON and checked before anything uses it.

Started by root, as a CI may be, bubblewrap does without a user namespace, and the child becomes a user without rights
that no other child is. Without bubblewrap nothing is run, unless somebody insists (`unsafe`).
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
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from seeklab._errors import Problem, SeeklabError
from seeklab.judge import _sandbox_child
from seeklab.judge._syscalls import filter_here

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

MIB = 1 << 20
FIRST_UID, UIDS = 61_184, 4_000
"""Users that no system gives to people; each sandbox of root's has one of them."""
WATCH_S = 0.1
START_WITHIN_S = 30.0
BYTES_OF_A_FILE = 2048
"""What the kernel keeps of an empty file."""
MAX_STARVED = 4
"""Times a time limit that are not charged, when others have the processors."""
LAST_MOMENT_S = 2.0
MAX_LINE = 2 * MIB
LIBRARIES = ("/lib", "/lib64", "/lib32", "/usr/lib", "/usr/lib64", "/usr/lib32")
CHILD, PYTHON = "/child.py", "/python"
"""Names in the sandbox that tell nothing of this machine's."""
KEY_LISTINGS = ("/proc/keys", "/proc/key-users")
SYSTEM_FOLDERS = ("/usr", "/bin", "/lib", "/lib64", "/lib32", "/sbin")
WORK = "/submission"
DEVICES = ("/dev/null", "/dev/random", "/dev/urandom", "/dev/full")
"""Not /dev/zero, nor /dev/shm: what is mapped from them is memory that no process holds."""
NO_NESTING = "--disable-userns"
UNSAFE = (
    "files, processes and the network of this machine are in reach",
    "no system call is refused",
    "memory and processor time are limited for each process, not for all together",
)
"""What learners' code runs without when there is no sandbox."""
ENDED, TOO_LATE = "ended the interpreter before it had answered", "gave no answer within"
PROCESSOR_TIME, NO_VALUE = "processor time", "has no value"
ELSEWHERE = "grade on another machine, or insist with --unsafe"
HOW = "install it (on Debian and Ubuntu: apt-get install bubblewrap), or insist with --unsafe"


@dataclass(frozen=True)
class Limits:
    """What a submission may take: memory, processes and space for each child, time for all of them together."""

    memory_bytes: int = 1 << 30
    cpu_s: int = 60
    wall_s: float = 120.0
    processes: int = 32
    tmp_bytes: int = 32 * MIB
    output_bytes: int = 4 * MIB


@dataclass
class Spent:
    """What the children of one submission have taken of its time, one after the other."""

    cpu_s: float = 0.0
    waited_s: float = 0.0
    """Time that the grader has waited for them, without what they waited for a processor."""


class SandboxError(SeeklabError):
    """No sandbox can be had here, with the sentence that says what to do."""

    @classmethod
    def because(cls, sentence: str) -> SandboxError:
        """Say why."""
        return cls([Problem("sandbox", sentence)])


class BrokenOutError(Exception):
    """An child was ended: by a limit, or because it said what no child says. The message says which."""


@dataclass(frozen=True)
class Sandbox:
    """How children are held."""

    limits: Limits = field(default_factory=Limits)
    unsafe: bool = False
    spent: Spent | None = None
    """Of one submission; without it each child has all the time for itself."""

    def for_one_submission(self, *hidden: Path) -> Sandbox:
        """Return this sandbox with one time budget for all its children, if none of them sees the hidden files."""
        if not self.unsafe:
            for path in hidden:
                _must_be_hidden(path)
        return replace(self, spent=Spent())

    def missing(self) -> list[str]:
        """Give what this machine cannot provide to the sandbox, a sentence each."""
        if self.unsafe:
            return list(UNSAFE)
        _, options = _bubblewrap()
        lacks = []
        if os.geteuid() != 0 and NO_NESTING not in options:
            lacks.append("this bubblewrap has no --disable-userns: only the filter refuses user namespaces in it")
        if not Path("/proc/self/schedstat").exists():
            lacks.append("this kernel does not tell how long a process waits for a processor: all waiting is charged")
        return lacks

    def with_limits(self, **limits: Any) -> Sandbox:
        """Give the same sandbox with other limits."""
        return replace(self, limits=replace(self.limits, **limits))

    def start(self, order: Mapping[str, Any], files: Mapping[str, str] | None = None) -> SandboxChild:
        """Start a child, which sees `files` (text by name) in its working directory, and send it the order."""
        limits, spent = self.limits, self.spent or Spent()
        if spent.cpu_s >= limits.cpu_s:
            message = f"has used up the {limits.cpu_s} s of {PROCESSOR_TIME} of a submission"
            raise BrokenOutError(message)
        filter_ = None if self.unsafe else filter_here()
        if filter_ is None and not self.unsafe:
            message = f"which system calls to refuse is not known for this machine ({platform.machine()}); {ELSEWHERE}"
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
        """Give the command, its environment, and the pipes that it reads options and files from."""
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
        # As process 1, the child has no process beside it in the sandbox that it could reach and that is not filtered.
        options = ["--die-with-parent", "--new-session", "--as-pid-1", "--clearenv", "--cap-drop", "ALL"]
        options += ["--unshare-ipc", "--unshare-pid", "--unshare-net", "--unshare-uts", "--unshare-cgroup-try"]
        program, user_options = _bubblewrap()
        options += user_options
        options += ["--hostname", "sandbox"]
        for folder in ("/dev", "/etc"):  # bubblewrap's own would be for root only
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
    """Give the options that settle whose rights the child has, the best first."""
    if os.geteuid() == 0:
        return [["--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID"]]
    return [["--unshare-user", NO_NESTING], ["--unshare-user"]]


def _free_uid() -> tuple[int, socket.socket | None]:
    """Return a user that no other sandbox here has while the socket is open; only root's sandboxes need one."""
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
    """Give what a notebook's cells see: the system, this interpreter, this package, compiled engines."""
    options = [*_system(SYSTEM_FOLDERS), *_bound(_own_folders())]
    options += ["--perms", "0755", "--dir", "/cache", "--perms", "0755", "--dir", "/cache/seeklab"]
    for compiled in _compiled_engines():
        options += ["--ro-bind", str(compiled), f"/cache/seeklab/{compiled.name}"]
    return options


def _library() -> list[str]:
    """Give what a program sees: this interpreter and its standard library, and no package, least of all this one."""
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
    """Give the interpreter that an environment's is a link to."""
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
    """Bind paths read-only where they are, if they are there."""
    options: list[str] = []
    for path in paths:
        # Made beforehand: what bubblewrap makes by itself on the way to a folder, only root may enter.
        for above in reversed(Path(path).parents[:-1]):
            if str(above) != "/tmp":  # noqa: S108 -- the sandbox's own, in memory
                options += ["--perms", "0755", "--dir", str(above)]
        options += ["--ro-bind-try", path, path]
    return options


def _piped(content: bytes) -> int:
    """Put a file's content into a pipe, whose buffer holds a megabyte, and give the end to read it from."""
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
    message = "what lies beside the notebook is too large for the sandbox"
    raise SandboxError.because(message)


def _import_path() -> list[str]:
    """Give the folders that a child imports from: this interpreter's packages and this package."""
    packages = [path for path in site.getsitepackages() if Path(path).is_dir()]
    return [str(_package().parent), *packages]


def _package() -> Path:
    return Path(_sandbox_child.__file__).resolve().parent.parent


def _own_folders() -> list[str]:
    """Give what is bound besides the system: interpreter, environment, this package; nothing that holds them."""
    prefixes = dict.fromkeys((sys.base_prefix, sys.prefix, sys.base_exec_prefix))
    folders = [part for prefix in prefixes for part in _parts_of(prefix)]
    return [folder for folder in (*folders, str(_package())) if not _is_within(Path(folder), SYSTEM_FOLDERS)]


def _parts_of(prefix: str) -> list[str]:
    """Give what an interpreter needs of its prefix, which may be a folder with anything else in it."""
    return [str(Path(prefix) / part) for part in ("bin", "lib", "lib64", "pyvenv.cfg")]


def _compiled_engines() -> list[Path]:
    """Give the files of compiled engines, so that a child need not compile one."""
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
            message = f"{path} is below {folder}, which learners' code can read; move it to another folder"
            raise SandboxError.because(message)


@cache
def _bubblewrap() -> tuple[str, list[str]]:
    """Find bubblewrap, try once whether it can build a sandbox here, and give the options that it took."""
    if platform.system() != "Linux":
        message = (
            f"learners' code is run in a sandbox of Linux's, and this is {platform.system()}; grade on Linux "
            "(a virtual machine or a container will do), or insist with --unsafe"
        )
        raise SandboxError.because(message)
    found = shutil.which("bwrap")
    if found is None:
        message = f"bubblewrap, which holds learners' code, is not installed; {HOW}"
        raise SandboxError.because(message)
    # bubblewrap as root makes no user namespace, so it needs the rights that a privileged container has.
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
        f"bubblewrap cannot build a sandbox here ({tried.stderr.strip()}); allow user namespaces to this user "
        "(in a container: start it with --privileged or --security-opt seccomp=unconfined), or insist with --unsafe"
    )
    raise SandboxError.because(message)


class Wait:
    """A wait for a child: when it began, and how long the child had been starved by then."""

    __slots__ = ("began", "starved_s")

    def __init__(self, starved_s: float) -> None:
        """Begin now."""
        self.began, self.starved_s = time.monotonic(), starved_s


class SandboxChild:
    """A process in the sandbox, and what it says."""

    def __init__(
        self, process: subprocess.Popen[bytes], limits: Limits, spent: Spent, claim: socket.socket | None
    ) -> None:
        """Hold a process that has started, and its claim on a user."""
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
        """What it has computed, and how long the answers that are waited for had to wait for a processor."""
        self._grader = threading.get_native_id()
        self._grader_starved_s = self._inmate_starved_s = 0.0
        with suppress(OSError, ValueError, IndexError):
            self._grader_starved_s = _starved_s(self._grader)
        self._reason = ""
        self._pid = process.pid
        self._first: int | None = None
        """The child itself, which bubblewrap waits for, by number and as a descriptor."""
        self._closed = threading.Event()
        self._watcher = threading.Thread(target=self._watch, daemon=True)
        os.set_blocking(self._in, False)

    def __enter__(self) -> Self:
        """Hold it."""
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        """End it; one that has done its work has a moment to go by itself."""
        if kind is None and self._process.stdin is not None:
            self._look()
            with suppress(OSError):
                self._process.stdin.close()
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(LAST_MOMENT_S)
        self.close()

    def begin(self, setup: Mapping[str, Any]) -> None:
        """Have it lock its door. Nothing of the learner's has been read yet, so a failure is the sandbox's."""
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
            message = f"the sandbox could not be closed: {str(answer.get('failed'))[:500]}; {ELSEWHERE}"
            raise SandboxError.because(message)
        self._process.stderr.close()  # from here on nobody listens to it
        with suppress(OSError, ValueError, AttributeError):  # without such descriptors bubblewrap itself is ended
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
        """Wait for a line that it says; raises BrokenOutError when none comes."""
        if not self._lines:
            wait = self._wait = Wait(self._starved_s)
            try:
                while not self._lines:
                    if self._poll.poll(1000 * WATCH_S):
                        self._take(os.read(self._out, 1 << 16))
                    # Also when a line has come: one that says something all the time has no more time than others.
                    self._must_have_time(wait, TOO_LATE, within_s)
            finally:
                self._charge()
        return self._lines.popleft()

    def _must_have_time(self, wait: Wait, missed: str, within_s: float = math.inf) -> None:
        """End it when there is no more time.

        What the child and the grader wait for a processor is not its own fault, and is not charged up to a point.
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

    def _charge(self) -> None:
        """Charge the wait that ends, if there is one."""
        if self._wait is not None:
            self._waited_s += time.monotonic() - self._wait.began
            self._wait = None

    def _take(self, part: bytes) -> None:
        """Take what it said, which may end anywhere in a line."""
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
        """Begin to count its output anew: a policy may say a little very often."""
        self._read = 0

    def _watch(self) -> None:
        """End it when it holds too much memory, whatever it says meanwhile and whoever listens."""
        while not self._closed.wait(WATCH_S):
            if self._look() > self._limits.memory_bytes:
                self._reason = f"took more than {self._limits.memory_bytes / (1 << 30):g} GiB of memory"
                self._kill()
                return

    def _look(self) -> int:
        """Note its times, and give what it holds in memory and in swap space."""
        held = 0
        if self._process.poll() is not None:
            return held
        with suppress(OSError, ValueError, IndexError):  # it has ended, or the kernel does not say
            place = Path(f"/proc/{self._pid}")
            fields = dict(line.split(":", 1) for line in (place / "status").read_text().splitlines())
            held = sum(int(fields[name].split()[0]) << 10 for name in ("VmRSS", "VmSwap") if name in fields)
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
        """Say how it ended."""
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(5)
        code = self._process.returncode
        self.close()
        if self._reason:
            return self._reason
        if code in (128 + 24, -24, 128 + 9, -9):
            return f"was ended by a limit (of {self._limits.cpu_s} s of {PROCESSOR_TIME}, or of memory)"
        return ENDED

    def _kill(self) -> None:
        """Kill the child; bubblewrap ends when nothing of it is left."""
        with suppress(ProcessLookupError):
            if self._first is None:
                self._process.kill()
            else:
                signal.pidfd_send_signal(self._first, signal.SIGKILL)

    def close(self) -> None:
        """End it, and charge its time to the submission."""
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
    """Give what the files of a file system in memory hold, of which empty ones hold something too."""
    with suppress(OSError):  # a program has no such folder
        found = os.statvfs(folder)
        return (found.f_blocks - found.f_bfree) * found.f_frsize + (found.f_files - found.f_ffree) * BYTES_OF_A_FILE
    return 0


def _starved_s(thread: int) -> float:
    """Give how long a thread has waited for a processor that others had."""
    return int(Path(f"/proc/{thread}/schedstat").read_text().split()[1]) / 1e9


def _children(pid: int) -> list[int]:
    """Give what a process has started."""
    return list(map(int, Path(f"/proc/{pid}/task/{pid}/children").read_text().split()))


@dataclass
class SandboxResult:
    """What a child has told of a notebook."""

    values: dict[str, Any] = field(default_factory=dict)
    """Answers by name."""
    reasons: dict[str, str] = field(default_factory=dict)
    """Why an answer has no value, by name."""
    programs: dict[str, list[int]] = field(default_factory=dict)
    """The numbers of the cells that a program needs, by name."""
    wrong: dict[str, str] = field(default_factory=dict)
    """What went wrong in a cell, by its label."""

    def take(self, told: Mapping[str, Any], cells: int, wanted: Mapping[str, bool]) -> None:
        """Take one line; whatever is not as it should be is left out."""
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
            self.reasons[name] = reason or "is not there"


def answers_of(
    sandbox: Sandbox,
    cells: Sequence[Mapping[str, Any]],
    wanted: Mapping[str, bool],
    files: Mapping[str, str] | None = None,
) -> SandboxResult:
    """Run a notebook's cells for the answers named in `wanted` (True: a program, of which only its cells are told)."""
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
            found.reasons[name] = f"{NO_VALUE}: the notebook's code {ended or 'did not come so far'}"
    return found


def _document(line: bytes) -> dict[str, Any]:
    """Read what a child said; it may be anything."""
    try:
        document = json.loads(line)
    except (ValueError, RecursionError):
        message = "wrote into the answers what is no JSON"
        raise BrokenOutError(message) from None
    if not isinstance(document, dict):
        message = "wrote into the answers what is none"
        raise BrokenOutError(message)
    return document
