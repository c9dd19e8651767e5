/// <reference lib="dom" />
/// <reference lib="dom.iterable" />
// Makes elements. Text is set as text and never read as HTML: all of it may come from a program.

export function tag<K extends keyof HTMLElementTagNameMap>(
  name: K,
  className: string,
  ...children: (Node | string)[]
): HTMLElementTagNameMap[K] {
  const found = document.createElement(name);
  if (className !== "") {
    found.className = className;
  }
  found.append(...children);
  return found;
}

export function button(text: string, title: string, run: () => void): HTMLButtonElement {
  const found = tag("button", "", text);
  found.type = "button";
  found.title = title;
  found.addEventListener("click", run);
  return found;
}

export function svg<K extends keyof SVGElementTagNameMap>(name: K, attributes: Record<string, string | number>): SVGElementTagNameMap[K] {
  const found = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) {
    found.setAttribute(key, String(value));
  }
  return found;
}

/** A color of its own for each place: neighbors are far apart on the wheel. */
export function hue(place: number): string {
  return String(Math.round((place * 137.508) % 360));
}
