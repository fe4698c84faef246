"""`seeklab inventory`: the concept inventory's forms, learners' answers, and the analysis of a study."""

from __future__ import annotations

import csv
import json
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from seeklab._errors import Problem, SeeklabError
from seeklab._progress import ProgressBar
from seeklab._saving import write_whole
from seeklab.cli._exit import DONE
from seeklab.cli._output import complain, print_json, print_table
from seeklab.cli.grade import add_secret

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Mapping, Sequence

    from seeklab.cli._commands import Commands

ACTIONS = ("form", "take", "export", "analyse", "simulate")
HEAD = ("student", "wave", "form", "item", "option", "confidence", "seconds")
"""Columns of a file of answers."""
DECIMALS = 2


def add(commands: Commands) -> None:
    """Add the command."""
    added = commands.add(
        "inventory",
        inventory,
        "Test what a class has learned: thirty questions in two forms, with keys from runs.",
    )
    added.add_argument(
        "action",
        choices=ACTIONS,
        help="form: write a form and its key; take: answer a form here; export: score answers and make them "
        "anonymous; analyse: print statistics; simulate: write answers of a made-up class",
    )
    added.add_argument("files", metavar="FILE", nargs="*", help="A or B for form; a form, answers or a study's rows")
    added.add_argument("--out", metavar="PATH", type=Path, help="output folder (form, export) or file (take, simulate)")
    added.add_argument("--student", metavar="S", help="take: your name or code")
    added.add_argument("--wave", choices=("first", "last"), default="first", help="take: before or after the course")
    added.add_argument("--key", metavar="FILE", type=Path, action="append", default=[], help="export: a form's key")
    added.add_argument("--consent", metavar="FILE", type=Path, help="export: names of those who agreed, one a line")
    added.add_argument("--gain", metavar="G", type=float, default=0.3, help="simulate: normalised gain (default 0.3)")
    added.add_argument("--learners", metavar="N", type=int, default=30, help="simulate: size of the class (default 30)")
    added.add_argument("--seed", metavar="N", type=int, default=1, help="simulate: seed (default 1)")
    add_secret(added)


def inventory(options: Namespace) -> int:
    """Do the requested action."""
    actions = {"form": _form, "take": _take, "export": _export, "analyse": _analyse, "simulate": _simulate}
    return actions[options.action](options)


def _form(options: Namespace) -> int:
    from seeklab.inventory.forms import FORMS, form

    name = _one(options, f"the form, {' or '.join(FORMS)}")
    if name not in FORMS:
        raise SeeklabError([Problem("FILE", f'"{name}" is not a form; write {" or ".join(FORMS)}')])
    folder = options.out or Path()
    secret = _secret(options)
    with ProgressBar() as progress:
        drawn = form(name, secret, progress)
    written = {
        f"form-{name}.json": _json(drawn.sheet()),
        f"form-{name}.html": drawn.page(),
        f"form-{name}-key.json": _json(drawn.key()),
    }
    for file, text in written.items():
        _write(folder / file, text)
    if options.json:
        print_json([str(folder / file) for file in written])
    else:
        print(*(folder / file for file in written), sep="\n")
    return DONE


def _take(options: Namespace) -> int:
    """Ask each question on the terminal, and append the answers to a file."""
    sheet = _document(Path(_one(options, "a form's file")))
    if not (options.student or "").strip():
        raise SeeklabError([Problem("--student", "is missing; pass your name or the code that you were given")])
    path = options.out or Path("answers.csv")
    rows = []
    print(f"Form {sheet['form']}: {len(sheet['items'])} questions. Press Enter to leave one empty.\n")
    for nth, item in enumerate(sheet["items"], 1):
        print(f"{nth}. {item['stem']}")
        for number, text in enumerate(item["options"], 1):
            print(f"   {number}  {text}")
        start = time.monotonic()
        numbers = [str(number) for number in range(1, len(item["options"]) + 1)]
        chosen = _asked("Answer", numbers)
        sure = _asked("How sure, in percent", [str(percent) for percent in sheet["confidences"]]) if chosen else ""
        seconds = round(time.monotonic() - start, 1)
        option = str(int(chosen) - 1) if chosen else ""
        rows.append((options.student, options.wave, sheet["form"], item["id"], option, sure, str(seconds)))
        print()
    is_new = not path.exists()
    try:
        with path.open("a", newline="", encoding="utf-8") as file:
            written = csv.writer(file)
            written.writerows([HEAD, *rows] if is_new else rows)
    except OSError as error:
        raise SeeklabError([Problem(str(path), f"cannot be written: {error.strerror}")]) from None
    print(f"{len(rows)} answers are in {path}. Send this file to your teacher.")
    return DONE


def _asked(question: str, accepted: Sequence[str]) -> str:
    """Ask until the answer is accepted or empty; the end of the input is an empty answer."""
    while True:
        print(f"{question} ({', '.join(accepted)}): ", end="", flush=True)
        line = sys.stdin.readline()
        if not line.strip() or line.strip() in accepted:
            return line.strip()


