"""On-call shifts: every incident can be mended and found, whatever is typed is answered, a seed is a shift."""

from __future__ import annotations

import hashlib
import json
import random
import re
from typing import TYPE_CHECKING, Any

import pytest

import seeklab
from seeklab._result import run
from seeklab.bring import blocks
from seeklab.bring.block import Sample
from seeklab.cli import DONE, main
from seeklab.oncall import Shift
from seeklab.oncall.fact_sheet import sheet
from seeklab.oncall.incidents import causes, complaint_metric, drawn_changes, incidents, reasons_for_none, system_of
from seeklab.oncall.pipes import filters, stages
from seeklab.oncall.schedule import pool
from seeklab.oncall.session import NOT_BEGUN, UNREADABLE, Handler, Session
from seeklab.oncall.settings import changed, offered, settable, value_of
from seeklab.oncall.shell import HIDES, Shell
from seeklab.oncall.shift import FREE, LEFT, NO_TRIES_LEFT
from seeklab.oncall.tools import TOOLS

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from seeklab.oncall.incidents import Incident

MIN_GAIN = 1.25
WORDS = {
    "app",
    "client",
    "clients",
    "ping",
    "read",
    "reads",
    "reader",
    "readers",
    "writers",
    "threads",
    "stream",
    "streams",
}
"""Names of jobs that are words of tools as well."""
IDS = [f"{incident.case}-{number}" for number, incident in enumerate(incidents())]


def shift_of(case: str) -> Shift:
    """Find a shift with a case, by its seed."""
    seed = next(seed for seed in range(1000) if random.Random(f"on call {seed}").choice(incidents()).case == case)
    return Shift(seed)


def played(shift: Shift, *lines: str) -> dict[str, Any]:
    said: list[str] = []
    return {**Shell(shift, said.append).play(iter(lines)), "said": "\n".join(said)}


@pytest.mark.parametrize("incident", incidents(), ids=IDS)
def test_the_remedy_may_be_set_and_brings_back_what_is_missed(incident: Incident) -> None:
    source = random.Random(4)
    system = system_of(incident, source)
    scenario, remedy = system.scenario, system.remedy
    assert set(remedy) <= set(settable(scenario))
    metric = complaint_metric(incident)
    found, mended = (run(some, seed=9).metrics[metric] for some in (scenario, changed(scenario, remedy)))
    gain = mended / found if incident.more_is_better else found / mended
    assert gain >= MIN_GAIN, (found, mended)


@pytest.mark.parametrize("incident", incidents(), ids=IDS)
def test_every_tool_prints_something_on_every_system_and_none_names_the_case(incident: Incident) -> None:
    source = random.Random(5)
    found = system_of(incident, source).scenario
    scenario = {**found, "record": {**found["record"], "log": True}}
    result = run(scenario, seed=3)
    printed = {command: look.prints(result, scenario) for command, look in TOOLS.items()}
    silent = {command for command, text in printed.items() if not text.strip()}
    assert silent <= {"dtrace -s sync.d", "dtrace -s dirty.d"}, "a group may be longer than a look"
    told = "\n".join([*printed.values(), sheet(scenario), *settable(scenario)])
    jobs = {str(job["name"]) for job in seeklab.case(incident.case).scenario(incident.failing)["jobs"]}
    for name in {incident.case, *jobs} - WORDS:
        assert not re.search(rf"\b{re.escape(name)}\b", told), name


