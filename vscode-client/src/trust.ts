// Workspace trust: until it is granted, the server runs nothing, and executables come from user settings only.
import * as vscode from "vscode";

import type { Server } from "./server";

export function followTrust(server: Server): vscode.Disposable {
  return vscode.workspace.onDidGrantWorkspaceTrust(() => server.trustGranted());
}
