"""No message of a notebook's task contains the right value, whatever standard error an answer has."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from functools import partial
from operator import mul
from typing import TYPE_CHECKING, Any

import pytest

import sampling
import seeklab.course.task
from seeklab.course.tasks import tasks
from seeklab.judge import Cases, Code, Counts, Fields, Function, Outcome, Table, Value

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from seeklab.course.task import Task


HELD = {task.id: task for task in tasks().values() if isinstance(task.check, Cases | Value)}
SAMPLE = 12
CLOSE = 0.01
"""A number this near the right one, as a share, tells it."""
SMALL = 12
"""Whole numbers up to this appear in any sentence, and tell nothing."""


def numbers_in(value: object) -> Iterator[float]:
    """Yield the numbers in an answer, also in texts, but not the keys of a dictionary."""
    if isinstance(value, bool) or value is None:
        return
    if isinstance(value, str):
        yield from map(_number, _NUMBERS.findall(value))
    if isinstance(value, int | float):
        yield float(value)
    elif isinstance(value, Mapping):
        for item in value.values():
            yield from numbers_in(item)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from numbers_in(item)


def each(value: Any, change: Callable[[float], object]) -> Any:
    """Change each number of an answer."""
    if isinstance(value, bool | str) or value is None:
        return value
    if isinstance(value, Mapping):
        return {key: each(item, change) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return type(value)(each(item, change) for item in value)
    return change(value)


def reversed_values(value: Any) -> Any:
    """Return the values of a dictionary under each other's keys, or a list backwards."""
    if isinstance(value, Mapping):
        return dict(zip(value, reversed([*value.values()]), strict=True))
    return value[::-1] if isinstance(value, list | tuple) else value


def one_wrong(value: Any) -> Any:
    """Change only the last number."""
    if isinstance(value, Mapping) and value:
        return {**value, [*value][-1]: each([*value.values()][-1], lambda number: 3 * number + 7)}
    if isinstance(value, list | tuple) and value:
        return type(value)([*value[:-1], each(value[-1], lambda number: 3 * number + 7)])
    return each(value, lambda number: 3 * number + 7)


ERRORS: dict[str, Callable[[Any], Any]] = {
    "a thousand times": lambda value: each(value, lambda number: number * 1000),
    "a thousandth": lambda value: each(value, lambda number: number / 1000),
    "percent": lambda value: each(value, lambda number: number * 100),
    "fraction": lambda value: each(value, lambda number: number / 100),
    "swapped": reversed_values,
    "off by one": lambda value: each(value, lambda number: number + 1),
    "one entry": one_wrong,
    "constant": lambda value: each(value, lambda _: 1),
    "wrong type": lambda value: each(value, str),
    "nothing": lambda _: None,
}


def told(text: str, truth: object, given: object, question: str) -> list[float]:
    """Return the numbers of a text that are near a right one, and neither in the answer nor in the question."""
    known = [*numbers_in(given), *map(_number, _NUMBERS.findall(question)), *range(SMALL + 1)]
    right, found = [*numbers_in(truth)], {*map(_number, _NUMBERS.findall(text))}
    new = [one for one in found if not any(_near(one, other) for other in known)]
    return [one for one in new if any(_near(one, other) for other in right)]


_NUMBERS = re.compile(r"(?<![\w.])\d[\d,]*(?:\.\d+)?")


def _number(text: str) -> float:
    return float(text.replace(",", "") or 0)


def _near(one: float, other: float) -> bool:
    return math.isclose(one, other, rel_tol=CLOSE)


def _disturbed(right: Callable[..., Any], error: Callable[[Any], Any], *case: object) -> object:
    return error(right(*case))


def cases_of(check: Cases) -> list[Any]:
    return list(check.cases() if callable(check.cases) else check.cases)


