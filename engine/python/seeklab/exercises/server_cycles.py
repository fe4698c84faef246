"""The assignment on a server's cycles: more work from the same cores, by settings of a card and an allocator.

Three loads: streams of many clients, a client with one request at a time, and small reads. As found, the card has a
transmit ring for every core and delays interrupts for long. Every request gets a buffer for the largest one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from seeklab._case import case as load_case
from seeklab._question import Question
from seeklab.exercises._shapes import Shape, System, at_least, at_most, named
from seeklab.judge import Evidence, Settings

if TYPE_CHECKING:
    import random
    from collections.abc import Mapping

RINGS, BLANK, FRAMES = "server.nic.rings", "server.nic.blank", "server.nic.blank_frames"
BUFFERS = ("server.buffers.size", "server.buffers.object_cache")
STREAMS_TIMES, PING_TIMES, READS_TIMES = 1.25, 0.6, 1.4

QUESTIONS = {
    "streams_mib_per_s": Question("As found: how many MiB/s do the streams get?", unit="MiB/s"),
    "reads_twice_the_cores": Question(
        "As found, with twice the cores: how many times as many small reads a second?", unit="x"
    ),
}


def _drawn(source: random.Random) -> System:
    known = {
        "cores": source.choice((14, 16, 18)),
        "blank_us": source.randrange(160, 260, 20),
        "clients": source.randrange(56, 73, 8),
    }
    told = (
        f"{known['cores']} cores of 2.3 GHz and a 10 Gbit/s card with as many transmit rings, which delays an "
        f"interrupt for up to {known['blank_us']} us or 32 frames; {known['clients']} clients stream, one "
        "requests 512 bytes at a time, and 256 read 8 KiB each"
    )
    return System(known, told)


def _found(system: System) -> dict[str, Any]:
    return {
        "server.cores": system["cores"],
        RINGS: system["cores"],
        BLANK: f"{system['blank_us']}us",
        "record.log": False,
    }


def card(system: System, settings: Mapping[str, Any], seed: int = 1) -> tuple[float, float]:
    """Run streams and the single client; return MiB/s and ms."""
    own = {name: value for name, value in settings.items() if name not in BUFFERS}
    load = {"jobs[streams].numjobs": system["clients"], "jobs[streams].number_ios": 50}
    found = load_case("nic-tuning").with_({**_found(system), **load, **own}).run("two-rings", seed=seed).metrics
    return found["streams.read_mib_per_s"], found["ping.read_latency_mean_ms"]


def small(system: System, settings: Mapping[str, Any], seed: int = 1) -> float:
    """Run the small reads; return their rate a second."""
    own = {name: value for name, value in settings.items() if name in BUFFERS or name == "server.cores"}
    changes = {"server.cores": system["cores"], "jobs[clients].number_ios": 20, "record.log": False, **own}
    return float(load_case("tlb-shootdown").with_(changes).run("worst-case", seed=seed).metrics["clients.read_iops"])


def _near(system: System, seed: int) -> dict[str, float]:
    streams, _ = card(system, {}, seed)
    twice = small(system, {"server.cores": 2 * round(system["cores"])}, seed) / small(system, {}, seed)
    return {"streams_mib_per_s": streams, "reads_twice_the_cores": twice}


WHY = named(
    one_ring="a ring has one holder at a time, which posts all frames while the other cores wait; use more than one "
    "ring, but fewer than one for each core",
    each_frame="an interrupt for every frame costs the streams their cycles; a short time limits the wait of a lone "
    "frame and still groups the others",
    many_rings="with a ring for every core, most rings are idle, and taking over an idle ring costs locks; with few "
    "rings, one core posts for the others",
    delayed_interrupt="a client with one request at a time waits for the card to report a lone frame",
    unmapped_buffers="small reads gain nothing: each request unmaps a buffer larger than the allocator keeps, and "
    "must interrupt every other core for that",
)


def _judge(system: System, settings: Mapping[str, Any], seed: int) -> list[Evidence]:
    before, alone = card(system, {}, seed)
    streams, ping = card(system, settings, seed)
    why = WHY["one-ring" if settings.get(RINGS) == 1 else "each-frame" if settings.get(FRAMES) == 1 else "many-rings"]
    reads, least = small(system, settings, seed), READS_TIMES * small(system, {}, seed)
    return [
        at_least("streams", streams, STREAMS_TIMES * before, "MiB/s", seed, why),
        at_most("one thing at a time", ping, PING_TIMES * alone, "ms", seed, WHY["delayed-interrupt"]),
        at_least("small reads", reads, least, "1/s", seed, WHY["unmapped-buffers"]),
    ]


SHAPE = Shape(
    id="server-cycles",
    what="server",
    kinds={"any": _drawn},
    questions=QUESTIONS,
    near=_near,
    judge=_judge,
    parts=3,
    fix=Settings(
        (RINGS, BLANK, FRAMES, *BUFFERS),
        {
            "server.cores": (
                "there are no more cores; each would have to answer every call to unmap a buffer, so there would "
                "be fewer small reads"
            )
        },
    ),
    hints=(
        "Three complaints, three causes: rings, delayed interrupts, buffers. Change one and look at the three numbers.",
        "For rings, try 1, 2, 4 and the number of cores. For interrupts, compare a short time with one frame.",
        "A buffer stays mapped if the allocator keeps its size (up to 128 KiB), or if it is kept for the next request.",
    ),
)
system, briefing = SHAPE.own, SHAPE.briefing
ASSIGNMENT, check, hint = SHAPE.exercise()
