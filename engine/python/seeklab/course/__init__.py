"""The course: its coding tasks with their checks, and the copies of its notebooks for learners."""
