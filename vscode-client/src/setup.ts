// What can be done where no Python runs the server: choose an interpreter, and see what was tried.
import * as vscode from "vscode";

import { label, notice, plain } from "./notices";
import { ask, findPythons, type Probe, type Search } from "./pythons";
import { section } from "./settings";

const select = "Select Interpreter";
const check = "Check Setup";

/** What the notification's buttons do. */
export interface SetupActions {
  selectInterpreter(): Promise<void>;
  checkSetup(): Promise<void>;
}

/** Says once that no server can run, and what to do. */
export async function offerSetup(reason: string, actions: SetupActions): Promise<void> {
  const answer = await vscode.window.showWarningMessage(notice(`Compile Lens cannot start. ${reason}`), select, check);
  if (answer === select) {
    await actions.selectInterpreter();
  } else if (answer === check) {
    await actions.checkSetup();
  }
}

interface Choice extends vscode.QuickPickItem {
  readonly python?: string;
  readonly inPythonExtension?: boolean;
}

/** Lets the user choose the interpreter that runs their files, and the server where it can. */
export async function selectInterpreter(extensionPath: string): Promise<void> {
  const listed = findPythons(extensionPath, true).then(({ tried }): Choice[] => [
    ...tried.filter(({ version }) => version !== undefined).map(choiceOf),
    { label: "", kind: vscode.QuickPickItemKind.Separator },
    ...(vscode.extensions.getExtension("ms-python.python")
      ? [{ label: "$(python) Choose in the Python extension…", inPythonExtension: true }]
      : []),
    { label: "$(folder-opened) Choose a file…" },
  ]);
  const picked = await vscode.window.showQuickPick(listed, {
    title: "Select the Python Interpreter That Runs Your Files",
    placeHolder: "It needs torch",
    matchOnDescription: true,
  });
  if (!picked) {
    return;
  }
  const settings = vscode.workspace.getConfiguration(section);
  if (picked.inPythonExtension) {
    await settings.update("python", undefined, vscode.ConfigurationTarget.Global);
    await vscode.commands.executeCommand("python.setInterpreter");
    return;
  }
  const python = picked.python ?? (await vscode.window.showOpenDialog({ title: "Python Interpreter" }))?.[0]?.fsPath;
  if (python === undefined) {
    return;
  }
  await settings.update("python", python, vscode.ConfigurationTarget.Global);
  const { problem } = await ask({ python, origin: "compileLens.python" }, extensionPath);
  const ownServer = settings.inspect<readonly string[]>("interpreter")?.globalValue;
  if (ownServer && ownServer.length > 0 && problem === undefined) {
    await settings.update("interpreter", undefined, vscode.ConfigurationTarget.Global); // what kept the server from starting
  }
}

function choiceOf({ python, origin, version, torch, problem }: Probe): Choice {
  return {
    label: label(`Python ${version ?? ""}`),
    description: torch ? label(`torch ${torch}`) : "no torch",
    detail: label(problem ? `${python} · ${problem}` : `${python} · ${origin}`),
    python,
  };
}

/** The page of "Check Setup" where there is no server to ask. */
export function setupPage({ found, tried }: Search, problem: string, version: string): string {
  const rows = tried.map(
    (probe) => `| ${probe.problem === undefined ? "✓" : "✗"} | ${plain(probe.python)} | ${probe.version ?? ""} | ${probe.torch ?? ""} | ${plain(probe.problem ?? probe.origin)} |`,
  );
  const rejected = tried.some(({ origin, problem }) => origin === "compileLens.interpreter" && problem !== undefined);
  let advice = "Install Python 3.10 to 3.14, or set `compileLens.interpreter` to one. Then run **Compile Lens: Restart Server**.";
  if (rejected) {
    advice = "`compileLens.interpreter` names an interpreter that cannot run the server. Run **Compile Lens: Select Interpreter**, or change the setting.";
  } else if (found) {
    advice = `${plain(found.python)} can run the server. Run **Compile Lens: Restart Server**.`;
  }
  return [
    "# Compile Lens: setup",
    "",
    `The language server is not running. ${plain(problem)}`,
    "",
    advice,
    "",
    "The server needs a Python of version 3.10 to 3.14; everything else is in the extension. Your files run with an interpreter that has torch.",
    "",
    "| | interpreter | Python | torch | |",
    "|---|---|---|---|---|",
    ...(rows.length > 0 ? rows : ["| ✗ | none found | | | |"]),
    "",
    `Extension ${version} on ${process.platform}-${process.arch}, VS Code ${vscode.version}. Details: **Compile Lens: Show Log**.`,
    "",
  ].join("\n");
}
