// The server's API. Every request carries the page's token; every failure is an Error with the server's sentence.

const meta = (name) => document.querySelector(`meta[name="${name}"]`).content;
const token = meta("spnn-token");
const client = meta("spnn-client");
const root = "/api/v1";

export class Refused extends Error {
  constructor(status, body) {
    super(body?.error || `the server answered ${status}`);
    this.status = status;
    this.body = body || {};
  }
}

const listeners = new Set();
export const onEngine = (listener) => listeners.add(listener);
const engine = (state, text) => listeners.forEach((listener) => listener(state, text));

async function request(method, path, { json, blob, signal } = {}) {
  const headers = {};
  if (method !== "GET") headers["X-Spnn-Token"] = token;
  if (json !== undefined) headers["Content-Type"] = "application/json";
  if (blob) headers["Content-Type"] = blob.type || "application/octet-stream";
  let response;
  try {
    response = await fetch(root + path, {
      method,
      headers,
      signal,
      body: blob || (json === undefined ? undefined : JSON.stringify(json)),
    });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    engine("lost", "the server is gone");
    throw new Error("The server does not answer. Is spnn studio still running?");
  }
  if (!response.ok) throw new Refused(response.status, await response.json().catch(() => null));
  const kind = response.headers.get("Content-Type") || "";
  return kind.startsWith("application/json") ? response.json() : response.blob();
}

export const describe = () => request("GET", "");
export const upload = (blob) => request("POST", "/photos", { blob });
// Answered at once, between the steps of whatever runs: look, live, damage, pinv, project, split, verify.
export const ask = (what, json, signal) => request("POST", `/ask/${what}`, { json, signal });
export const picture = (job) => request("GET", `/jobs/${job}/picture`);

const finished = { done: true, failed: true, cancelled: true };

// Follows a job from its first event (or on, after a lost connection: the browser sends the last id it saw).
export function attach(id, on) {
  const source = new EventSource(`${root}/jobs/${id}/events`);
  let over = false;
  const end = (name, data) => {
    if (over) return;
    over = true;
    source.close();
    engine("ready", "ready");
    on[name]?.(data);
    on.end?.(name);
  };
  for (const name of ["queued", "started", "progress", "preview"]) {
    source.addEventListener(name, (event) => {
      if (over) return;
      const data = JSON.parse(event.data);
      if (name === "queued") engine("busy", `waiting, place ${data.place}`);
      if (name === "progress") engine("busy", `step ${data.done} of ${data.total}`);
      on[name]?.(data);
    });
  }
  for (const name of Object.keys(finished))
    source.addEventListener(name, (event) => end(name, JSON.parse(event.data)));
  source.addEventListener("error", () => {
    if (source.readyState === EventSource.CLOSED) end("failed", { error: "The job is not known any more." });
  });
  return {
    id,
    get over() {
      return over;
    },
    async cancel() {
      if (over) return;
      end("cancelled", {});
      await drop(id);
    },
  };
}

export const queue = (wanted) => request("POST", "/jobs", { json: { client, ...wanted } });
export const drop = (id) => request("DELETE", `/jobs/${id}`).catch(() => {});

export async function start(wanted, on) {
  const { job: id, place } = await queue(wanted);
  on.queued?.({ place });
  return attach(id, on);
}

// Runs only the newest of many calls, one at a time: for sliders that are faster than the answers.
export function newest(call) {
  let running = false;
  let next = null;
  return async function again(...args) {
    next = args;
    if (running) return;
    running = true;
    try {
      while (next) {
        const now = next;
        next = null;
        await call(...now);
      }
    } finally {
      running = false;
    }
  };
}

export const photo = (id) => request("GET", `/photos/${id}`);
