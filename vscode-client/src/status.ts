// The status bar item: shows what the server does; a click offers what can be done.
import * as vscode from "vscode";

import { localCommands } from "./commands";
import { plain } from "./notices";
import { isWorking, type ServerStatus } from "./protocol";
import type { Server } from "./server";

const name = "Compile Lens";

interface Appearance {
  readonly text: string;
  readonly background?: vscode.ThemeColor;
}

function appearance(status: ServerStatus, trusted: boolean, waitsForConsent: boolean): Appearance {
  if (status.health === "error") {
    return { text: `$(error) ${name}`, background: new vscode.ThemeColor("statusBarItem.errorBackground") };
  }
  if (status.state === "starting") {
    return { text: `$(loading~spin) ${name}: starting` };
  }
  if (!trusted) {
    return { text: `$(shield) ${name}: restricted` };
  }
  if (status.state === "analyzing") {
    return { text: `$(sync~spin) ${name}: analyzing` };
  }
  if (waitsForConsent && status.findings === 0) {
    return { text: `$(question) ${name}: allow runs?` };
  }
  if (status.state === "off") {
    return { text: `$(circle-slash) ${name}: off` };
  }
  const findings = findingsHere(status);
  if (findings > 0) {
    return { text: `$(telescope) ${name}: ${findings} ${findings === 1 ? "finding" : "findings"}` };
  }
  return { text: status.health === "warning" ? `$(warning) ${name}` : `$(telescope) ${name}` };
}

/** The number of findings in the active editor, as the item is about what is looked at. */
function findingsHere({ counts, findings }: ServerStatus): number {
  const uri = vscode.window.activeNotebookEditor?.notebook.uri ?? vscode.window.activeTextEditor?.document.uri;
  return counts === undefined ? findings : (counts[uri?.toString() ?? ""] ?? 0);
}

export class StatusItem implements vscode.Disposable {
  private readonly item = vscode.window.createStatusBarItem("compileLens.status", vscode.StatusBarAlignment.Left, 0);
  private readonly subscriptions: vscode.Disposable[];

  constructor(private readonly server: Server) {
    this.item.name = name;
    this.item.command = localCommands.showActions;
    this.subscriptions = [
      server.onStatus(() => this.show()),
      vscode.workspace.onDidGrantWorkspaceTrust(() => this.show()),
      vscode.window.onDidChangeActiveTextEditor(() => this.show()),
    ];
    this.show();
    this.item.show();
  }

  dispose(): void {
    vscode.Disposable.from(this.item, ...this.subscriptions).dispose();
  }

  private show(): void {
    const { status } = this.server;
    const trusted = vscode.workspace.isTrusted;
    const { text, background } = appearance(status, trusted, this.server.waitsForConsent);
    this.item.text = text;
    this.item.backgroundColor = background;
    this.item.tooltip = tooltip(this.server, trusted);
    void vscode.commands.executeCommand("setContext", "compileLens.running", this.server.running);
    void vscode.commands.executeCommand("setContext", "compileLens.waitsForConsent", this.server.waitsForConsent);
    void vscode.commands.executeCommand("setContext", "compileLens.analyzing", isWorking(status));
  }
}

function tooltip({ status, running, environment, waitsForConsent }: Server, trusted: boolean): vscode.MarkdownString {
  const text = new vscode.MarkdownString(undefined, true);
  text.isTrusted = { enabledCommands: [...Object.values(localCommands), "workbench.trust.manage"] };
  text.appendMarkdown(`**${name}**\n\n`);
  text.appendMarkdown(plain(trusted ? status.message : "This workspace is not trusted, so its files do not run."));
  if (trusted && environment) {
    const { python, torch } = environment;
    text.appendMarkdown(`\n\n${plain(python)} · ${torch === undefined ? "no torch" : plain(`torch ${torch}`)}`);
  }
  const links: string[] = [];
  if (!trusted) {
    links.push("[Manage Workspace Trust](command:workbench.trust.manage)");
  } else if (isWorking(status)) {
    links.push(`[Cancel](command:${localCommands.cancelAnalysis})`);
  } else if (running) {
    if (waitsForConsent || status.state === "off") {
      links.push(`[Allow Background Runs](command:${localCommands.allowRuns})`);
    }
    links.push(`[Analyze Current File](command:${localCommands.analyzeFile})`);
    if (waitsForConsent) {
      links.push(`[What Does This Do?](command:${localCommands.explainBackgroundRuns})`);
    }
  } else {
    links.push(`[Check Setup](command:${localCommands.checkSetup})`);
  }
  links.push(
    `[Select Interpreter](command:${localCommands.selectInterpreter})`,
    `[Restart Server](command:${localCommands.restartServer})`,
    `[Show Log](command:${localCommands.showLog})`,
  );
  return text.appendMarkdown(`\n\n${links.join(" · ")}`);
}
