"""Tables at the end of every notebook: documented facts, what-ifs, and sources."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from seeklab._case import case as load_case
from seeklab._facts import facts as judge_facts
from seeklab.data.format import format_number
from seeklab.notebook._tables import Rows

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

SMALL_S = 1e-3
"""Times below this, in seconds, are shown in microseconds."""


def fact_table(*cases: str, only: Sequence[str] = ()) -> Rows:
    """Return a table of the facts of these cases: the documented value, the simulated value, and the verdict.

    `only` selects facts by their ids. A miss and a contradiction include their reason.
    """
    facts = [_readable(fact) for name in cases for fact in _judged(name, only)]
    return Rows(
        ["fact", "what", "kind", "documented", "simulated", "unit", "tolerance", "verdict"],
        [
            (
                fact["id"],
                fact["title"],
                fact["kind"],
                format_value(fact["documented"]),
                format_value(fact["simulated"]),
                "µs" if fact["unit"] == "us" else fact["unit"],
                fact["tolerance"],
                fact["verdict"],
            )
            for fact in facts
        ],
    )


def _readable(fact: dict[str, Any]) -> dict[str, Any]:
    """Return a fact in microseconds if its seconds would start with zeros."""
    documented, simulated = fact["documented"], fact["simulated"]
    seconds = [*(documented if isinstance(documented, (list, tuple)) else [documented]), simulated]
    numbers = [second for second in seconds if second is not None]
    if fact["unit"] != "s" or not numbers or max(map(abs, numbers)) >= SMALL_S or not any(numbers):
        return fact
    in_us = [second * 1e6 for second in seconds[:-1]]
    return {
        **fact,
        "documented": in_us if isinstance(documented, (list, tuple)) else in_us[0],
        "simulated": None if simulated is None else simulated * 1e6,
        "unit": "µs",
    }


def _judged(case: str, only: Sequence[str]) -> list[dict[str, Any]]:
    if not only:
        return judge_facts(case)
    chosen = [fact["id"] for fact in load_case(case).facts if fact["id"] in only]
    return [fact for id_ in chosen for fact in judge_facts(case, id_)]


def what_if_table(case: str, metric: str, label: str, *, scale: float = 1.0, only: Sequence[str] = ()) -> Rows:
    """Run a case's what-ifs; return a table of a metric before and after, with the explanation of each.

    `scale` divides the metric; `only` selects what-ifs by their titles.
    """
    chosen = load_case(case)
    titles = {variant["name"]: variant["title"] for variant in chosen.document["variants"]}
    rows = []
    for item in chosen.document["what_ifs"]:
        if only and item["title"] not in only:
            continue
        before, after = (
            chosen.with_(changes).with_({"record.log": False}).run(item["variant"]).metrics.get(metric)
            for changes in (dict[str, object](), item["set"])
        )
        numbers = [format_value(None if value is None else value / scale) for value in (before, after)]
        rows.append((f"{item['title']} ({titles[item['variant']]})", *numbers, item["surprise"]))
    return Rows(["what if", label, "then", "because"], rows)


def source_table(case: str) -> Rows:
    """Return a table of an incident's source, and of the parts that the model includes."""
    document: Mapping[str, Any] = load_case(case).document
    source, model = document["source"], document["model"]
    return Rows(
        ["", "about the source and the model"],
        [
            ("source", source["name"]),
            *([("address", source["url"])] if source.get("url") else []),
            ("exact in the source", source["note"]),
            ("in the model", "; ".join(model["in"])),
            ("not in the model", "; ".join(model["out"])),
        ],
    )


def format_value(value: object) -> str:
    """Return a number with three digits, a range with "to", and any other value as text."""
    if isinstance(value, (list, tuple)):
        return " to ".join(map(format_value, value))
    return format_number(value) if value is None or isinstance(value, (int, float)) else str(value)
