// Units and markers on the map: the pictures of the list beside it, laid into their hexes.
import { DivIcon, LayerGroup, Marker } from "../vendor/leaflet/leaflet-src.esm.js";

const SHOWN = 4; // of a stack

export class Counters {
  constructor(map, ground, list) {
    this.map = map;
    this.ground = ground;
    this.list = list;
    this.units = new LayerGroup().addTo(map);
    this.markers = new LayerGroup().addTo(map);
    this.inHex = new Map();
    this.onPick = () => {};
    this.onDrop = () => {};
    map.on("zoomend", () => this.scale());
    this.scale();
  }

  // One variable of the stylesheet makes all counters as large as the zoom wants them.
  scale() {
    const radius = this.map.options.crs.scale(this.map.getZoom());
    this.map.getContainer().style.setProperty("--hex", `${radius}px`);
    this.map.getContainer().classList.toggle("far", radius < 13);
  }

  // Lay out what the list tells; `movable`: whether units can be dragged.
  lay(movable) {
    this.units.clearLayers();
    this.markers.clearLayers();
    this.inHex.clear();
    for (const item of this.list.querySelectorAll("[data-hex]")) {
      const { hex, q, r, unit, marker, words } = item.dataset;
      if (!hex) continue;
      this.ground.learn(hex, Number(q), Number(r));
      if (!this.inHex.has(hex)) this.inHex.set(hex, { units: [], markers: [] });
      const here = this.inHex.get(hex);
      (unit ? here.units : here.markers).push({ name: unit ?? marker, words, item });
    }
    for (const [label, here] of this.inHex) {
      here.units.forEach((unit, n) => this.layUnit(label, unit, n, here.units.length, movable));
      here.markers.forEach((marker, n) => this.layMarker(label, marker, n, here.units.length > 0));
    }
  }

  layUnit(label, unit, n, count, movable) {
    const step = Math.min(n, SHOWN - 1);
    const html = document.createElement("div");
    html.append(unit.item.querySelector("svg").cloneNode(true));
    if (n === count - 1 && count > 1) {
      const badge = document.createElement("span");
      badge.className = "stack-count";
      badge.textContent = count;
      html.append(badge);
    }
    const changed = unit.item.classList.contains("changed") ? " changed" : "";
    const laid = this.place(label, `counter stack-${step}${changed}`, html, `${unit.name}, ${unit.words}`, movable);
    laid.setZIndexOffset(100 * n);
    laid.unit = unit.name;
    laid.on("click", () => this.onPick(label, unit.name));
    laid.on("dragend", async () => {
      const { lat, lng } = laid.getLatLng();
      this.onDrop(unit.name, (await this.ground.at(lng, lat))?.label, label);
    });
    laid.addTo(this.units);
  }

  // In the middle of an empty hex, else at the lower right, over the counters.
  layMarker(label, marker, n, beside) {
    const html = document.createElement("div");
    html.append(marker.item.querySelector("svg").cloneNode(true));
    const laid = this.place(label, `marker marker-${Math.min(n, 3)}${beside ? " beside" : ""}`, html, marker.words, false);
    laid.setZIndexOffset(beside ? 900 + n : -500);
    laid.on("click", () => this.onPick(label));
    laid.addTo(this.markers);
  }

  place(label, className, html, title, draggable) {
    const hex = this.ground.places.get(label);
    const icon = new DivIcon({ className: `on-map ${className}`, html, iconSize: null });
    return new Marker([hex.y, hex.x], { icon, title, draggable, keyboard: false, autoPan: true });
  }

  // Mark the counters of some units.
  point(names) {
    const wanted = new Set(names);
    this.units.eachLayer((laid) => laid.getElement()?.classList.toggle("named", wanted.has(laid.unit)));
  }

  // The label of the hex that a unit stands in.
  hexOf(name) {
    return [...this.inHex].find(([, here]) => here.units.some((unit) => unit.name === name))?.[0];
  }

  // Whether a word is a unit, on the map or off it, and a hex of the map as well.
  isBoth(name) {
    const unit = [...this.list.querySelectorAll("[data-unit]")].find((item) => item.dataset.unit === name);
    return unit !== undefined && "both" in unit.dataset;
  }

  topUnit(label) {
    return this.inHex.get(label)?.units.at(-1)?.name;
  }

  words(label) {
    const here = this.inHex.get(label);
    return here ? [...here.units.map((unit) => `${unit.name} ${unit.words}`), ...here.markers.map((marker) => marker.words)] : [];
  }
}