@pytest.mark.parametrize("incident", incidents(), ids=IDS)
def test_devices_have_the_names_that_linux_gives_and_the_sheet_uses_them_too(incident: Incident) -> None:
    scenario = dict(system_of(incident, random.Random(5)).scenario)
    result = run(scenario, seed=3)
    printed = TOOLS["iostat -x"].prints(result, scenario)
    names = {row.split()[0] for row in printed.partition("Device")[2].splitlines()[1:] if row}
    assert all(re.fullmatch(r"(?:sd[a-z]+|dm-(?:0|[1-9]\d*)|nvme\d+n1)", name) for name in names), names
    listed = {row.split()[0] for row in TOOLS["lsblk"].prints(result, scenario).splitlines()[1:]}
    assert names <= listed
    words = re.findall(r"sd[a-z]+|dm-\d+|nvme\d+n1", sheet(scenario))
    assert words
    assert set(words) <= listed
    assert not re.search(r"\b(?:sd[a-z]|dm-\d)0\b|\bnvme\dn1\d\b", TOOLS["fio"].prints(result, scenario))


@pytest.mark.parametrize("incident", incidents(), ids=IDS)
def test_the_command_that_tells_it_is_one_that_can_be_typed(incident: Incident) -> None:
    assert incident.command in TOOLS


def test_each_cause_is_offered_once_in_the_order_of_the_alphabet() -> None:
    assert list(causes()) == sorted(set(causes()))
    assert len(causes()) >= 20


def test_a_ticket_has_one_wording_for_every_cause() -> None:
    words = {
        re.sub("|".join((r"\d+", *(re.escape(share) for _, share in LEFT))), "_", Shift(n).ticket) for n in range(6)
    }
    assert len(words) == 1


def test_who_names_the_cause_and_mends_it_has_nearly_all_points() -> None:
    shift = shift_of("one-window-per-rtt")
    number = causes().index(shift.incident.cause) + 1
    told = played(
        shift,
        *("ss", "ping", f"name {number}", "set network.client_buffer 16MiB", "set network.server_buffer 16MiB", "done"),
    )
    assert told["right"]
    assert told["holds"]
    assert told["score"] == {"cause": 40, "fix": 40, "time": 15, "total": 95}
    assert told["cause"] in told["said"]


def test_half_a_remedy_and_a_wrong_cause_earn_nothing() -> None:
    shift = shift_of("one-window-per-rtt")
    wrong = causes().index(shift.incident.cause) % len(causes())
    told = played(shift, f"name {wrong or 2}", "set network.mtu 9000")
    assert not told["right"]
    assert not told["holds"]
    assert told["score"]["total"] == 0


def test_three_tries_and_no_fourth() -> None:
    shift = shift_of("one-window-per-rtt")
    right = causes().index(shift.incident.cause) + 1
    others = [number for number in range(1, 6) if number != right][:3]
    told = played(shift, *(f"name {number}" for number in (*others, right)))
    assert told["named"] == [causes()[number - 1] for number in others]
    assert told["commands"][-1]["output"] == NO_TRIES_LEFT


def test_knobs_that_are_turned_before_the_cause_is_named_cost_eight_times_as_much() -> None:
    guessed, diagnosed = shift_of("one-window-per-rtt"), shift_of("one-window-per-rtt")
    name = f"name {causes().index(guessed.incident.cause) + 1}"
    sets = ("set network.client_buffer 16MiB", "set network.server_buffer 16MiB")
    assert [entry["points"] for entry in played(guessed, *sets, name)["commands"]] == [8, 8, 0]
    assert [entry["points"] for entry in played(diagnosed, name, *sets)["commands"]] == [0, 1, 1]


def test_wrong_names_and_looks_without_end_cost_more_than_the_time_is_worth() -> None:
    shift = shift_of("one-window-per-rtt")
    others = [number for number in range(1, 6) if number != causes().index(shift.incident.cause) + 1][:3]
    sets = ("set network.client_buffer 16MiB", "set network.server_buffer 16MiB")
    told = played(shift, *["fio"] * 12, *(f"name {number}" for number in others), *sets)
    assert told["score"] == {"cause": -30, "fix": 40, "time": -6, "total": 4}


def test_a_cause_that_was_named_is_told_again_without_a_try() -> None:
    shift = shift_of("one-window-per-rtt")
    wrong = causes().index(shift.incident.cause) % len(causes()) or 2
    told = played(shift, f"name {wrong}", f"name {wrong}")
    assert len(told["named"]) == 1
    assert FREE in told["commands"][-1]["output"]


