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
from seeklab.data.json_depth import DEEPEST
from seeklab.oncall import Session, Shift, case_of, findings, sealed
from seeklab.oncall.incidents import causes, incidents
from seeklab.oncall.learner_case import CASE_FILE, MAX_OTHERS, MIN_OTHERS
from seeklab.oncall.seal import MAX_BYTES, opened
from seeklab.oncall.session import UNREADABLE, Handler
from seeklab.oncall.settings import changed, settable
from seeklab.oncall.shell import Shell
from seeklab.oncall.validate import MIN_LOSS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from seeklab.oncall.incidents import Incident

ROOT = Path(__file__).parents[1]
EXAMPLE = (ROOT / "docs" / "instructor" / "capstone.toml").read_text(encoding="utf-8")


def with_line(beginning: str, line: str) -> str:
    """Give the example with one line replaced."""
    changed, count = re.subn(rf"(?m)^{re.escape(beginning)}.*$", line.replace("\\", r"\\"), EXAMPLE, count=1)
    assert count == 1, beginning
    return changed


def refused(text: str) -> dict[str, str]:
    """Return the problems of a case that is refused: message by path."""
    with pytest.raises(SeeklabError) as error:
        case_of(text)
    assert "\x1b" not in str(error.value)
    return {problem.path: problem.message for problem in error.value.problems}


def failed(text: str) -> dict[str, str]:
    """Return what the failed checks of a case found, by field."""
    return {finding.field: finding.what for finding in findings(case_of(text)) if not finding.ok}


def test_the_example_makes_a_shift() -> None:
    found = list(findings(case_of(EXAMPLE)))
    assert [finding.ok for finding in found] == [True] * 4
    # One window of 64 KiB for each 80 ms, against the link's gigabit less headers shared out by four reads of 1 MiB.
    assert [finding.field for finding in found] == ["ticket", "metric", "fix", "command"]
    assert re.search(r"\b41\.5\d*\b.*\b0\.78\d*\b", found[1].what)


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
            with pytest.raises(SeeklabError, match="SHA-256"):
                opened(text[:at] + other + text[at + 1 :], "x")
    with pytest.raises(SeeklabError, match="-----END"):
        opened(text[:last], "x")


def test_a_small_seal_that_unpacks_to_much_is_refused_before_it_has() -> None:
    text = sealed(EXAMPLE)
    bomb = base64.b64encode(gzip.compress(bytes(50_000_000))).decode()
    with pytest.raises(SeeklabError, match=f"{MAX_BYTES:,}"):
        opened(re.sub(r"(?s)(CASE-----\n).*(\n-----END)", rf"\g<1>{bomb}\2", text), "x")


@pytest.mark.parametrize(
    ("beginning", "line", "wanted"),
    [
        ("title", "", {"title": "100"}),
        ("title", "title = 3", {"title": "3"}),
        ("title", f'title = "{"x" * 101}"', {"title": "101"}),
        ("title", r'title = "a\u001b[31mb"', {"title": "U+001B"}),
        ("[shift]", "[shfit]", {"shfit": "shift", "shift": ""}),
        ("failing", "", {"shift.failing": ""}),
        ("healthy", 'healthy = "befor"', {"shift.healthy": "before, found"}),
        ("failing", "failing = [1]", {"shift.failing": "before, found"}),
        ("better", 'better = "faster"', {"shift.better": "more, less"}),
        ("metric", 'metric = "read_mib_per_s"', {"shift.metric": "archive"}),
        ("command", 'command = "iotop"', {"shift.command": "iostat -x,"}),
        ("tells", "", {"shift.tells": ""}),
        ("author", 'autor = "X"', {"shift.autor": "author"}),
        ("author", "seed = -1", {"shift.seed": "-1"}),
        ("author", "seed = true", {"shift.seed": "True"}),
        ("ticket", f'ticket = "{"x " * 400}"', {"shift.ticket": "799"}),
        ("fix", "fix = {}", {"shift.fix": ""}),
        ("fix", "fix = 3", {"shift.fix": "3"}),
        ("fix", 'fix = { "network.round_trip" = "1ms" }', {"shift.fix: network.round_trip": "network.mtu"}),
        ("fix", 'fix = { "network.client_buffer" = "8q" }', {"shift.fix: network.client_buffer": "8q"}),
        ("fix", 'fix = { "jobs[x].bs" = 3 }', {"shift.fix: jobs[x].bs": "network.mtu"}),
        ("set", 'set = { "network.client_bufer" = 3 }', {"scenario.network.client_bufer": '"found"'}),
        ("set", 'set = { "jobs[reader].bs" = 3 }', {"variants": "archive"}),
        ("set", 'set = { "jobs[archive]" = 3 }', {"variants": '"jobs[archive]"'}),
        ("set", 'set = { "..a" = 3 }', {"variants": '"..a"'}),
        ("set", 'set = { "title.a.b" = 3 }', {"scenario.title": '"found"'}),
        ("set", "set = 3", {"variants[1].set": "3"}),
        ("set", "unset = 3", {"variants[1].unset": "3"}),
        ("set", 'unset = ["jobs"]', {"scenario.jobs": '"found"'}),
        ("set", "sets = 3", {"variants[1].sets": "set"}),
        ('name = "found"', 'name = "before"', {"variants[1].name": '"before"'}),
        ("round_trip", 'round_trip = "80 parsecs"', {"scenario.network.round_trip": "80 parsecs"}),
        ("round_trip", "round_trip = 1979-05-27", {"scenario.network.round_trip": "date"}),
        ("rw =", 'rw = "read"\nstonewall = true', {"scenario.jobs[archive]": ""}),
        ("[scenario.network]", "[scenaro.network]", {"scenaro": "scenario"}),
        ("title", "title = ", {"case": CASE_FILE.what}),
        ("title", f"title = {'[' * 20_000}", {"case": str(DEEPEST)}),
        ("title", f"title = {'9' * 5000}", {"case": CASE_FILE.what}),
    ],
)
def test_a_wrong_file_gets_a_sentence(beginning: str, line: str, wanted: Mapping[str, str]) -> None:
    problems = refused(with_line(beginning, line))
    for path, part in wanted.items():
        assert part in problems[path]
    assert sum(map(len, problems.values())) < 2000


