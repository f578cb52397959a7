// What a click, a key or a drag on the map does.
import { LatLngBounds } from "../vendor/leaflet/leaflet-src.esm.js";
import { Brush } from "./brush.js";
import { Picker } from "./panel.js";
import { StackOffer } from "./stack.js";

const ARROWS = { ArrowUp: [0, 1], ArrowDown: [0, -1], ArrowLeft: [-1, 0], ArrowRight: [1, 0] };
const FAR = 5; // hexes, with Shift
const READABLE = 18; // zoom at which labels and counters can be read

export class Gestures {
  constructor(map, ground, counters, overlay, panel, explainer) {
    Object.assign(this, { map, ground, counters, overlay, panel, explainer });
    this.element = map.getContainer();
    this.cursor = null;
    this.offer = new StackOffer(map, ground);
    this.brush = new Brush(panel);
    this.walking = Promise.resolve();
  }

  listen() {
    this.map.on("click", async ({ latlng }) => {
      const hex = await this.ground.at(latlng.lng, latlng.lat);
      if (hex) this.choose(hex.label);
    });
    this.counters.onPick = (label, unit) => this.choose(label, unit);
    this.counters.onDrop = (unit, to, from) => this.drop(unit, to, from);
    this.panel.onShown = (all) => this.show(all);
    this.element.addEventListener("keydown", (event) => this.key(event));
    document.querySelector("[data-find]")?.addEventListener("submit", (event) => {
      event.preventDefault();
      this.find(event.target.elements.look.value.trim());
    });
  }

  // A hex is chosen: looked at, or given to the tool; a tool that is on its way is waited for.
  async choose(label, unit, sure = false) {
    this.offer.close();
    this.put(this.ground.places.get(label));
    while (this.panel.asking) await this.panel.shownSoon;
    if (this.brush.active) return this.brush.paint(label);
    const { form } = this.panel;
    if (!form) return this.look(label);
    const picker = new Picker(form);
    const stack = this.counters.inHex.get(label)?.units ?? [];
    if (!sure && stack.length > 1 && picker.wantsOneOf(unit)) {
      return this.offer.open(label, stack, unit, (name) => this.choose(label, name, true));
    }
    const wrong = picker.pick(label, unit, this.counters.topUnit(label), (name) => this.counters.isBoth(name));
    if (wrong) return this.panel.say(wrong);
    if (!picker.missing) return this.panel.go(this.panel.addressOf(form));
    this.panel.forget();
    return this.hint(picker);
  }

  look(label) {
    const address = new URL(location.href);
    address.searchParams.set("look", label);
    return this.panel.go(address);
  }

  // Look a hex up by its label, and go there.
  async find(label) {
    await this.look(label);
    const hex = this.ground.places.get(this.looked);
    if (!hex) return;
    this.put(hex);
    this.map.setView([hex.y, hex.x], Math.max(this.map.getZoom(), READABLE));
  }

  // The label of the hex that the panel tells about.
  get looked() {
    return this.panel.panel.querySelector("[data-hex]")?.dataset.hex;
  }

  drop(unit, to, from) {
    const form = this.panel.panel.querySelector("[data-change=move]");
    if (!form || !to || to === from) {
      this.counters.lay(this.panel.editing);
      return;
    }
    form.elements["if.who"].value = unit;
    form.elements["if.at"].value = to;
    this.panel.go(this.panel.addressOf(form, form.querySelector("[value=move]")));
  }

  // The panel was shown anew: so is the map.
  show(all) {
    if (all) this.counters.lay(this.panel.editing);
    this.brush.restore();
    this.overlay.showGround(this.panel.otherwise);
    const { draws, form } = this.panel;
    const told = this.panel.panel.querySelectorAll("[data-places]");
    told.forEach((part) => this.ground.learnAll(JSON.parse(part.dataset.places)));
    this.overlay.show(draws);
    if (draws && !this.inSight(draws.ends)) this.frame();
    this.counters.point(draws?.units ?? []);
    const { looked } = this;
    if (looked) this.overlay.ring(looked, this.overlay.looks.inks.end);
    const find = document.querySelector("[data-find]");
    if (find) find.elements.look.value = looked ?? "";
    if (form) this.hint(new Picker(form), draws);
    this.element.classList.toggle("picking", form !== null);
    document.title = [this.panel.panel.querySelector(".verdict")?.textContent.trim(), document.querySelector("h1").textContent, "Sightline"].filter(Boolean).join(" · ");
  }