def test_what_can_be_got_is_a_value_and_not_a_default() -> None:
    found = shift_of("media-prefetch").settable()
    assert (found["zfs.prefetch.streams"], found["zfs.prefetch.cap"]) == (8, 256)
    assert None not in [value for path, value in found.items() if path.startswith("zfs.")]


@pytest.mark.parametrize(
    ("case", "path", "told"),
    [
        ("frictionless", "zfs.tick", "zfs.tick = 10000000 ns"),
        ("burst-credits", "devices[dm-0].lun.credits.base", "devices[dm-0].lun.credits.base = 300 /s"),
        ("one-window-per-rtt", "partition.start", "partition.start = 1048576 B"),
        ("invariants", "devices[sda].hdd.queue_depth", "devices[sda].hdd.queue_depth = 32"),
        ("delay-everything", "zfs.delay", "zfs.delay = true"),
        ("compressible-data", "reduction.buffer_compress_percentage", "reduction.buffer_compress_percentage = 50 %"),
    ],
)
def test_a_number_is_told_with_its_unit(case: str, path: str, told: str) -> None:
    assert played(shift_of(case), f"get {path}")["commands"][0]["output"] == told


def test_nothing_that_a_terminal_obeys_is_said_back() -> None:
    told = played(shift_of("one-window-per-rtt"), "foo\x1b[31mred\x07", "set zfs.tick \u202e5ms")
    assert all(one.isprintable() for entry in told["commands"] for one in entry["output"])


def test_the_same_seed_is_the_same_shift_and_another_is_another() -> None:
    lines = ("about", "iostat", "fio", "lat")
    first, again, other = (played(Shift(seed), *lines) for seed in (11, 11, 12))
    assert first == again
    assert first["commands"] != other["commands"]


def test_seeds_are_the_shifts_that_they_were() -> None:
    """Instructors' tests name seeds. Who changes an incident's draws, or adds one, says so in the changelog."""
    drawn = []
    for seed in range(1000, 1200):
        source = random.Random(f"on call {seed}")
        incident = source.choice(pool())
        drawn.append([incident.case, incident.failing, drawn_changes(incident, source)[0]])
    told = hashlib.sha256(json.dumps(drawn, sort_keys=True).encode()).hexdigest()[:16]
    assert told == "45a9dcb514468f1d", "seeds have other shifts than before"


def test_a_second_look_is_of_later_seconds_and_costs_as_much() -> None:
    shift = shift_of("slog-divert")
    first, second = played(shift, "fio", "fio")["commands"]
    assert first["output"] != second["output"]
    assert (first["seconds"], first["points"]) == (second["seconds"], second["points"]) == (10, 2)


@pytest.mark.parametrize(
    ("typed", "answered"),
    [
        ("rm -rf /", "bash: rm: command not found"),
        ("name", "name NUMBER"),
        ("name 0", "name NUMBER"),
        ("name -1", "name NUMBER"),
        ("name \u0663", "name NUMBER"),
        ("quit now", "quit"),
        ("set", "set PATH VALUE"),
        ("set jobs[app].rw write", "jobs[app].rw: "),
        ("set network.mtu nan", "set: "),
        ("set network.mtu", "set PATH VALUE"),
        ("set network.mtu -3", "set: "),
        ("set network.mtu " + "9" * 300, "set: "),
        ("set network.mtu " + "9" * 100_000, "100,016"),
        ("get nothing", "get: nothing: "),
        ("get network.mtu", "network.mtu = "),
        ("zpool iostat", "bash: zpool: command not found"),
        ("dtrace -s sync.d", "does not match any probes"),
        ("dtrace -s rm.d", "dtrace -s dirty.d"),
        ("nfsstat", "Error: No Client Stats"),
        ("\x00\x1b[31m", "command not found"),
        ("iostat", "Device"),
        ("zpool iostat -vly 1", "`iostat -x` shows time and queue of each disk"),
        ("zpool iostat -w", "`lat` shows the times"),
        ("free -m", "`about`"),
        ("df -h | tail -3", "`zpool status` shows the pool"),
        ("ps aux", "`pidstat -d`"),
        ("cat /sys/block/sda/queue/scheduler", "`get` lists the settings"),
        ("iostat -x | awk '{print $1}'", "bash: awk {print $1}: grep, head, tail and wc -l can follow a pipe"),
        ("iostat -x | grep", "PATTERN"),
        ("iostat -x | grep 'a", "a quote is open"),
        ("iostat -x |", "a command is missing"),
        ("| grep x", "command not found"),
    ],
)
def test_whatever_is_typed_is_answered(typed: str, answered: str) -> None:
    assert answered in played(shift_of("one-window-per-rtt"), typed)["commands"][0]["output"]


