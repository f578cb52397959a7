// The panel beside the map: what the address says, fetched from the server and put in place.

const SLOW = 200; // milliseconds after which one is told that something is worked on
const STOPPED = new DOMException("Stopped.", "AbortError");

// An address as people read it: labels and ids as they are written.
const readable = (address) => address.href.replace(/%(2F|3A|2C)/g, decodeURIComponent);

export class Panel {
  constructor(panel, counters, said) {
    this.panel = panel;
    this.counters = counters;
    this.said = said;
    this.onShown = () => {};
    this.asking = null;
    panel.addEventListener("click", (event) => {
      const link = event.target.closest("a[data-go], a.switch");
      if (!link || event.metaKey || event.ctrlKey || event.shiftKey) return;
      event.preventDefault();
      this.go(link.href);
    });
    panel.addEventListener("submit", (event) => {
      if (event.target.method === "post") return;
      event.preventDefault();
      this.go(this.addressOf(event.target, event.submitter));
    });
    panel.addEventListener("change", (event) => takePlace(event.target));
    addEventListener("popstate", () => this.go(location.href, false));
  }

  get form() {
    return this.panel.querySelector("form[data-ask]");
  }

  get draws() {
    const told = this.panel.querySelector("#ruling")?.dataset.draws;
    return told ? JSON.parse(told) : null;
  }

  // The ground of a what-if: hexes and hexsides that are otherwise than on the map.
  get otherwise() {
    const told = this.panel.querySelector("[data-otherwise]")?.dataset.otherwise;
    return told ? JSON.parse(told) : null;
  }

  // What was answered, or is wrong, in a line.
  get verdict() {
    return (this.panel.querySelector(".refused") ?? this.panel.querySelector(".verdict"))?.textContent.trim() ?? "";
  }

  get editing() {
    return this.panel.querySelector("[data-whatif]") !== null;
  }

  // What was answered is no answer to what is being asked now.
  forget() {
    this.panel.querySelector("#ruling")?.remove();
  }

  say(text) {
    this.said.textContent = text;
  }

  // An answer that takes a while: that it is worked on, and a way to stop it, on the server too.
  sayBusy(asking) {
    const stop = Object.assign(document.createElement("button"), { type: "button", className: "quiet-button", textContent: "Stop" });
    stop.addEventListener("click", () => asking.abort(STOPPED));
    this.said.replaceChildren("Working … ", Object.assign(document.createElement("progress"), { ariaLabel: "Working" }), " ", stop);
  }

  addressOf(form, submitter) {
    const address = new URL(form.action, location.href);
    const data = new FormData(form, submitter);
    address.search = new URLSearchParams([...data].filter(([, value]) => value !== ""));
    return address.href;
  }

  // Show what an address asks for, and have it in the browser's bar.
  go(address, push = true) {
    return (this.shownSoon = this.fetch(address, push));
  }

  async fetch(address, push) {
    const wanted = new URL(address, location.href);
    const here = new URL(this.shown ?? location.href);
    const all = !push || wanted.pathname !== here.pathname || wanted.searchParams.get("whatif") !== here.searchParams.get("whatif")
      || wanted.searchParams.get("edit") !== here.searchParams.get("edit");
    wanted.searchParams.set("part", all ? "all" : "panel");
    this.asking?.abort();
    const asking = (this.asking = new AbortController());
    this.panel.setAttribute("aria-busy", "true");
    const slow = setTimeout(() => this.sayBusy(asking), SLOW);
    try {
      const answer = await fetch(wanted, { signal: asking.signal });
      const text = await answer.text();
      if (!answer.ok) throw new Error(this.wrong(text));
      const found = new URL(answer.url);
      found.searchParams.delete("part");
      this.put(text, all);
      if (push && !found.pathname.endsWith("/what-if") && readable(found) !== location.href) history.pushState(null, "", readable(found));
      this.shown = location.href;
      this.onShown(all);
      if (push && wanted.searchParams.has("edit") && !here.searchParams.has("edit")) {
        this.panel.querySelector("[data-whatif]")?.scrollIntoView({ block: "start" });
      }
    } catch (error) {
      if (error === STOPPED) return this.say("Stopped.");
      if (error.name === "AbortError") return;
      this.say(error.message);
      this.onShown(true);
    } finally {
      clearTimeout(slow);
      if (this.asking === asking) {
        this.asking = null;
        this.panel.removeAttribute("aria-busy");
      }
    }
  }

  wrong(text) {
    const page = new DOMParser().parseFromString(text, "text/html");
    return page.querySelector(".lead")?.textContent || "The server does not answer as it should.";
  }

