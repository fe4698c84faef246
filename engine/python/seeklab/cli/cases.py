"""`seeklab cases`: list the cases, or describe one."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

import seeklab
from seeklab._field import in_the_field
from seeklab.cli._exit import DONE
from seeklab.cli._output import print_json, print_table

if TYPE_CHECKING:
    from argparse import Namespace

    from seeklab.cli._commands import Commands

IN_JSON = ("id", "code", "title", "family", "source", "variants", "controls")
ABOUT = ("id", "code", "title", "symptom", "source")
WIDTH = 110


def add(commands: Commands) -> None:
    """Add the command."""
    added = commands.add("cases", cases, "List the cases, or describe one with what tools showed of it in the field.")
    added.add_argument("case", metavar="CASE", nargs="?", help="describe this case")


def cases(options: Namespace) -> int:
    """List the cases."""
    if options.case is not None:
        return _about(options)
    found = seeklab.cases()
    if options.json:
        print_json([{name: case[name] for name in IN_JSON if name in case} for case in found])
    else:
        rows = [(case["id"], ", ".join(case["variants"]), case["title"]) for case in found]
        print_table(("case", "variants", "title"), rows)
    return DONE


def _about(options: Namespace) -> int:
    document = seeklab.case(options.case).document
    rows = in_the_field(document["id"])
    if options.json:
        print_json({**{name: document[name] for name in ABOUT}, "field": rows})
        return DONE
    print(f"{document['code']} {document['title']} ({document['id']})")
    print(textwrap.fill(document["symptom"], WIDTH))
    source = document["source"]
    print(textwrap.fill(f"Source: {source['name']} {source.get('url', '')}".rstrip(), WIDTH))
    if rows:
        print("\nIn the field")
    for row in rows:
        address = f" {row['url']}" if "url" in row else ""
        print(
            textwrap.fill(f"- {row['tool']}: {row['numbers']}. {row['says']}{address}", WIDTH, subsequent_indent="  ")
        )
    return DONE
