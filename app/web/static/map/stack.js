// A stack asked which of its counters is meant: all of them beside their hex, to be clicked or chosen by keys.
import { DomEvent } from "../vendor/leaflet/leaflet-src.esm.js";

export class StackOffer {
  constructor(map, ground) {
    Object.assign(this, { map, ground, list: null });
    map.on("movestart zoomstart click", () => this.close());
  }

  // `units`: the counters of the hex, the top one last; `onTop` is the one that was clicked, if one was.
  open(label, units, onTop, onChosen) {
    this.close();
    const list = document.createElement("div");
    list.className = "stack-offer";
    list.setAttribute("role", "group");
    list.setAttribute("aria-label", `Counters in ${label}`);
    const buttons = units.toReversed().map((unit) => this.button(unit, onChosen));
    list.append(...buttons);
    list.addEventListener("keydown", (event) => this.key(event, buttons));
    // what is clicked here is no click on the map beneath
    DomEvent.disableClickPropagation(list);
    const { x, y } = this.ground.places.get(label);
    const at = this.map.latLngToContainerPoint([y, x]);
    const { x: width, y: height } = this.map.getSize();
    this.map.getContainer().append(list);
    list.style.left = `${Math.max(4, Math.min(at.x + 24, width - list.offsetWidth - 4))}px`;
    list.style.top = `${Math.max(4, Math.min(at.y - 16, height - list.offsetHeight - 4))}px`;
    this.list = list;
    (buttons.find((button) => button.dataset.unit === onTop) ?? buttons[0]).focus({ preventScroll: true });
  }

  button(unit, onChosen) {
    const button = document.createElement("button");
    button.type = "button";
    button.dataset.unit = unit.name;
    const words = document.createElement("span");
    words.append(Object.assign(document.createElement("strong"), { textContent: unit.name }), ` ${unit.words}`);
    button.append(unit.item.querySelector("svg").cloneNode(true), words);
    button.addEventListener("click", () => {
      this.close();
      onChosen(unit.name);
    });
    return button;
  }

  key(event, buttons) {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    event.stopPropagation();
    if (event.key === "Escape") this.close();
    if (!step) return;
    event.preventDefault();
    buttons.at((buttons.indexOf(document.activeElement) + step) % buttons.length).focus();
  }

  close() {
    if (!this.list) return;
    const inside = this.list.contains(document.activeElement);
    this.list.remove();
    this.list = null;
    if (inside) this.map.getContainer().focus({ preventScroll: true });
  }
}
