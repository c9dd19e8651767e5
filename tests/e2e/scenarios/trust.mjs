// Nothing of a workspace runs before it is trusted; then the user is asked, like anywhere else.
import assert from "node:assert/strict";
import fs from "node:fs";

import { log, play } from "./page.mjs";

await play(async (window, { file, marks, underlined }) => {
  const ran = () => Object.entries(marks).filter(([, path]) => fs.existsSync(path)).map(([what]) => what);

  const editor = await window.open(file);
  await window.statusReads(/restricted/);
  await window.page.keyboard.press("F1");
  const input = window.page.locator(".quick-input-widget input.input");
  await input.fill(">Compile Lens: Restart Server");
  await window.page.locator(".quick-input-list .monaco-list-row", { hasText: "Compile Lens: Restart Server" }).first().waitFor();
  await input.fill(">Compile Lens: Analyze Current File");
  await window.page.waitForTimeout(2_000); // as long as a run would need
  const offered = await window.page.locator(".quick-input-list .monaco-list-row .label-name").allInnerTexts();
  assert.ok(!offered.includes("Compile Lens: Analyze Current File"), `the palette offers to run the file: ${offered}`);
  await window.page.keyboard.press("Escape");
  assert.equal(await window.toast.filter({ hasText: "May Compile Lens run" }).count(), 0, "the user was asked to allow runs");
  assert.deepEqual(ran(), [], "these ran in a workspace that is not trusted");
  // what is only predicted is a hint, for which nothing runs
  assert.deepEqual((await editor.squiggles()).filter(({ severity }) => severity !== "hint"), []);
  await window.shot("restricted");
  log("nothing ran, and nobody asked");

  await window.status.click();
  await window.pick("Manage Workspace Trust");
  await window.page.locator(".workspace-trust-editor .monaco-button", { hasText: /^Trust/ }).first().click();
  await window.page.locator(".workspace-trust-editor", { hasText: "You trust this folder" }).waitFor();
  await window.openFile(file);
  await window.answer(/May Compile Lens run/, "Allow");
  await editor.isUnderlined(underlined);
  assert.ok(ran().includes("file"), "the file did not run after trust and consent");
  assert.deepEqual(ran(), ["file"], "the workspace named the server or the interpreter to start, which is for the user alone");
  log("the file was analyzed after trust and consent");
});
