// What the tests and the figures share: a running `spnn studio`, a browser, and small words.

import { spawn } from "node:child_process";
import { mkdirSync, readFileSync } from "node:fs";
import { chromium } from "playwright-core";

export const root = new URL("../../", import.meta.url).pathname;
export const spnn = process.env.SPNN || `${root}build/release/spnn`;
export const shots = process.env.SHOTS || `${root}build/release/studio-screenshots`;
mkdirSync(shots, { recursive: true });

// {url, stop()}; the server prints its address when it listens.
export async function startStudio(options = []) {
  const child = spawn(spnn, ["studio", "--port", "0", ...options], { stdio: ["ignore", "pipe", "inherit"] });
  let said = "";
  const url = await new Promise((resolve, reject) => {
    child.stdout.on("data", (data) => {
      said += data;
      const found = said.match(/studio: (http:\S+)/);
      if (found) resolve(found[1]);
    });
    child.on("exit", (code) => reject(new Error(`spnn studio ended with ${code}: ${said}`)));
  });
  return {
    url,
    child,
    said: () => said,
    // The code with which it ended, 0 if it did as it should.
    stop: (signal = "SIGTERM") =>
      new Promise((done) => {
        child.on("exit", (code) => done(code));
        child.kill(signal);
      }),
  };
}

export const launch = () =>
  chromium.launch({
    executablePath: process.env.CHROMIUM || "/usr/bin/chromium",
    args: [
      "--headless",
      "--no-sandbox",
      "--disable-gpu",
      "--no-first-run",
      "--disable-background-networking",
      "--disable-component-update",
      "--disable-sync",
    ],
  });

const FACE = 122310; // the seed of the first face that a page draws

export const sizes = {
  desk: { viewport: { width: 1280, height: 860 } },
  dark: { viewport: { width: 1280, height: 860 }, colorScheme: "dark" },
  darkPhone: { viewport: { width: 390, height: 800 }, deviceScaleFactor: 2, isMobile: true, hasTouch: true, colorScheme: "dark" },
  phone: { viewport: { width: 390, height: 800 }, deviceScaleFactor: 2, isMobile: true, hasTouch: true },
};

// A page that complains about errors and about every request that leaves the machine.
export async function openPage(browser, url, size, complaints) {
  const context = await browser.newContext({
    ...size,
    acceptDownloads: true,
    permissions: ["clipboard-read", "clipboard-write"],
  });
  // "Surprise me" draws its seeds from here: the same faces in every run, each time another.
  await context.addInitScript((seed) => {
    let drawn = 0;
    crypto.getRandomValues = (numbers) => numbers.fill(seed + drawn++);
  }, FACE);
  const page = await context.newPage();
  page.setDefaultTimeout(30000);
  page.on("console", (message) => {
    if (message.type() === "error") complaints.push(`console: ${message.text()}`);
  });
  page.on("pageerror", (error) => complaints.push(`page: ${error.message}`));
  page.on("request", (request) => {
    if (!/^(blob|data):/.test(request.url()) && !request.url().startsWith(url))
      complaints.push(`left the machine: ${request.url()}`);
  });
  await page.goto(url);
  await page.waitForSelector("html[data-ready]");
  return page;
}

export const place = async (page, name) => {
  await page.locator(`.tabs a[data-place=${name}]`).click();
  return page.locator(`#${name}`);
};

export async function surprise(page, where) {
  await page
    .locator(`#${where}`)
    .getByRole("button", { name: "Surprise me" })
    .filter({ visible: true })
    .first()
    .click();
}

// Waits for a word of the place Edit as long as its words change: a busy machine may be slow, it may not stand still.
async function said(page, pattern) {
  for (let text = null; text === null || !pattern.test(text);) {
    const news = await page.waitForFunction(
      ([before, source]) => {
        const now = document.querySelector("#edit .status span").textContent;
        return (now !== before || new RegExp(source).test(now)) && { now };
      },
      [text, pattern.source],
    );
    text = (await news.jsonValue()).now;
  }
}

// The same for any place and anything: until `holds`, or 30 s without news of the engine in the page's header.
export async function whileItWorks(page, holds) {
  for (let before = null, news = Date.now(); !(await page.evaluate(holds)); await page.waitForTimeout(100)) {
    const now = await page.locator("#engine").textContent();
    if (now !== before) news = Date.now();
    before = now;
    if (Date.now() - news > 30000) throw new Error(`nothing new for 30 s, expected ${holds}`);
  }
}

