// The studio in a real browser, with the real models. Prints one line a test; screenshots go to build/release/studio-screenshots.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, readdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { detailTests } from "./details.mjs";
import { handTests } from "./hands.mjs";
import {
  STEPS,
  choosePhoto,
  dropFile,
  face,
  fewSteps,
  finished,
  keep,
  launch,
  openPage,
  pixels,
  place,
  resultUrl,
  shots,
  sizes,
  sober,
  spnn,
  startStudio,
  wish,
  wishesShown,
} from "./studio.mjs";

const tests = [];
const test = (name, body) => tests.push([name, body]);

let photo; // a face that does not exist, larger than the models take and not square

async function makePhoto(page) {
  await face(page);
  const bytes = await page.evaluate(async () => {
    const img = document.querySelector("#edit .stage .before");
    const canvas = new OffscreenCanvas(300, 380);
    const c = canvas.getContext("2d");
    c.fillStyle = "#778";
    c.fillRect(0, 0, 300, 380);
    c.drawImage(img, 10, 30, 280, 280);
    return [...new Uint8Array(await (await canvas.convertToBlob({ type: "image/png" })).arrayBuffer())];
  });
  return Buffer.from(bytes);
}

test("upload, slider, preview, result, before and after, undo, save, drop again: the same picture", async ({
  page,
}) => {
  photo = await makePhoto(page);
  await page
    .locator("#edit .panel")
    .getByRole("button", { name: "Photo" })
    .click({ noWaitAfter: true })
    .catch(() => {});
  await page.locator("input[type=file]").setInputFiles({ name: "me.png", mimeType: "image/png", buffer: photo });
  await page.waitForFunction(() => !document.querySelector("#edit .panel button:nth-child(3)").disabled);
  await fewSteps(page, "100");   // ten of them are drawn: one is seen
  await keep(page, 0.5);
  const labels = await page.evaluateHandle(() => {
    const tag = document.querySelector("#edit .tag.right");
    const seen = [];
    new MutationObserver(() => seen.push(tag.textContent)).observe(tag, { childList: true });
    return seen;
  });
  const slider = page.locator("#edit [data-attribute=Smiling]");
  await slider.focus();
  await page.keyboard.press("End");
  await finished(page);
  const seen = await labels.jsonValue();
  assert.ok(seen.includes("Forming") && seen.at(-1) === "After", `the picture is seen as it forms, got ${seen}`);
  assert.match(await page.locator("#edit .asked").textContent(), /Smiling99 %/);
  const first = await pixels(page, await resultUrl(page));
  await page.screenshot({ path: join(shots, "edit.png") });

  const stage = await page.locator("#edit .stage").boundingBox(); // the line follows the mouse
  await page.mouse.move(stage.x + stage.width / 2, stage.y + 50);
  await page.mouse.down();
  await page.mouse.move(stage.x + stage.width * 0.2, stage.y + 60, { steps: 4 });
  await page.mouse.up();
  const cut = await page.locator("#edit .stage").evaluate((e) => parseFloat(e.style.getPropertyValue("--cut")));
  assert.ok(Math.abs(cut - 20) < 2, `the line is at ${cut}`);
  await page.locator('#edit input[aria-label="Side by side"]').check({ force: true });
  await page.screenshot({ path: join(shots, "edit-side.png") });
  await page.locator('#edit input[aria-label="Slide"]').check({ force: true });

  await wish(page, "Eyeglasses", "0.95");
  await finished(page);
  await page.getByRole("button", { name: "Undo" }).click();
  assert.equal(await pixels(page, await resultUrl(page)), first, "undo shows another picture");
  await page.getByRole("button", { name: "Redo" }).click();
  await page.getByRole("button", { name: "Undo" }).click();

  const [download] = await Promise.all([
    page.waitForEvent("download"),
    page.getByRole("button", { name: "Save as PNG" }).click(),
  ]);
  const saved = readFileSync(await download.path());
  assert.equal(await pixels(page, [...saved]), first, "the saved file is another picture");
  await page.reload();
  await page.waitForSelector("html[data-ready]");
  await dropFile(page, saved, "saved.png");
  await page.waitForFunction(() => document.querySelector("#edit .asked")?.textContent.includes("Smiling99 %"));
  await finished(page);
  let again; // the wish is shown before its picture is there
  for (let i = 0; i < 40 && again !== first; i++) {
    if (i > 0) await page.waitForTimeout(250);
    again = await pixels(page, await resultUrl(page)).catch(() => undefined);
  }
  assert.equal(again, first, "dropped again, another picture was made");
});