def test_wrong_causes_are_as_many_as_it_takes_to_have_to_look() -> None:
    others = re.search(r"(?s)others = \[.*?\n\]", EXAMPLE)
    assert others
    for written, path, part in (
        ("", "shift.others", str(len(causes()))),
        ('others = ["One."]', "shift.others", f"{MIN_OTHERS} to {MAX_OTHERS}"),
        (f"others = {json.dumps(['Same.'] * 5)}", "shift.others", ""),
        ('others = ["a", "b", "c", "d", 5]', "shift.others[4]", "5"),
    ):
        assert part in refused(EXAMPLE.replace(others[0], written))[path]
    usual = EXAMPLE.replace(others[0], "")
    assert case_of(with_line_in(usual, "cause", f'cause = "{causes()[3]}"')).causes == causes()


def with_line_in(text: str, beginning: str, line: str) -> str:
    return re.sub(rf"(?m)^{beginning}.*$", line, text, count=1)


def test_a_large_file_is_refused() -> None:
    assert f"{MAX_BYTES:,}" in refused(EXAMPLE + "#" * MAX_BYTES)["case"]


def test_a_fix_that_mends_too_little_is_told_with_its_share() -> None:
    found = failed(with_line("fix", 'fix = { "network.client_buffer" = "128KiB" }'))
    # Twice the window is twice the rate: ln 2 of the ln 53 that was lost.
    assert re.search(r"\b17 ?%.*\b80 ?%", found.pop("fix"))
    assert not found


def test_what_is_hardly_worse_is_no_complaint() -> None:
    found = failed(with_line("set", 'set = { "network.client_buffer" = "3800KiB" }'))
    assert str(MIN_LOSS) in found["metric"]


def test_a_command_that_sees_no_difference_is_told() -> None:
    found = failed(with_line("command", 'command = "ping"'))
    assert list(found) == ["command"]
    assert "ping" in found["command"]


@pytest.mark.parametrize(
    ("ticket", "word"),
    [("The buffers are full.", "buffers"), ("The network is bad.", "network"), ("A segment is lost.", "segment")],
)
def test_a_ticket_that_names_the_cause_is_told_with_the_word(ticket: str, word: str) -> None:
    found = failed(with_line("ticket", f'ticket = "{ticket}"'))
    assert list(found) == ["ticket"]
    assert f'"{word}"' in found["ticket"]


def test_a_number_that_the_job_has_not_is_told_with_those_it_has() -> None:
    with pytest.raises(SeeklabError, match=r"shift\.metric: .*\bspeed\b.*\bread_mib_per_s\b"):
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
    assert own.ticket
    assert told["ticket"].startswith(f"TICKET {own.seed}. {own.ticket}")
    assert told["own"] == own.digest
    assert told["case"] is None
    assert own.author
    assert own.author in told["said"]


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
    handler, text = Handler(), sealed(EXAMPLE)
    kept = [json.loads(handler.answer(json.dumps(asked)))["kept"] for asked in ({"open": text}, {"type": "ping"})][-1]
    again = json.loads(Handler().answer(json.dumps({"open": text, "kept": kept})))
    assert again["kept"] == kept
    other = sealed(with_line("author", 'author = "B."'))
    for opened_with in (other, 1):
        assert json.loads(Handler().answer(json.dumps({"open": opened_with, "kept": kept})))["problem"] == UNREADABLE
    own = case_of(text)
    ended = Session(own).type("done")["ended"]
    assert ended["title"] == own.title
    assert "cwnd:45" in ended["telling"]


