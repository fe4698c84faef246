"""Extract the text that people read from a source file, by kind of file.

Extraction keeps positions: a passage has the same length and line breaks as its source, and markup and code become
filler. A finding in a passage therefore has a line number.
"""

from __future__ import annotations

import ast
import io
import json
import re
import tokenize
from dataclasses import dataclass
from html.parser import HTMLParser
from typing import TYPE_CHECKING

from console import ROOT

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

SPEC = ROOT / "engine" / "spec"
"""Types of scenarios; pages show their doc comments as help."""

FILLER = "x"
"""Replaces the characters of code and addresses, which no rule should match."""
HOLE = "{}"
"""Replaces a value that a program inserts into a text."""

_WORD = re.compile(r"[A-Za-z]{2,}")
_LABEL = re.compile(r"[A-Z][a-z]+")


@dataclass(frozen=True)
class Passage:
    """A paragraph, a message or a label."""

    line: int
    """Its first line, counted from 1."""
    text: str
    is_doc: bool = False
    """A docstring or a doc comment: its first line says what something is."""

    def line_at(self, offset: int) -> int:
        """Return the line of a character."""
        return self.line + self.text.count("\n", 0, offset)


def passages(path: Path) -> Iterator[Passage]:
    """Yield what people read in a file, in any order."""
    read = read_rust_spec if path.is_relative_to(SPEC) else READERS[path.suffix]
    for found in read(path.read_text(encoding="utf-8")):
        for paragraph in _paragraphs(found):
            text = _plain(paragraph.text)
            if _is_prose(text.strip()):
                yield Passage(paragraph.line, text, paragraph.is_doc)


def _is_prose(text: str) -> bool:
    """Return whether a string has several words, or is one word as on a button; keys and identifiers are neither."""
    return (" " in text and len(_WORD.findall(text)) > 1) or bool(_LABEL.fullmatch(text))


def _paragraphs(passage: Passage) -> Iterator[Passage]:
    """Split at empty lines, list items, headings and cells of tables."""
    pieces = re.finditer(r"(?:(?!\n[ \t]*(?:\n|[-*+>] |#+ |\||\d+\. )).)+", passage.text, re.DOTALL)
    for piece in pieces:
        start = passage.line_at(piece.start())
        cells = piece[0].split("|") if piece[0].lstrip().startswith("|") else [piece[0]]
        for cell in cells:
            text = cell.lstrip("\n")
            yield Passage(start + len(cell) - len(text), text, passage.is_doc)


def _plain(text: str) -> str:
    """Replace code, addresses, tags and comments by as many characters."""
    text = re.sub(r"`[^`]+`", lambda code: "`" + FILLER * (len(code[0]) - 2) + "`", text)
    text = re.sub(r"<!--.*?-->|</?[A-Za-z][^<>]*>", _blank, text, flags=re.DOTALL)
    text = re.sub(r"(?<=\])\([^()\s]*\)", _blank, text)
    return re.sub(r"https?://\S+", lambda address: FILLER * len(address[0]), text)


def _blank(found: re.Match[str]) -> str:
    return re.sub(r"[^\n]", " ", found[0])


def read_markdown(source: str) -> Iterator[Passage]:
    """Yield the text of a Markdown file without its blocks of code."""
    fenced = re.compile(r"^ *```.*?^ *```", re.DOTALL | re.MULTILINE)
    indented = re.compile(r"(?:(?<=\n\n)|\A)(?: {4}[^\n]*\n)+")
    text = indented.sub(_blank, fenced.sub(_blank, source))
    yield Passage(1, text)


def read_python(source: str) -> Iterator[Passage]:
    """Yield the strings and the docstrings of a Python file."""
    tree = ast.parse(source)
    pieces: set[ast.AST] = set()  # of f-strings, which are yielded as one; names of `__all__`
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            pieces.add(node.value)
            yield Passage(node.lineno, _EXAMPLE.sub("", node.value.value), is_doc=True)
        elif isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__":
            pieces.update(ast.walk(node.value))
        elif isinstance(node, ast.JoinedStr):
            constants = [part for part in node.values if isinstance(part, ast.Constant)]
            pieces.update(constants)
            yield Passage(node.lineno, "".join(_text_of(part) for part in node.values))
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and node not in pieces:
            yield Passage(node.lineno, node.value)


