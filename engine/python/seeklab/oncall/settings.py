"""The settings that a player can change on a running system: paths of its scenario, for the layers that it has."""

from __future__ import annotations

import copy
import math
import re
from typing import TYPE_CHECKING, Any

from seeklab._case import validate
from seeklab._errors import Problem, SeeklabError
from seeklab.engine.host import engine

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

PART = re.compile(r"([a-z0-9_]+)(?:\[([^\]]+)\])?$")
ZFS: tuple[str, ...] = ("txg_synctime", "txg_timeout", "write_limit", "shift_bug", "delay", "tick", "record")
OPENZFS: tuple[str, ...] = (
    "dirty_data_max",
    "delay_min_dirty_percent",
    "async_write_min_active",
    "async_write_max_active",
    "txg_timeout",
    "max_active",
)
FIELDS: Mapping[str, tuple[str, ...]] = {
    "zfs.log": ("batch", "slog_limit"),
    "zfs.arc": ("size",),
    "zfs.prefetch": ("on", "streams", "cap"),
    "zfs.l2arc": ("write_max", "feed", "headroom"),
    "network": ("client_buffer", "server_buffer", "mtu"),
    "server.nic": ("rings", "receive_rings", "blank", "blank_frames", "large_send", "copy_threshold"),
    "server.buffers": ("size", "object_cache"),
    "controller": ("shards", "range", "only_spare_cores"),
    "controller.lock": ("exclusive",),
    "protocol": ("target_transaction", "max_transaction", "odx_sizing"),
    "volume.cache": ("size",),
    "volume.prefetch": ("chunk", "per_request", "min_read"),
    "reduction": ("fio", "buffer_compress_percentage", "buffer_compress_chunk", "refill_buffers", "scramble_buffers"),
    "partition": ("start",),
    "monitor": ("window",),
}
"""The fields that can be set, for each part of a system."""
OF_A_JOB: Mapping[str, tuple[str, ...]] = {"copy": ("chunks_per_request", "range")}
OF_A_DEVICE: Mapping[str, tuple[str, ...]] = {
    "hdd": ("queue_policy", "queue_depth", "write_cache"),
    "lun.credits": ("base",),
}
PARTS: Mapping[str, tuple[str, ...]] = {
    "zfs": ("zfs.prefetch",),
    "controller": ("controller.lock",),
    "server": ("server.buffers",),
    "volume": ("volume.prefetch",),
}
"""Optional parts, by the part that they belong to. Their settings are offered even in a system without it, so that
the list does not reveal the cause."""
PARTS_OF_A_DEVICE: Mapping[str, tuple[str, ...]] = {"lun": ("lun.credits",)}
MOST: Mapping[str, tuple[int, str, str]] = {
    "lun.credits.base": (16_000, "16000", "no volume of this kind earns more credits in a second, at any size"),
    "network.client_buffer": (1 << 30, "1GiB", "TCP's largest window"),
    "network.server_buffer": (1 << 30, "1GiB", "TCP's largest window"),
}
"""Upper limits where the model would accept more than a real system offers. The largest volumes with credits earn
16,000 (EBS gp2, from 5,334 GiB). A TCP window can be scaled to 1 GiB at most (RFC 7323)."""
RESTARTS = ("partition", "protocol", "controller.shards", "reduction")
"""Prefixes of the paths whose change stops the application for a while."""


def settable(scenario: Mapping[str, Any]) -> dict[str, Any]:
    """Return every path that can be set on this system, with the value in effect, whether chosen or a default.

    Paths that the system's file system version does not use are not returned.
    """
    told = engine().call("in_effect", {"scenario": dict(scenario)})
    return {path: value for path, value in sorted(_paths(told)) if value is not None or not path.startswith("zfs.")}


