"""A case of one's own: checked and sealed by its author, played by a peer, refused with a sentence when it is wrong."""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
import re
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from seeklab._errors import SeeklabError
from seeklab.cli import BAD_INPUT, CHECK_FAILED, DONE, main
from seeklab.oncall import Session, Shift, case_of, findings, sealed
from seeklab.oncall.incidents import causes, incidents
from seeklab.oncall.seal import MAX_BYTES, opened
from seeklab.oncall.session import Desk
from seeklab.oncall.settings import changed, settable
from seeklab.oncall.shell import Shell

if TYPE_CHECKING:
    from collections.abc import Sequence

    from seeklab.oncall.incidents import Incident

ROOT = Path(__file__).parents[1]
EXAMPLE = (ROOT / "docs" / "instructor" / "capstone.toml").read_text(encoding="utf-8")


def with_line(beginning: str, line: str) -> str:
    """Give the example with one line replaced."""
    changed, count = re.subn(rf"(?m)^{re.escape(beginning)}.*$", line.replace("\\", r"\\"), EXAMPLE, count=1)
    assert count == 1, beginning
    return changed


def told(text: str) -> str:
    with pytest.raises(SeeklabError) as error:
        case_of(text)
    assert "\x1b" not in str(error.value)
    return str(error.value)


def not_ok(text: str) -> list[str]:
    return [finding.what for finding in findings(case_of(text)) if not finding.ok]


def test_the_example_makes_a_shift() -> None:
    found = list(findings(case_of(EXAMPLE)))
    assert [finding.ok for finding in found] == [True] * 4
    # One window of 64 KiB for each 80 ms, against the link's gigabit less headers shared out by four reads of 1 MiB.
    assert re.search(r"41\.5\d* as it was, 0\.78\d* as it is found", found[1].what)


def test_a_seal_is_opened_by_standard_tools_and_holds_the_file_byte_for_byte() -> None:
    text = sealed(EXAMPLE)
    assert text == sealed(EXAMPLE)
    coded = text.split("CASE-----\n")[1].split("-----END")[0]
    case = gzip.decompress(base64.b64decode(coded))
    assert case.decode() == EXAMPLE
    assert f"SHA-256: {hashlib.sha256(case).hexdigest()}" in text
    assert opened(text.replace("\n", "\r\n"), "x") == EXAMPLE
    words = {word for word in re.findall(r"[a-z]{5,}", EXAMPLE) if word not in text}
    assert {"socket", "buffer", "network", "archive"} <= words


def test_whatever_is_changed_in_a_seal_is_noticed() -> None:
    text = sealed(EXAMPLE)
    first = text.index("CASE-----\n") + len("CASE-----\n")
    last = text.index("-----END")
    for at in (*range(first, last, 37), *range(text.index("SHA-256: ") + 9, text.index("SHA-256: ") + 73, 9)):
        if text[at] not in "\n=":
            other = "0" if text[at] != "0" else "1"
            with pytest.raises(SeeklabError, match=r"has changed since it was sealed|is no complete sealed case"):
                opened(text[:at] + other + text[at + 1 :], "x")
    with pytest.raises(SeeklabError, match="is no complete sealed case"):
        opened(text[:last], "x")


def test_a_small_seal_that_unpacks_to_much_is_refused_before_it_has() -> None:
    text = sealed(EXAMPLE)
    bomb = base64.b64encode(gzip.compress(bytes(50_000_000))).decode()
    with pytest.raises(SeeklabError, match=f"unpacks to more than {MAX_BYTES:,} bytes"):
        opened(re.sub(r"(?s)(CASE-----\n).*(\n-----END)", rf"\g<1>{bomb}\2", text), "x")


