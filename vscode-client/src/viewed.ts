// What the server sends for the views (docs/editors/protocol.md): the nodes of the tree, and the blocks of the details panel.
import type { Range } from "vscode-languageclient/node";

interface Command {
  readonly title: string;
  readonly command: string;
  readonly arguments: readonly string[];
}

export interface Node {
  readonly kind: "file" | "region" | "graphs" | "finding" | "runs" | "run" | "change" | "stages" | "trace" | "traced";
  readonly id: string;
  readonly label: string;
  readonly description?: string;
  readonly severity?: "error" | "warning" | "information" | "hint";
  readonly weight?: number;
  readonly uri?: string;
  readonly range?: Range;
  readonly commands?: Readonly<Partial<Record<"run" | "details" | "ignore" | "repro" | "stages", Command>>>;
  readonly children?: readonly Node[];
}

/** A piece of a text. `uri` and `line` lead to a line of a file, `url` to a page. */
export interface Piece {
  readonly text: string;
  readonly code?: boolean;
  readonly uri?: string;
  readonly line?: number;
  readonly url?: string;
}

export type Block =
  | { readonly kind: "heading"; readonly pieces: readonly Piece[]; readonly code?: string; readonly severity?: string }
  | { readonly kind: "text"; readonly pieces: readonly Piece[] }
  | { readonly kind: "list"; readonly title: string; readonly items: readonly (readonly Piece[])[] }
  | { readonly kind: "code"; readonly text: string; readonly title?: string }
  | { readonly kind: "table"; readonly title: string; readonly columns: readonly string[]; readonly rows: readonly (readonly (readonly Piece[])[])[] }
  | { readonly kind: "actions"; readonly commands: readonly (Command & { readonly pieces: readonly Piece[] })[] };

/** What the server answers to `compileLens/detailsAt`. `markdown` is what is copied. */
export interface DetailsAnswer {
  readonly title: string;
  readonly blocks: readonly Block[];
  readonly markdown: string;
}
