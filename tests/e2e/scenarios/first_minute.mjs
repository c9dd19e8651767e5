// The first minute of a new user: no settings, a folder with an environment, one question. Gives the seconds of each step.
import assert from "node:assert/strict";

import { log, play } from "./page.mjs";

await play(
  async (window, { file, underlined, python }) => {
    const started = Date.now();
    const seconds = () => (Date.now() - started) / 1000;
    const steps = {};
    const editor = await window.open(file);
    steps.opened = seconds();
    const asked = window.page.locator(".notification-list-item:visible", { hasText: "May Compile Lens run" }).first();
    await asked.waitFor({ timeout: 120_000 });
    steps.asked = seconds();

    // put off: the question waits in the status item and above the first region
    await window.answer(/May Compile Lens run/, "Not now");
    await window.statusReads(/allow runs/);
    const lens = (title) => editor.element.locator(".codelens-decoration a", { hasText: title }).first();
    await lens("what does this do?").waitFor();
    const told = window.page.locator(".monaco-hover:visible", { hasText: python });
    await window.showAfter(told.first(), () => window.status.hover());
    assert.match(await told.first().innerText(), /torch \d+\.\d+/);
    await window.shot("asking");
    const allowed = Date.now();
    await window.status.click();
    await window.pick("Allow Background Runs");
    const since = () => (Date.now() - allowed) / 1000;

    await window.until("the first finding", async () => {
      const found = (await editor.squiggles()).filter(({ severity }) => severity !== "hint");
      return [found.length > 0, found];
    }, 180_000);
    steps.firstFinding = since();
    log(`opened ${steps.opened.toFixed(1)} s, asked ${steps.asked.toFixed(1)} s; first finding ${steps.firstFinding.toFixed(1)} s after "Allow"`);
    await editor.isUnderlined(underlined, 180_000);
    steps.complete = since();
    log(`complete ${steps.complete.toFixed(1)} s after "Allow"`);
    await window.shot("complete");
    return steps;
  },
  { viewport: { width: 1500, height: 3600 } },
);
