// What happens under a hand: nothing jumps, nothing that is held or typed is taken away, and late answers change nothing.

import assert from "node:assert/strict";
import { deflateSync } from "node:zlib";
import {
  choosePhoto,
  dropFile,
  face,
  fewSteps,
  finished,
  keep,
  openPage,
  place,
  sizes,
  startStudio,
  surprise,
  wish,
  wishesShown,
} from "./studio.mjs";

const slider = (page, name) => page.locator(`#edit [data-attribute=${name}]`);

// A hand that moves a slider and has not let go.
const drag = (page, name, value) =>
  slider(page, name).evaluate((input, to) => {
    input.closest("details").open = true;
    input.value = to;
    input.dispatchEvent(new Event("input", { bubbles: true }));
  }, value);
const letGo = (page, name) =>
  slider(page, name).evaluate((input) => input.dispatchEvent(new Event("change", { bubbles: true })));

async function nothingJumps({ browser, studio, complaints }) {
  for (const name of ["desk", "phone"]) {
    const page = await openPage(browser, studio.url, sizes[name], complaints);
    await face(page);
    await keep(page, 0.5);
    await fewSteps(page);
    const places = () =>
      page.evaluate(() =>
        ["#edit .stage", "#edit .tools", "#edit .strip", "#edit .panel", "#edit [data-attribute=Smiling]"].map((what) => {
          const box = document.querySelector(what).getBoundingClientRect();
          return [what, Math.round(box.left), Math.round(box.top + scrollY), Math.round(box.width)].join(" ");
        }),
      );
    const before = await places();
    const watch = await page.evaluateHandle(() => {
      const shifts = [];
      new PerformanceObserver((list) => {
        for (const { value, sources } of list.getEntries()) {
          const moved = sources.map((s) => s.node?.className || s.node?.nodeName);
          if (moved.some((name) => name !== "tag right")) shifts.push(`${value}: ${moved.join(", ")}`); // a word that changes
        }
      }).observe({ type: "layout-shift" });
      return shifts;
    });
    await wish(page, "Smiling", "0.95");
    assert.deepEqual(await places(), before, `${name}: a wish moved the page`);
    await finished(page);
    assert.deepEqual(await places(), before, `${name}: a result moved the page`);
    await wish(page, "Young", "0.2");
    await finished(page);
    await page.getByRole("button", { name: "Another variant" }).click();
    await page.getByRole("button", { name: "Variant of seed 1" }).waitFor();
    await finished(page);
    assert.deepEqual(await places(), before, `${name}: a variant moved the page`);
    assert.deepEqual(await watch.jsonValue(), [], `${name}: the browser saw something jump`);
    await page.context().close();
  }
}

async function heldAndTyped({ browser, studio, complaints }) {
  const page = await openPage(browser, studio.url, sizes.desk, complaints);
  await face(page);
  await keep(page, 0.5);
  await fewSteps(page, "40");
  await wish(page, "Smiling", "0.95");
  await drag(page, "Eyeglasses", "0.8"); // while the smile is drawn
  await page.locator("#edit-seed").fill("77"); // typed, not yet taken
  await finished(page);
  assert.equal(await slider(page, "Eyeglasses").inputValue(), "0.8", "a result moved the slider that is held");
  assert.equal(await page.locator("#edit-seed").inputValue(), "77", "a result took away what was typed");
  await letGo(page, "Eyeglasses");
  await wishesShown(page, 2);
  assert.match(await page.locator("#edit .asked").textContent(), /Eyeglasses80 %/, "the wish of the held slider was lost");
  await finished(page);
  await page.context().close();
}

async function lateAnswers({ browser, studio, complaints }, photo) {
  const page = await openPage(browser, studio.url, sizes.desk, complaints);
  await face(page);
  let answered;
  const late = new Promise((done) => (answered = done));
  await page.route("**/api/v1/ask/live", async (route) => {
    const response = await route.fetch();
    await finished(page); // the preview is slower than what it is a preview of
    await route.fulfill({ response });
    answered();
  });
  await wish(page, "Smiling", "0.95");
  await late;
  await page.waitForTimeout(300);
  assert.equal(await page.locator("#edit .tag.right").textContent(), "After", "a late preview replaced the result");
  await page.unroute("**/api/v1/ask/live");

  let first = true; // of two photos the one that came last stays, whichever is looked at sooner
  let passed;
  const slow = new Promise((done) => (passed = done));
  await page.route("**/api/v1/ask/look", async (route) => {
    if (!first) return route.continue();
    first = false;
    await page.waitForFunction(() => !document.querySelector("#edit .panel button:nth-child(3)").disabled);
    await route.continue();
    passed();
  });
  await surprise(page, "edit");
  await page.waitForRequest("**/api/v1/ask/look");
  await dropFile(page, photo, "later.png");
  await slow;
  await page.waitForTimeout(500);
  assert.equal(await page.getByRole("button", { name: "Crop" }).isDisabled(), false, "the older photo came back");
  await page.context().close();
}

