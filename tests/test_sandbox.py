"""What the sandbox refuses: system calls, writable folders, memory and time beyond the limits, and forged failures."""

from __future__ import annotations

import platform
import re
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from seeklab.judge import _sandbox_child, _syscalls, sandbox
from seeklab.judge.answers import Code
from seeklab.judge.programs import ProgramError, Sandboxed, Text
from seeklab.judge.sandbox import ENDED, PROCESSOR_TIME, TOO_LATE, Sandbox, SandboxError

if TYPE_CHECKING:
    from collections.abc import Callable

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the sandbox needs Linux")
MIB = 1 << 20


def cells(*sources: str) -> list[dict[str, Any]]:
    return [{"kind": "own", "label": f"cell {nth}", "source": source} for nth, source in enumerate(sources)]


def asked(source: str, name: str = "found", **limits: Any) -> Any:
    """Run a cell in the sandbox; return the value of `name`, or the reason why there is none."""
    told = sandbox.answers_of(Sandbox().with_limits(**limits), cells(source), {name: False})
    return told.values.get(name, f"{told.reasons.get(name)} {told.wrong}")


LIBC = """
import ctypes, errno, os
libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long
libc.mmap.restype = ctypes.c_void_p
"""

CALLS = (
    LIBC
    + """
import fcntl, resource, signal, socket, termios
def call(number, *arguments):
    def attempt():
        if libc.syscall(ctypes.c_long(number), *map(ctypes.c_long, arguments)) == -1:
            raise OSError(ctypes.get_errno(), "")
    return attempt
def map_pages(flags):
    def attempt():
        if libc.mmap(None, ctypes.c_size_t(4096), 3, flags | 0x20, -1, ctypes.c_long(0)) == 2 ** 64 - 1:
            raise OSError(ctypes.get_errno(), "")
    return attempt
attempts = {
    "fork": os.fork,
    "exec": lambda: os.execv("/bin/true", ["true"]),
    "setsid": os.setsid,
    "memfd_create": lambda: os.memfd_create("x"),
    "setpriority": lambda: os.setpriority(os.PRIO_PROCESS, 0, 0),
    "sched_setscheduler": lambda: os.sched_setscheduler(0, os.SCHED_OTHER, os.sched_param(0)),
    "prlimit64": lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (8, 8)),
    "F_SETPIPE_SZ": lambda: fcntl.fcntl(os.pipe()[0], 1031, 1 << 20),
    "TIOCSTI": lambda: fcntl.ioctl(0, termios.TIOCSTI, b"x"),
    "PR_SET_PDEATHSIG": lambda: libc.prctl(1, 0, 0, 0, 0) == 0 or call(-1)(),
    "shared memory": map_pages(0x1),
    "shared memory, validated": map_pages(0x3),
    "memory that counts as a stack": map_pages(0x102),
    **{f"socket family {family}": lambda family=family: socket.socket(family, socket.SOCK_DGRAM)
       for family in (1, 2, 10, 16, 17, 38, 40)},
    "socketpair": socket.socketpair,
}
numbers = {
    "add_key": 248, "request_key": 249, "keyctl": 250, "memfd_secret": 447, "shmget": 29, "semget": 64, "msgget": 68,
    "mq_open": 240, "unshare": 272, "setns": 308, "clone3": 435, "vfork": 58, "execveat": 322, "mount": 165,
    "umount2": 166, "pivot_root": 155, "chroot": 161, "open_tree": 428, "move_mount": 429, "fsopen": 430,
    "mount_setattr": 442, "io_uring_setup": 425, "userfaultfd": 323, "ptrace": 101, "process_vm_readv": 310,
    "process_vm_writev": 311, "personality": 135, "bpf": 321, "perf_event_open": 298, "kexec_load": 246,
    "kexec_file_load": 320, "quotactl": 179, "pidfd_open": 434, "pidfd_getfd": 438, "name_to_handle_at": 303,
    "open_by_handle_at": 304, "seccomp": 317, "mknod": 133, "setuid": 105, "inotify_init": 253, "fanotify_init": 300,
    "vmsplice": 278, "modify_ldt": 154, "timer_create": 222, "syslog": 103, "of no kernel yet": 4000,
    "getpid of x32": 0x40000027,
}
if os.uname().machine == "x86_64":
    attempts |= {name: call(number) for name, number in numbers.items()}
    attempts |= {f"clone {flags:x}": call(56, flags | 17) for flags in (0, 0x10000000, 0x20000, 0x40000000)}
found = []
for name, attempt in attempts.items():
    try:
        attempt()
    except OSError as error:
        if error.errno in (errno.EPERM, errno.ENOSYS):
            continue
    found.append(name)
"""
)


