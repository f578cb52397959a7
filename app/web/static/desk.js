// The case desk: a chosen file goes into the box, Ctrl+Enter rules, the gutter numbers the lines and marks the
// wrong ones, and a word of the sheet goes where the caret is. Without this script the form is sent as any other.
"use strict";

const box = document.getElementById("text");
const chosen = document.getElementById("file");

chosen.addEventListener("change", async () => {
  const [file] = chosen.files;
  // what is too large, or no text, the server refuses with a reason
  if (!file || file.size > 2 * 1024 * 1024) return;
  box.value = await file.text();
});

box.addEventListener("keydown", (event) => {
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) box.form.requestSubmit();
});

box.addEventListener("input", () => {
  // what is typed now is meant, not the file that was chosen before
  chosen.value = "";
});

for (const link of document.querySelectorAll("a[data-line]")) {
  link.addEventListener("click", () => {
    const before = box.value.split("\n").slice(0, link.dataset.line - 1);
    const start = before.length ? before.join("\n").length + 1 : 0;
    const end = box.value.indexOf("\n", start);
    box.setSelectionRange(start, end < 0 ? box.value.length : end);
    box.scrollTop = (before.length - 3) * parseFloat(getComputedStyle(box).lineHeight);
  });
}

const gutter = document.querySelector(".gutter");
const mistakes = new Map();
for (const link of document.querySelectorAll("a[data-line]")) {
  const line = Number(link.dataset.line);
  mistakes.set(line, [...(mistakes.get(line) ?? []), link.parentElement.textContent.trim().replace(/\s+/g, " ")]);
}
let shown = box.value;

// A line's mistakes are those of the text that was sent: what is typed since may have mended them.
function number() {
  const lines = box.value.split("\n").length;
  gutter.replaceChildren(...Array.from({ length: lines }, (_, n) => {
    const row = Object.assign(document.createElement("div"), { textContent: n + 1 });
    const wrong = box.value === shown && mistakes.get(n + 1);
    if (wrong) Object.assign(row, { className: "wrong", title: wrong.join("\n") });
    return row;
  }));
  gutter.scrollTop = box.scrollTop;
}

box.addEventListener("input", number);
chosen.addEventListener("change", () => setTimeout(number, 100));
box.addEventListener("scroll", () => (gutter.scrollTop = box.scrollTop));
number();

// The sheet of the game that the case names is open.
const sheets = [...document.querySelectorAll(".words details")];
function openSheet() {
  const game = box.value.match(/^"?ruleset"?: *"?(\w+)/m)?.[1];
  for (const sheet of sheets) if (sheet.dataset.game === game) sheet.open = true;
}
box.addEventListener("change", openSheet);
openSheet();

document.querySelector(".words").addEventListener("click", ({ target }) => {
  const word = target.closest("[data-word]")?.dataset.word;
  if (!word) return;
  box.focus();
  box.setRangeText(word, box.selectionStart, box.selectionEnd, "end");
  box.dispatchEvent(new Event("input"));
});
