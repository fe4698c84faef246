"""The assignments: each module has one, with a system for each learner and its tasks.

A module contains no answers: every true value is measured by running systems. `ASSIGNMENT` declares the answers and
their measurement. A learner's notebook calls `check` and `hint`. `seeklab.judge.catalogue` lists all assignments.
"""
