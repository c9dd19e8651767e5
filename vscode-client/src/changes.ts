// Changes that the server suggests: a diff beside the text, and a question. Nothing changes before the answer.
import * as vscode from "vscode";

import { notice } from "./notices";
import type { Change } from "./protocol";

const scheme = "compile-lens-change";
const apply = "Apply";

/** The commands at the title of the diff. */
export const changeCommands = { apply: "compileLens.applyChange", discard: "compileLens.discardChange" } as const;

let shown = 0;
let decide: ((wanted: boolean) => void) | undefined;

/** Shows a change, and gives whether the user wants it. Closing the diff is a no. */
export async function confirmChange({ uri, text, title, message }: Change): Promise<boolean> {
  decide?.(false); // one at a time
  const before = vscode.Uri.parse(uri);
  const after = vscode.Uri.from({ scheme, path: before.path, query: String(++shown) });
  const isDiff = ({ input }: vscode.Tab): boolean =>
    input instanceof vscode.TabInputTextDiff && input.modified.toString() === after.toString();
  const decided = new Promise<boolean>((resolve) => (decide = resolve));
  const listening = vscode.Disposable.from(
    vscode.workspace.registerTextDocumentContentProvider(scheme, {
      provideTextDocumentContent: (asked) => (asked.toString() === after.toString() ? text : undefined),
    }),
    vscode.window.tabGroups.onDidChangeTabs(({ closed }) => {
      if (closed.some(isDiff)) {
        decide?.(false);
      }
    }),
  );
  try {
    await vscode.commands.executeCommand("vscode.diff", before, after, title);
    const asked = vscode.window.showInformationMessage(notice(message), apply, "Discard").then((answer) => answer === apply);
    return await Promise.race([decided, asked]);
  } finally {
    decide = undefined;
    listening.dispose();
    await vscode.window.tabGroups.close(vscode.window.tabGroups.all.flatMap(({ tabs }) => tabs.filter(isDiff)));
  }
}

export function registerChanges(): vscode.Disposable {
  return vscode.Disposable.from(
    vscode.commands.registerCommand(changeCommands.apply, () => decide?.(true)),
    vscode.commands.registerCommand(changeCommands.discard, () => decide?.(false)),
  );
}