  hint(picker, draws) {
    const place = picker.form.querySelector("[data-hint]");
    const missing = picker.missing;
    const text = missing
      ? `${missing.dataset.names ? "Choose on the map" : "Choose"}: ${picker.labelOf(missing)}`
      : "";
    place.textContent = text;
    if (!draws) {
      this.overlay.show(null);
      this.overlay.choose(picker.chosen.map((name) => this.hexOf(name)).filter(Boolean));
      if (text) this.panel.say(text);
    }
  }

  hexOf(name) {
    const [, which, word] = name.match(/^(hex:|unit:)?(.*)$/s);
    const standing = which === "hex:" ? null : this.counters.hexOf(word);
    return which === "unit:" || standing ? standing : this.ground.places.get(word)?.label;
  }

  // Whether one of these hexes is on the screen, or none of them on the map.
  inSight(labels) {
    const points = labels.map((label) => this.ground.point(label)).filter(Boolean);
    return !points.length || points.some(([x, y]) => this.map.getBounds().contains([y, x]));
  }

  // Bring what the address speaks of into sight.
  frame() {
    const { looked, panel: { draws } } = this;
    // a small map is seen whole
    if (!draws && !looked && this.map.getZoom() >= READABLE) return;
    const labels = draws ? [...draws.ends, ...draws.path, ...Object.keys(draws.hexes)] : looked ? [looked] : [...this.counters.inHex.keys()];
    const points = labels.map((label) => this.ground.point(label)).filter(Boolean);
    if (!points.length) return;
    const bounds = new LatLngBounds(points.map(([x, y]) => [y, x])).pad(draws ? 0.2 : 0.05);
    this.map.fitBounds(bounds, { padding: [30, 30], maxZoom: READABLE + 4, animate: false });
  }

  put(hex) {
    this.cursor = hex;
    this.overlay.moveCursor(hex);
  }

  key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest("input, select, textarea")) return;
    const act = this.actionOf(event);
    if (!act) return;
    event.preventDefault();
    act();
  }

  actionOf(event) {
    const { key } = event;
    // one step after the other: ground that is not there yet is waited for
    if (key in ARROWS) return () => (this.walking = this.walking.then(() => this.walk(...ARROWS[key], event.shiftKey ? FAR : 1)));
    const plain = {
      Enter: () => this.chooseCursor(true),
      " ": () => this.chooseCursor(false),
      Escape: () => this.escape(),
      i: () => this.cursor && this.explainer.open(this.cursor.label),
      Backspace: () => this.takeBack(),
      "+": () => this.map.zoomIn(),
      "=": () => this.map.zoomIn(),
      "-": () => this.map.zoomOut(),
      0: () => this.map.fitBounds(this.ground.bounds),
      "/": () => document.getElementById("look").select(),
    };
    if (Object.hasOwn(plain, key)) return plain[key];
    const link = /^[a-z1-9]$/i.test(key) && this.panel.panel.querySelector(`[data-key="${key.toLowerCase()}"]`);
    return link ? () => this.panel.go(link.href) : null;
  }

  async chooseCursor(withUnit) {
    await this.walking;
    if (this.cursor) this.choose(this.cursor.label, withUnit ? this.counters.topUnit(this.cursor.label) : undefined);
  }

  async walk(dx, dy, hexes) {
    let next = this.cursor && (await this.ground.find(this.cursor.q, this.cursor.r));
    if (!next) {
      const { lat, lng } = this.map.getCenter();
      next = await this.ground.at(lng, lat);
    } else {
      for (let n = 0; n < hexes; n++) next = (await this.ground.find(...this.ground.lattice.toward([next.q, next.r], dx, dy))) ?? next;
    }
    if (!next) return;
    this.put(next);
    const { label, terrain, level, features, name, x, y } = this.cursor;
    this.map.panInside([y, x], { padding: [60, 60], animate: false });
    const kind = this.overlay.looks.legend.terrain[terrain]?.title ?? terrain;
    this.panel.say([label, name, `${kind}, level ${level}`, ...features, ...this.counters.words(label)].filter(Boolean).join("; "));
  }

  escape() {
    const { form } = this.panel;
    const picker = form && new Picker(form);
    const chosen = picker?.fields.some((field) => field.value);
    const address = new URL(location.href);
    if (chosen) {
      [...form.querySelectorAll("[data-names]")].forEach((field) => address.searchParams.delete(field.name));
    } else {
      address.searchParams.delete(form ? "tool" : "look");
    }
    this.put(null);
    this.panel.go(address);
  }

  takeBack() {
    const { form } = this.panel;
    if (!form || !new Picker(form).takeBack()) return;
    const picker = new Picker(form);
    if (picker.missing) this.hint(picker);
    else this.panel.go(this.panel.addressOf(form));
  }
}
