"""What is read from files, pipes and the standard input: as it comes, and refused in a sentence that names it."""

from __future__ import annotations

import errno
import gzip
import os
import re
import subprocess
import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import seeklab
from conftest import GIVE_UP_S
from seeklab.data import files as _files
from seeklab.data.files import Kind, read_text
from steps import SYNTHETIC_FILES

if TYPE_CHECKING:
    from conftest import CommandLine

DRIVE, MEASURED = SYNTHETIC_FILES
OBJECTS = "time,object,size\n1,1,1\n2,2,1\n3,1,1\n"
LRU = ("--policy", "lru", "--size", "1000")
KIND = Kind("a list", most_bytes=1 << 25, longest_line=4096)
no_windows = pytest.mark.skipif(os.name == "nt", reason="Windows has no named pipes in folders")


def refusal(path: Path, kind: Kind = KIND) -> str:
    with pytest.raises(seeklab.SeeklabError) as caught:
        read_text(path, kind)
    return str(caught.value)


def peak_kib(arguments: list[str]) -> tuple[int, str]:
    """Run a command; the most memory that it held, and what it said.

    `ru_maxrss` would count what the process of the tests held when it started the command.
    """
    script = "import re, sys; from seeklab import cli; status = cli.main(sys.argv[1:]); "
    script += "print(re.search(r'VmHWM:\\s+(\\d+) kB', open('/proc/self/status').read())[1]); sys.exit(status)"
    command = [sys.executable, "-c", script, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, timeout=GIVE_UP_S, check=False)
    assert done.returncode == 2, done
    return int(done.stdout), done.stderr


