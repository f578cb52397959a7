// The ground of a map: its hexes, sides, ways and artwork, found by place and painted on canvas tiles.
import { CRS, DomUtil, GridLayer, LatLngBounds, extend } from "../vendor/leaflet/leaflet-src.esm.js";
import { STEPS } from "./lattice.js";

const CELL = 8; // plane units of a cell of the index
const TILE = 384;
const BUDGET = 8; // milliseconds of a frame for painting
const MARGIN = 1.2; // how far a hex or side reaches beyond its centre
// Four zoom levels double the size: a map fits its frame, and tiles stay crisp.
export const DOUBLING = 4;
export const PLANE = extend({}, CRS.Simple, { scale: (zoom) => 2 ** (zoom / DOUBLING), zoom: (scale) => DOUBLING * Math.log2(scale) });

export class Ground {
  constructor(lattice) {
    this.lattice = lattice;
    this.hexes = new Map(); // by label
    this.byPlace = new Map();
    this.cells = new Map();
    this.paths = [];
    this.areas = [];
    this.crests = [];
    this.box = [Infinity, Infinity, -Infinity, -Infinity];
    this.levels = new Set();
  }

  static async load(address, lattice) {
    const ground = new Ground(lattice);
    const layers = ["hexes", "hexsides", "paths", "areas", "crests", "features"];
    const [hexes, ...others] = await Promise.all(layers.map(async (layer) => {
      const answer = await fetch(`${address}/layers/${layer}`);
      if (!answer.ok) throw new Error(`The map's ${layer} could not be loaded.`);
      return (await answer.json()).features;
    }));
    hexes.forEach((feature) => ground.addHex(feature.properties));
    const [sides, paths, areas, crests, features] = others;
    sides.forEach((feature) => ground.addSide(feature.properties));
    const lines = (feature) => ({ ...feature.properties, points: feature.place.coordinates, box: boxOf(feature.place.coordinates.flat(feature.place.type === "Polygon" ? 1 : 0)) });
    ground.paths = paths.map(lines);
    ground.areas = areas.map(lines);
    ground.crests = crests.map(lines);
    ground.marked = features.map((feature) => feature.properties);
    ground.addContours();
    return ground;
  }

  addHex({ label, q, r, terrain, level, features, name }) {
    const [x, y] = this.lattice.center(q, r);
    const hex = { label, q, r, x, y, terrain, level, features: features ?? [], name };
    this.hexes.set(label, hex);
    this.byPlace.set(`${q},${r}`, hex);
    this.levels.add(level);
    this.cell(x, y).hexes.push(hex);
    this.box = [Math.min(this.box[0], x - 1), Math.min(this.box[1], y - 1), Math.max(this.box[2], x + 1), Math.max(this.box[3], y + 1)];
  }

  addSide({ x, y, kind }) {
    const [one, other] = this.lattice.sideHexes(x, y);
    const ends = this.lattice.side(one, other);
    const [a, b] = [this.byPlace.get(`${one}`), this.byPlace.get(`${other}`)];
    // teeth point to the lower ground
    const lower = a && b && a.level !== b.level ? (a.level < b.level ? one : other) : null;
    const side = { kind, ends, lower: lower && this.lattice.center(...lower) };
    const [mx, my] = [(ends[0][0] + ends[1][0]) / 2, (ends[0][1] + ends[1][1]) / 2];
    this.cell(mx, my).sides.push(side);
  }

  // Where the level changes between neighbours.
  addContours() {
    for (const hex of this.hexes.values()) {
      for (const [dq, dr] of STEPS.slice(0, 3)) {
        const other = this.byPlace.get(`${hex.q + dq},${hex.r + dr}`);
        if (other && other.level !== hex.level) this.cell(hex.x, hex.y).contours.push(this.lattice.side([hex.q, hex.r], [other.q, other.r]));
      }
    }
  }

  cell(x, y) {
    const key = `${Math.floor(x / CELL)},${Math.floor(y / CELL)}`;
    if (!this.cells.has(key)) this.cells.set(key, { hexes: [], sides: [], contours: [] });
    return this.cells.get(key);
  }

  // What of one sort lies in a box of the plane.
  in([left, low, right, high], sort) {
    const found = [];
    for (let i = Math.floor((left - MARGIN) / CELL); i <= Math.floor((right + MARGIN) / CELL); i++) {
      for (let j = Math.floor((low - MARGIN) / CELL); j <= Math.floor((high + MARGIN) / CELL); j++) {
        const cell = this.cells.get(`${i},${j}`);
        if (cell) found.push(...cell[sort]);
      }
    }
    return found;
  }

