/// <reference lib="dom" />
/// <reference lib="dom.iterable" />
// Runs in the details panel: makes elements of the blocks that the server sends. Text is set as text and never read as HTML.
import type { Details, PanelMessage } from "../details";
import type { Block, Piece } from "../viewed";

declare function acquireVsCodeApi(): { postMessage(message: PanelMessage): void };

const vscode = acquireVsCodeApi();
const main = document.querySelector("main") as HTMLElement;
/** The folded parts that the user has opened, by title. */
const opened = new Set<string>();
let shown = "";

window.addEventListener("message", ({ data }: MessageEvent<Details>) => {
  const commands = { count: 0 };
  main.replaceChildren(...(data.blocks.length > 0 ? data.blocks.map((block) => element(block, commands)) : [paragraph(data.empty)]));
  if (data.title !== shown) {
    shown = data.title;
    window.scrollTo(0, 0);
  }
});

function element(block: Block, commands: { count: number }): HTMLElement {
  switch (block.kind) {
    case "heading":
      return heading(block);
    case "text":
      return tag("p", "", ...block.pieces.map(piece));
    case "list":
      return tag("section", "", title(block.title), tag("ul", "", ...block.items.map((item) => tag("li", "", ...item.map(piece)))));
    case "code":
      return block.title === undefined ? code(block.text) : folded(block.title, block.text);
    case "table":
      return table(block);
    case "actions":
      return tag("div", "actions", ...block.commands.map((command) => button("action", command.pieces.map(piece), { run: commands.count++ })));
  }
}

function heading(block: Block & { kind: "heading" }): HTMLElement {
  const found = tag("h2", block.severity ?? "", ...block.pieces.map(piece));
  if (block.code !== undefined) {
    found.append(" ", tag("code", "", block.code));
  }
  return found;
}

function table(block: Block & { kind: "table" }): HTMLElement {
  const found = document.createElement("table");
  const isNamed = block.columns.some((column) => column !== "");
  if (block.title !== "") {
    found.append(tag("caption", "", block.title));
  }
  if (isNamed) {
    const names = block.columns.map((column) => (column === "" ? tag("td", "") : header(column, "col")));
    found.append(tag("thead", "", tag("tr", "", ...names)));
  }
  const rows = block.rows.map((row) =>
    tag("tr", "", ...row.map((cell, index) => (index === 0 && !isNamed ? header(words(cell), "row") : tag("td", "", ...cell.map(piece))))),
  );
  found.append(tag("tbody", "", ...rows));
  // wide tables scroll by themselves, and by the keyboard, too
  const frame = tag("div", "scrolled", found);
  frame.tabIndex = 0;
  frame.setAttribute("role", "group");
  frame.setAttribute("aria-label", block.title || "Facts");
  return frame;
}

function header(name: string, scope: "col" | "row"): HTMLElement {
  const found = document.createElement("th");
  found.scope = scope;
  found.textContent = name;
  return found;
}

function words(cell: readonly Piece[]): string {
  return cell.map(({ text }) => text).join("");
}

function folded(name: string, text: string): HTMLElement {
  const found = document.createElement("details");
  found.open = opened.has(name);
  found.addEventListener("toggle", () => (found.open ? opened.add(name) : opened.delete(name)));
  found.append(tag("summary", "", name), code(text));
  return found;
}

function code(text: string): HTMLElement {
  const found = tag("pre", "", tag("code", "", text));
  found.tabIndex = 0;
  return found;
}

function piece(one: Piece): HTMLElement | string {
  if (one.url !== undefined) {
    const link = document.createElement("a");
    link.href = one.url;
    link.textContent = one.text;
    return link;
  }
  if (one.uri !== undefined) {
    return button("link", [one.text], { open: one.uri, line: one.line ?? 0 });
  }
  return one.code === true ? tag("code", "", one.text) : one.text;
}

function button(kind: string, label: readonly (HTMLElement | string)[], message: PanelMessage): HTMLElement {
  const found = document.createElement("button");
  found.type = "button";
  found.className = kind;
  found.append(...label);
  found.addEventListener("click", () => vscode.postMessage(message));
  return found;
}

function title(name: string): HTMLElement {
  return tag("h3", "", name);
}

function paragraph(text: string): HTMLElement {
  return tag("p", "empty", text);
}

function tag(name: string, kind: string, ...children: (HTMLElement | string)[]): HTMLElement {
  const found = document.createElement(name);
  if (kind !== "") {
    found.className = kind;
  }
  found.append(...children);
  return found;
}

vscode.postMessage({ ready: true });
