"""Cheap answers to every exercise: what a learner can hand in without understanding it.

Common strategies, for each kind of answer:
- **shipped**: the released notebook, unchanged;
- **own constant**: the right value for one's own system, whatever is asked;
- **constant**: one value for all systems, the best of a sweep over what right answers return;
- **branch on a value**: two constants, chosen by one of the known numbers;
- **neighbour**: the answers of another learner's solution;
- **one word**: the same choice everywhere, the best of a sweep;
- **one setting**: a single setting of the solution, without the others.

`OF_ITS_OWN` adds what only one exercise allows, such as policies that look only at the position. Predictions always
earn their points, so they count here too. `PYTHONPATH=scripts .venv/bin/python tests/cheap.py NAME...` measures
exercises and writes `STORE`. A program that calls the simulator gets an error in the sandbox (`test_sandbox.py`), so it
is not measured here.

A measurement takes one learner after the other and plays all strategies, because they share most runs: those of the
system as found, and those that give the bound. `Runs` keeps them. A task that needs all its bounds is left at the first
broken one. Numbers after the names limit the learners (`DRAWS`) and, second, each exercise's seconds of processor time.
"""

from __future__ import annotations

import json
import math
import sys
from collections import Counter
from dataclasses import dataclass, field, replace
from functools import cache
from importlib import import_module
from operator import itemgetter
from statistics import mean
from time import process_time
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

from console import ROOT, say
from exercises import EXERCISES, SOLUTIONS
from seeklab import _result
from seeklab.course.tasks import tasks
from seeklab.engine.host import engine
from seeklab.engine.protocol import RunHandle
from seeklab.exercises._shapes import source_from
from seeklab.judge import Code, Commitment, Fields, Seeds, Settings, Variant, catalogue, judge
from seeklab.judge.answers import Choice
from seeklab.judge.identity import practice_draws
from seeklab.judge.programs import Live
from wrong_answers import ONE_SEED, Fifo

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from seeklab.engine.protocol import Engine
    from seeklab.exercises._shapes import Shape
    from seeklab.judge import Asked, Assignment, Evidence
    from seeklab.judge.answers import Kind

    Candidate = Callable[[str], Mapping[str, Any]]

STORE = ROOT / "tests" / "cheap.json"
DRAWS = 100
PILOT = 4
"""Learners on whom the candidates of a sweep are compared; the best one meets the others."""
RECORDED = 10
"""Learners whose systems the sweeps learn from. They are not among those of the measurement."""
QUANTILES = (0.1, 0.5, 0.9)
MOST = 0.5
"""The share of an exercise's points that a cheap answer may earn."""
FIRST = 5
"""Learners whose points are stored; a test measures some of them again."""

Answers = dict[str, Any]


# The answers of a notebook.


@cache
def _cells(folder: Path, name: str) -> dict[str, str]:
    notebook = json.loads((folder / name / f"{name}.ipynb").read_text(encoding="utf-8"))
    code = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    return {cell["id"]: "".join(cell["source"]) for cell in code}


def _handed_in(folder: Path, name: str, learner: str) -> Answers:
    """Run the answers of a notebook as this learner; return those that it has."""
    assignment, cells = catalogue.assignment(name), _cells(folder, name)
    predicted = {task.answer for task in assignment.tasks if isinstance(task, Commitment)}
    graded = [cell for answer, cell in assignment.cells.items() if answer not in predicted]
    try:
        return _run(cells, graded, learner, assignment.cells)
    except NameError:
        # Some answers use names of other cells: of the prediction, or of a run.
        return _run(cells, [cell for cell in cells if not cell.startswith("check-")], learner, assignment.cells)


def _run(cells: Mapping[str, str], wanted: Sequence[str], learner: str, answers: Iterable[str]) -> Answers:
    space: Answers = {}
    for cell, source in cells.items():
        if cell == "learner":
            space["LEARNER"] = learner
        elif cell == "setup" or cell in wanted:
            exec(source, space)  # noqa: S102 -- the course's own code
    return {answer: space.get(answer) for answer in answers}


def shipped(name: str, learner: str) -> Answers:
    """Return the answers of the released notebook."""
    return _handed_in(EXERCISES, name, learner)


def solved(name: str, learner: str) -> Answers:
    """Return the answers of the solution."""
    return _handed_in(SOLUTIONS, name, learner)


def of_task(task: str, name: str) -> Any:
    """Return the answer of a notebook's task, as its Answer button shows it."""
    space: Answers = {}
    exec(tasks()[task].answer, space)  # noqa: S102 -- our own code
    return space[name]


# Points.


