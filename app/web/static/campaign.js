// A campaign's page: the slider fetches the moment it stands on, Play moves it, the map can be moved and clicked.
const form = document.querySelector("[data-slider]");
const shown = document.getElementById("moment");
const PAUSE = 120; // milliseconds without a move before a moment is fetched
const BEAT = 900; // of Play
const SMALL = 500; // pixels; a narrower map shows the part with marks first, 0 the whole
let asked = 0;
let waiting = 0;
let box = null; // the part of the map that is looked at, kept from moment to moment

if (form) slide();
document.querySelectorAll("svg.campaign-map").forEach(move);
document.querySelectorAll("[data-picker] svg").forEach(pick);

function slide() {
  const slider = form.elements.hour;
  const play = form.querySelector("[data-play]");
  play.hidden = false;
  let beat = 0;
  const step = (by) => {
    slider.value = Math.min(Number(slider.max), Math.max(0, Number(slider.value) + by * Number(form.elements.window.value)));
    return fetchMoment();
  };
  const stop = () => {
    clearInterval(beat);
    beat = 0;
    play.textContent = "Play";
    play.setAttribute("aria-pressed", "false");
  };
  slider.addEventListener("input", () => {
    clearTimeout(waiting);
    waiting = setTimeout(fetchMoment, PAUSE);
  });
  form.addEventListener("change", (event) => { if (event.target !== slider) fetchMoment(); });
  form.addEventListener("submit", (event) => { event.preventDefault(); fetchMoment(); });
  form.querySelectorAll("[data-step]").forEach((link) => link.addEventListener("click", (event) => {
    event.preventDefault();
    step(Number(link.dataset.step));
  }));
  play.addEventListener("click", () => {
    if (beat) return stop();
    if (Number(slider.value) >= Number(slider.max)) slider.value = 0;
    play.textContent = "Pause";
    play.setAttribute("aria-pressed", "true");
    beat = setInterval(() => (Number(slider.value) >= Number(slider.max) ? stop() : step(1)), BEAT);
  });
}

async function fetchMoment() {
  const said = new URLSearchParams();
  for (const [name, value] of new FormData(form)) if (value && !(name === "window" && value === "24")) said.set(name, value);
  const address = `${form.action}?${said}`;
  const mine = ++asked;
  const answer = await fetch(`${address}&part=moment`);
  if (mine !== asked) return; // the slider has gone on
  if (!answer.ok) {
    location.assign(address);
    return;
  }
  const open = [...shown.querySelectorAll("details")].map((part) => part.open);
  shown.innerHTML = await answer.text();
  shown.querySelectorAll("details").forEach((part, n) => (part.open = open[n] ?? false));
  shown.querySelectorAll("svg.campaign-map").forEach(move);
  form.elements.hour.setAttribute("aria-valuetext", shown.querySelector(".time strong").textContent);
  const ask = document.querySelector("[data-ask]");
  if (ask) ask.elements.hour.value = form.elements.hour.value;
  history.replaceState(null, "", address);
}

// The wheel and +, − and 0 zoom, a drag moves; the box of what is seen is the drawing's own.
function move(svg) {
  const whole = svg.getAttribute("viewBox").split(" ").map(Number);
  svg.tabIndex = 0;
  if (box && shown?.contains(svg)) svg.setAttribute("viewBox", box.join(" "));
  else if (svg.dataset.shown && svg.clientWidth < SMALL) svg.setAttribute("viewBox", svg.dataset.shown);
  const set = (next) => {
    svg.setAttribute("viewBox", next.join(" "));
    if (shown?.contains(svg)) box = next;
  };
  const now = () => svg.getAttribute("viewBox").split(" ").map(Number);
  const zoom = (factor, [x, y]) => {
    const [left, top, width, height] = now();
    if (width * factor < whole[2] / 40 || width * factor > whole[2] * 1.01) return;
    set([x - (x - left) * factor, y - (y - top) * factor, width * factor, height * factor]);
  };
  const middle = () => { const [left, top, width, height] = now(); return [left + width / 2, top + height / 2]; };
  svg.addEventListener("wheel", (event) => {
    event.preventDefault();
    zoom(event.deltaY > 0 ? 1.25 : 0.8, at(svg, event));
  }, { passive: false });
  svg.addEventListener("keydown", (event) => {
    const [left, top, width, height] = now();
    const ways = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
    if (event.key === "+") zoom(0.8, middle());
    else if (event.key === "-") zoom(1.25, middle());
    else if (event.key === "0") set(whole);
    else if (ways[event.key]) set([left + ways[event.key][0] * width / 8, top + ways[event.key][1] * height / 8, width, height]);
    else return;
    event.preventDefault();
  });
  let from = null;
  svg.addEventListener("pointerdown", (event) => { from = at(svg, event); });
  svg.addEventListener("pointermove", (event) => {
    if (!from || !event.buttons) return;
    const [left, top, width, height] = now();
    const [x, y] = at(svg, event);
    set([left + from[0] - x, top + from[1] - y, width, height]);
  });
  svg.addEventListener("pointerup", () => { from = null; });
}

// Where in the drawing a pointer is.
function at(svg, event) {
  const point = new DOMPoint(event.clientX, event.clientY).matrixTransform(svg.getScreenCTM().inverse());
  return [point.x, point.y];
}

// A click on the map of the form, or Enter for its middle, is told as longitude and latitude.
function pick(svg) {
  const field = document.querySelector("[data-at]");
  const { west, north, east } = svg.dataset;
  const scale = svg.getAttribute("viewBox").split(" ")[2] / (east - west);
  const dot = document.createElementNS("http://www.w3.org/2000/svg", "circle");
  dot.setAttribute("r", 7);
  dot.setAttribute("class", "picked");
  let pressed = null;
  svg.addEventListener("pointerdown", (event) => { pressed = [event.clientX, event.clientY]; });
  const choose = ([x, y]) => {
    const mercator = Number(north) - y / scale;
    const lat = 2 * Math.atan(Math.exp(mercator * Math.PI / 180)) * 180 / Math.PI - 90;
    field.value = `${(Number(west) + x / scale).toFixed(5)}, ${lat.toFixed(5)}`;
    dot.setAttribute("cx", x);
    dot.setAttribute("cy", y);
    svg.append(dot);
  };
  svg.addEventListener("click", (event) => {
    if (pressed && Math.hypot(event.clientX - pressed[0], event.clientY - pressed[1]) > 4) return; // it was a drag
    choose(at(svg, event));
  });
  // by keys: the map is moved until the place lies in its middle
  svg.addEventListener("keydown", (event) => {
    if (event.key !== "Enter") return;
    event.preventDefault();
    const [left, top, width, height] = svg.getAttribute("viewBox").split(" ").map(Number);
    choose([left + width / 2, top + height / 2]);
  });
}
