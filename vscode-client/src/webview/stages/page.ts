/// <reference lib="dom" />
/// <reference lib="dom.iterable" />
// The page of a region's stages: source and code side by side, the kernels, the graph, the timeline. It asks nothing of a network.
import { CodePane, type CodeLine } from "./codePane";
import type { GraphData, KernelData, PageData, StageData } from "./data";
import { button, tag } from "./elements";
import { drawPicture } from "./graphPicture";
import { host } from "./host";
import { passTable } from "./passTable";
import { Selection, type Chosen } from "./selection";
import { drawTimeline } from "./timelinePicture";

const data = JSON.parse(document.getElementById("data")?.textContent ?? "null") as PageData;
const selection = new Selection();
const source = new CodePane(selection, "Source");
const code = new CodePane(selection, "Generated code");
const stageTabs = tag("div", "tabs");
const kernelTable = tag("div", "kernels");
const passes = tag("section", "passes");
const picture = tag("div", "graph");
const fileName = tag("span", "file");
let shown: GraphData | undefined;
let shownFile = -1;
let isDrawn = false;

stageTabs.setAttribute("role", "tablist");
stageTabs.setAttribute("aria-label", "Stages");
stageTabs.addEventListener("keydown", onTabKey);
start(document.querySelector("main") as HTMLElement);

function start(main: HTMLElement): void {
  const graphs = picker("Graph", data.graphs.map((graph) => graph.title), (index) => showGraph(index));
  const files = data.files.length > 1 ? [picker("File", data.files.map((file) => file.name), showFile)] : [];
  const panes = tag("div", "panes", tag("section", "", tag("h2", "", "Source ", fileName), source.element), tag("section", "", stageTabs, code.element));
  main.append(tag("div", "pickers", graphs, ...files, button("Clear", "Nothing is chosen (Escape)", () => selection.clear(main))), panes);
  main.append(tag("h2", "", data.device === "" ? "Kernels" : `Kernels, estimated for ${data.device}`), kernelTable, passes);
  const graphTitle = tag("h2", "", "Graph");
  main.append(graphTitle, tag("p", "soft", "Drag to move. Zoom with Ctrl and the wheel, or with + and −."), picture);
  if (data.timeline !== null) {
    main.append(tag("h2", "", `Compile time: ${data.timeline.total.toFixed(2)} s`), ...data.timeline.caches.map((line) => tag("p", "soft", line)), drawTimeline(data.timeline));
  }
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape") {
      selection.clear(main);
    }
  });
  // a place in another file is shown there, once it is chosen
  selection.onChange((chosen, from, isPinned) => {
    const first = [...chosen.places].map((index) => data.places[index]?.file).filter((file) => file !== undefined);
    if (isPinned && from !== source && first[0] !== undefined && !first.includes(shownFile)) {
      showFile(first[0]);
    }
  });
  // in an editor, a click on what was made of a line opens the line
  selection.onChange((chosen, from, isPinned) => {
    const place = data.places[[...chosen.places][0] ?? -1];
    const file = data.files[place?.file ?? -1];
    if (isPinned && from !== source && from !== code && place !== undefined && file !== undefined) {
      host?.postMessage({ kind: "open", file: file.name, line: place.line });
    }
  });
  // far down, and slow for a large graph: it is drawn when it comes into view
  new IntersectionObserver((entries) => {
    if (entries.some((entry) => entry.isIntersecting)) {
      drawGraph();
    }
  }).observe(picture);
  const wanted = data.graphs.findIndex((graph) => graph.id === data.start);
  showGraph(Math.max(wanted, 0));
  if (wanted >= 0) {
    graphs.querySelector("select")?.options.item(wanted)?.setAttribute("selected", "");
    drawGraph(); // its height is known then
    graphTitle.scrollIntoView();
  }
}

function picker(name: string, titles: string[], choose: (index: number) => void): HTMLElement {
  const select = tag("select", "", ...titles.map((title) => tag("option", "", title)));
  select.addEventListener("change", () => choose(select.selectedIndex));
  select.name = name;
  return tag("label", "", `${name} `, select);
}

function showGraph(index: number): void {
  shown = data.graphs[index];
  selection.clear(stageTabs);
  if (shown === undefined) {
    return;
  }
  const { stages, kernels } = shown;
  passes.replaceChildren(...(shown.passes.length > 0 ? [tag("h2", "", "Passes"), passTable(shown.passes, openPass)] : []));
  const first = stages.findIndex((stage) => stage.id.endsWith("/output_code"));
  showStage(first < 0 ? stages.length - 1 : first);
  kernelTable.replaceChildren(kernels.length > 0 ? table(kernels) : tag("p", "soft", "This graph has no kernels in the trace."));
  const places = kernels.flatMap((kernel) => kernel.places).concat(stages.flatMap((stage) => Object.values(stage.links).flat()));
  const file = places.map((place) => data.places[place]?.file).find((found) => found !== undefined);
  showFile(file ?? (shownFile < 0 ? 0 : shownFile));
  isDrawn = false;
  picture.replaceChildren();
  const bounds = picture.getBoundingClientRect();
  if (bounds.top < window.innerHeight && bounds.bottom > 0) {
    drawGraph();
  }
}

function drawGraph(): void {
  if (!isDrawn && shown !== undefined) {
    isDrawn = true;
    if (shown.picture.groups.length > 0) {
      drawPicture(picture, shown.picture, { selection, name: shown.title, ...(host ? { save } : {}) });
    } else {
      picture.replaceChildren(tag("p", "soft", "The trace does not name the nodes of this graph's kernels."));
    }
  }
}

