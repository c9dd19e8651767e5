/// <reference lib="dom" />
/// <reference lib="dom.iterable" />
// The picture of a graph: a box for each kernel with its nodes in it. It can be moved, zoomed and saved.
import type { Picture, PictureGroup } from "./data";
import { button, hue, svg, tag } from "./elements";
import { followTheme } from "./host";
import { NODE_HEIGHT, place, type GroupLayout, type Line, type PictureLayout } from "./layout";
import { NOTHING, type Chosen, type Selection } from "./selection";

// in the picture itself, so that a saved one looks the same
const STYLE = `
text { font: 11px ui-monospace, monospace; fill: #1f2328; } .title { font-weight: 600; } .type { font-size: 9.5px; fill: #59636e; }
.group { fill: #f6f8fa; stroke: #8c959f; } .group.extern, .group.fallback { fill: #fff8e5; stroke: #b58407; }
.node { fill: hsl(var(--hue, 0) var(--some, 0%) 90%); stroke: #afb8c1; }
.edge { fill: none; stroke: #57606a; stroke-width: 1.4; } .inner { fill: none; stroke: #afb8c1; } .head { fill: #57606a; } .buffer { font-size: 9.5px; fill: #59636e; }
.box { cursor: pointer; outline: none; } .lit > .group, .box:focus-visible > .group { stroke: #0969da; stroke-width: 3; }
@media (prefers-color-scheme: dark) {
text { fill: #e6edf3; } .type, .buffer { fill: #9198a1; } .group { fill: #151b23; stroke: #656c76; } .group.extern, .group.fallback { fill: #272115; stroke: #9e6a03; }
.node { fill: hsl(var(--hue, 0) var(--some, 0%) 22%); stroke: #3d444d; } .edge { stroke: #9198a1; } .inner { stroke: #3d444d; } .head { fill: #9198a1; } .lit > .group, .box:focus-visible > .group { stroke: #4493f8; } }`;

/** Around what is shown. */
const MARGIN = 10;

interface View {
  x: number;
  y: number;
  width: number;
  height: number;
}

export interface PictureOptions {
  selection: Selection;
  /** The name of the saved file. */
  name: string;
  /** Where a saved picture goes; without it, the browser downloads it. */
  save?: (text: string, name: string) => void;
}

export function drawPicture(host: HTMLElement, picture: Picture, options: PictureOptions): void {
  const arranged = place(picture);
  const whole: View = { x: -MARGIN, y: -MARGIN, width: arranged.width + 2 * MARGIN, height: arranged.height + 2 * MARGIN };
  const image = drawn(picture, arranged, options.selection);
  image.setAttribute("class", "picture");
  const view = new Viewport(image, whole);
  const tools = tag(
    "div",
    "tools",
    button("+", "Zoom in (+)", () => view.zoom(0.8)),
    button("−", "Zoom out (−)", () => view.zoom(1.25)),
    button("Fit", "Show the whole graph (0)", () => view.fit()),
    button("Save as SVG", "Save the whole graph as an SVG file", () => save(image, whole, options)),
  );
  host.replaceChildren(tools, image);
  view.begin(arranged.groups[0]);
}