@pytest.mark.parametrize(
    ("beginning", "line", "wanted"),
    [
        ("title", "", ["title: is missing"]),
        ("title", "title = 3", ["title: 3 is no text"]),
        ("title", f'title = "{"x" * 101}"', ["title: has 101 characters; at most 100"]),
        ("title", r'title = "a\u001b[31mb"', ["title: has the character U+001B"]),
        ("[shift]", "[shfit]", ["shfit: has no meaning in a case; did you mean shift?", "shift: is missing"]),
        ("failing", "", ["shift.failing: is missing"]),
        ("healthy", 'healthy = "befor"', ['shift.healthy: "befor" is none of before, found']),
        ("failing", "failing = [1]", ["shift.failing: [1] is none of before, found"]),
        ("better", 'better = "faster"', ['shift.better: "faster" is none of more, less']),
        ("metric", 'metric = "read_mib_per_s"', ["is no JOB.NUMBER", "the jobs are archive"]),
        ("command", 'command = "iotop"', ['shift.command: "iotop" is none of iostat -x,']),
        ("tells", "", ["shift.tells: is missing"]),
        ("author", 'autor = "X"', ["shift.autor: has no meaning in a case; did you mean author?"]),
        ("author", "seed = -1", ["shift.seed: -1 is no whole number from 0"]),
        ("author", "seed = true", ["shift.seed: True is no whole number from 0"]),
        ("ticket", f'ticket = "{"x " * 400}"', ["shift.ticket: has 799 characters; at most 600"]),
        ("fix", "fix = {}", ["shift.fix: is empty"]),
        ("fix", "fix = 3", ["shift.fix: 3 is not a table"]),
        ("fix", 'fix = { "network.round_trip" = "1ms" }', ["network.round_trip", "cannot be set", "network.mtu"]),
        ("fix", 'fix = { "network.client_buffer" = "8q" }', ["network.client_buffer", "8q"]),
        ("fix", 'fix = { "jobs[x].bs" = 3 }', ["jobs[x].bs", "cannot be set"]),
        ("set", 'set = { "network.client_bufer" = 3 }', ["scenario.network.client_bufer", 'variant "found"']),
        ("set", 'set = { "jobs[reader].bs" = 3 }', ["names none of the jobs; there are archive"]),
        ("set", 'set = { "jobs[archive]" = 3 }', ["names no field"]),
        ("set", 'set = { "..a" = 3 }', ["is no path"]),
        ("set", 'set = { "title.a.b" = 3 }', ["scenario.title"]),
        ("set", "set = 3", ["variants[1].set: 3 is not a table"]),
        ("set", "unset = 3", ["variants[1].unset: 3 is not a list"]),
        ("set", 'unset = ["jobs"]', ["scenario.jobs"]),
        ("set", "sets = 3", ["variants[1].sets: has no meaning in a case; did you mean set?"]),
        ('name = "found"', 'name = "before"', ['variants[1].name: "before" is no name, or not the only one']),
        ("round_trip", 'round_trip = "80 parsecs"', ["scenario.network.round_trip", "80 parsecs"]),
        ("round_trip", "round_trip = 1979-05-27", ["round_trip", "date"]),
        ("rw =", 'rw = "read"\nstonewall = true', ["scenario.jobs[archive]: waits for another job"]),
        ("[scenario.network]", "[scenaro.network]", ["scenaro: has no meaning", "did you mean scenario?"]),
        ("title", "title = ", ["give a case file (TOML)"]),
        ("title", f"title = {'[' * 20_000}", ["nested deeper than 64 levels"]),
        ("title", f"title = {'9' * 5000}", ["give a case file (TOML)"]),
    ],
)
def test_a_wrong_file_gets_a_sentence(beginning: str, line: str, wanted: Sequence[str]) -> None:
    said = told(with_line(beginning, line))
    for part in wanted:
        assert part in said
    assert len(said) < 2000


