"""Notebook 09, what did the benchmark measure: what the learner writes."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from seeklab._case import case
from seeklab.course.task import UnconvertedTask as Task

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

CASE, FAR = "bonnie-decoded", "one-window-per-rtt"
TESTS = ("putc", "put_block", "rewrite", "getc", "get_block", "seeks", "seq_create", "seq_stat", "seq_del")
PARTS = ("process", "protocol", "network", "devices")
LIMITS = ("latency", "client CPU", "network", "devices")
OTHERS: tuple[tuple[dict[str, float], str], ...] = (
    ({"process": 76, "protocol": 100, "network": 21, "devices": 2}, "client CPU"),
    ({"process": 3, "protocol": 2, "network": 10, "devices": 98}, "devices"),
    ({"process": 30, "protocol": 40, "network": 60, "devices": 50}, "latency"),
)
"""Busy shares in percent that this client and server do not show, and the limit."""
FRAME, OF_FRAME, HEADER = 1448, 90, 140
FILES = ("putc", "put_block", "rewrite", "getc", "get_block", "seeks")
SHORT = {**{f"jobs[{name}].size": "1MiB" for name in FILES}, "jobs[seeks].number_ios": 1, "record.log": False}
"""Files so small that only the tests of names take time."""
NEAR = 0.03
FULL = 85


@cache
def _busy() -> Mapping[str, tuple[dict[str, float], str]]:
    metrics = case(CASE).with_({"record.log": False}).run().metrics
    return {
        test: (
            {part: metrics[f"{test}.{part}_busy_share_percent"] for part in PARTS},
            LIMITS[round(metrics[f"{test}.limiter"])],
        )
        for test in TESTS
    }


def _limit_wrong(answer: Any) -> str | None:  # noqa: ANN401 -- whatever the learner has made
    if not callable(answer):
        return f"Wanted is a function of a dictionary of busy shares; this is {type(answer).__name__}."
    limit: Callable[[dict[str, float]], Any] = answer
    seen = [(test, busy, truth) for test, (busy, truth) in _busy().items()]
    seen += [(f"another system, {busy}", busy, truth) for busy, truth in OTHERS]
    for name, busy, truth in seen:
        said = limit(dict(busy))
        if said == truth:
            continue
        if said not in LIMITS:
            return f"{name}: you say {said!r}; the words are {', '.join(LIMITS)}."
        fullest = max(busy, key=lambda part: busy[part])
        if truth == "latency":
            return (
                f"{name}: you say {said}, and the busiest part, {fullest}, is busy for {busy[fullest]:.0f} % of the "
                "time. That is not full. No part is, so the test waits for one answer after the other."
            )
        if said == "latency":
            return (
                f"{name}: you say latency, but {fullest} is busy for {busy[fullest]:.0f} % of the time. That is full."
            )
        return f"{name}: you say {said}; the fullest part is {fullest}, {busy[fullest]:.0f} %, which is {truth}."
    return None


def _wire_truth(payload: int) -> int:
    return payload + HEADER + OF_FRAME * -(-(payload + HEADER) // FRAME)


def _wire_wrong(answer: Any) -> str | None:  # noqa: ANN401 -- whatever the learner has made
    if not callable(answer):
        return f"Wanted is a function of a number of bytes; this is {type(answer).__name__}."
    on_the_wire: Callable[[int], Any] = answer
    for payload in (32768, 8192, FRAME - HEADER, FRAME - HEADER + 1, 1):
        truth, said = _wire_truth(payload), float(on_the_wire(payload))
        if said == truth:
            continue
        told = f"For {payload:,} bytes you give {said:,.6g}, and the right number is {truth:,}: "
        frames = -(-payload // FRAME)
        if said in (payload + OF_FRAME * frames, payload + HEADER + OF_FRAME * frames):
            return told + "the 140 bytes of the message's own header travel in the frames too. Cut payload and header."
        if not said.is_integer() or said == truth - OF_FRAME:
            return told + "the last frame is seldom full, but it still adds its 90 bytes. Round up."
        return told + "payload and header, and 90 bytes for each frame that they are cut into."
    return None


@cache
def _creates(round_trip_us: int) -> float:
    changes = {**SHORT, "network.round_trip": f"{round_trip_us}us"}
    return case(CASE).with_(changes).run().metrics["seq_create.write_iops"]


def _distance_wrong(answer: Any) -> str | None:  # noqa: ANN401 -- whatever the learner has made
    if not callable(answer):
        return f"Wanted is a function of a round trip in microseconds; this is {type(answer).__name__}."
    creates: Callable[[int], Any] = answer
    here = _creates(64)
    for round_trip in (64, 164, 500, 2000):
        truth, said = _creates(round_trip), float(creates(round_trip))
        if abs(said - truth) <= NEAR * truth:
            continue
        told = f"For a round trip of {round_trip} µs you give {said:,.4g} creates a second, and the run {truth:,.1f}. "
        if abs(said - here * 64 / round_trip) <= NEAR * here:
            return told + "Not all of a create is distance: a part of it stays when the round trip shrinks to nothing."
        if abs(said - 1e6 / (1e6 / here + round_trip - 64)) <= NEAR * truth:
            return told + "That is one more round trip for each file. A create is 18 operations, one after the other."
        return told + "Take the time of a create here, 1e6 / 680 µs, and add what 18 round trips have become longer."
    return None


def _buffer_wrong(answer: Any) -> str | None:  # noqa: ANN401 -- whatever the learner has made
    if not callable(answer):
        return f"Wanted is a function of bits per second and a round trip in seconds; this is {type(answer).__name__}."
    needed: Callable[[float, float], Any] = answer
    for bits_per_s, round_trip_s in ((1e9, 0.15), (1e8, 0.08), (1e10, 0.02)):
        size = int(needed(bits_per_s, round_trip_s))
        in_flight = bits_per_s / 8 * round_trip_s
        told = f"For {bits_per_s / 1e9:g} Gbit/s over {1000 * round_trip_s:g} ms you give {size:,} bytes: "
        if abs(size / (8 * in_flight) - 1) < NEAR:
            return told + "those are bits. A byte has eight of them."
        if size > 4 * in_flight:
            return (
                told + f"more than four times what can be under way, {in_flight:,.0f}. Each connection would need it."
            )
        if size < 4096:  # noqa: PLR2004 -- bytes of a page, less than any socket has
            return told + "no socket has so little. Is the round trip taken in seconds?"
        both = {"network.client_buffer": size, "network.server_buffer": size}
        load = {"jobs[client].iodepth": 64, "jobs[client].size": int(20 * in_flight) >> 20 << 20, "record.log": False}
        path = {"network.bits_per_s": int(bits_per_s), "network.round_trip": f"{round_trip_s * 1000:g}ms"}
        busy = case(FAR).with_({**both, **load, **path}).run("both-1m").metrics["network.to_client_busy_share_percent"]
        if busy < FULL:
            return told + f"the link is busy for {busy:.0f} % of the time, and {FULL} are wanted."
    return None


_BEFORE = 'import seeklab\ncase = seeklab.case("bonnie-decoded")\nrun = case.run()\n'

TASKS = {
    "bonnie/limit": Task(
        question=(
            "Write the rule as a function of a dictionary. Its keys are process, protocol, network and devices; each "
            "value is the share of the time, in per cent, for which that part was busy. If a part was busy for more "
            "than 90 %, the function gives 'client CPU', 'network' or 'devices', for the busiest part if there are "
            "several; otherwise it gives 'latency'. Process and protocol run on the client's CPU."
        ),
        wants="a function of a dictionary that gives one of four words",
        wrong=_limit_wrong,
        why="The part that is busy all the time is the limit. Where no part is, too few requests are in flight.",
        hints=(
            "max(busy, key=busy.get) is the name of the busiest part.",
            "If its share is at most 90, the word is latency.",
            "Process and protocol become client CPU; the other two keep their names.",
        ),
        setup=_BEFORE,
        answer=(
            "def limit(busy):\n"
            "    fullest = max(busy, key=busy.get)\n"
            "    if busy[fullest] <= 90:\n"
            '        return "latency"\n'
            '    return "client CPU" if fullest in ("process", "protocol") else fullest'
        ),
    ),
    "bonnie/wire": Task(
        question=(
            "A message begins with 140 bytes of headers, and its payload follows. Both together are cut into pieces of "
            "at most 1448 bytes. Each piece travels in a frame of its own, which adds 90 bytes. Write a function of "
            "the bytes of payload that gives the bytes on the wire."
        ),
        wants="a function of a number of bytes that gives a number of bytes",
        wrong=_wire_wrong,
        why="What a message costs on the wire can be worked out to the byte.",
        hints=(
            "What is cut is payload + 140.",
            "-(-a // b) divides whole numbers and rounds up; math.ceil does it too.",
            "payload + 140 + 90 * frames",
        ),
        setup=_BEFORE,
        answer="def wire_bytes(payload):\n    return payload + 140 + 90 * -(-(payload + 140) // 1448)",
    ),
    "bonnie/distance": Task(
        question=(
            "With a round trip of 64 µs the client creates 680 files a second, one at a time, and each create is 18 "
            "round trips, one after the other. Write a function that takes a round trip in µs and gives "
            "the creates a second. It is tried at up to 2,000 µs and may be wrong by 3 %."
        ),
        wants="a function of a number of microseconds that gives creates a second",
        wrong=_distance_wrong,
        why="A fixed part, and eighteen times the round trip: a faster processor or network changes little of it.",
        hints=(
            "How many µs does one create take at 64 µs?",
            "Each of 18 round trips becomes longer by round_trip - 64.",
            "1e6 divided by the sum of both.",
        ),
        setup=_BEFORE,
        answer="def creates(round_trip_us):\n    return 1e6 / (1e6 / 680 + 18 * (round_trip_us - 64))",
    ),
    "bonnie/buffer": Task(
        question=(
            "How large must the socket buffers of both sides be to keep a link full? Write a function of bits per "
            "second and of a round trip in seconds that gives bytes. It is tried on three links, and a buffer more "
            "than four times too large does not pass."
        ),
        wants="a function of two numbers that gives a number of bytes",
        wrong=_buffer_wrong,
        why="It is the number of bytes that are under way when the first one is acknowledged: bandwidth times delay.",
        hints=(
            "Until the first acknowledgement is back, the sender has sent for a whole round trip.",
            "Bits per second / 8 are bytes per second.",
            "bits_per_s / 8 * round_trip_s, and perhaps a little more.",
        ),
        setup=_BEFORE,
        answer="def buffer(bits_per_s, round_trip_s):\n    return int(bits_per_s / 8 * round_trip_s)",
    ),
}
