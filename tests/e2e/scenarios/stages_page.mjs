// Opens a page of stages from disk in both color schemes, and uses it with the pointer and with the keyboard.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";

const { chromium } = createRequire(import.meta.url)(process.env.PLAYWRIGHT);
const { url, shots, browser: executablePath } = JSON.parse(process.env.SCENARIO);

const browser = await chromium.launch({ executablePath, args: ["--no-sandbox"] });
const told = { requests: [], messages: [], dialogs: 0, images: 0, schemes: {} };
for (const colorScheme of ["light", "dark"]) {
  const page = await browser.newPage({ colorScheme, viewport: { width: 1400, height: 900 } });
  page.on("request", (request) => told.requests.push(request.url()));
  page.on("console", (message) => told.messages.push(message.text()));
  page.on("pageerror", (error) => told.messages.push(String(error)));
  page.on("dialog", (dialog) => {
    told.dialogs += 1;
    void dialog.dismiss();
  });
  await page.goto(url);
  told.images += await page.locator("img").count();
  const source = page.getByRole("listbox", { name: "Source" });
  const code = page.getByRole("listbox", { name: "Generated code" });
  const lit = (pane) => pane.locator(".lit .number").allTextContents();
  const line = source.locator(".line").filter({ has: page.locator(".number", { hasText: /^32$/ }) });
  await line.click();
  await page.mouse.move(5, 5);
  await code.locator(".lit").first().waitFor();
  const color = (pane) => pane.locator(".lit").first().evaluate((row) => getComputedStyle(row).backgroundColor);
  const clicked = {
    source: await lit(source),
    code: (await lit(code)).length,
    inView: await code.evaluate((pane) => {
      const { top, bottom } = pane.getBoundingClientRect();
      return [...pane.querySelectorAll(".lit")].some((row) => row.getBoundingClientRect().top >= top && row.getBoundingClientRect().top < bottom);
    }),
    colors: [await color(source), await color(code)],
  };
  await page.screenshot({ path: `${shots}/${colorScheme}-linked.png` });

  await page.keyboard.press("Escape");
  await source.focus();
  await page.keyboard.press("Home");
  for (let step = 1; step < 32; step += 1) {
    await page.keyboard.press("ArrowDown");
  }
  await page.keyboard.press("Enter");
  const keyboard = await lit(source);
  await page.keyboard.press("Escape");
  // what a key changes is drawn a moment later
  await page.waitForFunction(() => !document.querySelector(".line.lit"), undefined, { timeout: 5000 }).catch(() => {});
  const cleared = await page.locator(".line.lit").count();
  // two keys within one frame: what the first would have shown does not come back
  const within = await source.evaluate(async (pane) => {
    for (const key of ["ArrowUp", "ArrowDown", "Escape"]) {
      pane.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
    }
    await new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)));
    return document.querySelectorAll(".line.lit").length;
  });

  const graph = page.locator(".graph");
  await graph.scrollIntoViewIfNeeded();
  const picture = page.locator("svg.picture");
  await picture.waitFor();
  await page.screenshot({ path: `${shots}/${colorScheme}-graph.png` });
  const boxes = await picture.locator(".box").count();
  const viewBox = () => picture.getAttribute("viewBox");
  const before = await viewBox();
  await page.getByRole("button", { name: "+" }).click();
  const zoomed = (await viewBox()) !== before;
  await page.getByRole("button", { name: "Fit" }).click();
  const fitted = await viewBox();
  const bounds = await picture.boundingBox();
  await page.mouse.move(bounds.x + 20, bounds.y + 20);
  await page.mouse.down();
  await page.mouse.move(bounds.x + 90, bounds.y + 60);
  await page.mouse.up();
  const moved = (await viewBox()) !== fitted;
  await picture.locator(".box").first().focus();
  await page.keyboard.press("Enter");
  const ofBox = await lit(source);
  if (told.saved === undefined) {
    const [download] = await Promise.all([page.waitForEvent("download"), page.getByRole("button", { name: "Save as SVG" }).click()]);
    told.saved = { name: download.suggestedFilename(), text: readFileSync(await download.path(), "utf8") };
  }
  // what the passes changed, from their table
  await page.locator(".passes button", { hasText: "post_grad passes" }).click();
  await page.waitForFunction(() => document.querySelector(".text.new")?.innerText, undefined, { timeout: 5000 }).catch(() => {});
  const ofPass = {
    tab: await page.locator("[role=tab][aria-selected=true]").innerText(),
    added: await page.locator(".text.new").allInnerTexts(),
    linked: await page.locator(".line.linked:has(.text.new)").count(),
    rows: await page.locator(".passes tbody tr").count(),
  };
  await page.screenshot({ path: `${shots}/${colorScheme}-passes.png` });
  await page.getByRole("button", { name: "All passes" }).click();
  ofPass.all = await page.locator(".passes tbody tr").count();
  await page.evaluate(() => scrollTo(0, document.body.scrollHeight));
  await page.screenshot({ path: `${shots}/${colorScheme}-timeline.png` });
  told.schemes[colorScheme] = {
    background: await page.evaluate(() => getComputedStyle(document.body).backgroundColor),
    title: await page.locator("h1").innerText(),
    wider: await page.evaluate(() => document.documentElement.scrollWidth > innerWidth),
    rows: await page.locator(".kernels tbody tr").count(),
    clicked,
    keyboard,
    cleared,
    within,
    boxes,
    zoomed,
    moved,
    ofBox,
    ofPass,
  };
}
await browser.close();
console.log(JSON.stringify(told));
