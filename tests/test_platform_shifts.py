"""Shifts on shared platforms: nothing free tells the cause, every tell holds, the debrief's reasons are measured."""

from __future__ import annotations

import io
import json
import os
import random
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from setuptools import Distribution

import oncall_looks as measured
import sampling
from console import ROOT
from seeklab._errors import SeeklabError
from seeklab._result import run
from seeklab.cli import DONE, main
from seeklab.oncall.fact_sheet import sheet
from seeklab.oncall.platform import Platform, changes_of, platforms, read_bank
from seeklab.oncall.platform_shift import LEVELS, STAGES_S, TWO, WORSE, PlatformShift
from seeklab.oncall.session import Session
from seeklab.oncall.shell import Shell

if TYPE_CHECKING:
    from seeklab.oncall.platform import Cause

BANK = ROOT / "bank" / "causes.toml"
HELD_OUT = read_bank(BANK)
CAUSES = {cause.id: cause for platform in platforms().values() for cause in platform.causes}
CAUSES |= {cause.id: cause for cause in HELD_OUT.causes}
SEEDS = range(1, 21)
TELLS = [f"{name} {seed}" for name in CAUSES for seed in SEEDS]
LEAST_LOSS = 1.1
TEXT = {".py", ".toml", ".json", ".md", ".ipynb", ".ts", ".sh"}


def drawn(platform: Platform, seed: int) -> dict[str, Any]:
    return platform.numbers(random.Random(f"platform {seed}"))


def shift_with(cause: Cause) -> PlatformShift:
    """Find a shift of level 1 with a cause."""
    bank = HELD_OUT if cause.is_held_out else None
    return next(shift for shift in (PlatformShift(seed, bank=bank) for seed in range(500)) if shift.truths == (cause,))


def first_seed(level: int, **wanted: str) -> int:
    """Return the first seed whose shift of a level is on a platform."""
    return next(seed for seed in range(200) if PlatformShift(seed, level=level).platform.id == wanted["platform"])


def played(shift: PlatformShift, *lines: str) -> dict[str, Any]:
    said: list[str] = []
    return {**Shell(shift, said.append).play(iter(lines)), "said": "\n".join(said)}


def test_there_are_six_platforms_with_five_causes_and_three_held_out() -> None:
    assert len(platforms()) == 6
    for platform in platforms().values():
        assert len(platform.causes) >= 5
        assert platform.oddities
        sentences = [cause.incident.cause for cause in platform.causes]
        assert len(set(sentences)) == len(sentences)
        assert sum(cause.worse is not None for cause in platform.causes) >= 2
        assert len(HELD_OUT.of(platform.id)) == 3
        assert not {cause.id for cause in HELD_OUT.of(platform.id)} & {cause.id for cause in platform.causes}


@pytest.mark.parametrize("platform", platforms().values(), ids=list(platforms()))
def test_sheet_and_settings_are_the_same_whatever_the_cause(platform: Platform) -> None:
    seed = first_seed(1, platform=platform.id)
    one = PlatformShift(seed)
    healthy = platform.system(drawn(platform, seed))
    assert one.sheet == sheet(healthy)
    for cause in (*platform.causes, *HELD_OUT.of(platform.id)):
        one.truths, one.incident = (cause,), cause.incident
        one.scenario = one.system_with(one.truths)
        assert one.sheet == sheet(healthy), cause.id
        assert one.offered() == PlatformShift(seed).offered(), cause.id


@pytest.mark.parametrize("name", sampling.some(TELLS, 24))
def test_what_a_debrief_says_holds_for_what_its_looks_print(name: str) -> None:
    cause_name, seed = name.split()
    cause = CAUSES[cause_name]
    platform = platforms()[cause.platform]
    some = PlatformShift(first_seed(1, platform=platform.id))
    for changes, expected in ((changes_of(cause, int(seed)), True), ({}, False)):
        scenario = platform.system(drawn(platform, int(seed)), changes)
        result = run(scenario, seed=int(seed))

        def printed(look: str, scenario: dict[str, Any] = scenario, result: Any = result) -> str:
            if look.startswith("get "):
                return f"{look[4:]} = {some.values(scenario).get(look[4:])}"
            return some.prints(look, result, scenario)

        assert all(condition.holds(printed) for condition in cause.tell) is expected
    assert cause.incident.command in {condition.look for condition in cause.tell}


