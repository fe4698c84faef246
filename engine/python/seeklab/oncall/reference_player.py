"""The reference player of the open benchmark: naive rules over the protocol, and the table of a player's scores.

The player is a program like any other: it starts `seeklab oncall --protocol` and sees what every player sees. Its rules
are what a beginner knows: two looks, always the same, and for each a few signs. It knows no platform. With a seed and a
level it plays one shift and prints the exchange, with long texts cut.

    python -m seeklab.oncall.reference_player [SEED LEVEL]
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from typing import TYPE_CHECKING, Any

from seeklab.oncall.printed import numbers

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    Ask = Callable[..., dict[str, Any]]

LOOKS = ("iostat -x", "pidstat -d")
SHORT_QUEUE, LONG_AWAIT_MS, TIMES_OF_OTHERS = 4.0, 10.0, 3.0
LONGEST_SHOWN = 48
"""Characters of a text in a printed exchange."""
SIGNS: Mapping[str, tuple[str, ...]] = {
    "short queue": ("few requests", "one or two", "limit", "buffer", "too few", "one at a time"),
    "long wait": ("late", "order of arrival", "head off", "slower", "spent its credits", "stops"),
    "busy": ("processor", "thread", "lock"),
}
"""Words of causes that go with a sign, the most likely first."""


def play(ask: Ask, seed: int, level: int) -> dict[str, Any]:
    """Play one shift; return the answer to `done`."""
    opened = ask(do="open", seed=seed, level=level)
    seen = {look: numbers(ask(do="look", command=look)["output"]) for look in LOOKS}
    order = list(_ranked(seen, opened["causes"]))
    for cause in order:
        answer = ask(do="name", cause=1 + opened["causes"].index(cause))
        if not answer["tries"]:
            break
    return ask(do="done")


def _ranked(seen: Mapping[str, Mapping[str, float]], causes: list[str]) -> Iterator[str]:
    """Yield causes, the likeliest first."""
    loud = _loudest(seen["pidstat -d"])
    signs = [loud] if loud else []
    devices = seen["iostat -x"]
    queue = max((value for name, value in devices.items() if name.endswith("aqu-sz")), default=0.0)
    wait = max((value for name, value in devices.items() if name.endswith("_await")), default=0.0)
    signs += SIGNS["short queue"] if queue < SHORT_QUEUE else SIGNS["long wait"] if wait > LONG_AWAIT_MS else ()
    signs += SIGNS["busy"]
    told = []
    for sign in signs:
        told += [cause for cause in causes if sign in cause.lower() and cause not in told]
    yield from [*told, *(cause for cause in causes if cause not in told)]


def _loudest(processes: Mapping[str, float]) -> str | None:
    """Return the words of the program, besides the application, that moves several times as much as the others."""
    rates: dict[str, float] = {}
    for name, value in processes.items():
        found = re.fullmatch(r"(\w+) kB_(?:rd|wr)/s", name)
        if found and found[1] != "app":
            rates[found[1]] = max(value, rates.get(found[1], 0.0))
    words = {"web": "web server", "backup": "backup", "batch": "batch job"}
    for name, rate in rates.items():
        if all(rate > TIMES_OF_OTHERS * other for one, other in rates.items() if one != name):
            return words.get(name, name)
    return None


def table(rows: list[dict[str, Any]]) -> str:
    """Return the scores of a player by level, as a table of Markdown."""
    lines = [
        "| level | shifts | points of 100 | all causes named | change holds | looks |",
        "|---|---|---|---|---|---|",
    ]
    for level in [*sorted({row["level"] for row in rows}), None]:
        some = [row for row in rows if level in (row["level"], None)]
        mean = sum(row["score"]["total"] for row in some) / len(some)
        right, holds = (sum(row[name] for row in some) for name in ("right", "holds"))
        looks = sum(len(row["looks"]) for row in some) / len(some)
        name = "all" if level is None else level
        lines.append(f"| {name} | {len(some)} | {mean:.1f} | {right} | {holds} | {looks:.1f} |")
    return "\n".join(lines)


def exchange(ask: Ask, seed: int, level: int) -> str:
    """Play one shift; return what was sent and received, a line for each, with long texts cut."""
    lines: list[str] = []

    def asked(**message: Any) -> dict[str, Any]:
        answer = ask(**message)
        lines.extend((f"> {json.dumps(message)}", f"< {json.dumps(_cut(answer), ensure_ascii=False)}"))
        return answer

    play(asked, seed, level)
    return "\n".join(lines)


def _cut(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _cut(one) for name, one in value.items()}
    if isinstance(value, list):
        return [*map(_cut, value[:1]), *(["..."] if len(value) > 1 else [])]
    if isinstance(value, str) and len(value) > LONGEST_SHOWN:
        return value[: LONGEST_SHOWN - 4] + " ..."
    return value


def benchmark(ask: Ask, player: Callable[[Ask, int, int], dict[str, Any]] = play) -> list[dict[str, Any]]:
    """Play all shifts of the benchmark; return the answers to `done`, each with seed and level."""
    shifts = ask(do="hello", version=1)["benchmark"]
    return [{**shift, **player(ask, shift["seed"], shift["level"])} for shift in shifts]


def main() -> None:
    """Play the benchmark over a pipe and print the table, or one shift and print the exchange."""
    one = [int(word) for word in sys.argv[1:3]]
    command = (sys.executable, "-m", "seeklab.cli", "oncall", "--protocol")
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as server:  # noqa: S603 -- our own program
        sent, received = server.stdin, server.stdout
        if sent is None or received is None:
            raise RuntimeError

        def ask(**message: Any) -> dict[str, Any]:
            sent.write(json.dumps(message) + "\n")
            sent.flush()
            answer: dict[str, Any] = json.loads(received.readline())
            if not answer["ok"]:
                raise RuntimeError(answer["error"]["message"])
            return answer

        print(exchange(ask, *one) if one else table(benchmark(ask)))  # noqa: T201 -- a program for the terminal
        sent.close()


if __name__ == "__main__":
    main()
