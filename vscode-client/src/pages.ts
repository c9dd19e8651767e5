// Shows texts of the server as Markdown previews under a title of their own: no file is left behind, and none is unsaved.
import * as vscode from "vscode";

import type { Page } from "./protocol";

const scheme = "compile-lens";
const texts = new Map<string, string>();
const changed = new vscode.EventEmitter<vscode.Uri>();

export function registerPages(): vscode.Disposable {
  return vscode.Disposable.from(
    changed,
    vscode.workspace.registerTextDocumentContentProvider(scheme, {
      onDidChange: changed.event,
      provideTextDocumentContent: (uri) => texts.get(uri.path) ?? "",
    }),
  );
}

/** Shows `page` beside the editor. A page with the same title is replaced. */
export async function showPage(page: Page): Promise<void> {
  const uri = vscode.Uri.from({ scheme, path: `/${page.title.replaceAll("/", "∕")}` });
  texts.set(uri.path, page.markdown);
  changed.fire(uri);
  await vscode.commands.executeCommand("markdown.showPreviewToSide", uri);
}
