"""A group of radio buttons with a name, which a screen reader says. The group of ipywidgets has none."""

from __future__ import annotations

from typing import Any

import anywidget
import traitlets

SCRIPT = """
let groups = 0;
function render({ model, el }) {
  const set = document.createElement("fieldset");
  set.style.cssText = "border:0;padding:0;margin:0";
  const legend = document.createElement("legend");
  legend.textContent = model.get("legend");
  legend.style.cssText = "padding:0;margin:0 0 0.5em;font-weight:bold;line-height:1.5";
  set.append(legend);
  const name = `seeklab-choice-${++groups}`;
  const boxes = model.get("options").map((text) => {
    const label = document.createElement("label");
    label.style.cssText = "display:block;line-height:1.6";
    const box = document.createElement("input");
    Object.assign(box, { type: "radio", name, value: text });
    box.addEventListener("change", () => {
      model.set("value", text);
      model.save_changes();
    });
    label.append(box, ` ${text}`);
    set.append(label);
    return box;
  });
  const show = () => {
    for (const box of boxes) {
      box.checked = box.value === model.get("value");
      box.disabled = model.get("disabled");
    }
  };
  model.on("change:value", show);
  model.on("change:disabled", show);
  show();
  el.append(set);
}
export default { render };
"""


class Choice(anywidget.AnyWidget):
    """One choice of several, under a question that names the group."""

    _esm = SCRIPT
    legend = traitlets.Unicode().tag(sync=True)
    """The question."""
    options = traitlets.List(traitlets.Unicode()).tag(sync=True)
    value = traitlets.Unicode(None, allow_none=True).tag(sync=True)
    """The chosen option; None before the choice."""
    disabled = traitlets.Bool(False).tag(sync=True)  # noqa: FBT003 -- a trait takes its default by position

    @traitlets.validate("value")
    def _is_an_option(self, proposal: Any) -> Any:
        if proposal["value"] is not None and proposal["value"] not in self.options:
            message = f"{proposal['value']!r} is not a choice; the choices are {', '.join(self.options)}"
            raise traitlets.TraitError(message)
        return proposal["value"]
