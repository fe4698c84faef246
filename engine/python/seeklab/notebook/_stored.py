"""What a question, a turn or a chart is, as data in its cell's output: the site's page of the notebook is made of it.

The output of such a cell is a widget, which only a live kernel shows. So it also holds an object of the type
`application/vnd.seeklab+json`, which front ends of Jupyter pass over. Its fields, by `kind`:

- `question`: `name`, `question`, `unit`, `choices` (empty where the answer is a number), `because` (for each wrong
  choice, why it is wrong).
- `turn`: `name`, `question`, `hints`.
- `lab`: `case`, `title`, `variant`, `set`, `seed`, as `lab` takes them.
- `sliders`: none. What `explore` shows needs a kernel.

`because` and `hints` are there only while the gates are open, as they are for authors: a learner who saves a notebook
has neither in its outputs.
"""

from __future__ import annotations

from typing import Any

from seeklab.notebook._gate import gates_are_open

MIME = "application/vnd.seeklab+json"
FOR_AUTHORS = ("because", "hints")
"""Fields from which a learner could read an answer."""


def with_data(shown: Any, kind: str, **fields: object) -> Any:
    """Add the data to what a widget shows, a bundle with or without metadata. Its text is the same in every run."""
    bundle, *metadata = shown if isinstance(shown, tuple) else (shown,)
    kept = {name: value for name, value in fields.items() if gates_are_open() or name not in FOR_AUTHORS}
    text = f"[{kind}: shown in a live notebook]"
    bundle = {**bundle, "text/plain": text, MIME: {"kind": kind, **kept}}
    return (bundle, *metadata) if metadata else bundle