class _FinishedRun:
    """A run by its summary; it runs again if more than that is needed."""

    def __init__(self, run: Callable[[], RunHandle], summary: dict[str, Any]) -> None:
        self._run, self._summary, self._again = run, summary, list[RunHandle]()

    def step(self, _: int) -> float:
        return 1.0

    def summary(self) -> dict[str, Any]:
        return self._summary

    def close(self) -> None:
        for handle in self._again:
            handle.close()

    def __getattr__(self, name: str) -> Any:
        if not self._again:
            self._again.append(self._run())
        return getattr(self._again[0], name)


class Runs:
    """The engine, with a memory of finished runs. A run that asks the host questions is not kept."""

    def __init__(self, engine: Engine) -> None:
        self.engine, self.kept = engine, dict[str, dict[str, Any]]()

    def __call__(self) -> Runs:
        """Return itself, in place of `seeklab.engine.host.engine`."""
        return self

    def __getattr__(self, name: str) -> Any:
        return getattr(self.engine, name)

    def open_run(self, payload: Mapping[str, object]) -> Any:
        """Open a run, or return a finished one."""
        key = json.dumps(payload, sort_keys=True)
        if key in self.kept:
            return _FinishedRun(lambda: self._whole(payload), self.kept[key])
        return _KeptRun(self.engine.open_run(payload), key, self.kept)

    def _whole(self, payload: Mapping[str, object]) -> RunHandle:
        handle = self.engine.open_run(payload)
        while 0 <= handle.step(1_000_000) < 1:
            pass
        return handle


class _KeptRun:
    """A run whose summary is kept when it is read."""

    def __init__(self, handle: RunHandle, key: str, kept: dict[str, dict[str, Any]]) -> None:
        self._handle, self._key, self._kept, self._asks = handle, key, kept, False

    def question(self) -> Any:
        self._asks = True
        return self._handle.question()

    def summary(self) -> dict[str, Any]:
        found = self._handle.summary()
        if not self._asks:
            self._kept[self._key] = found
        return found

    def __getattr__(self, name: str) -> Any:
        return getattr(self._handle, name)


def _until_broken(measure: Callable[[Asked], Iterable[Evidence]]) -> Callable[[Asked], Iterable[Evidence]]:
    def measured_until(asked: Asked) -> Iterable[Evidence]:
        for item in measure(asked):
            yield item
            if item.met is False:
                return

    return measured_until


def _cut_short(assignment: Assignment) -> Assignment:
    """Return the assignment with tasks that end at a broken bound, where one bound costs all points."""
    tasks = [
        task if isinstance(task, Commitment) or task.by_parts else replace(task, measure=_until_broken(task.measure))
        for task in assignment.tasks
    ]
    return replace(assignment, tasks=tasks)


def earned(name: str, answers: Mapping[str, Any], learner: str, seeds: str = "graded") -> tuple[float, float]:
    """Return the points of some answers, and all points; predictions earn theirs."""
    assignment = catalogue.assignment(name)
    kinds = assignment.kinds
    given = {
        one: Live(answer) if isinstance(kinds[one], Code) and callable(answer) else answer
        for one, answer in answers.items()
        if one in kinds
    }
    wanted = [task.id for task in assignment.tasks if not isinstance(task, Commitment)]
    points = sum(task.points for task in assignment.tasks if isinstance(task, Commitment))
    variant = Variant(practice_draws(learner), ONE_SEED)
    for verdict in judge(_cut_short(assignment), given, variant, Seeds(f"{seeds} {learner}".encode()), wanted):
        points += verdict.points
    return points, sum(task.points for task in assignment.tasks)


# What right programs are asked and return.


@dataclass(frozen=True)
class Call:
    """A question to a program, by the names of its values, and the right answer."""

    known: Mapping[str, Any]
    right: Any


class _Recorder:
    """A program that records its questions and answers."""

    def __init__(self, program: Callable[..., Any], names: Sequence[str]) -> None:
        self.program, self.names, self.calls = program, names, list[Call]()

    def __call__(self, *arguments: Any) -> Any:
        known = arguments[0] if len(arguments) == 1 and isinstance(arguments[0], dict) else None
        named = known or dict(zip(self.names, arguments, strict=False))
        answer = self.program(*arguments)
        self.calls.append(Call(dict(named), answer))
        return answer


def _functions(name: str) -> dict[str, Code]:
    """Return the answers that are functions; a policy with a state is none."""
    kinds = catalogue.assignment(name).kinds
    return {one: kind for one, kind in kinds.items() if isinstance(kind, Code) and not kind.made}


@cache
def _right(name: str) -> Answers:
    return solved(name, "a neighbour")


