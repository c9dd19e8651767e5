// The compiler's stages: choosing one, and opening it beside the source. linkedView.ts colors both.
import * as vscode from "vscode";

import { serverCommands, type CommandRunner } from "./protocol";

export const stageScheme = "compile-lens-stage";
export const stageCommands = {
  open: "compileLens.openCompilerStages",
  page: "compileLens.openStagesPage",
  pin: "compileLens.pinStage",
  unpin: "compileLens.unpinStage",
} as const;

interface Stage {
  readonly uri: string;
  readonly title: string;
}

interface Source {
  readonly title: string;
  readonly stale: boolean;
  readonly graphs: readonly { readonly title: string; readonly stages: readonly Stage[] }[];
}

interface Answer {
  readonly sources: readonly Source[];
  readonly gpus?: readonly { readonly name: string; readonly title: string }[];
}

interface Choice extends vscode.QuickPickItem {
  readonly stage?: string;
  readonly again?: true;
  readonly preview?: true;
}

function choices(sources: readonly Source[]): Choice[] {
  return sources.flatMap((source) => {
    const again: Choice[] = source.stale ? [{ label: "$(refresh) Compile Again", description: `${source.title} has changed since`, again: true }] : [];
    const origin = sources.length > 1 ? `${source.title}: ` : "";
    const graphs = source.graphs.flatMap(({ title, stages }): Choice[] => [
      { label: `${origin}${title}`, kind: vscode.QuickPickItemKind.Separator },
      // the filter does not look at separators
      ...stages.map(({ uri, title: label }) => ({ label, description: title, stage: uri })),
    ]);
    return [...again, ...graphs];
  });
}

/** Asks which stage of `uri` to open, and opens it. The server compiles the file if nothing is known of it. */
export async function openStages(server: CommandRunner, uri: string, how?: string): Promise<void> {
  const found = await server.execute<Answer | null>(serverCommands.stages, uri, how);
  if (!found) {
    return; // canceled, or the server has said why
  }
  const preview: Choice = { label: "$(circuit-board) Preview the kernels for a GPU…", description: "the GPU need not be there", preview: true };
  const picked = await vscode.window.showQuickPick([...choices(found.sources), ...(found.gpus ? [preview] : [])], {
    title: "Open Compiler Stages",
    placeHolder: "Choose a stage to open beside the source",
    matchOnDescription: true,
  });
  if (picked?.again) {
    await openStages(server, uri, "again");
  } else if (picked?.preview) {
    const gpus = (found.gpus ?? []).map(({ name, title }) => ({ label: title, name }));
    const gpu = await vscode.window.showQuickPick(gpus, { title: "Preview Kernels", placeHolder: "Choose the GPU to compile for" });
    if (gpu) {
      await openStages(server, uri, `gpu:${gpu.name}`);
    }
  } else if (picked?.stage !== undefined) {
    await showStage(picked.stage);
  }
}

/** Opens a stage at a line (from 1), where another one is shown already, else beside the source. */
export async function showStage(stage: string, line = 0): Promise<void> {
  const uri = vscode.Uri.parse(stage);
  const other = vscode.window.visibleTextEditors.find(({ document }) => document.uri.scheme === stageScheme);
  const place = new vscode.Position(Math.max(line - 1, 0), 0);
  await vscode.window.showTextDocument(await vscode.workspace.openTextDocument(uri), {
    viewColumn: other?.viewColumn ?? vscode.ViewColumn.Beside,
    preview: false,
    ...(line > 0 ? { selection: new vscode.Range(place, place) } : {}),
  });
}

/** Shows all stages of `uri` on one page, with the picture of each graph. The page loads nothing, and its policy allows its own script alone. */
async function showPage(server: CommandRunner, uri: string): Promise<void> {
  const page = await server.execute<{ readonly title: string; readonly html: string } | null>(serverCommands.stagesPage, uri);
  if (page) {
    const options = { enableScripts: true, localResourceRoots: [] };
    const panel = vscode.window.createWebviewPanel("compileLens.stagesPage", `Stages of ${page.title}`, vscode.ViewColumn.Active, options);
    panel.webview.html = page.html;
  }
}

export function registerStages(server: CommandRunner): vscode.Disposable {
  const { registerCommand } = vscode.commands;
  const forFile = (run: (server: CommandRunner, uri: string) => Promise<void>) => async (resource: unknown): Promise<void> => {
    const uri = resource instanceof vscode.Uri ? resource : vscode.window.activeTextEditor?.document.uri;
    if (uri) {
      await run(server, uri.toString());
    }
  };
  return vscode.Disposable.from(
    registerCommand(stageCommands.open, forFile((runner, uri) => openStages(runner, uri))),
    registerCommand(stageCommands.page, forFile(showPage)),
  );
}
