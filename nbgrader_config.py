"""nbgrader: `solutions/` is the source, `exercises/` the release; what a class hands in stays out of git."""

import os

c = get_config()

c.CourseDirectory.course_id = "seeklab"
c.CourseDirectory.source_directory = "solutions"
c.CourseDirectory.release_directory = "exercises"
c.CourseDirectory.submitted_directory = ".grading/submitted"
c.CourseDirectory.autograded_directory = ".grading/autograded"
c.CourseDirectory.feedback_directory = ".grading/feedback"
c.CourseDirectory.solution_directory = ".grading/solution"
c.CourseDirectory.db_url = "sqlite:///.grading/gradebook.db"

# Each exercise leaves room by itself, and tells what is missing in its checks' own words.
c.ClearSolutions.code_stub = {"python": "# Your work goes here."}
# What a learner hands in is reduced to plain cells before any other step reads it: Markdown of the learner's becomes
# text, for a script in it would run with your rights in the formgrader; metadata is the gradebook's; a check that was
# deleted is put back. A file that is no notebook gets no points. Links and files that do not belong are moved away.
c.Autograde.exporter_class = "seeklab.judge.nbgrader.Submitted"
c.Autograde.pre_convert_hook = "seeklab.judge.nbgrader.set_aside"
c.Autograde.sanitize_preprocessors = [
    "seeklab.judge.nbgrader.PlainCells",
    "nbgrader.preprocessors.ClearOutput",
    "nbgrader.preprocessors.OverwriteKernelspec",
    "nbgrader.preprocessors.OverwriteCells",
    "nbgrader.preprocessors.CheckCellMetadata",
]
# nbgrader executes nothing that a class hands in: answers are taken out in a sandbox, and a process that runs none of a
# learner's code judges them. The judge takes the place of nbgrader's own `Execute`; the other steps are nbgrader's.
c.Autograde.autograde_preprocessors = [
    "seeklab.judge.nbgrader.Judge",
    "nbgrader.preprocessors.IgnorePattern",
    "nbconvert.preprocessors.ClearMetadataPreprocessor",
    "nbgrader.preprocessors.LimitOutput",
    "nbgrader.preprocessors.SaveAutoGrades",
    "nbgrader.preprocessors.AssignLatePenalties",
    "nbgrader.preprocessors.CheckCellMetadata",
]
# No script runs in the feedback, whatever is in it.
c.GenerateFeedback.exporter_class = "seeklab.judge.nbgrader.Feedback"
# For `nbgrader validate`, which a learner runs: on a busy machine a policy's check takes longer than the usual 30 s for
# a cell, and a kernel longer than the usual 60 s to start.
c.Execute.timeout = 900
c.Execute.startup_timeout = 300
# What a learner hands in counts for the account that owns it; nbgrader only warns.
if os.name == "posix":
    c.ExchangeFactory.collect = "seeklab.judge.exchange.Collect"
