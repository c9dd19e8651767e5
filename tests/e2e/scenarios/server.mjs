// A server that dies is started again, without a popup, and its findings come back; so does one that is restarted on purpose.
import assert from "node:assert/strict";
import fs from "node:fs";

import { log, play } from "./page.mjs";

function languageServers() {
  return fs.readdirSync("/proc").filter((name) => /^\d+$/.test(name)).map(Number).filter((pid) => {
    try {
      const mine = fs.readFileSync(`/proc/${pid}/environ`, "utf8").split("\0").includes(`HOME=${process.env.HOME}`);
      return mine && fs.readFileSync(`/proc/${pid}/cmdline`, "utf8").includes("compile_lens\0serve");
    } catch {
      return false; // gone, or another user's
    }
  });
}

await play(
  async (window, { file, underlined }) => {
    const editor = await window.open(file);
    await window.answer(/May Compile Lens run/, "Allow");
    await editor.isUnderlined(underlined);

    const [before, ...more] = languageServers();
    assert.deepEqual(more, [], "more than one language server runs");
    process.kill(before, "SIGKILL");
    await window.until("another server", async () => {
      const now = languageServers();
      return [now.length === 1 && now[0] !== before, now];
    });
    await editor.isUnderlined(underlined);
    await window.statusReads(/finding/);
    assert.equal(await window.toast.count(), 0, "a popup told of a crash of ours");
    log("the findings are back after a crash");

    const [crashed] = languageServers();
    await window.command("Compile Lens: Restart Server");
    await window.until("a restarted server", async () => {
      const now = languageServers();
      return [now.length === 1 && now[0] !== crashed, now];
    });
    await editor.isUnderlined(underlined);
    await window.statusReads(/finding/);
    await window.command("Compile Lens: Show Log");
    await window.page.locator(".output-view .view-line", { hasText: "Starting" }).first().waitFor();
  },
  { viewport: { width: 1500, height: 2600 } },
);
