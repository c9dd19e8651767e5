// The interpreter that the user chose in the Python extension starts the server and runs the file.
import assert from "node:assert/strict";

import { play } from "./page.mjs";

await play(async (window, { file, python, underlined }) => {
  const editor = await window.open(file);
  await window.answer(/May Compile Lens run/, "Allow");
  const told = window.page.locator(".monaco-hover:visible", { hasText: python });
  await window.showAfter(told.first(), () => window.status.hover());
  assert.match(await told.first().innerText(), /torch \d+\.\d+/);
  await editor.isUnderlined(underlined);
});
