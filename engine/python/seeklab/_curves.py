"""A mechanism's own curve, point by point."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from seeklab.engine.host import engine

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


def curve(name: str, at: Sequence[int | str], settings: Mapping[str, object] | None = None) -> list[dict[str, Any]]:
    """Return points of a curve: `[{"x", "y", "unit"}]`.

    `openzfs-delay` and `openzfs-async-writes` take dirty bytes, `zfs2008-limit` takes the current limit. Points and
    settings are numbers or texts such as "4GiB" and "500us".

    >>> seeklab.curve("openzfs-delay", ["2GiB", "3GiB"])
    [{'x': 2147483648, 'y': 0, 'unit': 'ns'}, {'x': 3221225472, 'y': 300000, 'unit': 'ns'}]
    """
    request = {"name": name, "at": list(at), "set": dict(settings or {})}
    points: list[dict[str, Any]] = engine().call("curve", request)
    return points


def alignment(start: int | str, *, block: int | str = 4096, bs: int | str = "1MiB") -> dict[str, Any]:
    """Check whether a partition's start is a multiple of the physical block, and compute the cost of a write of `bs`.

    Sizes are bytes, texts such as "32256" or "1MiB", or sectors of 512 bytes such as "63s", as `parted` and `fdisk`
    print them. The result has `aligned`, `into_block`, `extra_reads`, `bytes_written`, and the nearest aligned starts
    `before` and `after`, in bytes.

    >>> found = seeklab.alignment("63s")
    >>> found["aligned"], found["extra_reads"], found["after"]
    (False, 2, 32768)
    """
    found: dict[str, Any] = engine().call("alignment", {"start": start, "block": block, "bs": bs})
    return found


def reduce(data: bytes, *, block: int = 4096, unit: int = 32 << 10) -> dict[str, int]:
    """Return the size of `data` after zero suppression, deduplication and compression, in this order, in bytes.

    `block` is the storage's block in bytes, and `unit` the bytes compressed together; both are at most 1 MiB.
    `compressed_alone` is the size after compression without deduplication.

    >>> seeklab.reduce(bytes(4096) + b"a" * 4096)["after_zeros"]
    4096
    """
    found: dict[str, int] = engine().call("reduce", {"hex": data.hex(), "block": block, "unit": unit})
    return found
