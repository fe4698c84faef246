"""nbgrader: `solutions/` is the source, `exercises/` the release; what a class hands in stays out of git."""

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
# A check that was deleted is put back and graded.
c.OverwriteCells.add_missing_cells = True
# nbgrader executes nothing that a class hands in: answers are taken out in a jail, and a process that runs none of a
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
# A learner's Markdown is text in the feedback, never a script.
c.HTMLExporter.sanitize_html = True
# For `nbgrader validate`, which a learner runs: on a busy machine a policy's check takes longer than the usual 30 s for
# a cell, and a kernel longer than the usual 60 s to start.
c.Execute.timeout = 900
c.Execute.startup_timeout = 300
