"""Cluster placement against formulas that know nothing of the engine, on clusters drawn by the test's own seed."""

from __future__ import annotations

import math
import random
from typing import Any

import pytest

import seeklab

BLOCK = 1 << 16
DRAWS = 3


def cluster(design: str, nodes: int, copies: int = 2, **more: object) -> dict[str, Any]:
    """Describe a cluster of equal machines, one on each node, that read little."""
    machines = [
        {"name": f"vm{node}", "rw": "randread", "bs": BLOCK, "size": "256MiB", "number_ios": 1} for node in range(nodes)
    ]
    return {
        "jobs": machines,
        "cluster": {"design": design, "nodes": nodes, "copies": copies, "block": BLOCK, **more},
        "devices": [{"count": nodes, "lun": {"rate": 10_000_000_000, "capacity": "4GiB"}}],
        "record": {"log": False},
    }


def metrics(scenario: dict[str, Any], seed: int = 1) -> dict[str, float]:
    return dict(seeklab.run(scenario, seed=seed).metrics)


def drawn(name: str) -> list[tuple[int, int]]:
    """Numbers of nodes and copies that no case file knows."""
    source = random.Random(name)
    return [(source.randrange(9, 25), source.randrange(2, 4)) for _ in range(DRAWS)]


@pytest.mark.parametrize(("nodes", "copies"), drawn("shares"))
def test_local_shares_are_those_of_drawing_copies_without_return(nodes: int, copies: int) -> None:
    def moved(design: str, to: int) -> float:
        scenario = cluster(design, nodes, copies, moves=[{"vm": "vm1", "at": 0, "to": to}])
        scenario["jobs"][1]["size"] = "2GiB"
        return metrics(scenario)["cluster_placed_local_at_move_percent"]

    blocks = (2 << 30) // BLOCK
    for design, expected in (("hash", copies / nodes), ("locality", (copies - 1) / (nodes - 1))):
        error = 100 * math.sqrt(expected * (1 - expected) / blocks)
        assert moved(design, nodes - 1) == pytest.approx(100 * expected, abs=4 * error), design
    assert moved("locality", 1) == 100


@pytest.mark.parametrize(("nodes", "copies"), drawn("lookups"))
def test_lookups_are_those_of_maps_with_as_many_holders_as_copies(nodes: int, copies: int) -> None:
    elsewhere = 1 - copies / nodes
    for design, tables in (("hash", 0), ("locality", 1), ("dedup-spread", 2)):
        scenario = cluster(design, nodes, copies)
        for job in scenario["jobs"]:
            job["number_ios"] = 1000
        reads = 1000 * nodes
        error = math.sqrt(tables * elsewhere * (1 - elsewhere) / reads)
        assert metrics(scenario)["cluster_lookups_per_read"] == pytest.approx(tables * elsewhere, abs=4 * error + 1e-9)


@pytest.mark.parametrize(("nodes", "copies"), drawn("spread"))
def test_hashed_blocks_scatter_as_a_binomial(nodes: int, copies: int) -> None:
    found = [metrics(cluster("hash", nodes, copies), seed)["cluster_blocks_cv_percent"] for seed in range(1, 13)]
    blocks, share = nodes * (256 << 20) // BLOCK, copies / nodes
    expected = 100 * math.sqrt((1 - share) / (blocks * share))
    # The variance over n nodes, averaged over seeds, scatters like a chi-square with n - 1 degrees of freedom each.
    mean_square = sum(value * value for value in found) / len(found)
    assert mean_square == pytest.approx(expected**2, rel=4 * math.sqrt(2 / (len(found) * (nodes - 1))))


@pytest.mark.parametrize(("nodes", "copies"), drawn("bandwidth"))
def test_protecting_again_takes_bytes_over_the_bandwidth_of_those_who_send(nodes: int, copies: int) -> None:
    source = random.Random(nodes)
    link = source.randrange(200, 2000) * 1_000_000
    lost = [{"node": source.randrange(nodes), "at": "1ms"}]
    for design, senders in (("hash", nodes - 1), ("locality", nodes - 1)):
        found = metrics(cluster(design, nodes, copies, link=link, failures=lost))
        assert found["cluster_unprotected_blocks"] == 0
        assert found["cluster_reprotect_s"] == pytest.approx(
            found["cluster_reprotect_bytes"] / (senders * link), rel=0.1
        )
    pairs = nodes // 2 * 2
    found = metrics(cluster("redirect-pairs", pairs, link=link, failures=[{"node": 3, "at": "1ms"}]))
    assert found["cluster_reprotect_bytes"] == 2 * (256 << 20)
    assert found["cluster_reprotect_s"] == pytest.approx(2 * (256 << 20) / link, rel=0.1)


@pytest.mark.parametrize("pairs", [2, 3, 5])
def test_what_pairs_store_follows_from_duplicates_drawn_over_the_whole_cluster(pairs: int) -> None:
    duplicates = random.Random(pairs).randrange(20, 70)
    share = duplicates / 100
    # Of the contents that began elsewhere, a pair stores those that at least one of its own blocks repeats.
    foreign = (1 - share) * (pairs - 1) * (1 - math.exp(-share / (pairs * (1 - share))))
    found = metrics(cluster("dedup-pairs", 2 * pairs, duplicates=duplicates))
    assert found["cluster_space_percent"] == pytest.approx(100 * (1 - share + foreign), rel=0.02)
    spread = metrics(cluster("dedup-spread", 2 * pairs, duplicates=duplicates))
    assert spread["cluster_space_percent"] == pytest.approx(100 * (1 - share), rel=0.02)


@pytest.mark.parametrize(
    ("changes", "path", "says"),
    [
        ({"copies": 3, "nodes": 2}, "cluster.copies", "2"),
        ({"design": "dedup-pairs", "nodes": 5}, "cluster.nodes", "5"),
        ({"moves": [{"vm": "vm0", "to": 6}]}, "cluster.moves[0].to", "6"),
        ({"failures": [{"node": 0}, {"node": 1}]}, "cluster.failures", ""),
        ({"nodes": 2, "failures": [{"node": 0}]}, "cluster.failures", ""),
        ({"nodes": 3, "copies": 3, "failures": [{"node": 0}]}, "cluster.failures", "100%"),
        ({"failures": [{"node": 6}]}, "cluster.failures[0].node", "6"),
        ({"duplicates": 120}, "cluster.duplicates", "95"),
        ({"duplicates": -1}, "cluster.duplicates", "-1"),
        ({"desing": "hash"}, "cluster.desing", "design"),
    ],
)
def test_a_cluster_that_cannot_be_is_refused_and_says_what_is_lost(
    changes: dict[str, object], path: str, says: str
) -> None:
    scenario = cluster("hash", 6)
    scenario["cluster"].update(changes)
    with pytest.raises(seeklab.SeeklabError) as caught:
        seeklab.run(scenario)
    found = [problem for problem in caught.value.problems if problem.path == path]
    assert any(says in problem.message for problem in found), caught.value


def test_more_copies_than_nodes_is_one_mistake_and_told_as_one() -> None:
    scenario = cluster("hash", 2)
    scenario["cluster"].update({"copies": 3, "failures": [{"node": 0}]})
    with pytest.raises(seeklab.SeeklabError) as caught:
        seeklab.run(scenario)
    assert [problem.path for problem in caught.value.problems] == ["cluster.copies"]