_EXAMPLE = re.compile(r"^ *>>> (?:.*\n)*?(?=\s*\n|\Z)", re.MULTILINE)
"""An example in a docstring, up to an empty line."""


def _text_of(part: ast.expr) -> str:
    return str(part.value) if isinstance(part, ast.Constant) else HOLE


def read_notebook(source: str) -> Iterator[Passage]:
    """Yield the text cells of a notebook, and the strings and comments of its code. Outputs are results, not text."""
    lines = source.splitlines()
    position = 0
    for cell in json.loads(source)["cells"]:
        for piece in cell["source"]:
            written = json.dumps(piece, ensure_ascii=False)
            position = next((at for at in range(position, len(lines)) if written in lines[at]), position)
            if piece is cell["source"][0]:
                start = position
        text = "".join(cell["source"])
        read = read_markdown if cell["cell_type"] == "markdown" else _read_cell
        for found in read(text):
            yield Passage(start + found.line, found.text)


def _read_cell(source: str) -> Iterator[Passage]:
    try:
        yield from read_python(source)
    except SyntaxError:
        return  # a cell with a magic command or with dots for the learner to replace
    comments: list[tuple[int, str]] = []
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            text = token.string.lstrip("# ")
            if comments and comments[-1][0] + comments[-1][1].count("\n") + 1 == token.start[0]:
                comments[-1] = (comments[-1][0], f"{comments[-1][1]}\n{text}")
            else:
                comments.append((token.start[0], text))
    yield from (Passage(*comment) for comment in comments)


_TOML = re.compile(r'#[^\n]*|"""\n?(.*?)"""|\'\'\'\n?(.*?)\'\'\'|"((?:\\.|[^"\\\n])*)"|\'([^\'\n]*)\'', re.DOTALL)


def read_toml(source: str) -> Iterator[Passage]:
    """Yield the texts of a TOML file."""
    yield from _strings(source, _TOML)


_RUST = re.compile(
    r"""//[^\n]*|/\*.*?\*/|\br(\#*)"(?P<raw>.*?)"\1|"(?P<text>(?:\\.|[^"\\])*)"|'(?:\\.[^'\n]*|[^'\\\n])'""",
    re.DOTALL,
)
_RUST_TESTS = re.compile(r"^#\[cfg\(test\)\]\s+mod ", re.MULTILINE)


def read_rust(source: str) -> Iterator[Passage]:
    """Yield the strings of a Rust file: messages, titles and units."""
    tests = _RUST_TESTS.search(source)
    for found in _RUST.finditer(source[: tests.start()] if tests else source):
        raw, text = found["raw"], found["text"]
        if raw is not None or text is not None:
            text = raw if text is None else re.sub(r"\\\n\s*", "\n", text).replace("\\n", " \n").replace('\\"', '"')
            yield Passage(_line(source, found.start()), re.sub(r"\{[^{}\s]*\}", HOLE, text))


def read_rust_spec(source: str) -> Iterator[Passage]:
    """Yield the strings and doc comments of a scenario's types."""
    yield from read_rust(source)
    for comment in re.finditer(r"(?:^[ \t]*///[^\n]*\n)+", source, re.MULTILINE):
        text = re.sub(r"^[ \t]*/// ?", "", comment[0], flags=re.MULTILINE)
        yield Passage(_line(source, comment.start()), text.rstrip("\n"), is_doc=True)


_TYPESCRIPT = re.compile(
    r"""//[^\n]*|/\*.*?\*/|"((?:\\.|[^"\\\n])*)"|'((?:\\.|[^'\\\n])*)'|`|[{}]"""
    r"""|/(?![/*])(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\\[\n])+/[a-z]*""",
    re.DOTALL,
)
_TEMPLATE = re.compile(r"(?:\\.|\$(?!\{)|[^`\\$])*", re.DOTALL)
_BEFORE_PATTERN = re.compile(r"(?:[(,=:\[!&|?{};+>]|\breturn|\btypeof|\bcase|^)\s*\Z")