def _shape(name: str) -> Shape | None:
    return getattr(import_module(f"seeklab.exercises.{name.replace('-', '_')}"), "SHAPE", None)


def _asked(name: str, learner: str) -> dict[str, list[Call]]:
    """Return each question to the solution's functions, in the order of the judge: one's own system comes first."""
    answers, shape = _right(name), _shape(name)
    if shape is not None:
        source = source_from(learner.encode())
        systems = [shape.own(practice_draws(learner)), *(draw(source) for draw in shape.kinds.values())]
        return {"rule": [Call(on.known, answers["rule"](dict(on.known))) for on in systems]}
    recorders = {one: _Recorder(answers[one], kind.takes) for one, kind in _functions(name).items()}
    earned(name, {**answers, **recorders}, learner, "recorded")
    return {one: recorder.calls for one, recorder in recorders.items()}


@cache
def _recorded(name: str) -> dict[str, list[Call]]:
    found: dict[str, list[Call]] = {one: [] for one in _functions(name)}
    for number in range(RECORDED * (10 if _shape(name) else 1)):
        for one, calls in _asked(name, f"recorded {number}").items():
            found[one] += calls
    return found


def at(values: Sequence[Any], share: float) -> Any:
    """Return a value for all: the quantile of numbers, the most frequent word, part by part for anything larger."""
    first = values[0]
    if isinstance(first, bool | str):
        return Counter(values).most_common(1)[0][0]
    if isinstance(first, int | float):
        found = sorted(values)[min(len(values) - 1, int(share * len(values)))]
        return found if isinstance(first, int) and all(isinstance(one, int) for one in values) else float(found)
    if isinstance(first, dict):
        return {key: at([one[key] for one in values], share) for key in first}
    lengths = {len(one) for one in values}
    if len(lengths) == 1 and isinstance(first[0], int | float):
        return [at(part, share) for part in zip(*values, strict=True)]
    return list(values[min(len(values) - 1, int(share * len(values)))])


def _spread(values: Sequence[Any]) -> float:
    """Return how much right answers differ: squares of logarithms, or words beside the most frequent one."""
    if not values:
        return 0.0
    if isinstance(values[0], bool | str):
        return len(values) - Counter(values).most_common(1)[0][1]
    if isinstance(values[0], dict):
        return sum(_spread([one[key] for one in values]) for key in values[0])
    if isinstance(values[0], int | float):
        logs = [math.log(1e-9 + abs(one)) for one in values]
        middle = mean(logs)
        return sum((one - middle) ** 2 for one in logs)
    return 0.0


def _scalars(calls: Sequence[Call]) -> Iterable[str]:
    """Yield the known numbers that differ between systems."""
    for one in dict.fromkeys(name for call in calls for name in call.known):
        found = [call.known.get(one, 0) for call in calls]
        if all(isinstance(value, int | float) for value in found) and len(set(found)) > 1:
            yield one


def _halves(calls: Sequence[Call], name: str) -> tuple[float, float, list[Any], list[Any]]:
    """Divide right answers at the threshold of a known number that separates them best."""

    def divided(threshold: float) -> tuple[float, float, list[Any], list[Any]]:
        low, high = list[Any](), list[Any]()
        for call in calls:
            (low if call.known.get(name, 0) <= threshold else high).append(call.right)
        return _spread(low) + _spread(high), threshold, low, high

    found = sorted({call.known.get(name, 0) for call in calls})[:-1]
    return min(map(divided, found), key=itemgetter(0))


def _branch(calls: Sequence[Call], name: str, share: float) -> Callable[..., Any]:
    """Return two constants, chosen by one known number."""
    _, best, *sides = _halves(calls, name)
    low, high = (at(side, share) for side in sides)

    def rule(*arguments: Any, names: Sequence[str] = tuple(calls[0].known)) -> Any:
        known = arguments[0] if len(arguments) == 1 and isinstance(arguments[0], dict) else None
        given = known or dict(zip(names, arguments, strict=False))
        return low if given.get(name, 0) <= best else high

    return rule


def _always(value: Any) -> Callable[..., Any]:
    return lambda *_: value


# The strategies.


@dataclass
class Family:
    """Candidates of one strategy; the best one counts. Each gives its answers for a learner."""

    name: str
    candidates: dict[str, Candidate] = field(default_factory=dict)


def _fixed(answers: Mapping[str, Any]) -> Candidate:
    return lambda _: answers


