"""Bonnie++'s report and its line of values, read by its own companion; and what holds of every client."""

from __future__ import annotations

import random
import shutil
import subprocess

import pytest

import seeklab

CASE = "bonnie-decoded"
DATA = ("putc", "put_block", "rewrite", "getc", "get_block")
FILES = ("seq_create", "seq_stat", "seq_del", "ran_create", "ran_stat", "ran_del")


@pytest.fixture(scope="module")
def documented() -> seeklab.Result:
    """Run the documented client."""
    return seeklab.case(CASE).run("one-eighth")


def test_the_line_of_values_is_read_by_the_tool_that_comes_with_bonnie(documented: seeklab.Result) -> None:
    tool = shutil.which("bon_csv2txt")
    assert tool is not None, "install Debian's package bonnie++; the test's set-up names it"
    line = documented.text("bonnie-csv")
    done = subprocess.run([tool], input=line, capture_output=True, text=True, check=True)
    assert done.stderr == ""
    io, files = (row.split() for row in done.stdout.splitlines() if row.startswith("client"))
    metrics = documented.metrics
    for at, test in enumerate(DATA):
        rate, cp = io[2 + 2 * at : 4 + 2 * at]
        mib = metrics[f"{test}.printed_k_per_s"] / 1024
        assert rate.endswith("m")
        assert float(rate.removesuffix("m")) == pytest.approx(mib, abs=0.51), test
        assert int(cp) == int(metrics[f"{test}.cp_percent"]), test
    assert int(io[12]) == int(metrics["seeks.read_iops"])
    for at, test in enumerate(FILES):
        rate = files[2 + 2 * at]
        if test.endswith("stat"):
            assert rate == "+++++"
        else:
            assert int(rate) == int(metrics[f"{test}.write_iops"]), test
    assert files[1] == "2", "units of 1024 files"
    assert done.stdout.count("Latency") == 2


def test_the_report_has_a_column_for_each_test(documented: seeklab.Result) -> None:
    lines = documented.text("bonnie").splitlines()
    values = lines[3].split()
    assert values[:2] == ["client", "1G"]
    assert len(values) == 2 + 2 * 6
    assert int(values[4]) == int(documented.metrics["put_block.printed_k_per_s"])
    assert len(lines[7].split()) == 1 + 2 * 6
    assert lines[7].split().count("+++++") == 2


def test_a_run_without_tests_says_what_they_are_called() -> None:
    result = seeklab.case("one-window-per-rtt").run()
    with pytest.raises(seeklab.SeeklabError, match="jobs: "):
        result.text("bonnie")


def test_the_full_file_set_has_the_rates_of_its_eighth_and_tells_its_progress(documented: seeklab.Result) -> None:
    seen: list[float] = []
    case = seeklab.case(CASE)
    (whole,) = (item for item in case.document["what_ifs"] if "jobs[putc].size" in item["set"])
    full = case.with_(whole["set"]).run(whole["variant"], progress=seen.append).metrics
    assert full["putc.write_bytes"] == 8 * 2**30
    assert seen == sorted(seen)
    assert len({round(12 * done) for done in seen}) > 3, "a long run tells how far it is"
    rates = [f"{test}.printed_k_per_s" for test in DATA]
    rates += [f"{test}.write_iops" for test in FILES if not test.endswith("stat")]
    for rate in rates:
        assert full[rate] == pytest.approx(documented.metrics[rate], rel=0.002), rate
    assert full["seeks.read_iops"] == pytest.approx(documented.metrics["seeks.read_iops"], rel=0.03)


def drawn(count: int, seed: int) -> list[dict[str, float]]:
    """Draw clients and networks that no case file knows."""
    source = random.Random(seed)
    return [
        {
            "mbit": source.randrange(50, 5_000),
            "mtu": source.choice([1500, 4000, 9000]),
            "round_trip_us": source.randrange(20, 900),
            "operations": source.randrange(2, 40),
            "device_us": source.randrange(10, 400),
            "call_us": source.randrange(1, 40),
            "byte_ns": source.randrange(1, 20),
        }
        for _ in range(count)
    ]


