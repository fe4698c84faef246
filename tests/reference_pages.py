"""The reference pages in `docs/` and the README's numbers: `make update what=readme` writes them."""

from __future__ import annotations

import argparse
import json
import re
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any

import measured
import seeklab
from seeklab import cli
from seeklab.judge import catalogue

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

ROOT = Path(__file__).parent.parent
README = ROOT / "README.md"
DOCS = ROOT / "docs"
CASE = "odx-prefetch"
"""The case whose facts the README shows."""
SHOWN = ("Q1.4", "Q1.6", "Q1.5")
"""The facts of it that the README shows: two that hold, and a miss."""


def _heading(title: str) -> str:
    return f"# {title}\n\n<!-- Written by `make update what=readme`; edit tests/reference_pages.py. -->\n\n"


def _row(*cells: object) -> str:
    return f"| {' | '.join(map(str, cells))} |\n"


def _table(columns: Iterable[str], rows: Iterable[Iterable[object]]) -> str:
    columns = tuple(columns)
    return _row(*columns) + "|" + "---|" * len(columns) + "\n" + "".join(_row(*row) for row in rows)


def _number(value: float | list[float]) -> str:
    if isinstance(value, list):
        return "–".join(map(_number, value))  # noqa: RUF001 -- a range
    return f"{value:,.0f}" if value == round(value) else f"{value:,.2f}"


def facts(judged: Iterable[Mapping[str, Any]]) -> str:
    """Write the README's facts of one case."""
    rows = {
        fact["id"]: (
            f"{fact['title']}, {fact['unit']}",
            *(_number(fact[name]) for name in ("documented", "simulated")),
            fact["tolerance"],
            fact["verdict"],
        )
        for fact in judged
    }
    return _table(("fact", "documented", "simulated", "tolerance", "verdict"), (rows[name] for name in SHOWN))


def counts() -> str:
    """Write how much there is of everything."""
    cases, notebooks, exercises = (len(seeklab.cases()), len(_notebooks()), len(catalogue.ASKS))
    return f"{cases} documented incidents, {notebooks} notebooks, {exercises} graded exercises.\n"


def fact_counts() -> str:
    """Write how many facts hold."""
    held, missed, found = (sum(column) for column in zip(*(_verdicts(case) for case in _cases()), strict=True))
    return (
        f"- **Facts.** Of {held + missed + found} documented facts, {held} are reproduced and {missed} are not, each"
        f" with a reason; for {found}, the source contradicts itself.\n"
    )


def _cases() -> list[seeklab.Case]:
    return [seeklab.case(entry["id"]) for entry in seeklab.cases()]


def _verdicts(case: seeklab.Case) -> tuple[int, int, int]:
    """Count the facts that hold, that miss, and whose source contradicts itself."""
    found, missed = len(_discrepancies(case)), len(_misses(case))
    return len(case.facts) - found - missed, missed, found


def _discrepancies(case: seeklab.Case) -> list[str]:
    return [fact["id"] for fact in case.facts if fact["kind"] == "discrepancy"]


def _misses(case: seeklab.Case) -> list[str]:
    return [fact["id"] for fact in case.facts if fact["kind"] != "discrepancy" and fact.get("misses_because")]


INCIDENTS = """\
Each incident is a TOML file in `engine/cases`: parameters for one shared model, no scripted results. Every documented
number is a fact with a verdict:

- **Holds.** The simulated value is within the tolerance on five seeds. A predicted fact also holds at other values of
  its inputs.
- **Model misses.** The fact stays in the case file, with its measured value and a tested reason.
- **Source contradicts itself.** No consistent model can produce the source's number. That is a finding, not a failure;
  the case file lists what does hold.

*Predicted* facts follow from the mechanism and stated parameters. A *calibrated* fact was used to fit one named
parameter. Each fact has an ablation: without its mechanism, the fact fails. `seeklab facts CASE` prints the facts of a
case, and `seeklab facts --seeds 5 --inputs` measures all facts again. The
[instructor's table](instructor/incidents.md) says which notebook and which exercises use an incident.

"""


def incidents() -> str:
    """Write every incident with its facts. Which ones miss is in the case files, and a test compares them with runs."""
    rows = [
        (
            case.document["code"],
            f"[{case.document['title']}](../engine/cases/{case.id}.toml)",
            f"`{case.id}`",
            len(case.facts),
            sum(fact["kind"] == "predicted" for fact in case.facts),
            _verdicts(case)[0],
            ", ".join(_misses(case)),
            ", ".join(_discrepancies(case)),
        )
        for case in _cases()
    ]
    columns = ("", "incident", "name", "facts", "predicted", "hold", "model misses", "source contradicts itself")
    return _heading("Incidents") + INCIDENTS + _table(columns, rows)


COURSE = """\
`make lab` opens the course in JupyterLab; the [browser lab](browser-lab.md) needs no installation. A notebook
investigates one or more incidents with the tools that an engineer would have had. An exercise is graded by what the
answer does. In the final assignment, learners write an incident for a classmate to diagnose
([capstone](instructor/capstone.md)). The [instructor's pages](instructor/README.md) have the plan of the ten weeks.

"""


