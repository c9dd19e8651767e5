// The lens tells with what a file was analyzed, and leads to a list of all ways; the one that is chosen is used, and remembered.
import assert from "node:assert/strict";

import { log, play } from "./page.mjs";

await play(async (window, { file, first, listed, other, then }) => {
  const lens = (title) => window.page.locator(".codelens-decoration a", { hasText: title }).first();
  // a run begins with the import of torch, which a busy machine takes minutes for
  const isShown = (title) => lens(title).waitFor({ timeout: 180_000 });
  const rows = window.page.locator(".quick-input-list .monaco-list-row");
  /** What the list says of each way: [{ entry, origin, chosen }]. */
  const read = () =>
    rows.evaluateAll((all) =>
      all.map((row) => ({
        entry: row.querySelector(".label-name")?.textContent?.trim(),
        origin: row.querySelector(".quick-input-list-label-meta")?.textContent?.trim(),
        chosen: row.querySelector(".label-description")?.textContent?.trim() === "chosen",
      })),
    );

  const editor = await window.open(file);
  await window.answer(/May Compile Lens run/, "Allow");
  await isShown(first);
  await window.shot("first");

  await lens(first).click();
  await rows.first().waitFor();
  await window.shot("list");
  const seen = (await read()).map(({ entry, origin, chosen }) => `${entry}: ${origin}${chosen ? " (chosen)" : ""}`);
  log(seen.join("; "));
  assert.deepEqual(seen, listed);

  await window.pick(other);
  await isShown(then);
  assert.equal(await lens(first).count(), 0);
  await window.shot("then");
  log("analyzed with the other one");

  await window.open(file);
  await isShown(then);
  await lens(then).click();
  await rows.first().waitFor();
  assert.deepEqual((await read()).filter(({ chosen }) => chosen).map(({ entry }) => entry), [other]);
  await window.shot("remembered");
  await window.page.keyboard.press("Escape");
  assert.ok(await editor.line("def scale").isVisible());
  log("it is remembered after the window was loaded again");
});
