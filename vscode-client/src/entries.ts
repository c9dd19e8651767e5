// What a file is analyzed with: a list to choose from. The server finds the ways, remembers the choice, and runs the file with it.
import * as vscode from "vscode";

import { serverCommands } from "./protocol";
import type { Server } from "./server";

/** A way to run a file, as `compileLens.entries` tells of it. */
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
  recorded: "history",
  synthesized: "sparkle",
};

/** Asks with what the file `uri` is to be analyzed, and has that done. */
export async function chooseEntry(server: Server, uri: string): Promise<void> {
  const entries = (await server.execute<readonly Entry[]>(serverCommands.entries, uri)) ?? [];
  const name = vscode.Uri.parse(uri).path.split("/").pop() ?? "";
  const marked = (isChosen: boolean) => (isChosen ? { description: "chosen" } : {});
  const items: (vscode.QuickPickItem & { readonly entry: string })[] = [
    ...entries.map(({ entry, origin, kind, chosen }) => ({
      label: `$(${icons[kind] ?? "circle-outline"}) ${entry}`,
      detail: origin.replaceAll("`", ""), // a list shows text as it is
      entry,
      ...marked(chosen),
    })),
    { label: "", kind: vscode.QuickPickItemKind.Separator, entry: automatic },
    {
      label: "$(wand) Automatically",
      detail: "the first way that compiles anything",
      entry: automatic,
      ...marked(!entries.some(({ chosen }) => chosen)),
    },
  ];
  const picked = await vscode.window.showQuickPick(items, {
    title: `How ${name} Is Analyzed`,
    placeHolder: "Choose what the file is run with; it is remembered for the file",
    matchOnDetail: true,
  });
  if (picked) {
    await server.execute(serverCommands.chooseEntry, uri, picked.entry);
  }
}
