// Finds a Python that can run the bundled server. Candidates are asked by running bundled/tool/probe.py with them.
import { execFile } from "node:child_process";
import * as fs from "node:fs";
import * as os from "node:os";
import * as path from "node:path";
import * as vscode from "vscode";

import { isElsewhere, loadedElsewhere } from "./loadedVariables";
import { importStrategy, interpreterFor, serverInterpreter } from "./settings";

const onWindows = process.platform === "win32";
const probeLimitMs = 20_000;
const versions = ["3.14", "3.13", "3.12", "3.11", "3.10"];
// environments that the usual tools make in a folder: venv and uv, conda, pixi
const folderEnvironments = [".venv", "venv", ".conda", path.join(".pixi", "envs", "default")];

export interface Probe {
  readonly python: string;
  /** Where this interpreter comes from, as the subject of a sentence for the user. */
  readonly origin: string;
  readonly version?: string;
  readonly torch?: string;
  /** Whether it has the package of the server for assistants. */
  readonly mcp?: boolean;
  /** Why it cannot run the server, in one sentence; absent if it can. */
  readonly problem?: string;
}

/** What bundled/tool/probe.py prints. */
interface Facts {
  readonly executable: string;
  readonly version: string;
  readonly torch: string | null;
  readonly mcp: boolean;
  readonly problem: string | null;
}

interface Candidate {
  readonly python: string;
  readonly origin: string;
}

/** The interpreter that runs the server, or undefined; with everything that was tried. */
export interface Search {
  readonly found: Probe | undefined;
  readonly tried: readonly Probe[];
}

/** Tries the candidates in order, up to the first that can run the server, or `all` of them, to show them to the user. */
export async function findPythons(extensionPath: string, all = false): Promise<Search> {
  const tried: Probe[] = [];
  const seen = new Set<string>();
  let found: Probe | undefined;
  for await (const candidate of candidates(all)) {
    const identity = identityOf(candidate.python);
    if (seen.has(identity)) {
      continue;
    }
    seen.add(identity);
    const probe = await ask(candidate, extensionPath);
    const shimOf = identityOf(probe.python);
    if (shimOf !== identity && seen.has(shimOf)) {
      continue;
    }
    seen.add(shimOf);
    tried.push(probe);
    if (probe.problem === undefined) {
      found ??= probe;
      if (!all) {
        break;
      }
    }
  }
  return { found, tried };
}

/** Asks an interpreter what it is. */
export async function ask({ python, origin }: Candidate, extensionPath: string): Promise<Probe> {
  const script = path.join(extensionPath, "bundled", "tool", "probe.py");
  return new Promise((resolve) => {
    // Not in the workspace folder, whose modules could take the place of Python's own.
    const env = { ...process.env, ...loadedElsewhere(process.env, openedFolders()) };
    const options = { cwd: extensionPath, env, timeout: probeLimitMs, windowsHide: true };
    execFile(python, [script, importStrategy()], options, (failure, stdout, stderr) => {
      try {
        const facts = JSON.parse(stdout) as Facts;
        resolve({
          python: facts.executable || python, // what a shim stands for
          origin,
          version: facts.version,
          ...(facts.torch ? { torch: facts.torch } : {}),
          mcp: facts.mcp,
          ...(facts.problem ? { problem: facts.problem } : {}),
        });
      } catch {
        const said = stderr.trim().split("\n")[0] || (failure?.code === undefined ? "it did not respond" : `it exited with ${failure.code}`);
        resolve({ python, origin, problem: `It cannot be run: ${said.replace(/\.$/, "")}.` });
      }
    });
  });
}

/** The folders that are opened. */
export function openedFolders(): string[] {
  return (vscode.workspace.workspaceFolders ?? []).map((folder) => folder.uri.fsPath);
}

/** The same for links to one installation. Links of a virtual environment lead out of it, so it is what its path says. */
function identityOf(python: string): string {
  try {
    return fs.existsSync(path.join(path.dirname(python), "..", "pyvenv.cfg")) ? python : fs.realpathSync(python);
  } catch {
    return python; // a bare name that is not on the search path
  }
}

