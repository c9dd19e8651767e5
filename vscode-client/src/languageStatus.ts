// The language status item of Python files: what the server does, with which interpreter and torch.
import * as vscode from "vscode";

import { localCommands } from "./commands";
import { label, notice } from "./notices";
import { isWorking } from "./protocol";
import type { Server } from "./server";

export class LanguageStatus implements vscode.Disposable {
  private readonly item = vscode.languages.createLanguageStatusItem("compileLens.language", [{ language: "python", scheme: "file" }, { language: "python", notebookType: "jupyter-notebook" }]);
  private readonly subscription: vscode.Disposable;

  constructor(private readonly server: Server) {
    this.item.name = "Compile Lens";
    this.subscription = server.onStatus(() => this.show());
    this.show();
  }

  dispose(): void {
    vscode.Disposable.from(this.item, this.subscription).dispose();
  }

  private show(): void {
    const { status, environment } = this.server;
    const { Error, Warning, Information } = vscode.LanguageStatusSeverity;
    this.item.severity = status.health === "error" ? Error : status.health === "warning" ? Warning : Information;
    this.item.busy = status.state === "starting" || isWorking(status);
    // the editor makes links of both texts, also of commands
    this.item.text = notice(label(`Compile Lens: ${status.message || "starting"}`));
    const torch = environment?.torch === undefined ? "no torch" : `torch ${environment.torch}`;
    this.item.detail = notice(label(environment ? `${environment.python} · ${torch}` : ""));
    this.item.command = isWorking(status)
      ? { title: "Cancel", command: localCommands.cancelAnalysis }
      : { title: "Select Interpreter", command: localCommands.selectInterpreter };
  }
}