@pytest.mark.parametrize("name", sampling.some(list(HELD), SAMPLE))
def test_a_wrong_answer_is_not_told_the_right_one(name: str) -> None:
    task, check = HELD[name], HELD[name].check
    for kind, error in ERRORS.items():
        if isinstance(check, Cases):
            answer: Any = partial(_disturbed, check.right, error)
            truth = [check.right(*case) for case in cases_of(check)]
            given = [error(check.right(*case)) for case in cases_of(check)] + cases_of(check)
        elif isinstance(check, Value):
            truth = check.right()
            given = answer = error(truth)
        verdict = task.judge(answer)
        if verdict.outcome is Outcome.FAIL:
            assert told(verdict.reason, truth, given, task.question) == [], (kind, verdict.reason)


OTHERS = {task.id: task for task in tasks().values() if task.id not in HELD}
"""Tasks whose check runs a system, or looks for mistakes."""
MAX_EVENTS = 2_000_000


def changed(value: Any, change: Callable[[float], float]) -> Any:
    """Change each number of settings, also in texts such as 512MiB."""
    if isinstance(value, str):
        return re.sub(r"^\d+", lambda found: str(max(1, round(change(int(found[0]))))), value)
    if isinstance(value, Mapping):
        return {key: changed(item, change) for key, item in value.items()}
    return [changed(item, change) for item in value] if isinstance(value, list) else each(value, change)


def _raises(*_: object) -> object:
    message = "the learner's own"
    raise ValueError(message)


PROGRAMS: tuple[Any, ...] = (_raises, lambda *_: None, lambda *_: 0, lambda *_: "x", lambda *_: [], lambda: None)


def wrong_others(task: Task) -> list[Any]:
    """Return wrong answers to such a task: programs, or its right answer with standard errors."""
    if isinstance(task.kind, Code | Function):
        return [*PROGRAMS, None, 5]
    scope: dict[str, Any] = {}
    exec(f"MB, MIB = 10**6, 1 << 20\n{task.setup}\n{task.answer}", scope)  # noqa: S102 -- our own code
    (*_, right) = scope.values()
    factors = (1000, 1 / 1000, 100, 1 / 100, 3, 1 / 3)
    wrong = [changed(right, partial(mul, by)) for by in factors]
    return [*wrong, changed(right, lambda number: number + 1), changed(right, lambda _: 1), each(right, str), None, {}]


@pytest.mark.parametrize("name", sampling.some(list(OTHERS), SAMPLE // 3))
def test_a_wrong_answer_that_is_run_is_not_told_the_numbers_of_the_right_one(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(seeklab.course.task, "MAX_EVENTS", MAX_EVENTS)
    task = OTHERS[name]
    for answer in wrong_others(task):
        verdict = task.judge(answer)
        if verdict.outcome is Outcome.FAIL:
            # The judge also says what it measured, and the bounds of the question.
            seen = [answer, [[item.measured, item.bound] for item in verdict.evidence]]
            assert told(verdict.reason, task.answer, seen, task.question) == [], (answer, verdict.reason)


@pytest.mark.parametrize("name", sampling.some([*HELD, *OTHERS], SAMPLE))
def test_no_message_begins_with_the_class_of_an_error(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(seeklab.course.task, "MAX_EVENTS", MAX_EVENTS)
    for answer in (*PROGRAMS, None, "x", [], {}, 1):
        assert not re.match(r"\w*(Error|Exception)\b", tasks()[name].judge(answer).reason)


@pytest.mark.parametrize("name", [name for name, task in HELD.items() if isinstance(task.check, Value)])
def test_a_right_entry_is_not_blamed_for_a_wrong_one(name: str) -> None:
    check = HELD[name].check
    assert isinstance(check, Value)
    truth = check.right()
    if not isinstance(truth, Mapping) or check.whole:
        return
    *right, _ = truth
    reason = HELD[name].judge(one_wrong(truth)).reason
    assert not [key for key in right if reason.startswith(f"{check.label.format(key=key)}:")], reason


@pytest.mark.parametrize(
    "name", [task.id for task in tasks().values() if isinstance(task.kind, Counts | Fields | Table)]
)
def test_a_task_names_the_keys_of_its_dictionary(name: str) -> None:
    task = tasks()[name]
    named = isinstance(task.kind, Fields) and all(str(key) in task.question for key in task.kind.kinds)
    assert named or re.search(r"\b(as|As) (the )?keys|with the keys", task.question), task.question
