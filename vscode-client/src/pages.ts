// Pages that are made here: shown as rendered Markdown, and never files that ask to be saved.
import * as vscode from "vscode";

const scheme = "compile-lens";

export class Pages implements vscode.TextDocumentContentProvider, vscode.Disposable {
  private readonly texts = new Map<string, string>();
  private readonly changed = new vscode.EventEmitter<vscode.Uri>();
  readonly onDidChange = this.changed.event;
  private readonly registration = vscode.workspace.registerTextDocumentContentProvider(scheme, this);

  provideTextDocumentContent(uri: vscode.Uri): string {
    return this.texts.get(uri.toString()) ?? "";
  }

  /** Shows `markdown` in the preview that is titled `name`. */
  async show(name: string, markdown: string): Promise<void> {
    const uri = vscode.Uri.from({ scheme, path: `${name}.md` });
    this.texts.set(uri.toString(), markdown);
    this.changed.fire(uri);
    await vscode.commands.executeCommand("markdown.showPreview", uri);
  }

  dispose(): void {
    vscode.Disposable.from(this.registration, this.changed).dispose();
  }
}
