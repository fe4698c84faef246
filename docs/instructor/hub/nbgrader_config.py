"""nbgrader on learners' servers: which course it is, and where work is fetched and handed in."""

import os
from pathlib import Path

c = get_config()

c.CourseDirectory.course_id = "seeklab"
c.Exchange.root = str(Path(os.environ["SEEKLAB_CLASS"]) / "exchange")
