"""`python -m seeklab.cli`: the same as `seeklab`."""

import sys

from seeklab.cli import main

sys.exit(main())
