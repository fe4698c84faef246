"""The assignments: one module for each, named like it, with the system that a learner gets and its tasks.

A module holds no answers: each truth is measured by running systems. `ASSIGNMENT` declares what may be handed in and
how it is measured; `check` and `hint` are for the learner's notebook. `seeklab.judge.catalogue` lists all of them.
"""