def _export(options: Namespace) -> int:
    from seeklab.inventory.records import CODEBOOK, anonymous, as_csv, read_answers

    if not options.files:
        raise SeeklabError([Problem("FILE", "is missing; pass the files of answers")])
    if not options.key:
        raise SeeklabError([Problem("--key", "is missing; pass the key of each form, such as form-A-key.json")])
    if options.consent is None:
        message = "is missing; pass a file with the names of those who agreed, one a line"
        raise SeeklabError([Problem("--consent", message)])
    keys = {document["form"]: document for document in map(_document, options.key)}
    agreed = {name.strip() for name in _text(options.consent).splitlines() if name.strip()}
    answers = [one for file in options.files for one in read_answers(_text(Path(file)), file, keys)]
    kept = anonymous(answers, agreed, _secret(options))
    folder = options.out or Path("study")
    _write(folder / "items.csv", as_csv(kept))
    _write(folder / "items.json", _json([vars(one) for one in kept]))
    _write(folder / "codebook.json", _json(CODEBOOK))
    left = len({one.learner for one in answers} - agreed)
    said = {"folder": str(folder), "learners": len({one.learner for one in kept}), "without_consent": left}
    if options.json:
        print_json(said)
    else:
        print(f"{len(kept)} answers of {said['learners']} learners are in {folder}; {left} did not agree.")
    return DONE


def _analyse(options: Namespace) -> int:
    from seeklab.inventory.records import from_csv
    from seeklab.inventory.statistics import FEW, analyse

    file = _one(options, "a study's items.csv")
    found = analyse(from_csv(_text(Path(file)), file))
    if options.json:
        print_json(found)
        return DONE
    for wave, part in found["waves"].items():
        reliability = "" if part["kr20"] is None else f", KR-20 {part['kr20']:.{DECIMALS}f}"
        print(f"{wave}: {part['learners']} learners{reliability}")
        rows = [(name, *_item_row(item)) for name, item in part["items"].items()]
        head = ("item", "answers", "right", "p", "D", "r", "sure if right", "if wrong", "flags")
        print_table(head, rows, right=range(1, 8))
        print()
    gained = found["gain"]
    if gained is None:
        print(f"No gain: fewer than {FEW} learners have both waves, or the first had no wrong answer.")
    else:
        print(
            f"Normalised gain {gained['gain']:.{DECIMALS}f} (95% interval {gained['low']:.{DECIMALS}f} to "
            f"{gained['high']:.{DECIMALS}f}, {gained['learners']} learners): {gained['verdict']}."
        )
    return DONE


def _item_row(item: Mapping[str, Any]) -> tuple[str, ...]:
    def number(name: str, places: int = DECIMALS) -> str:
        value = item.get(name)
        return "-" if value is None else f"{value:.{places}f}"

    return (
        str(item["answers"]),
        str(item["right"]),
        *(number(name) for name in ("difficulty", "discrimination", "point_biserial")),
        *(number(name, 0) for name in ("confidence_right", "confidence_wrong")),
        "; ".join(item.get("flags", ())),
    )


def _simulate(options: Namespace) -> int:
    from seeklab.inventory.learners import simulate
    from seeklab.inventory.records import as_csv

    if options.files:
        raise SeeklabError([Problem("FILE", "is not used by simulate; name the output with --out")])
    if not 0 <= options.gain <= 1:
        raise SeeklabError([Problem("--gain", f"is {options.gain:g}; use a share from 0 to 1")])
    if options.learners < 1:
        raise SeeklabError([Problem("--learners", f"is {options.learners}; the minimum is 1")])
    rows = as_csv(simulate(options.learners, options.gain, options.seed))
    path = options.out or Path("simulated.csv")
    _write(path, rows)
    if options.json:
        print_json({"file": str(path), "learners": options.learners, "gain": options.gain, "seed": options.seed})
    else:
        print(f"{options.learners} simulated learners with a gain of {options.gain:g} are in {path}.")
    return DONE


def _one(options: Namespace, what: str) -> str:
    if len(options.files) != 1:
        raise SeeklabError(
            [Problem("FILE", f"{options.action} takes one argument, {what}; {len(options.files)} given")]
        )
    return str(options.files[0])


def _secret(options: Namespace) -> bytes:
    from seeklab.judge.identity import open_course

    course, made = open_course(options.secret, Path.cwd())
    if made:
        complain(f"note: created the course's secret in {course.folder}; back it up, and keep it from learners")
    return course.draws("", "inventory")


def _document(path: Path) -> dict[str, Any]:
    try:
        document = json.loads(_text(path))
    except (ValueError, RecursionError):
        document = None
    if not isinstance(document, dict) or not {"form", "items"} <= document.keys():
        raise SeeklabError([Problem(str(path), "is not a form or a key; write one with `seeklab inventory form A`")])
    return document


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise SeeklabError([Problem(str(path), f"cannot be read: {error.strerror}")]) from None
    except UnicodeDecodeError:
        raise SeeklabError([Problem(str(path), "is not text in UTF-8")]) from None


def _json(document: object) -> str:
    return json.dumps(document, indent=1, ensure_ascii=False) + "\n"


def _write(path: Path, text: str) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, text)
    except OSError as error:
        raise SeeklabError([Problem(str(path), f"cannot be written: {error.strerror}")]) from None
