/** Building elements without a framework. */

type Attributes = Readonly<Record<string, string | number | undefined>>;

/** An SVG element with attributes and children. */
export function svg<K extends keyof SVGElementTagNameMap>(
  name: K,
  attributes: Attributes = {},
  ...children: (Node | string)[]
): SVGElementTagNameMap[K] {
  const element = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value !== undefined) element.setAttribute(key, typeof value === "number" ? String(round(value)) : value);
  }
  element.append(...children);
  return element;
}

/** An HTML element with attributes and children. */
export function html<K extends keyof HTMLElementTagNameMap>(
  name: K,
  attributes: Attributes = {},
  ...children: (Node | string)[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value !== undefined) element.setAttribute(key, String(value));
  }
  element.append(...children);
  return element;
}

// A tenth of a pixel is enough, and short attributes parse faster.
function round(value: number): number {
  return Math.round(value * 10) / 10;
}

/** The width of an element, in whole pixels. */
export interface ObservedWidth {
  /** 0 while the element is not laid out. */
  readonly width: number;
  /** Stops watching. */
  close(): void;
}

/** Watches the width of an element; calls `onChange` when it differs from the last `width`. */
export function observeWidth(element: Element, onChange: () => void): ObservedWidth {
  let width = 0;
  const observer = new ResizeObserver(([entry]) => {
    const next = Math.floor(entry!.contentRect.width);
    if (next === width) return;
    width = next;
    onChange();
  });
  observer.observe(element);
  return {
    get width() {
      if (width === 0) width = Math.floor(element.clientWidth);
      return width;
    },
    close: () => observer.disconnect(),
  };
}