def families(name: str) -> list[Family]:
    """Return the cheap answers of an exercise."""
    found = [Family("as shipped", {"": lambda learner: shipped(name, learner)})]
    kinds = _graded(name)
    if _functions(name):
        found += _of_functions(name)
    elif not any(isinstance(kind, Code) for kind in kinds.values()):
        found += _of_data(name, kinds)
    found += [Family(family, {"": _fixed(answer())}) for family, answer in OF_ITS_OWN.get(name, {}).items()]
    return [family for family in found if family.candidates]


def _graded(name: str) -> dict[str, Kind]:
    """Return the kinds of the answers that are no predictions."""
    graded = [task for task in catalogue.assignment(name).tasks if not isinstance(task, Commitment)]
    return {one: kind for task in graded for one, kind in task.takes.items()}


def _of_functions(name: str) -> list[Family]:
    numbers = [one for one, kind in _graded(name).items() if not isinstance(kind, Code)]

    def own(learner: str) -> Answers:
        """Return what is right on one's own system: anybody finds it by trying. The judge asks about it first."""
        asked = {one: _always(calls[0].right) for one, calls in _asked(name, learner).items() if calls}
        found = solved(name, learner) if numbers else {}
        return {**asked, **{one: found[one] for one in numbers}}

    constants, branches = Family("constant"), Family("branch on one value")
    for share in QUANTILES:
        rights = {one: [call.right for call in calls] for one, calls in _recorded(name).items()}
        constants.candidates[f"{share:g}"] = _fixed({one: _always(at(right, share)) for one, right in rights.items()})
    for one, calls in _recorded(name).items():
        # Only the number that separates right answers best meets the judge, whose runs take long.
        spreads = {known: _halves(calls, known)[0] for known in _scalars(calls)}
        for share in QUANTILES if spreads else ():
            value = min(spreads, key=spreads.__getitem__)
            branches.candidates[f"{value}, {share:g}"] = _fixed({one: _branch(calls, value, share)})
    return [Family("own constant", {"": own}), constants, branches]


def _of_data(name: str, kinds: Mapping[str, Kind]) -> list[Family]:
    words = dict.fromkeys(word for kind in kinds.values() for word in _words(kind))
    one_word = {word: _fixed({one: _one_word(kind, word) for one, kind in kinds.items()}) for word in words}
    found = [Family("one word", one_word)]
    if name in OBSERVED:
        return found
    neighbour = solved(name, "a neighbour")
    settings = [one for one, kind in kinds.items() if isinstance(kind, Settings)]
    # Settings that must work everywhere are the same for everyone; a design of one's own is not.
    if len(settings) < len(kinds):
        found.append(Family("neighbour", {"": _fixed(neighbour)}))
    for one in settings:
        single = {key: _fixed({one: {key: value}}) for key, value in neighbour[one].items()}
        found.append(Family("one setting", single if len(single) > 1 else {}))
    return found


def _words(kind: object) -> list[str]:
    if isinstance(kind, Choice):
        return list(kind.options)
    if isinstance(kind, Fields):
        return [word for part in kind.kinds.values() for word in _words(part)]
    return []


def _one_word(kind: object, word: str) -> Any:
    if isinstance(kind, Fields):
        return {part: _one_word(one, word) for part, one in kind.kinds.items()}
    if isinstance(kind, Settings):
        return {}
    return word if isinstance(kind, Choice) and word in kind.options else 1


OBSERVED = {"which-throttle"}
"""Solutions of these read one learner's tools, so their cells suit nobody else."""


# Cheap answers of one exercise.


def _policy(program: Callable[..., Any]) -> Callable[[], Answers]:
    return lambda: {"Policy": lambda: program}


def _next(read: Any, count: int = 2) -> list[tuple[int, int]]:
    return [(read.record + read.records, count)]


