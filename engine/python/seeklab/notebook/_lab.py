"""A case's chart with sliders, and a function's result for the reader's choices.

The chart is the page's: its bundle includes the engine, so it simulates in the browser while a slider moves, even when
the kernel is busy. The kernel receives the values when the slider is released.
"""

from __future__ import annotations

import html
from importlib.resources import files
from typing import TYPE_CHECKING, Any

import anywidget
import ipywidgets
import traitlets

from seeklab._case import Case
from seeklab._case import case as load_case
from seeklab._errors import EngineError, Problem, SeeklabError
from seeklab.notebook._stored import with_data
from seeklab.notebook._tables import CONTROLS, announced

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from seeklab._result import Result


def widget_script() -> str:
    """Return the bundle of all widgets."""
    bundle = files("seeklab").joinpath("_engine", "widget.js")
    try:
        return bundle.read_text(encoding="utf-8")
    except FileNotFoundError:
        message = f"The widget's bundle {bundle} is missing. Build it with `make lab`, or install the seeklab wheel."
        raise EngineError(message) from None


class Lab(anywidget.AnyWidget):
    """A case's chart with sliders. The reader's settings arrive in `variant`, `set`, `seed` and `result`."""

    case_id = traitlets.Unicode().tag(sync=True)
    variant = traitlets.Unicode().tag(sync=True)
    set = traitlets.Dict().tag(sync=True)
    """Values that differ from the variant's own, by path."""
    seed = traitlets.Int(1).tag(sync=True)
    view = traitlets.Unicode().tag(sync=True)
    """The chart's view, such as `prefetch-strip`."""
    controls = traitlets.List(traitlets.Unicode()).tag(sync=True)
    """Paths of the sliders; empty for the case's own."""
    result = traitlets.Dict().tag(sync=True)
    """The summary of the displayed run: metrics, units, fingerprint."""

    def __init__(self, **traits: Any) -> None:
        """Load the bundle for the first widget, not at import."""
        if not hasattr(type(self), "_esm"):
            type(self)._esm = widget_script()  # noqa: SLF001 -- the name that anywidget prescribes
        super().__init__(**traits)

    @property
    def case(self) -> Case:
        """The case with the reader's changes."""
        return load_case(self.case_id).with_(self.set)

    def run(self) -> Result:
        """Run in the kernel what the chart shows; the fingerprint is the same."""
        return self.case.run(self.variant, seed=self.seed)

    def _repr_mimebundle_(self, **options: Any) -> Any:
        case = load_case(self.case_id)
        return with_data(
            super()._repr_mimebundle_(**options),
            "lab",
            case=case.id,
            title=f"{case.document['code']}: {case.title}",
            variant=self.variant,
            set=self.set,
            seed=self.seed,
        )


class Sliders(ipywidgets.VBox):  # type: ignore[misc] # ipywidgets has no types
    """The controls of `explore`, and the result."""

    def _repr_mimebundle_(self, **options: Any) -> Any:
        return with_data(super()._repr_mimebundle_(**options), "sliders")


def lab(
    case: str | Case,
    *,
    variant: str | None = None,
    view: str | None = None,
    controls: Sequence[str] | None = None,
    set: Mapping[str, object] | None = None,  # noqa: A002 -- the word of the command line and of the page
    seed: int = 1,
) -> Lab:
    """Show a case's chart with sliders. All arguments default to the case's values."""
    chosen = case if isinstance(case, Case) else load_case(case)
    chosen = chosen.with_(set or {})
    chosen.scenario(variant)  # reports an unknown variant, path or value in the notebook's own cell
    document = chosen.document
    known_views = list(dict.fromkeys([document["view"], *document["views"]]))
    if view is not None and view not in known_views:
        raise SeeklabError([Problem("view", f'"{view}" is not a view of {chosen.id}; known: {", ".join(known_views)}')])
    return Lab(
        case_id=chosen.id,
        variant=variant or chosen.default_variant,
        set=dict(chosen.changes),
        seed=seed,
        view=view or document["view"],
        controls=list(controls or ()),
    )


def explore(show: Callable[..., object], **choices: Sequence[object]) -> Sliders:
    """Show a function's result for the reader's choice of each argument; update it after each change.

    Choices that are numbers become a slider, choices that are words a list. The function runs in the kernel.
    """
    controls: dict[str, Any] = {}
    widest = f"{max(8, *(0.6 * len(name) for name in choices)):.0f}em"
    for name, values in choices.items():
        kind = ipywidgets.Dropdown if isinstance(values[0], str) else ipywidgets.SelectionSlider
        controls[name] = kind(
            options=list(values),
            description=name.replace("_", " "),
            style={"description_width": widest},
            layout=ipywidgets.Layout(width="32em"),
        )
    shown = ipywidgets.HTML()

    def draw(change: object = None) -> None:
        try:
            found = show(**{name: control.value for name, control in controls.items()})
        except SeeklabError as error:
            shown.value = announced(str(error))
            return
        as_html = getattr(found, "_repr_html_", None)
        words = as_html() if callable(as_html) else f"<pre>{html.escape(str(found))}</pre>"
        # A screen reader speaks the result of a change, but not the first one, which follows no change.
        shown.value = f'<div role="alert">{words}</div>' if change else words

    for control in controls.values():
        control.observe(draw, names="value")
    draw()
    box = Sliders([*controls.values(), shown])
    box.add_class(CONTROLS)
    return box
