// What the main story in run.mjs leaves out: resets, opinions, paste, crop, saved restorations, and how every place looks.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, readdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  STEPS,
  choosePhoto,
  dropFile,
  face,
  fewSteps,
  finished,
  keep,
  openPage,
  pixels,
  place,
  resultUrl,
  savedBy,
  shots,
  sizes,
  spnn,
  surprise,
  whileItWorks,
  wish,
} from "./studio.mjs";

const value = (page, name) => page.locator(`#edit [data-attribute=${name}]`).inputValue();
const restored = (page) =>
  page.waitForFunction(() => /Done/.test(document.querySelector("#restore .status span").textContent));

async function resetsAndOpinions({ browser, studio, complaints }) {
  const page = await openPage(browser, studio.url, sizes.desk, complaints);
  await face(page);
  const own = await value(page, "Smiling");
  await wish(page, "Smiling", "0.95");
  await wish(page, "Eyeglasses", "0.95");
  await finished(page);
  const said = await page.locator("#edit .asked .line:not(.heads)").allTextContents();
  assert.equal(said.length, 2, "two wishes are asked for");
  for (const line of said) assert.match(line, /95 %[\d.]+ %[\d.]+ %$/, "asked, g and the judge");

  await page.locator("#edit .stage-holder").hover();
  const eye = await page.getByRole("button", { name: "Hold to see the photo before" }).boundingBox();
  await page.mouse.move(eye.x + eye.width / 2, eye.y + eye.height / 2);
  await page.mouse.down();
  assert.equal(await page.locator("#edit .stage.held").count(), 1, "held: the photo before");
  await page.mouse.up();
  assert.equal(await page.locator("#edit .stage.held").count(), 0);

  await page.locator("#edit [data-attribute=Smiling]").dblclick();
  await page.waitForFunction(() => !/Smiling/.test(document.querySelector("#edit .asked").textContent));
  assert.equal(await value(page, "Smiling"), own, "double click brings the photo's own value back");
  assert.equal(await value(page, "Eyeglasses"), "0.95", "the other wish stays");
  await page.context().close();
}

async function variants({ browser, studio, complaints }) {
  const page = await openPage(browser, studio.url, sizes.desk, complaints);
  await face(page);
  await keep(page, 0.5);
  await fewSteps(page);
  await wish(page, "Smiling", "0.95");
  await finished(page);
  const first = await pixels(page, await resultUrl(page));
  await page.getByRole("button", { name: "Another variant" }).click();
  await page.getByRole("button", { name: "Variant of seed 1" }).waitFor();
  await page.getByRole("button", { name: "Variant of seed 0" }).click();
  await page.waitForFunction(() => document.querySelector("#edit-seed").value === "0");
  assert.equal(await pixels(page, await resultUrl(page)), first, "the first variant is shown again");
  await page.context().close();
}

async function pasteAndCrop({ browser, studio, complaints }, photo) {
  const page = await openPage(browser, studio.url, sizes.desk, complaints);
  await page.evaluate((data) => {
    const clipboardData = new DataTransfer();
    clipboardData.items.add(new File([new Uint8Array(data)], "pasted.png", { type: "image/png" }));
    dispatchEvent(new ClipboardEvent("paste", { clipboardData }));
  }, [...photo]);
  await page.waitForFunction(() => document.querySelector("#edit .stage .before")?.src.startsWith("data:"));
  const before = await page.locator("#edit .stage .before").getAttribute("src");
  await page.getByRole("button", { name: "Crop" }).click();
  await page.locator("dialog canvas").waitFor();
  await page.screenshot({ path: join(shots, "crop.png") });
  for (const key of ["-", "-", "ArrowDown", "ArrowRight"]) await page.keyboard.press(key);
  await page.keyboard.press("Enter");
  await page.waitForFunction((old) => document.querySelector("#edit .stage .before").src !== old, before);
  await page.context().close();
}

