// A language client without popups of its own: its errors, and the lines that the server writes, go to the log.
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import type * as vscode from "vscode";
import { LanguageClient, type StaticFeature } from "vscode-languageclient/node";

/** A client that reports its errors in the log and the status bar item instead of popups. */
export class QuietClient extends LanguageClient {
  override error(message: string, data?: unknown): void {
    super.error(message, data, false);
  }
}

/** Announces what this client shows beyond the protocol. The hover of VS Code begins with the messages of diagnostics. */
export const ownCapabilities: StaticFeature = {
  fillClientCapabilities: (capabilities) => {
    capabilities.experimental = {
      ...(capabilities.experimental as object | undefined),
      compileLensStatus: true,
      compileLensPages: true,
      compileLensChanges: true,
      compileLensTree: true,
      compileLensStages: true,
      compileLensCommandLinks: true,
      compileLensMessagesInHovers: true,
    };
  },
  initialize: () => undefined,
  getState: () => ({ kind: "static" }),
  clear: () => undefined,
};

/** Writes the server's output to the log. A line without a level continues the one before. */
export function logLines(stream: Readable, log: vscode.LogOutputChannel): void {
  let write: (line: string) => void = (line) => log.info(line);
  createInterface({ input: stream, crlfDelay: Infinity }).on("line", (line) => {
    switch (/^(DEBUG|INFO|WARNING|ERROR|CRITICAL|Traceback)\b/.exec(line)?.[1]) {
      case "DEBUG":
        write = (text) => log.debug(text);
        break;
      case "INFO":
        write = (text) => log.info(text);
        break;
      case "WARNING":
        write = (text) => log.warn(text);
        break;
      case "ERROR":
      case "CRITICAL":
      case "Traceback":
        write = (text) => log.error(text);
        break;
    }
    write(line);
  });
}