TEXT = ["Device r/s", "sda 1.0", "sdb 2.0", "", "Device r/s", "sda 11.0"]


@pytest.mark.parametrize(
    ("behind", "lines"),
    [
        ("grep sda", [1, 5]),
        ("grep -v -e sda -e '^$'", [0, 2, 4]),
        ("grep -E 'sdb|Device'", [0, 2, 4]),
        ("grep -i DEV.*S", [0, 4]),
        ("grep '^sd.*1.0$'", [1, 5]),
        ("grep '^sda 1.0$'", [1]),
        ("grep -F .*", []),
        ("grep -A1 Device", [0, 1, 4, 5]),
        ("grep -B 1 sdb", [1, 2]),
        ("head -2", [0, 1]),
        ("head -n 1", [0]),
        ("tail -n1", [5]),
        ("tail -0", []),
        ("grep sda | tail -1", [5]),
        ("less", [0, 1, 2, 3, 4, 5]),
    ],
)
def test_a_pipe_chooses_lines(behind: str, lines: list[int]) -> None:
    chosen = TEXT
    for choose in filters(stages(behind)):
        chosen = choose(chosen)
    assert chosen == [TEXT[at] for at in lines]


def test_a_pipe_counts_lines_and_costs_as_much_as_its_command() -> None:
    piped, whole = played(shift_of("one-window-per-rtt"), "iostat -x | grep -c Device", "iostat -x")["commands"]
    assert piped["output"] == "1\n"
    assert (piped["points"], piped["seconds"]) == (whole["points"], whole["seconds"])


@pytest.mark.parametrize(
    ("case", "typed", "told"),
    [
        ("one-window-per-rtt", "rm -rf /", "bash: rm: command not found"),
        ("one-window-per-rtt", "dtrace -s rm.d", "dtrace -s dirty.d"),
        ("one-window-per-rtt", "get nothing", "get: nothing: "),
        ("one-window-per-rtt", "name 99", "name NUMBER"),
        ("one-window-per-rtt", "set network.mtu", "set PATH VALUE"),
        ("one-window-per-rtt", "set zfs.tick 1ms", "zfs.tick: "),
        ("one-window-per-rtt", "set network.mtu many", '"many"'),
        ("one-window-per-rtt", "set network.client_buffer 4GiB", "1GiB"),
        ("burst-credits", "set devices[dm-0].lun.credits.base 9000000", "16000"),
        ("burst-credits", "set devices[dm-0].lun.credits.base -1", "devices[dm-0].lun.credits.base: -1"),
        ("copy-offload", "set jobs[app].copy.chunks_per_request 1000", "jobs[app].copy.chunks_per_request: 1000"),
    ],
)
def test_what_is_not_understood_or_refused_changes_nothing_costs_nothing_and_says_so(
    case: str, typed: str, told: str
) -> None:
    shift = shift_of(case)
    (entry,) = played(shift, typed)["commands"]
    assert told in entry["output"]
    assert FREE in entry["output"]
    assert (entry["seconds"], entry["points"], shift.changes) == (0, 0, {})