def test_wrong_causes_are_as_many_as_it_takes_to_have_to_look() -> None:
    others = re.search(r"(?s)others = \[.*?\n\]", EXAMPLE)
    assert others
    for written, wanted in (
        ("", f"shift.others: is missing: the cause is none of the usual {len(causes())}, so name 5 to 30 others"),
        ('others = ["One."]', "is no list of 5 to 30 wrong causes"),
        (f"others = {json.dumps(['Same.'] * 5)}", "names a cause twice"),
        ('others = ["a", "b", "c", "d", 5]', "shift.others[4]: 5 is no text"),
    ):
        assert wanted in told(EXAMPLE.replace(others[0], written))
    usual = EXAMPLE.replace(others[0], "")
    assert case_of(with_line_in(usual, "cause", f'cause = "{causes()[3]}"')).causes == causes()


def with_line_in(text: str, beginning: str, line: str) -> str:
    return re.sub(rf"(?m)^{beginning}.*$", line, text, count=1)


def test_a_large_file_is_refused() -> None:
    assert f"a case has at most {MAX_BYTES:,}" in told(EXAMPLE + "#" * MAX_BYTES)


def test_a_fix_that_mends_too_little_is_told_with_its_share() -> None:
    (found,) = not_ok(with_line("fix", 'fix = { "network.client_buffer" = "128KiB" }'))
    # Twice the window is twice the rate: ln 2 of the ln 53 that was lost.
    assert "17 % of what was lost; 80 % would do" in found


def test_what_is_hardly_worse_is_no_complaint() -> None:
    found = not_ok(with_line("set", 'set = { "network.client_buffer" = "3800KiB" }'))
    assert any("and a complaint takes 1.25" in what for what in found)


def test_a_command_that_sees_no_difference_is_told() -> None:
    (found,) = not_ok(with_line("command", 'command = "ping"'))
    assert found == "ping prints the same of the healthy system and of the failing one: it tells nothing"


@pytest.mark.parametrize(
    ("ticket", "word"),
    [("The buffers are full.", "buffers"), ("The network is bad.", "network"), ("A segment is lost.", "segment")],
)
def test_a_ticket_that_names_the_cause_is_told_with_the_word(ticket: str, word: str) -> None:
    (found,) = not_ok(with_line("ticket", f'ticket = "{ticket}"'))
    assert f'the ticket says "{word}"' in found


def test_a_number_that_the_job_has_not_is_told_with_those_it_has() -> None:
    with pytest.raises(SeeklabError, match=r"shift\.metric: archive has no number speed.*read_mib_per_s"):
        list(findings(case_of(with_line("metric", 'metric = "archive.speed"'))))