async function* candidates(all: boolean): AsyncGenerator<Candidate> {
  const chosen = serverInterpreter();
  if (chosen) {
    yield { python: chosen, origin: "compileLens.interpreter" };
    if (!all) {
      return; // a choice is not replaced by a guess
    }
  }
  const folders = vscode.workspace.workspaceFolders ?? [];
  const ofFiles = await interpreterFor(folders[0]?.uri);
  if (ofFiles) {
    yield { python: resolved(ofFiles), origin: "the interpreter of your files" };
  }
  for (const name of ["python3", "python", ...versions.map((version) => `python${version}`)]) {
    yield* onSearchPath(name);
  }
  // An untrusted folder could hold any program.
  for (const folder of vscode.workspace.isTrusted ? folders : []) {
    for (const environment of folderEnvironments) {
      yield* existing(pythonIn(path.join(folder.uri.fsPath, environment)), `${environment} of ${folder.name}`);
    }
  }
  yield* installed();
}

function* onSearchPath(name: string): Generator<Candidate> {
  const file = onWindows ? `${name}.exe` : name;
  for (const folder of (process.env["PATH"] ?? "").split(path.delimiter)) {
    // Apple's own is 3.9, and offers to install developer tools when it is started.
    // Of an untrusted folder, the search path may name any program, too.
    const isOurs = vscode.workspace.isTrusted ? path.isAbsolute(folder) : isElsewhere(path.join(folder, file), openedFolders());
    if (isOurs && !(process.platform === "darwin" && folder === "/usr/bin")) {
      yield* existing(path.join(folder, file), "the search path");
    }
  }
}

/** Where installers put Python: those of python.org, uv, pyenv, conda and Homebrew. */
function* installed(): Generator<Candidate> {
  const home = os.homedir();
  const local = process.env["LOCALAPPDATA"] ?? path.join(home, "AppData", "Local");
  const parents = onWindows
    ? [path.join(local, "Programs", "Python"), path.join(process.env["APPDATA"] ?? home, "uv", "python"), path.join(home, ".pyenv", "pyenv-win", "versions")]
    : [path.join(home, ".local", "share", "uv", "python"), path.join(home, ".pyenv", "versions")];
  const prefixes = parents.flatMap((parent) => subfolders(parent));
  prefixes.push(...["miniforge3", "mambaforge", "miniconda3", "anaconda3"].map((name) => path.join(home, name)));
  for (const prefix of prefixes) {
    yield* existing(pythonIn(prefix, true), "an installation of Python");
  }
  for (const folder of onWindows ? [] : ["/opt/homebrew/bin", "/usr/local/bin"]) {
    for (const version of versions) {
      yield* existing(path.join(folder, `python${version}`), "an installation of Python");
    }
  }
}

function subfolders(parent: string): string[] {
  try {
    // The newest first; "3.9" must not come before "3.10".
    const names = fs.readdirSync(parent).sort((a, b) => b.localeCompare(a, undefined, { numeric: true }));
    return names.map((name) => path.join(parent, name));
  } catch {
    return []; // there is no such folder
  }
}

/** The interpreter of an environment, or of an installation. */
function pythonIn(prefix: string, isInstallation = false): string {
  if (!onWindows) {
    return path.join(prefix, "bin", "python");
  }
  // conda and pixi use the layout of an installation
  const top = path.join(prefix, "python.exe");
  return isInstallation || fs.existsSync(top) ? top : path.join(prefix, "Scripts", "python.exe");
}

function* existing(python: string, origin: string): Generator<Candidate> {
  try {
    fs.accessSync(python, fs.constants.X_OK);
    yield { python, origin };
  } catch {
    // there is none
  }
}

/** A bare name, such as `python3.12`, as the file on the search path. */
function resolved(python: string): string {
  return path.isAbsolute(python) ? python : ([...onSearchPath(python)][0]?.python ?? python);
}
