// The documents that the server is told of.
import type { DocumentSelector } from "vscode-languageclient/node";

import { stageScheme } from "./stages";

/** Python, files that set torch's environment variables, and files that torch writes, and the compiler's stages. */
export const documentSelector: DocumentSelector = [
  ...["python", "shellscript", "dotenv", "dockerfile", "dockercompose", "yaml", "github-actions-workflow", "toml"].map((language) => ({
    scheme: "file",
    language,
  })),
  ...["**/.env*", "**/*.toml", "**/.vscode/{launch,tasks,settings}.json", "**/ir_{pre,post}_fusion.txt"].map((pattern) => ({
    scheme: "file",
    pattern,
  })),
  { scheme: stageScheme },
  // the cells are sent with their notebook, and these are requests about them
  { notebook: "jupyter-notebook", language: "python" },
];
