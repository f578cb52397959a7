// A form of what-if that is filled by clicks on the map, one after the other, until it is put down.

export class Brush {
  constructor(panel) {
    this.panel = panel;
    this.held = null; // of which form, and what its fields say
    panel.panel.addEventListener("change", ({ target }) => {
      const form = target.closest?.("form[data-change]");
      if ("brush" in target.dataset && target.checked) this.boxes.filter((box) => box !== target).forEach((box) => (box.checked = false));
      if (form) this.hold();
    });
  }

  get boxes() {
    return [...this.panel.panel.querySelectorAll("[data-brush]")];
  }

  get box() {
    return this.boxes.find((box) => box.checked);
  }

  get active() {
    return Boolean(this.box);
  }

  // Remember what is painted with: the panel comes anew after every change.
  hold() {
    const form = this.box?.form;
    this.held = form ? { change: form.dataset.change, fields: [...form.querySelectorAll("select, input:not([type=hidden])")].map(({ name, value }) => [name, value]) } : null;
  }

  restore() {
    const form = this.held && this.panel.panel.querySelector(`form[data-change="${this.held.change}"]`);
    if (!form) return;
    const box = form.querySelector("[data-brush]");
    const places = box.dataset.brush.split(" ");
    this.held.fields.forEach(([name, value]) => {
      if (name && form.elements[name]) form.elements[name].value = places.includes(name) ? "" : value;
    });
    box.checked = true;
  }

  // Fill the next place; with the last one the change is made.
  paint(label) {
    const { box } = this;
    const { form } = box;
    const fields = box.dataset.brush.split(" ").map((name) => form.elements[name]);
    const next = fields.length > 1 ? fields.find((field) => !field.value) ?? fields.at(-1) : fields[0];
    next.value = label;
    this.hold();
    if (fields.some((field) => !field.value)) return this.panel.say(`${label}, and which hex beside it?`);
    return this.panel.go(this.panel.addressOf(form, form.querySelector("button")));
  }
}