async function halfDrawn({ browser, studio, complaints }) {
  const page = await openPage(browser, studio.url, sizes.desk, complaints);
  await page.route("**/api/v1/jobs", (route) =>
    route.continue({ postData: JSON.stringify({ ...route.request().postDataJSON(), steps: 1000 }) }),
  );
  await surprise(page, "edit");
  await page.locator("#edit .desk").waitFor();
  assert.equal(await page.locator("#edit .wishes").evaluate((e) => e.inert), true, "sliders without a photo");
  for (const name of ["Undo", "Copy as command", "Save as PNG with its settings", "Crop"])
    assert.equal(await page.locator("#edit").getByRole("button", { name }).isDisabled(), true, name);
  await page.locator("#edit").getByRole("button", { name: "Stop" }).click();
  await page.locator("#edit .drop").waitFor(); // nothing was drawn: the beginning again
  await page.unroute("**/api/v1/jobs");

  await face(page);
  const [download] = await Promise.all([
    page.waitForEvent("download"),
    page.getByRole("button", { name: "Save as PNG" }).click(),
  ]);
  assert.match(download.suggestedFilename(), /^face-\d+\.png$/, "a drawn face can be saved");
  await page.getByRole("button", { name: "Copy as command" }).click();
  assert.match(await page.locator("dialog pre").textContent(), /^spnn sample .* --seed \d+ /);
  await page.context().close();
}

async function otherInverse({ browser, studio, complaints }, photo) {
  const page = await openPage(browser, studio.url, sizes.desk, complaints);
  await place(page, "understand");
  await choosePhoto(page, "understand", photo);
  const range = page.locator('#understand img[alt^="Range"]');
  await page.waitForFunction(() => document.querySelector('#understand img[alt^="Range"]').src);
  const before = await range.getAttribute("src");
  await page.locator('#understand input[aria-label="origin"]').check({ force: true });
  await page.waitForFunction((old) => document.querySelector('#understand img[alt^="Range"]').src !== old, before);
  await page.context().close();
}

// A PNG of 100 million white pixels in 12 kB.
function hugePhoto() {
  const side = 10000;
  const chunk = (type, data) => {
    const body = Buffer.concat([Buffer.from(type), data]);
    const table = Array.from({ length: 256 }, (_, n) => {
      for (let k = 0; k < 8; ++k) n = n & 1 ? 0xedb88320 ^ (n >>> 1) : n >>> 1;
      return n >>> 0;
    });
    let crc = 0xffffffff;
    for (const byte of body) crc = table[(crc ^ byte) & 255] ^ (crc >>> 8);
    const out = Buffer.alloc(body.length + 8);
    out.writeUInt32BE(data.length, 0);
    body.copy(out, 4);
    out.writeUInt32BE((crc ^ 0xffffffff) >>> 0, body.length + 4);
    return out;
  };
  const head = Buffer.alloc(13);
  head.writeUInt32BE(side, 0);
  head.writeUInt32BE(side, 4);
  head.set([1, 0, 0, 0, 0], 8); // one bit a pixel
  const row = Buffer.alloc(1 + side / 8, 255);
  row[0] = 0;
  const rows = Buffer.alloc(side * row.length);
  for (let y = 0; y < side; ++y) row.copy(rows, y * row.length);
  const signature = Buffer.from([137, 80, 78, 71, 13, 10, 26, 10]);
  return Buffer.concat([signature, chunk("IHDR", head), chunk("IDAT", deflateSync(rows)), chunk("IEND", Buffer.alloc(0))]);
}

async function hugePhotoIsTaken({ browser, studio, complaints }) {
  const page = await openPage(browser, studio.url, sizes.desk, complaints);
  await dropFile(page, hugePhoto(), "huge.png");
  await page.getByText("The photo was reduced to 2048 × 2048").waitFor();
  await page.waitForFunction(() => document.querySelector("#edit .stage .before")?.src.startsWith("data:"));
  await page.context().close();
}

async function controlC({ browser, complaints }) {
  const mine = await startStudio();
  const page = await openPage(browser, mine.url, sizes.desk, complaints);
  await face(page);
  await keep(page, 0);
  await fewSteps(page, "1000");
  await wish(page, "Smiling", "0.95");
  await page.waitForFunction(() => /^Step/.test(document.querySelector("#edit .status span").textContent));
  const began = Date.now();
  const code = await mine.stop("SIGINT");
  assert.equal(code, 0, `Ctrl-C in the middle of a job: ended with ${code}`);
  assert.ok(Date.now() - began < 10000, "it took long to stop");
  assert.match(mine.said(), /studio: stopped/);
  await page.context().close();
  complaints.length = 0; // the page complains that its server is gone, and it is right
}

export function handTests(test, photo) {
  test("nothing jumps when a wish, a result or a variant arrives", nothingJumps);
  test("a result takes neither the slider that is held nor the number that is typed", heldAndTyped);
  test("late answers change nothing", (all) => lateAnswers(all, photo()));
  test("a face that is half drawn is no photo; one that is drawn can be saved", halfDrawn);
  test("another pseudo-inverse: another range", (all) => otherInverse(all, photo()));
  test("a photo of 100 megapixels is reduced and taken", hugePhotoIsTaken);
  test("Ctrl-C in the middle of a job ends it cleanly", controlC);
}
