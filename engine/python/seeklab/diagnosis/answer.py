"""The answer to pasted reports: what was found, what it says, its causes, and the next look."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from itertools import islice
from typing import TYPE_CHECKING, Any

from seeklab._errors import Problem, SeeklabError
from seeklab.bring import Block, Found, blocks
from seeklab.bring.archives import is_archive, members
from seeklab.bring.block import JobRow, Request, Sample
from seeklab.bring.redaction import Redactor
from seeklab.data.files import Kind, pasted_text, read_packed, shown
from seeklab.diagnosis.causes import LIKELY, SHOWN, Look, Verdict, verdicts
from seeklab.diagnosis.intervals import tables
from seeklab.diagnosis.readings import are_used, readings
from seeklab.diagnosis.replay import plan_of, replayed

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from os import PathLike

    from seeklab.diagnosis.reading import Reading
    from seeklab.diagnosis.replay import Replay

MAX_REPORT_BYTES, MAX_ARCHIVE_BYTES = 20 << 20, 256 << 20
FILE = Kind("output of tools such as iostat, zpool iostat, fio, dmesg or dd")
MAX_CAUSES = 5
MAX_LOOKS = 2
ASK = Look(
    "iostat -x -y 5 6",
    (
        ("a device is busy, or its requests take long", "add that text here"),
        ("no device is busy", "the time is spent above the devices: measure there"),
    ),
)
"""The look that separates most causes, if there is none yet."""


@dataclass(frozen=True)
class Text:
    """A text of a file, or of a member of an archive; or a note why there is none."""

    source: str
    content: str
    note: str = ""


@dataclass
class Diagnosis:
    """The answer to pasted reports."""

    found: list[Found] = field(default_factory=list)
    readings: list[Reading] = field(default_factory=list)
    causes: list[Verdict] = field(default_factory=list)
    next: list[Look] = field(default_factory=list)
    not_recorded: list[str] = field(default_factory=list)
    replays: list[Replay] = field(default_factory=list)
    """The incidents that ran with the report's numbers, if that was asked for."""

    @property
    def blocks(self) -> list[Block]:
        """Return the blocks of all texts."""
        return [block for found in self.found for block in found.blocks]

    def _are_used(self) -> list[bool]:
        return [bool(self.readings)] if len(self.blocks) == 1 else are_used(self.blocks)

    def document(self) -> dict[str, Any]:
        """Return the answer as JSON."""
        return {
            "blocks": [
                _block(block, is_used=is_used) for block, is_used in zip(self.blocks, self._are_used(), strict=True)
            ],
            "skipped": [
                {"source": found.source, "lines": [part.first, part.last], "text": part.text}
                for found in self.found
                for part in (found.skipped if found.blocks or len(self.found) == 1 else ())
            ],
            "notes": [{"source": found.source, "note": note} for found in self.found for note in found.notes],
            "readings": [reading.document() for reading in self.readings],
            "causes": [_cause(verdict) for verdict in self.causes],
            "next": [
                {"command": look.command, "if": [{"outcome": outcome, "then": then} for outcome, then in look.outcomes]}
                for look in self.next
            ],
            "not_recorded": self.not_recorded,
            "replays": [run.document() for run in self.replays],
        }


def _block(block: Block, *, is_used: bool) -> dict[str, Any]:
    notes = [*block.notes]
    samples = [record for record in block.records if isinstance(record, Sample)]
    if len(samples) > 1 and samples[0].is_since_boot:
        notes.append(f"the first of {len(samples)} samples averages since boot and is left out")
    return {
        "tool": block.tool,
        "source": block.source,
        "lines": [block.first, block.last],
        "used": is_used,
        "note": "; ".join(notes),
    }


def _cause(verdict: Verdict) -> dict[str, Any]:
    has_flushes = any(reading.id.startswith("flushes-") for reading in verdict.supported_by)
    undecided = [what for what in verdict.cause.undecided if not (has_flushes and what.startswith("flushes"))]
    return {
        "cause": verdict.cause.id,
        "sentence": verdict.cause.sentence,
        "incidents": list(verdict.cause.incidents),
        "confidence": verdict.confidence,
        "supported_by": [reading.id for reading in verdict.supported_by],
        "against": [reading.id for reading in verdict.against],
        "undecided_without": undecided,
        "replay": plan.document() if (plan := plan_of(verdict)) is not None else None,
    }


