/// <reference lib="dom" />
/// <reference lib="dom.iterable" />
// The passes over a graph: how long each took and what it changed. A row whose changes are known opens them.
import type { PassData } from "./data";
import { button, tag } from "./elements";

export function passTable(passes: PassData[], open: (stage: number) => void): HTMLElement {
  const head = tag("tr", "", ...["Pass", "Time", "Nodes"].map((name) => tag("th", "", name)));
  const body = tag("tbody", "");
  const found = tag("div", "", tag("table", "", tag("thead", "", head), body));
  const shown = passes.filter((pass) => pass.depth === 0 || (pass.depth === 1 && pass.is_changed));
  const show = (rows: PassData[]): void => body.replaceChildren(...rows.map((pass) => row(pass, open)));
  show(shown);
  if (shown.length < passes.length) {
    const all = button("All passes", "Also those that changed nothing", () => {
      show(passes);
      all.remove();
    });
    found.append(all);
  }
  return found;
}

function row(pass: PassData, open: (stage: number) => void): HTMLElement {
  const name = pass.stage < 0 ? tag("span", "", pass.name) : button(pass.name, "Show what it changed", () => open(pass.stage));
  name.style.setProperty("margin-left", `${pass.depth}rem`);
  return tag("tr", pass.depth === 0 ? "phase" : "", tag("td", "", name), tag("td", "", pass.seconds), tag("td", "", pass.changes));
}