@pytest.mark.parametrize(
    ("case", "typed"),
    [
        ("compressible-data", "set reduction.buffer_compress_percentage 99"),  # other data, not the storage's doing
        ("tune-openzfs", "set zfs.dirty_data_max 4GiB"),  # memory takes in the whole test, and nobody sees the devices
    ],
)
def test_a_change_so_large_that_it_only_hides_what_is_wrong_is_told_and_does_not_hold(case: str, typed: str) -> None:
    shift = shift_of(case)
    told = played(shift, f"name {causes().index(shift.incident.cause) + 1}", typed)
    assert f" {shift.incident.at_most:g} " in told["commands"][-1]["output"]
    assert not told["holds"]
    assert shift.hides
    assert HIDES in told["said"]
    assert told["score"]["fix"] == 0


def test_more_of_what_mends_it_holds_however_much_better_it_is() -> None:
    shift = shift_of("frictionless")
    played(shift, "set zfs.tick 100us")
    assert shift.users[-1][1] > shift.incident.at_most
    assert shift.holds()


def test_a_value_that_was_put_back_is_no_change() -> None:
    shift = shift_of("frictionless")
    played(shift, "set zfs.txg_timeout 3s", f"set zfs.txg_timeout {shift.settable()['zfs.txg_timeout']}")
    played(shift, "set zfs.tick 100us")
    assert shift.holds()


@pytest.mark.parametrize("incident", incidents(), ids=IDS)
def test_what_may_be_asked_for_does_not_tell_which_parts_a_system_has(incident: Incident) -> None:
    source = random.Random(6)
    scenario = system_of(incident, source).scenario
    paths = offered(scenario)
    assert set(settable(scenario)) <= set(paths)
    assert ("zfs.prefetch.on" in paths) == bool(scenario.get("zfs"))
    assert ("controller.lock.exclusive" in paths) == bool(scenario.get("controller"))
    assert ("server.buffers.object_cache" in paths) == bool(scenario.get("server"))
    assert ("volume.prefetch.chunk" in paths) == bool(scenario.get("volume"))
    for device in scenario["devices"]:
        assert (f"devices[{device['name']}].lun.credits.base" in paths) == bool(device.get("lun"))


@pytest.mark.parametrize("asked", ["get devices[dm-0].lun.credits.base", "set devices[dm-0].lun.credits.base 3000"])
def test_whether_a_part_is_there_costs_as_much_as_its_value(asked: str) -> None:
    shift = shift_of("one-window-per-rtt")
    (entry,) = played(shift, asked)["commands"]
    assert "credits" in entry["output"]
    assert (entry["seconds"], entry["points"], shift.changes) == (1, 1, {})


def test_a_word_that_looks_like_a_number_can_be_set() -> None:
    shift = shift_of("compressible-data")
    told = played(shift, "set reduction.fio 3.33")
    assert shift.changes == {"reduction.fio": "3.33"}
    assert told["holds"]


def test_what_was_set_is_told_as_it_is_typed() -> None:
    told = played(shift_of("delay-everything"), "set zfs.shift_bug false")
    assert told["commands"][0]["output"].startswith("zfs.shift_bug = false. ")
    assert "zfs.shift_bug = false\n" in told["debrief"]


@pytest.mark.parametrize("incident", incidents(), ids=IDS)
def test_a_dashboard_contradicts_what_the_application_saw_only_where_it_averages_too_long(incident: Incident) -> None:
    source = random.Random(1)
    scenario = system_of(incident, source).scenario
    result = run(scenario, seed=3)
    points = TOOLS["dashboard"].prints(result, scenario).splitlines()[2:]
    busiest = max(float(point.split()[1]) for point in points)
    seen = result.metrics.get("app.read_iops", 0) + result.metrics.get("app.write_iops", 0)
    if incident.case == "averaged-away":
        assert busiest < 0.1 * seen
    else:
        assert busiest > 0.5 * seen
        assert float(points[-1].split()[0]) < result.metrics["elapsed_s"]


