// A program that never ends: cancelled from the status item, started again and cancelled by the palette.
import { log, play } from "./page.mjs";

await play(async (window, { file }) => {
  await window.open(file);
  await window.answer(/May Compile Lens run/, "Allow");
  await window.statusReads(/analyzing/);
  await window.status.click();
  await window.pick("Cancel Analysis");
  await window.statusReads(/Compile Lens$|finding/);
  log("cancelled from the status item");

  await window.command("Compile Lens: Analyze Current File");
  await window.statusReads(/analyzing/);
  await window.command("Compile Lens: Cancel Analysis");
  await window.statusReads(/Compile Lens$|finding/);
  log("cancelled from the palette");
});
