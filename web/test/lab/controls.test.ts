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
  return { element, set, setValues, input: element.querySelector<HTMLInputElement>("input[type=range]")! };
}

const fieldIn = (element: HTMLElement) => element.querySelector<HTMLInputElement>("input.value")!;
const valueIn = (element: HTMLElement) => fieldIn(element).value;

function type(element: HTMLElement, text: string): HTMLInputElement {
  const field = fieldIn(element);
  field.value = text;
  field.dispatchEvent(new Event("change"));
  return field;
}

describe("a slider", () => {
  it.each([
    ["4 MiB", 4_194_304],
    ["63s", 32_256],
    ["1,048,576", 1_048_576],
    ["1.5m", 1_572_864],
    ["2 MB", 2_000_000],
  ])("takes %s typed into its value", (text, bytes) => {
    const { element, setValues } = build([chunk]);
    type(element, text);
    expect(setValues.mock.calls).toEqual([[{ "volume.prefetch.chunk": bytes }, true]]);
  });

  it.each(["", "large", "4 ms", "4 MiB/s", "1e999"])("marks %j as no value and keeps the run", (text) => {
    const { element, setValues } = build([chunk]);
    const field = type(element, text);
    expect(field.validity.customError).toBe(true);
    expect(setValues).not.toHaveBeenCalled();
  });

  it("tells what is counted in whole numbers", () => {
    const { element } = build([{ ...chunk, unit: "packets", format: null, min: 1, max: 16_384, step: 1, value: 64 }]);
    expect(valueIn(element)).toBe("64\u00a0packets");
  });

  it("has its label, help, value and unit from the engine", () => {
    const { element, input } = build([chunk]);
    expect(element.querySelector("label")!.textContent).toBe("Prefetch chunk");
    expect(element.querySelector("label")!.title).toBe("Most that one prefetch reads.");
    expect(valueIn(element)).toBe("8\u00a0MiB");
    expect(input.getAttribute("aria-valuetext")).toBe("8\u00a0MiB");
  });

  it.each([
    [200_000_000, "B", "bytes", "200\u00a0MB"],
    [209_715_200, "B", "bytes", "200\u00a0MiB"],
    [100_000_000, "B/s", "bytes", "100\u00a0MB/s"],
    [10, null, "uint32", "10"],
  ])("reads %d with unit %s and format %s as %s", (value, unit, format, words) => {
    const { element } = build([{ ...chunk, min: 1, max: 1e9, step: null, value, unit, format }]);
    expect(valueIn(element)).toBe(words);
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
    expect(valueIn(element)).toBe("default");
    expect(input.getAttribute("aria-valuetext")).toBe("default");
    input.valueAsNumber = 0;
    input.dispatchEvent(new Event("input"));
    expect(setValues).toHaveBeenLastCalledWith({ "volume.prefetch.chunk": 1_048_576 }, false);
  });

  it("is moved without telling anyone", () => {
    const { element, set, setValues } = build([chunk]);
    set("volume.prefetch.chunk", 4_194_304);
    expect(valueIn(element)).toBe("4\u00a0MiB");
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
    const scale = sliderScale({
      ...chunk,
      unit: "ns",
      min: 1,
      max: 1024,
      step: null,
      scale: "log2",
      format: "double",
      value: 32,
    });
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

describe("the stops of a logarithmic slider", () => {
  const stopsOf = (control: Partial<Control>) => {
    const scale = sliderScale({ ...chunk, scale: "log2", ...control });
    return Array.from({ length: scale.max + 1 }, (_, position) => scale.toValue(position));
  };

  it("are powers of two for sizes that begin at one", () => {
    expect(stopsOf({ min: 4096, max: 65_536, step: null })).toEqual([4096, 8192, 16_384, 32_768, 65_536]);
  });

  it("are multiples of the field's step", () => {
    const stops = stopsOf({ min: 100_000_000, max: 3e9, step: 50_000_000 });
    expect(stops.filter((stop) => stop % 50_000_000 !== 0)).toEqual([]);
    expect([stops[0], stops.at(-1)]).toEqual([100_000_000, 3e9]);
  });

  it("are different counts, each one twice as near as the next doubling", () => {
    const stops = stopsOf({ unit: null, format: "uint32", min: 1, max: 16, step: null, value: 1 });
    expect(stops.slice(0, 4)).toEqual([1, 2, 3, 4]);
    expect(new Set(stops).size).toBe(stops.length);
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
