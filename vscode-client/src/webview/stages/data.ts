// What the page of stages is made of: the server writes it (formats/stages_page.py), as JSON in the page or as a message.

/** Places are numbers in `PageData.places`; lines count from 1. */
export interface PageData {
  title: string;
  notes: string[];
  files: SourceFile[];
  places: Place[];
  graphs: GraphData[];
  timeline: TimelineData | null;
  device: string;
  /** The id of the graph whose picture is wanted; empty for the whole page. */
  start: string;
}

/** Lines that are not known (the file is not here) are left out. */
export interface SourceFile {
  name: string;
  lines: [number, string][];
}

export interface Place {
  file: number;
  line: number;
  end: number;
}

export interface GraphData {
  id: string;
  title: string;
  kernels: KernelData[];
  /** Those of passes are the last. */
  stages: StageData[];
  passes: PassData[];
  picture: Picture;
}

/** A phase of passes, or one of its passes. `stage` is the number of the document of what it changed, -1 without one. */
export interface PassData {
  name: string;
  depth: number;
  seconds: string;
  changes: string;
  is_changed: boolean;
  stage: number;
}

export interface StageData {
  id: string;
  kind: string;
  title: string;
  kernel: string;
  text: string;
  /** The places of each line that has any. */
  links: Record<string, number[]>;
}

export interface KernelData {
  name: string;
  call: string;
  kind: string;
  /** Of a preview: whether a GPU would have it, and why. */
  certainty: string;
  why: string;
  /** How it may be launched, registers, shared memory and spills of each. */
  configurations: [string, string, string, string][];
  operators: string[];
  places: number[];
  /** Lines in the output code: definition and call. */
  lines: [number, number][];
  moved: string;
  avoided: string;
  operations: string;
  estimate: string;
  limit: string;
}

/** Kernels with the nodes that they compute. Edges are pairs of indexes: of nodes within a kernel, and of kernels. */
export interface Picture {
  groups: PictureGroup[];
  edges: [number, number, string][];
}

export interface PictureGroup {
  title: string;
  kind: string;
  call: string;
  places: number[];
  nodes: PictureNode[];
  edges: [number, number][];
}

export interface PictureNode {
  name: string;
  label: string;
  type: string;
  places: number[];
}

export interface TimelineData {
  total: number;
  phases: string[];
  rows: TimelineRow[];
  caches: string[];
}

export interface TimelineRow {
  title: string;
  start: number;
  seconds: number;
  /** Start, duration, depth, phase and name. */
  spans: [number, number, number, number, string][];
}