def test_a_handler_refuses_what_is_no_case() -> None:
    for text in ("", "x", "\ud800", "-----BEGIN SEEKLAB SEALED CASE-----", "shift = 3"):
        assert json.loads(Handler().answer(json.dumps({"open": text})))["problem"]


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
        assert capsys.readouterr().out.startswith(f"TICKET 1. {case_of(EXAMPLE).ticket}")


def test_the_command_seals_nothing_that_does_not_fit(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    case = tmp_path / "mine.toml"
    case.write_text(with_line("command", 'command = "ping"'), encoding="utf-8")
    assert main(["oncall", "--seal", str(case)]) == CHECK_FAILED
    said = capsys.readouterr()
    assert re.search(r"^no  .*\bping\b", said.out, re.MULTILINE)
    assert said.err
    assert [path.name for path in tmp_path.iterdir()] == ["mine.toml"]
    assert main(["oncall", "--check", str(case), "--json"]) == CHECK_FAILED
    assert json.loads(capsys.readouterr().out)["ok"] is False


@pytest.mark.parametrize(
    ("arguments", "wanted"),
    [
        (["--case", "none.toml"], "none.toml: No such file"),
        (["--case", "."], "directory"),
        (["--case", "mine.toml", "--weeks", "1-5"], "--weeks"),
        (["--today", "--out", "x"], "--seal"),
        (["--seal", "mine.toml", "--out", "mine.toml"], "out: mine.toml"),
        (["--seal", "mine.toml", "--out", "none/x"], "No such file"),
        (["--seal", "sealed"], "sealed: "),
        (["--case", "bytes"], "0xff"),
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
        assert "2" in refused(text)["shift"]
        return
    own = case_of(text)
    assert replace(own.system.incident, case=incident.case) == incident
    assert own.causes == causes()
    assert set(own.system.remedy) <= set(settable(own.system.scenario))


def test_a_case_of_the_library_without_a_shift_says_so() -> None:
    text = (ROOT / "engine" / "cases" / "shouting.toml").read_text(encoding="utf-8")
    assert list(refused(text)) == ["shift.none_because"]


def test_a_file_with_the_tables_old_name_is_the_same_shift() -> None:
    old = EXAMPLE.replace("[shift]", "[night]").replace("command = ", "look = ")
    assert old.count("[night]") == old.count("look = ") == 1
    was, now = case_of(old), case_of(EXAMPLE)
    assert replace(was, digest=now.digest) == now
    assert '"iotop"' in refused(old.replace("ss -ti", "iotop"))["night.look"]
    assert "[shift]" in refused(old + "\n[shift]\n")["night"]


@pytest.mark.parametrize(
    ("line", "path"),
    [
        ('draw = [{ path = "network.round_trip", choose = [60, 80], unit = "ms" }]', ""),
        ('draw = [{ path = "network.round_trip", range = [60, 85], step = 10 }]', "shift.draw[0]"),
        ('draw = [{ path = "network.round_trip" }]', "shift.draw[0]"),
        ('draw = [{ path = "network.round_trip", of = "network.mtu" }]', "shift.draw[0]"),
        ('draw = [{ path = "network.round_trip", choose = ["x"] }]', "shift.draw[0]"),
        ('draw = [{ path = "network.round_trip", chose = [1] }]', "shift.draw[0]"),
        ('draw = [{ path = "network.round_trip", range = [] }]', "shift.draw[0]"),
        ("draw = [3]", "shift.draw[0]"),
        ("draw = 3", "shift.draw"),
        ('jobs = ["copy"]', "shift.jobs"),
        ("jobs = [1]", "shift.jobs"),
        ("at_most = 0.5", "shift.at_most"),
        ("set = 3", "shift.set"),
    ],
)
def test_what_a_shift_draws_is_checked(line: str, path: str) -> None:
    text = EXAMPLE.replace("[shift]", f"[shift]\n{line}")
    if path:
        assert path in refused(text)
    else:
        assert case_of(text).system.scenario["network"]["round_trip"] in {60_000_000, 80_000_000}


@pytest.mark.parametrize(
    ("fix", "may"),
    [
        ('{ of = "network.round_trip", times = 50_000 }', True),
        ('{ of = "network.mtu" }', False),
        ('{ of = "network.round_trip", times = "x" }', False),
        ('{ of = "network.round_trip", less = 1 }', False),
    ],
)
def test_a_fix_may_follow_what_was_drawn(fix: str, may: bool) -> None:  # noqa: FBT001 -- pytest passes parameters
    draw = 'draw = [{ path = "network.round_trip", choose = [80], unit = "ms" }]'
    text = with_line("fix", f'{draw}\nfix = {{ "network.client_buffer" = {fix} }}')
    if may:
        assert case_of(text).system.remedy == {"network.client_buffer": 4_000_000}
    else:
        assert list(refused(text)) == ["shift.fix: network.client_buffer"]


def test_without_a_healthy_variant_the_healthy_system_is_the_repaired_one() -> None:
    own = case_of(with_line("healthy", ""))
    assert own.healthy == changed(own.system.scenario, own.system.remedy)
