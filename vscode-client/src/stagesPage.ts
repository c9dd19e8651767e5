// The page of a region's stages in a panel of the editor. It loads nothing, and its policy allows its own script alone.
import * as vscode from "vscode";

import { serverCommands, type CommandRunner } from "./protocol";
import type { HostMessage } from "./webview/stages/host";

interface Page {
  readonly title: string;
  readonly html: string;
  /** The name of a stage of what the page shows, for questions about it. */
  readonly stage: string;
}

interface Place {
  readonly uri: string;
  readonly line: number;
}

/** Shows all stages of `uri` on one page, with the picture of each graph; with `line` (from 1), the picture of its region's graph first. */
export async function showStagesPage(server: CommandRunner, uri: string, line?: number): Promise<void> {
  const page = await server.execute<Page | null>(serverCommands.stagesPage, uri, line?.toString());
  if (!page) {
    return; // canceled, or the server has said why
  }
  const options = { enableScripts: true, localResourceRoots: [] };
  const column = line === undefined ? vscode.ViewColumn.Active : vscode.ViewColumn.Beside;
  const panel = vscode.window.createWebviewPanel("compileLens.stagesPage", `Stages of ${page.title}`, column, options);
  panel.webview.onDidReceiveMessage((message: HostMessage) =>
    message.kind === "save" ? savePicture(message.name, message.text) : openLine(server, page.stage, message.file, message.line),
  );
  panel.webview.html = page.html;
}

async function savePicture(name: string, text: string): Promise<void> {
  const folder = vscode.workspace.workspaceFolders?.[0]?.uri;
  const chosen = await vscode.window.showSaveDialog({
    ...(folder ? { defaultUri: vscode.Uri.joinPath(folder, name) } : {}),
    filters: { "SVG pictures": ["svg"] },
    title: "Save Graph as SVG",
  });
  if (chosen) {
    await vscode.workspace.fs.writeFile(chosen, new TextEncoder().encode(text));
  }
}

/** Shows a line of the source, as the trace names it, beside the page. The focus stays on the page. */
async function openLine(server: CommandRunner, stage: string, file: string, line: number): Promise<void> {
  const place = await server.execute<Place | null>(serverCommands.stageSource, stage, file, String(line));
  if (!place) {
    return; // the file is not on this machine, or the line is gone
  }
  const uri = vscode.Uri.parse(place.uri);
  const shown = vscode.window.visibleTextEditors.find(({ document }) => document.uri.toString() === uri.toString());
  const at = new vscode.Range(place.line, 0, place.line, 0);
  await vscode.window.showTextDocument(uri, {
    viewColumn: shown?.viewColumn ?? vscode.ViewColumn.Beside,
    preserveFocus: true,
    selection: at,
  });
}
