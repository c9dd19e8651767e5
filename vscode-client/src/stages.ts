// The compiler's stages: choosing one, and opening it beside the source. linkedView.ts colors both.
import * as vscode from "vscode";

import { label } from "./notices";
import { serverCommands, type CommandRunner } from "./protocol";
import { section } from "./settings";
import { showStagesPage } from "./stagesPage";

export const stageScheme = "compile-lens-stage";
export const stageCommands = {
  open: "compileLens.openCompilerStages",
  page: "compileLens.openStagesPage",
  graph: "compileLens.showRegionGraph",
  preview: "compileLens.previewGpuKernels",
  pin: "compileLens.pinStage",
  unpin: "compileLens.unpinStage",
} as const;

/** What Triton makes of a kernel; they are told apart by their kinds alone. */
const assembly = new Set(["ttir", "ttgir", "llir", "ptx", "sass"]);
const gpuKey = "stages.gpu";
/** What is kept for the workspace. */
let remembered: vscode.Memento | undefined;

interface Stage {
  readonly uri: string;
  readonly title: string;
  readonly kind: string;
  readonly detail: string;
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

interface GpuChoice extends vscode.QuickPickItem {
  readonly name: string;
}

interface Choice extends vscode.QuickPickItem {
  readonly stage?: string;
  readonly again?: true;
  readonly preview?: true;
  readonly gpu?: string;
}

function choices(sources: readonly Source[]): Choice[] {
  return sources.flatMap((source) => {
    const again: Choice[] = source.stale ? [{ label: "$(refresh) Compile Again", description: label(`${source.title} has changed since`), again: true }] : [];
    const origin = sources.length > 1 ? `${source.title}: ` : "";
    const graphs = source.graphs.flatMap(({ title, stages }): Choice[] => [
      { label: label(`${origin}${title}`), kind: vscode.QuickPickItemKind.Separator },
      // the filter does not look at separators
      ...stages.map(({ uri, title: name, kind, detail }) => ({
        label: label(assembly.has(kind) ? `${kind.toUpperCase()} of ${name}` : name),
        description: label(title),
        // below the name, which is long
        ...(detail ? { detail: label(detail) } : {}),
        stage: uri,
      })),
    ]);
    return [...again, ...graphs];
  });
}

function choicesOf(gpus: NonNullable<Answer["gpus"]>): GpuChoice[] {
  return gpus.map(({ name, title }) => ({ label: label(title), name }));
}

/** The GPU to preview for: the setting's, else the one that was chosen last in this workspace. */
function gpuOf(): string | undefined {
  return vscode.workspace.getConfiguration(section).get<string>("stages.gpu")?.trim() || remembered?.get<string>(gpuKey);
}

async function rememberGpu(name: string): Promise<void> {
  await remembered?.update(gpuKey, name);
}

/** Asks which stage of `uri` to open, and opens it. The server compiles the file if nothing is known of it. */
export async function openStages(server: CommandRunner, uri: string, how?: string): Promise<void> {
  const found = await server.execute<Answer | null>(serverCommands.stages, uri, how);
  if (!found) {
    return; // canceled, or the server has said why
  }
  const gpus = choicesOf(found.gpus ?? []);
  const chosen = gpuOf();
  const known = chosen && { label: gpus.find(({ name }) => name === chosen)?.label ?? chosen, name: chosen };
  const preview: Choice[] = [
    { label: "", kind: vscode.QuickPickItemKind.Separator },
    ...(known ? [{ label: `$(circuit-board) Preview the kernels for ${label(known.label)}`, description: "the GPU need not be there", gpu: known.name }] : []),
    { label: `$(circuit-board) Preview the kernels for ${known ? "another" : "a"} GPU…`, description: "the GPU need not be there", preview: true },
  ];
  const picked = await vscode.window.showQuickPick([...choices(found.sources), ...(found.gpus ? preview : [])], {
    title: "Open Compiler Stages",
    placeHolder: "Choose a stage to open beside the source",
    matchOnDescription: true,
    matchOnDetail: true,
  });
  if (picked?.again) {
    await openStages(server, uri, "again");
  } else if (picked?.preview) {
    await previewFor(server, uri, gpus);
  } else if (picked?.gpu !== undefined) {
    await openStages(server, uri, `gpu:${picked.gpu}`);
  } else if (picked?.stage !== undefined) {
    await showStage(picked.stage);
  }
}

/** Asks for the GPU, compiles `uri` as for it, and asks which stage to open. */
async function previewFor(server: CommandRunner, uri: string, gpus: readonly GpuChoice[]): Promise<void> {
  const chosen = gpuOf();
  const ordered = [...gpus].sort((one, other) => Number(other.name === chosen) - Number(one.name === chosen));
  const gpu = await vscode.window.showQuickPick(ordered, { title: "Preview Kernels", placeHolder: "Choose the GPU to compile for" });
  if (gpu) {
    await rememberGpu(gpu.name);
    await openStages(server, uri, `gpu:${gpu.name}`);
  }
}

/** The same for a file that has not been compiled, and need not be for this machine. */
async function previewKernels(server: CommandRunner, uri: string): Promise<void> {
  const known = await server.execute<Answer | null>(serverCommands.stages, uri, "gpus");
  if (known?.gpus) {
    await previewFor(server, uri, choicesOf(known.gpus));
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

/** The line of the cursor (from 1), if `uri` is in the active editor. */
function lineOf(uri: string): number | undefined {
  const editor = vscode.window.activeTextEditor;
  return editor?.document.uri.toString() === uri ? editor.selection.active.line + 1 : undefined;
}

export function registerStages(server: CommandRunner, workspaceState: vscode.Memento): vscode.Disposable {
  remembered = workspaceState;
  const { registerCommand } = vscode.commands;
  const forFile = (run: (server: CommandRunner, uri: string) => Promise<void>) => async (resource: unknown): Promise<void> => {
    const uri = resource instanceof vscode.Uri ? resource : vscode.window.activeTextEditor?.document.uri;
    if (uri) {
      await run(server, uri.toString());
    }
  };
  return vscode.Disposable.from(
    registerCommand(stageCommands.open, forFile((runner, uri) => openStages(runner, uri))),
    registerCommand(stageCommands.preview, forFile(previewKernels)),
    registerCommand(stageCommands.page, forFile((runner, uri) => showStagesPage(runner, uri))),
    registerCommand(stageCommands.graph, forFile((runner, uri) => showStagesPage(runner, uri, lineOf(uri)))),
  );
}
