// Traces of other runs: choosing one, and saying what was found in it.
import * as vscode from "vscode";

import { serverCommands } from "./protocol";
import type { Server } from "./server";

interface OpenedTrace {
  readonly ranks: number;
  readonly findings: number;
  readonly elsewhere: number;
  readonly files: readonly string[];
  readonly notes: readonly string[];
}

function counted(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? "" : "s"}`;
}

async function chooseTrace(): Promise<vscode.Uri | undefined> {
  const folder: vscode.QuickPickItem = { label: "$(folder) Folder", description: "a TORCH_TRACE folder, one file per rank, or the output of tlparse" };
  const file: vscode.QuickPickItem = { label: "$(file) File", description: "a trace, also compressed (.gz, .zst) or packed (.tar.gz)" };
  const kind = await vscode.window.showQuickPick([folder, file], { title: "Open Compile Trace", placeHolder: "What to open" });
  if (!kind) {
    return undefined;
  }
  const chosen = await vscode.window.showOpenDialog({
    title: "Open Compile Trace",
    openLabel: "Open Trace",
    canSelectFiles: kind === file,
    canSelectFolders: kind === folder,
    canSelectMany: false,
  });
  return chosen?.[0];
}

/** Opens the trace at `resource` (given by a menu), or one that the user chooses, and shows the first file that it has findings in. */
export async function openTrace(server: Server, resource: unknown): Promise<void> {
  const uri = resource instanceof vscode.Uri ? resource : await chooseTrace();
  if (!uri) {
    return;
  }
  const opened = await vscode.window.withProgress({ location: vscode.ProgressLocation.Window, title: "Compile Lens: reading the trace" }, () =>
    server.execute<OpenedTrace | null>(serverCommands.openTrace, uri.toString()),
  );
  if (!opened) {
    return; // the server has said why
  }
  const ranks = opened.ranks > 1 ? ` on ${counted(opened.ranks, "rank")}` : "";
  const elsewhere = opened.elsewhere > 0 ? ` ${counted(opened.elsewhere, "finding")} in files that are not here.` : "";
  const notes = opened.notes.map((note) => ` ${note}`).join("");
  void vscode.window.showInformationMessage(
    `Compile Lens: ${counted(opened.findings, "finding")}${ranks} in ${counted(opened.files.length, "file")}.${elsewhere}${notes}`,
  );
  const first = opened.files[0];
  if (first !== undefined) {
    await vscode.window.showTextDocument(vscode.Uri.parse(first));
  }
}
