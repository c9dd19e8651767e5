// What this client and the server say to each other beyond the Language Server Protocol. Other editors do without it.
import { NotificationType } from "vscode-languageclient/node";

export interface ServerStatus {
  readonly health: "ok" | "warning" | "error";
  readonly state: "starting" | "idle" | "analysing" | "off";
  readonly message: string;
  readonly findings: number;
  /** The document that `findings` counts; absent when the status is about all of them. */
  readonly uri?: string;
}

export const statusNotification = new NotificationType<ServerStatus>("compileLens/status");

export const trustNotification = new NotificationType<{ readonly trusted: boolean }>("compileLens/trust");

/**
 * Commands that the server advertises. The language client registers each of them in VS Code under the same id, which makes
 * links in hovers work; so the palette's commands (package.json) need ids of their own.
 */
export const serverCommands = {
  analyze: "compileLens.analyze",
  cancel: "compileLens.cancel",
  allowWorkspace: "compileLens.allowWorkspace",
  revokeWorkspace: "compileLens.revokeWorkspace",
} as const;
