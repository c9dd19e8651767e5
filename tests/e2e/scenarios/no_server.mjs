// No Python can run the server: one notification says so, and what can be done needs no server.
import assert from "node:assert/strict";

import { play } from "./page.mjs";

await play(async (window, { file, broken, python }) => {
  await window.open(file);
  await window.page.locator(".statusbar-item.error-kind", { hasText: "Compile Lens" }).waitFor();
  const told = window.page.locator(".monaco-hover:visible", { hasText: `${broken}: It cannot be run` });
  await window.showAfter(told.first(), () => window.status.hover());
  const question = await window.answer(/Compile Lens cannot start/, "Check Setup");
  assert.ok(question.includes(broken), question);
  const page = window.page.frameLocator("iframe.webview.ready").last().frameLocator("iframe#active-frame").locator("body");
  await page.filter({ hasText: "The language server is not running" }).waitFor();
  const text = await page.innerText();
  for (const part of [broken, "It cannot be run", "compileLens.interpreter"]) assert.ok(text.includes(part), text);
  await window.shot("setup");
  const line = window.page.locator(".output-view .view-line", { hasText: "It cannot be run" }).first();
  await window.showAfter(line, async () => {
    await window.status.click();
    await window.pick("Show Log");
  });
  assert.equal(await window.toast.count(), 0, "more than one popup told of it");

  // another interpreter starts it
  await window.command("Compile Lens: Select Interpreter");
  await window.pick(python);
  await window.statusReads(/Compile Lens$|allow runs/);
});
