"""Test shifts on a server: a token a student, one shift, and nothing that reveals the truth or the seed."""

from __future__ import annotations

import json
import threading
import urllib.error
import urllib.request
from typing import TYPE_CHECKING, Any

import pytest

from seeklab._errors import SeeklabError
from seeklab.cli import main
from seeklab.oncall.platform_shift import PlatformShift
from seeklab.oncall.room_client import Client
from seeklab.oncall.room_server import Rooms, seed_of_student, server, token_of

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

SECRET = b"a secret of a test, not used elsewhere"
STUDENTS = ("ada", "bob")


@pytest.fixture
def rooms(tmp_path: Path) -> Rooms:
    return Rooms(SECRET, STUDENTS, tmp_path / "log.jsonl")


@pytest.fixture
def address(rooms: Rooms) -> Iterator[str]:
    serving = server(rooms, "127.0.0.1", 0)
    thread = threading.Thread(target=serving.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{serving.server_address[1]}/"
    serving.shutdown()
    serving.server_close()
    thread.join()


def truth(student: str) -> str:
    return PlatformShift(seed_of_student(SECRET, student)).truth


def test_a_student_plays_one_shift_and_learns_neither_truth_nor_seed(rooms: Rooms, address: str) -> None:
    client = Client(address, token_of(SECRET, "ada"))
    said = [client.welcome()]
    said += [client.enter(line) for line in ("about", "causes", "think 1", "iostat -x", "get monitor.window", "foo")]
    wrong = next(n for n, cause in enumerate(client._opened["causes"], 1) if cause != truth("ada"))  # noqa: SLF001
    said += [client.enter(line) for line in (f"name {wrong}", "done")]
    assert client.is_over
    assert str(seed_of_student(SECRET, "ada")) not in "".join(said)
    assert truth("ada") not in "".join(said).replace(said[2], "")
    again = Client(address, token_of(SECRET, "ada"))
    assert again.is_over
    (result,) = rooms.results()
    assert (result["student"], result["causes"]) == ("ada", [truth("ada")])
    assert result["looks"] == ["iostat -x"]


def test_a_server_that_is_started_again_knows_where_everyone_was(rooms: Rooms) -> None:
    token = token_of(SECRET, "bob")
    for message in ({"do": "look", "command": "iostat -x"}, {"do": "think", "cause": 2}):
        rooms.answer(token, message)
    again = Rooms(SECRET, STUDENTS, rooms.log)
    told = again.answer(token, {"do": "look", "command": "fio"})
    again.answer(token, {"do": "done"})
    assert Rooms(SECRET, STUDENTS, rooms.log).results() == again.results()
    assert rooms.answer(token, {"do": "look", "command": "fio"}) == told


@pytest.mark.parametrize(
    "message", [{"do": "open", "seed": 1}, {"do": "done", "id": [1]}, 3, None, {"do": "hello", "seed": 2}]
)
def test_no_message_opens_another_shift_or_reveals_this_one(rooms: Rooms, message: Any) -> None:
    token = token_of(SECRET, "ada")
    told = rooms.answer(token, message)
    assert told is not None
    assert truth("ada") not in json.dumps(told)
    later = rooms.answer(token, {"do": "done"})
    assert later is not None
    assert truth("ada") not in json.dumps(later)


def test_unknown_tokens_and_bodies_that_are_no_messages_are_refused(address: str) -> None:
    with pytest.raises(SeeklabError):
        Client(address, "0" * 32)
    for body, status in ((b"{", 400), (b"[" * 60_000, 400), (b" " * 70_000, 413), (b"{}", 403)):
        with pytest.raises(urllib.error.HTTPError) as refused:
            urllib.request.urlopen(address, body, timeout=10)  # noqa: S310 -- our own server
        assert refused.value.code == status


def test_a_short_secret_or_a_foreign_log_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SeeklabError):
        Rooms(b"short", STUDENTS, tmp_path / "log")
    (tmp_path / "log").write_text("hello\n", encoding="utf-8")
    with pytest.raises(SeeklabError):
        Rooms(SECRET, STUDENTS, tmp_path / "log")
    assert main(["oncall", "--serve", "nowhere", "--secret", "nowhere", "--out", str(tmp_path / "l")]) != 0
    assert main(["oncall", "--join", "ftp://x"]) != 0
    assert "join" in capsys.readouterr().err
