// All findings of a region are fixed from the light bulb: a diff first, then the edit, and one undo that takes it back.
import assert from "node:assert/strict";

import { log, play } from "./page.mjs";

await play(async (window, { file, underlined, gone, kept }) => {
  const editor = await window.open(file);
  await window.answer(/May Compile Lens run/, "Allow");
  await editor.isUnderlined(underlined);
  await window.statusReads(/2 findings$/);
  const text = async () => (await editor.element.locator(".view-lines").innerText()).replaceAll("\u00a0", " ");
  const count = async () => (await text()).split(gone).length - 1;
  const before = await count();

  const offered = window.page.locator(".action-widget .monaco-list-row", { hasText: "Fix all findings of `f`" }).first();
  await window.showAfter(offered, async () => {
    await window.page.keyboard.press("Escape");
    await editor.clickBehind(gone, "break");
    await window.page.keyboard.press("Control+.");
  });
  await window.shot("light-bulb");
  await offered.click();

  const diff = window.page.locator(".monaco-diff-editor");
  await diff.locator(".line-delete").first().waitFor({ timeout: 200_000 });
  await window.shot("diff");
  const told = await window.answer(/Apply to small.py/, "Apply");
  assert.match(told, /2 verified fixes: 2 → 0 breaks, .*results equal/);
  await diff.waitFor({ state: "detached" });
  await editor.isUnderlined([], 100_000);
  assert.equal(await count(), 0);
  assert.ok((await text()).includes(kept));
  log("applied: the findings are gone without a save");
  await window.shot("applied");

  await editor.clickBehind(kept, kept);
  await window.page.keyboard.press("Control+Z");
  await window.until("the text as it was", async () => [(await count()) === before, await text()]);
  await editor.save();
  await editor.isUnderlined(underlined);
  log("one undo brings them back");
});
