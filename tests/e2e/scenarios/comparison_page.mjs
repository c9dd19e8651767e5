// Opens a page from disk in both color schemes: what it shows, what it asks for, and what runs.
import { createRequire } from "node:module";

const { chromium } = createRequire(import.meta.url)(process.env.PLAYWRIGHT);
const { url, shots, browser: executablePath } = JSON.parse(process.env.SCENARIO);

const browser = await chromium.launch({ executablePath, args: ["--no-sandbox"] });
const told = { requests: [], messages: [], dialogs: 0, schemes: {} };
for (const colorScheme of ["light", "dark"]) {
  const page = await browser.newPage({ colorScheme, viewport: { width: 1000, height: 620 } });
  page.on("request", (request) => told.requests.push(request.url()));
  page.on("console", (message) => told.messages.push(message.text()));
  page.on("dialog", (dialog) => {
    told.dialogs += 1;
    void dialog.dismiss();
  });
  await page.goto(url);
  told.schemes[colorScheme] = {
    background: await page.evaluate(() => getComputedStyle(document.body).backgroundColor),
    text: await page.locator("body").innerText(),
    headings: await page.locator("h2").allInnerTexts(),
    wider: await page.evaluate(() => document.documentElement.scrollWidth > innerWidth),
  };
  await page.screenshot({ path: `${shots}/${colorScheme}.png`, fullPage: true });
}
await browser.close();
console.log(JSON.stringify(told));
