// A list to choose the entry of a file from. The server finds the entries, remembers the choice, and runs the file with it.
import * as vscode from "vscode";

import { label } from "./notices";
import { serverCommands, type CommandRunner } from "./protocol";

/** A way to run a file, as `compileLens.entries` returns it. */
interface Entry {
  readonly entry: string;
  readonly origin: string;
  readonly kind: string;
  readonly chosen: boolean;
}

const automatic = "auto";

const icons: Readonly<Record<string, string>> = {
  script: "play",
  inputs: "symbol-function",
  doctest: "book",
  test: "beaker",
  file: "file-code",
  call: "symbol-method",
  model: "rocket",
  recorded: "history",
  synthesized: "sparkle",
};

/** Asks which entry to analyze the file `uri` with, and analyzes it. */
export async function chooseEntry(server: CommandRunner, uri: string): Promise<void> {
  const entries = (await server.execute<readonly Entry[]>(serverCommands.entries, uri)) ?? [];
  const name = vscode.Uri.parse(uri).path.split("/").pop() ?? "";
  const marked = (isChosen: boolean) => (isChosen ? { description: "chosen" } : {});
  const items: (vscode.QuickPickItem & { readonly entry: string })[] = [
    ...entries.map(({ entry, origin, kind, chosen }) => ({
      label: `$(${icons[kind] ?? "circle-outline"}) ${label(entry)}`,
      detail: label(origin.replaceAll("`", "")), // a list does not render Markdown
      entry,
      ...marked(chosen),
    })),
    { label: "", kind: vscode.QuickPickItemKind.Separator, entry: automatic },
    {
      label: "$(wand) Automatically",
      detail: "the first entry that compiles anything",
      entry: automatic,
      ...marked(!entries.some(({ chosen }) => chosen)),
    },
  ];
  const picked = await vscode.window.showQuickPick(items, {
    title: `Choose the Entry of ${name}`,
    placeHolder: "Choose how to run this file. The choice is remembered.",
    matchOnDetail: true,
  });
  if (picked) {
    await server.execute(serverCommands.chooseEntry, uri, picked.entry);
  }
}