def test_leaving_before_an_answer_reveals_nothing() -> None:
    def lines() -> Iterator[str]:
        yield "about"
        raise KeyboardInterrupt

    shift = Shift(3)
    secrets = (shift.incident.cause, shift.incident.case, shift.incident.tells)
    for ending in (["about", "quit"], ["exit"], ["about"], lines()):
        said: list[str] = []
        document = Shell(Shift(3), said.append).play(iter(ending))
        assert document["hidden"]
        assert document["debrief"] == said[-1]
        text = json.dumps(document) + "".join(said)
        assert not [secret for secret in secrets if secret in text]
    session = Session(3)
    assert session.type("quit")["ended"]["telling"] == ""


def test_done_or_an_answer_shows_the_debrief() -> None:
    for ending in (["done"], ["name 1", "quit"]):
        document = Shell(Shift(3), lambda _: None).play(iter(ending))
        assert not document["hidden"]
        assert document["cause"] in document["debrief"]


@pytest.mark.parametrize(
    ("typed", "reports"),
    [("iostat -x", 1), ("iostat -x 1", 4), ("iostat -xy 1 2", 2), ("iostat -x 1 99", 4), ("iostat -xz 5 1", 1)],
)
def test_an_interval_gives_a_series_that_the_diagnosis_reads(typed: str, reports: int) -> None:
    (entry,) = played(Shift(5), typed)["commands"]
    (block,) = blocks(f"$ {typed}\n{entry['output']}").blocks
    assert block.tool == "iostat-x"
    samples = [record for record in block.records if isinstance(record, Sample)]
    assert len(samples) == reports
    assert sum(sample.is_since_boot for sample in samples) == ("y" not in typed)
    for sample in samples:
        assert {"system", "iowait", "idle"} <= set(sample.cpu)
        for row in sample.rows:
            # A device is not busy for longer than it has requests.
            assert (row.busy or 0.0) <= min(1.0, row.in_flight or 0.0) + 0.01


def test_a_room_answers_as_the_shell_does_and_ends_with_the_same_document() -> None:
    lines = ("help", "about", "iostat", "rm -rf /", "ss", "set network.mtu 9000", "name 1", "done")
    shell = played(shift_of("one-window-per-rtt"), *lines)
    session = Session(shift_of("one-window-per-rtt").seed)
    said = [entry for line in lines for entry in session.type(line)["answers"]]
    assert said == shell["commands"]
    ended = session.view()["ended"]
    assert {name: ended[name] for name in shell if name != "said"} == {
        name: value for name, value in shell.items() if name != "said"
    }
    assert "rtt:" in ended["telling"]
    assert ended["most"]["total"] == 100


def test_the_users_number_is_seen_to_recover_when_the_remedy_is_set_and_not_before() -> None:
    shift = shift_of("one-window-per-rtt")
    session = Session(shift.seed)
    session.type("iostat")
    before = session.type("set network.mtu 9000")["kept"]["users"]
    after = [session.type(f"set {path} {value}") for path, value in shift.remedy.items()][-1]["kept"]["users"]
    assert [seconds for seconds, _ in before] == [0, 10, 11]
    assert max(share for _, share in before) < 0.5
    assert after[-1][1] == pytest.approx(1, rel=0.1)


def test_a_shift_is_taken_up_where_it_was_left() -> None:
    seed = shift_of("one-window-per-rtt").seed
    lines = ("ss", "set network.client_buffer 16MiB", "name 1", "ping", "done")
    whole = Session(seed)
    for line in lines:
        expected = whole.type(line)
    first = Session(seed)
    for line in lines[:3]:
        kept = first.type(line)["kept"]
    second = Session(seed, kept=json.loads(json.dumps(kept)))
    for line in lines[3:]:
        found = second.type(line)
    assert json.loads(json.dumps(found)) == json.loads(json.dumps(expected))