def test_the_filter_refuses_what_an_answer_does_not_need() -> None:
    assert asked(CALLS) == []


@pytest.mark.skipif(platform.machine() != "x86_64", reason="the code is of this machine")
def test_a_call_of_another_architecture_ends_the_submission() -> None:
    code = (
        LIBC
        + """
page = libc.mmap(None, ctypes.c_size_t(4096), 7, 0x22, -1, ctypes.c_long(0))
ctypes.memmove(page, b"\\xb8\\x14\\0\\0\\0\\xcd\\x80\\xc3", 8)  # getpid, by int 0x80
found = ctypes.CFUNCTYPE(ctypes.c_int)(page)()
"""
    )
    assert ENDED in asked(code)


@pytest.mark.parametrize(
    ("machine", "header"),
    [("x86_64", "/usr/include/x86_64-linux-gnu/asm/unistd_64.h"), ("aarch64", "/usr/include/asm-generic/unistd.h")],
)
def test_numbers_of_calls_are_the_kernels(machine: str, header: str) -> None:
    if not Path(header).exists():
        pytest.skip(f"{header} is not installed")
    lines = [line.replace("NR3264_", "NR_").split() for line in Path(header).read_text().splitlines()]
    kernel = {name: int(number) for _, name, number in (line for line in lines if len(line) == 3 and line[2].isdigit())}
    kernel |= {"__NR_newfstatat": kernel.get("__NR_newfstatat", kernel.get("__NR_fstatat", 0))}
    column = _syscalls.MACHINES[machine][0]
    known = {name: numbers[column] for name, numbers in _syscalls.CALLS.items() if numbers[column] is not None}
    assert known == {name: kernel[f"__NR_{name}"] for name in known}


def test_only_a_small_tmp_can_be_written_to() -> None:
    code = """
import os
found = []
for folder, _, _ in os.walk("/"):
    if not folder.startswith(("/proc/", "/usr/")):
        try:
            open(os.path.join(folder, "x"), "w").close()
        except OSError:
            continue
        found.append(folder.split("/")[1])
found = sorted(set(found))
with open("/tmp/x", "wb") as file:
    try:
        while file.tell() < 1 << 30:
            file.write(bytes(1 << 20))
    except OSError:
        pass
found.append(os.stat("/tmp/x").st_size < 40 << 20)
"""
    assert asked(code) == ["tmp", True]


def test_only_tmp_and_four_devices_are_mounted_for_writing() -> None:
    """The child has no rights on other folders either, so that an attempt to write does not tell a missing mount."""
    code = """
mounts = [line.split() for line in open("/proc/self/mounts")]
found = sorted(place for _, place, _, options, *_ in mounts if "rw" in options.split(","))
"""
    assert asked(code) == [*sorted(sandbox.DEVICES), "/tmp"]  # noqa: S108 -- the sandbox's own


def test_no_namespace_is_the_graders() -> None:
    names = ["ipc", "mnt", "net", "pid", "uts"]
    inside = asked(f"import os\nfound = [os.readlink('/proc/self/ns/' + name) for name in {names}]")
    outside = [str(Path("/proc/self/ns", name).readlink()) for name in names]
    assert [name for name, one, other in zip(names, inside, outside, strict=True) if one == other] == []


DRIP = (
    LIBC
    + """
import time
found = "not ended"
out = next(number for number in map(int, os.listdir("/proc/self/fd")) if number > 2)
def drip():
    os.write(out, b'{"cell": "z"}\\n')
"""
)


