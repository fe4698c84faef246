"""The system calls that a learner's code may make, as a seccomp filter.

The filter is an allow list: the calls of an interpreter, its threads, the engine, and files in a small /tmp. All other
calls fail with ENOSYS, including those of future kernels. The code therefore has one process (no fork, no exec), no
sockets, keys, memory files or namespaces, and no shared mappings, which `RLIMIT_DATA` would not count.
"""

from __future__ import annotations

import errno
import platform
import struct
from typing import NamedTuple

CALLS = {  # name: number on x86_64, number on aarch64
    "read": (0, 63),
    "write": (1, 64),
    "open": (2, None),
    "close": (3, 57),
    "stat": (4, None),
    "fstat": (5, 80),
    "lstat": (6, None),
    "poll": (7, None),
    "lseek": (8, 62),
    "mmap": (9, 222),
    "mprotect": (10, 226),
    "munmap": (11, 215),
    "brk": (12, 214),
    "rt_sigaction": (13, 134),
    "rt_sigprocmask": (14, 135),
    "rt_sigreturn": (15, 139),
    "ioctl": (16, 29),
    "pread64": (17, 67),
    "pwrite64": (18, 68),
    "readv": (19, 65),
    "writev": (20, 66),
    "access": (21, None),
    "pipe": (22, None),
    "select": (23, None),
    "sched_yield": (24, 124),
    "mremap": (25, 216),
    "madvise": (28, 233),
    "dup": (32, 23),
    "dup2": (33, None),
    "pause": (34, None),
    "nanosleep": (35, 101),
    "getitimer": (36, 102),
    "alarm": (37, None),
    "setitimer": (38, 103),
    "getpid": (39, 172),
    "sendfile": (40, 71),
    "clone": (56, 220),
    "exit": (60, 93),
    "wait4": (61, 260),
    "kill": (62, 129),
    "uname": (63, 160),
    "fcntl": (72, 25),
    "fsync": (74, 82),
    "fdatasync": (75, 83),
    "truncate": (76, 45),
    "ftruncate": (77, 46),
    "getdents": (78, None),
    "getcwd": (79, 17),
    "chdir": (80, 49),
    "fchdir": (81, 50),
    "rename": (82, None),
    "mkdir": (83, None),
    "rmdir": (84, None),
    "creat": (85, None),
    "unlink": (87, None),
    "readlink": (89, None),
    "chmod": (90, None),
    "fchmod": (91, 52),
    "umask": (95, 166),
    "gettimeofday": (96, 169),
    "getrlimit": (97, 163),
    "getrusage": (98, 165),
    "sysinfo": (99, 179),
    "times": (100, 153),
    "getuid": (102, 174),
    "getgid": (104, 176),
    "geteuid": (107, 175),
    "getegid": (108, 177),
    "getppid": (110, 173),
    "getpgrp": (111, None),
    "getgroups": (115, 158),
    "getresuid": (118, 148),
    "getresgid": (120, 150),
    "getpgid": (121, 155),
    "getsid": (124, 156),
    "sigaltstack": (131, 132),
    "statfs": (137, 43),
    "fstatfs": (138, 44),
    "getpriority": (140, 141),
    "sched_getparam": (143, 121),
    "sched_getscheduler": (145, 120),
    "prctl": (157, 167),
    "arch_prctl": (158, None),
    "gettid": (186, 178),
    "time": (201, None),
    "futex": (202, 98),
    "sched_getaffinity": (204, 123),
    "epoll_create": (213, None),
    "getdents64": (217, 61),
    "set_tid_address": (218, 96),
    "restart_syscall": (219, 128),
    "fadvise64": (221, 223),
    "clock_gettime": (228, 113),
    "clock_getres": (229, 114),
    "clock_nanosleep": (230, 115),
    "exit_group": (231, 94),
    "epoll_wait": (232, None),
    "epoll_ctl": (233, 21),
    "tgkill": (234, 131),
    "waitid": (247, 95),
    "openat": (257, 56),
    "mkdirat": (258, 34),
    "newfstatat": (262, 79),
    "unlinkat": (263, 35),
    "renameat": (264, 38),
    "readlinkat": (267, 78),
    "fchmodat": (268, 53),
    "faccessat": (269, 48),
    "pselect6": (270, 72),
    "ppoll": (271, 73),
    "set_robust_list": (273, 99),
    "utimensat": (280, 88),
    "epoll_pwait": (281, 22),
    "eventfd2": (290, 19),
    "epoll_create1": (291, 20),
    "dup3": (292, 24),
    "pipe2": (293, 59),
    "prlimit64": (302, 261),
    "getcpu": (309, 168),
    "renameat2": (316, 276),
    "getrandom": (318, 278),
    "membarrier": (324, 283),
    "statx": (332, 291),
    "rseq": (334, 293),
    "close_range": (436, 436),
    "faccessat2": (439, 439),
}