def system(own: dict[str, float], job: dict[str, object]) -> dict[str, object]:
    return {
        "nfs": {
            "per_call": f"{own['call_us']}us",
            "per_byte": own["byte_ns"],
            "per_operation": 0,
            "per_wire_byte": 0,
            "create_operations": own["operations"],
            "cache": "16MiB",
            "threads": 32,
            "read_ahead": 32,
            "dirty": "4MiB",
        },
        "network": {
            "bits_per_s": round(own["mbit"] * 1e6),
            "mtu": own["mtu"],
            "round_trip": f"{own['round_trip_us']}us",
            "client_buffer": "16MiB",
            "server_buffer": "16MiB",
        },
        "devices": [{"lun": {"rate": 10**12, "latency": f"{own['device_us']}us"}}],
        "jobs": [{"name": "a", "bs": 8192, "size": "64MiB", **job}],
        "record": {"log": False},
    }


@pytest.mark.parametrize("own", drawn(4, 81_160), ids=lambda own: f"{own['mbit']} Mbit/s")
@pytest.mark.parametrize("rw", ["read", "write"])
def test_a_stream_has_the_rate_of_the_slower_of_processor_and_wire(own: dict[str, float], rw: str) -> None:
    payload = own["mtu"] - 52
    frames = -(-(32768 + 140) // payload)
    wire = own["mbit"] * 1e6 / 8 * 32768 / (32768 + 140 + frames * 90)
    processor = 8192 / (own["call_us"] * 1e-6 + 8192 * own["byte_ns"] * 1e-9)
    metrics = seeklab.run(system(own, {"rw": rw})).metrics
    expected = min(wire, processor)
    assert metrics[f"a.{rw}_mib_per_s"] * 2**20 == pytest.approx(expected, rel=0.03)
    if max(wire, processor) > 1.3 * expected:
        assert metrics["a.limiter"] == (2 if wire < processor else 1)


@pytest.mark.parametrize("own", drawn(4, 687), ids=lambda own: f"{own['operations']} operations")
def test_a_create_takes_its_round_trips_and_its_commit(own: dict[str, float]) -> None:
    job = {"rw": "write", "call": "create", "bs": 3584, "size": 3584 * 64}
    metrics = seeklab.run(system(own, job)).metrics
    wires_us = 2 * 230 * 8 / own["mbit"]  # a frame there and one back; both links of a way work at once
    each_us = own["operations"] * (own["round_trip_us"] + wires_us) + own["device_us"] + own["call_us"]
    assert metrics["a.write_iops"] == pytest.approx(1e6 / each_us, rel=0.02)
    assert metrics["a.to_server_messages"] == 64 * own["operations"]


def test_a_process_computes_or_waits(documented: seeklab.Result) -> None:
    for test in (*DATA, "seeks", "seq_create", "seq_del"):
        share = documented.metrics[f"{test}.cp_percent"] + documented.metrics[f"{test}.waiting_share_percent"]
        assert share == pytest.approx(100, abs=0.01), test


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"network.client_buffer": 0}, "network.client_buffer: 0"),
        ({"network.server_buffer": 1000}, "network.server_buffer: .*1448"),
        ({"devices[server].lun.capacity": "512MiB"}, "536870912"),
        ({"nfs.transfer": 1000}, "nfs.transfer: 1000"),
        ({"nfs.threads": 0}, "nfs.threads"),
        ({"jobs[seq_stat].rw": "write"}, "jobs.*rw: "),
        ({"network": None}, "network: "),
    ],
)
def test_what_no_client_can_be_is_refused_with_its_field(changes: dict[str, object], words: str) -> None:
    with pytest.raises(seeklab.SeeklabError, match=words):
        seeklab.case(CASE).with_(changes).run()
