// The case desk: a chosen file goes into the box, Ctrl+Enter rules, and a problem's line is found in
// the box, too. Without this script the form is sent as any other.
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