function drawn(picture: Picture, arranged: PictureLayout, selection: Selection): SVGSVGElement {
  const image = svg("svg", { xmlns: "http://www.w3.org/2000/svg", role: "group", "aria-label": "Graph: kernels and their nodes", tabindex: 0 });
  const style = svg("style", {});
  style.textContent = STYLE;
  followTheme(style);
  const marker = svg("marker", { id: "arrow", viewBox: "0 0 8 8", refX: 8, refY: 4, markerWidth: 8, markerHeight: 8, orient: "auto", markerUnits: "userSpaceOnUse" });
  marker.append(svg("path", { d: "M0,0L8,4L0,8z", class: "head" }));
  const definitions = svg("defs", {});
  definitions.append(marker);
  image.append(style, definitions);
  arranged.lines.forEach((line) => image.append(edge(line, "edge")));
  const boxes = picture.groups.map((group, index) => {
    const box = drawnGroup(group, arranged.groups[index] as GroupLayout, (places) => selection.pin({ places: new Set(places), kernel: "" }, image));
    const chosen: Chosen = { places: new Set(group.places), kernel: group.call };
    box.addEventListener("pointerenter", () => selection.point(chosen, image));
    box.addEventListener("pointerleave", () => selection.point(NOTHING, image));
    box.addEventListener("focus", () => selection.point(chosen, image));
    box.addEventListener("click", () => selection.pin(chosen, image));
    box.addEventListener("keydown", (event) => {
      if (event.key === "Enter" || event.key === " ") {
        selection.pin(chosen, image);
        event.preventDefault();
      }
    });
    image.append(box);
    return box;
  });
  selection.onChange((chosen) => {
    boxes.forEach((box, index) => {
      const group = picture.groups[index] as PictureGroup;
      const isChosen = chosen.kernel === "" ? group.places.some((one) => chosen.places.has(one)) : group.call === chosen.kernel;
      box.classList.toggle("lit", isChosen);
    });
  });
  return image;
}

/** `choose` is told of the places of a node that is clicked; a click beside the nodes is one on the kernel. */
function drawnGroup(group: PictureGroup, at: GroupLayout, choose: (places: number[]) => void): SVGGElement {
  const box = svg("g", { class: "box", transform: `translate(${at.x},${at.y})`, tabindex: 0, role: "button", "aria-label": group.title });
  box.append(svg("rect", { class: `group ${group.kind}`, width: at.width, height: at.height, rx: 6 }), label(group.title, 10, 17, "title"));
  at.lines.forEach((line) => box.append(edge(line, "inner")));
  group.nodes.forEach((node, index) => {
    const { x, y, width } = at.nodes[index] as { x: number; y: number; width: number };
    const rectangle = svg("rect", { class: "node", x, y, width, height: NODE_HEIGHT, rx: 4 });
    if (node.places[0] !== undefined) {
      rectangle.style.setProperty("--hue", hue(node.places[0]));
      rectangle.style.setProperty("--some", "55%");
    }
    const hint = svg("title", {});
    hint.textContent = node.name;
    rectangle.append(hint);
    const drawnNode = svg("g", { class: "operator" });
    drawnNode.append(rectangle, label(node.label, x + 8, y + 14, ""), label(node.type, x + 8, y + 27, "type"));
    if (node.places.length > 0) {
      drawnNode.addEventListener("click", (event) => {
        choose(node.places);
        event.stopPropagation();
      });
    }
    box.append(drawnNode);
  });
  return box;
}

function label(text: string, x: number, y: number, className: string): SVGTextElement {
  const found = svg("text", { x, y, class: className });
  found.textContent = text;
  return found;
}

function edge(line: Line, className: string): SVGPathElement {
  const path = line.points.map(({ x, y }, index) => `${index === 0 ? "M" : "L"}${x.toFixed(1)},${y.toFixed(1)}`).join("");
  return svg("path", { d: path, class: className, ...(className === "edge" ? { "marker-end": "url(#arrow)" } : {}) });
}