def offered(scenario: Mapping[str, Any]) -> list[str]:
    """Return every path that `get` and `set` know: those that can be set, and those of parts that are missing."""
    lacking = {
        f"{part}.{name}"
        for above, parts in PARTS.items()
        if scenario.get(above)
        for part in parts
        for name in FIELDS[part]
    }
    lacking |= {
        f"devices[{device['name']}].{part}.{name}"
        for device in scenario["devices"]
        for above, parts in PARTS_OF_A_DEVICE.items()
        if device.get(above)
        for part in parts
        for name in OF_A_DEVICE[part]
    }
    return sorted(lacking | set(settable(scenario)))


def refusal(path: str, value: object) -> str | None:
    """Return the reason why a value in effect exceeds what a real system offers, or None."""
    for ending, (most, written, why) in MOST.items():
        if path.endswith(ending) and isinstance(value, int | float) and value > most:
            return f"{path}: {value} is too large; the maximum is {written}, {why}"
    return None


def unit_of(path: str) -> str | None:
    """Return the unit of a path's plain numbers if the scenario schema names one, or None."""
    whole: dict[str, Any] = engine().call("schema", {})
    part = whole
    for step in path.split("."):
        found = PART.match(step)
        inside = [one["properties"] for one in _meant(part, whole["$defs"]) if "properties" in one]
        within = next((fields for fields in inside if found and found[1] in fields), None)
        if not found or within is None:
            return None
        part = within[found[1]]
        part = part.get("items", part)
    unit = part.get("x-unit")
    return str(unit).removeprefix("1") if unit else None  # 300 /s, not 300 1/s


def _meant(part: Mapping[str, Any], definitions: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """Yield the meanings of a part of a schema: itself, the part it refers to, and each of its alternatives."""
    yield part
    if "$ref" in part:
        yield from _meant(definitions[part["$ref"].rpartition("/")[2]], definitions)
    for kind in ("anyOf", "oneOf", "allOf"):
        for one in part.get(kind, ()):
            yield from _meant(one, definitions)


def _paths(scenario: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    zfs = scenario.get("zfs")
    if zfs:
        names = OPENZFS if str(zfs.get("era", "")).startswith("openzfs") else ZFS
        yield from ((f"zfs.{name}", zfs.get(name)) for name in names)
    yield from _fields(scenario, FIELDS)
    for kind, of_one in (("jobs", OF_A_JOB), ("devices", OF_A_DEVICE)):
        for one in scenario[kind]:
            yield from ((f"{kind}[{one['name']}].{path}", value) for path, value in _fields(one, of_one))


def _fields(whole: Mapping[str, Any], parts: Mapping[str, tuple[str, ...]]) -> Iterator[tuple[str, Any]]:
    """Yield the fields of the parts that exist."""
    for part, names in parts.items():
        found: Any = whole
        for step in part.split("."):
            found = found.get(step) if isinstance(found, dict) else None
        if isinstance(found, dict):
            yield from ((f"{part}.{name}", found.get(name)) for name in names)


def changed(scenario: Mapping[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    """Return the scenario with other values, by path: checked, and with all values as plain numbers."""
    own: dict[str, Any] = copy.deepcopy(dict(scenario))
    for path, value in changes.items():
        target: Any = own
        *steps, last = path.split(".")
        for step in steps:
            target = _inside(target, step)
        target[last] = value
    return validate(own)


def _inside(target: Any, step: str) -> Any:
    found = PART.match(step)
    if not found:
        raise SeeklabError([Problem(step, "is not part of a path")])
    name, which = found.groups()
    inner = target[name]
    return next(one for one in inner if one["name"] == which) if which else inner


def value_of(text: str) -> object:
    """Parse a value as typed: a number, true or false, or text such as 16MiB."""
    words = {"true": True, "on": True, "yes": True, "false": False, "off": False, "no": False}
    if text.lower() in words:
        return words[text.lower()]
    for kind in (int, float):
        try:
            value = kind(text)
            finite = math.isfinite(value)
        except (ValueError, OverflowError):
            continue
        return value if finite else text
    return text


def needs_a_restart(path: str) -> bool:
    """Return whether the application must stop before this value can be changed."""
    return path.startswith(RESTARTS)
