"""`make prose`: what it reads of each kind of file, what its rules match, and that a count may only fall."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

import prose
import prose_text
from prose import Rule, Rules
from prose_text import Passage

if TYPE_CHECKING:
    from pathlib import Path

PYTHON = '''"""Docstring of a module."""

__all__ = ["Asked"]
LABEL = "Covered"
KEY = "not_a_text"


def greet(name):
    """What a greeting is.

    Second paragraph of it.
    """
    print(f"hello {name!r}, how are {len('inner text here')} you")
    return "one text " "in two parts"
'''
TOML = """# a comment is not read
title = "Title of a case"
id = "no-text"
story = '''
First paragraph,
two lines.

Second paragraph: \"a quotation\".
'''
"""
RUST = r"""//! Module documentation.
/// Documentation of an item.
fn message(size: usize) -> String {
    let mark = '"'; // "a comment with quotes"
    format!("the size {size} is \"too large\"; \
        write less")
}
const RAW: &str = r#"a "raw" text"#;
#[cfg(test)]
mod tests { const T: &str = "text of a test"; }
"""
TYPESCRIPT = r"""// "text in a comment"
const pattern = /["'`] is no text/g;
const half = total / 2, label = 'It\'s a label';
const message = `${count} runs of ${names.map((n) => `case ${n} here`).join(", or ")} have
ended`;
const title = "Covered";
"""
HTML = """<seeklab-page title="Title of the page" class="two words">
  <style>.not read { color: red }</style>
  <p>
    Text with <code>code in it</code> and
    <a href="./a b.html">a link</a>.
  </p>
  {# a comment of the template #}
  <button>Covered</button>
</seeklab-page>
"""
MARKDOWN = """# Title of a page

A paragraph with `code in it`, [a link](docs/a.md)
and more.

- first item
- second item

| cell one | cell two |
|---|---|

    an indented program

```sh
a fenced program
```
<!-- a comment of a page -->
"""
NOTEBOOK = json.dumps(
    {
        "cells": [
            {"cell_type": "markdown", "source": ["# Title of it\n", "\n", "Text of it.\n"], "metadata": {}},
            {
                "cell_type": "code",
                "source": ["# A comment\n", "# of two lines.\n", 'print("text of a program")\n'],
                "outputs": [{"text": ["text of an output"]}],
                "metadata": {},
            },
            {"cell_type": "code", "source": ["answer = ... ...\n", "%not python here"], "outputs": [], "metadata": {}},
        ]
    },
    indent=1,
)


@pytest.mark.parametrize(
    ("name", "source", "expected"),
    [
        (
            "a.py",
            PYTHON,
            [
                (1, "Docstring of a module."),
                (4, "Covered"),
                (9, "What a greeting is."),
                (11, "Second paragraph of it."),
                (13, "hello {}, how are {} you"),
                (13, "inner text here"),
                (14, "one text in two parts"),
            ],
        ),
        (
            "a.toml",
            TOML,
            [
                (2, "Title of a case"),
                (5, "First paragraph, two lines."),
                (8, 'Second paragraph: "a quotation".'),
            ],
        ),
        ("a.rs", RUST, [(5, 'the size {} is "too large"; write less'), (8, 'a "raw" text')]),
        (
            "a.ts",
            TYPESCRIPT,
            [
                (3, "It's a label"),
                (4, "case {} here"),
                (4, "{} runs of {} have ended"),
                (6, "Covered"),
            ],
        ),
        (
            "a.html",
            HTML,
            [(1, "Title of the page"), (4, "Text with xxxxxxxxxx and a link."), (8, "Covered")],
        ),
        (
            "a.md",
            MARKDOWN,
            [
                (1, "# Title of a page"),
                (3, "A paragraph with `xxxxxxxxxx`, [a link] and more."),
                (6, "- first item"),
                (7, "- second item"),
                (9, "cell one"),
                (9, "cell two"),
            ],
        ),
        (
            "a.ipynb",
            NOTEBOOK,
            [
                (6, "# Title of it"),
                (8, "Text of it."),
                (15, "A comment of two lines."),
                (17, "text of a program"),
            ],
        ),
    ],
)
def test_each_kind_of_file_yields_what_people_read(
    name: str, source: str, expected: list[tuple[int, str]], tmp_path: Path
) -> None:
    (tmp_path / name).write_text(source)
    found = [(passage.line, " ".join(passage.text.split())) for passage in prose_text.passages(tmp_path / name)]
    assert sorted(found) == expected


def test_docstrings_are_marked_as_such(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text(PYTHON)
    docs = [passage.line for passage in prose_text.passages(tmp_path / "a.py") if passage.is_doc]
    assert sorted(docs) == [1, 9, 11]


def test_a_scenarios_types_yield_their_documentation_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.rs"
    path.write_text("//! Of a module.\n\n/// Which of two\n/// it is.\npub enum Which {}\n")
    assert list(prose_text.passages(path)) == []
    monkeypatch.setattr(prose_text, "SPEC", tmp_path)
    assert list(prose_text.passages(path)) == [Passage(3, "Which of two\nit is.", is_doc=True)]


@pytest.mark.parametrize("rule", prose.load().rules, ids=lambda rule: rule.name)
def test_each_rule_matches_its_example_and_not_the_rewritten_one(rule: Rule) -> None:
    alone = Rules(1000, (rule,))

    def rules_met(text: str) -> list[str]:
        return [one.rule for one in alone.check(Passage(1, text))]

    assert rules_met(rule.bad) == [rule.name]
    assert rules_met(rule.good) == []
    for allowed in rule.allowed:
        assert rules_met(allowed) == [], "an allowed text"
        assert rule.compiled.search(allowed), "an allowed text that needs no permission"


def test_a_title_may_be_headless_and_a_docstring_may_not() -> None:
    rules = Rules(30, tuple(rule for rule in prose.load().rules if rule.name == "headless opening"))
    assert list(rules.check(Passage(1, "What limits it"))) == []
    assert list(rules.check(Passage(1, "What limits it?"))) == []
    assert [one.rule for one in rules.check(Passage(1, "What limits it", is_doc=True))] == ["headless opening"]


def test_a_long_sentence_is_counted_and_two_short_ones_are_not() -> None:
    rules = Rules(4, ())
    assert [one.rule for one in rules.check(Passage(7, "One two three, four\nfive."))] == ["long sentence"]
    assert list(rules.check(Passage(7, "One two three, four. Five e.g. Six."))) == []


def test_a_finding_has_the_line_of_its_match() -> None:
    rules = Rules(30, (Rule("anew", r"\banew\b", "again", "", ""),))
    found = list(rules.check(Passage(10, "First sentence.\nSecond one\nis made anew.")))
    assert found == [prose.Finding(12, "anew", "Second one is made anew.", "again")]


def test_only_the_allowed_text_is_allowed() -> None:
    rule = Rule("stands", r"\bstands in\b", "is", "", "", allowed=("stands in for",))
    assert list(rule.matches("It stands in for it.", is_doc=False)) == []
    assert list(rule.matches("It stands in for it, and it stands in a row.", is_doc=False)) == [28]


@pytest.mark.parametrize(
    ("counts", "limits", "names"),
    [
        ({"a": 2, "b": 0}, {"a": 2}, []),
        ({"a": 1}, {"a": 2}, []),
        ({"a": 3}, {"a": 2}, ["a"]),
        ({"a": 2, "b": 1}, {"a": 2}, ["b"]),
        ({"a": 1, "b": 1}, {"a": 2}, ["b"]),
        ({"new": 2}, {"old": 2}, []),
        ({"new": 2, "other": 1}, {"old": 2}, ["new", "other"]),
    ],
)
def test_a_count_may_fall_and_move_with_a_renamed_file(
    counts: dict[str, int], limits: dict[str, int], names: list[str]
) -> None:
    assert prose.risen(counts, limits) == names


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder with one text and a stored count of 1 for it."""
    monkeypatch.setattr(prose, "ROOT", tmp_path)
    monkeypatch.setattr(prose, "COUNTS", tmp_path / "counts")
    monkeypatch.setattr(prose, "files", lambda: ["a.md"])
    (tmp_path / "counts").write_text("a.md 1\n")
    return tmp_path


@pytest.mark.parametrize(
    ("text", "check_code", "store_code", "after"),
    [
        ("It is made anew.", 0, 0, "a.md 1\n"),
        ("It is made again.", 1, 0, ""),
        ("It is made anew. It is drawn anew.", 1, 1, "a.md 1\n"),
    ],
)
def test_a_check_fails_unless_the_stored_counts_are_right_and_a_store_only_lowers_them(
    text: str, check_code: int, store_code: int, after: str, checkout: Path
) -> None:
    (checkout / "a.md").write_text(text)
    assert prose.prose([]) == check_code
    assert (checkout / "counts").read_text() == "a.md 1\n"
    assert prose.prose(["--store"]) == store_code
    assert (checkout / "counts").read_text() == after


def test_a_store_lowers_what_fell_though_another_file_has_risen(
    checkout: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(prose, "files", lambda: ["a.md", "b.md", "new.md"])
    (checkout / "counts").write_text("a.md 2\nb.md 1\nold.md 1\n")
    (checkout / "a.md").write_text("It is made anew.")
    (checkout / "b.md").write_text("It is made anew. It is drawn anew.")
    (checkout / "new.md").write_text("It is made anew. It is drawn anew.")
    assert prose.prose(["--store"]) == 1
    assert (checkout / "counts").read_text() == "a.md 1\nb.md 1\nold.md 1\n"
    (checkout / "b.md").write_text("It is made again.")
    (checkout / "new.md").write_text("It is made anew.")
    assert prose.prose(["--store"]) == 0
    assert (checkout / "counts").read_text() == "a.md 1\nnew.md 1\n"


def test_the_files_that_people_read_are_read() -> None:
    names = prose.files()
    for name in ("README.md", "engine/cases/odx-prefetch.toml", "engine/spec/src/job.rs", "web/index.html"):
        assert name in names
    for name in ("engine/python/seeklab/cli/run.py", "web/src/page/case/exportPanel.ts", "docs/terms.md"):
        assert name in names
    assert not any("/tests" in name or name in prose.GENERATED for name in names)
