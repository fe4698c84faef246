"""A mechanism's own curve, point by point."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from seeklab._host import engine

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


def curve(name: str, at: Sequence[int | str], settings: Mapping[str, object] | None = None) -> list[dict[str, Any]]:
    """Give points of a curve: `[{"x", "y", "unit"}]`.

    `openzfs-delay` and `openzfs-async-writes` take dirty bytes, `zfs2008-limit` the present limit. Points and settings
    are numbers or texts such as "4GiB" and "500us".
    """
    request = {"name": name, "at": list(at), "set": dict(settings or {})}
    points: list[dict[str, Any]] = engine().call("curve", request)
    return points
