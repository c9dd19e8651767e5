// Marks compile regions beside the scroll bar. Findings are marked there by VS Code itself, except hints.
import * as vscode from "vscode";

import type { Server } from "./server";
import { all, toRange } from "./tree";
import type { Node } from "./viewed";

export class OverviewMarks implements vscode.Disposable {
  private nodes: readonly Node[] = [];
  private readonly regions = mark("compileLens.regionMark");
  private readonly hints = mark("compileLens.hintMark");
  private readonly subscriptions: vscode.Disposable[];

  constructor(server: Server) {
    this.subscriptions = [
      server.onTree((files) => {
        this.nodes = files.flatMap(all);
        this.show();
      }),
      vscode.window.onDidChangeVisibleTextEditors(() => this.show()),
    ];
  }

  dispose(): void {
    vscode.Disposable.from(this.regions, this.hints, ...this.subscriptions).dispose();
  }

  private show(): void {
    for (const editor of vscode.window.visibleTextEditors) {
      const uri = editor.document.uri.toString();
      const here = this.nodes.filter((node) => node.uri !== undefined && vscode.Uri.parse(node.uri).toString() === uri);
      editor.setDecorations(this.regions, ranges(here.filter(({ kind }) => kind === "region")));
      editor.setDecorations(this.hints, ranges(here.filter(({ severity }) => severity === "hint")));
    }
  }
}

function mark(color: string): vscode.TextEditorDecorationType {
  return vscode.window.createTextEditorDecorationType({
    overviewRulerColor: new vscode.ThemeColor(color),
    overviewRulerLane: vscode.OverviewRulerLane.Left,
  });
}

function ranges(nodes: readonly Node[]): vscode.Range[] {
  return nodes.flatMap(({ range }) => (range === undefined ? [] : [toRange(range)]));
}