def read_typescript(source: str) -> Iterator[Passage]:
    """Yield the strings and templates of a TypeScript file."""
    found: list[Passage] = []
    _scan_code(source, 0, found)
    yield from found


def _scan_code(source: str, start: int, found: list[Passage]) -> int:
    """Read code to its end, or to the brace that closes a hole of a template; return where it ended."""
    depth, at = 0, start
    while token := _TYPESCRIPT.search(source, at):
        at = token.end()
        first = token[0][0]
        if first == "}":
            if depth == 0 and start > 0:
                return at
            depth -= 1
        elif first == "{":
            depth += 1
        elif first == "`":
            at = _scan_template(source, at, found)
        elif first in "\"'":
            text = token[1] if token[1] is not None else token[2]
            found.append(Passage(_line(source, token.start()), text.replace('\\"', '"').replace("\\'", "'")))
        elif token[0][1] not in "/*" and not _BEFORE_PATTERN.search(source, max(0, token.start() - 40), token.start()):
            at = token.start() + 1  # a division
    return len(source)


def _scan_template(source: str, start: int, found: list[Passage]) -> int:
    """Read a template after its opening mark; return where it ended."""
    pieces, at = [], start
    while piece := _TEMPLATE.match(source, at):
        pieces.append(piece[0])
        at = piece.end()
        if source[at : at + 1] != "$":
            break
        end = _scan_code(source, at + 2, found)
        pieces.append(HOLE + "\n" * source.count("\n", at, end))
        at = end
    found.append(Passage(_line(source, start), "".join(pieces)))
    return at + 1


class _Page(HTMLParser):
    """Collects the text of a page by block, and the attributes that a reader sees or hears."""

    INLINE = frozenset({"a", "abbr", "b", "code", "em", "i", "kbd", "span", "strong", "sub", "sup"})
    SEEN = frozenset({"alt", "aria-label", "content", "description", "label", "placeholder", "title"})

    def __init__(self) -> None:
        super().__init__()
        self.found: list[Passage] = []
        self.block = ""
        self.line = 1
        self.skipped = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        written = self.get_starttag_text() or ""
        self.found += [Passage(self.getpos()[0], value) for name, value in attrs if value and name in self.SEEN]
        self._meet(tag, written)
        if tag in {"script", "style"}:
            self.skipped = tag

    def handle_endtag(self, tag: str) -> None:
        self._meet(tag, "")
        self.skipped = ""

    def handle_data(self, data: str) -> None:
        if not self.skipped:
            self._add(FILLER * len(data) if self.last == "code" else data)

    last = ""

    def _meet(self, tag: str, written: str) -> None:
        self.last = tag if written else ""
        if tag in self.INLINE:
            self._add("\n" * written.count("\n"))
        else:
            self.finish()

    def _add(self, text: str) -> None:
        if not self.block:
            self.line = self.getpos()[0]
        self.block += text

    def finish(self) -> None:
        """End the present block."""
        self.found.append(Passage(self.line, self.block))
        self.block = ""


def read_html(source: str) -> Iterator[Passage]:
    """Yield the text of a page."""
    page = _Page()
    page.feed(re.sub(r"\{[%#].*?[%#]\}|\{\{.*?\}\}", _blank, source, flags=re.DOTALL))
    page.finish()
    yield from page.found


def _strings(source: str, token: re.Pattern[str]) -> Iterator[Passage]:
    for found in token.finditer(source):
        if found.lastindex:
            yield Passage(_line(source, found.start(found.lastindex)), found[found.lastindex])


def _line(source: str, offset: int) -> int:
    return source.count("\n", 0, offset) + 1


READERS: dict[str, Callable[[str], Iterator[Passage]]] = {
    ".md": read_markdown,
    ".py": read_python,
    ".ipynb": read_notebook,
    ".toml": read_toml,
    ".rs": read_rust,
    ".ts": read_typescript,
    ".html": read_html,
    ".j2": read_html,
}
