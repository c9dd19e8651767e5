// Traces of other runs: choosing one, saying what was found in it, and following those of a job that still runs.
import * as vscode from "vscode";

import { notice } from "./notices";
import { serverCommands } from "./protocol";
import type { Server } from "./server";
import { openStages } from "./stages";

interface OpenedTrace {
  readonly ranks: number;
  readonly findings: number;
  readonly elsewhere: number;
  readonly files: readonly string[];
  readonly notes: readonly string[];
  /** The first stage of a folder that has stages alone. */
  readonly stages?: string;
}

function counted(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? "" : "s"}`;
}

async function chooseTrace(): Promise<vscode.Uri | undefined> {
  const folder: vscode.QuickPickItem = { label: "$(folder) Folder", description: "a TORCH_TRACE folder, one file per rank, the output of tlparse, or torch_compile_debug" };
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
  if (opened.stages !== undefined) {
    await openStages(server, opened.stages);
    return;
  }
  const ranks = opened.ranks > 1 ? ` on ${counted(opened.ranks, "rank")}` : "";
  const elsewhere = opened.elsewhere > 0 ? ` ${counted(opened.elsewhere, "finding")} in files that are not here.` : "";
  const notes = opened.notes.map((note) => ` ${note}`).join("");
  void vscode.window.showInformationMessage(
    notice(`Compile Lens: ${counted(opened.findings, "finding")}${ranks} in ${counted(opened.files.length, "file")}.${elsewhere}${notes}`),
  );
  const first = opened.files[0];
  if (first !== undefined) {
    await vscode.window.showTextDocument(vscode.Uri.parse(first));
  }
}

interface RunToFollow {
  readonly command: readonly [string, ...string[]];
  readonly cwd: string;
  readonly environment: Readonly<Record<string, string>>;
  readonly folder: string;
}

/** Follows the folder at `resource` (given by a menu), or one that the user chooses: findings appear while the job runs. */
export async function followTraces(server: Server, resource: unknown): Promise<void> {
  const chosen =
    resource instanceof vscode.Uri
      ? resource
      : (
          await vscode.window.showOpenDialog({
            title: "Follow Compile Traces: the folder that TORCH_TRACE names in the running job",
            openLabel: "Follow",
            canSelectFiles: false,
            canSelectFolders: true,
          })
        )?.[0];
  if (chosen) {
    await server.execute(serverCommands.followTraces, chosen.toString());
  }
}

/** Runs the file as the user would, in a terminal, and shows its findings while it runs. They stay when it has ended. */
export async function runAndFollow(server: Server, resource: unknown): Promise<void> {
  const document = vscode.window.activeTextEditor?.document;
  const file = resource instanceof vscode.Uri ? resource : document?.uri;
  if (!file || (document?.uri.toString() === file.toString() && document.isDirty && !(await document.save()))) {
    return;
  }
  const run = await server.execute<RunToFollow | null>(serverCommands.runAndFollow, file.toString());
  if (!run) {
    return; // the server has said why
  }
  const [python, ...args] = run.command;
  const execution = new vscode.ProcessExecution(python, args, { cwd: run.cwd, env: { ...run.environment } });
  const name = `Run ${vscode.workspace.asRelativePath(file)} and follow its compilations`;
  const task = new vscode.Task({ type: "process" }, vscode.TaskScope.Workspace, name, "Compile Lens", execution, []);
  const stop = (): Promise<unknown> => server.execute(serverCommands.stopFollowingTraces, run.folder);
  try {
    const running = await vscode.tasks.executeTask(task);
    const subscription = vscode.tasks.onDidEndTask((ended) => {
      if (ended.execution === running) {
        subscription.dispose();
        void stop();
      }
    });
  } catch (error) {
    await stop();
    throw error;
  }
}
