// From a finding to its cause: a code action writes the repro, a command of the palette bisects it, and the verdict is a titled preview.
import assert from "node:assert/strict";

import { log, play } from "./page.mjs";

await play(async (window, { program, line, lineText }) => {
  const { page } = window;
  const editor = await window.open(program);
  await window.answer(/May Compile Lens run/, "Allow");
  await window.statusReads(/: 1 finding$/);
  await window.goToLine(program, line);
  await editor.clickBehind(lineText, lineText);
  await page.keyboard.press("Control+.");
  const action = page.locator(".action-widget .monaco-list-row", { hasText: /^Write a repro for / }).first();
  await action.waitFor();
  log(`code action: ${await action.innerText()}`);
  await action.click();
  await window.pick("Beside fails.py");

  const script = page.locator('.monaco-editor[data-uri*="/repro_"]').first();
  await script.locator(".view-line", { hasText: "A repro for torch.compile" }).waitFor({ timeout: 240_000 });
  const header = await script.locator(".view-lines").innerText();
  assert.match(header.replaceAll("\u00a0", " "), /verified: yes/);
  await window.shot("repro");

  await window.command("Compile Lens: Bisect Current Repro");
  await page.locator(".tab", { hasText: "Verdict of repro_" }).first().waitFor({ timeout: 240_000 });
  const preview = page.frameLocator("iframe.webview.ready").last().frameLocator("iframe#active-frame");
  const verdict = preview.getByText("The problem is in").first();
  await verdict.waitFor();
  log(`the preview: ${(await verdict.innerText()).trim()}`);
  await window.shot("verdict");
  return { verdict: (await verdict.innerText()).replaceAll("\u00a0", " ") };
});
