"""The exercise on read-ahead, and the pause at each read that it rests on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

import seeklab
from seeklab import SeeklabError
from seeklab.exercises import read_ahead
from seeklab.judge import Outcome
from wrong_answers import AheadInOrder

if TYPE_CHECKING:
    from seeklab import Read

LEARNER = "Ada Lovelace"
SMALL: dict[str, Any] = {
    "zfs": {"era": "zfs-2008-12", "arc": {"size": "64MiB"}, "prefetch": {}},
    "devices": [{"lun": {"rate": "200MB", "latency": "1ms"}}],
    "jobs": [{"name": "reader", "rw": "read", "bs": "128KiB", "size": "8MiB", "numjobs": 2}],
}


def test_two_records_for_whoever_reads_in_order_pass() -> None:
    verdict = read_ahead.check("check-read-ahead", LEARNER, Policy=lambda: AheadInOrder(2))
    assert verdict.passed, verdict


@pytest.mark.parametrize(
    ("policy", "code"),
    [
        (lambda: lambda _read: [], "too-little"),
        (lambda: AheadInOrder(8), "evicted"),
        (lambda: lambda read: [(read.record + 1, 2)], "wasted"),
        (lambda: lambda _read: 1 / 0, "program"),
        (lambda: lambda _read: "much", "refused"),
        (7, "unreadable"),
    ],
)
def test_what_reads_too_little_or_too_much_fails_with_its_code(policy: object, code: str) -> None:
    verdict = read_ahead.check("check-read-ahead", LEARNER, Policy=policy)
    assert (verdict.outcome, verdict.code) == (Outcome.FAIL, code), verdict


def test_predictions_are_players_times_window_and_players_times_rate() -> None:
    own = read_ahead.server(LEARNER)
    right = {"asked_gib": own.players / 32, "needed_mb_per_s": own.players * own.records / 8}
    near = read_ahead.check("check-prediction", LEARNER, prediction=right)
    assert all(item.met for item in near.evidence), near
    tripled = {name: value * 3 for name, value in right.items()}
    far = read_ahead.check("check-prediction", LEARNER, prediction=tripled)
    assert not any(item.met for item in far.evidence), far


def test_a_host_that_answers_as_the_reader_goes_is_asked_at_each_read_and_obeyed() -> None:
    asked: list[Read] = []

    def next_record(read: Read) -> list[tuple[int, int]]:
        asked.append(read)
        return [(read.record + read.records, 1)]

    result = seeklab.run_prefetcher(SMALL, next_record)
    assert [(read.file, read.record) for read in asked if read.file == 1] == [(1, record) for record in range(64)]
    assert result.metrics["zfs_ahead_bytes"] == 2 * 63 * 131_072  # nothing beyond the end of either file
    assert result.metrics["zfs_ahead_used_percent"] == 100
    assert not any(read.found for read in asked if read.record == 0)


def test_the_same_answers_are_the_same_run() -> None:
    first, second = (seeklab.run_prefetcher(SMALL, AheadInOrder(4)) for _ in range(2))
    assert first.fingerprint == second.fingerprint
    assert first.fingerprint != seeklab.run_prefetcher(SMALL, None).fingerprint


@pytest.mark.parametrize("answer", [None, 7, [(1,)], [(1, -1)], [(1.5, 1)], [("a", 1)], [(0, 70_000)]])
def test_an_answer_that_is_no_list_of_runs_is_refused_with_its_place(answer: Any) -> None:
    with pytest.raises(SeeklabError, match=r"runs: "):
        seeklab.run_prefetcher(SMALL, lambda _read: answer)


def test_what_the_prefetcher_raises_comes_out_with_a_note() -> None:
    def fails(_read: Read) -> list[tuple[int, int]]:
        message = "mine"
        raise KeyError(message)

    with pytest.raises(KeyError) as caught:
        seeklab.run_prefetcher(SMALL, fails)
    assert "record 0 of file 0" in caught.value.__notes__[0]


def test_a_system_without_an_arc_is_refused() -> None:
    with pytest.raises(SeeklabError, match=r"zfs\.arc"):
        seeklab.run_prefetcher({**SMALL, "zfs": {}}, AheadInOrder(1))
    with pytest.raises(SeeklabError, match="media-prefetch"):
        seeklab.run_prefetcher(seeklab.case("odx-prefetch"), AheadInOrder(1))
    asked = {**SMALL, "zfs": {**SMALL["zfs"], "prefetch": {"asked": True}}}
    with pytest.raises(SeeklabError, match=r"zfs\.prefetch\.asked: .*run_prefetcher"):
        seeklab.run(asked)


PAGES: dict[str, Any] = {
    "page_cache": {"read_ahead": {"context": "off"}},
    "devices": [{"name": "ssd", "lun": {"rate": "200MB", "latency": "200us"}}],
    "jobs": [{"name": "reader", "rw": "read", "bs": "16KiB", "size": "1MiB"}],
}
"""One who reads a file in order, through a page cache."""


def test_a_page_cache_asks_at_each_read_and_fetches_the_answer_with_what_is_asked_for() -> None:
    seen: list[Read] = []

    def next_read(read: Read) -> list[tuple[int, int]]:
        seen.append(read)
        return [(read.record + read.records, read.records)] if read.record == 0 else []

    result = seeklab.run_prefetcher(PAGES, next_read)
    assert [read.record for read in seen] == list(range(0, 256, 4))
    assert (seen[0].found, seen[1].found, seen[2].found) == (False, True, False)
    assert (seen[0].records, seen[0].file_records, seen[0].record_bytes) == (4, 256, 4096)
    assert result.metrics["read_ahead_mib"] == 4 * 4096 / 2**20
    assert result.metrics["device_bytes"] == 2**20


def test_nothing_beside_a_read_is_what_a_page_cache_without_a_guess_reads() -> None:
    case = seeklab.case("context-read-ahead").with_({"jobs[rand].number_ios": 500})
    none = seeklab.run_prefetcher(case, lambda _read: [], variant="2009")
    assert none.metrics["device_bytes"] == case.run("off").metrics["device_bytes"]


def test_a_page_cache_without_a_read_side_asks_nobody() -> None:
    with pytest.raises(seeklab.SeeklabError, match=r"page_cache\.read_ahead"):
        seeklab.run_prefetcher({**PAGES, "page_cache": {}}, AheadInOrder(1))
