"""Notebook 09, what did the benchmark measure: its tasks."""

from __future__ import annotations

from functools import cache

from seeklab._case import case
from seeklab.course.task import Task
from seeklab.judge import Cases, Function, Mistake, Word

CASE, FAR = "bonnie-decoded", "one-window-per-rtt"
TESTS = ("putc", "put_block", "rewrite", "getc", "get_block", "seeks", "seq_create", "seq_stat", "seq_del")
PARTS = ("process", "protocol", "network", "devices")
LIMITS = ("latency", "client CPU", "network", "devices")
BUSY = 90
"""Percent of the time above which a part counts as always busy."""
OTHERS: tuple[dict[str, float], ...] = (
    {"process": 76, "protocol": 100, "network": 21, "devices": 2},
    {"process": 3, "protocol": 2, "network": 10, "devices": 98},
    {"process": 30, "protocol": 40, "network": 60, "devices": 50},
)
"""Busy shares, in percent, that this client and server do not show."""
FRAME, OF_FRAME, HEADER = 1448, 90, 140
FILES = ("putc", "put_block", "rewrite", "getc", "get_block", "seeks")
SHORT = {**{f"jobs[{name}].size": "1MiB" for name in FILES}, "jobs[seeks].number_ios": 1, "record.log": False}
"""Files so small that only the tests of names take time."""
HERE_US = 64
LINKS = ((1e9, 0.15), (1e8, 0.08), (1e10, 0.02))
"""Bits per second, and the round trip in seconds."""
MIN_BUFFER = 4096
"""A page: no socket has a smaller buffer."""
FULL = 85


@cache
def _measured() -> tuple[dict[str, float], ...]:
    """Return the busy shares of each test."""
    metrics = case(CASE).with_({"record.log": False}).run().metrics
    return tuple({part: metrics[f"{test}.{part}_busy_share_percent"] for part in PARTS} for test in TESTS)


def _limit(busy: dict[str, float], busy_from: float = BUSY) -> str:
    busiest = max(busy, key=lambda part: busy[part])
    if busy[busiest] <= busy_from:
        return "latency"
    return "client CPU" if busiest in {"process", "protocol"} else busiest


def _shares(busy: dict[str, float]) -> str:
    return "With " + ", ".join(f"{part} busy for {share:.0f}%" for part, share in busy.items())


