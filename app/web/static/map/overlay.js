// What a ruling shows on the map: found hexes with their costs, a line, a way, what stops it.
import { LayerGroup, Polygon, Polyline, SVG } from "../vendor/leaflet/leaflet-src.esm.js";
import { Tiles } from "./ground.js";

const at = ([x, y]) => [y, x];
const near = ({ x, y }, box) => x >= box[0] - 1 && x <= box[2] + 1 && y >= box[1] - 1 && y <= box[3] + 1;

export class Overlay {
  constructor(map, ground, looks, counters) {
    Object.assign(this, { map, ground, looks, counters });
    map.createPane("found").style.zIndex = 350;
    for (const [pane, height] of [["cursor", 640], ["lines", 650], ["numbers", 660]]) {
      Object.assign(map.createPane(pane).style, { zIndex: height, pointerEvents: "none" });
    }
    this.svg = new SVG({ pane: "lines", padding: 0.5 });
    this.found = new Tiles((...tile) => this.paintFound(...tile), { pane: "found" }).addTo(map);
    this.numbers = new Tiles((...tile) => this.paintNumbers(...tile), { pane: "numbers" }).addTo(map);
    this.lines = new LayerGroup().addTo(map);
    this.cursor = null;
    this.draws = null;
  }

  show(draws) {
    this.draws = draws;
    this.ground.learnAll(draws?.places);
    this.most = draws ? Math.max(0, ...Object.values(draws.hexes).filter((cost) => typeof cost === "number")) : 0;
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
      this.lines.addLayer(new Polygon(this.ground.outline(one, 0.9).map(at), { pane: "lines", renderer: this.svg, interactive: false, color, weight: 3, fillColor: color, fillOpacity: 0.28 }));
    }
  }

  // Hexes in a tint, the dearer the fainter.
  paintFound(context, box, scale, pixels) {
    if (!this.draws) return;
    const { inks } = this.looks;
    for (const [label, cost] of Object.entries(this.draws.hexes)) {
      const hex = this.ground.places.get(label);
      if (!hex || !near(hex, box)) continue;
      const share = typeof cost === "number" && this.most > 0 ? cost / this.most : 0;
      context.beginPath();
      this.ground.outline(hex, 0.97).forEach(([x, y], n) => (n ? context.lineTo(x, y) : context.moveTo(x, y)));
      context.closePath();
      context.fillStyle = context.strokeStyle = inks.answer;
      context.globalAlpha = cost === null ? 0.36 : 0.52 - 0.34 * share;
      context.fill();
      context.globalAlpha = 0.8;
      context.lineWidth = Math.max(0.05, 1 / scale);
      context.stroke();
      context.globalAlpha = 1;
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
    context.font = `700 ${size}px "DejaVu Sans", system-ui, sans-serif`;
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
