"""Incidents at other parameters, with noise, as tools would have recorded them; and the signatures made of some.

    python tests/blind.py engine/python/seeklab/diagnosis/signatures.json

writes the signatures anew, from draws that no test uses. It takes some minutes.
"""

from __future__ import annotations

import json
import random
import sys
from math import exp
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import seeklab
from seeklab.diagnosis.evidence import Evidence, Op, read_evidence
from seeklab.diagnosis.features import features
from seeklab.diagnosis.signatures import MECHANISMS, NONE

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

MAX_OPS = 8_000
MAX_RUN = 60_000
"""Operations of a run, so that none takes minutes."""
SPREAD = 0.25
NOISE = 0.05
DRAWS = 4
"""Of each incident, for the signatures."""
DRAWN = frozenset(
    (
        *("rate", "rate_iops", "thinktime", "latency", "outer_rate", "inner_rate", "interface_rate", "read", "program"),
        *("rtt", "bandwidth", "cpu_speed", "seek_average", "overhead"),
    )
)
"""Fields of a scenario that are drawn anew: speeds and loads."""
ROUNDED = frozenset(("rate_iops", "cpu_speed"))


class Drawn(NamedTuple):
    """A system as tools recorded it, and what it is."""

    mechanism: str
    incident: str
    evidence: Evidence


def numbers(scenario: Any, path: str = "") -> Iterator[tuple[str, str, float]]:
    """Give the fields of a scenario that may be drawn: path, name, value."""
    if isinstance(scenario, dict):
        for name, value in scenario.items():
            at = f"{path}.{name}" if path else name
            if name in DRAWN and isinstance(value, (int, float)) and not isinstance(value, bool) and value > 0:
                yield at, name, value
            else:
                yield from numbers(value, at)
    elif isinstance(scenario, list):
        for index, item in enumerate(scenario):
            yield from numbers(item, f"{path}[{index}]")


def draw_incident(name: str, seed: int) -> Drawn:
    """Run an incident at other speeds and loads."""
    source = random.Random(f"{name} {seed}")
    case = seeklab.case(name)
    bounds: dict[str, object] = {"record.log": True, "limits.operations": MAX_RUN}
    changes = dict(bounds)
    for path, field, value in numbers(case.scenario()):
        drawn = value * exp(source.gauss(0, SPREAD))
        changes[path] = drawn if field in ROUNDED else max(1, round(drawn))
    try:
        result = case.with_(changes).run(seed=source.randrange(1, 1 << 30))
    except seeklab.SeeklabError:
        # Some numbers contradict others when each is drawn alone; the load and the seed then differ only.
        kept = {path: value for path, value in changes.items() if path.startswith("jobs")} | bounds
        try:
            result = case.with_(kept).run(seed=source.randrange(1, 1 << 30))
        except seeklab.SeeklabError:
            result = case.with_(bounds).run(seed=source.randrange(1, 1 << 30))
    return Drawn(MECHANISMS[name], name, recorded(result, source))


PLAIN_DEVICES = ("hdd-7200", "nvme", "ssd-sata", "lun-100mb", "nvme-pcie4")
PLAIN_JOBS: tuple[Mapping[str, Any], ...] = (
    {"rw": "randread", "bs": "4KiB", "iodepth": 1},
    {"rw": "randread", "bs": "8KiB", "iodepth": 16},
    {"rw": "read", "bs": "128KiB", "iodepth": 4},
    {"rw": "write", "bs": "1MiB", "iodepth": 2},
    {"rw": "randrw", "bs": "16KiB", "iodepth": 8, "rwmixread": 70},
    {"rw": "randwrite", "bs": "4KiB", "iodepth": 4},
)


def draw_plain(seed: int) -> Drawn:
    """Run a plain device with a plain load and no fault."""
    source = random.Random(f"plain {seed}")
    job = dict(source.choice(PLAIN_JOBS)) | {"name": "plain", "size": "8GiB", "number_ios": 3000, "norandommap": True}
    device = PLAIN_DEVICES[seed % len(PLAIN_DEVICES)]
    document = {"jobs": [job], "devices": [{"name": "disk", "preset": device}]}
    result = seeklab.run(document, seed=source.randrange(1, 1 << 30))
    return Drawn(NONE, device, recorded(result, source))


def recorded(result: seeklab.Result, source: random.Random) -> Evidence:
    """Take of a run what tools would have seen, each time a little off."""
    found = Evidence()
    ops = result.ops
    columns = (ops["job"], ops["op"], ops["offset"], ops["bytes"], ops["submit_ns"], ops["latency_ns"])
    rows = list(zip(*columns, strict=True))
    first = source.randrange(0, max(1, len(rows) - MAX_OPS))
    for job, op, offset, size, submit, latency in rows[first : first + MAX_OPS]:
        off = exp(source.gauss(0, NOISE))
        found.ops.append(Op(int(job), int(op), int(offset), int(size), int(submit), max(1, round(latency * off))))
    document = json.loads(result.text("iostat-json"))
    result.close()
    for disk in document["sysstat"]["hosts"][0]["statistics"][0]["disk"]:
        for column in disk:
            if column not in ("disk_device", "util"):
                disk[column] *= exp(source.gauss(0, NOISE))
    found.devices += list(of_sysstat(document))
    return found


def of_sysstat(document: Mapping[str, Any]) -> list[list[Any]]:
    """Read iostat's JSON as the diagnosis does."""
    from tempfile import NamedTemporaryFile

    with NamedTemporaryFile("w", suffix=".json") as file:
        json.dump(document, file)
        file.flush()
        try:
            return read_evidence([file.name]).devices
        except seeklab.SeeklabError:
            return []


def write_signatures(path: Path) -> None:
    """Draw every incident several times, and store the features."""
    examples: list[dict[str, Any]] = []
    for name in MECHANISMS:
        for seed in range(DRAWS):
            drawn = draw_incident(name, seed)
            examples.append({"incident": name, "features": rounded(features(drawn.evidence))})
            sys.stderr.write(f"{name} {seed}: {len(drawn.evidence.ops)} requests\n")
    for seed in range(6 * len(PLAIN_DEVICES)):
        drawn = draw_plain(seed)
        examples.append({"incident": NONE, "features": rounded(features(drawn.evidence))})
    text = ",\n".join(json.dumps(example) for example in examples)
    path.write_text(f"[\n{text}\n]\n", encoding="utf-8")


def rounded(values: Mapping[str, float]) -> dict[str, float]:
    """Keep three digits."""
    return {name: round(value, 3) for name, value in values.items()}


if __name__ == "__main__":
    write_signatures(Path(sys.argv[1]))
