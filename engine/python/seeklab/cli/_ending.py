"""How a command ends: its exit status, and a sentence on stderr when something is wrong."""

from __future__ import annotations

import io
import os
import sys
from typing import TYPE_CHECKING

from seeklab._errors import EngineError, SeeklabError
from seeklab.cli._output import complain

if TYPE_CHECKING:
    from collections.abc import Callable

DONE, CHECK_FAILED, BAD_INPUT, DEFECT, INTERRUPTED = 0, 1, 2, 70, 130


def ended(command: Callable[[], int]) -> int:
    """Run a command to its end, whatever that is; the exit status."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")  # a terminal that cannot show a letter is no reason to fail
    try:
        status = command()
        sys.stdout.flush()
    except SeeklabError as error:
        complain(str(error))
        return BAD_INPUT
    except EngineError as error:
        complain(str(error))
        return DEFECT
    except KeyboardInterrupt:
        complain("interrupted")
        return INTERRUPTED
    except BrokenPipeError:
        # The reader has left (`seeklab ... | head`). Python would complain again when it flushes stdout at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return DONE
    except Exception as error:
        if os.environ.get("SEEKLAB_TRACEBACK"):
            raise
        complain(
            f"a defect of Seeklab: {type(error).__name__}: {error}. "
            "Please report it with the output of the same command under SEEKLAB_TRACEBACK=1."
        )
        return DEFECT
    return status