  // The whole map, as Leaflet wants it.
  get bounds() {
    const [left, low, right, high] = this.box;
    return new LatLngBounds([low, left], [high, right]);
  }

  at(x, y) {
    return this.byPlace.get(`${this.lattice.at(x, y)}`);
  }

  // The centre of a hex by its label, or the middle of a hexside.
  point(label) {
    const [one, other] = label.split("|").map((name) => this.hexes.get(name));
    if (one && other) return [(one.x + other.x) / 2, (one.y + other.y) / 2];
    return one && [one.x, one.y];
  }

  outline(hex, size = 1) {
    return this.lattice.corners.map(([x, y]) => [hex.x + size * x, hex.y + size * y]);
  }
}

function boxOf(points) {
  const [xs, ys] = [points.map((point) => point[0]), points.map((point) => point[1])];
  return [Math.min(...xs), Math.min(...ys), Math.max(...xs), Math.max(...ys)];
}

const meets = (a, b) => a[0] <= b[2] && a[2] >= b[0] && a[1] <= b[3] && a[3] >= b[1];

// Canvas tiles; `paint(context, box, scale, toPixels)` draws one, in units of the plane. They are
// painted a few a frame, so that the map keeps moving; until then those of the old zoom are seen.
export const Tiles = GridLayer.extend({
  options: { tileSize: TILE, updateWhenZooming: false, keepBuffer: 2 },

  initialize(paint, options) {
    GridLayer.prototype.initialize.call(this, options);
    this.paint = paint;
    this.waiting = [];
    this.on("tileunload", ({ tile }) => (this.waiting = this.waiting.filter((one) => one.tile !== tile)));
  },

  createTile(coords, done) {
    const tile = DomUtil.create("canvas", "ground-tile");
    this.waiting.push({ tile, coords, done });
    if (this.waiting.length === 1) requestAnimationFrame(() => this.paintWaiting());
    return tile;
  },

  paintWaiting() {
    const until = performance.now() + BUDGET;
    do {
      const next = this.waiting.shift();
      if (!next) return;
      this.paintTile(next.tile, next.coords);
      next.done(null, next.tile);
    } while (performance.now() < until);
    if (this.waiting.length) requestAnimationFrame(() => this.paintWaiting());
  },

  paintTile(tile, coords) {
    const ratio = Math.min(window.devicePixelRatio || 1, 2);
    tile.width = tile.height = TILE * ratio;
    const scale = PLANE.scale(coords.z);
    const [left, top] = [coords.x * TILE / scale, -coords.y * TILE / scale];
    const box = [left, top - TILE / scale, left + TILE / scale, top];
    const context = tile.getContext("2d");
    const plane = () => context.setTransform(scale * ratio, 0, 0, -scale * ratio, -left * scale * ratio, top * scale * ratio);
    plane();
    const pixels = (x, y, draw) => {
      context.setTransform(ratio, 0, 0, ratio, (x - left) * scale * ratio, (top - y) * scale * ratio);
      draw();
      plane();
    };
    this.paint(context, box, scale, pixels);
  },
});

export class GroundPainter {
  constructor(ground, looks) {
    this.ground = ground;
    this.looks = looks;
    this.shown = { patterns: true, sides: true, paths: true, artwork: true, levels: true, labels: true };
  }

  paint(context, box, scale, pixels) {
    const hexes = this.ground.in(box, "hexes");
    if (!hexes.length) return;
    context.lineJoin = context.lineCap = "round";
    this.terrain(context, hexes, scale);
    if (this.shown.artwork) this.artwork(context, box, scale);
    if (this.shown.levels) this.heights(context, hexes);
    if (this.shown.levels && scale >= 5) this.contours(context, box, scale);
    if (scale >= 6) this.grid(context, hexes, scale);
    if (this.shown.sides && scale >= 4) this.sides(context, box, scale);
    if (this.shown.paths) this.paths(context, box, scale);
    if (this.shown.artwork) this.crests(context, box, scale);
    if (this.shown.labels) this.words(context, hexes, scale, pixels);
  }

  terrain(context, hexes, scale) {
    const groups = Map.groupBy ? Map.groupBy(hexes, (hex) => hex.terrain) : groupBy(hexes);
    for (const [word, group] of groups) {
      this.trace(context, group);
      context.fillStyle = context.strokeStyle = this.looks.terrain(word);
      context.lineWidth = 0.8 / scale;
      context.stroke();
      context.fill();
      const pattern = this.shown.patterns && scale >= 9 && this.looks.pattern(context, word, scale);
      if (pattern) {
        context.fillStyle = pattern;
        context.fill();
      }
    }
  }