function save(image: SVGSVGElement, whole: View, options: PictureOptions): void {
  const copy = image.cloneNode(true) as SVGSVGElement;
  const style = copy.querySelector("style");
  if (style !== null) {
    style.textContent = STYLE; // a saved picture follows the system
  }
  copy.setAttribute("viewBox", `${whole.x} ${whole.y} ${whole.width} ${whole.height}`);
  copy.setAttribute("width", String(Math.round(whole.width)));
  copy.setAttribute("height", String(Math.round(whole.height)));
  const text = new XMLSerializer().serializeToString(copy);
  const name = `${options.name.replace(/[^\w.-]+/g, "-")}.svg`;
  if (options.save !== undefined) {
    options.save(text, name);
    return;
  }
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([text], { type: "image/svg+xml" }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

/** Moves and zooms: drag, wheel, arrow keys, `+`, `-` and `0`. */
class Viewport {
  private view: View;

  constructor(
    private readonly image: SVGSVGElement,
    private readonly whole: View,
  ) {
    this.view = { ...whole };
    image.addEventListener("wheel", (event) => this.onWheel(event), { passive: false });
    image.addEventListener("pointerdown", (event) => this.onDown(event));
    image.addEventListener("keydown", (event) => this.onKey(event));
  }

  /** The top of a large graph, at a size that can be read, with the whole width of its first kernel. */
  begin(first: GroupLayout | undefined): void {
    this.fit(1.5);
    if (first !== undefined) {
      const farthest = Math.max(this.view.x, first.x + first.width + MARGIN - this.view.width);
      this.set({ ...this.view, x: Math.min(farthest, first.x - MARGIN) });
    }
  }

  fit(largest = Infinity): void {
    const { clientWidth, clientHeight } = this.image;
    // a small graph is not blown up
    const scale = Math.min(largest, Math.max(1, this.whole.width / (clientWidth || 1), this.whole.height / (clientHeight || 1)));
    const [width, height] = [(clientWidth || this.whole.width) * scale, (clientHeight || this.whole.height) * scale];
    this.set({ x: this.whole.x - (width - this.whole.width) / 2, y: this.whole.y, width, height });
  }

  zoom(factor: number, at = { x: this.view.x + this.view.width / 2, y: this.view.y + this.view.height / 2 }): void {
    const limited = Math.min(Math.max(this.view.width * factor, 60), this.whole.width * 8 + 2000) / this.view.width;
    this.set({
      x: at.x - (at.x - this.view.x) * limited,
      y: at.y - (at.y - this.view.y) * limited,
      width: this.view.width * limited,
      height: this.view.height * limited,
    });
  }

  private set(view: View): void {
    this.view = view;
    this.image.setAttribute("viewBox", `${view.x} ${view.y} ${view.width} ${view.height}`);
  }

  private onWheel(event: WheelEvent): void {
    // the page scrolls unless the picture is meant
    if (!event.ctrlKey && document.activeElement !== this.image && !this.image.contains(document.activeElement)) {
      return;
    }
    event.preventDefault();
    const bounds = this.image.getBoundingClientRect();
    const scale = this.view.width / bounds.width;
    const at = { x: this.view.x + (event.clientX - bounds.left) * scale, y: this.view.y + (event.clientY - bounds.top) * scale };
    this.zoom(Math.exp(event.deltaY * 0.0015), at);
  }

  private onDown(event: PointerEvent): void {
    const begin = { x: event.clientX, y: event.clientY, view: { ...this.view } };
    const move = (next: PointerEvent): void => {
      const scale = begin.view.width / (this.image.clientWidth || 1);
      this.set({ ...begin.view, x: begin.view.x - (next.clientX - begin.x) * scale, y: begin.view.y - (next.clientY - begin.y) * scale });
    };
    const end = (last: PointerEvent): void => {
      window.removeEventListener("pointermove", move);
      window.removeEventListener("pointerup", end);
      if (Math.hypot(last.clientX - begin.x, last.clientY - begin.y) > 3) {
        // the click that ends a drag chooses nothing; where there is none, the next one does
        const ignore = (click: MouseEvent): void => click.stopPropagation();
        this.image.addEventListener("click", ignore, { capture: true, once: true });
        setTimeout(() => this.image.removeEventListener("click", ignore, { capture: true }));
      }
    };
    window.addEventListener("pointermove", move);
    window.addEventListener("pointerup", end);
  }

  private onKey(event: KeyboardEvent): void {
    const step = this.view.width / 10;
    const moves: Record<string, () => void> = {
      ArrowLeft: () => this.set({ ...this.view, x: this.view.x - step }),
      ArrowRight: () => this.set({ ...this.view, x: this.view.x + step }),
      ArrowUp: () => this.set({ ...this.view, y: this.view.y - step }),
      ArrowDown: () => this.set({ ...this.view, y: this.view.y + step }),
      "+": () => this.zoom(0.8),
      "=": () => this.zoom(0.8),
      "-": () => this.zoom(1.25),
      "0": () => this.fit(),
    };
    const move = moves[event.key];
    if (move !== undefined) {
      move();
      event.preventDefault();
    }
  }
}
