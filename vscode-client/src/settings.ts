// The settings for the server: executables only from user or machine settings, and the interpreter filled in.
import * as os from "node:os";
import * as path from "node:path";
import * as vscode from "vscode";

import { activeInterpreter } from "./interpreter";

export const section = "compileLens";

/** A setting from the user or machine settings; workspace settings are ignored. */
function ownValue<T>(key: string): T | undefined {
  const values = vscode.workspace.getConfiguration(section).inspect<T>(key);
  return values?.globalValue ?? values?.defaultValue;
}

function expand(value: string, scope?: vscode.Uri): string {
  const folder = (scope && vscode.workspace.getWorkspaceFolder(scope)) ?? vscode.workspace.workspaceFolders?.[0];
  const expanded = value.replaceAll("${workspaceFolder}", folder?.uri.fsPath ?? "").replace(/^~(?=[\\/]|$)/, os.homedir());
  const isRelativePath = /[\\/]/.test(expanded) && !path.isAbsolute(expanded);
  return isRelativePath && folder ? path.join(folder.uri.fsPath, expanded) : expanded;
}

/** A setting that is a list of words, or undefined if it is empty or something else. */
function ownWords(key: string): string[] | undefined {
  const words = ownValue<unknown>(key);
  if (!Array.isArray(words) || words.length === 0 || !words.every((word) => typeof word === "string")) {
    return undefined;
  }
  return words.map((word) => expand(word));
}

/** The interpreter for files of `scope`: the setting, else the Python extensions' choice, else '' for the server's own search. */
export async function interpreterFor(scope?: vscode.Uri): Promise<string> {
  const chosen = ownValue<string>("python")?.trim();
  if (chosen) {
    return expand(chosen, scope);
  }
  return (await activeInterpreter(scope ?? vscode.workspace.workspaceFolders?.[0]?.uri)) ?? "";
}

/** The interpreter that runs the server, from `compileLens.interpreter`; undefined if it is not set. */
export function serverInterpreter(): string | undefined {
  return ownWords("interpreter")?.[0];
}

/** Whether the packages of the extension or those of the interpreter come first. */
export function importStrategy(): "useBundled" | "fromEnvironment" {
  return ownValue<string>("importStrategy") === "fromEnvironment" ? "fromEnvironment" : "useBundled";
}

/** The command in `compileLens.server.command` or `compileLens.path`, or undefined if neither is set. */
export function serverCommand(): string[] | undefined {
  const tool = ownWords("path");
  return ownWords("server.command") ?? (tool && [...tool, "serve"]);
}

/** What the server is started by: if it changes, another server is needed. */
export function startSettings(): string {
  return JSON.stringify([serverCommand(), serverInterpreter(), importStrategy()]);
}

/** The `compileLens` object for `initializationOptions` and `workspace/configuration`. */
export async function serverSettings(scope?: vscode.Uri): Promise<Record<string, unknown>> {
  const configured = vscode.workspace.getConfiguration(undefined, scope).get<Record<string, unknown>>(section) ?? {};
  return { ...configured, python: await interpreterFor(scope) };
}
