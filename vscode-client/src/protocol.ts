// What this client and the server say to each other beyond the Language Server Protocol. Other editors do without it.
import { NotificationType } from "vscode-languageclient/node";

export interface ServerStatus {
  readonly health: "ok" | "warning" | "error";
  readonly state: "starting" | "idle" | "analysing" | "off";
  readonly message: string;
  /** How many findings are shown, in all documents. */
  readonly findings: number;
  /** The document that is analysed, or that a problem is about. */
  readonly uri?: string;
}

/** Something runs, or is about to: there is something to cancel. */
export function isWorking({ state, uri }: ServerStatus): boolean {
  return state === "analysing" || (state === "starting" && uri !== undefined);
}

export const statusNotification = new NotificationType<ServerStatus>("compileLens/status");

export const trustNotification = new NotificationType<{ readonly trusted: boolean }>("compileLens/trust");

/**
 * Commands that the server advertises. The language client registers each of them in VS Code under the same id, which makes
 * links in hovers work; so the palette's commands (package.json) need ids of their own.
 */
export const serverCommands = {
  analyze: "compileLens.analyze",
  compare: "compileLens.compare",
  vary: "compileLens.vary",
  analyzeWithoutSandbox: "compileLens.analyzeWithoutSandbox",
  cancel: "compileLens.cancel",
  allowWorkspace: "compileLens.allowWorkspace",
  revokeWorkspace: "compileLens.revokeWorkspace",
  allowedWorkspaces: "compileLens.allowedWorkspaces",
  chooseEntry: "compileLens.chooseEntry",
  entries: "compileLens.entries",
  doctor: "compileLens.doctor",
  bisect: "compileLens.bisect",
  verifyBisection: "compileLens.verifyBisection",
  minify: "compileLens.minify",
  logs: "compileLens.logs",
} as const;

export type ServerCommand = (typeof serverCommands)[keyof typeof serverCommands];
