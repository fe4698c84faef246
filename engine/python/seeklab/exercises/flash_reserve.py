"""The assignment on flash: the spare flash that a drive needs to limit its write amplification.

A rule returns a drive's over-provisioning in percent of its capacity. It is judged on drives with random writes over
all their space, and on drives with a trimmed part. It must be enough, but not much more than enough.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from seeklab._question import Question
from seeklab._result import run as run_scenario
from seeklab.exercises._shapes import Shape, System, at_least, at_most, named
from seeklab.judge import Evidence, Number

if TYPE_CHECKING:
    from seeklab._result import Result

PRESET = "ssd-sata-tlc"
CAPACITY_MIB = 512
WRITES = 60_000
SLACK = 1.15
LESS = 0.75
AMPLIFICATION = "ssd_write_amplification"

QUESTIONS = {
    "ten_times": Question(
        "With 10% of spare flash: how many pages does the drive program for each page written?", unit="x"
    ),
    "thirty_times": Question("And with 30%?", unit="x"),
}


def _drawn(needs: int, trimmed: int = 0) -> System:
    """Return a drive that needs this percentage of spare flash."""
    spare = (1 + needs / 100) / (1 - trimmed / 100) - 1
    known = {"wanted_amplification": round((1 + 1 / spare) / 2, 1), "trimmed_percent": trimmed}
    told = (
        f"at most {known['wanted_amplification']:g} pages programmed for each page written; 4 KiB at random over "
        f"{100 - trimmed}% of the drive, and the other {trimmed}% are trimmed"
    )
    return System(known, told)


def run(system: System, percent: float, seed: int = 1) -> Result:
    """Run a drive in its steady state with this percentage of spare flash."""
    trimmed = round(system["trimmed_percent"])
    app = {"name": "app", "filename": "drive", "rw": "randwrite", "bs": 4096, "iodepth": 32, "norandommap": True}
    jobs = [{**app, "size": f"{100 - trimmed}%", "number_ios": WRITES, "stonewall": bool(trimmed)}]
    if trimmed:
        part = {"offset": f"{100 - trimmed}%", "size": f"{trimmed}%"}
        jobs = [{"name": "trim", "filename": "drive", "rw": "trim", "bs": "1MiB", **part}, *jobs]
    flash = {"overprovision": percent, "pages_per_block": 128, "precondition": "random"}
    drive = {"name": "ssd", "preset": PRESET, "ssd": {"capacity": f"{CAPACITY_MIB}MiB", "flash": flash}}
    return run_scenario({"jobs": jobs, "devices": [drive], "record": {"log": False}}, seed=seed)


def _near(system: System, seed: int) -> dict[str, float]:
    whole = System({**system.known, "trimmed_percent": 0}, system.told)
    return {
        name: run(whole, percent, seed).metrics[AMPLIFICATION]
        for name, percent in (("ten_times", 10), ("thirty_times", 30))
    }


WHY = named(
    too_little="too little spare flash: the blocks that the drive collects are still nearly full of valid pages, and "
    "it must program each of those again",
    no_trim="too much: trimmed space holds no valid pages, so it counts as spare too; compare the flash with the "
    "space in use, not with the capacity",
    too_much="too much: the drive would meet the limit with far less, and spare flash costs money",
)


def _judge(system: System, percent: float, seed: int) -> list[Evidence]:
    wanted = system["wanted_amplification"]
    enough, less = (run(system, share * percent, seed).metrics[AMPLIFICATION] for share in (1, LESS))
    much = WHY["no-trim" if system["trimmed_percent"] else "too-much"]
    return [
        at_most(
            f"pages for each page written with {percent:.3g}%, {system}",
            enough,
            SLACK * wanted,
            "",
            seed,
            WHY["too-little"],
        ),
        at_least(f"the same with {LESS * percent:.3g}%", less, wanted, "", seed, much),
    ]


SHAPE = Shape(
    id="flash-reserve",
    what="drive",
    # A check accepts a range of about 1.6. Drives of one kind need up to three times as much flash, and the third kind
    # needs half as much as the second at about the same limit, so that no two constants fit all four.
    kinds={
        "whole, little": lambda source: _drawn(source.randrange(9, 13)),
        "whole, much": lambda source: _drawn(source.randrange(26, 31)),
        "trimmed, much": lambda source: _drawn(source.randrange(14, 16), source.randrange(8, 13)),
        "trimmed, little": lambda source: _drawn(source.randrange(7, 9), source.randrange(8, 13)),
    },
    questions=QUESTIONS,
    near=_near,
    judge=_judge,
    parts=2,
    gives=Number(at_least=5, at_most=200),
    hints=(
        "In the steady state, what share of the pages in a collected block is still valid?",
        "With spare share s of the space in use, the drive programs about (1 + s) / (2 s) pages for each one written.",
        "Solve it for s; then compare the sum of spare flash and trimmed space with the space in use.",
    ),
    seeds=1,
)
system, briefing = SHAPE.own, SHAPE.briefing
ASSIGNMENT, check, hint = SHAPE.exercise()
