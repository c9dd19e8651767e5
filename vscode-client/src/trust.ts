// Workspace trust: until it is granted the server is told to run nothing, and executables come from the user's own settings.
import * as vscode from "vscode";

import type { Server } from "./server";

export function followTrust(server: Server): vscode.Disposable {
  return vscode.workspace.onDidGrantWorkspaceTrust(() => server.trustGranted());
}
