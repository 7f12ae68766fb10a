// Figures of the studio, in a real browser against a running server: node bench/studio.mjs [SECONDS of 50 clients]

import { finished, launch, openPage, sizes, startStudio, surprise, wish } from "../tests/browser/studio.mjs";

const median = (list) => [...list].sort((a, b) => a - b)[Math.floor(list.length / 2)];
const options = process.env.STUDIO_OPTIONS?.split(" ") ?? [];
const studio = await startStudio(options);
const browser = await launch();
const complaints = [];

async function sliderToResult(page, instant) {
  await page.locator(`#edit input[aria-label="${instant ? "Instant" : "Fine"}"]`).check({ force: true });
  const first = [],
    result = [];
  for (let i = 0; i < 5; ++i) {
    const times = page.evaluate(
      () =>
        new Promise((resolve) => {
          const began = performance.now();
          const times = {};
          const status = document.querySelector("#edit .status span"),
            tag = document.querySelector("#edit .tag.right");
          const watch = new MutationObserver(() => {
            if (tag.textContent !== "After" && !times.first) times.first = performance.now() - began;
            if (!/^Done in/.test(status.textContent)) return;
            times.result = performance.now() - began;
            watch.disconnect();
            resolve(times);
          });
          status.textContent = "";
          watch.observe(status, { childList: true, characterData: true });
          watch.observe(tag, { childList: true, characterData: true });
          watch.observe(document.querySelector("#edit .stage .after"), { attributes: true });
        }),
    );
    await wish(page, "Smiling", String(0.9 + 0.01 * i));
    const got = await times;
    first.push(got.first ?? got.result);
    result.push(got.result);
  }
  console.log(
    `slider release to first picture, to result (${instant ? "instant" : "fine"}): ${median(first).toFixed(0)} ms, ${median(result).toFixed(0)} ms`,
  );
}

async function live(page) {
  await page.locator(".tabs a[data-place=understand]").click();
  await page.waitForFunction(() => document.querySelector("#understand .stage img")?.src.startsWith("data:"));
  const shown = await page.evaluate(
    () =>
      new Promise((resolve) => {
        const slider = document.querySelector("#understand [data-attribute=Smiling]");
        let pictures = 0;
        const watch = new MutationObserver(() => {
          pictures++;
        });
        watch.observe(document.querySelector("#understand .stage img"), {
          attributes: true,
          attributeFilter: ["src"],
        });
        const began = performance.now();
        const move = () => {
          const t = performance.now() - began;
          if (t > 3000) {
            watch.disconnect();
            resolve(pictures / 3);
            return;
          }
          slider.value = 4 * Math.sin(t / 300);
          slider.dispatchEvent(new Event("input"));
          setTimeout(move, 5);
        };
        move();
      }),
  );
  console.log(`g† while a slider moves: ${shown.toFixed(1)} pictures a second`);
}

async function fiftyClients(seconds) {
  const token = (await (await fetch(studio.url)).text()).match(/spnn-token" content="(\w+)/)[1];
  const done = new Array(50).fill(0);
  let lost = 0,
    turnedAway = 0;
  const end = Date.now() + 1000 * seconds;
  await Promise.all(
    done.map(async (_, client) => {
      while (Date.now() < end) {
        const answer = await fetch(`${studio.url}api/v1/jobs`, {
          method: "POST",
          headers: { "Content-Type": "application/json", "X-Spnn-Token": token },
          body: JSON.stringify({ kind: "sample", seed: client, steps: 2, client: `client-${client}` }),
        });
        const body = await answer.json();
        if (answer.status === 429) {
          turnedAway++;
          await new Promise((r) => setTimeout(r, 300));
          continue;
        }
        const events = await (await fetch(`${studio.url}api/v1/jobs/${body.job}/events`)).text();
        if (events.includes("event: done")) done[client]++;
        else lost++;
      }
    }),
  );
  console.log(
    `50 clients for ${seconds} s: ${done.reduce((a, b) => a + b)} jobs done, ${lost} lost, ${turnedAway} told to come again; a client had ${Math.min(...done)} to ${Math.max(...done)}`,
  );
}

try {
  const page = await openPage(browser, studio.url, sizes.desk, complaints);
  await surprise(page, "edit");
  await page.waitForFunction(() => /does not exist/.test(document.querySelector("#edit .status span").textContent));
  await wish(page, "Smiling", "0.5");
  await finished(page);
  await sliderToResult(page, false);
  await sliderToResult(page, true);
  await live(page);
  await fiftyClients(Number(process.argv[2] ?? 60));
} finally {
  await browser.close();
  await studio.stop();
}