  put(text, all) {
    const was = document.activeElement;
    const inside = this.panel.contains(was);
    const again = inside && (was.id ? `#${CSS.escape(was.id)}` : was.dataset.key ? `[data-key="${was.dataset.key}"]` : null);
    if (all) {
      const open = this.counters.querySelector("details")?.open;
      const parts = new DOMParser().parseFromString(text, "text/html");
      this.panel.replaceChildren(...parts.querySelector("[data-part=panel]").childNodes);
      this.counters.replaceChildren(...parts.querySelector("[data-part=counters]").childNodes);
      const list = this.counters.querySelector("details");
      if (list && open) list.open = true;
    } else {
      this.panel.innerHTML = text;
    }
    if (inside) ((again && this.panel.querySelector(again)) || this.panel.querySelector("#ruling") || this.panel.querySelector("a"))?.focus({ preventScroll: true });
    this.say(this.verdict);
  }
}

// The values of a field that has several; a comma that is part of one is written \,.
const several = (text) => text.split(/(?<!\\),/).map((value) => value.trim().replaceAll("\\,", ",")).filter(Boolean);
const listed = (values) => values.map((value) => value.replaceAll(",", "\\,")).join(", ");
const valuesOf = (field) => ("many" in field.dataset ? several(field.value) : [field.value].filter(Boolean));

// Of fields of which a question has one, the one that is filled takes the place of the others.
function takePlace(field) {
  if (!field.value) return;
  for (const name of field.dataset.instead?.split(" ") ?? []) field.form.elements[name].value = "";
}

const takes = (field, what) => field.dataset.names.split(" ").includes(what);

// Choosing a question's places on the map, field by field.
export class Picker {
  constructor(form) {
    this.form = form;
    this.fields = [...form.querySelectorAll("[data-names]")];
    const required = this.fields.filter((field) => "required" in field.dataset);
    this.wanted = required.length ? required : this.fields.slice(0, 1);
  }

  // The field that the next hex goes to: one in focus, the first that is empty, a way that grows. Where
  // all are filled, a bare hex goes to a field that may have one, and anything else begins anew.
  next(unit) {
    const open = this.fields.find((field) => field === document.activeElement) ?? this.wanted.find((field) => !field.value);
    if (open) return open;
    const last = this.wanted.at(-1);
    if (!last || "many" in last.dataset) return last;
    const beside = this.fields.find((field) => !this.wanted.includes(field) && takes(field, "hex") && !("many" in field.dataset));
    if (beside && !unit && !takes(this.wanted[0], "hex")) return beside;
    return this.wanted[0];
  }

  // Whether a stack must be asked which of its counters is meant: where a unit was chosen, or none but a unit can be.
  wantsOneOf(unit) {
    const field = this.next(unit);
    return Boolean(field) && takes(field, "unit") && (Boolean(unit) || !takes(field, "hex"));
  }

  // Put a hex, or the unit that was chosen in it, where it belongs; what is wrong is told. Where a field
  // takes both, a word that is both is sent with what it means.
  pick(label, unit, topUnit, isBoth) {
    const field = this.next(unit);
    if (!field) return "This tool takes no hex.";
    const either = takes(field, "hex") && takes(field, "unit");
    const hex = takes(field, "hex") ? label : topUnit;
    const chosen = takes(field, "unit") ? unit ?? hex : hex;
    const value = either && chosen && isBoth(chosen) ? `${unit ? "unit" : "hex"}:${chosen}` : chosen;
    if (!value) return `There is no unit in ${label}.`;
    if (field.value && this.wanted.includes(field) && !("many" in field.dataset)) this.wanted.forEach((filled) => (filled.value = ""));
    field.value = "many" in field.dataset ? listed([...valuesOf(field), value]) : value;
    takePlace(field);
    return field.value ? null : `${value} cannot be chosen here.`;
  }

  takeBack() {
    const many = this.wanted.findLast?.((field) => "many" in field.dataset && field.value);
    const field = many ?? this.wanted.filter((one) => one.value).at(-1);
    if (!field) return false;
    field.value = many ? listed(valuesOf(many).slice(0, -1)) : "";
    return true;
  }

  get missing() {
    return [...this.form.querySelectorAll("[data-required]")].find((field) => !field.value);
  }

  get chosen() {
    return this.wanted.flatMap(valuesOf);
  }

  labelOf(field) {
    return this.form.querySelector(`label[for="${field.id}"]`)?.firstChild?.textContent.trim().toLowerCase() ?? field.name;
  }
}
