// What a ruling shows on the map: found hexes with their costs, a line, a way, what stops it.
import { DivIcon, LayerGroup, Marker, Polygon, Polyline, SVG } from "../vendor/leaflet/leaflet-src.esm.js";
import { Tiles } from "./ground.js";
import { STEPS } from "./lattice.js";

const at = ([x, y]) => [y, x];
const MANY = 7; // hexes found from which on all others lie under a veil
const near = ({ x, y }, box) => x >= box[0] - 1 && x <= box[2] + 1 && y >= box[1] - 1 && y <= box[3] + 1;

export class Overlay {
  constructor(map, ground, looks, counters) {
    Object.assign(this, { map, ground, looks, counters });
    map.createPane("found").style.zIndex = 350;
    for (const [pane, height] of [["cursor", 640], ["lines", 650], ["numbers", 660]]) {
      Object.assign(map.createPane(pane).style, { zIndex: height, pointerEvents: "none" });
    }
    this.draws = null;
    this.foundPlaces = new Map();
    this.svg = new SVG({ pane: "lines", padding: 0.5 });
    this.found = new Tiles((...tile) => this.paintFound(...tile), { pane: "found", blank: () => !this.foundPlaces.size }).addTo(map);
    this.numbers = new Tiles((...tile) => this.paintNumbers(...tile), { pane: "numbers", blank: () => !this.draws }).addTo(map);
    this.lines = new LayerGroup().addTo(map);
    this.changed = new LayerGroup().addTo(map);
    this.changedSvg = new SVG({ pane: "found", padding: 0.5 });
    this.cursor = null;
  }

  show(draws) {
    this.draws = draws;
    this.ground.learnAll(draws?.places);
    const places = Object.keys(draws?.hexes ?? {}).map((label) => this.ground.places.get(label)).filter(Boolean);
    this.foundPlaces = new Map(places.map((hex) => [`${hex.q},${hex.r}`, hex]));
    this.found.redraw();
    this.numbers.redraw();
    this.lines.clearLayers();
    if (!draws) return;
    const { inks } = this.looks;
    const stopped = draws.blocked.length > 0;
    if (draws.line.length === 2) this.line(draws.line, stopped ? inks.blocks : inks.answer, stopped ? "1 7" : null);
    if (draws.path.length > 1) this.line(draws.path.map((label) => this.ground.point(label)).filter(Boolean), stopped ? inks.blocks : inks.answer);
    draws.blocked.forEach((label) => this.block(label, inks.blocks));
    draws.ends.forEach((label) => this.ring(label, inks.end));
  }

  // Ground that a what-if has otherwise: each hex in its colour with a broken rim, its level written in it.
  showGround(otherwise) {
    this.changed.clearLayers();
    const common = { pane: "found", renderer: this.changedSvg, interactive: false };
    const { lattice } = this.ground;
    for (const [q, r, label, terrain, level] of otherwise?.hexes ?? []) {
      const [x, y] = lattice.center(q, r);
      const rim = { ...common, color: this.looks.inks.end, weight: 2, dashArray: "6 4", fillColor: this.looks.terrain(terrain), fillOpacity: 1, className: "otherwise" };
      const title = this.looks.legend.terrain[terrain]?.title ?? terrain;
      this.changed.addLayer(new Polygon(this.ground.outline({ x, y }, 0.97).map(at), rim));
      const html = Object.assign(document.createElement("span"), { textContent: `${title} ${level}` });
      this.changed.addLayer(new Marker([y, x], { pane: "numbers", interactive: false, icon: new DivIcon({ className: "otherwise-words", html, iconSize: null }), alt: label }));
    }
    for (const [oneQ, oneR, otherQ, otherR, kind] of otherwise?.sides ?? []) {
      const side = lattice.side([oneQ, oneR], [otherQ, otherR]);
      this.changed.addLayer(new Polyline(side.map(at), { ...common, color: kind ? this.looks.inks.end : this.looks.inks.halo, weight: 6, dashArray: "8 4", lineCap: "butt", className: "otherwise" }));
    }
  }

  line(points, color, dash) {
    const common = { pane: "lines", renderer: this.svg, interactive: false };
    this.lines.addLayer(new Polyline(points.map(at), { ...common, color: this.looks.inks.halo, weight: 9, opacity: 1 }));
    this.lines.addLayer(new Polyline(points.map(at), { ...common, color, weight: 4, dashArray: dash }));
  }

  ring(label, color, weight = 3.5) {
    const hex = this.ground.places.get(label);
    if (!hex) return;
    const outline = this.ground.outline(hex, 0.93).map(at);
    const common = { pane: "lines", renderer: this.svg, interactive: false, fill: false };
    this.lines.addLayer(new Polygon(outline, { ...common, color: this.looks.inks.halo, weight: weight + 3 }));
    this.lines.addLayer(new Polygon(outline, { ...common, color, weight }));
  }

