// The interpreter that the user chose in the Python extension starts the server and runs the file.
import assert from "node:assert/strict";

import { play } from "./page.mjs";

await play(async (window, { file, python, underlined }) => {
  const editor = await window.open(file);
  const question = await window.answer(/in the background/, "Allow");
  assert.ok(question.includes(python), `the question names another interpreter: ${question}`);
  await editor.isUnderlined(underlined);
});
