/// <reference lib="dom" />
/// <reference lib="dom.iterable" />
// Lines of code with the color of the source that each comes from. Arrow keys move through it, Enter keeps a line chosen.
import { hue, tag } from "./elements";
import { NOTHING, type Chosen, type Selection } from "./selection";

export interface CodeLine {
  number: number;
  text: string;
  places: number[];
  /** The kernel whose code it is. */
  kernel: string;
  /** Of a line of a diff, else empty. */
  sign: string;
}

const CHANGES = new Map([
  ["+", "new"],
  ["-", "gone"],
]);
/** As many lines are laid out together, and only when they come into view. */
const BLOCK = 200;
const STRIPES = 4;

export class CodePane {
  readonly element = tag("div", "code");
  private lines: CodeLine[] = [];
  private readonly rows = new Map<number, HTMLElement>();
  private readonly byPlace = new Map<number, number[]>();
  private lit: HTMLElement[] = [];
  private cursor = 0;

  constructor(
    private readonly selection: Selection,
    label: string,
  ) {
    this.element.tabIndex = 0;
    this.element.setAttribute("role", "listbox");
    this.element.setAttribute("aria-label", label);
    this.element.addEventListener("pointerover", (event) => this.selection.point(this.at(event.target), this));
    this.element.addEventListener("pointerleave", () => this.selection.point(NOTHING, this));
    this.element.addEventListener("click", (event) => this.choose(event.target));
    this.element.addEventListener("keydown", (event) => this.onKey(event));
    selection.onChange((chosen, from, isPinned) => this.show(chosen, from !== this && (isPinned || chosen !== NOTHING)));
  }

  fill(lines: CodeLine[]): void {
    this.lines = lines;
    this.rows.clear();
    this.byPlace.clear();
    this.lit = [];
    this.cursor = 0;
    const blocks: HTMLElement[] = [];
    lines.forEach((line, index) => {
      if (index % BLOCK === 0) {
        blocks.push(tag("div", "block"));
      }
      const row = this.row(line, index);
      this.rows.set(index, row);
      blocks.at(-1)?.append(row);
      for (const place of line.places) {
        this.byPlace.set(place, [...(this.byPlace.get(place) ?? []), index]);
      }
    });
    this.element.replaceChildren(...blocks);
    this.element.scrollTop = 0;
  }

  private row(line: CodeLine, index: number): HTMLElement {
    const marks = tag("span", "marks");
    for (const place of line.places.slice(0, STRIPES)) {
      const mark = tag("i", "");
      mark.style.setProperty("--hue", hue(place));
      marks.append(mark);
    }
    const row = tag("div", line.places.length > 0 ? "line linked" : "line", marks, tag("span", "number", String(line.number)), tag("span", `text ${CHANGES.get(line.sign) ?? ""}`.trim(), line.text));
    row.dataset["index"] = String(index);
    row.id = `${this.element.getAttribute("aria-label") ?? ""}-${index}`.replaceAll(" ", "-");
    row.setAttribute("role", "option");
    if (line.places[0] !== undefined) {
      row.style.setProperty("--hue", hue(line.places[0]));
    }
    return row;
  }

  private at(target: EventTarget | null): Chosen {
    const line = this.lines[this.indexOf(target)];
    return line === undefined || line.places.length === 0 ? NOTHING : { places: new Set(line.places), kernel: line.kernel };
  }

  private indexOf(target: EventTarget | null): number {
    const row = target instanceof Element ? target.closest<HTMLElement>(".line") : null;
    return row === null ? -1 : Number(row.dataset["index"]);
  }

  private choose(target: EventTarget | null): void {
    const index = this.indexOf(target);
    if (index >= 0) {
      this.moveTo(index);
      this.selection.pin(this.at(target), this);
    }
  }

  private onKey(event: KeyboardEvent): void {
    const last = this.lines.length - 1;
    const steps: Record<string, number> = {
      ArrowDown: this.cursor + 1,
      ArrowUp: this.cursor - 1,
      PageDown: this.cursor + 20,
      PageUp: this.cursor - 20,
      Home: 0,
      End: last,
    };
    const next = steps[event.key];
    const row = this.rows.get(this.cursor) ?? null;
    if (next !== undefined) {
      this.moveTo(Math.min(Math.max(next, 0), last));
      this.selection.point(this.at(this.rows.get(this.cursor) ?? null), this);
    } else if (event.key === "Enter" || event.key === " ") {
      this.selection.pin(this.at(row), this);
    } else {
      return;
    }
    event.preventDefault();
  }

  private moveTo(index: number): void {
    this.rows.get(this.cursor)?.classList.remove("cursor");
    this.cursor = index;
    const row = this.rows.get(index);
    if (row !== undefined) {
      row.classList.add("cursor");
      row.scrollIntoView({ block: "nearest" });
      this.element.setAttribute("aria-activedescendant", row.id);
    }
  }

  private show(chosen: Chosen, follows: boolean): void {
    for (const row of this.lit) {
      row.classList.remove("lit");
      row.removeAttribute("aria-selected");
    }
    const places = new Map<number, number>();
    for (const place of chosen.places) {
      for (const index of this.byPlace.get(place) ?? []) {
        places.set(index, places.get(index) ?? place);
      }
    }
    const found = [...places.keys()].sort((one, other) => one - other);
    for (const [index, place] of places) {
      // of a line that several places come to, the color of the one that was chosen
      this.rows.get(index)?.style.setProperty("--chosen", hue(place));
    }
    this.lit = found.flatMap((index) => this.rows.get(index) ?? []);
    for (const row of this.lit) {
      row.classList.add("lit");
      row.setAttribute("aria-selected", "true");
    }
    if (follows) {
      const own = found.find((index) => chosen.kernel !== "" && this.lines[index]?.kernel === chosen.kernel);
      this.reveal(own ?? found[0]);
    }
  }

  private reveal(index: number | undefined): void {
    const row = index === undefined ? undefined : this.rows.get(index);
    if (row === undefined) {
      return;
    }
    const pane = this.element.getBoundingClientRect();
    const place = row.getBoundingClientRect();
    if (place.top < pane.top || place.bottom > pane.bottom) {
      this.element.scrollTop += place.top - pane.top - pane.height / 3;
    }
  }
}
