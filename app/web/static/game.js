// The table of a game: links within it are followed in place, the map is clicked, arrow keys step, events of
// others come in as they are written. Without this script every link and form works as any other.
"use strict";

const table = document.getElementById("game");
const said = document.getElementById("said");
const board = () => table.querySelector(".game");
let playing = null;
let asked = 0; // the last request; what an older one brings is not shown any more
let sending = false;

const here = (address) => new URL(address, location.href);
const isOurs = (address) => here(address).pathname === location.pathname;

async function fetched(address, how = {}) {
  try {
    return await fetch(address, { headers: { Accept: "text/html" }, ...how });
  } catch {
    said.textContent = "The server does not answer.";
    return null;
  }
}

async function go(address, push = true) {
  const wanted = here(address);
  wanted.searchParams.set("part", "1");
  asked += 1;
  const mine = asked;
  const answer = await fetched(wanted);
  if (answer && mine === asked) await show(answer, address, push);
}

async function show(answer, address, push) {
  const scrolled = table.querySelector(".log")?.scrollTop ?? 0;
  table.innerHTML = await answer.text();
  const log = table.querySelector(".log");
  if (log) log.scrollTop = scrolled;
  if (push) history.pushState(null, "", address);
  ready();
}

function ready() {
  const current = table.querySelector(".log [aria-current]");
  const log = table.querySelector(".log");
  if (current && log) log.scrollTop = Math.max(0, current.offsetTop - log.offsetTop - log.clientHeight / 2);
  const play = table.querySelector("[data-play]");
  const speeds = table.querySelector("[data-speeds]");
  const atEnd = board().dataset.at === board().dataset.events;
  play.hidden = speeds.hidden = atEnd;
  play.setAttribute("aria-pressed", String(playing !== null));
  play.textContent = playing === null ? "▶ play" : "⏸ stop";
  if (playing !== null) speeds.querySelector("select").value = playing.pause;
  if (atEnd) stop();
  visit();
  paint();
  said.textContent = table.querySelector(".event-told summary")?.textContent ?? "";
}

// Where somebody left off is kept in this browser alone.
function visit() {
  const key = `sightline-visit ${location.pathname}`;
  const events = Number(board().dataset.events);
  visit.before ??= Number(localStorage.getItem(key) ?? 0);
  const link = table.querySelector("[data-visit]");
  if (visit.before > 0 && visit.before < events) {
    const address = here(location.href);
    address.search = "";
    address.searchParams.set("since", visit.before);
    link.href = address.href;
    link.hidden = false;
  }
  localStorage.setItem(key, events);
}

// Hexes that an offer speaks of can be clicked.
function offersAt(label) {
  return [...table.querySelectorAll(".offers a[data-hexes]")].filter((offer) => offer.dataset.hexes.split(" ").includes(label));
}

function paint() {
  const spoken = new Set([...table.querySelectorAll(".offers a[data-hexes]")].flatMap((offer) => offer.dataset.hexes.split(" ")));
  for (const field of table.querySelectorAll(".field")) field.classList.toggle("offered", spoken.has(field.dataset.hex));
}

function narrow(label) {
  const meant = offersAt(label);
  for (const offer of table.querySelectorAll(".offers li")) offer.hidden = !meant.some((one) => offer.contains(one));
  said.textContent = `${meant.length} orders for ${label}`;
  meant[0].focus();
}

function clicked(field) {
  const meant = offersAt(field.dataset.hex);
  if (meant.length === 1) return go(meant[0].href);
  if (meant.length > 1) return narrow(field.dataset.hex);
  const units = JSON.parse(field.dataset.units ?? "[]");
  if (!units.length) return undefined;
  const address = here(board().dataset.address);
  const chosen = address.searchParams.get("unit");
  // clicked again, the next of the stack
  address.searchParams.set("unit", units[(units.indexOf(chosen) + 1) % units.length]);
  address.searchParams.delete("order");
  address.searchParams.delete("at");
  return go(address.pathname + address.search);
}

function stop() {
  if (playing) clearTimeout(playing.timer);
  playing = null;
}

function play(pause) {
  playing = { pause, timer: setTimeout(async () => {
    const next = table.querySelector('[data-step="after"]');
    if (!next) return stop();
    await go(next.href);
    return playing && play(pause);
  }, pause) };
}

table.addEventListener("click", (event) => {
  const field = event.target.closest(".field");
  if (field) return void clicked(field);
  if (event.target.closest("[data-play]")) {
    if (playing) stop();
    else play(Number(table.querySelector("[data-speed]").value));
    return ready();
  }
  const link = event.target.closest("a[href]");
  if (!link || event.ctrlKey || event.metaKey || event.shiftKey || !isOurs(link.href)) return undefined;
  event.preventDefault();
  return void go(link.href);
});

// What a form does is done in place, too; where it leads to another page, that is opened.
async function send(form, submitter) {
  const said = new FormData(form, submitter);
  said.set("part", "1");
  asked += 1;
  sending = true;
  const answer = await fetched(form.action, { method: "post", body: new URLSearchParams(said) });
  sending = false;
  if (!answer) return;
  const led = new URL(answer.url);
  led.searchParams.delete("part");
  if (answer.redirected && led.pathname !== location.pathname) location.assign(led);
  else await show(answer, answer.redirected ? led.href : location.href, answer.redirected);
}

table.addEventListener("submit", (event) => {
  const form = event.target;
  if (form.method === "post") {
    event.preventDefault();
    void send(form, event.submitter);
    return;
  }
  if (form.method !== "get" || !isOurs(form.action)) return;
  event.preventDefault();
  const address = here(form.action);
  address.search = new URLSearchParams([...new FormData(form)].filter(([, value]) => value !== "")).toString();
  void go(address.pathname + address.search);
});

document.addEventListener("keydown", (event) => {
  if (event.target.closest("input, textarea, select") || event.altKey || event.ctrlKey || event.metaKey) return;
  const step = { ArrowLeft: "before", ArrowRight: "after", Home: "first", End: "last" }[event.key];
  const link = step && table.querySelector(`[data-step="${step}"]`);
  if (link) {
    event.preventDefault();
    void go(link.href);
  } else if (event.key === "/") {
    event.preventDefault();
    document.getElementById("order")?.focus();
  }
});

addEventListener("popstate", () => void go(location.href, false));

// What others do: the page of the last moment is fetched anew, an earlier one says that there is more.
let stream = null;
const RETRY = 5000;
function news() {
  if (sending) return; // our own
  const now = board().dataset.at === board().dataset.events;
  // who writes, or has a list of orders before them, keeps it
  const written = [...table.querySelectorAll("textarea")].some((text) => text.value.trim());
  if (now && !written && !table.querySelector("input:focus, textarea:focus")) void go(location.href, false);
  else said.textContent = "The game has gone on.";
}
function follow() {
  stream = new EventSource(`${table.dataset.stream}&after=${board().dataset.events}`);
  stream.addEventListener("event", (told) => {
    if (Number(told.lastEventId) > Number(board().dataset.events)) news();
  });
  stream.addEventListener("waits", (told) => {
    if (!table.querySelector(".prompt") || JSON.parse(told.data).action === undefined) news();
  });
  stream.addEventListener("gone", () => {
    said.textContent = "The game was deleted.";
    stream.close();
  });
  // a browser asks again by itself, but not where too many follow games at once
  stream.addEventListener("error", () => {
    if (stream.readyState === EventSource.CLOSED) setTimeout(follow, RETRY);
  });
}
addEventListener("pagehide", () => stream.close());
addEventListener("pageshow", (event) => event.persisted && follow());

follow();
ready();
