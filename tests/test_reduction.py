"""Buffers as fio makes them: our files against those that the real fio writes, through the same compressor."""

from __future__ import annotations

import shutil
import subprocess
from typing import TYPE_CHECKING

import pytest

import seeklab
from seeklab import SeeklabError

if TYPE_CHECKING:
    from pathlib import Path

CASE = "compressible-data"
SIZE = 4 << 20

OPTIONS: list[dict[str, object]] = [
    {},
    {"buffer_compress_percentage": 50},
    {"buffer_compress_percentage": 30, "buffer_compress_chunk": 8192},
    {"buffer_compress_percentage": 75, "buffer_compress_chunk": 65536},
    {"buffer_compress_percentage": 50, "buffer_pattern": "0xdeadbeef", "refill_buffers": True},
    {"buffer_compress_percentage": 50, "refill_buffers": False},
    {"refill_buffers": True},
    {"refill_buffers": False, "scramble_buffers": False},
    {"buffer_pattern": "0xdeadbeef"},
    {"zero_buffers": True},
]


def ours(options: dict[str, object]) -> dict[str, float]:
    """Give our reduction of 4 MiB written with these options, by fio 3.33's rules."""
    asked = {"fio": "3.33", **options}
    metrics = seeklab.case(CASE).with_({"reduction": asked}).run().metrics
    names = ("after_zeros", "after_duplicates", "after_compression")
    return {name: metrics[f"reduction_{name}_bytes"] for name in names}


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_real_fio_writes_what_reduces_to_the_same(options: dict[str, object], tmp_path: Path) -> None:
    fio = shutil.which("fio")
    if fio is None:
        pytest.skip("fio is missing: apt-get install fio")
    version = subprocess.run([fio, "--version"], capture_output=True, text=True, check=True).stdout.strip()
    if version != "fio-3.33":
        pytest.skip(f"{version} may follow other rules than fio-3.33, which is modelled")
    given = [f"--{name}={int(value) if isinstance(value, bool) else value}" for name, value in options.items()]
    written = tmp_path / "written"
    job = ["--name=a", f"--filename={written}", "--rw=write", "--bs=64k", f"--size={SIZE}", "--ioengine=sync"]
    subprocess.run([fio, *job, *given, f"--output={tmp_path / 'log'}"], check=True, cwd=tmp_path)
    real = seeklab.reduce(written.read_bytes())
    assert real["bytes"] == SIZE
    for name, value in ours(options).items():
        assert value == pytest.approx(real[name], rel=0.03, abs=4096), f"{name}: {real}"


def test_scrambled_zeros_are_no_zeros_and_compress_well() -> None:
    # How well depends on the clock: files of the real fio 3.33 with these options came out at 264 to 316 kB of 4 MiB.
    left = ours({"zero_buffers": True, "scramble_buffers": True})
    assert left["after_duplicates"] == SIZE
    assert 250_000 < left["after_compression"] < 350_000


def test_dedupe_takes_about_its_share() -> None:
    # 1024 buffers: the standard deviation of the share is 1.4 points.
    metrics = seeklab.case(CASE).with_({"reduction": {"dedupe_percentage": 30, "buffers": 1024}}).run().metrics
    assert metrics["reduction_duplicates_share_percent"] == pytest.approx(30, abs=5)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"reduction.buffer_compress_percentage": 101}, r"buffer_compress_percentage: .*100"),
        ({"reduction.dedupe_percentage": -1}, r"dedupe_percentage: .*0"),
        ({"reduction.buffer_pattern": "deadbeef"}, r"buffer_pattern: .*0xdeadbeef"),
        ({"reduction.fio": "2.1.3", "reduction.dedupe_percentage": 10}, r"dedupe_percentage: .*2\.1\.3"),
        ({"reduction.fio": "1.0"}, r"reduction\.fio: .*2\.1\.3"),
        ({"reduction.buffer_colour": "red"}, r"buffer_colour"),
    ],
)
def test_options_that_cannot_be_are_refused(changes: dict[str, object], words: str) -> None:
    with pytest.raises(SeeklabError, match=words):
        seeklab.case(CASE).with_(changes).run()