  block(label, color) {
    const [one, other] = label.split("|").map((name) => this.ground.places.get(name));
    if (one && other) {
      const side = this.ground.lattice.side([one.q, one.r], [other.q, other.r]);
      this.lines.addLayer(new Polyline(side.map(at), { pane: "lines", renderer: this.svg, interactive: false, color, weight: 8, lineCap: "butt" }));
    } else if (one) {
      this.lines.addLayer(new Polygon(this.ground.outline(one, 0.9).map(at), { pane: "lines", renderer: this.svg, interactive: false, color, weight: 5, fill: false }));
    }
  }

  // What was found keeps its colours and has a rim; of much that was found, the rest lies under a veil.
  paintFound(context, box, scale) {
    const found = this.foundPlaces;
    if (!found.size) return;
    const { inks } = this.looks;
    const here = [...found.values()].filter((hex) => near(hex, box));
    if (found.size >= MANY) {
      context.beginPath();
      context.rect(box[0], box[1], box[2] - box[0], box[3] - box[1]);
      const ends = this.draws.ends.map((label) => this.ground.places.get(label)).filter((hex) => hex && !found.has(`${hex.q},${hex.r}`) && near(hex, box));
      [...here, ...ends].forEach((hex) => this.trace(context, hex));
      context.fillStyle = inks.veil;
      context.globalAlpha = 0.55;
      context.fill("evenodd");
      context.globalAlpha = 1;
    }
    context.beginPath();
    here.forEach((hex) => this.rim(context, hex, found));
    context.lineCap = "round";
    for (const [ink, width, least] of [[inks.halo, 0.13, 3.5], [inks.answer, 0.075, 2]]) {
      context.strokeStyle = ink;
      context.lineWidth = Math.max(width, least / scale);
      context.stroke();
    }
  }

  trace(context, hex) {
    this.ground.outline(hex).forEach(([x, y], n) => (n ? context.lineTo(x, y) : context.moveTo(x, y)));
    context.closePath();
  }

  // The sides of a hex that part it from what was not found.
  rim(context, hex, found) {
    for (const [dq, dr] of STEPS) {
      if (found.has(`${hex.q + dq},${hex.r + dr}`)) continue;
      const [one, end] = this.ground.lattice.side([hex.q, hex.r], [hex.q + dq, hex.r + dr]);
      context.moveTo(...one);
      context.lineTo(...end);
    }
  }

  // What each hex costs, over counters and lines.
  paintNumbers(context, box, scale, pixels) {
    if (!this.draws || scale < 11) return;
    context.textAlign = "center";
    context.textBaseline = "middle";
    for (const [label, cost] of Object.entries(this.draws.hexes)) {
      if (cost === null || !this.ground.places.has(label)) continue;
      const { x, y, size } = this.numberAt(label);
      if (!near({ x, y }, box)) continue;
      pixels(x, y, () => this.number(context, String(cost), Math.max(9, size * scale)));
    }
  }

  // On the side that a way enters by; else in the middle, or at the left corner where counters stand.
  numberAt(label) {
    const [x, y] = this.ground.point(label);
    const step = this.draws.path.indexOf(label);
    if (step > 0) {
      const [fromX, fromY] = this.ground.point(this.draws.path[step - 1]) ?? [x, y];
      return { x: (x + fromX) / 2, y: (y + fromY) / 2, size: 0.34 };
    }
    return this.counters.inHex.has(label) ? { x: x - 0.76, y, size: 0.3 } : { x, y, size: 0.42 };
  }

  number(context, text, size) {
    const { inks } = this.looks;
    context.font = `700 ${size}px "Source Sans 3", "DejaVu Sans", system-ui, sans-serif`;
    const [width, height] = [Math.max(context.measureText(text).width + 0.6 * size, 1.4 * size), 1.4 * size];
    context.beginPath();
    context.roundRect(-width / 2, -height / 2, width, height, height / 2);
    context.fillStyle = inks.paper;
    context.globalAlpha = 0.85;
    context.fill();
    context.globalAlpha = 1;
    context.strokeStyle = inks.answer;
    context.lineWidth = Math.max(1, size / 10);
    context.stroke();
    context.fillStyle = inks.name;
    context.fillText(text, 0, size / 20);
  }

  // Hexes that were chosen for a question that is not complete yet.
  choose(labels) {
    labels.forEach((label) => this.ring(label, this.looks.inks.answer));
  }

  moveCursor(hex) {
    this.cursor?.remove();
    this.cursor = hex && new Polygon(this.ground.outline(hex, 0.86).map(at), {
      pane: "cursor", renderer: this.cursorSvg ??= new SVG({ pane: "cursor", padding: 0.5 }), interactive: false,
      color: this.looks.inks.end, weight: 3, dashArray: "5 5", fillOpacity: 0.08, className: "cursor-hex",
    }).addTo(this.map);
  }
}