  trace(context, hexes) {
    context.beginPath();
    const { corners } = this.ground.lattice;
    for (const { x, y } of hexes) {
      corners.forEach(([dx, dy], n) => (n ? context.lineTo(x + dx, y + dy) : context.moveTo(x + dx, y + dy)));
      context.closePath();
    }
  }

  grid(context, hexes, scale) {
    this.trace(context, hexes);
    context.strokeStyle = this.looks.inks.grid;
    context.globalAlpha = 0.7;
    context.lineWidth = Math.min(0.03, 1 / scale);
    context.stroke();
    context.globalAlpha = 1;
  }

  // The higher, the deeper the tint.
  heights(context, hexes) {
    const levels = [...this.ground.levels].sort((a, b) => a - b);
    context.fillStyle = this.looks.inks.height;
    for (const level of levels.slice(1)) {
      this.trace(context, hexes.filter((hex) => hex.level === level));
      context.globalAlpha = Math.min(0.36, 0.09 * (level - levels[0]));
      context.fill();
    }
    context.globalAlpha = 1;
  }

  contours(context, box, scale) {
    context.beginPath();
    for (const [[ax, ay], [bx, by]] of this.ground.in(box, "contours")) {
      context.moveTo(ax, ay);
      context.lineTo(bx, by);
    }
    context.strokeStyle = this.looks.inks.contour;
    context.lineWidth = Math.max(0.035, 0.8 / scale);
    context.stroke();
  }

  artwork(context, box, scale) {
    for (const area of this.ground.areas.filter((one) => meets(one.box, box))) {
      context.beginPath();
      for (const ring of area.points) {
        ring.forEach(([x, y], n) => (n ? context.lineTo(x, y) : context.moveTo(x, y)));
        context.closePath();
      }
      context.fillStyle = this.looks.terrain(area.terrain);
      context.fill("evenodd");
      const pattern = this.shown.patterns && scale >= 9 && this.looks.pattern(context, area.terrain, scale);
      if (pattern) {
        context.fillStyle = pattern;
        context.fill("evenodd");
      }
      context.strokeStyle = this.looks.ink(this.looks.legend.terrain[area.terrain]);
      context.lineWidth = 0.03;
      context.stroke();
    }
  }

  // One line in its look: a casing beneath, dashes, in hundredths of the corner radius.
  line(context, stroke, scale) {
    const look = this.looks.side(stroke);
    const width = Math.max(stroke.width / 100, 0.9 / scale);
    if (look.casing) {
      context.setLineDash([]);
      context.strokeStyle = look.casing;
      context.lineWidth = width + Math.max(0.045, 1 / scale);
      context.stroke();
    }
    context.setLineDash((stroke.dash || "").split(" ").filter(Boolean).map((length) => length / 100));
    context.strokeStyle = look.ink;
    context.lineWidth = width;
    context.stroke();
    context.setLineDash([]);
  }

  sides(context, box, scale) {
    const groups = new Map();
    for (const side of this.ground.in(box, "sides")) {
      if (!groups.has(side.kind)) groups.set(side.kind, []);
      groups.get(side.kind).push(side);
    }
    for (const [kind, sides] of groups) {
      const stroke = this.looks.stroke("hexsides", kind);
      context.beginPath();
      for (const { ends: [[ax, ay], [bx, by]] } of sides) {
        context.moveTo(ax, ay);
        context.lineTo(bx, by);
      }
      this.line(context, stroke, scale);
      if (stroke.teeth && scale >= 8) this.teeth(context, stroke, sides);
    }
  }