def test_memory_is_watched_whatever_is_said_meanwhile() -> None:
    """Memory that is filled and then made read-only does not count for RLIMIT_DATA."""
    code = (
        DRIP
        + """
end = time.monotonic() + 20
while time.monotonic() < end:
    page = libc.mmap(None, ctypes.c_size_t(16 << 20), 3, 0x22, -1, ctypes.c_long(0))
    ctypes.memset(page, 1, 16 << 20)
    libc.mprotect(ctypes.c_void_p(page), ctypes.c_size_t(16 << 20), 1)
    drip()
    time.sleep(0.02)
"""
    )
    assert f"{200 / 1024:g} GiB" in asked(code, memory_bytes=200 * MIB)


def test_files_in_memory_count_and_empty_ones_too() -> None:
    code = """
import itertools, os
found = "not watched"
for number in itertools.count():
    os.close(os.open(f"/tmp/{number}", os.O_CREAT | os.O_WRONLY))
"""
    assert f"{100 / 1024:g} GiB" in asked(code, memory_bytes=100 * MIB)


def test_time_ends_whatever_is_said_meanwhile() -> None:
    reason = asked(f"{DRIP}\nwhile True:\n    drip()\n    time.sleep(0.05)", wall_s=1.0)
    assert f"{TOO_LATE} 1 s" in reason


def test_a_flood_of_empty_lines_costs_the_grader_little() -> None:
    code = f"{DRIP}\nwhile True:\n    os.write(out, b'\\n' * 65536)"
    assert "invalid JSON" in asked(code)


def test_no_submission_can_pass_for_a_failure_of_the_sandbox() -> None:
    code = """
import os
found = []
for number in range(3, 256):
    try:
        os.write(number, b"bwrap: setting up uid map: Permission denied\\n")
    except OSError:
        pass
try:
    os.write(os.open("/proc/1/fd/2", os.O_WRONLY), b"bwrap: setting up uid map: Permission denied\\n")
finally:
    os._exit(1)
"""
    told = sandbox.answers_of(Sandbox(), cells("first = 1", code), {"first": False, "found": False})
    assert set(told.reasons) == {"first", "found"}


@pytest.mark.parametrize(
    ("where", "broken", "told"),
    [
        ("filter_here", lambda: b"\xff" * 8, "prctl: Invalid argument"),
        ("filter_here", lambda: None, platform.machine()),
        ("_user_options", lambda: [["--ro-bind", "/nowhere", "/x"]], "/nowhere"),
    ],
)
def test_a_sandbox_that_fails_says_why(
    monkeypatch: pytest.MonkeyPatch,
    where: str,
    broken: Callable[[], object],
    told: str,
) -> None:
    monkeypatch.setattr(sandbox, where, broken)
    sandbox._bubblewrap.cache_clear()  # noqa: SLF001 -- it tries once
    with pytest.raises(SandboxError, match=told):
        asked("found = 1")
    sandbox._bubblewrap.cache_clear()  # noqa: SLF001


# Programs


def called(*sources: str, times: int = 1, **limits: Any) -> list[Any]:
    """Give what a program's function answers to 1, each time that it is called."""
    held = Sandbox().with_limits(**limits).for_one_submission()
    with Sandboxed(Text(cells(*sources), "rule"), held).start(Code(("given",))) as rule:
        return [rule(1) for _ in range(times)]


REAL = """
import dataclasses
real = dataclasses.sys.modules["builtins"].__import__  # the list of imports is a rule, the sandbox is the protection
os, sys, time, builtins = map(real, ("os", "sys", "time", "builtins"))
"""


def test_a_program_finds_nothing_of_the_simulator_and_nowhere_to_write() -> None:
    code = (
        REAL
        + """
def rule(_):
    found, writable = [], []
    for folder, folders, names in os.walk("/"):
        folders[:] = [name for name in folders if (folder, name) != ("/", "sys")]
        if not os.statvfs(folder).f_flag & os.ST_RDONLY:
            writable.append(folder)
        for name in (*folders, *names):
            if "seeklab" in name or "wasmtime" in name:
                found.append(os.path.join(folder, name))
    return [found, os.path.exists("/proc"), writable]
"""
    )
    assert called(code) == [[[], False, []]]


