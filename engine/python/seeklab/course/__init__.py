"""The course: what learners write in its notebooks and how that is checked, and the copies that learners get."""