@pytest.mark.skipif(sys.platform != "linux", reason="the peak of memory is read from /proc")
@pytest.mark.parametrize("filled_with", [b"\0", b"\n", b"1,1,1\n"], ids=["NULs", "line breaks", "one row"])
@pytest.mark.parametrize("command", ["cache", "validate", "replay"])
def test_a_small_file_that_unpacks_to_a_huge_one_takes_little_memory(
    tmp_path: Path, filled_with: bytes, command: str
) -> None:
    bomb = tmp_path / "bomb.gz"
    with gzip.open(bomb, "wb") as file:
        for _ in range(128):
            file.write(filled_with * ((1 << 21) // len(filled_with)))
    assert bomb.stat().st_size < 400_000
    arguments = {
        "cache": ["cache", str(bomb), *LRU],
        "validate": ["validate", str(DRIVE), str(bomb)],
        "replay": ["replay", str(bomb), "--on", "nvme"],
    }[command]
    peak, said = peak_kib(arguments)
    assert peak < 200 << 10
    assert str(bomb) in said
    assert len(said.splitlines()) == 1


def test_a_line_that_is_too_long_is_told_with_its_number_and_the_limit(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"short\n" * 50_000 + b"x" * 4096 + b"\n" + b"x" * 4097 + b"\n" + b"more\n" * 50_000)
    assert re.fullmatch(rf"{re.escape(str(tmp_path / 'a'))} line 50002: .*\b4096\b.*", refusal(tmp_path / "a"))


def test_a_text_that_is_too_long_is_told_with_the_limit(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"1,1,1\n" * 6_000_000)
    assert "32 MiB" in refusal(tmp_path / "a")


@pytest.mark.parametrize("longest", [1, 4000, 4096])
def test_any_text_comes_out_as_it_is_in_the_file_packed_or_not(tmp_path: Path, longest: int) -> None:
    lines = [f"{number}ü".ljust(number % longest, ".")[: longest - 1] for number in range(200_000 // longest + 300)]
    text = "\n".join(lines) + "\nthe last without a line break"
    half = len(text) // 2
    members = gzip.compress(text[:half].encode()) + gzip.compress(text[half:].encode()) + b"\0" * 512
    for content in (text.encode(), gzip.compress(text.encode()), members):
        (tmp_path / "a").write_bytes(content)
        assert read_text(tmp_path / "a", KIND) == text


@pytest.mark.parametrize("cut", [1, 5, 9, 30])
def test_a_gzip_file_that_was_cut_off_is_damaged(tmp_path: Path, cut: int) -> None:
    (tmp_path / "a").write_bytes(gzip.compress(os.urandom(40_000).hex().encode())[:-cut])
    assert "damaged gzip" in refusal(tmp_path / "a", Kind("a text"))


def test_what_follows_a_gzip_file_and_is_none_is_damage(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(gzip.compress(b"1,1,1\n") + b"more")
    assert "damaged gzip" in refusal(tmp_path / "a")


@no_windows
def test_a_named_pipe_without_a_writer_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_files, "PIPE_PATIENCE_S", 0.2)
    os.mkfifo(tmp_path / "pipe")
    assert str(tmp_path / "pipe") in refusal(tmp_path / "pipe")


@no_windows
def test_a_pipe_may_be_opened_before_its_writer_and_be_written_slowly(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    os.mkfifo(tmp_path / "pipe")

    def write() -> None:
        with (tmp_path / "pipe").open("wb", buffering=0) as pipe:
            for part in (b"o", b"n", b"e\ntwo\n"):
                pipe.write(part)

    writer = threading.Thread(target=write)

    def looked_at_the_clock() -> float:
        if writer.ident is None:
            writer.start()  # by now the pipe is open for reading
        return 0.0

    monkeypatch.setattr(_files, "monotonic", looked_at_the_clock)
    assert read_text(tmp_path / "pipe", KIND) == "one\ntwo\n"
    writer.join()


@pytest.mark.parametrize("packed", [False, True])
def test_validate_reads_a_pipe_and_the_standard_input(command_line: CommandLine, *, packed: bool) -> None:
    content = MEASURED.read_bytes()
    stdin = gzip.compress(content) if packed else content
    wanted = command_line("validate", str(DRIVE), str(MEASURED), "--json").stdout
    assert '"demerit"' in wanted
    assert command_line("validate", str(DRIVE), "-", "--json", stdin=stdin).stdout == wanted
    if Path("/dev/stdin").exists():
        assert command_line("validate", str(DRIVE), "/dev/stdin", "--json", stdin=stdin).stdout == wanted


@pytest.mark.parametrize(
    ("drive", "trace", "wanted"),
    [
        pytest.param("{}", None, "drive.json surfaces: ", id="the drive has no surfaces"),
        pytest.param("{", None, r"drive.json \(file\): .*\bJSON\b", id="the drive is no JSON"),
        pytest.param("none", None, f"none.json: {os.strerror(errno.ENOENT)}", id="no drive"),
        pytest.param(None, "op,lbn\n", r"trace.csv line 1: .*\bblocks\b", id="the trace lacks a column"),
        pytest.param(None, "HEAD\nR,x,1,1,1,x\n", r"trace.csv line 2: .*\bnext_interarrival_us\b", id="a bad number"),
        pytest.param(None, "HEAD\nR,x,999999999,1,1,1\n", "trace.csv request 1: ", id="beyond the drive"),
        pytest.param(None, "", r"trace.csv line 1: .*\bop\b", id="an empty trace"),
        pytest.param(None, "\n\n a,b\n", r"trace.csv line 3: .*\bop\b", id="blank lines first"),
    ],
)
def test_validate_says_which_of_its_two_files_is_wrong(
    command_line: CommandLine, tmp_path: Path, drive: str | None, trace: str | None, wanted: str
) -> None:
    head = MEASURED.read_text().partition("\n")[0]
    (tmp_path / "drive.json").write_text(DRIVE.read_text() if drive is None else drive)
    (tmp_path / "trace.csv").write_text(MEASURED.read_text() if trace is None else trace.replace("HEAD", head))
    done = command_line("validate", "none.json" if drive == "none" else "drive.json", "trace.csv")
    assert (done.returncode, done.stdout) == (2, "")
    assert re.search(f"^seeklab: {wanted}", done.stderr, re.MULTILINE), done.stderr


@pytest.mark.parametrize("content", ["", "\n", "\n \n\t\n", "\ufeff", "time,object,size\n"])
def test_a_trace_without_a_request_is_refused_by_the_caches(
    command_line: CommandLine, tmp_path: Path, content: str
) -> None:
    (tmp_path / "t.csv").write_text(content)
    done = command_line("cache", "t.csv", *LRU)
    assert (done.returncode, done.stdout) == (2, "")
    assert re.match(r"seeklab: t\.csv: .*\btime,object,size\b", done.stderr)


def test_a_sample_may_hold_no_request() -> None:
    (row,) = seeklab.cache(OBJECTS, ["lru"], [1000], one_in=1_000_000)
    assert row["hits"] == 0


@no_windows
def test_a_file_whose_name_is_not_utf_8_is_read_and_named(command_line: CommandLine, tmp_path: Path) -> None:
    name = b"caf\xe9.csv"
    try:
        Path(os.fsdecode(bytes(tmp_path) + b"/" + name)).write_text(OBJECTS + "nonsense\n")
    except OSError:
        pytest.skip("this file system has UTF-8 names only")
    done = command_line("cache", os.fsdecode(name), *LRU)
    assert done.returncode == 2
    assert done.stderr.startswith("seeklab: caf\\xe9.csv line 5: ")
    job = b"t\xe9st.fio"
    Path(os.fsdecode(bytes(tmp_path) + b"/" + job)).write_text("[a]\nrw=read\nsize=64k\nbs=4k\n")
    done = command_line("fio", os.fsdecode(job), "--on", "nvme")
    assert done.returncode == 0, done.stderr
    assert "a: (groupid=0" in done.stdout


@pytest.mark.parametrize("name", ["a\0b", "a\ud800b", ""])
def test_a_name_that_no_file_can_have_is_told(name: str) -> None:
    for call in (
        lambda: seeklab.cache(name, ["lru"], [1]),
        lambda: seeklab.validate_drive(name, name),
        lambda: seeklab.fio(name, "nvme"),
        lambda: seeklab.replay(name, "nvme"),
    ):
        with pytest.raises(seeklab.SeeklabError, match=r"is not a possible file name|No such file"):
            call()
