"""Write the submissions of a made-up class of 100 for week 5: `python tests/made_up_class.py FOLDER`.

Each student has two notebooks. The answers are right, typically wrong, missing, or copied from another student with
other names. A file tells which are copies, so that what a teacher finds can be compared.
"""

from __future__ import annotations

import json
import random
import sys
from pathlib import Path
from typing import Any

from console import ROOT, main
from seeklab.exercises import odx_prefetch, read_ahead

COUNT = 100
COPIES = 4
"""Pairs of students with one program for `read-ahead`."""
SEED = 5

POLICIES = {
    "right": """class Policy:
    def __init__(self):
        self.last = {}

    def __call__(self, read):
        end = read.record + read.records
        when, ended, count = self.last.get(read.file, (-1, -1, 0))
        count = count + read.records if when == read.now_ns else read.records
        self.last[read.file] = (read.now_ns, end, count)
        return [(end, max(2, count))] if ended == read.record else []
""",
    "by steps": """class Policy:
    def __init__(self):
        self.seen = {}

    def __call__(self, read):
        before = self.seen.get(read.file)
        self.seen[read.file] = read.record + read.records
        if before is None or before != read.record:
            return []
        ahead = [read.record + read.records]
        while len(ahead) < 4:
            ahead.append(ahead[-1] + 1)
        return [(first, 1) for first in ahead]
""",
    "a set of ends": """class Policy:
    def __init__(self):
        self.ends = set()

    def __call__(self, read):
        follows = (read.file, read.record) in self.ends
        self.ends.discard((read.file, read.record))
        self.ends.add((read.file, read.record + read.records))
        if not follows:
            return []
        return [(read.record + read.records, 2 * read.records)]
""",
    "every read": """class Policy:
    def __call__(self, read):
        return [(read.record + read.records, 2)]
""",
    "nothing": """class Policy:
    def __call__(self, read):
        return []
""",
    "by memory": """class Policy:
    def __init__(self):
        self.streams = {}

    def __call__(self, read):
        known = self.streams.setdefault(read.file, [read.record, 0])
        known[1] = known[1] + 1 if known[0] == read.record else 0
        known[0] = read.record + read.records
        room = read.memory_bytes - read.arriving_bytes
        if known[1] < 2 or room < 64 * read.record_bytes:
            return []
        return [(known[0], min(32, room // (100 * read.record_bytes)))]
""",
}
FIXES: tuple[dict[str, Any], ...] = (
    {"protocol.odx_sizing": "target"},
    {"volume.prefetch.per_request": 2},
    {"volume.prefetch.min_read": "64KiB"},
    {"protocol.max_transaction": "8MiB"},
    {},
)


def _other_names(program: str, nth: int) -> str:
    """Return a copy that its student has hidden: other names, and a comment of their own."""
    names = {"last": "memory", "end": "stop", "count": "how_many", "when": "moment", "ended": "expected"}
    for name, new in names.items():
        program = program.replace(f"self.{name}", f"self.{new}_{nth}").replace(f"{name} ", f"{new}_{nth} ")
        program = program.replace(f"{name})", f"{new}_{nth})").replace(f"{name},", f"{new}_{nth},")
    return program.replace("    def __call__", "    # My own idea: look at the last read.\n    def __call__")


def _diagnosis(student: str, source: random.Random) -> dict[str, Any]:
    """Return what a student reads off their own system, with a likely slip for some."""
    own = list(odx_prefetch.copy_reads(odx_prefetch.run(student, dict.fromkeys(odx_prefetch.QUESTIONS, 1))))[10]
    found = {
        "read_bytes": own["bytes"],
        "missed_bytes": own["missed_bytes"],
        "first_missed_byte": own["bytes"] - own["missed_bytes"],
        "phase": "waiting",
        "cause": "A copy read is longer than the range fetched ahead for it.",
    }
    slip = source.random()
    if slip < 0.15:
        found["first_missed_byte"] = 0
    elif slip < 0.3:
        found["cause"] = next(iter(odx_prefetch.SUSPECTS))
    elif slip < 0.4:
        found["phase"] = "transfer"
    return found


def _written(assignment: str, answers: dict[str, str]) -> str:
    """Return the learners' copy of an exercise with answers in their cells."""
    notebook = json.loads((ROOT / "exercises" / assignment / f"{assignment}.ipynb").read_text(encoding="utf-8"))
    for cell in notebook["cells"]:
        if cell["id"] in answers:
            cell["source"] = answers[cell["id"]]
    return json.dumps(notebook)


def write() -> int:
    """Write the class."""
    folder = Path(sys.argv[1])
    source = random.Random(SEED)
    kinds = list(POLICIES)
    copies: list[list[str]] = []
    originals: list[str] = []
    for nth in range(COUNT):
        student = f"student{nth:03}"
        kind = "right" if nth < COPIES else source.choice(kinds)
        program = POLICIES[kind].replace("max(2,", f"max({2 + nth % 3},")
        if COPIES <= nth < 2 * COPIES:
            program = _other_names(POLICIES["right"], nth)
            copies.append([originals[nth - COPIES], student])
        originals.append(student)
        asked = {name: source.randrange(1, 100) for name in odx_prefetch.QUESTIONS}
        ahead = {name: source.randrange(1, 1000) for name in read_ahead.QUESTIONS}
        learner = f'LEARNER = "{student}"\n'
        answers = {
            "odx-prefetch": {
                "learner": learner,
                "prediction": f"prediction = {asked!r}\n",
                "diagnosis": f"diagnosis = {_diagnosis(student, source)!r}\n",
                "fix": f"fix = {source.choice((FIXES[0], *FIXES))!r}\n",
            },
            "read-ahead": {"learner": learner, "prediction": f"prediction = {ahead!r}\n", "read-ahead": program},
        }
        for assignment, cells in answers.items():
            path = folder / "submitted" / student / assignment / f"{assignment}.ipynb"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(_written(assignment, cells if source.random() > 0.05 else {"learner": learner}))
    (folder / "copies.json").write_text(json.dumps(copies))
    (folder / "roster.csv").write_text(
        "login,name,id,sis_id,section\n"
        + "".join(f"student{nth:03},Student {nth},{nth},S{nth},{'AB'[nth % 2]}\n" for nth in range(COUNT))
    )
    return 0


if __name__ == "__main__":
    main(write)