async function savedRestoration({ browser, studio, complaints }, photo) {
  const page = await openPage(browser, studio.url, sizes.desk, complaints);
  await place(page, "restore");
  await choosePhoto(page, "restore", photo);
  await page.locator("#restore .desk").waitFor();
  await page.locator('#restore input[aria-label="Holes"]').check({ force: true });
  await page.locator("#restore canvas.paint").focus();
  await page.keyboard.press("Space"); // a dot in the middle, by keyboard
  const steps = page.locator("#restore .panel input[type=range]").last();
  await steps.evaluate((input, to) => {
    input.value = to;
    input.dispatchEvent(new Event("input"));
  }, STEPS);
  const go = page.getByRole("button", { name: "Restore", exact: true });
  await go.click();
  await restored(page);
  const saved = await savedBy(page, page.getByRole("button", { name: /^Save the result of/ }));
  const shown = await pixels(page, [...saved]);

  const folder = mkdtempSync(join(tmpdir(), "studio-restore-"));
  page.on("download", (download) => download.saveAs(join(folder, download.suggestedFilename())));
  await page.getByRole("button", { name: /as command$/ }).first().click();
  const line = await page.locator("dialog pre").textContent();
  for (let i = 0; i < 40 && readdirSync(folder).length < 2; i++) await page.waitForTimeout(100); // the square, the mask
  execFileSync("bash", ["-c", line.replace(/^spnn/gm, spnn)], { cwd: folder });
  const output = line.match(/-o (\S+)/)[1];
  const name = readdirSync(join(folder, output)).find((file) => file.endsWith(".png"));
  assert.equal(await pixels(page, [...readFileSync(join(folder, output, name))]), shown, `other bits by: ${line}`);

  await page.reload();
  await page.waitForSelector("html[data-ready]");
  await place(page, "understand"); // a saved picture finds the place that made it
  await dropFile(page, saved, "saved.png");
  await page.locator("#restore .desk").waitFor();
  await page.waitForFunction(() => !document.querySelector("#restore .panel button.main")?.disabled);
  assert.equal(await page.locator("#restore .panel input[type=range]").last().inputValue(), STEPS);
  await go.click();
  await restored(page);
  const again = await savedBy(page, page.getByRole("button", { name: /^Save the result of/ }));
  assert.equal(await pixels(page, [...again]), shown, "dropped again, another picture was made");
  await page.context().close();
}

async function everyPlace({ browser, studio, complaints }) {
  for (const [name, size] of Object.entries(sizes)) {
    const page = await openPage(browser, studio.url, size, complaints);
    await face(page);
    await wish(page, "Smiling", "0.95");
    await finished(page);
    for (const where of ["edit", "restore", "understand"]) {
      await place(page, where);
      if (where !== "edit") await surprise(page, where);
      if (where === "restore")
        await whileItWorks(page, () => document.querySelector("#restore .tag.right")?.textContent === "Damaged");
      if (where === "understand")
        await whileItWorks(page, () => /moved by/.test(document.querySelector("#understand").textContent));
      const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
      assert.ok(wide <= 0, `${where} is ${wide} pixels too wide on ${name}`);
      const nameless = await page.evaluate(
        (id) =>
          [...document.querySelectorAll(`#${id} button, #${id} input, header button, header a`)].filter(
            (e) => !(e.getAttribute("aria-label") || e.textContent.trim() || e.labels?.length || e.title),
          ).length,
        where,
      );
      assert.equal(nameless, 0, `${where}: controls without a name`);
      await page.evaluate(() => scrollTo({ top: 0, behavior: "instant" })); // what sticks stands where it begins
      await page.screenshot({ path: join(shots, `${name}-${where}.png`), fullPage: true });
    }
    await page.context().close();
  }
}

export function detailTests(test, photo) {
  test("double click resets, g and the judge beside what was asked, hold to compare", resetsAndOpinions);
  test("variants by seed", variants);
  test("a photo is pasted and cropped by hand", (all) => pasteAndCrop(all, photo()));
  test("a saved restoration: the command's bits, and dropped again the same settings", (all) =>
    savedRestoration(all, photo()));
  test("every place, dark and light, desk and phone", everyPlace);
}
