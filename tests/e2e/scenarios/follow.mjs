// A file is run from the editor, in a terminal: its findings and the recompile storm appear while it still runs.
import { log, play } from "./page.mjs";

await play(async (window, { file }) => {
  await window.open(file);
  const lens = window.page.getByText(/6 graphs · 5 recompiles/).first();
  // what the user starts in a terminal needs no permission for background runs
  await window.answer(/May Compile Lens run/, "Not now");
  await window.command("Compile Lens: Run File and Follow Its Compilations");
  await window.page.getByText(/Recompile storm: recompiled/).first().waitFor();
  await lens.waitFor();
  await window.shot("storm");
  log("told while the program runs");

  await window.page.keyboard.press("Escape");
  await window.command("Tasks: Terminate Task");
  await window.pick("Run train.py");
  await window.page.getByText(/following/).first().waitFor({ state: "detached" });
  await lens.waitFor();
  log("kept when it has ended");

  await window.command("Compile Lens: Close Compile Traces");
  await lens.waitFor({ state: "detached" });
  await window.shot("closed");
});
