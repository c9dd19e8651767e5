// Findings move with the text while the user types, and are renewed by a save.
import assert from "node:assert/strict";

import { log, play } from "./page.mjs";

await play(
  async (window, { file, before, moved, after, broken }) => {
    const editor = await window.open(file);
    await window.answer(/May Compile Lens run/, "Allow");
    await editor.isUnderlined(before);

    await editor.clickBehind('"""A small decoder', "decoder");
    await window.page.keyboard.press("Home");
    await window.page.keyboard.press("Enter");
    await editor.isUnderlined(moved);
    log("findings moved down by the line that was inserted");
    await window.page.keyboard.press("Control+Z");
    await editor.isUnderlined(before);

    await editor.clickBehind(broken, broken);
    await window.page.keyboard.press("Control+Shift+K");
    await editor.save();
    await editor.isUnderlined(after);
    await window.statusReads(/ findings?$/);
    assert.notDeepEqual(after, before);
    log("the break that was fixed is gone after the save");
    return { text: await editor.element.locator(".view-lines").innerText() };
  },
  { viewport: { width: 1500, height: 2600 } },
);
