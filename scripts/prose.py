"""`make prose`: check the texts that people read against the rules of `scripts/prose.toml`.

`scripts/prose_counts.txt` stores how many findings each file has. A count may only fall: `make update what=prose`
lowers it, and moves it with a file that was renamed. `scripts/run prose FILE...` prints all findings of those files.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from collections import Counter
from dataclasses import dataclass
from fnmatch import fnmatch
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from console import ROOT, StepFailedError, main, say
from prose_text import READERS, Passage, passages
from steps import CRATES

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

RULES = ROOT / "scripts" / "prose.toml"
COUNTS = ROOT / "scripts" / "prose_counts.txt"
AGAIN = "run `make update what=prose`"

READ = (
    *("*.md", "web/*.html", "scripts/*.j2"),
    *("notebooks/*.ipynb", "solutions/*.ipynb"),
    *("engine/cases/*.toml", "engine/presets/*.toml", "engine/families.toml", "docs/*.toml"),
    *("engine/python/seeklab/*.py", "scripts/*.py", "tests/reference_pages.py", "nbgrader_config.py", "docs/*.py"),
    *(f"engine/{crate}/src/*.rs" for crate in CRATES),
    *("web/src/*.ts", "web/vite/*.ts"),
)
"""Files with texts that people read. `*` also matches `/`."""
REFERENCE = tuple(f"docs/{name}.md" for name in ("incidents", "course", "validation", "command-line"))
GENERATED = (*REFERENCE, "docs/instructor/incidents.md", "docs/reference/public-jobs.md")
"""Files whose texts come from other files."""
TESTS = re.compile(r"(?:^|/)tests(?:/|\.rs$)")

_END = re.compile(r"(?<![.\s][A-Za-z])(?<!e\.g)(?<!i\.e)(?<!\bvs)[.!?][\"')*_\]]*\s+(?=[\"'(*_\[`]*[A-Z0-9`{])")
_WORD = re.compile(r"[^\s]*[A-Za-z0-9{][^\s]*")
_MARKUP = "*_\"'([#>-+ \n\t"


class Finding(NamedTuple):
    """A sentence that a rule matches."""

    line: int
    rule: str
    sentence: str
    use: str


@dataclass(frozen=True)
class Rule:
    """A pattern to avoid."""

    name: str
    pattern: str
    use: str
    """What to write instead."""
    bad: str
    good: str
    """Examples; a test checks the pattern against them."""
    allowed: tuple[str, ...] = ()
    """Parts of sentences that contain a true use."""
    is_sentence: bool = False
    """It applies to full sentences and to docs, not to titles."""

    @cached_property
    def compiled(self) -> re.Pattern[str]:
        """Return the compiled pattern."""
        return re.compile(self.pattern)

    def matches(self, sentence: str, *, is_doc: bool) -> Iterator[int]:
        """Yield the offset of each match that is not allowed."""
        if self.is_sentence and not is_doc and sentence[-1:] not in ".;":
            return
        for found in self.compiled.finditer(sentence):
            if not any(self._covers(text, sentence, found) for text in self.allowed):
                yield found.start()

    @staticmethod
    def _covers(text: str, sentence: str, found: re.Match[str]) -> bool:
        starts = (one.start() for one in re.finditer(re.escape(text), sentence))
        return any(start <= found.start() and found.end() <= start + len(text) for start in starts)


@dataclass(frozen=True)
class Rules:
    """All rules."""

    max_words: int
    rules: tuple[Rule, ...]

    def check(self, passage: Passage) -> Iterator[Finding]:
        """Yield what is wrong in a passage."""
        for start, sentence in sentences(passage.text):
            line = passage.line_at(start)
            flat = re.sub(r"\s", " ", sentence)
            words = len(_WORD.findall(flat))
            if words > self.max_words:
                yield Finding(line, "long sentence", flat, f"{words} words; at most {self.max_words}, aim for 25")
            for rule in self.rules:
                for offset in rule.matches(flat, is_doc=passage.is_doc):
                    yield Finding(line + sentence.count("\n", 0, offset), rule.name, flat, rule.use)


def load() -> Rules:
    """Read the rules."""
    document = tomllib.loads(RULES.read_text(encoding="utf-8"))
    rules = (Rule(**{**rule, "allowed": tuple(rule.get("allowed", ()))}) for rule in document["rules"])
    return Rules(document["max_words"], tuple(rules))


def sentences(text: str) -> Iterator[tuple[int, str]]:
    """Yield each sentence with its offset, without the marks before and the space after it."""
    ends = [*(found.end() for found in _END.finditer(text)), len(text)]
    for start, end in zip([0, *ends], ends, strict=False):
        sentence = text[start:end].lstrip(_MARKUP)
        if sentence:
            yield end - len(sentence), sentence.rstrip().rstrip("*_\"')")


def files() -> list[str]:
    """List the files with texts, relative to the repository."""
    command = ("git", "ls-files", "--cached", "--others", "--exclude-standard")
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.split("\n")
    return sorted(
        name
        for name in set(listed) - set(GENERATED)
        if any(fnmatch(name, pattern) for pattern in READ) and not TESTS.search(name) and (ROOT / name).exists()
    )


def find(names: Iterable[str]) -> dict[str, list[Finding]]:
    """Check files."""
    rules = load()
    return {name: sorted(one for passage in passages(ROOT / name) for one in rules.check(passage)) for name in names}


def stored() -> dict[str, int]:
    """Read the stored count of each file; a file without one has 0."""
    lines = (line.rsplit(" ", 1) for line in COUNTS.read_text(encoding="utf-8").splitlines())
    return {name: int(count) for name, count in lines}


def risen(counts: Mapping[str, int], limits: Mapping[str, int]) -> list[str]:
    """Name the files with more findings than are stored. New files may share the counts of files that are gone."""
    moved = sum(count for name, count in limits.items() if name not in counts)
    new = [name for name, count in counts.items() if count and name not in limits]
    more = [name for name, count in counts.items() if name in limits and count > limits[name]]
    return more if sum(counts[name] for name in new) <= moved else sorted([*more, *new])


def write(counts: Mapping[str, int]) -> None:
    """Store the counts."""
    lines = (f"{name} {count}\n" for name, count in sorted(counts.items()) if count)
    COUNTS.write_text("".join(lines), encoding="utf-8")


def show(name: str, findings: Iterable[Finding]) -> None:
    """Print findings, one line each."""
    for line, rule, sentence, use in findings:
        say(f"{name}:{line}: {rule}: {sentence}  ({use})")


def prose(arguments: Sequence[str]) -> int:
    """Check all files, or print all findings of those that are named."""
    if arguments and arguments != ["--store"]:
        missing = [name for name in arguments if not (ROOT / name).is_file() or (ROOT / name).suffix not in READERS]
        if missing:
            message = f"{', '.join(missing)}: not a file of a kind that `make prose` reads"
            raise StepFailedError(message)
        found = find(arguments)
        for name in found:
            show(name, found[name])
        return 0
    found = find(files())
    counts = {name: len(findings) for name, findings in found.items()}
    limits = stored()
    over = risen(counts, limits)
    for name in over:
        show(name, found[name])
        say(f"{name}: findings: {counts[name]}, stored: {limits.get(name, 0)}. Rewrite the new sentences.\n")
    if arguments:  # lower what fell even if something else has risen, and keep what new files may take over
        gone = {name: count for name, count in limits.items() if over and name not in counts}
        lowered = {name: limits.get(name, 0) if name in over else count for name, count in counts.items()}
        write(gone | lowered)
    if over:
        return 1
    if not arguments and {name: count for name, count in counts.items() if count} != limits:
        say(f"There are fewer findings than stored; {AGAIN}.")
        return 1
    total = Counter(one.rule for findings in found.values() for one in findings)
    with_some = sum(map(bool, counts.values()))
    say(f"{total.total()} findings in {with_some} of {len(counts)} files; none is new.")
    for rule, count in total.most_common(5):
        say(f"  {count:5} {rule}")
    return 0


if __name__ == "__main__":
    main(lambda: prose(sys.argv[1:]))
