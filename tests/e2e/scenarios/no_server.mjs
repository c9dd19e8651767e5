// No server can be started: the status item says why and what to do, and nothing pops up.
import assert from "node:assert/strict";

import { play } from "./page.mjs";

await play(async (window, { file, python }) => {
  await window.open(file);
  await window.page.locator(".statusbar-item.error-kind", { hasText: "Compile Lens" }).waitFor();
  const told = window.page.locator(".monaco-hover:visible", { hasText: `${python} cannot be run: set compileLens.python` });
  await window.showAfter(told.first(), () => window.status.hover());
  assert.equal(await window.toast.count(), 0, "a popup told of it");
  const line = window.page.locator(".output-view .view-line", { hasText: "cannot be run" }).first();
  await window.showAfter(line, async () => {
    await window.status.click();
    await window.pick("Show Log");
  });
});
