"""No module of the Python package imports, at any depth, a module that imports it, and neither does a folder."""

from __future__ import annotations

import ast
from graphlib import TopologicalSorter
from pathlib import Path
from typing import TYPE_CHECKING

import seeklab

if TYPE_CHECKING:
    from collections.abc import Iterator

PACKAGE = Path(seeklab.__file__).parent


def _name(path: Path) -> str:
    parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {_name(path): path for path in PACKAGE.rglob("*.py")}


def _imported(node: ast.AST) -> Iterator[str]:
    """Name every module that code below a node imports when it runs, inside functions too."""
    if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
        return
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names)
    elif isinstance(node, ast.ImportFrom) and node.module:
        for alias in node.names:
            inner = f"{node.module}.{alias.name}"
            yield inner if inner in MODULES else node.module
    for child in ast.iter_child_nodes(node):
        yield from _imported(child)


IMPORTS = {
    name: {found for found in _imported(ast.parse(path.read_text())) if found in MODULES} - {name}
    for name, path in MODULES.items()
}


def _folder(module: str) -> str:
    """Name the folder of a module; none for a module of the package itself."""
    return MODULES[module].relative_to(PACKAGE).parts[0] if MODULES[module].parent != PACKAGE else ""


def test_no_modules_import_each_other() -> None:
    TopologicalSorter(IMPORTS).prepare()  # raises CycleError with the modules of a cycle


def test_no_folders_import_each_other() -> None:
    folders: dict[str, set[str]] = {_folder(name): set() for name in MODULES}
    for name, found in IMPORTS.items():
        folders[_folder(name)] |= {_folder(other) for other in found} - {_folder(name)}
    del folders[""]  # what all folders use, and the package's public names
    assert len(folders) > 5
    TopologicalSorter({folder: others - {""} for folder, others in folders.items()}).prepare()
