// The interpreter that the user chose in the Python extension runs the file; another choice is followed.
import assert from "node:assert/strict";
import fs from "node:fs";

import { log, play } from "./page.mjs";

await play(async (window, { file, first, second, chosen, underlined }) => {
  const statusNames = async (python) => {
    const told = window.page.locator(".monaco-hover:visible", { hasText: python }).first();
    await window.showAfter(told, () => window.status.hover());
    assert.match(await told.innerText(), /torch \d+\.\d+/);
    log(`the status item names ${python}`);
  };
  const editor = await window.open(file);
  await window.answer(/May Compile Lens run/, "Allow");
  await editor.isUnderlined(underlined);
  await statusNames(first);
  fs.writeFileSync(chosen, ""); // another environment is chosen
  await statusNames(second);
  await editor.isUnderlined(underlined);
});
