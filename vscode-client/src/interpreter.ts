// The interpreter chosen in the Python extension, if that extension is installed.
import * as vscode from "vscode";

/** The part of the API of `ms-python.python` that is used here. */
interface PythonApi {
  readonly environments: {
    getActiveEnvironmentPath(resource?: vscode.Uri): { readonly id: string; readonly path: string };
    resolveEnvironment(environment: { readonly id: string; readonly path: string }): Promise<
      { readonly executable: { readonly uri?: vscode.Uri } } | undefined
    >;
    readonly onDidChangeActiveEnvironmentPath: vscode.Event<unknown>;
  };
}

async function pythonApi(): Promise<PythonApi | undefined> {
  // In an untrusted workspace, the choice could be an executable inside the workspace.
  if (!vscode.workspace.isTrusted) {
    return undefined;
  }
  const extension = vscode.extensions.getExtension<PythonApi>("ms-python.python");
  const api = await extension?.activate();
  return api?.environments ? api : undefined;
}

export async function activeInterpreter(resource?: vscode.Uri): Promise<string | undefined> {
  const api = await pythonApi();
  if (!api) {
    return undefined;
  }
  const environment = await api.environments.resolveEnvironment(api.environments.getActiveEnvironmentPath(resource));
  return environment?.executable.uri?.fsPath;
}

export async function onInterpreterChange(listener: () => void): Promise<vscode.Disposable | undefined> {
  const api = await pythonApi();
  return api?.environments.onDidChangeActiveEnvironmentPath(listener);
}