def test_a_run_that_takes_too_long_is_stopped_by_the_limit_of_a_shift(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("seeklab.oncall.learner_case.MAX_EVENTS", 1000)
    endless = with_line("size", 'size = "512GiB"')
    with pytest.raises(SeeklabError, match=r"limits\.events"):
        Shift(1, own=case_of(endless))


def play(shift: Shift, *lines: str) -> dict[str, Any]:
    said: list[str] = []
    return {**Shell(shift, said.append).play(iter(lines)), "said": "\n".join(said)}


def test_a_peer_who_looks_and_mends_it_has_the_points() -> None:
    own = case_of(sealed(EXAMPLE))
    number = own.causes.index(own.system.incident.cause) + 1
    told = play(Shift(own.seed, own=own), "ss", f"name {number}", "set network.client_buffer 4MiB", "done")
    assert told["score"] == {"cause": 40, "fix": 40, "time": 17, "total": 97}
    assert told["ticket"].startswith("TICKET 1. The nightly copy")
    assert "less than a tenth of what it did" in told["ticket"]
    assert told["own"] == own.digest
    assert told["case"] is None
    assert "by A. Learner" in told["said"]


def test_no_name_of_the_authors_is_seen_before_the_end() -> None:
    own = case_of(EXAMPLE)
    shift = Shift(own.seed, own=own)
    said: list[str] = []
    shell = Shell(shift, said.append)
    for line in ("about", "get", "iostat", "fio", "oplog", "ss", "lat", "dashboard", "parted", "perf"):
        assert shell.enter(line)
    assert not re.search(r"\b(archive|array|before|found)\b", "\n".join(said))


def test_devices_and_jobs_of_a_fix_are_those_of_the_shift() -> None:
    disks = with_line("lun", 'hdd = { }\npreset = "hdd-7200"').replace("hdd = { }\n", "")
    own = case_of(with_line_in(disks, "fix", 'fix = { "devices[array].hdd.queue_policy" = "satf" }'))
    assert own.system.remedy == {"devices[sda].hdd.queue_policy": "satf"}


def test_a_session_takes_a_case_and_is_taken_up_with_it_alone() -> None:
    desk, text = Desk(), sealed(EXAMPLE)
    kept = [json.loads(desk.answer(json.dumps(asked)))["kept"] for asked in ({"open": text}, {"type": "ping"})][-1]
    again = json.loads(Desk().answer(json.dumps({"open": text, "kept": kept})))
    assert again["kept"] == kept
    other = sealed(with_line("author", 'author = "B."'))
    assert "cannot be read" in json.loads(Desk().answer(json.dumps({"open": other, "kept": kept})))["problem"]
    assert "cannot be read" in json.loads(Desk().answer(json.dumps({"open": 1, "kept": kept})))["problem"]
    ended = Session(case_of(text)).type("done")["ended"]
    assert ended["title"] == "The archive on the other continent"
    assert "cwnd:45" in ended["telling"]


def test_a_desk_refuses_what_is_no_case() -> None:
    for text in ("", "x", "\ud800", "-----BEGIN SEEKLAB SEALED CASE-----", "shift = 3"):
        assert json.loads(Desk().answer(json.dumps({"open": text})))["problem"]


def test_the_command_seals_what_fits_and_plays_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    case = tmp_path / "mine.toml"
    case.write_text(EXAMPLE, encoding="utf-8")
    assert main(["oncall", "--seal", str(case)]) == DONE
    assert capsys.readouterr().out.count("\nok  ") == 3
    assert opened((tmp_path / "mine.sealed").read_text(), "x") == EXAMPLE
    monkeypatch.setattr("sys.stdin", None)
    for file in ("mine.sealed", "mine.toml"):
        assert main(["oncall", "--case", str(tmp_path / file)]) == DONE
        assert capsys.readouterr().out.startswith("TICKET 1. The nightly copy")


def test_the_command_seals_nothing_that_does_not_fit(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    case = tmp_path / "mine.toml"
    case.write_text(with_line("command", 'command = "ping"'), encoding="utf-8")
    assert main(["oncall", "--seal", str(case)]) == CHECK_FAILED
    said = capsys.readouterr()
    assert "no  ping prints the same" in said.out
    assert "not sealed" in said.err
    assert [path.name for path in tmp_path.iterdir()] == ["mine.toml"]
    assert main(["oncall", "--check", str(case), "--json"]) == CHECK_FAILED
    assert json.loads(capsys.readouterr().out)["ok"] is False


@pytest.mark.parametrize(
    ("arguments", "wanted"),
    [
        (["--case", "none.toml"], "none.toml: No such file"),
        (["--case", "."], "directory"),
        (["--case", "mine.toml", "--weeks", "1-5"], "leave --weeks out"),
        (["--today", "--out", "x"], "give --seal as well"),
        (["--seal", "mine.toml", "--out", "mine.toml"], "is the case itself"),
        (["--seal", "mine.toml", "--out", "none/x"], "cannot be written: No such file"),
        (["--seal", "sealed"], "is sealed already"),
        (["--case", "bytes"], "bytes: byte 0 (line 1) is 0xff"),
    ],
)
def test_a_command_line_mistake_is_told(
    arguments: list[str],
    wanted: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("mine.toml").write_text(EXAMPLE, encoding="utf-8")
    Path("sealed").write_text(sealed(EXAMPLE), encoding="utf-8")
    Path("bytes").write_bytes(b"\xff\x00")
    assert main(["oncall", *arguments]) == BAD_INPUT
    assert wanted in capsys.readouterr().err
    assert Path("mine.toml").read_text(encoding="utf-8") == EXAMPLE


@pytest.mark.parametrize("incident", incidents(), ids=lambda incident: f"{incident.case}-{incident.failing}")
def test_a_case_of_the_library_is_read_as_a_learners_is(incident: Incident) -> None:
    text = (ROOT / "engine" / "cases" / f"{incident.case}.toml").read_text(encoding="utf-8")
    if len([one for one in incidents() if one.case == incident.case]) > 1:
        assert "shift: is written 2 times" in told(text)
        return
    own = case_of(text)
    assert replace(own.system.incident, case=incident.case) == incident
    assert own.causes == causes()
    assert set(own.system.remedy) <= set(settable(own.system.scenario))


def test_a_case_of_the_library_without_a_shift_says_so() -> None:
    text = (ROOT / "engine" / "cases" / "shouting.toml").read_text(encoding="utf-8")
    assert "shift.none_because: says why the case has no shift" in told(text)


def test_a_file_with_the_tables_old_name_is_the_same_shift() -> None:
    old = EXAMPLE.replace("[shift]", "[night]").replace("command = ", "look = ")
    assert old.count("[night]") == old.count("look = ") == 1
    was, now = case_of(old), case_of(EXAMPLE)
    assert replace(was, digest=now.digest) == now
    assert 'night.look: "iotop" is none of' in told(old.replace("ss -ti", "iotop"))
    assert "night: is the old name of [shift]" in told(old + "\n[shift]\n")


@pytest.mark.parametrize(
    ("line", "wanted"),
    [
        ('draw = [{ path = "network.round_trip", choose = [60, 80], unit = "ms" }]', ""),
        ('draw = [{ path = "network.round_trip", range = [60, 85], step = 10 }]', "shift.draw[0]: "),
        ('draw = [{ path = "network.round_trip" }]', "shift.draw[0]: "),
        ('draw = [{ path = "network.round_trip", of = "network.mtu" }]', "shift.draw[0]: "),
        ('draw = [{ path = "network.round_trip", choose = ["x"] }]', "shift.draw[0]: "),
        ('draw = [{ path = "network.round_trip", chose = [1] }]', "shift.draw[0]: "),
        ('draw = [{ path = "network.round_trip", range = [] }]', "shift.draw[0]: "),
        ("draw = [3]", "shift.draw[0]: "),
        ("draw = 3", "shift.draw: 3 is not a list"),
        ('jobs = ["copy"]', 'shift.jobs: "copy" is not a job of the failing system; there are archive'),
        ("jobs = [1]", "shift.jobs: "),
        ("at_most = 0.5", "shift.at_most: 0.5 is not"),
        ("set = 3", "shift.set: 3 is not a table"),
    ],
)
def test_what_a_shift_draws_is_checked(line: str, wanted: str) -> None:
    text = EXAMPLE.replace("[shift]", f"[shift]\n{line}")
    if wanted:
        assert wanted in told(text)
    else:
        assert case_of(text).system.scenario["network"]["round_trip"] in {60_000_000, 80_000_000}


@pytest.mark.parametrize(
    ("fix", "wanted"),
    [
        ('{ of = "network.round_trip", times = 50_000 }', ""),
        ('{ of = "network.mtu" }', "does not follow a draw"),
        ('{ of = "network.round_trip", times = "x" }', "does not follow a draw"),
        ('{ of = "network.round_trip", less = 1 }', "does not follow a draw"),
    ],
)
def test_a_fix_may_follow_what_was_drawn(fix: str, wanted: str) -> None:
    draw = 'draw = [{ path = "network.round_trip", choose = [80], unit = "ms" }]'
    text = with_line("fix", f'{draw}\nfix = {{ "network.client_buffer" = {fix} }}')
    if wanted:
        assert wanted in told(text)
    else:
        assert case_of(text).system.remedy == {"network.client_buffer": 4_000_000}


def test_without_a_healthy_variant_the_healthy_system_is_the_repaired_one() -> None:
    own = case_of(with_line("healthy", ""))
    assert own.healthy == changed(own.system.scenario, own.system.remedy)
