import { describe, expect, it, vi } from "vitest";
import type { Control } from "../../src/engine/types.ts";
import { controls, sliderScale } from "../../src/lab/controls.ts";
import { segmented } from "../../src/base/segmented.ts";

const chunk: Control = {
  path: "volume.prefetch.chunk",
  title: "Prefetch chunk",
  help: "Most that one prefetch reads.",
  unit: "B",
  format: "bytes",
  min: 1_048_576,
  max: 16_777_216,
  step: 262_144,
  scale: null,
  value: 8_388_608,
  choices: null,
};

function build(list: Control[]) {
  const setValues = vi.fn();
  const { element, set } = controls({ controls: list, target: { setValues } });
  document.body.replaceChildren(element);
  return { element, set, setValues, input: element.querySelector("input")! };
}

describe("a slider", () => {
  it("tells what is counted in whole numbers", () => {
    const { element } = build([{ ...chunk, unit: "packets", format: null, min: 1, max: 16_384, step: 1, value: 64 }]);
    expect(element.querySelector("output")!.textContent).toBe("64\u00a0packets");
  });

  it("has its label, help, value and unit from the engine", () => {
    const { element, input } = build([chunk]);
    expect(element.querySelector("label")!.textContent).toBe("Prefetch chunk");
    expect(element.querySelector("label")!.title).toBe("Most that one prefetch reads.");
    expect(element.querySelector("output")!.textContent).toBe("8\u00a0MiB");
    expect(input.getAttribute("aria-valuetext")).toBe("8\u00a0MiB");
  });

  it.each([
    [200_000_000, "B", "bytes", "200\u00a0MB"],
    [209_715_200, "B", "bytes", "200\u00a0MiB"],
    [100_000_000, "B/s", "bytes", "100\u00a0MB/s"],
    [10, null, "uint32", "10"],
  ])("reads %d with unit %s and format %s as %s", (value, unit, format, words) => {
    const { element } = build([{ ...chunk, min: 1, max: 1e9, step: null, value, unit, format }]);
    expect(element.querySelector("output")!.textContent).toBe(words);
  });

  it("tells every value while it moves and one when it is let go", () => {
    const { input, setValues } = build([chunk]);
    input.valueAsNumber -= 1;
    input.dispatchEvent(new Event("input"));
    input.dispatchEvent(new Event("change"));
    const values = { "volume.prefetch.chunk": 8_126_464 };
    expect(setValues.mock.calls).toEqual([
      [values, false],
      [values, true],
    ]);
  });

  it("goes to the place of the rounded value when it is let go", () => {
    const { input, setValues } = build([{ ...chunk, unit: null, format: null, min: 2, max: 20, step: 4, value: 2 }]);
    input.valueAsNumber = 1;
    input.dispatchEvent(new Event("change"));
    expect(setValues).toHaveBeenLastCalledWith({ "volume.prefetch.chunk": 8 }, true);
    expect(input.valueAsNumber).toBe(2);
  });

  it("stands in the middle and says so while the field is left to the version", () => {
    const { element, input, setValues } = build([{ ...chunk, value: null }]);
    expect(element.querySelector("output")!.textContent).toBe("default");
    expect(input.getAttribute("aria-valuetext")).toBe("default");
    input.valueAsNumber = 0;
    input.dispatchEvent(new Event("input"));
    expect(setValues).toHaveBeenLastCalledWith({ "volume.prefetch.chunk": 1_048_576 }, false);
  });

  it("is moved without telling anyone", () => {
    const { element, set, setValues } = build([chunk]);
    set("volume.prefetch.chunk", 4_194_304);
    expect(element.querySelector("output")!.textContent).toBe("4\u00a0MiB");
    expect(setValues).not.toHaveBeenCalled();
  });

  it("reaches both ends and goes in round numbers between them", () => {
    const rate = { ...chunk, min: 0.001, max: 800, step: 20, unit: "1/s", format: "double", value: 256 };
    const scale = sliderScale(rate);
    expect(scale.toValue(scale.min)).toBe(0.001);
    expect(scale.toValue(1)).toBe(20);
    expect(scale.toValue(scale.max)).toBe(800);
  });

  it("moves in equal ratios on a logarithmic scale", () => {
    const scale = sliderScale({ ...chunk, min: 1, max: 1024, step: null, scale: "log2", format: null, value: 32 });
    expect(scale.toValue(scale.toPosition(32))).toBe(32);
    expect(scale.toValue(0)).toBe(1);
    expect(scale.toValue(scale.max)).toBe(1024);
    expect(scale.toValue(8) / scale.toValue(0)).toBe(2);
  });

  it("reaches below one where a field is a real number", () => {
    const speed = { ...chunk, min: 0.25, max: 16, step: null, scale: "log2", format: "double", value: 1 };
    const scale = sliderScale(speed);
    expect([scale.toValue(0), scale.toValue(scale.toPosition(1)), scale.toValue(scale.max)]).toEqual([0.25, 1, 16]);
  });

  it("gives a value that it can show back unchanged", () => {
    const scale = sliderScale(chunk);
    for (let position = scale.min; position <= scale.max; position++) {
      expect(scale.toPosition(scale.toValue(position))).toBe(position);
    }
  });
});

describe("a choice of words", () => {
  it("is a select with the engine's words", () => {
    const { element, setValues } = build([
      { ...chunk, path: "protocol.odx_sizing", value: "max", choices: [{ value: "target" }, { value: "max" }] },
    ]);
    const select = element.querySelector("select")!;
    expect(select.selectedIndex).toBe(1);
    select.selectedIndex = 0;
    select.dispatchEvent(new Event("change"));
    expect(setValues.mock.calls).toEqual([[{ "protocol.odx_sizing": "target" }, true]]);
  });
});

describe("a segmented control", () => {
  it("is a group of radio buttons with a legend", () => {
    const onChange = vi.fn();
    const { element, select } = segmented({
      legend: "Variant",
      name: "variant",
      value: "broken",
      choices: [
        { value: "broken", title: "Broken" },
        { value: "fixed", title: "Fixed" },
      ],
      onChange,
    });
    document.body.replaceChildren(element);
    expect(element.querySelector("legend")!.textContent).toBe("Variant");
    element.querySelector<HTMLInputElement>("[value=fixed]")!.click();
    expect(onChange).toHaveBeenCalledWith("fixed");
    select("broken");
    expect(element.querySelector<HTMLInputElement>(":checked")!.value).toBe("broken");
    expect(onChange).toHaveBeenCalledTimes(1);
  });
});