@pytest.mark.parametrize("name", sampling.some(list(CAUSES), 12))
def test_a_cause_costs_users_something_and_its_fix_gives_it_back(name: str) -> None:
    cause = CAUSES[name]
    platform = platforms()[cause.platform]
    for seed in (3, 4):
        own = drawn(platform, seed)
        healthy, found = (
            run(platform.system(own, some), seed=seed).metrics[platform.metric]
            for some in ({}, changes_of(cause, seed))
        )
        assert (healthy / found if platform.more_is_better else found / healthy) >= LEAST_LOSS
    if cause.incident.fix:
        shift = shift_with(cause)
        assert set(shift.remedy) <= set(shift.offered())
        played(shift, *(f"set {path} {value}" for path, value in shift.remedy.items()))
        assert shift.holds()


@pytest.mark.parametrize("platform", platforms().values(), ids=list(platforms()))
def test_an_oddity_does_no_harm(platform: Platform) -> None:
    for oddity in platform.oddities:
        own = drawn(platform, 2)
        plain, odd = (run(platform.system(own, some), seed=2).metrics[platform.metric] for some in ({}, oddity.set))
        assert odd == pytest.approx(plain, rel=0.05), oddity.says


@pytest.mark.skipif(sampling.ALL not in os.environ, reason="make full measures 1,200 shifts")
def test_neither_free_information_nor_one_look_names_the_cause() -> None:
    seeds = [*range(measured.TEST), *range(measured.FIRST_OF_TRAINING, measured.FIRST_OF_TRAINING + measured.TRAIN)]
    found = [measured.seen(seed) for seed in seeds]
    shares = measured.shares(found[measured.TEST :], found[: measured.TEST])
    assert shares.pop(measured.FREE) <= measured.MOST_FREE
    assert max(shares.values()) <= measured.MOST_BY_ONE_LOOK


def test_a_shift_starts_within_a_second() -> None:
    PlatformShift(1)
    began = time.process_time()
    for seed in range(2, 12):
        PlatformShift(seed, level=1 + seed % 4)
    assert (time.process_time() - began) / 10 < 1


def test_the_same_seed_is_the_same_shift() -> None:
    lines = ("about", "iostat -x", "fio", "lat")
    first, again, other = (played(PlatformShift(seed), *lines) for seed in (11, 11, 12))
    assert first == again
    assert first["commands"] != other["commands"]


def test_a_hypothesis_costs_nothing_and_says_nothing() -> None:
    shift = PlatformShift(1)
    told = played(shift, "think 1", "think 2", "iostat -x", "think 3", "quit")
    assert [one["points"] for one in told["commands"]] == [0, 0, 2, 0]
    assert [one["looks"] for one in told["thoughts"]] == [0, 0, 1]
    outputs = [one["output"].replace(cause, "") for one, cause in zip(told["commands"][:2], shift.causes, strict=False)]
    assert outputs[0] == outputs[1]


def test_quit_and_nothing_else_hides_the_cause() -> None:
    shift = PlatformShift(4)
    told = played(shift, "about", "iostat -x", "quit")
    assert told["hidden"]
    text = json.dumps(told)
    assert not [cause for cause in shift.causes if cause in text]
    assert played(PlatformShift(4), "done")["cause"] == shift.truth


def test_a_wrong_name_says_which_look_had_excluded_it() -> None:
    shift = next(shift for shift in map(PlatformShift, range(100)) if shift.truths[0].id.endswith(".web"))
    wrong = next(n for n, cause in enumerate(shift.known_causes, 1) if cause.id.endswith(".batch"))
    blind = played(PlatformShift(shift.seed), f"name {wrong}")["commands"][-1]["output"]
    told = played(shift, "pidstat -d", f"name {wrong}")["commands"][-1]["output"]
    assert "pidstat -d" in told
    assert "pidstat -d" not in blind


@pytest.mark.parametrize("level", LEVELS)
def test_the_debrief_has_a_measured_reason_against_every_other_cause(level: int) -> None:
    shift = PlatformShift(21, level=level)
    played(shift, "iostat -x", "done")
    rows = shift.exclusions()
    assert {row["cause"] for row in rows} == set(shift.causes) - {cause.incident.cause for cause in shift.truths}
    assert all(row["looks"] for row in rows)
    for row in rows:
        assert all(one.here != one.there for one in row["looks"])
        assert row["seen"] is None or row["seen"].command == "iostat -x"


