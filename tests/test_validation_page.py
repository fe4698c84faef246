"""What the page on validation tells is in step with the tests it names and with the model."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import seeklab
import synthetic
from steps import SYNTHETIC_FILES, VALIDATION

ROOT = Path(__file__).resolve().parents[1]
ORACLES = json.loads((VALIDATION / "oracles.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("oracle", ORACLES, ids=lambda oracle: oracle["what"])
def test_an_oracle_that_is_told_of_is_a_test_that_exists(oracle: dict[str, str]) -> None:
    source = (ROOT / oracle["file"]).read_text(encoding="utf-8")
    assert f" {oracle['test']}(" in source


def test_the_synthetic_trace_is_missed_by_a_few_per_cent_reads_and_writes_apart() -> None:
    found = seeklab.validate_drive(*SYNTHETIC_FILES)
    assert found["requests"] == synthetic.REQUESTS
    assert 0.005 < found["demerit"] < 0.10
    assert found["read"]["demerit"] != found["write"]["demerit"]


def test_a_drive_that_turns_slower_than_its_file_says_is_noticed(tmp_path: Path) -> None:
    parameters, trace = SYNTHETIC_FILES
    drive = synthetic.drive()
    drive["mechanics"]["Rotation speed (in rpms)"] /= 2
    other = tmp_path / "drive.json"
    other.write_text(json.dumps(drive), encoding="utf-8")
    as_filed = seeklab.validate_drive(parameters, trace)
    slower = seeklab.validate_drive(other, trace)
    assert slower["demerit"] > 2 * as_filed["demerit"]


@pytest.mark.parametrize("percent", [7, 14, 28])
def test_the_curve_of_write_amplification_solves_its_own_equation(percent: int) -> None:
    (point,) = seeklab.curve("ssd-write-amplification", [percent])
    valid = 1 - 1 / point["y"]
    # Of the pages in the oldest block a share survives that all the writes since have left alone.
    survivors = 2.718281828459045 ** (-(1 + percent / 100) * (1 - valid))
    assert valid == pytest.approx(survivors, rel=1e-9)


def test_no_over_provisioning_is_refused_with_a_sentence() -> None:
    with pytest.raises(seeklab.SeeklabError, match="1 to 400"):
        seeklab.curve("ssd-write-amplification", [0])


def test_an_unknown_curve_is_told_the_nearest_of_all_models() -> None:
    with pytest.raises(seeklab.SeeklabError, match='"ssd-write-amplification"'):
        seeklab.curve("write-amplification", [7])
    with pytest.raises(seeklab.SeeklabError, match=r"openzfs-delay.*ssd-write-amplification"):
        seeklab.curve("zzz", [7])
