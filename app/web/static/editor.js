// The text of a case: the gutter numbers its lines and marks the wrong ones, a word of the sheet goes where the
// caret is, and a word of the game is completed as it is typed. The box is an ordinary one without this script.

const OFFERED = 6; // words that are offered at a time
const TYPED = 2; // letters from which on a word is completed

export class Editor {
  constructor(box) {
    this.box = box;
    const frame = box.closest("[data-editor]");
    this.gutter = frame.querySelector(".gutter");
    this.offer = frame.querySelector(".completed");
    this.mistakes = new Map();
    this.sheet = document.querySelector(".words");
    box.addEventListener("input", () => { this.number(); this.complete(); });
    box.addEventListener("scroll", () => (this.gutter.scrollTop = box.scrollTop));
    box.addEventListener("change", () => this.openSheet());
    box.addEventListener("blur", () => this.put([]));
    box.addEventListener("keydown", (event) => this.key(event));
    this.sheet?.addEventListener("click", ({ target }) => this.insert(target.closest("[data-word]")?.dataset.word));
    this.openSheet();
    this.learn(document);
  }

  // The mistakes that a page tells, each by a link to its line; they are those of the text as it is now.
  learn(page) {
    this.mistakes.clear();
    this.judged = this.box.value;
    for (const link of page.querySelectorAll("a[data-line]")) {
      const line = Number(link.dataset.line);
      const told = link.parentElement.textContent.trim().replace(/\s+/g, " ");
      this.mistakes.set(line, [...(this.mistakes.get(line) ?? []), told]);
      link.addEventListener("click", () => this.show(line));
    }
    this.number();
  }

  // Lines with their numbers; what is typed since the text was judged may have mended it.
  number() {
    const lines = this.box.value.split("\n").length;
    this.gutter.replaceChildren(...Array.from({ length: lines }, (_, n) => {
      const row = Object.assign(document.createElement("div"), { textContent: n + 1 });
      const wrong = this.box.value === this.judged && this.mistakes.get(n + 1);
      if (wrong) Object.assign(row, { className: "wrong", title: wrong.join("\n") });
      return row;
    }));
    this.gutter.scrollTop = this.box.scrollTop;
  }

  show(line) {
    const before = this.box.value.split("\n").slice(0, line - 1);
    const start = before.length ? before.join("\n").length + 1 : 0;
    const end = this.box.value.indexOf("\n", start);
    this.box.setSelectionRange(start, end < 0 ? this.box.value.length : end);
    this.box.scrollTop = (before.length - 3) * parseFloat(getComputedStyle(this.box).lineHeight);
  }

  // The sheet of the game that the case names is open.
  openSheet() {
    const game = this.box.value.match(/^"?ruleset"?: *"?(\w+)/m)?.[1];
    this.words = [];
    for (const sheet of this.sheet?.querySelectorAll("details[data-game]") ?? []) {
      if (sheet.dataset.game !== game) continue;
      if (!this.box.closest(".sketch")) sheet.open = true;
      this.words = [...new Set([...sheet.querySelectorAll("[data-word]")].map((word) => word.textContent))];
    }
  }

  insert(word) {
    if (!word) return;
    this.box.focus();
    this.box.setRangeText(word, this.box.selectionStart, this.box.selectionEnd, "end");
    this.box.dispatchEvent(new Event("input"));
  }

  // Words of the game that begin as the one before the caret.
  complete() {
    if (!this.words.length) this.openSheet();
    const begun = this.box.value.slice(0, this.box.selectionStart).match(/[A-Za-z_]+$/)?.[0] ?? "";
    const fitting = begun.length < TYPED ? [] : this.words.filter((word) => word.startsWith(begun) && word !== begun);
    this.put(fitting.slice(0, OFFERED), begun);
  }

  put(words, begun = "") {
    this.offered = words.length ? { word: words[0], begun } : null;
    this.offer.textContent = words.length ? `Tab: ${words.join(" · ")}` : "";
  }

  key(event) {
    if (event.key === "Escape") this.put([]);
    if (event.key !== "Tab" || event.shiftKey || !this.offered) return;
    event.preventDefault();
    const { word, begun } = this.offered;
    this.put([]);
    this.insert(word.slice(begun.length));
    this.put([]);
  }
}
