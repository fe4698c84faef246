"""The part that limits each of the eleven tests of one pool, named from busy times of that test's own stage."""

from __future__ import annotations

import pytest

import seeklab

LATENCY, CLIENT_CPU, NETWORK, DEVICES, SERVER_CPU = range(5)

EXPECTED = {
    "1-stream-cold": NETWORK,
    "2-stream-warm": NETWORK,  # the link of another client than the one that warmed the server
    "3-streams-cold": NETWORK,  # the disks keep streams whole
    "4-streams-warm": NETWORK,
    "5-random-cold": LATENCY,  # twenty reads in flight for 44 disks
    "6-random-warm": SERVER_CPU,
    "7-write": NETWORK,
    "8-writes": NETWORK,
    "9-sync-writes": DEVICES,  # one log device, while the 44 disks are idle
    "10-attributes": LATENCY,
    "11-create": LATENCY,
}


@pytest.mark.parametrize("variant", EXPECTED)
def test_the_limit_of_each_test_is_the_part_that_is_busy_all_the_time(variant: str) -> None:
    found = seeklab.case("eleven-metrics").run(variant).metrics
    assert found["load.limiter"] == EXPECTED[variant]


def test_more_of_the_part_that_limits_helps_and_more_of_another_does_not() -> None:
    case = seeklab.case("eleven-metrics")

    def reads_per_s(**changes: object) -> float:
        return (
            case.with_({path.replace("__", "."): value for path, value in changes.items()})
            .run("6-random-warm")
            .metrics["load.read_iops"]
        )

    as_it_is = reads_per_s()
    assert reads_per_s(server__cores=8) == pytest.approx(as_it_is / 2, rel=0.1)
    assert reads_per_s(network__server_bits_per_s=40_000_000_000) == pytest.approx(as_it_is, rel=0.05)
