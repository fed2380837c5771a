// Pages in a browser: .ci/nightly page. Arguments: the browser, axe's script, the folder for screenshots, then pages by kind
// (run=..., large=..., several=..., documents=..., fleet=..., gallery=..., hostile=...).
import assert from "node:assert/strict";
import { readFileSync, statSync } from "node:fs";
import { chromium } from "playwright-core";

const [executablePath, axePath, shots, ...named] = process.argv.slice(2);
const pages = Object.fromEntries(named.map((pair) => pair.split(/=(.*)/s).slice(0, 2)));
const axe = readFileSync(axePath, "utf8");
const args = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
  "--disable-component-update", "--disable-sync"];
// Each launch has a new, empty profile.
const browser = await chromium.launch({ executablePath, args });

const opened = async (kind, options = {}, hash = "") => {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, ...options });
  const page = await context.newPage();
  const problems = [];
  page.on("console", (message) => { if (["error", "warning"].includes(message.type())) problems.push(message.text()); });
  page.on("pageerror", (error) => problems.push(error.message));
  page.on("dialog", (dialog) => { problems.push("a dialog"); dialog.dismiss(); });
  page.on("request", (request) => { if (!/^(file|blob|data):/.test(request.url())) problems.push(request.url()); });
  await page.goto(`file://${pages[kind]}${hash}`);
  if (options.javaScriptEnabled !== false) await page.waitForSelector(":root.js");
  return { page, problems, close: async () => { assert.deepEqual(problems, [], kind); await context.close(); } };
};
// All of the page is laid out, and not what the screen shows alone.
const laidOut = (page) => page.evaluate(() => {
  for (const section of document.querySelectorAll("main > section")) section.style.contentVisibility = "visible";
});
const shown = (page) => page.locator("table.costs tbody:not(.g):visible").count();

// Every page: no error, no request, no sideways scrolling from a telephone to a wide screen, light and dark; axe finds nothing serious.
for (const kind of Object.keys(pages)) {
  for (const [width, colorScheme] of [[360, "light"], [1280, "dark"], [1920, "light"]]) {
    const { page, close } = await opened(kind, { viewport: { width, height: 900 }, colorScheme });
    await laidOut(page);
    const [wide, inner] = await page.evaluate(() => [document.documentElement.scrollWidth, innerWidth]);
    assert.ok(wide <= inner, `${kind} at ${width}: ${wide} pixels wide`);
    await page.screenshot({ path: `${shots}/${kind}-${width}-${colorScheme}.png` });
    await close();
  }
  for (const colorScheme of ["light", "dark"]) {
    const { page } = await opened(kind, { bypassCSP: true, colorScheme });
    await laidOut(page);
    await page.evaluate(axe);
    const rules = kind === "fleet" ? { rules: { "color-contrast": { enabled: false } } } : {};
    const { violations } = await page.evaluate((rules) => axe.run(document, rules), rules);
    const serious = violations.filter(({ impact }) => ["serious", "critical"].includes(impact));
    assert.deepEqual(serious.map(({ id, nodes }) => [id, nodes.slice(0, 3).map((node) => node.html)]), [], `${kind}, ${colorScheme}`);
    await page.context().close();
  }
}

// Search, groups, sorting, unfolding.
{
  const { page, close } = await opened("run");
  const all = await shown(page);
  await page.fill("[data-do=search]", "pipe");
  const found = await shown(page);
  assert.ok(found > 0 && found < all, `${found} of ${all}`);
  await page.fill("[data-do=search]", "");
  const group = await page.locator("[data-do=group] option").nth(1).getAttribute("value");
  await page.selectOption("[data-do=group]", group);
  assert.ok(await shown(page) < all);
  await page.selectOption("[data-do=group]", "");
  const column = page.locator("table.costs thead th").nth(1);
  const times = () => page.locator("table.costs tbody:not(.g) tr:first-child > td:nth-child(2)").allTextContents();
  await column.locator("button").click();
  assert.equal(await column.getAttribute("aria-sort"), "ascending");
  const upwards = await times();
  await column.locator("button").click();
  const downwards = await times();
  assert.notDeepEqual(upwards, downwards);
  assert.match(upwards[0], / ns$/);
  assert.match(downwards[0], / (ms|s)$/);
  await column.locator("button").click();
  assert.equal(await shown(page), all);
  const more = page.locator("tr.more").first();
  assert.equal(await more.isVisible(), false);
  const summary = page.locator("table.costs summary").first();
  await summary.focus();
  await page.keyboard.press("Enter");
  assert.equal(await more.isVisible(), true);
  await page.keyboard.press("Enter");
  assert.equal(await more.isVisible(), false);
  await page.click("[data-do=unfold]");
  assert.equal(await page.locator("tr.more:visible").count(), all);
  await page.click("[data-do=unfold]");
  // The ladder tells on hover, and hides with Escape.
  await page.locator(".rungs a").first().hover();
  assert.equal(await page.locator(".tip").count(), 1);
  await page.keyboard.press("Escape");
  assert.equal(await page.locator(".tip").count(), 0);
  await close();
}

// Deep links: exact, with a unit, of the operation alone; with and without the script.
for (const hash of ["#pipe.roundtrip@distance=same,size=26", "#pipe.roundtrip@distance=same,size=26B", "#pipe.roundtrip"]) {
  const { page, close } = await opened("run", {}, hash);
  const unfolded = page.locator("table.costs tbody:has(details[open]) tr.more");
  assert.equal(await unfolded.count(), 1, hash);
  assert.ok(await unfolded.isVisible(), hash);
  await close();
}
{
  const { page, close } = await opened("run", { javaScriptEnabled: false }, "#pipe.roundtrip@distance=same,size=26");
  assert.equal(await page.locator("tr.more:visible").count(), 1);
  assert.equal(await page.locator(".tools:visible").count(), 0);
  await page.locator("table.costs summary").first().click();
  assert.equal(await page.locator("tr.more:visible").count(), 2);
  await close();
}

// On paper.
{
  const { page, close } = await opened("run");
  await page.emulateMedia({ media: "print" });
  assert.equal(await page.locator("nav:visible, .tools:visible, button.js:visible").count(), 0);
  assert.ok((await page.pdf({ format: "A4" })).length > 10_000);
  await page.screenshot({ path: `${shots}/run-print.png` });
  await close();
}

// How soon a page is there. It is printed, not required: another machine takes other times.
for (const kind of Object.keys(pages)) {
  const times = [];
  for (let round = 0; round < 5; round++) {
    const { page, close } = await opened(kind);
    times.push(await page.evaluate(() => new Promise((resolve) => {
      const paint = () => performance.getEntriesByName("first-contentful-paint")[0]?.startTime;
      const wait = () => (paint() === undefined ? setTimeout(wait, 5) : resolve(paint()));
      wait();
    })));
    await close();
  }
  times.sort((a, b) => a - b);
  console.log(`${kind}: ${(statSync(pages[kind]).size / 1024).toFixed(0)} KiB, first view after ${times[2].toFixed(0)} ms (median of 5)`);
}
await browser.close();
