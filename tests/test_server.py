"""The server node: other inputs than the cases', drawn by a test seed, against formulas apart from the engine."""

from __future__ import annotations

import math
import random
import re

import pytest

import seeklab

FRAME, EXTRA, SEGMENT, HEADER = 1448, 90, 65_536, 140
MIB = 2**20

_source = random.Random(20_260_809)
NODES = [(_source.randrange(2, 24), _source.randrange(1000, 3500) * 1_000_000) for _ in range(2)]
CALLS = [(_source.randrange(2, 12), _source.randrange(500, 6000)) for _ in range(2)]
SKEWS = [(_source.randrange(50, 900), _source.randrange(1500, 4000)) for _ in range(2)]
TRANSFERS = [1024 * _source.randrange(4, 1000) for _ in range(3)]


@pytest.mark.parametrize(("cores", "hz"), NODES)
def test_a_busy_server_moves_cores_times_clock_over_cycles(cores: int, hz: int) -> None:
    changes = {"server.cores": cores, "server.hz": hz, "network.server_bits_per_s": 10**12}
    metrics = seeklab.case("nic-tuning").with_(changes).run("two-rings").metrics
    most = cores * hz / metrics["server.cycles_per_byte"] / MIB
    assert metrics["streams.read_mib_per_s"] == pytest.approx(most, rel=0.05)


@pytest.mark.parametrize(("cores", "call"), CALLS)
def test_frees_cost_every_core_and_queue_for_each_other(cores: int, call: int) -> None:
    case = seeklab.case("tlb-shootdown").with_({"server.cores": cores, "server.buffers.call_cycles": call})
    metrics, kept = case.run("worst-case").metrics, case.run("object-cache").metrics
    assert metrics["server.cross_calls"] == metrics["clients.read_ios"] * (cores - 1)
    buffers = case.scenario("worst-case")["server"]
    work = kept["server.cycles_per_byte"] * 8192
    by_cores = cores * buffers["hz"] / (work + (cores - 1) * (call + buffers["buffers"]["answer_cycles"]))
    by_calls = buffers["hz"] / ((cores - 1) * call)
    assert metrics["clients.read_iops"] == pytest.approx(min(by_cores, by_calls), rel=0.06)


@pytest.mark.parametrize("transfer", TRANSFERS)
def test_bytes_on_the_wire_are_segments_frames_and_acknowledgements(transfer: int) -> None:
    size = transfer // 512 * 512
    # A window that is full cuts segments short; this one never is.
    window = {"network.client_buffer": "64MiB", "network.server_buffer": "64MiB"}
    changes = {"nfs.transfer": size, "jobs[fill].bs": size, "jobs[load].bs": size, **window}
    metrics = seeklab.case("eleven-metrics").with_(changes).run("2-stream-warm").metrics
    total = size + HEADER
    parts = [SEGMENT] * (total // SEGMENT) + [total % SEGMENT]
    frames = sum(math.ceil(part / FRAME) for part in parts)
    expected = (total + EXTRA * frames + EXTRA / 2) / size
    found = metrics["network.to_client_wire_bytes"] / metrics["network.to_client_payload_bytes"]
    assert found == pytest.approx(expected, rel=1e-5)


@pytest.mark.parametrize(("apart_ms", "window_ms"), SKEWS)
def test_skewed_windows_tell_more_than_there_was(apart_ms: int, window_ms: int) -> None:
    names = ["a", "b", "c", "load"]
    starts = {f"jobs[{name}].startdelay": f"{nth * apart_ms}ms" for nth, name in enumerate(names)}
    windows = {f"jobs[{name}].runtime": f"{window_ms}ms" for name in names}
    metrics = seeklab.case("eleven-metrics").with_({**starts, **windows}).run("skewed-clients").metrics
    found = metrics["sum_of_rates_mib_per_s"] / metrics["rate_mib_per_s"]
    assert found == pytest.approx(1 + 3 * apart_ms / window_ms, rel=0.01)


def test_rings_cost_by_connections_and_rings_together() -> None:
    def cost(rings: int, clients: int) -> float:
        changes = {"server.nic.rings": rings, "jobs[streams].numjobs": clients}
        return seeklab.case("nic-tuning").with_(changes).run("two-rings").metrics["server.network_cycles_per_byte"]

    few, many = cost(2, 64), cost(16, 64)
    assert many > 2 * few
    assert cost(16, 2) == pytest.approx(cost(2, 2), rel=1e-9)
    assert few < cost(4, 64) < cost(8, 64) < many


def test_the_analytics_of_a_run_add_up() -> None:
    result = seeklab.case("eleven-metrics").with_({"jobs[load].ramp_time": 0}).run("5-random-cold")
    rows = list(result.analytics.rows())
    served, seen, devices = ([row for row in rows if row["of"] == of] for of in (0, 1, 2))
    # The client reads a block of the fill at once, which the server serves in transfers.
    assert sum(row["bytes"] for row in served) == sum(row["bytes"] for row in seen)
    assert sum(row["bytes"] for row in devices) == result.metrics["device_bytes"]
    assert sum(row["total_ns"] for row in seen) > sum(row["total_ns"] for row in served)
    cycles = sum(result.cores["cycles"])
    payload = result.metrics["network.to_client_payload_bytes"]
    assert cycles / payload == pytest.approx(result.metrics["server.cycles_per_byte"])


def test_the_analytics_are_printed_by_time_client_and_device() -> None:
    result = seeklab.case("eleven-metrics").run("4-streams-warm")
    by_time = result.text("analytics").splitlines()
    assert "the server" in by_time[0]
    assert "its clients" in by_time[0]
    busy = [line for line in by_time[2:] if re.search(r" [1-9]\d\.\d  ", line)]
    assert busy, "some intervals have busy cores"
    assert "client" in result.text("analytics", by="client").splitlines()[0]
    assert "disk43" in result.text("analytics", by="device")
    with pytest.raises(seeklab.SeeklabError, match="device"):
        result.text("analytics", by="disk")
