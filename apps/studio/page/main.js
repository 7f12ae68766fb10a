// Starts the studio: asks the server what it can do, then shows the place that the address names.

import * as api from "./client.js";
import { toast } from "./dom.js";
import { Edit } from "./edit.js";
import * as photos from "./photo.js";
import { Restore } from "./restore.js";
import { Understand } from "./understand.js";

const names = ["edit", "restore", "understand"];
const places = {};
const makers = { edit: Edit, restore: Restore, understand: Understand };

function theme() {
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const apply = () => {
    document.documentElement.dataset.theme = localStorage.getItem("spnn-theme") || (dark.matches ? "dark" : "light");
  };
  dark.addEventListener("change", apply);
  document.getElementById("theme").addEventListener("click", () => {
    localStorage.setItem("spnn-theme", document.documentElement.dataset.theme === "dark" ? "light" : "dark");
    apply();
  });
  apply();
}

const here = () => (names.includes(location.hash.slice(1)) ? location.hash.slice(1) : "edit");

function show(info) {
  const name = here();
  for (const other of names) document.getElementById(other).hidden = other !== name;
  for (const link of document.querySelectorAll(".tabs a")) {
    if (link.dataset.place === name) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  document.title = `${name[0].toUpperCase()}${name.slice(1)} · spnn studio`;
  places[name] ||= new makers[name](document.getElementById(name), info);
  places[name].shown?.();
}

function follow() {
  const line = document.getElementById("engine");
  api.onEngine((state, text) => {
    line.dataset.state = state;
    line.querySelector(".text").textContent = text;
  });
  return (state, text) => {
    line.dataset.state = state;
    line.querySelector(".text").textContent = text;
  };
}

theme();
const engine = follow();
try {
  const info = await api.describe();
  photos.setLimits(info.limits);
  engine("ready", "ready");
  addEventListener("hashchange", () => {
    show(info);
    scrollTo(0, 0);
  });
  show(info);
  photos.listen(async (file) => {
    const maker = await photos.madeBy(file); // a saved picture goes where it was made, with its settings
    if (names.includes(maker) && maker !== here()) {
      history.pushState(null, "", `#${maker}`);
      show(info);
    }
    places[here()].open(file);
  });
  document.documentElement.dataset.ready = "";
} catch (error) {
  engine("lost", "not connected");
  toast(error.message, "bad");
}
