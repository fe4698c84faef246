const STEPS = 100;
/** The class of a box with controls; `_tables.py` has it too. */
const CONTROLS = ".seeklab-controls";
let groups = 0;

const watched = new WeakSet();

// JupyterLab takes arrows, digits and letters in a cell's output for its own commands, unless the element that has the
// focus has this attribute. ipywidgets cannot set it.
document.addEventListener("focusin", ({ target }) => {
  const box = target.closest?.(CONTROLS);
  if (!box || !target.matches("input, select, button")) return;
  target.setAttribute("data-lm-suppress-shortcuts", "");
  if (watched.has(target)) return;
  watched.add(target);
  new MutationObserver(() => {
    if (target.disabled && (document.activeElement === target || document.activeElement === document.body)) keepFocus(box);
  }).observe(target, { attributes: true, attributeFilter: ["disabled"] });
});

/** Keeps the focus in a box whose control had it and was disabled: on the question, or on a task as a whole. */
function keepFocus(box) {
  const group = box.querySelector("fieldset") ?? box;
  if (group === box) {
    box.setAttribute("role", "group");
    box.setAttribute("aria-label", box.querySelector("p")?.textContent ?? "");
  }
  group.tabIndex = -1;
  group.focus({ preventScroll: true });
}

/** A group whose name is the question. Text in backticks is code. */
function groupOf(question) {
  const set = document.createElement("fieldset");
  set.style.cssText = "border:0;padding:0;margin:0";
  const legend = document.createElement("legend");
  legend.style.cssText = "padding:0;margin:0 0 0.5em;font-weight:bold;line-height:1.5";
  for (const [nth, text] of question.split("`").entries()) {
    const part = document.createElement(nth % 2 ? "code" : "span");
    part.textContent = text;
    legend.append(part);
  }
  set.append(legend);
  return set;
}

function renderChoice({ model, el }) {
  const set = groupOf(model.get("legend"));
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
  follow(model, show, set, el);
}

/** Shows the group's state now and after each change of the model. */
function follow(model, show, set, el) {
  model.on("change:value", show);
  model.on("change:disabled", show);
  show();
  el.append(set);
}

function renderNumber({ model, el }) {
  const [low, high, isLog] = ["low", "high", "is_log"].map((name) => model.get(name));
  const place = (value) => (isLog ? Math.log(value / low) / Math.log(high / low) : (value - low) / (high - low));
  const valueAt = (share) => (isLog ? low * (high / low) ** share : low + share * (high - low));
  const set = groupOf(model.get("legend"));
  const slider = document.createElement("input");
  Object.assign(slider, { type: "range", min: 0, max: STEPS, step: 1 });
  slider.setAttribute("aria-label", "Slider for your answer");
  slider.style.cssText = "width:20em;max-width:100%;vertical-align:middle;margin:0 1em 0 0";
  const label = document.createElement("label");
  const field = document.createElement("input");
  Object.assign(field, { type: "number", min: low, max: high, step: "any" });
  field.style.cssText = "width:8em;font:inherit";
  const unit = model.get("unit");
  label.append("Your answer: ", field, unit ? ` ${unit}` : "");
  set.append(slider, label);
  const keep = (value) => {
    model.set("value", Math.min(high, Math.max(low, value)));
    model.save_changes();
  };
  slider.addEventListener("input", () => keep(Number(valueAt(slider.value / STEPS).toPrecision(3))));
  field.addEventListener("change", () => {
    if (Number.isFinite(field.valueAsNumber)) keep(field.valueAsNumber);
    show();
  });
  const show = () => {
    const value = model.get("value");
    field.value = value;
    slider.value = Math.round(STEPS * place(value));
    slider.setAttribute("aria-valuetext", `${value} ${unit}`.trim());
    field.disabled = slider.disabled = model.get("disabled");
  };
  follow(model, show, set, el);
}
export default {
  render: (given) => (given.model.get("options") ? renderChoice : renderNumber)(given),
};
