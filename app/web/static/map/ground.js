// The ground of a map: its hexes, sides, ways and artwork, found by place and painted on canvas tiles.
import { CRS, DomUtil, GridLayer, LatLngBounds, extend } from "../vendor/leaflet/leaflet-src.esm.js";
import { STEPS } from "./lattice.js";
import { Land, pieces, traceWater, traceWay } from "./outlines.js";

const CELL = 8; // plane units of a cell of the index
const TILE = 384;
const BUDGET = 8; // milliseconds of a frame for painting
const MARGIN = 1.2; // how far a hex or side reaches beyond its centre
const SOFT = 4; // pixels of a corner radius in which light and shade are painted, to be softened
const FLOWING = new Set(["river", "stream"]); // hexsides without corners
const DEEPENING = new Set(["sea", "ocean"]);
const FADING = [1, 1, 0.6, 0.25]; // of the water beyond a map, by how far it is from the shore
const SHADING = 0.05; // how dark or light a degree of shade or light is
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
    this.land = new Land(ground);
    this.shown = { patterns: true, sides: true, paths: true, artwork: true, levels: true, labels: true };
  }

  paint(context, box, scale, pixels) {
    const hexes = this.ground.in(box, "hexes");
    if (!hexes.length) return;
    context.lineJoin = context.lineCap = "round";
    const waters = this.land.waters(box);
    this.beyond(context, waters, box);
    this.terrain(context, hexes, scale);
    if (scale >= 4) this.cutOff(context, [...hexes, ...waters], scale);
    this.depths(context, hexes);
    if (this.shown.artwork) this.artwork(context, box, scale);
    if (this.shown.levels) this.heights(context, hexes);
    if (this.shown.levels) this.slopes(context, hexes, box);
    if (this.shown.levels && scale >= 5) this.contours(context, box, scale);
    if (scale >= 6) this.grid(context, hexes, scale);
    this.coast(context, hexes, scale);
    if (this.shown.sides && scale >= 4) this.sides(context, box, scale);
    if (this.shown.paths) this.paths(context, box, scale);
    if (this.shown.artwork) this.crests(context, box, scale);
    if (scale >= 12) this.dots(context, hexes);
    if (scale >= 20 && this.shown.labels) this.features(context, hexes, scale, pixels);
  }

  features(context, hexes, scale, pixels) {
    context.textAlign = "center";
    context.textBaseline = "middle";
    for (const hex of hexes.filter((one) => one.features.length)) {
      pixels(hex.x, hex.y - 0.42, () => this.word(context, hex.features.join(" ").replaceAll("_", " "), 0.2 * scale, this.looks.inks.level));
    }
  }

  // Where a shore ends the map: the water beyond, fading away.
  beyond(context, waters, box) {
    if (!waters.length) return;
    this.soft(context, box, (small) => {
      small.fillStyle = this.looks.terrain("sea");
      for (const water of waters) {
        this.trace(small, [water]);
        small.globalAlpha = FADING[water.depth];
        small.fill();
      }
    });
  }

  // What is painted small and enlarged is soft.
  soft(context, [left, low, right, high], draw) {
    const [from, top] = [Math.floor((left - 1) * SOFT) / SOFT, Math.ceil((high + 1) * SOFT) / SOFT];
    const canvas = document.createElement("canvas");
    canvas.width = Math.ceil((right + 1 - from) * SOFT);
    canvas.height = Math.ceil((top - low + 1) * SOFT);
    const small = canvas.getContext("2d");
    small.setTransform(SOFT, 0, 0, -SOFT, -from * SOFT, top * SOFT);
    draw(small);
    context.save();
    context.translate(from, top);
    context.scale(1 / SOFT, -1 / SOFT);
    context.imageSmoothingQuality = "high";
    context.drawImage(canvas, 0, 0);
    context.restore();
  }

  terrain(context, hexes, scale) {
    const groups = Map.groupBy ? Map.groupBy(hexes, (hex) => hex.terrain) : groupBy(hexes);
    for (const [word, group] of groups) {
      this.trace(context, group);
      this.fill(context, word, scale);
    }
  }

  fill(context, word, scale) {
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

  // What neighbours take of a hex's corners, so that the edges of terrain are round.
  cutOff(context, hexes, scale) {
    const taken = new Map();
    for (const hex of hexes) {
      for (const cut of this.land.shape(hex).cuts) {
        for (const [word, ...points] of pieces(cut)) {
          if (!taken.has(word)) taken.set(word, []);
          taken.get(word).push(points);
        }
      }
    }
    for (const [word, shapes] of taken) {
      context.beginPath();
      for (const [end, corner, peak, toward] of shapes) {
        context.moveTo(...end);
        context.lineTo(...corner);
        context.lineTo(...peak);
        context.quadraticCurveTo(...toward, ...end);
      }
      this.fill(context, word, scale);
    }
  }

  // The sea, the deeper the darker.
  depths(context, hexes) {
    context.fillStyle = this.looks.inks.deep;
    for (const deep of [2, 3]) {
      this.trace(context, hexes.filter((hex) => DEEPENING.has(hex.terrain) && this.land.shape(hex).depth === deep));
      context.globalAlpha = 0.14 * (deep - 1);
      context.fill();
    }
    context.globalAlpha = 1;
  }

  // The line between land and sea, with foam along it.
  coast(context, hexes, scale) {
    context.beginPath();
    for (const hex of hexes) {
      for (const [from, corner, to] of this.land.shape(hex).shore) {
        context.moveTo(...from);
        context.quadraticCurveTo(...corner, ...to);
      }
    }
    context.strokeStyle = this.looks.inks.foam;
    context.globalAlpha = 0.75;
    context.lineWidth = 0.13;
    context.stroke();
    context.globalAlpha = 1;
    context.strokeStyle = this.looks.inks.coast;
    context.lineWidth = Math.max(0.045, 0.8 / scale);
    context.stroke();
  }

  // Slopes in light and shade.
  slopes(context, hexes, box) {
    const faces = new Map();
    for (const hex of hexes) {
      for (const { light, face } of this.land.shape(hex).slopes) {
        if (!faces.has(light)) faces.set(light, []);
        faces.get(light).push(face);
      }
    }
    if (!faces.size) return;
    this.soft(context, box, (small) => {
      for (const [light, group] of faces) {
        small.beginPath();
        for (const [one, ...others] of group) {
          small.moveTo(...one);
          others.forEach((corner) => small.lineTo(...corner));
          small.closePath();
        }
        small.fillStyle = light > 0 ? "#ffffff" : "#2a1c08";
        small.globalAlpha = SHADING * Math.abs(light);
        small.fill();
      }
    });
  }

  trace(context, hexes) {
    context.beginPath();
    const { corners } = this.ground.lattice;
    for (const { x, y } of hexes) {
      corners.forEach(([dx, dy], n) => (n ? context.lineTo(x + dx, y + dy) : context.moveTo(x + dx, y + dy)));
      context.closePath();
    }
  }

  // Hexsides, thinner within one terrain.
  grid(context, hexes, scale) {
    context.strokeStyle = this.looks.inks.grid;
    for (const [alike, width, alpha] of [[true, 0.012, 0.5], [false, 0.024, 0.75]]) {
      context.beginPath();
      for (const hex of hexes) {
        STEPS.forEach(([dq, dr], step) => {
          const other = this.ground.byPlace.get(`${hex.q + dq},${hex.r + dr}`);
          if ((other && step > 2) || (other?.terrain === hex.terrain) !== alike) return;
          const [one, end] = this.ground.lattice.side([hex.q, hex.r], [hex.q + dq, hex.r + dr]);
          context.moveTo(...one);
          context.lineTo(...end);
        });
      }
      context.globalAlpha = alpha;
      context.lineWidth = Math.max(width, 0.6 / scale);
      context.stroke();
    }
    context.globalAlpha = 1;
  }

  // The higher, the deeper the tint.
  heights(context, hexes) {
    const levels = [...this.ground.levels].sort((a, b) => a - b);
    context.fillStyle = this.looks.inks.height;
    for (const level of levels.slice(1)) {
      this.trace(context, hexes.filter((hex) => hex.level === level));
      context.globalAlpha = Math.min(0.24, 0.06 * (level - levels[0]));
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
      if (FLOWING.has(kind)) traceWater(context, sides);
      else {
        for (const { ends: [one, other] } of sides) {
          context.moveTo(...one);
          context.lineTo(...other);
        }
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
      traceWay(context, path.points);
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

  // What is written, upon counters too: names, where they leave room for one another, and from 40 pixels a hex on numbers.
  words(context, box, scale, pixels) {
    if (!this.shown.labels) return;
    const { inks } = this.looks;
    const hexes = this.ground.in(box, "hexes");
    const base = Math.min(...this.ground.levels);
    context.textAlign = "center";
    context.textBaseline = "middle";
    for (const hex of scale >= 20 ? hexes : []) {
      pixels(hex.x, hex.y + 0.7, () => this.word(context, hex.label, 0.2 * scale, inks.label));
      if (this.shown.levels && hex.level !== base && this.land.shape(hex).crowns) pixels(hex.x - 0.62, hex.y - 0.47, () => this.word(context, `${hex.level}`, 0.24 * scale, inks.level, "700"));
    }
    for (const { text, x, y, size } of scale >= 7 ? this.named(context, scale) : []) {
      const half = 0.6 * size * text.length / 2 / scale;
      if (x + half < box[0] || x - half > box[2] || y + 1 < box[1] || y - 1 > box[3]) continue;
      pixels(x, y, () => this.word(context, text, size, inks.name, "600"));
    }
    if (scale >= 12) this.codes(context, hexes, scale, pixels);
  }

  // Where names are written at a scale: below the counters of their hex, else above them; who finds no room has none.
  named(context, scale) {
    const known = `${scale} ${this.ground.hexes.size}`;
    if (this.names?.known !== known) {
      const size = Math.max(0.26 * scale, 11);
      const taken = [];
      const places = [];
      for (const hex of this.ground.hexes.values()) {
        if (!hex.name) continue;
        const [width, height] = [0.62 * size * hex.name.length / scale, 1.2 * size / scale];
        for (const y of [hex.y - 0.74, hex.y + 0.95]) {
          const field = [hex.x - width / 2, y - height / 2, hex.x + width / 2, y + height / 2];
          if (taken.some((other) => meets(other, field))) continue;
          taken.push(field);
          places.push({ text: hex.name, x: hex.x, y, size });
          break;
        }
      }
      this.names = { known, places };
    }
    return this.names.places;
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
    context.font = `${weight} ${size}px "Source Sans 3", "DejaVu Sans", system-ui, sans-serif`;
    context.lineWidth = size / 4;
    context.strokeStyle = this.looks.inks.halo;
    context.strokeText(text, 0, 0);
    context.fillStyle = ink;
    context.fillText(text, 0, 0);
  }

  // Fire dots of printed positions.
  dots(context, hexes) {
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
    }
  }

  // Objectives, printed positions and other places that the map marks: at the left corner, beside counters.
  codes(context, hexes, scale, pixels) {
    const here = new Set(hexes.map((hex) => hex.label));
    for (const place of this.ground.marked) {
      for (const label of (place.hexes ?? []).filter((one) => here.has(one))) {
        const [x, y] = this.ground.point(label);
        pixels(x - 0.74, y, () => this.word(context, place.code, (place.code.length > 2 ? 0.16 : 0.24) * scale, this.looks.inks.level, "700"));
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