test("the command makes the same bits", async ({ page }) => {
  const [download] = await Promise.all([
    page.waitForEvent("download"), // the photo was inside the dropped file: it is saved beside the command
    page.getByRole("button", { name: "Copy as command" }).click(),
  ]);
  const line = await page.locator("dialog pre").textContent();
  await page.locator("dialog").getByRole("button", { name: "Copy" }).click();
  assert.equal(await page.evaluate(() => navigator.clipboard.readText()), line);
  await page.keyboard.press("Escape");
  const folder = mkdtempSync(join(tmpdir(), "studio-command-"));
  await download.saveAs(join(folder, download.suggestedFilename()));
  execFileSync("bash", ["-c", line.replace(/^spnn/gm, spnn)], { cwd: folder });
  const name = readdirSync(join(folder, "edited")).find((file) => file.endsWith(".png"));
  const made = readFileSync(join(folder, "edited", name));
  assert.equal(await pixels(page, [...made]), await pixels(page, await resultUrl(page)));
});

test("restore with a painted mask, by two methods", async ({ page }) => {
  await place(page, "restore");
  await choosePhoto(page, "restore", photo);
  await page.locator("#restore .desk").waitFor();
  await page.locator('#restore input[aria-label="Holes"]').check({ force: true });
  await page.getByRole("button", { name: "Paint a hole first" }).waitFor();
  const box = await page.locator("#restore canvas.paint").boundingBox();
  await page.mouse.move(box.x + box.width * 0.35, box.y + box.height * 0.4);
  await page.mouse.down();
  await page.mouse.move(box.x + box.width * 0.65, box.y + box.height * 0.4, { steps: 8 });
  await page.mouse.up();
  await page.locator('#restore input[value="ddnm"]').check({ force: true });
  await page
    .locator("#restore .panel input[type=range]")
    .last()
    .evaluate((input, steps) => {
      input.value = steps;
      input.dispatchEvent(new Event("input"));
    }, STEPS);
  await page.getByRole("button", { name: "Restore by 2 methods" }).click();
  await page.waitForFunction(
    () =>
      document.querySelectorAll("#restore .result .best").length > 0 &&
      /Done/.test(document.querySelector("#restore .status span").textContent),
  );
  assert.equal(await page.locator("#restore .result").count(), 4);
  assert.match(await page.locator("#restore .results").textContent(), /\d+\.\d\d dB/);
  await page.evaluate(() => scrollTo({ top: 0, behavior: "instant" }));
  await page.screenshot({ path: join(shots, "restore.png"), fullPage: true });
});

test("understand: g† while sliders move, range and null space, λ, residuals", async ({ page }) => {
  await place(page, "understand");
  await page.waitForFunction(() => document.querySelector("#understand .stage img")?.src.startsWith("data:"));
  const before = await page.locator("#understand .stage img").getAttribute("src");
  await wish(page, "Male", "3", "understand");
  await page.waitForFunction((old) => document.querySelector("#understand .stage img").src !== old, before);
  assert.match(await page.locator("#understand .status").first().textContent(), /\d\.\de-\d/);
  await choosePhoto(page, "understand", photo);
  await page.waitForFunction(() => /moved by/.test(document.querySelector("#understand").textContent));
  await page.getByRole("button", { name: "Measure" }).click();
  await page.getByText("All identities hold.").waitFor();
  await page.evaluate(() => scrollTo({ top: 0, behavior: "instant" }));
  await page.screenshot({ path: join(shots, "understand.png"), fullPage: true });
});

async function longEdit(page, steps) {
  await keep(page, 0);
  await fewSteps(page, steps);
}