  teeth(context, stroke, sides) {
    const reach = { ticks: 0.13, long_ticks: 0.2, triangles: 0.17, cross: 0.14 }[stroke.teeth] ?? 0.13;
    context.beginPath();
    for (const { ends: [[ax, ay], [bx, by]], lower } of sides) {
      let [nx, ny] = [-(by - ay), bx - ax];
      const [mx, my] = [(ax + bx) / 2, (ay + by) / 2];
      if (lower && (lower[0] - mx) * nx + (lower[1] - my) * ny < 0) [nx, ny] = [-nx, -ny];
      for (const at of [0.15, 0.38, 0.62, 0.85]) {
        const [x, y] = [ax + at * (bx - ax), ay + at * (by - ay)];
        if (stroke.teeth === "triangles") {
          const [tx, ty] = [(bx - ax) * 0.09, (by - ay) * 0.09];
          context.moveTo(x - tx, y - ty);
          context.lineTo(x + reach * nx, y + reach * ny);
          context.lineTo(x + tx, y + ty);
          context.closePath();
        } else {
          const back = stroke.teeth === "cross" || !lower ? -reach : 0;
          context.moveTo(x + back * nx, y + back * ny);
          context.lineTo(x + reach * nx, y + reach * ny);
        }
      }
    }
    context.strokeStyle = context.fillStyle = this.looks.side(stroke).ink;
    context.lineWidth = 0.03;
    if (stroke.teeth === "triangles") context.fill();
    context.stroke();
  }

  paths(context, box, scale) {
    for (const path of this.ground.paths.filter((one) => meets(one.box, box))) {
      context.beginPath();
      path.points.forEach(([x, y], n) => (n ? context.lineTo(x, y) : context.moveTo(x, y)));
      this.line(context, this.looks.stroke("paths", path.kind), scale);
    }
  }

  crests(context, box, scale) {
    for (const crest of this.ground.crests.filter((one) => meets(one.box, box))) {
      context.beginPath();
      crest.points.forEach(([x, y], n) => (n ? context.lineTo(x, y) : context.moveTo(x, y)));
      context.strokeStyle = this.looks.inks.crest;
      context.lineWidth = Math.max(0.06, 1 / scale);
      context.stroke();
    }
  }

  words(context, hexes, scale, pixels) {
    const { inks } = this.looks;
    const many = this.ground.levels.size > 1;
    const base = Math.min(...this.ground.levels);
    context.textAlign = "center";
    context.textBaseline = "middle";
    for (const hex of hexes) {
      if (scale >= 22) {
        pixels(hex.x, hex.y + 0.68, () => this.word(context, hex.label, 0.23 * scale, inks.label));
        if (many && this.shown.levels && hex.level !== base) pixels(hex.x - 0.62, hex.y - 0.47, () => this.word(context, `${hex.level}`, 0.24 * scale, inks.level, "700"));
        if (hex.features.length) pixels(hex.x, hex.y - 0.42, () => this.word(context, hex.features.join(" ").replaceAll("_", " "), 0.2 * scale, inks.level));
      }
      // below the counters
      if (hex.name && scale >= 7) pixels(hex.x, hex.y - 0.72, () => this.word(context, hex.name, Math.max(0.26 * scale, 11), inks.name, "600"));
    }
    if (scale >= 12) this.marked(context, hexes, scale, pixels);
  }

  dot(context, [x, y], n, ink, filled) {
    context.beginPath();
    context.arc(x - 0.4 + 0.18 * n, y - 0.72, 0.07, 0, 2 * Math.PI);
    context.strokeStyle = ink;
    context.fillStyle = filled ? ink : "#ffffff";
    context.lineWidth = 0.03;
    context.fill();
    context.stroke();
  }

  word(context, text, size, ink, weight = "400") {
    context.font = `${weight} ${size}px "DejaVu Sans", system-ui, sans-serif`;
    context.lineWidth = size / 4;
    context.strokeStyle = this.looks.inks.halo;
    context.strokeText(text, 0, 0);
    context.fillStyle = ink;
    context.fillText(text, 0, 0);
  }

  // Objectives, printed positions and other places that the map marks, and their fire dots.
  marked(context, hexes, scale, pixels) {
    const here = new Set(hexes.map((hex) => hex.label));
    const dots = new Map();
    for (const place of this.ground.marked) {
      for (const [dotted, filled] of [[place.intense, true], [place.steady, false]]) {
        for (const label of (dotted ?? []).filter((one) => here.has(one))) {
          const n = dots.get(label) ?? 0;
          dots.set(label, n + 1);
          this.dot(context, this.ground.point(label), n, this.looks.dot(place.attributes?.color), filled);
        }
      }
      for (const label of (place.hexes ?? []).filter((one) => here.has(one))) {
        const [x, y] = this.ground.point(label);
        pixels(x, y - 0.45, () => this.word(context, place.code, 0.24 * scale, this.looks.inks.level, "700"));
      }
    }
  }
}

function groupBy(hexes) {
  const groups = new Map();
  for (const hex of hexes) {
    if (!groups.has(hex.terrain)) groups.set(hex.terrain, []);
    groups.get(hex.terrain).push(hex);
  }
  return groups;
}
