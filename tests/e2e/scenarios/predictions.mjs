// What the source foretells is shown as the user types, before anything may run, and the run takes its place.
import assert from "node:assert/strict";

import { log, play } from "./page.mjs";

await play(async (window, { file, predicted, hover, typed, truth }) => {
  const editor = await window.open(file);
  await editor.isUnderlined(predicted);
  const said = await editor.hover(hover.line, hover.text, hover.says[0]);
  for (const part of hover.says) assert.ok(said.replace(/\s+/g, " ").includes(part), `the hover lacks: ${part}\n${said}`);
  await window.shot("hover");
  log("predicted before the user agreed to anything");

  await editor.clickBehind(typed.behind, typed.behind);
  await window.page.keyboard.press("End");
  await window.page.keyboard.press("Enter");
  await window.page.keyboard.type(typed.text);
  await editor.isUnderlined(typed.predicted);
  await window.shot("typed");
  log("predicted while typing");

  await window.page.keyboard.press("Control+Shift+K");
  await editor.isUnderlined(predicted);
  // the question whether files may run has gone to the bell by now; a run that is asked for needs no answer
  await window.command("Compile Lens: Analyze Current File");
  await editor.isUnderlined(truth);
  await window.shot("truth");
  log("the run took their place");
});
