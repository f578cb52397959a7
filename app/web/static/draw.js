// A case drawn by clicks: each completes the form of the tool that is held, and the server gives the text and the
// drawing back. What is typed into the text is drawn, too. Without this script every tool is a form.
import { Editor } from "./editor.js";
import { Picker } from "./map/panel.js";

const TYPING = 500; // milliseconds after the last key until the text is drawn

const form = document.getElementById("sketch");
const said = document.getElementById("said");
const box = document.getElementById("text");
const editor = new Editor(box);
const part = (name, root = form) => root.querySelector(`[data-part="${name}"]`);
const group = (tool) => form.querySelector(`fieldset[data-tool="${tool}"]`);
const where = (tool) => group(tool).querySelector("[data-where]");
let drawnOver = null; // labels that the pointer has gone over since it was pressed
let asked = 0; // the last request; what an older one brings is not shown any more
let typing = null;

// The tools

const held = () => form.querySelector('[name="tool"]:checked').value;

function hold() {
  for (const one of form.querySelectorAll("fieldset[data-tool]")) one.hidden = one.dataset.tool !== held();
  for (const field of form.querySelectorAll("[data-where]")) field.value = "";
  said.textContent = "";
}

function take(tool) {
  form.querySelector(`[name="tool"][value="${tool}"]`).checked = true;
  hold();
}

// Clicks and strokes on the board

const fieldAt = ({ target }) => target.closest?.(".field");
const unitsIn = (field) => JSON.parse(field.dataset.units ?? "[]");

function press(event) {
  const field = fieldAt(event);
  if (!field || event.button > 0) return;
  event.preventDefault();
  drawnOver = [];
  over(event);
}

function over(event) {
  // a finger keeps the field that it began upon as its target
  const under = drawnOver && document.elementFromPoint(event.clientX, event.clientY);
  const field = under && fieldAt({ target: under });
  if (!field || drawnOver.includes(field.dataset.hex)) return;
  if (drawnOver.length && !["paint", "path"].includes(held())) return;
  drawnOver.push(field.dataset.hex);
  field.classList.add("offered");
}

function release() {
  const labels = drawnOver ?? [];
  drawnOver = null;
  if (labels.length) clicked(labels, form.querySelector(`.field[data-hex="${CSS.escape(labels.at(-1))}"]`));
}

function clicked(labels, field) {
  const tool = held();
  if (tool === "ask") return pick(field);
  if (tool === "conditions") return undefined;
  if (tool === "side") return corner(labels[0]);
  if (tool === "path" && labels.length < 2) return tell("Draw along the hexes of the way.");
  if (tool === "paint" && !["terrain", "level", "feature"].some((word) => form.elements[`paint.${word}`]?.value)) {
    return tell("Choose a terrain or a level first.", form.elements["paint.terrain"]);
  }
  if (tool === "unit" && !form.elements["unit.side"].value && unitsIn(field).length) return takeUp(unitsIn(field)[0]);
  where(tool).value = labels.join(" ");
  return send(tool);
}

function tell(text, field) {
  said.textContent = text;
  field?.focus();
  for (const one of form.querySelectorAll(".offered")) one.classList.remove("offered");
}

// A hexside is two clicks.
function corner(label) {
  const field = where("side");
  const first = field.value.split(/[\s,]+/).filter(Boolean)[0];
  field.value = first && first !== label ? `${first} ${label}` : label;
  if (first && first !== label) send("side");
  else said.textContent = `${label}: now the hex on the other side.`;
}

// A counter that is there is taken up, to be put elsewhere.
function takeUp(unit) {
  form.elements["unit.id"].value = unit;
  tell(`${unit}: click where it goes.`);
}

// A question's places, one click each; when it has what it needs it is asked.
function pick(field) {
  const picker = new Picker(group("ask"));
  const units = unitsIn(field);
  const wrong = picker.pick(field.dataset.hex, units.at(-1), units.at(-1), () => false);
  if (wrong) return tell(wrong);
  const missing = picker.missing;
  if (missing) return tell(`Now ${picker.labelOf(missing)}.`);
  return send("ask");
}

// To the server and back

async function send(change) {
  clearTimeout(typing);
  asked += 1;
  const mine = asked;
  const sent = box.value;
  const data = new FormData(form);
  data.set("case.do", change);
  data.set("case.part", "1");
  let text;
  try {
    text = await (await fetch(form.action, { method: "POST", body: data, headers: { Accept: "text/html" } })).text();
  } catch {
    return tell("The server does not answer.");
  }
  if (mine !== asked) return undefined;
  const found = new DOMParser().parseFromString(text, "text/html");
  if (!part("board", found)) return tell(found.querySelector(".lead")?.textContent ?? "The server does not answer as it should.");
  return show(found, sent, change);
}

function show(found, sent, change) {
  const changed = part("text", found).value;
  // what was typed meanwhile stays
  if (box.value === sent && changed !== sent) box.value = changed;
  if (part("board", found).querySelector("svg")) part("board").replaceChildren(...part("board", found).childNodes);
  part("board").classList.toggle("stale", !part("board", found).querySelector("svg") && part("board", found).childNodes.length > 0);
  part("found").replaceChildren(...part("found", found).childNodes);
  part("units").replaceChildren(...part("units", found).childNodes);
  if (change !== "ask" || !document.activeElement?.closest('[data-part="ask"]')) part("ask").replaceChildren(...part("ask", found).childNodes);
  editor.learn(form);
  const wrong = form.querySelector(".problems li");
  tell(wrong ? wrong.textContent.trim().replace(/\s+/g, " ") : form.querySelector(".verdict")?.textContent ?? "");
  if (!wrong && change === "unit") form.elements["unit.id"].value = "";
  for (const field of form.querySelectorAll("[data-where]")) field.value = "";
}

form.addEventListener("submit", (event) => {
  const { submitter } = event;
  if (submitter?.hasAttribute("data-desk")) return;
  event.preventDefault();
  // a reading that was chosen goes into the text
  if (submitter?.name === "policy") {
    const chosen = Object.assign(document.createElement("input"), { type: "hidden", name: "policy", value: submitter.value });
    form.append(chosen);
    send("").finally(() => chosen.remove());
    return;
  }
  // Enter in a field does what its tool does
  const typed = document.activeElement?.closest("input")?.closest("fieldset[data-tool]")?.dataset.tool;
  send(typed ?? submitter?.value ?? "");
});
form.addEventListener("change", ({ target }) => {
  if (target.name === "tool") hold();
  if (target.name === "case.ask") send("");
});
box.addEventListener("input", () => {
  clearTimeout(typing);
  typing = setTimeout(() => send(""), TYPING);
});
form.addEventListener("pointerdown", press);
addEventListener("pointermove", over);
addEventListener("pointerup", release);

form.elements["unit.id"].setAttribute("list", "sketch-units");
form.querySelector(".sketch-choose").hidden = false;
form.querySelector("[data-fields]").hidden = true;
take("paint");
form.dataset.ready = "";
