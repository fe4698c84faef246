"""The protocol of shifts for programs: a line for a line, errors as data, and a reference player."""

from __future__ import annotations

import io
import json
from typing import TYPE_CHECKING, Any

import pytest

import sampling
from console import ROOT
from seeklab.cli import DONE, main
from seeklab.oncall import reference_player
from seeklab.oncall.platform_shift import PlatformShift
from seeklab.oncall.protocol import BENCHMARK, MAX_LINE, VERSION, Code, Exchange

if TYPE_CHECKING:
    from collections.abc import Callable

PAGE = ROOT / "docs" / "oncall-protocol.md"
SEED = 3


def asker(exchange: Exchange) -> Callable[..., dict[str, Any]]:
    def ask(**message: Any) -> dict[str, Any]:
        (line,) = exchange.lines([json.dumps(message)])
        answer: dict[str, Any] = json.loads(line)
        assert answer["ok"], answer
        return answer

    return ask


def test_a_shift_is_played_from_ticket_to_debrief() -> None:
    ask = asker(Exchange())
    assert ask(do="hello", version=VERSION)["version"] == VERSION
    opened = ask(do="open", seed=SEED, id=7)
    assert opened["id"] == 7
    shift = PlatformShift(SEED)
    assert (opened["sheet"], opened["causes"], opened["settings"]) == (shift.sheet, list(shift.causes), shift.offered())
    assert not {"truths", "cause", "remedy", "platform"} & set(opened)
    look = ask(do="look", command="iostat -x")
    assert (look["points"], look["seconds"], look["spent"]) == (2, 10, 2)
    assert look["output"] == PlatformShift(SEED).carry_out("iostat -x")
    number = 1 + shift.causes.index(shift.truths[0].incident.cause)
    ask(do="think", cause=number)
    named = ask(do="name", cause=number)
    assert named["is_cause"]
    assert named["tries"] == 0
    for path, value in shift.remedy.items():
        ask(do="set", path=path, value=value)
    done = ask(do="done")
    assert done["right"]
    assert done["holds"]
    assert done["causes"] == [shift.truth]
    assert done["score"]["total"] == 40 + 40 + done["score"]["time"]
    assert {row["cause"] for row in done["excluded"]} == set(shift.causes) - {shift.truth}


@pytest.mark.parametrize(
    ("messages", "code"),
    [
        (["{"], Code.BAD_JSON),
        (["[" * 100_000], Code.TOO_LONG),
        (["[" * 50_000], Code.BAD_JSON),
        ([" " * MAX_LINE + "{}"], Code.TOO_LONG),
        (["3"], Code.BAD_MESSAGE),
        (["{}"], Code.UNKNOWN_MESSAGE),
        (['{"do": "reboot"}'], Code.UNKNOWN_MESSAGE),
        (['{"do": ["open"]}'], Code.UNKNOWN_MESSAGE),
        (['{"do": "hello", "version": 2}'], Code.VERSION),
        (['{"do": "look", "command": "fio"}'], Code.NO_SHIFT),
        (['{"do": "open"}'], Code.BAD_VALUE),
        (['{"do": "open", "seed": -1}'], Code.BAD_VALUE),
        (['{"do": "open", "seed": true}'], Code.BAD_VALUE),
        (['{"do": "open", "seed": 1, "level": 9}'], Code.BAD_VALUE),
        (['{"do": "open", "seed": 1}', '{"do": "look", "command": "rm -rf /"}'], Code.UNKNOWN_LOOK),
        (['{"do": "open", "seed": 1}', '{"do": "look", "command": "done"}'], Code.UNKNOWN_LOOK),
        (['{"do": "open", "seed": 1}', '{"do": "look", "command": "fio\\nname 1"}'], Code.BAD_VALUE),
        (['{"do": "open", "seed": 1}', '{"do": "get", "path": "jobs"}'], Code.UNKNOWN_SETTING),
        (['{"do": "open", "seed": 1}', '{"do": "set", "path": "monitor.window", "value": null}'], Code.BAD_VALUE),
        (['{"do": "open", "seed": 1}', '{"do": "name", "cause": 0}'], Code.BAD_VALUE),
        (['{"do": "open", "seed": 1}', '{"do": "done"}', '{"do": "done"}'], Code.SHIFT_OVER),
    ],
)
def test_what_cannot_be_answered_is_an_error_with_a_code_and_the_exchange_goes_on(
    messages: list[str], code: Code
) -> None:
    exchange = Exchange()
    *_, last = [exchange.answer_line(message) for message in messages]
    assert not last["ok"]
    assert last["error"]["code"] == code
    assert len(last["error"]["message"]) < 400
    assert exchange.answer_line('{"do": "hello"}')["ok"]


def test_after_three_wrong_names_there_is_nothing_to_name() -> None:
    exchange = Exchange()
    ask = asker(exchange)
    causes = ask(do="open", seed=SEED)["causes"]
    truth = PlatformShift(SEED).truth
    for cause in [cause for cause in causes if cause != truth][:3]:
        told = ask(do="name", cause=1 + causes.index(cause))
    assert told["tries"] == 0
    assert exchange.answer({"do": "name", "cause": 1})["error"]["code"] == Code.NO_TRIES


def test_the_command_speaks_it(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO('{"do": "hello"}\n\nx\n'))
    assert main(["oncall", "--protocol"]) == DONE
    hello, wrong = (json.loads(line) for line in capsys.readouterr().out.splitlines())
    assert len(hello["benchmark"]) == len(BENCHMARK) == 25
    assert wrong["error"]["code"] == Code.BAD_JSON


def test_the_page_lists_every_message_and_every_code() -> None:
    page = PAGE.read_text(encoding="utf-8")
    exchange = Exchange()
    accepted = exchange.answer({"do": "?"})["error"]["message"].partition("accepted: ")[2].split(", ")
    assert len(accepted) >= 8
    for name in (*accepted, *Code):
        assert f"`{name}`" in page, name


def test_the_reference_player_scores_what_the_page_says() -> None:
    shifts = [f"{seed} {level}" for seed, level in BENCHMARK]
    some = {tuple(map(int, name.split())) for name in sampling.some(shifts, 3)}
    ask = asker(Exchange())
    rows = [{"seed": seed, "level": level, **reference_player.play(ask, seed, level)} for seed, level in sorted(some)]
    if len(rows) == len(BENCHMARK):
        assert reference_player.table(rows) in PAGE.read_text(encoding="utf-8")
    for row in rows:
        assert 0 <= row["score"]["total"] <= 100
        assert row["looks"] == list(reference_player.LOOKS)


def test_the_page_shows_an_exchange_of_today() -> None:
    assert f"```\n{reference_player.exchange(asker(Exchange()), 101, 1)}\n```" in PAGE.read_text(encoding="utf-8")
