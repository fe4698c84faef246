"""Notebooks that try to get more than they have earned, or to disturb others, and what must come of each.

A submission is a released notebook with some cells changed. Those of `disk-time` hold a right answer besides what they
try, unless they try to do without, so that a full grade says: the attempt did nothing. `NEIGHBOUR` stands for what an
instructor's machine holds beside the submission: another's work, a gradebook, the configuration, solutions, the secret.
"""
# ruff: noqa: E501, S108 -- the texts of attempts, and the places that they try

from __future__ import annotations

import json
import textwrap
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from seeklab.judge.sandbox import ENDED, NO_VALUE, PROCESSOR_TIME, TOO_LATE
from seeklab.judge.submission import MISSING, NO_CELLS, NO_JSON

if TYPE_CHECKING:
    from collections.abc import Mapping

ROOT = Path(__file__).resolve().parents[2]
MARK = "what only the instructor may read"
GOOD = 'choice = {"queue_policy": "satf", "queue_depth": 16}\n'
PREDICTION = 'prediction = {"rotation_ms": 3.0, "random_mib_per_s": 0.5, "sixteen_times": 2.0}\n'
FULL, NONE = (9, 9), (0, 0)
PREDICTED = (3, 3)
"""The predictions are another cell than what was spoilt."""


@dataclass(frozen=True)
class Submission:
    """What is handed in, and what must come of it."""

    name: str
    tries: str
    cells: Mapping[str, str] = field(default_factory=dict)
    """New sources, by cell."""
    points: tuple[float, float] = FULL
    """Least and most points that it may get."""
    told: str = ""
    """What its grade must say somewhere."""
    assignment: str = "disk-time"
    slow: bool = False
    """Whether it takes its time limit to be ended."""
    file: bytes | None = None
    """The whole file, in place of a notebook."""


def after(attempt: str) -> dict[str, str]:
    """Try something in the cell of an answer, and answer rightly afterwards."""
    return {"choice": f"try:\n{_indented(attempt)}\nexcept Exception:\n    pass\n{GOOD}"}


def _indented(text: str) -> str:
    return textwrap.indent(text.strip(), "    ")


def policy(body: str) -> dict[str, str]:
    """Give an eviction policy whose `evict` does something, and LRU otherwise."""
    return {
        "policy": f"""
class Policy:
    seen = {{}}
    def __init__(self):
        self.inside = {{}}
    def hit(self, key):
        self.inside[key] = self.inside.pop(key, None)
    def admitted(self, key, size):
        self.inside[key] = None
    def evicted(self, key):
        self.inside.pop(key, None)
    def evict(self, incoming):
{textwrap.indent(body.strip(), " " * 8)}
        return next(iter(self.inside))
"""
    }


REAL = "import dataclasses\nreal = dataclasses.sys.modules['builtins'].__import__\n"
"""Gives a program every module of the standard library, past the list of those that it may import."""

READ = """
import os
found = []
for top in {tops!r}:
    for folder, _, names in os.walk(top):
        for name in names:
            if name.endswith((".ipynb", ".txt", ".db", "secret", "environ", "config.py")):
                try:
                    found.append(open(os.path.join(folder, name), errors="replace").read())
                except OSError:
                    pass
leaked = [text for text in found if {mark!r} in text]
"""


def reading(*tops: str) -> dict[str, str]:
    """Look for the mark in files, and hand in what was found as a name that a verdict would repeat."""
    attempt = READ.format(tops=tops, mark=MARK)
    return {"choice": f"{attempt}\n{GOOD}if leaked:\n    choice = {{leaked[0]: 1}}\n"}


WRITE = """
import glob, os
for pattern in {patterns!r}:
    for path in glob.glob(pattern, recursive=True):
        try:
            open(path, "a").write("c.Autograde.x = 99 # mine")
        except OSError:
            pass
"""

CHECKS = dict.fromkeys(("check-users", "check-batch"), "9.0")

