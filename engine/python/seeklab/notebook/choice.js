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
