"""The data of a question, a task or a chart in its cell's output; the site builds the notebook's page from it.

The output of such a cell is a widget, which only a live kernel shows. It therefore also contains an object of the type
`application/vnd.seeklab+json`, which Jupyter's front-ends ignore. Its fields, by `kind`:

- `question`: `name`, `question`, `unit`, `choices` (empty if the answer is a number), `because` (for each wrong choice,
  why it is wrong).
- `turn`: `name`, `question`, `hints`.
- `lab`: `case`, `title`, `variant`, `set`, `seed`, as in the arguments of `lab`.
- `sliders`: none. The output of `explore` needs a kernel.

`because` and `hints` are included only while the gates are open, as they are for authors. A notebook that a learner
saves has neither in its outputs.
"""

from __future__ import annotations

from typing import Any

from seeklab.notebook._gate import gates_are_open

MIME = "application/vnd.seeklab+json"
FOR_AUTHORS = ("because", "hints")
"""Fields that could reveal an answer to a learner."""


def with_data(shown: Any, kind: str, **fields: object) -> Any:
    """Add the data to a widget's output, a bundle with or without metadata. Its text is the same in every run."""
    bundle, *metadata = shown if isinstance(shown, tuple) else (shown,)
    kept = {name: value for name, value in fields.items() if gates_are_open() or name not in FOR_AUTHORS}
    text = f"[{kind}: shown in a live notebook]"
    bundle = {**bundle, "text/plain": text, MIME: {"kind": kind, **kept}}
    return (bundle, *metadata) if metadata else bundle
