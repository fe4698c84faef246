"""Grades of every kind are kept and exported: of wrong answers, of random ones, in damaged files and on full disks."""

from __future__ import annotations

import os
import random
import sqlite3
from typing import TYPE_CHECKING, Any

import pytest

from random_answers import random_answers
from seeklab import SeeklabError
from seeklab.judge import Evidence, Outcome, Seeds, Variant, Verdict, catalogue, exports, judge
from seeklab.judge.answers import Code
from seeklab.judge.dashboard import Dashboard, report
from seeklab.judge.grading import Grade
from seeklab.judge.identity import practice_draws
from seeklab.judge.printable import UNPRINTABLE
from seeklab.judge.programs import Live
from seeklab.judge.store import Store
from wrong_answers import LEARNER, ONE_SEED, wrong_answers

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

    from conftest import CommandLine

IS_FULL = os.environ.get("SEEKLAB_FULL") == "1"
QUICK = ("disk-time", "by-heart", "monitors-lie", "honest-data", "copy-way", "buffer-size", "honest-percentiles")
"""Exercises whose runs are short."""


def graded(name: str, student: str, answers: Mapping[str, Any], tasks: list[str] | None = None) -> Grade:
    """Grade answers as the grader does, with programs that run here."""
    assignment = catalogue.assignment(name)
    given = {
        one: Live(answer) if isinstance(assignment.kinds[one], Code) and callable(answer) else answer
        for one, answer in answers.items()
    }
    verdicts = judge(assignment, given, Variant(practice_draws(LEARNER), ONE_SEED), Seeds(b"k" * 32), tasks)
    return Grade(student, name, tuple(verdicts), answers=answers)


def answered() -> Iterator[Grade]:
    """Grade wrong answers and random ones: some in each run, ten thousand in a full one."""
    for name in catalogue.NAMES if IS_FULL else ("warm-cache",):
        yield from (graded(name, f"w{nth}", one.answers, [one.task]) for nth, one in enumerate(wrong_answers(name)))
    yield from (graded("warm-cache", f"{bytes_:g}", {"rule": lambda _, given=bytes_: given}) for bytes_ in (1, 1e6))
    if IS_FULL:
        yield from (graded(name, "r", random_answers(name, random.Random(name))) for name in catalogue.NAMES)
    for number in range(10_000 if IS_FULL else 100):
        source = random.Random(number)
        name = QUICK[number % len(QUICK)]
        yield graded(name, f"r{number}", random_answers(name, source))


def test_every_answer_is_a_grade_that_is_kept_and_exported(tmp_path: Path) -> None:
    with Store(tmp_path / "grades.db") as store:
        for grade in answered():
            store.keep(grade, "print")
        found = store.details()
        assert len(found) == len(store.attempts()) > 100
        exports.write_feedback(found, tmp_path / "feedback")
        exports.write_gradescope(store.documents(), tmp_path / "gradescope")
        for system in ("canvas", "moodle"):
            exports.table(found, system, tmp_path / system)
        page = report(Dashboard.read(store))
    texts = [path.read_text(encoding="utf-8") for path in tmp_path.rglob("*") if path.suffix in {".html", ".json"}]
    assert len(texts) == 2 * len(found)
    assert not any(set(UNPRINTABLE.findall(text)) - set("\n\t") for text in [page, *texts])


def test_evidence_is_finite_or_a_word_or_nothing() -> None:
    numbers = (1.5, 10**400, float("inf"), float("-inf"), float("nan"), None)
    measured = [Evidence("\ud800", number, "\x1b[2J", None).measured for number in numbers]
    assert measured == [1.5, 10**400, "infinite", "-infinite", None, None]


def test_names_that_would_be_the_same_folder_get_folders_of_their_own(tmp_path: Path) -> None:
    names = ("e_e", "e?e", "e:e", "e/e", ".e", "e", "..", "n" * 255, "n" * 254, "\u00e9" * 127)
    verdict = Verdict("check-users", Outcome.FAIL, 0, 3, "")
    documents = [Grade(name, "disk-time", (verdict,)).document() for name in names]
    exports.write_gradescope(documents, tmp_path)
    assert len(list(tmp_path.iterdir())) == len(names)
    assert {"e_e", "e"} <= {path.name for path in tmp_path.iterdir()}


# The file of grades


def one_grade() -> Grade:
    verdict = Verdict("check-users", Outcome.FAIL, 0, 3, "wrong", (Evidence("x", 1.0, "<= 2", met=False),))
    return Grade("ada", "disk-time", (verdict,))


def overwrite(where: int, content: bytes) -> Callable[[Path], None]:
    def damage(path: Path) -> None:
        with path.open("r+b") as file:
            file.seek(where)
            file.write(content)

    return damage


def execute(command: str) -> Callable[[Path], None]:
    def damage(path: Path) -> None:
        with sqlite3.connect(path) as file:
            file.execute(command)
        file.close()

    return damage


DAMAGES: dict[str, Callable[[Path], object]] = {
    "garbage": lambda path: path.write_bytes(b"no grades " * 1000),
    "truncated": lambda path: os.truncate(path, path.stat().st_size // 2),
    "zeros in the schema": overwrite(0x64, bytes(4000)),
    "zeros in a page": overwrite(4096, bytes(4096)),
    "broken JSON": execute("""update grades set document = '{"student": '"""),
    "deep JSON": execute("update grades set document = replace(hex(zeroblob(100000)), '0', '[')"),
    "another JSON": execute("update grades set document = '[1]'"),
    "a grade without tasks": execute("""update grades set document = json_remove(document, '$.tasks')"""),
    "a score that is a text": execute("""update grades set document = json_set(document, '$.score', 'many')"""),
    "evidence of another shape": execute("""update grades set details = '{"evidence": {"x": [1]}, "answers": {}}'"""),
    "bytes for a text": execute("update grades set document = x'ff00ff'"),
    "another column": execute("alter table grades rename column document to grade"),
}


@pytest.mark.parametrize("name", DAMAGES)
def test_a_damaged_file_of_grades_is_reported_in_a_line(name: str, tmp_path: Path, command_line: CommandLine) -> None:
    path = tmp_path / "grades.db"
    with Store(path) as store:
        store.keep(one_grade(), "print")
    DAMAGES[name](path)
    done = command_line("desk", "--grades", str(path), "--report", str(tmp_path / "page.html"))
    assert (done.returncode, done.stdout, len(done.stderr.splitlines())) == (2, "", 1)
    assert str(path) in done.stderr


def test_a_full_disk_is_reported_and_what_was_kept_stays(tmp_path: Path) -> None:
    with Store(tmp_path / "grades.db") as store:
        store.keep(one_grade(), "print")
        pages = store._file.execute("pragma page_count").fetchone()[0]  # noqa: SLF001 -- as a full disk would
        store._file.execute(f"pragma max_page_count = {pages}")  # noqa: SLF001
        large = Grade("bob", "disk-time", one_grade().verdicts, answers={"choice": "x" * 100_000})
        with pytest.raises(SeeklabError, match=r"grades\.db.*full"):
            store.keep(large, "print")
        assert [document["student"] for document in store.documents()] == ["ada"]


def test_two_graders_do_not_use_one_file(tmp_path: Path) -> None:
    path = tmp_path / "grades.db"
    with Store(path) as first, Store(path) as second:
        with first.grading(), pytest.raises(SeeklabError, match=r"grades\.db\.lock"), second.grading():
            pass
        first.keep(one_grade(), "print")
        with second.grading():
            assert len(second.documents()) == 1, "others may read at any time"
