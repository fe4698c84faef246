"""The README shows what the engine gives."""

from __future__ import annotations

import measured
import readme_facts
import runs

AGAIN = "run make update what=readme"


def test_the_table_of_facts_is_in_step_with_the_engine() -> None:
    assert readme_facts.current() == readme_facts.table(runs.facts(readme_facts.CASE)), AGAIN


def test_the_table_of_incidents_is_in_step_with_the_case_files() -> None:
    assert readme_facts.current(readme_facts.CASES) == readme_facts.cases_table(), AGAIN


def test_the_table_of_measured_drives_is_in_step_with_what_is_stored() -> None:
    assert readme_facts.current(readme_facts.DRIVES) == measured.table(), AGAIN


def test_the_table_of_the_course_is_in_step_with_notebooks_and_exercises() -> None:
    assert readme_facts.current(readme_facts.COURSE) == readme_facts.course_table(), AGAIN