SUBMISSIONS = (
    Submission(
        "checks-replaced", "gives the check cells a text of its own", {**CHECKS, "choice": "choice = {}"}, PREDICTED
    ),
    Submission(
        "judge-patched",
        "replaces the judge in its own interpreter",
        {
            "choice": "import seeklab.judge.assignment as a\na._judged = lambda *_: 1\na.judge = lambda *_, **__: []\n"
            "choice = {'queue_policy': 'fcfs'}"
        },
        PREDICTED,
        "in order of arrival",
    ),
    Submission(
        "package-shadowed",
        "puts a package of the judge's name beside the notebook",
        after("import os\nos.makedirs('seeklab/judge')\nopen('seeklab/__init__.py', 'w').write('1/0')"),
    ),
    Submission("solutions-read", "reads the solutions", reading("/tmp", "/work", "/root", "/home", "/srv")),
    Submission("neighbours-read", "reads what others handed in", reading("/tmp", "/submission", "/home", "/var")),
    Submission("secret-read", "reads the course's secret", reading("/root", "/home", "/etc", "/proc/1", "/proc/self")),
    Submission(
        "environment-read",
        "reads the grader's environment",
        {
            "choice": f"import os\n{GOOD}for name in os.environ:\n    if 'SECRET' in name:\n        choice = {{name: 1}}\n"
        },
    ),
    Submission(
        "gradebook-written",
        "writes into every gradebook it finds",
        after(
            "import glob, sqlite3\nfor path in glob.glob('/tmp/**/*.db', recursive=True) + glob.glob('/home/**/*.db', recursive=True):\n"
            "    sqlite3.connect(path).execute('update grade set auto_score = 99')"
        ),
    ),
    Submission(
        "configuration-written",
        "appends code to the course's configuration",
        after(WRITE.format(patterns=("../../*/*.py", "/tmp/**/nbgrader_config.py"))),
    ),
    Submission(
        "network",
        "asks another machine",
        {
            "choice": f"import socket\n{GOOD}try:\n    socket.create_connection(('127.0.0.1', 22), 2)\n"
            "    choice = {'connected': 1}\nexcept OSError:\n    pass\n"
        },
    ),
    Submission(
        "survivor",
        "leaves a process behind",
        after("import os, time\nif os.fork() == 0:\n    os.setsid()\n    while True:\n        time.sleep(1)"),
    ),
    Submission("fork-bomb", "forks for ever", {"choice": f"import os\n{GOOD}while True:\n    os.fork()\n"}, (0, 9)),
    Submission(
        "memory",
        "takes 20 GB",
        {"choice": f"{GOOD}hoard = bytearray(20 << 30)\n"},
    ),
    Submission(
        "memory-in-parts",
        "takes it in parts, in several processes",
        {
            "choice": f"import os\n{GOOD}for _ in range(8):\n    os.fork()\nhoard = [bytearray(b'x' * (64 << 20)) for _ in range(99)]"
        },
        (0, 9),
    ),
    Submission(
        "disk",
        "fills the disk",
        after("file = open('/tmp/full', 'wb')\nwhile True:\n    file.write(b'x' * (1 << 20))"),
    ),
    Submission("output", "prints 200 MB", {"choice": f"{GOOD}for _ in range(200):\n    print('x' * (1 << 20))\n"}),
    Submission(
        "loop",
        "loops for ever",
        {"choice": f"{GOOD}while True:\n    pass\n"},
        PREDICTED,
        NO_VALUE,
        slow=True,
    ),
    Submission(
        "loop-that-catches",
        "loops for ever and catches everything",
        {
            "choice": GOOD
            + "while True:\n    try:\n        while True:\n            pass\n    except BaseException:\n        pass\n"
        },
        PREDICTED,
        NO_VALUE,
        slow=True,
    ),
    Submission(
        "exit-at-once",
        "ends the interpreter",
        {"choice": f"import os\n{GOOD}os._exit(0)\n"},
        (0, 3),
        ENDED,
    ),
    Submission("system-exit", "raises SystemExit", {"choice": f"{GOOD}raise SystemExit(0)\n"}),
    Submission(
        "signal",
        "sends signals to everybody",
        after(
            "import os\nfor number in (os.getppid(), 1, -1):\n    try:\n        os.kill(number, 9)\n    except OSError:\n        pass"
        ),
        (0, 9),
    ),
    Submission(
        "recursion",
        "recurses without end",
        {"choice": f"{GOOD}def deeper():\n    return deeper()\ndeeper()\n"},
    ),
    Submission(
        "wrong-type",
        "answers with an object whose methods attack",
        {"choice": "class Odd(dict):\n    def items(self):\n        raise KeyboardInterrupt\nchoice = Odd(a=1)\n"},
        PREDICTED,
        "KeyboardInterrupt",
    ),
    Submission(
        "nan",
        "answers NaN and infinity",
        {
            "choice": "choice = {'queue_depth': float('nan')}",
            "prediction": "prediction = dict.fromkeys(('rotation_ms', 'random_mib_per_s', 'sixteen_times'), 1e999)",
        },
        NONE,
        "not a finite number",
    ),
    Submission(
        "digits", "answers a number of a million digits", {"choice": "choice = 10 ** 1_000_000"}, PREDICTED, "digits"
    ),
    Submission(
        "levels",
        "answers a list of 100,000 levels",
        {"choice": "choice = []\nfor _ in range(100_000):\n    choice = [choice]\n"},
        PREDICTED,
        "levels deep",
    ),
    Submission(
        "sentence",
        "a value that a message would repeat",
        {"choice": "choice = {'queue_policy': 'x' * 90_000, 'y' * 90_000: 1}"},
        PREDICTED,
    ),
    Submission(
        "large-answer",
        "an answer of megabytes for every table and page",
        {"choice": "choice = {str(n): 'x' * 100_000 for n in range(35)}"},
        PREDICTED,
    ),
    Submission(
        "endless-answer",
        "answers without an end",
        {
            "choice": "import itertools\nchoice = itertools.count()",
            "prediction": "class Endless(dict):\n    def items(self):\n        return ((str(n), n) for n in itertools.count())\n"
            "import itertools\nprediction = Endless(a=1)",
        },
        NONE,
        "more than 20,000 values",
    ),
    Submission(
        "answer-takes-time",
        "an answer whose parts take longer and longer",
        {
            "choice": "import time\nclass Slow:\n    def __iter__(self):\n        while True:\n            yield time.sleep(0.5)\nchoice = Slow()"
        },
        PREDICTED,
        TOO_LATE,
        slow=True,
    ),
    Submission(
        "odd-number",
        "a number that answers differently each time",
        {
            "choice": "class Odd(int):\n    def __int__(self):\n        return 1 << 4_000_000\n    __index__ = __int__\n"
            "    def bit_length(self):\n        return 1\nchoice = {'queue_depth': Odd(16)}"
        },
        PREDICTED,
        "digits",
    ),
    Submission(
        "name-of-a-type",
        "an error whose type has a name of a megabyte",
        {"choice": "raise type('E' * 1_000_000, (Exception,), {})('x')"},
        PREDICTED,
    ),
    Submission(
        "page-tables",
        "memory in the kernel's tables, of which the process has no page",
        {
            "choice": f"""import mmap
{GOOD}kept = []
for _ in range(2000):
    kept.append(mmap.mmap(-1, 1 << 32, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, prot=mmap.PROT_READ))
    for place in range(0, 1 << 32, 2 << 20):
        kept[-1][place]
"""
        },
        PREDICTED,
        "memory",
    ),
    Submission(
        "threads",
        "ten thousand threads",
        after(
            "import threading, time\nfor _ in range(10_000):\n    threading.Thread(target=time.sleep, args=(60,), daemon=True).start()"
        ),
    ),
    Submission(
        "stack",
        "recursion until the interpreter ends",
        {
            "choice": f"import sys\n{GOOD}sys.setrecursionlimit(10 ** 9)\ndef deeper():\n    return [deeper()]\ndeeper()\n"
        },
        (0, 9),
    ),
    Submission(
        "pipes-closed",
        "closes the pipe of the answers",
        {"choice": f"import os\n{GOOD}os.closerange(0, 256)\n"},
        (0, 3),
        ENDED,
    ),
    Submission(
        "timer",
        "a signal that raises while the answer is read",
        {
            "choice": "import signal\ndef boo(*_):\n    raise KeyboardInterrupt('boo')\nsignal.signal(signal.SIGALRM, boo)\n"
            "signal.setitimer(signal.ITIMER_REAL, 0.001, 0.001)\nchoice = {}"
        },
        (0, 3),
    ),
    Submission(
        "chain",
        "code in which each statement needs the next",
        {"choice": "\n".join(f"a{n} = a{n + 1}" for n in range(60_000)) + f"\n{GOOD}"},
        (0, 9),
    ),
    Submission(
        "policy-floods",
        "answers of megabytes, which cost the grader more than the sandbox",
        policy(f"""
{REAL}os = real("os")
flood = b"[[" + b"1," * 900_000 + b"1]]\\n"
for number in range(3, 64):
    try:
        while flood:
            flood = flood[os.write(number, flood):]
        real("time").sleep(3600)
    except OSError:
        pass
"""),
        NONE,
        "",
        assignment="cache-policies",
    ),
    Submission(
        "policy-says-ready",
        "answers before it is asked",
        {
            "policy": f"{REAL}for number in range(3, 64):\n    try:\n        real('os').write(number, b'{{\"ready\": true}}\\n[1]\\n[2]\\n')\n    except OSError:\n        pass\n"
        },
        NONE,
        "",
        assignment="cache-policies",
    ),
    Submission(
        "policy-sleeps",
        "a policy that answers too late",
        policy(f"{REAL}real('time').sleep(3600)"),
        NONE,
        TOO_LATE,
        assignment="cache-policies",
        slow=True,
    ),
    Submission(
        "policy-loops",
        "a policy that never answers",
        policy("while True:\n    pass"),
        NONE,
        PROCESSOR_TIME,
        assignment="cache-policies",
        slow=True,
    ),
    Submission(
        "policy-imports",
        "a policy that imports more than a program needs",
        policy("import time"),
        NONE,
        "a program cannot import time",
        assignment="cache-policies",
    ),
    Submission(
        "policy-lies",
        "a policy that names what is not there",
        policy("return -5 if incoming % 2 else 'the moon'"),
        NONE,
        "",
        assignment="cache-policies",
    ),
    Submission(
        "policy-remembers",
        "a policy that keeps the last game for the next",
        policy(
            "import math\nmath.kept = getattr(math, 'kept', 0) + 1\n"
            "if len(self.seen) > 10 or math.kept > 40_000:\n    raise ValueError('remembered')"
        ),
        NONE,
        "",
        assignment="cache-policies",
    ),
    Submission(
        "policy-reads-the-judge",
        "a policy that looks for the trace in the frames of its callers and in all objects",
        policy("""
import dataclasses
real = dataclasses.sys.modules["builtins"].__import__
gc, sys = real("gc"), real("sys")
if self.seen:
    return next(iter(self.inside))
self.seen[1] = 1
frame, told = sys._getframe(), []
while frame:
    told += [value for value in frame.f_locals.values() if type(value).__name__ in ('Contest', 'Asked', 'Variant')]
    frame = frame.f_back
told += [one for one in gc.get_objects() if type(one).__name__ in ('Contest', 'Asked', 'Variant', 'Course')]
if told:
    raise ValueError('the judge is here')
"""),
        NONE,
        "a scan passes through",
        assignment="cache-policies",
    ),
    Submission(
        "never-warm",
        "answers honestly, and the time that is measured has no end",
        {"rule": "def rule(system):\n    return 1\n"},
        NONE,
        "too late",
        assignment="warm-cache",
    ),
    Submission(
        "endless-measurement",
        "sets what makes the judge's own runs long",
        {"fix": "fix = {'volume.prefetch.min_read': 0}"},
        NONE,
        "events together",
        assignment="odx-prefetch",
    ),
)

