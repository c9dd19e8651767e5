/// <reference lib="dom" />
/// <reference lib="dom.iterable" />
// Compile time, a row for each frame: what ran when, one bar in another.
import type { TimelineData, TimelineRow } from "./data";
import { hue, svg, tag } from "./elements";

const BAR = 15;
const WIDTH = 1000;
// as a part of the frame: less cannot be seen
const SMALLEST = 0.0015;

export function drawTimeline(timeline: TimelineData): HTMLElement {
  const used = new Set(timeline.rows.flatMap((row) => row.spans.map(([, , , phase]) => phase)));
  const legend = tag("ul", "legend", ...timeline.phases.flatMap((name, index) => (used.has(index) ? [tag("li", "", swatch(index, timeline), name)] : [])));
  const rows = timeline.rows.map((row) => drawRow(row, timeline));
  return tag("div", "timeline", legend, ...rows);
}

function drawRow(row: TimelineRow, timeline: TimelineData): HTMLElement {
  const shown = row.spans.filter(([, seconds]) => seconds >= row.seconds * SMALLEST);
  const depth = Math.max(0, ...shown.map(([, , level]) => level)) + 1;
  const image = svg("svg", { viewBox: `0 0 ${WIDTH} ${depth * BAR}`, preserveAspectRatio: "none", class: "bars", role: "img", "aria-label": row.title });
  image.style.height = `${depth * BAR}px`;
  for (const [start, seconds, level, phase, name] of shown) {
    const x = ((start - row.start) / row.seconds) * WIDTH;
    const width = Math.max((seconds / row.seconds) * WIDTH, 0.5);
    const bar = svg("rect", { x, y: level * BAR, width, height: BAR - 1, class: "bar" });
    color(bar, phase, timeline);
    const hint = svg("title", {});
    hint.textContent = `${name}: ${seconds.toFixed(3)} s (${timeline.phases[phase] ?? ""})`;
    bar.append(hint);
    image.append(bar);
  }
  return tag("section", "frame", tag("h3", "", `${row.title} — ${row.seconds.toFixed(2)} s`), image);
}

function swatch(phase: number, timeline: TimelineData): HTMLElement {
  const found = tag("i", "swatch");
  color(found, phase, timeline);
  return found;
}

/** The last phase is all that has no name. */
function color(element: HTMLElement | SVGElement, phase: number, timeline: TimelineData): void {
  element.style.setProperty("--hue", hue(phase));
  element.style.setProperty("--some", phase === timeline.phases.length - 1 ? "0%" : "55%");
}