const drawn = (page) => said(page, /does not exist/);

// Every fourth face smiles as much as the slider allows, and a key that moves a slider past its end changes nothing: then
// there is no job to wait for. Faces are drawn until one has room on its slider, whatever the models are.
export async function sober(page, again = () => surprise(page, "edit")) {
  for (let draws = 0; draws < 8; ++draws) {
    await drawn(page);
    const smiling = Number(await page.locator("#edit [data-attribute=Smiling]").inputValue());
    if (smiling <= 0.6) return;
    await page.locator("#edit .status span").evaluate((line) => (line.textContent = ""));
    await again();
  }
  throw new Error("expected one face of 8 that does not smile, got none");
}

export async function face(page) {
  await surprise(page, "edit");
  await sober(page);
}

// How many wishes are listed with what was asked for.
export const wishesShown = (page, count) =>
  page.waitForFunction((n) => document.querySelectorAll("#edit .asked .line:not(.heads)").length === n, count);

// Moves a slider as a hand would: many inputs, one change.
export const wish = (page, name, value, where = "edit") =>
  page.locator(`#${where} [data-attribute=${name}]`).evaluate((input, to) => {
    input.closest("details").open = true;
    input.value = to;
    input.dispatchEvent(new Event("input", { bubbles: true }));
    input.dispatchEvent(new Event("change", { bubbles: true }));
  }, value);

export const finished = (page) => said(page, /^Done in/);

// The pixels of a picture (an address or bytes), as one text: decoded by the browser, exactly.
export const pixels = (page, source) =>
  page.evaluate(async (from) => {
    const picture = new Image();
    picture.src = typeof from === "string" ? from : URL.createObjectURL(new Blob([new Uint8Array(from)], { type: "image/png" }));
    await picture.decode();
    const canvas = new OffscreenCanvas(picture.naturalWidth, picture.naturalHeight);
    const context = canvas.getContext("2d");
    context.drawImage(picture, 0, 0);
    const { data } = context.getImageData(0, 0, canvas.width, canvas.height);
    const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", data));
    return `${canvas.width}x${canvas.height} ${[...digest].map((b) => b.toString(16).padStart(2, "0")).join("")}`;
  }, source);

// Of what is shown, once it is: a picture is decoded before it takes the place of the one before.
export async function resultUrl(page, where = "edit") {
  const shown = await page.waitForFunction((id) => {
    const { src, dataset } = document.querySelector(`#${id} .stage .after`);
    return src && src === dataset.url && src;
  }, where);
  return shown.jsonValue();
}

export const STEPS = "8"; // enough to see a face form, few enough to be quick

export const fewSteps = (page, steps = STEPS) =>
  page.locator("#edit-steps").evaluate((input, to) => {
    input.value = to;
    input.dispatchEvent(new Event("change"));
  }, steps);

// An edit that keeps all of the photo is over at once; one that keeps less is drawn in steps.
export const keep = (page, part) =>
  page.getByLabel("Keep of the photo").evaluate((input, to) => {
    input.value = to;
    input.dispatchEvent(new Event("change"));
  }, part);

export const dropFile = (page, bytes, name) =>
  page.evaluate(
    ([data, called]) => {
      const transfer = new DataTransfer();
      transfer.items.add(new File([new Uint8Array(data)], called, { type: "image/png" }));
      dispatchEvent(new DragEvent("drop", { dataTransfer: transfer, bubbles: true, cancelable: true }));
    },
    [[...bytes], name],
  );

export async function choosePhoto(page, where, bytes) {
  const button = page.locator(`#${where}`).getByRole("button", { name: "Choose a photo" }).filter({ visible: true });
  const [chooser] = await Promise.all([page.waitForEvent("filechooser"), button.first().click()]);
  await chooser.setFiles({ name: "me.png", mimeType: "image/png", buffer: bytes });
}

// Save as PNG by the button of this name: the file's bytes.
export async function savedBy(page, button) {
  const [download] = await Promise.all([page.waitForEvent("download"), button.click()]);
  return readFileSync(await download.path());
}
