// Where the boxes of a picture go: dagre lays out the nodes of each kernel, then the kernels. Two small problems instead of one large
// one keep a region of fifty kernels quick, and a kernel never overlaps another.
import { Graph, layout } from "@dagrejs/dagre";
import type { Picture, PictureGroup } from "./data";

export interface Box {
  x: number;
  y: number;
  width: number;
  height: number;
}

export interface Line {
  from: number;
  to: number;
  points: { x: number; y: number }[];
}

export interface GroupLayout extends Box {
  nodes: Box[];
  lines: Line[];
}

export interface PictureLayout {
  width: number;
  height: number;
  groups: GroupLayout[];
  lines: Line[];
}

const CHARACTER = 6.7;
export const NODE_HEIGHT = 34;
const HEADER = 26;
const PADDING = 10;

export function place(picture: Picture): PictureLayout {
  const inner = picture.groups.map(within);
  const outer = arrange(inner, picture.edges.map(([from, to]) => [from, to]), 34, 46);
  return {
    width: outer.width,
    height: outer.height,
    groups: inner.map((group, index) => ({ ...group, ...(outer.boxes[index] as Box) })),
    lines: outer.lines,
  };
}

function within(group: PictureGroup): GroupLayout {
  const sizes = group.nodes.map((node) => ({
    width: Math.max(node.label.length, node.type.length, 5) * CHARACTER + 16,
    height: NODE_HEIGHT,
  }));
  const { boxes, lines, width, height } = arrange(sizes, group.edges, 14, 18);
  const shift = { x: PADDING, y: HEADER };
  return {
    x: 0,
    y: 0,
    width: Math.max(width + 2 * PADDING, group.title.length * CHARACTER + 2 * PADDING),
    height: height + HEADER + PADDING,
    nodes: boxes.map((box) => ({ ...box, x: box.x + shift.x, y: box.y + shift.y })),
    lines: lines.map((line) => ({ ...line, points: line.points.map(({ x, y }) => ({ x: x + shift.x, y: y + shift.y })) })),
  };
}

/** Boxes by their top left corner. */
function arrange(sizes: { width: number; height: number }[], edges: [number, number][], apart: number, ranks: number) {
  if (sizes.length === 0) {
    return { boxes: [] as Box[], lines: [] as Line[], width: 0, height: 0 };
  }
  const graph = new Graph({ multigraph: true });
  graph.setGraph({ rankdir: "TB", nodesep: apart, ranksep: ranks, marginx: 2, marginy: 2 });
  graph.setDefaultEdgeLabel(() => ({}));
  sizes.forEach(({ width, height }, index) => graph.setNode(String(index), { width, height }));
  const kept = edges.filter(([from, to]) => from !== to && from < sizes.length && to < sizes.length);
  kept.forEach(([from, to], index) => graph.setEdge(String(from), String(to), {}, String(index)));
  layout(graph);
  const boxes = sizes.map(({ width, height }, index): Box => {
    const { x, y } = graph.node(String(index)) as { x: number; y: number };
    return { x: x - width / 2, y: y - height / 2, width, height };
  });
  const lines = kept.map(([from, to], index): Line => {
    const edge = graph.edge(String(from), String(to), String(index)) as { points?: { x: number; y: number }[] };
    return { from, to, points: edge.points ?? [] };
  });
  return {
    boxes,
    lines,
    width: Math.max(...boxes.map((box) => box.x + box.width)) + 2,
    height: Math.max(...boxes.map((box) => box.y + box.height)) + 2,
  };
}