test("stop ends the work", async ({ page }) => {
  await place(page, "edit");
  await longEdit(page, 1000);
  await page.waitForFunction(() => /^Step/.test(document.querySelector("#edit .status span").textContent));
  await page.locator("#edit").getByRole("button", { name: "Stop" }).click();
  await page.waitForFunction(() => document.querySelector("#edit .status span").textContent === "Stopped");
  await page.waitForFunction(() => document.querySelector("#engine").dataset.state === "ready");
});

test("a reload in the middle of a job finds it again", async ({ page }) => {
  await longEdit(page, 900);
  await page.waitForFunction(() => /^Step [1-9]/.test(document.querySelector("#edit .status span").textContent));
  await page.reload();
  await page.waitForFunction(() =>
    /^Step [1-9]/.test(document.querySelector("#edit .status span")?.textContent ?? ""),
  );
  await finished(page);
});

test("keyboard only", async ({ browser, studio, complaints }) => {
  const page = await openPage(browser, studio.url, sizes.desk, complaints);
  const reach = async (matches, most = 30) => {
    for (let i = 0; i < most; ++i) {
      await page.keyboard.press("Tab");
      if (await page.evaluate(matches)) return;
    }
    throw new Error(`not reached by Tab: ${matches}`);
  };
  await reach(() => document.activeElement.textContent === "Surprise me");
  await page.keyboard.press("Enter");
  await sober(page, () => page.keyboard.press("Enter")); // the focus went on to the button that draws another
  await fewSteps(page);
  await reach(() => document.activeElement.dataset.attribute === "Smiling");
  for (let i = 0; i < 3; ++i) await page.keyboard.press("PageUp");
  await finished(page);
  await page.keyboard.press("Delete"); // back to the photo's own value
  await wishesShown(page, 0);
  await page.keyboard.press("Control+z");
  await wishesShown(page, 1);
  await page.context().close();
});

test("a phone's width, by touch", async ({ browser, studio, complaints }) => {
  const page = await openPage(browser, studio.url, sizes.phone, complaints);
  const surpriseMe = () => page.getByRole("button", { name: "Surprise me" }).filter({ visible: true }).first().tap();
  await surpriseMe();
  await sober(page, surpriseMe);
  await fewSteps(page);
  await wish(page, "Smiling", "0.95");
  await finished(page);
  for (const name of ["edit", "restore", "understand"]) {
    await page.locator(`.tabs a[data-place=${name}]`).tap();
    const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    assert.ok(wide <= 0, `${name} is ${wide} pixels too wide`);
    await page.screenshot({ path: join(shots, `phone-${name}.png`) });
  }
  await page.context().close();
});

test("a file that is no picture is refused in words", async ({ page, complaints }) => {
  await dropFile(page, Buffer.from("this is no picture"), "x.png");
  await page.getByText("no picture that can be read").waitFor();
  complaints.splice(0, complaints.length, ...complaints.filter((c) => !/40\d|41\d/.test(c)));
});

detailTests(test, () => photo);
handTests(test, () => photo);

const studio = await startStudio();
const browser = await launch();
const complaints = [];
let failed = 0,
  asked = 0;
const began = Date.now();
try {
  const page = await openPage(browser, studio.url, sizes.desk, complaints);
  for (const [name, body] of tests) {
    if (process.argv[2] && !name.includes(process.argv[2])) continue;
    asked++;
    const start = Date.now();
    try {
      await body({ page, browser, studio, complaints });
      assert.deepEqual(complaints, []);
      console.log(`[  OK  ] ${name} (${((Date.now() - start) / 1000).toFixed(1)} s)`);
    } catch (error) {
      failed++;
      console.log(`[FAILED] ${name}: ${error.stack}`);
      await page.screenshot({ path: join(shots, `failed-${failed}.png`) }).catch(() => {});
      complaints.length = 0;
    }
  }
} finally {
  await browser.close();
  const code = await studio.stop();
  if (code !== 0) {
    failed++;
    console.log(`[FAILED] SIGTERM: expected the studio to end with 0, got ${code}`);
  }
}
console.log(
  `${asked - failed} of ${asked} browser tests in ${((Date.now() - began) / 1000).toFixed(0)} s; screenshots in ${shots}`,
);
process.exit(failed ? 1 : 0);
