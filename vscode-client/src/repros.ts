// Asks where a repro is written, and opens one that is only to be looked at in an untitled editor.
import * as vscode from "vscode";

import { label } from "./notices";

/** What the server answers to `compileLens.writeRepro`. */
export interface WrittenRepro {
  readonly text: string;
}

interface Place extends vscode.QuickPickItem {
  readonly where: string;
}

const untitled = "untitled";

/** Where to write the repro of `uri`; undefined if the user does not say. */
export async function chooseReproPlace(uri: string): Promise<string | undefined> {
  const name = vscode.Uri.parse(uri).path.split("/").pop() ?? "";
  const places: Place[] = [
    { label: "$(edit) Untitled Editor", description: "nothing is added to the workspace", where: untitled },
    { label: "$(folder) In the Folder repros", where: "repros" },
    { label: `$(file) Beside ${label(name)}`, where: "beside" },
  ];
  const picked = await vscode.window.showQuickPick(places, { title: "Write a Repro", placeHolder: "Choose where to write the repro" });
  return picked?.where;
}

export async function openRepro(written: WrittenRepro | null | undefined, where: string): Promise<void> {
  if (written && where === untitled) {
    const document = await vscode.workspace.openTextDocument({ language: "python", content: written.text });
    await vscode.window.showTextDocument(document);
  }
}