def course() -> str:
    """Write every notebook with the incidents that name it, then every exercise."""
    weeks = tomllib.loads((DOCS / "instructor" / "course.toml").read_text(encoding="utf-8"))["weeks"]

    def weeks_of(name: str) -> str:
        """List the weeks of a notebook's number or an exercise's name."""
        named = (
            {week["graded"], *week["more"], *(notebook["number"] for notebook in week["notebooks"])} for week in weeks
        )
        return ", ".join(str(number) for number, names in enumerate(named, 1) if name in names)

    notebooks = [
        (
            _link(path),
            ", ".join(case.document["code"] for case in _cases() if case.document.get("notebook") == path.stem),
            weeks_of(path.stem[:2]),
        )
        for path in _notebooks()
    ]
    exercises = [
        (
            _link(path),
            ", ".join(catalogue.ASKS[path.stem]),
            weeks_of(path.stem),
        )
        for path in sorted((ROOT / "exercises").glob("*/*.ipynb"))
    ]
    return (
        _heading("Course")
        + COURSE
        + _table(("notebook", "incidents", "weeks"), notebooks)
        + "\n## Exercises\n\n"
        + _table(("exercise", "tasks", "week"), exercises)
    )


def _notebooks() -> list[Path]:
    return sorted((ROOT / "notebooks").glob("*.ipynb"))


def _link(path: Path) -> str:
    """Link to a notebook by its own title."""
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    headings = (line for cell in cells for line in "".join(cell["source"]).splitlines() if line.startswith("# "))
    return f"[{next(headings)[2:].strip()}](../{path.relative_to(ROOT).as_posix()})"


VALIDATION = """\
## Disks

The disk model knows only a drive's parameter file. We compare it with request-by-request traces of six real drives.
*Demerit* is the RMS difference of service times at equal rank, divided by their mean. The model's demerit is DiskSim's
or slightly lower on five drives, and much lower on one.

The demerit ranks reads and writes together, so an error of one can cancel an error of the other. *Ranked by
class* shows how much cancels: reads and writes are ranked separately, and the RMS difference covers both. On the
HP C3323A it is 1.7 times the demerit, on the DEC RZ26 1.9 times. DiskSim's result is known only for all
requests together.
The tests limit the demerits of reads and of writes separately. *Bias* is mean simulated minus mean measured time. On
the first three drives reads are too slow and writes too fast.

`seeklab validate` compares the model with any drive in the same file format. The site's validation page does so with a
synthetic drive.

"""
VALIDATION_OTHER = """
## Other parts

- **Caches.** Hit counts match libCacheSim exactly for every cache policy that both have.
- **Flash.** Write amplification is within 5% of the closed form.
- **ZFS.** The documented test vectors of the write throttle and the I/O scheduler are met exactly.
- **Conservation.** Each nanosecond of a request is charged to a named phase. Random scenarios over all layers conserve
  requests, bytes and time.
- **Hosts.** The same run has the same fingerprint natively, under wasmtime, in Chromium and in Pyodide.
- **Incidents.** The [incidents](incidents.md) list every documented fact that the model misses.
"""


def validation() -> str:
    """Write how the model compares with measured drives."""
    return _heading("Validation") + VALIDATION + measured.table() + VALIDATION_OTHER


def command_line() -> str:
    """Write every command of `seeklab` with what it takes."""
    parser = cli.parser()
    commands: Mapping[str, argparse.ArgumentParser] = next(
        action.choices
        for action in parser._actions  # noqa: SLF001 -- argparse has no other way to list what it takes
        if isinstance(action.choices, dict)
    )
    sections = [f"## seeklab {name}\n\n{one.description}\n\n{_options(one)}" for name, one in commands.items()]
    return "\n".join([_heading("Command line") + f"{parser.description} {parser.epilog}\n", *sections])


def _options(parser: argparse.ArgumentParser) -> str:
    rows = []
    for action in sorted(parser._actions, key=lambda one: bool(one.option_strings)):  # noqa: SLF001 -- as above
        if "--help" in action.option_strings or action.help == argparse.SUPPRESS:
            continue
        value = action.metavar or (action.choices and "{" + ",".join(map(str, action.choices)) + "}") or action.dest
        value = " ".join(value) if isinstance(value, tuple) else value
        takes = value if action.nargs != 0 else ""
        name = " ".join(filter(None, (", ".join(action.option_strings), takes)))
        help_ = (action.help or "") % {**vars(action), "prog": parser.prog}
        required = "" if not action.option_strings or not action.required else " (required)"
        rows.append((f"`{name}`".replace("|", r"\|"), (help_ + required).replace("|", r"\|").replace("\n", " ")))
    return _table(("argument", "meaning"), rows)


PAGES: Mapping[str, Callable[[], str]] = {
    "incidents.md": incidents,
    "course.md": course,
    "validation.md": validation,
    "command-line.md": command_line,
}
"""The generated pages in `docs/`."""


def part(name: str) -> re.Pattern[str]:
    """Return the pattern of a generated part of the README."""
    return re.compile(rf"(?<=<!-- {name}: written by make update what=readme -->\n).*?(?=<!-- /{name} -->)", re.DOTALL)


def current(name: str) -> str:
    """Read a generated part of the README."""
    found = part(name).search(README.read_text(encoding="utf-8"))
    return found.group() if found else ""


if __name__ == "__main__":
    measured.store()
    text = README.read_text(encoding="utf-8")
    parts = {"facts": facts(seeklab.facts(CASE)), "counts": counts(), "verdicts": fact_counts()}
    for name, written in parts.items():
        text = part(name).sub(written.replace("\\", r"\\"), text)
    README.write_text(text, encoding="utf-8")
    for name, page in PAGES.items():
        (DOCS / name).write_text(page(), encoding="utf-8")