@pytest.mark.parametrize(
    "spoilt",
    [
        {"seed": 1},
        {"weeks": "1-5"},
        {"set": {"network.mtu": "many"}},
        {"seconds": -1},
        {"seconds": True},
        {"users": [[0, "x"]]},
        {"users": []},
        {"users": [[0, float("nan")]]},
        {"commands": 3},
        {"commands": [{"command": "ping"}]},
        {"named": None},
    ],
)
def test_a_kept_shift_that_does_not_fit_is_told_and_does_no_harm(spoilt: dict[str, Any]) -> None:
    seed = shift_of("one-window-per-rtt").seed
    handler = Handler()
    kept = json.loads(handler.answer(json.dumps({"open": seed})))["kept"]
    told = json.loads(handler.answer(json.dumps({"open": seed, "kept": {**kept, **spoilt}})))
    assert told == {"problem": UNREADABLE}
    assert json.loads(handler.answer(json.dumps({"open": seed})))["kept"] == kept


def test_a_handler_without_a_shift_says_so() -> None:
    assert json.loads(Handler().answer('{"type": "ping"}')) == {"problem": NOT_BEGUN}


def test_what_completion_offers_is_answered() -> None:
    session = Session(shift_of("one-window-per-rtt").seed)
    words = session.view()["words"]
    assert {"iostat -x", "done", "name ", "set network.mtu ", "get network.mtu"} <= set(words)
    for word in {word.split()[0] for word in words} - {"done", "zpool", "zfs", "arcstat"}:
        assert "not found" not in session.type(word)["answers"][-1]["output"], word


def test_every_case_has_a_week_for_its_shifts_or_a_reason_for_none() -> None:
    with_shifts = {incident.case for incident in incidents()}
    assert all(incident.week for incident in incidents())
    assert with_shifts | set(reasons_for_none()) == {case["id"] for case in seeklab.cases()}


def test_a_drill_is_drawn_from_its_weeks_alone() -> None:
    assert {incident.case for incident in pool("1-2")} == {"averaged-away", "misaligned-io", "invariants"}
    assert pool("1-10") == pool() == incidents()
    shift = Shift(3, "1-2")
    assert shift.incident in pool("1-2")
    assert "--seed 3 --weeks 1-2" in shift.debrief()


@pytest.mark.parametrize(
    ("weeks", "told"),
    [
        ("3", "1, 2, 4,"),
        ("5-1", "'5-1'"),
        ("0-3", "'0-3'"),
        ("1-11", "'1-11'"),
        ("", "''"),
        ("9" * 100_000, "'999"),
    ],
)
def test_weeks_that_there_are_not_are_refused_with_a_sentence(
    weeks: str, told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["oncall", "--seed", "1", "--weeks", weeks]) != DONE
    said = capsys.readouterr().err
    assert "weeks" in said
    assert told in said
    assert len(said) < 300


def test_values_are_read_as_they_are_typed() -> None:
    read = {"16MiB": "16MiB", "true": True, "off": False, "12": 12, "0.5": 0.5, "inf": "inf", "1e999": "1e999"}
    assert {text: value_of(text) for text in read} == read


def test_the_command_plays_from_a_pipe_and_prints_a_transcript(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    typed = tmp_path / "typed"
    typed.write_text("about\nping\nh\u00e9\n", encoding="utf-8")
    with typed.open(encoding="utf-8") as lines:
        monkeypatch.setattr("sys.stdin", lines)
        assert main(["oncall", "--seed", "21", "--json"]) == DONE
    document = json.loads(capsys.readouterr().out)
    assert document["seed"] == 21
    assert [entry["command"] for entry in document["commands"]] == ["about", "ping", "h\u00e9"]
    monkeypatch.setattr("sys.stdin", None)
    assert main(["oncall", "--today"]) == DONE
    assert capsys.readouterr().out.startswith("TICKET 20")