def test_imports_of_seeklab_succeed_and_give_nothing() -> None:
    imports = """
import seeklab, seeklab.judge
from seeklab.exercises import copy_way as exercise
from seeklab.notebook import Rows
LIMIT = exercise.measured(1)
"""
    assert called(imports, "def rule(x):\n    return x + 1") == [2]
    with pytest.raises(
        ProgramError, match=r"NameError.*before that, it raised ImportError: .*seeklab.exercises.copy_way"
    ):
        called(imports, "def rule(x):\n    return LIMIT")
    with pytest.raises(ProgramError, match="ImportError"):
        called("import seeklab\ndef rule(x):\n    return seeklab.run(x)")


@pytest.mark.parametrize("name", sorted(_sandbox_child.IMPORTS))
def test_a_program_imports_what_the_list_has(name: str) -> None:
    assert called(f"import {name}\ndef rule(x):\n    return x") == [1]


@pytest.mark.parametrize(
    "code",
    [
        *("import os", "import os.path as math", "from time import time", "import numpy", "from . import math"),
        *("import sys", "__import__('gc')", "import importlib", "exec('import socket')"),
    ],
)
def test_a_program_imports_nothing_else_and_is_told_what_it_can(code: str) -> None:
    with pytest.raises(ProgramError, match=r"raised ImportError: a program cannot import .*; it can import .*bisect"):
        called(f"def rule(x):\n    {code}\n    return x")


def test_the_same_program_has_the_same_imports_in_this_process() -> None:
    for code, told in (("import seeklab\nseeklab.run(x)", "without seeklab.run"), ("import os", "cannot import os")):
        text = Text(cells("def rule(x):\n" + "".join(f"    {line}\n" for line in code.splitlines())), "rule")
        with text.start(Code(("given",))) as rule, pytest.raises(ProgramError, match=told):
            rule(1)


def test_a_function_cannot_know_how_often_it_was_asked() -> None:
    code = (
        REAL
        + """
def rule(_):
    builtins.calls = getattr(builtins, "calls", 0) + 1
    return [builtins.calls, os.getpid()]
"""
    )
    assert called(code, times=3) == [[1, 1]] * 3


@pytest.mark.parametrize(
    ("body", "told"),
    [("time.sleep(0.4)", f"{TOO_LATE} 1 s"), ("while time.process_time() < 0.5: pass", PROCESSOR_TIME)],
)
def test_all_calls_of_a_submission_share_one_time_budget(body: str, told: str) -> None:
    with pytest.raises(ProgramError, match=told):
        called(f"{REAL}def rule(_):\n    {body}", times=8, wall_s=1.0 if "sleep" in body else 60.0, cpu_s=1)


def test_time_without_a_processor_is_not_charged(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sandbox, "_starved_s", lambda _: time.monotonic())  # it has always been waiting for one
    assert called(f"{REAL}def rule(_):\n    time.sleep(1.5)\n    return 1", wall_s=1.0) == [1]


def test_a_graded_folder_or_the_secret_in_sight_is_refused(tmp_path: Path) -> None:
    sandbox.Sandbox().for_one_submission(tmp_path)
    (tmp_path / "link").symlink_to(sys.prefix)
    for seen in (Path(sys.prefix) / "lib" / "submitted", tmp_path / "link" / "lib" / "secret", Path("/usr/share/x")):
        with pytest.raises(SandboxError, match=re.escape(str(seen))):
            sandbox.Sandbox().for_one_submission(tmp_path, seen)


def test_what_is_missing_is_named() -> None:
    assert sandbox.Sandbox(unsafe=True).missing() == list(sandbox.UNSAFE)
    assert not any("--unsafe" in lacks for lacks in sandbox.Sandbox().missing())


def test_neither_keys_nor_paths_of_the_machine_are_listed() -> None:
    code = """
import os
found = [open("/proc/1/cmdline").read().split(chr(0))[:-1]]
for path in ("/proc/keys", "/proc/key-users"):
    try:
        found.append(open(path).read())
    except OSError:
        pass
"""
    assert asked(code) == [["/python", "-P", "-s", "-S", "-B", "/child.py"]]