@pytest.mark.parametrize("level", [1, TWO])
def test_a_page_gets_the_reasons_of_the_debrief(level: int) -> None:
    session = Session(21, level=level)
    session.type("think 1")
    session.type("iostat -x")
    ended = session.type("done")["ended"]
    for row in ended["excluded"]:
        assert f"- {row['cause']} {row['why']} ({row['mark']})" in ended["debrief"]
    assert "you saw it" in {row["mark"] for row in ended["excluded"]}
    assert [one["tells"] in ended["debrief"] for one in ended["also"]] == [True] * (level == TWO)
    assert ended["tells"] in ended["debrief"]
    assert ended["thoughts"] == [{"looks": 0, "cause": PlatformShift(21, level=level).causes[0]}]


def test_two_causes_need_two_names_and_both_changes() -> None:
    shift = PlatformShift(5, level=TWO)
    numbers = [1 + shift.causes.index(cause.incident.cause) for cause in shift.truths]
    sets = [f"set {path} {value}" for path, value in shift.remedy.items()]
    half = played(PlatformShift(5, level=TWO), f"name {numbers[0]}")
    assert half["score"]["cause"] == 20
    assert not half["right"]
    whole = played(shift, *(f"name {number}" for number in numbers), *sets)
    assert whole["right"]
    assert whole["holds"]
    assert whole["score"]["total"] >= 90


def test_level_4_gets_worse_with_the_clock_and_a_resumed_shift_is_as_far() -> None:
    shift = PlatformShift(7, level=WORSE)
    before = shift.users[0][1]
    while shift.seconds < STAGES_S[-1]:
        shift.carry_out("iostat -x")
    shift.carry_out("iostat -x")
    assert shift.users[-1][1] < 0.8 * before
    session = Session(7, level=WORSE)
    for _ in range(5):
        kept = session.type("iostat -x")["kept"]
    again = Session(7, level=WORSE, kept=json.loads(json.dumps(kept)))
    assert again.type("fio")["answers"] == session.type("fio")["answers"]


def test_where_no_setting_mends_it_leaving_all_alone_is_the_fix() -> None:
    cause = next(cause for cause in CAUSES.values() if not cause.incident.fix and not cause.is_held_out)
    shift = shift_with(cause)
    number = 1 + shift.causes.index(cause.incident.cause)
    assert played(PlatformShift(shift.seed), f"name {number}")["holds"]
    assert not played(PlatformShift(shift.seed), "done")["holds"]
    path = next(path for path in shift.offered() if path == "monitor.window")
    assert not played(shift, f"name {number}", f"set {path} 5s")["holds"]


def test_no_package_page_or_notebook_contains_a_held_out_cause(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    distribution = Distribution({"script_name": "setup.py"})
    distribution.parse_config_files(["pyproject.toml"])
    build = distribution.get_command_obj("build_py")
    build.ensure_finalized()
    packed = {Path(file) for file in build.get_source_files()}
    packed |= {Path(folder) / name for _, folder, _, names in build.data_files for name in names}
    assert {file.stem for file in packed if file.parent.name == "platforms"} == set(platforms())
    assert BANK.relative_to(ROOT) not in packed
    assert not [file for file in packed if file.parts[0] != "engine"]
    kinds = {"docs": "md", "notebooks": "ipynb", "solutions": "ipynb", "exercises": "ipynb", "web/src": "ts"}
    shown = [file for folder, kind in kinds.items() for file in (ROOT / folder).rglob(f"*.{kind}")]
    texts = [file.read_text(encoding="utf-8") for file in {*packed, *shown} if file.suffix in TEXT]
    for cause in HELD_OUT.causes:
        assert not [text for text in texts if cause.incident.cause in text], cause.id


def test_a_bank_draws_its_own_causes_alone() -> None:
    for seed in range(6):
        shift = PlatformShift(seed, bank=HELD_OUT)
        assert shift.truths[0].is_held_out
        assert shift.truths[0].incident.cause in shift.causes


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "causes"),
        ("causes = 3", "causes"),
        ("[[causes]]\nid = 'a'", "causes[0].platform"),
        ("not toml", "bank"),
    ],
)
def test_a_bank_that_cannot_be_used_is_refused_with_the_field(text: str, told: str, tmp_path: Path) -> None:
    file = tmp_path / "bank.toml"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(SeeklabError) as refused:
        read_bank(file)
    assert told in str(refused.value)


def test_the_command_plays_a_shift(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("about\nquit\n"))
    assert main(["oncall", "--level", "2", "--seed", "9", "--json"]) == DONE
    document = json.loads(capsys.readouterr().out)
    assert (document["seed"], document["level"]) == (9, 2)
    assert main(["oncall", "--level", "2", "--weeks", "1-5"]) != DONE
    assert "level" in capsys.readouterr().err