def diagnose(
    files: Sequence[str | PathLike[str]], most_bytes: int = MAX_REPORT_BYTES, *, replays: bool = False
) -> Diagnosis:
    """Return what reports say; with `replays`, also what the incidents do with their numbers.

    Any text is read. SeeklabError is raised if no file can be opened, or none is text.
    """
    if not files:
        raise SeeklabError(
            [Problem("files", "the list is empty; pass output of iostat, zpool iostat, fio, dmesg, ...")]
        )
    return answer([_cut(text) for text in texts(files, most_bytes)], replays=replays)


def redacted(files: Sequence[str | PathLike[str]], most_bytes: int = MAX_REPORT_BYTES) -> list[Text]:
    """Return the texts of reports without names of hosts and users, addresses, serial numbers and paths."""
    redactor = Redactor()
    return [replace(text, content=redactor.redact(text.content)) for text in texts(files, most_bytes)]


def texts(files: Sequence[str | PathLike[str]], most_bytes: int = MAX_REPORT_BYTES) -> list[Text]:
    """Return the texts of files, those in archives included; raise SeeklabError if no file can be read."""
    found: list[Text] = []
    problems: list[Problem] = []
    for path in files:
        try:
            found += _texts(path, most_bytes)
        except SeeklabError as error:
            problems += error.problems
            found.append(Text(shown(path), "", "; ".join(problem.message for problem in error.problems) + "."))
    if len(problems) == len(found):
        raise SeeklabError(problems)
    return found


def _texts(path: str | PathLike[str], most_bytes: int) -> Iterator[Text]:
    """Yield the text of a file, or of each member of an archive."""
    name = shown(path)
    data = read_packed(path, replace(FILE, most_bytes=max(most_bytes, MAX_ARCHIVE_BYTES)))
    if not is_archive(data):
        yield Text(name, pasted_text(name, data, replace(FILE, most_bytes=most_bytes)))
        return
    for member, text in members(data):
        yield Text(f"{name}:{member}", text) if member else Text(name, "", text)


def _cut(text: Text) -> Found:
    found = blocks(text.content, text.source)
    if text.note:
        found.notes.append(text.note)
    return found


def answer(found: list[Found], *, replays: bool = False) -> Diagnosis:
    """Return what cut texts say."""
    all_blocks = [block for each in found for block in each.blocks]
    said = readings(all_blocks)
    causes = verdicts(said)
    runs: list[Replay] = []
    if replays:
        causes, runs = replayed(causes[:MAX_CAUSES])
    return Diagnosis(found, said, causes[:MAX_CAUSES], _next(causes), list(_not_recorded(all_blocks)), runs)


def _next(causes: Sequence[Verdict]) -> list[Look]:
    """Return the looks of the strongest causes; a cause that is shown needs no second one."""
    looks = [verdict.cause.look for verdict in causes if verdict.cause.look is not None]
    if not looks or (causes and causes[0].confidence not in (SHOWN, LIKELY)):
        return [ASK, *islice(looks, MAX_LOOKS - 1)]
    return looks[: 1 if causes[0].confidence == SHOWN else MAX_LOOKS]


def _not_recorded(all_blocks: Sequence[Block]) -> Iterator[str]:
    if not all_blocks:
        return
    devices = list(tables(all_blocks))
    if not devices:
        yield "the devices' own times and queues (iostat -x 1)"
    elif not any(
        row.flushes.per_s is not None
        for block in devices
        for record in block.records
        if isinstance(record, Sample)
        for row in record.rows
    ):
        yield "flushes (iostat -x of sysstat 12.5 or later)"
    if not any(isinstance(record, (JobRow, Request)) for block in all_blocks for record in block.records):
        yield "the time that the application waits for a request"
