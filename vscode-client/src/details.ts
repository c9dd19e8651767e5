// The details panel follows the cursor. The server says what is in it, and webview/details.ts shows that.
import { randomBytes } from "node:crypto";
import * as vscode from "vscode";

import { detailsRequest, type DetailsParams } from "./protocol";
import type { Server } from "./server";
import type { Block, DetailsAnswer } from "./viewed";

/** What the panel shows: the blocks, or the text `empty` where there are none. */
export interface Details {
  readonly title: string;
  readonly blocks: readonly Block[];
  readonly empty: string;
}

/** What the panel asks for: only places and commands that the server sent. `run` is the number of an action. */
export type PanelMessage = { readonly ready: true } | { readonly open: string; readonly line: number } | { readonly run: number };

export const detailsView = "compileLens.details";
export const detailsCommands = {
  pin: "compileLens.pinDetails",
  unpin: "compileLens.unpinDetails",
  copy: "compileLens.copyDetails",
} as const;

const nothing: DetailsAnswer = { title: "", blocks: [], markdown: "" };
// a cursor that is held down moves 30 times a second
const pauseMs = 80;

export class DetailsPanel implements vscode.WebviewViewProvider, vscode.Disposable {
  private view: vscode.WebviewView | undefined;
  private answer = nothing;
  private isPinned = false;
  private timer: NodeJS.Timeout | undefined;
  private readonly subscriptions: vscode.Disposable[];

  constructor(
    private readonly extension: vscode.Uri,
    private readonly server: Server,
  ) {
    const { registerCommand } = vscode.commands;
    this.subscriptions = [
      vscode.window.registerWebviewViewProvider(detailsView, this),
      vscode.window.onDidChangeTextEditorSelection(() => this.follow()),
      vscode.window.onDidChangeActiveTextEditor(() => this.follow()),
      server.onTree(() => this.follow()),
      registerCommand(detailsCommands.pin, () => this.pin(true)),
      registerCommand(detailsCommands.unpin, () => this.pin(false)),
      registerCommand(detailsCommands.copy, () => vscode.env.clipboard.writeText(this.answer.markdown)),
    ];
  }

  resolveWebviewView(view: vscode.WebviewView): void {
    this.view = view;
    const media = vscode.Uri.joinPath(this.extension, "media");
    const dist = vscode.Uri.joinPath(this.extension, "dist");
    view.webview.options = { enableScripts: true, localResourceRoots: [media, dist] };
    const style = view.webview.asWebviewUri(vscode.Uri.joinPath(media, "details.css")).toString();
    const script = view.webview.asWebviewUri(vscode.Uri.joinPath(dist, "details.js")).toString();
    view.webview.html = page(view.webview.cspSource, style, script);
    view.onDidChangeVisibility(() => this.follow());
    view.onDidDispose(() => (this.view = undefined));
    view.webview.onDidReceiveMessage((message: PanelMessage) => this.on(message));
  }

  dispose(): void {
    clearTimeout(this.timer);
    vscode.Disposable.from(...this.subscriptions).dispose();
  }

  private async on(message: PanelMessage): Promise<void> {
    if ("ready" in message) {
      this.show();
      this.follow();
    } else if ("open" in message) {
      const place = new vscode.Position(message.line, 0);
      await vscode.window.showTextDocument(vscode.Uri.parse(message.open), { selection: new vscode.Range(place, place) });
    } else {
      const commands = this.answer.blocks.flatMap((block) => (block.kind === "actions" ? block.commands : []));
      const command = commands[message.run];
      if (command) {
        await vscode.commands.executeCommand(command.command, ...command.arguments);
      }
    }
  }

  private pin(isPinned: boolean): void {
    this.isPinned = isPinned;
    void vscode.commands.executeCommand("setContext", "compileLens.detailsPinned", isPinned);
    this.follow();
  }

  /** Shows what is at the cursor, once it rests. */
  private follow(): void {
    if (this.isPinned || !this.view?.visible) {
      return;
    }
    clearTimeout(this.timer);
    this.timer = setTimeout(() => void this.ask(), pauseMs);
  }

  private async ask(): Promise<void> {
    const editor = vscode.window.activeTextEditor;
    const isPython = editor?.document.languageId === "python" && ["file", "vscode-notebook-cell"].includes(editor.document.uri.scheme);
    const answer = isPython ? await this.server.ask(detailsRequest, place(editor)) : undefined;
    if (!this.isPinned) {
      this.answer = answer ?? nothing;
      this.show();
    }
  }

  private show(): void {
    if (!this.view) {
      return;
    }
    const { title, blocks } = this.answer;
    this.view.description = title;
    const empty = title === "" ? "Open a Python file that uses torch.compile." : "Nothing was found at the cursor.";
    const details: Details = { title, blocks, empty };
    void this.view.webview.postMessage(details);
  }
}

function place({ document, selection }: vscode.TextEditor): DetailsParams {
  const { line, character } = selection.active;
  return { textDocument: { uri: document.uri.toString() }, position: { line, character } };
}

function page(source: string, style: string, script: string): string {
  const nonce = randomBytes(16).toString("hex");
  return `<!DOCTYPE html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src ${source}; script-src 'nonce-${nonce}'">
    <title>Compile Lens: Details</title>
    <link rel="stylesheet" href="${style}">
  </head>
  <body>
    <main aria-label="Details at the cursor"></main>
    <script nonce="${nonce}" src="${script}"></script>
  </body>
</html>`;
}