BAD_FILES = (
    Submission("no-notebook", "is not a notebook", points=NONE, told=NO_JSON, file=b"\x89PNG nonsense"),
    Submission("empty", "is empty", points=NONE, told=NO_JSON, file=b""),
    Submission("no-cells", "has no cells", points=NONE, told=NO_CELLS, file=b'{"nbformat": 4}'),
    Submission("deep-json", "is 100,000 lists in lists", points=NONE, told=NO_JSON, file=b"[" * 100_000),
    Submission(
        "odd-cells",
        "has cells of every wrong kind",
        points=NONE,
        told=MISSING,
        file=b'{"cells": [1, null, {"cell_type": 3}, {"cell_type": "code", "metadata": [], "source": {}}]}',
    ),
    Submission(
        "bad-number",
        "has a number that no reader takes",
        points=NONE,
        told=NO_JSON,
        file=b'{"cells": [' + b"9" * 10_000 + b"]}",
    ),
)


def notebook(submission: Submission, student: str) -> bytes:
    """Give the file that is handed in."""
    if submission.file is not None:
        return submission.file
    name = submission.assignment
    document: dict[str, Any] = json.loads((ROOT / "exercises" / name / f"{name}.ipynb").read_text(encoding="utf-8"))
    cells = {"learner": f"LEARNER = {student!r}", **submission.cells}
    if name == "disk-time":
        cells.setdefault("prediction", PREDICTION)
    for cell in document["cells"]:
        if cell["id"] in cells:
            cell["source"] = cells[cell["id"]]
    return json.dumps(document).encode()