OF_ITS_OWN: dict[str, dict[str, Callable[[], Answers]]] = {
    "flash-reserve": {
        "two constants, by trim": lambda: {"rule": lambda system: 12 if system["trimmed_percent"] else 20}
    },
    "read-ahead": {
        "position": _policy(lambda read: _next(read) if read.record < 400 else []),
        "position and what was found": _policy(lambda read: _next(read) if read.record < 8 or read.found else []),
        "always": _policy(_next),
        "never": _policy(lambda _: []),
        "the notebook's answer": lambda: {"Policy": of_task("media/policy", "InOrder")},
    },
    "context-window": {
        "always": _policy(lambda read: _next(read, 64)),
        "never": _policy(lambda _: []),
        "position": _policy(lambda read: _next(read, 64) if read.record < 2048 else []),
        "what was found": _policy(lambda read: _next(read, 64) if read.found else []),
    },
    "commit-policy": {
        "the first": _policy(lambda _: [0]),
        "the first sixteen": _policy(lambda queue: list(range(min(16, queue.waiting)))),
        "always wait": _policy(lambda queue: 1.0 if queue.waited_ms[0] < 1 else list(range(queue.waiting))),
    },
    "write-throttle": {
        "constant": _policy(lambda _dirty, _limit, _history: 10_000_000),
        "no delay": _policy(lambda _dirty, _limit, _history: 0),
        "one threshold": _policy(lambda dirty, limit, _history: 200_000_000 if dirty > limit // 2 else 0),
    },
    "shard-map": {
        "position": _policy(lambda range_, shards, _history: range_ % shards),
        "a hash of the position": _policy(lambda range_, shards, _history: range_ * 2_654_435_761 // 65_536 % shards),
        "constant": _policy(lambda _range, _shards, _history: 0),
    },
    "cache-policies": {"first in, first out": lambda: {"Policy": Fifo}},
    "battery-planner": {
        "position": lambda: {
            "plan": lambda controllers, night, _hours: [
                [86_400 * (nth % 8) + 3600 * night, 98 * 86_400] for nth in range(len(controllers))
            ]
        }
    },
    "copyset-placement": {
        "position": lambda: {
            "place": lambda racks, copies, _scatter: [
                [(first + step * len(racks) // copies) % len(racks) for step in range(copies)]
                for first in range(len(racks))
            ]
        }
    },
    "shaken-disks": {"position": lambda: {"shaken": lambda _disks, _rpm: [0, 1]}},
    "burst-budget": {"the mean": lambda: {"cheapest": lambda demand, _seconds, _capacity: max(demand) / 6}},
    "pool-design": {
        "everything large": lambda: {
            "binds": solved("pool-design", "a neighbour")["binds"],
            "design": {"disks": 200, "width": 2, "memory_gib": 256, "log_ssds": 8, "cores": 32, "server_gbit": 100},
        }
    },
}


def points_of(name: str, answers: Candidate, learners: Sequence[str]) -> list[float]:
    """Return the points that an answer earns as each learner, as shares of all points."""
    found = [earned(name, answers(learner), learner) for learner in learners]
    return [round(points / most, 4) for points, most in found]


def measured(name: str, draws: int = DRAWS, within_s: float = math.inf) -> Iterator[dict[str, Any]]:
    """Measure every strategy of an exercise: the mean share of all points, and the shares of the first learners.

    Yields the rows after each learner, for `within_s` seconds of processor time: some exercises run for hours.
    """
    begun, runs = process_time(), Runs(engine())
    with patch.object(_result, "engine", runs):
        chosen = {family.name: _best(name, family) for family in families(name)}
        shares: dict[str, list[float]] = {family: [] for family in chosen}
        for number in range(draws):
            if number and process_time() - begun > within_s:
                return
            runs.kept.clear()
            for family, (_, answers) in chosen.items():
                shares[family] += points_of(name, answers, [f"learner {number}"])
            yield {
                family: {
                    "share": round(mean(found), 3),
                    "best": chosen[family][0],
                    "draws": len(found),
                    "first": found[:FIRST],
                }
                for family, found in shares.items()
            }


def _best(name: str, family: Family) -> tuple[str, Candidate]:
    """Return the candidate that earns most as a few learners."""
    if len(family.candidates) == 1:
        return next(iter(family.candidates.items()))
    pilots = [f"pilot {number}" for number in range(PILOT)]
    found = {one: mean(points_of(name, answers, pilots)) for one, answers in family.candidates.items()}
    best = max(found, key=found.__getitem__)
    return best, family.candidates[best]


def main() -> int:
    """Measure the named exercises, or all; print each share, and store the rows."""
    names = [name for name in sys.argv[1:] if not name.isdigit()] or list(catalogue.NAMES)
    given = [int(one) for one in sys.argv[1:] if one.isdigit()]
    draws, within_s = given[0] if given else DRAWS, given[1] if len(given) > 1 else math.inf
    for name in names:
        begun, rows = process_time(), dict[str, Any]()
        for rows in measured(name, draws, within_s):
            kept = json.loads(STORE.read_text(encoding="utf-8")) if STORE.exists() else {}
            kept[name] = rows
            STORE.write_text(json.dumps(dict(sorted(kept.items())), indent=1) + "\n", encoding="utf-8")
        say(f"  {name:22} {process_time() - begun:.0f} s, {next(iter(rows.values()))['draws']} draws")
        for strategy, row in rows.items():
            mark = "!" if row["share"] > MOST else " "
            say(f"{mark} {name:22} {strategy:32} {row['share']:6.1%}  {row['best']}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
