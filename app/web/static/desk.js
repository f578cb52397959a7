// The case desk: a chosen file goes into the box, and Ctrl+Enter rules. Without this script the form is sent as
// any other.
import { Editor } from "./editor.js";

const box = document.getElementById("text");
const chosen = document.getElementById("file");
const editor = new Editor(box);

chosen.addEventListener("change", async () => {
  const [file] = chosen.files;
  // what is too large, or no text, the server refuses with a reason
  if (!file || file.size > 2 * 1024 * 1024) return;
  box.value = await file.text();
  editor.number();
  editor.openSheet();
});

box.addEventListener("keydown", (event) => {
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) box.form.requestSubmit();
});

box.addEventListener("input", () => {
  // what is typed now is meant, not the file that was chosen before
  chosen.value = "";
});

// on a narrow screen what was ruled lies below a long text
const found = document.getElementById("ruled") ?? document.getElementById("refused");
if (found && !matchMedia("(min-width: 80rem)").matches) found.scrollIntoView();