def _wire(payload: int) -> int:
    return payload + HEADER + OF_FRAME * -(-(payload + HEADER) // FRAME)


@cache
def _creates(round_trip_us: int) -> float:
    changes = {**SHORT, "network.round_trip": f"{round_trip_us}us"}
    return case(CASE).with_(changes).run().metrics["seq_create.write_iops"]


def _in_flight(bits_per_s: float, round_trip_s: float) -> float:
    return bits_per_s / 8 * round_trip_s


@cache
def _busy_percent(size: int, bits_per_s: float, round_trip_s: float) -> float:
    """Return how busy a link is with socket buffers of this size."""
    changes = {
        "network.client_buffer": size,
        "network.server_buffer": size,
        "network.bits_per_s": int(bits_per_s),
        "network.round_trip": f"{round_trip_s * 1000:g}ms",
        "jobs[client].iodepth": 64,
        "jobs[client].size": int(20 * _in_flight(bits_per_s, round_trip_s)) >> 20 << 20,
        "record.log": False,
    }
    return case(FAR).with_(changes).run("both-1m").metrics["network.to_client_busy_share_percent"]


def _fills(size: float, bits_per_s: float, round_trip_s: float) -> bool:
    if not MIN_BUFFER <= size <= 4 * _in_flight(bits_per_s, round_trip_s):
        return False
    return _busy_percent(int(size), bits_per_s, round_trip_s) >= FULL


_BEFORE = 'import seeklab\ncase = seeklab.case("bonnie-decoded")\nrun = case.run()\n'

TASKS = (
    Task(
        "bonnie/limit",
        question=(
            "Write the rule as a function of a dictionary. Its keys are process, protocol, network and devices; each "
            "value is the percentage of the time when that part was busy. If a part was busy for more than "
            f"{BUSY}%, return 'client CPU', 'network' or 'devices', whichever fits the busiest part; otherwise return "
            "'latency'. Process and protocol run on the client's CPU."
        ),
        kind=Function("a dictionary of busy shares"),
        check=Cases(
            _limit,
            lambda: [(busy,) for busy in (*_measured(), *OTHERS)],
            _shares,
            (
                Mistake("word", f"The words are {', '.join(LIMITS)}.", when=lambda found, *_: found not in LIMITS),
                Mistake(
                    "no-part-is-full",
                    f"No part is busy for more than {BUSY}% of the time: the test waits for one answer after the "
                    "other.",
                    when=lambda _, truth, __: truth == "latency",
                ),
                Mistake(
                    "never-full", f"The busiest part is busy for more than {BUSY}%. That is full.", gives="latency"
                ),
                Mistake("other", "Take the busiest part. Process and protocol are both the client's CPU."),
            ),
            gives=Word(),
        ),
        why="The part that is always busy is the limit. If there is none, too few requests are in flight.",
        hints=(
            "max(busy, key=busy.get) is the name of the busiest part.",
            f"If its share is at most {BUSY}, the word is latency.",
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
    Task(
        "bonnie/wire",
        question=(
            f"A message starts with {HEADER} bytes of headers, followed by its payload. Both together are cut "
            f"into pieces of at most {FRAME} bytes. Each piece is sent in its own frame, which adds {OF_FRAME} "
            "bytes. Write a function of the bytes of payload that returns the bytes on the wire."
        ),
        kind=Function("a number of bytes"),
        check=Cases(
            _wire,
            [(payload,) for payload in (32768, 8192, FRAME - HEADER, FRAME - HEADER + 1, 1)],
            "For {payload:,} bytes",
            (
                Mistake(
                    "header-apart",
                    f"The frames also carry the {HEADER} bytes of headers. Cut payload and headers together.",
                    when=lambda found, _, payload: found - payload - OF_FRAME * -(-payload // FRAME) in {0, HEADER},
                ),
                Mistake(
                    "last-frame",
                    f"The last frame is rarely full, but it still adds its {OF_FRAME} bytes. Round up.",
                    when=lambda found, truth, _: not float(found).is_integer() or found == truth - OF_FRAME,
                ),
                Mistake("other", f"Add the payload, the headers, and {OF_FRAME} bytes for each frame that they fill."),
            ),
            unit=" bytes",
            within=0,
        ),
        why="The bytes of a message on the wire can be calculated exactly.",
        hints=(
            f"payload + {HEADER} bytes are cut into frames.",
            "-(-a // b) divides whole numbers and rounds up; so does math.ceil.",
            f"payload + {HEADER} + {OF_FRAME} * frames",
        ),
        setup=_BEFORE,
        answer="def wire_bytes(payload):\n    return payload + 140 + 90 * -(-(payload + 140) // 1448)",
    ),
    Task(
        "bonnie/distance",
        question=(
            f"With a round trip of {HERE_US} µs the client creates 680 files per second, one at a time. Each "
            "create takes 18 round trips, one after the other. Write a function of the round trip in µs that "
            "returns the creates per second. The check tries up to 2,000 µs and accepts an error of 3%."
        ),
        kind=Function("a round trip in microseconds"),
        check=Cases(
            _creates,
            [(HERE_US,), (164,), (500,), (2000,)],
            "For a round trip of {round_trip_us} µs",
            (
                Mistake(
                    "all-distance",
                    "Only part of a create is distance: the rest stays when the round trip shrinks to nothing.",
                    gives=lambda round_trip: _creates(HERE_US) * HERE_US / round_trip,
                ),
                Mistake(
                    "one-round-trip",
                    "That is one round trip per file. A create is 18 operations, one after the other.",
                    gives=lambda round_trip: 1e6 / (1e6 / _creates(HERE_US) + round_trip - HERE_US),
                ),
                Mistake(
                    "other",
                    f"Start from the time of a create at {HERE_US} µs, 1e6 / 680 µs, and "
                    "add what 18 longer round trips add.",
                ),
            ),
            unit=" creates per second",
            within=0.03,
        ),
        why="A fixed part plus eighteen round trips: a faster processor or network changes little.",
        hints=(
            f"How many µs does one create take at {HERE_US} µs?",
            f"Each of 18 round trips becomes longer by round_trip - {HERE_US}.",
            "1e6 divided by the sum of both.",
        ),
        setup=_BEFORE,
        answer="def creates(round_trip_us):\n    return 1e6 / (1e6 / 680 + 18 * (round_trip_us - 64))",
    ),
    Task(
        "bonnie/buffer",
        question=(
            "How large must the socket buffers of both sides be to keep a link full? Write a function of bits "
            "per second and the round trip in seconds that returns bytes. The check tries three links. A buffer "
            "more than four times too large does not pass."
        ),
        kind=Function("bits per second and a round trip in seconds"),
        check=Cases(
            _in_flight,
            LINKS,
            "For {bits_per_s:,.0f} bit/s and a round trip of {round_trip_s:g} s",
            (
                Mistake("bits", "That is in bits. A byte has eight.", times=8),
                Mistake(
                    "too-large",
                    "That is more than four times the bytes that can be in flight. Every connection would need that "
                    "much.",
                    when=lambda found, truth, *_: found > 4 * truth,
                ),
                Mistake(
                    "too-small",
                    "No socket has so small a buffer. Did you use the round trip in seconds?",
                    when=lambda found, *_: found < MIN_BUFFER,
                ),
                Mistake(
                    "other",
                    f"The link is busy for {{match:.0f}}% of the time and must be busy for {FULL}%.",
                    when=lambda found, _, *link: _busy_percent(int(found), *link),
                ),
            ),
            unit=" bytes",
            within=0.03,
            accepts=_fills,
        ),
        why="It is the number of bytes in flight when the first one is acknowledged: bandwidth times delay.",
        hints=(
            "The sender sends for a whole round trip before the first acknowledgement arrives.",
            "Bits per second / 8 are bytes per second.",
            "bits_per_s / 8 * round_trip_s, and perhaps a little more.",
        ),
        setup=_BEFORE,
        answer="def buffer(bits_per_s, round_trip_s):\n    return int(bits_per_s / 8 * round_trip_s)",
    ),
)