function save(text: string, name: string): void {
  host?.postMessage({ kind: "save", name, text });
}

function openPass(position: number): void {
  showStage(position);
  stageTabs.scrollIntoView({ block: "nearest" });
}

function tab(stage: StageData, position: number): HTMLButtonElement {
  const found = button(stage.title, stage.id, () => showStage(position));
  found.setAttribute("role", "tab");
  found.dataset["position"] = String(position);
  return found;
}

function showStage(position: number): void {
  const stage = shown?.stages[position];
  if (stage === undefined || shown === undefined) {
    return;
  }
  // of the passes, the one that is shown
  const tabs = shown.stages.flatMap((one, index) => (one.kind !== "pass" || index === position ? [tab(one, index)] : []));
  for (const one of tabs) {
    const isShown = one.dataset["position"] === String(position);
    one.setAttribute("aria-selected", String(isShown));
    one.tabIndex = isShown ? 0 : -1;
  }
  const hadFocus = stageTabs.contains(document.activeElement);
  stageTabs.replaceChildren(...tabs);
  if (hadFocus) {
    tabs.find((one) => one.tabIndex === 0)?.focus();
  }
  const kernels = shown.kernels;
  const isCode = stage.id.endsWith("/output_code");
  const kernelAt = (line: number): string =>
    isCode ? (kernels.find((kernel) => kernel.lines.some(([first, last]) => first <= line && line <= last))?.call ?? "") : "";
  code.fill(
    stage.text.split("\n").map((text, index): CodeLine => ({
      number: index + 1,
      text,
      places: stage.links[String(index + 1)] ?? [],
      kernel: kernelAt(index + 1),
      sign: stage.kind === "pass" ? text.slice(0, 1) : "",
    })),
  );
}

function onTabKey(event: KeyboardEvent): void {
  const tabs = [...stageTabs.children] as HTMLElement[];
  const now = tabs.findIndex((one) => one.getAttribute("aria-selected") === "true");
  const next = { ArrowRight: now + 1, ArrowLeft: now - 1, Home: 0, End: tabs.length - 1 }[event.key];
  const chosen = next === undefined ? undefined : tabs[next];
  if (chosen !== undefined) {
    showStage(Number(chosen.dataset["position"]));
    event.preventDefault();
  }
}

function showFile(index: number): void {
  const file = data.files[index];
  if (file === undefined || index === shownFile) {
    return;
  }
  shownFile = index;
  fileName.textContent = file.name;
  const select = document.querySelector<HTMLSelectElement>("select[name=File]");
  if (select !== null) {
    select.selectedIndex = index;
  }
  const places = new Map<number, number[]>();
  data.places.forEach((place, number) => {
    for (let line = place.line; place.file === index && line <= place.end; line += 1) {
      places.set(line, [...(places.get(line) ?? []), number]);
    }
  });
  source.fill(file.lines.map(([number, text]): CodeLine => ({ number, text, places: places.get(number) ?? [], kernel: "", sign: "" })));
}

function table(kernels: KernelData[]): HTMLTableElement {
  const columns: [string, (kernel: KernelData) => string][] = [
    ["Kernel", (kernel) => kernel.name],
    ["Kind", (kernel) => kernel.kind],
    ["Certainty", (kernel) => kernel.certainty],
    ["Operators", (kernel) => kernel.operators.join(", ")],
    ["Source", (kernel) => kernel.places.map(placeName).join(", ")],
    ["Reads and writes", (kernel) => kernel.moved],
    ["Avoided", (kernel) => kernel.avoided],
    ["Operations", (kernel) => kernel.operations],
    ["At best", (kernel) => kernel.estimate],
    ["Limited by", (kernel) => kernel.limit],
    ...["Configurations", "Registers", "Shared", "Spills"].map((name, part): [string, (kernel: KernelData) => string] => [
      name,
      (kernel) => (kernel.configurations.some((one) => one[part] !== "") ? kernel.configurations.map((one) => one[part] ?? "").join("\n") : ""),
    ]),
  ];
  const used = columns.filter(([, cell]) => kernels.some((kernel) => cell(kernel) !== ""));
  const rows = kernels.map((kernel) => {
    const row = tag("tr", "", ...used.map(([, cell]) => tag("td", "", cell(kernel))));
    row.title = kernel.why;
    const chosen: Chosen = { places: new Set(kernel.places), kernel: kernel.call };
    row.tabIndex = 0;
    row.addEventListener("pointerenter", () => selection.point(chosen, row));
    row.addEventListener("click", () => selection.pin(chosen, row));
    row.addEventListener("keydown", (event) => {
      if (event.key === "Enter") {
        selection.pin(chosen, row);
      }
    });
    selection.onChange((now) => row.classList.toggle("lit", isOf(kernel, now)));
    return row;
  });
  const header = tag("tr", "", ...used.map(([name]) => tag("th", "", name)));
  return tag("table", "", tag("thead", "", header), tag("tbody", "", ...rows));
}

function isOf(kernel: KernelData, chosen: Chosen): boolean {
  return chosen.kernel === "" ? kernel.places.some((place) => chosen.places.has(place)) : kernel.call === chosen.kernel;
}

function placeName(index: number): string {
  const place = data.places[index];
  const name = data.files[place?.file ?? -1]?.name ?? "";
  return `${name.split(/[\\/]/).pop() ?? ""}:${place?.line ?? ""}`;
}