CLONE_THREAD = 0x10000
CLONE_NAMESPACES = 0x7E020080
"""CLONE_NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID, NEWNET, NEWTIME."""
MAP_SHARED, MAP_GROWSDOWN, MAP_HUGETLB = 0x1, 0x100, 0x40000


class Argument(NamedTuple):
    """A condition on a call's argument: all bits of `set`, none of `clear`, and one of `values`, if there are any."""

    nth: int
    set: int = 0
    clear: int = 0
    values: tuple[int, ...] = ()
    pointer: bool = False
    """Whether the kernel reads all 64 bits of the argument; of an int it reads the lower half."""


CHECKED = {
    "clone": Argument(0, set=CLONE_THREAD, clear=CLONE_NAMESPACES),
    "mmap": Argument(3, clear=MAP_SHARED | MAP_GROWSDOWN | MAP_HUGETLB),
    # F_DUPFD, F_GETFD, F_SETFD, F_GETFL, F_SETFL, F_DUPFD_CLOEXEC, F_GETPIPE_SZ; not F_SETPIPE_SZ
    "fcntl": Argument(1, values=(0, 1, 2, 3, 4, 1030, 1032)),
    # TCGETS, TIOCGWINSZ, FIONREAD, FIONBIO, FIONCLEX, FIOCLEX; not TIOCSTI
    "ioctl": Argument(1, values=(0x5401, 0x5413, 0x541B, 0x5421, 0x5450, 0x5451)),
    # PR_GET_DUMPABLE, PR_SET_NAME, PR_GET_NAME, PR_CAPBSET_READ, PR_GET_NO_NEW_PRIVS, PR_SET_VMA
    "prctl": Argument(0, values=(3, 15, 16, 23, 39, 0x53564D41)),
    # Limits can be read, but not set.
    "prlimit64": Argument(2, values=(0,), pointer=True),
}

MACHINES = {"x86_64": (0, 0xC000003E), "aarch64": (1, 0xC00000B7)}
"""For each machine its column in `CALLS` and its name in a seccomp filter (AUDIT_ARCH_*)."""
NUMBER, ARCHITECTURE, ARGUMENTS = 0, 4, 16
"""Offsets of the parts of `struct seccomp_data`."""
LOAD, AND, JUMP_IF_EQUAL, JUMP_IF_ANY, JUMP_FROM, RETURN = 0x20, 0x54, 0x15, 0x45, 0x35, 0x06
ALLOW, KILL, REFUSE, UNKNOWN = 0x7FFF0000, 0x80000000, 0x00050000 | errno.EPERM, 0x00050000 | errno.ENOSYS
X32 = 0x40000000


def _step(code: int, value: int, if_true: int = 0, if_false: int = 0) -> bytes:
    return struct.pack("=HBBI", code, if_true, if_false, value)


def _decide(argument: Argument | None) -> list[bytes]:
    """Return the steps that allow or refuse a call whose number matched."""
    if argument is None:
        return [_step(RETURN, ALLOW)]
    low, high = (_step(LOAD, ARGUMENTS + 8 * argument.nth + part) for part in (0, 4))  # least significant half first
    refuse, allow = _step(RETURN, REFUSE), _step(RETURN, ALLOW)
    steps = [high, _step(JUMP_IF_EQUAL, 0, 1, 0), refuse, low] if argument.pointer else [low]
    if argument.clear:
        steps += [_step(JUMP_IF_ANY, argument.clear, 0, 1), refuse]
    if argument.set:
        steps += [_step(AND, argument.set), _step(JUMP_IF_EQUAL, argument.set, 1, 0), refuse]
    for value in argument.values:
        steps += [_step(JUMP_IF_EQUAL, value, 0, 1), allow]
    return [*steps, refuse if argument.values else allow]


def seccomp_filter(machine: str) -> bytes | None:
    """Return the filter in the kernel's format, or None for a machine whose call numbers are not listed here."""
    if machine not in MACHINES:
        return None
    column, architecture = MACHINES[machine]
    steps = [_step(LOAD, ARCHITECTURE), _step(JUMP_IF_EQUAL, architecture, 1, 0), _step(RETURN, KILL)]
    steps += [_step(LOAD, NUMBER), _step(JUMP_FROM, X32, 0, 1), _step(RETURN, UNKNOWN)]
    for name, numbers in CALLS.items():
        number = numbers[column]
        if number is not None:
            decided = _decide(CHECKED.get(name))
            steps += [_step(JUMP_IF_EQUAL, number, 0, len(decided)), *decided]
    return b"".join([*steps, _step(RETURN, UNKNOWN)])


def filter_here() -> bytes | None:
    """Return the filter for this machine."""
    return seccomp_filter(platform.machine())
