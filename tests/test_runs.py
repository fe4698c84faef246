"""What the tests keep of the engine's answers: for the same engine and the same question only."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

import runs
import stages

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[list[Any]]:
    """Let another engine answer; give what it has been asked."""
    heard: list[Any] = []

    def answer(question: dict[str, Any]) -> list[dict[str, Any]]:
        heard.append(question)
        return [{"id": "A1", "simulated": 0.1 + 0.2}]

    for name in stages.FRESH:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(runs, "judge", answer)
    monkeypatch.setattr(runs, "PACKAGE", tmp_path / "package")
    monkeypatch.setattr(runs, "STORE", tmp_path / "runs")
    (tmp_path / "package" / "_engine").mkdir(parents=True)
    (tmp_path / "package" / "_engine" / "module.wasm").write_bytes(b"\0")
    runs.folder.cache_clear()
    yield heard
    runs.folder.cache_clear()


def test_a_question_is_asked_once_and_answered_to_the_last_bit(asked: list[Any]) -> None:
    rows = [runs.judged({"case": "a"}), runs.judged({"case": "a"}), runs.judged({"case": "a", "id": "A1"})]
    assert rows == [[{"id": "A1", "simulated": 0.1 + 0.2}]] * 3
    assert asked == [{"case": "a"}, {"case": "a", "id": "A1"}]


@pytest.mark.parametrize("file", ["_engine/module.wasm", "_engine/library.json", "deep/host.py"])
def test_another_engine_library_or_package_is_asked_again(file: str, asked: list[Any], tmp_path: Path) -> None:
    runs.judged({"case": "a"})
    path = tmp_path / "package" / file
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(b"another")
    runs.folder.cache_clear()
    runs.judged({"case": "a"})
    assert asked == [{"case": "a"}] * 2


def test_a_fresh_session_asks_again(asked: list[Any], monkeypatch: pytest.MonkeyPatch) -> None:
    runs.judged({"case": "a"})
    monkeypatch.setenv(stages.FRESH[0], "1")
    runs.folder.cache_clear()
    runs.judged({"case": "a"})
    assert asked == [{"case": "a"}] * 2
