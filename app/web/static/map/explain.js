// Counters that explain themselves: hover, focus or a long press fans a stack out, large, with every number named.
const HOVER = 450; // milliseconds before a counter that is pointed at explains itself
const PRESS = 550; // of a finger

export class Explainer {
  constructor(map, ground, counters) {
    Object.assign(this, { map, ground, counters, card: null, label: null, timer: null });
    this.element = map.getContainer();
    map.on("movestart zoomstart dragstart", () => this.close());
    this.element.addEventListener("pointerover", (event) => this.over(event));
    this.element.addEventListener("pointerdown", (event) => this.down(event));
    for (const end of ["pointerup", "pointercancel"]) this.element.addEventListener(end, () => clearTimeout(this.timer));
    // a finger that is lifted leaves too; what it opened stays until it touches elsewhere
    this.element.addEventListener("pointerleave", (event) => event.pointerType !== "touch" && this.closeSoon());
    // on a phone the card covers the map
    document.addEventListener("pointerdown", ({ target }) => !this.element.contains(target) && this.close());
    document.addEventListener("keydown", (event) => event.key === "Escape" && this.close());
  }

  over(event) {
    if (event.pointerType === "touch") return;
    if (event.target.closest(".explain-card")) return clearTimeout(this.timer);
    const label = event.target.closest(".on-map") && this.labelOf(event);
    clearTimeout(this.timer);
    if (label) this.timer = setTimeout(() => this.open(label), HOVER);
    else this.closeSoon();
  }

  closeSoon() {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.close(), HOVER);
  }

  down(event) {
    clearTimeout(this.timer);
    if (event.target.closest(".explain-card")) return;
    this.close();
    if (event.pointerType !== "touch" || !event.target.closest(".on-map")) return;
    const label = this.labelOf(event);
    if (label) this.timer = setTimeout(() => this.open(label), PRESS);
  }

  labelOf(event) {
    const { lat, lng } = this.map.mouseEventToLatLng(event);
    const [q, r] = this.ground.lattice.at(lng, lat);
    return [...this.counters.inHex.keys()].find((label) => {
      const place = this.ground.places.get(label);
      return place && place.q === q && place.r === r;
    });
  }

  // The hex as the panel tells it when it is looked at, beside its counters.
  async open(label) {
    if (this.label === label) return;
    this.close();
    this.label = label;
    const address = new URL(location.href);
    for (const name of [...address.searchParams.keys()]) if (name !== "whatif") address.searchParams.delete(name);
    address.searchParams.set("look", label);
    address.searchParams.set("part", "panel");
    const answer = await fetch(address);
    if (!answer.ok || this.label !== label) return;
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    const fanned = page.querySelector("[data-fanned]");
    if (fanned) this.show(label, fanned);
  }

  show(label, fanned) {
    const card = document.createElement("div");
    card.className = "explain-card";
    card.setAttribute("role", "group");
    card.setAttribute("aria-label", `What stands in ${label}`);
    card.append(fanned);
    for (const type of ["pointerdown", "click", "dblclick", "wheel"]) card.addEventListener(type, (event) => event.stopPropagation());
    this.element.append(card);
    const { x, y } = this.ground.places.get(label);
    const at = this.map.latLngToContainerPoint([y, x]);
    const { x: width, y: height } = this.map.getSize();
    const beside = at.x + 40 + card.offsetWidth < width ? at.x + 40 : Math.max(4, at.x - 40 - card.offsetWidth);
    card.style.left = `${beside}px`;
    card.style.top = `${Math.max(4, Math.min(at.y - 40, height - card.offsetHeight - 4))}px`;
    this.card = card;
  }

  close() {
    clearTimeout(this.timer);
    this.card?.remove();
    this.card = this.label = null;
  }
}
