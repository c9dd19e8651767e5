// The interpreter chosen in the Python Environments extension or the Python extension, whichever is installed.
import * as vscode from "vscode";

/** The part of the API of `ms-python.vscode-python-envs` that is used here. */
interface EnvironmentsApi {
  getEnvironment(scope: vscode.Uri | undefined): Promise<
    { readonly execInfo?: { readonly run?: { readonly executable?: string } } } | undefined
  >;
  readonly onDidChangeEnvironment: vscode.Event<unknown>;
}

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

/** What an installed extension exports, or undefined. */
async function exportsOf<Api>(extension: string): Promise<Partial<Api> | undefined> {
  // In an untrusted workspace, the choice could be an executable inside the workspace.
  if (!vscode.workspace.isTrusted) {
    return undefined;
  }
  try {
    return await vscode.extensions.getExtension<Partial<Api>>(extension)?.activate();
  } catch {
    return undefined; // it cannot be activated, which VS Code itself reports
  }
}

async function environmentsApi(): Promise<EnvironmentsApi | undefined> {
  const api = await exportsOf<EnvironmentsApi>("ms-python.vscode-python-envs");
  return api?.getEnvironment && api.onDidChangeEnvironment ? (api as EnvironmentsApi) : undefined;
}

async function pythonApi(): Promise<PythonApi | undefined> {
  const api = await exportsOf<PythonApi>("ms-python.python");
  return api?.environments ? (api as PythonApi) : undefined;
}

/** The chosen interpreter for `resource`, or undefined where no extension knows one. */
export async function activeInterpreter(resource?: vscode.Uri): Promise<string | undefined> {
  const environments = await environmentsApi();
  try {
    const chosen = (await environments?.getEnvironment(resource))?.execInfo?.run?.executable;
    if (chosen) {
      return chosen;
    }
  } catch {
    // It is installed and turned off (`python.useEnvironmentsExtension`): the Python extension knows.
  }
  const python = await pythonApi();
  if (!python) {
    return undefined;
  }
  const environment = await python.environments.resolveEnvironment(python.environments.getActiveEnvironmentPath(resource));
  return environment?.executable.uri?.fsPath;
}

/** Calls `listener` when another interpreter is chosen. */
export async function onInterpreterChange(listener: () => void): Promise<vscode.Disposable> {
  const environments = await environmentsApi();
  const python = await pythonApi();
  const subscriptions = [
    environments?.onDidChangeEnvironment(listener),
    python?.environments.onDidChangeActiveEnvironmentPath(listener),
  ];
  return vscode.Disposable.from(...subscriptions.filter((each) => each !== undefined));
}
