// What the terminal says is what the editor shows: under the code, in Problems, in hovers and in the status bar.
import assert from "node:assert/strict";

import { log, play } from "./page.mjs";

await play(
  async (window, { files, ran }) => {
    const [first, ...others] = Object.keys(files);
    let editor = await window.open(first);
    await window.statusReads(/allow runs/);
    // what is only predicted is a hint, for which nothing runs
    assert.deepEqual((await editor.squiggles()).filter(({ severity }) => severity !== "hint"), [], "something ran before the user agreed");
    await window.answer(/May Compile Lens run/, "Allow");

    for (const name of [first, ...others]) {
      if (name !== first) editor = await window.openFile(name);
      await editor.isUnderlined(files[name].underlined);
      // the item is about the editor that is looked at
      const { count } = files[name];
      await window.statusReads(count === 0 ? /Compile Lens$/ : new RegExp(`: ${count} finding${count === 1 ? "" : "s"}$`));
      log(`${name}: ${files[name].count} findings, each under its expression`);
    }

    await window.showProblems();
    await window.until("the Problems panel to list what the terminal prints", async () => {
      const rows = await window.problemRows();
      const seen = Object.fromEntries(Object.keys(files).map((name) => [name, sorted(rows.filter(({ file }) => file === name).map(({ file, ...row }) => row))]));
      const wanted = Object.fromEntries(Object.entries(files).map(([name, { problems }]) => [name, sorted(problems)]));
      return [JSON.stringify(seen) === JSON.stringify(wanted), { seen, wanted }];
    });
    log("the Problems panel says the same");

    for (const name of Object.keys(files)) {
      if (files[name].hovers.length === 0) continue;
      editor = await window.openFile(name);
      for (const { line, text, says, links } of files[name].hovers) {
        const hover = await editor.hover(line, text, says[0]);
        for (const part of says) assert.ok(squeezed(hover).includes(part), `the hover of ${text} lacks: ${part}\n${hover}`);
        for (const link of links) {
          const found = window.hoverText.locator(`a[data-href="${link}"], a[href="${link}"]`);
          assert.ok((await found.count()) > 0, `the hover of ${text} has no link to ${link}`);
        }
        log(`hover of ${text}: ${squeezed(hover).slice(0, 160)}…`);
      }
    }
    await window.shot("hover");
  },
  // high enough for a whole file: the editor makes elements only for the lines on the screen
  { viewport: { width: 1500, height: 3600 } },
);

function sorted(rows) {
  return rows.map(({ severity, message, source, code, line, column }) => JSON.stringify({ severity, message, source, code, line, column })).sort();
}

function squeezed(text) {
  return text.replace(/\s+/g, " ").trim();
}
