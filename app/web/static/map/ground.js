// The ground of a map: fetched square by square as far as it is seen, found by place, painted on canvas tiles.
import { CRS, DomUtil, GridLayer, LatLngBounds, extend } from "../vendor/leaflet/leaflet-src.esm.js";
import { STEPS } from "./lattice.js";

const SIDE = 64; // plane units of a square of ground; from afar as many times the step
const CELL = 8; // of a cell of a square's index
const KEPT = 300; // squares that are kept; the ones longest unused go first
const FINE = 4; // pixels of a corner radius: with fewer, one hex stands for several,
const COARSE = 2; // whose own radius has at least so many
const COARSEST = 256;
const TILE = 384;
const BUDGET = 8; // milliseconds of a frame for painting
const MARGIN = 1.2; // how far a hex or side reaches beyond its centre
// Four zoom levels double the size: a map fits its frame, and tiles stay crisp.
export const DOUBLING = 4;
export const FARTHEST = -40; // zoom: a thousandth of a pixel
export const PLANE = extend({}, CRS.Simple, { scale: (zoom) => 2 ** (zoom / DOUBLING), zoom: (scale) => DOUBLING * Math.log2(scale) });

// How many hexes across one stands for, where a corner radius has so many pixels.
export function stepOf(scale) {
  if (scale >= FINE) return 1;
  let step = 2;
  while (scale * step < COARSE && step < COARSEST) step *= 2;
  return step;
}

// One square as it is fetched, with a rim of hexes around it, which other squares have, too.
class Square {
  constructor(lattice, step, x, y, told) {
    Object.assign(this, { lattice, step, x, y });
    this.byPlace = new Map();
    this.cells = new Map();
    (told.hexes ?? []).forEach((row) => this.addHex(...row));
    (told.sides ?? []).forEach((row) => this.addSide(...row));
    if (step === 1) this.addContours();
    const boxed = (line, points) => ({ ...line, box: boxOf(points) });
    const centers = (qs, rs) => qs.map((q, n) => lattice.center(q, rs[n]));
    this.paths = [
      ...(told.paths ?? []).map(([id, kind, qs, rs]) => ({ id, kind, points: centers(qs, rs) })),
      ...(told.lines ?? []).map(([id, kind, points]) => ({ id, kind, points })),
    ].map((path) => boxed(path, path.points));
    this.areas = (told.areas ?? []).map(([id, terrain, points]) => boxed({ id, terrain, points }, points.flat()));
    this.crests = (told.crests ?? []).map(([id, level, points]) => boxed({ id, level, points }, points));
    this.marked = (told.marked ?? []).map(([code, color, role, q, r]) => ({ code, color, role, place: `${q},${r}` }));
  }

  // The hex at a place, if it belongs here and not to the rim.
  own(hex) {
    return squareOf(hex.x, this.step) === this.x && squareOf(hex.y, this.step) === this.y;
  }

  addHex(q, r, label, terrain, level, features, name) {
    const [x, y] = this.lattice.center(q, r);
    const hex = { label, q, r, x, y, terrain, level, features: features ?? [], name };
    this.byPlace.set(`${q},${r}`, hex);
    if (this.own(hex)) this.cell(x, y).hexes.push(hex);
  }

  addSide(x, y, kind) {
    const [one, other] = this.lattice.sideHexes(x, y);
    const ends = this.lattice.side(one, other);
    const middle = { x: (ends[0][0] + ends[1][0]) / 2, y: (ends[0][1] + ends[1][1]) / 2 };
    if (!this.own(middle)) return;
    const [a, b] = [this.byPlace.get(`${one}`), this.byPlace.get(`${other}`)];
    // teeth point to the lower ground
    const lower = a && b && a.level !== b.level ? (a.level < b.level ? one : other) : null;
    this.cell(middle.x, middle.y).sides.push({ kind, ends, lower: lower && this.lattice.center(...lower) });
  }

  // Where the level changes between neighbours.
  addContours() {
    for (const hex of this.byPlace.values()) {
      if (!this.own(hex)) continue;
      for (const [dq, dr] of STEPS.slice(0, 3)) {
        const other = this.byPlace.get(`${hex.q + dq},${hex.r + dr}`);
        if (other && other.level !== hex.level) this.cell(hex.x, hex.y).contours.push(this.lattice.side([hex.q, hex.r], [other.q, other.r]));
      }
    }
  }

  cell(x, y) {
    const key = `${Math.floor(x / CELL / this.step)},${Math.floor(y / CELL / this.step)}`;
    if (!this.cells.has(key)) this.cells.set(key, { hexes: [], sides: [], contours: [] });
    return this.cells.get(key);
  }
}

const squareOf = (coordinate, step) => Math.floor(coordinate / SIDE / step);

export class Ground {
  // `box` and `levels` are those of the whole map, which nobody loads.
  constructor(address, lattice, box, levels) {
    Object.assign(this, { address, lattice, box, levels });
    this.squares = new Map(); // by step, column and row: as it is, or as it comes
    this.places = new Map(); // by label: places that the panel, the counters or a click have told
  }

  // Fetch what a box wants; null where all of it is there.
  load(box, step) {
    const wanted = this.keys(box, step).map((key) => this.square(...key)).filter((square) => square instanceof Promise);
    return wanted.length ? Promise.all(wanted) : null;
  }

  // The squares that a box meets and that the map reaches into.
  keys([left, low, right, high], step) {
    const [edge, margin, found] = [this.box, MARGIN * 2 * step, []];
    for (let x = squareOf(Math.max(left - margin, edge[0]), step); x <= squareOf(Math.min(right + margin, edge[2]), step); x++) {
      for (let y = squareOf(Math.max(low - margin, edge[1]), step); y <= squareOf(Math.min(high + margin, edge[3]), step); y++) found.push([step, x, y]);
    }
    return found;
  }

  square(step, x, y) {
    const key = `${step}/${x}/${y}`;
    const found = this.squares.get(key) ?? this.fetch(step, x, y, key);
    // the one used last comes last
    this.squares.delete(key);
    this.squares.set(key, found);
    for (const old of this.squares.keys()) {
      if (this.squares.size <= KEPT) break;
      this.squares.delete(old);
    }
    return found;
  }

  async fetch(step, x, y, key) {
    try {
      const answer = await fetch(`${this.address}/ground/${key}`);
      if (!answer.ok) throw new Error("A part of the map could not be loaded.");
      const square = new Square(this.lattice, step, x, y, await answer.json());
      this.squares.set(key, square);
      return square;
    } catch (error) {
      this.squares.delete(key);
      throw error;
    }
  }

  loaded(step, x, y) {
    const found = this.squares.get(`${step}/${x}/${y}`);
    return found instanceof Square ? found : null;
  }

  // What of one sort lies in a box of the plane: hexes, sides, contours.
  in([left, low, right, high], step, sort) {
    const [cell, perSquare, found] = [CELL * step, SIDE / CELL, []];
    const margin = MARGIN * 2 * step;
    for (let i = Math.floor((left - margin) / cell); i <= Math.floor((right + margin) / cell); i++) {
      for (let j = Math.floor((low - margin) / cell); j <= Math.floor((high + margin) / cell); j++) {
        const here = this.loaded(step, Math.floor(i / perSquare), Math.floor(j / perSquare))?.cells.get(`${i},${j}`);
        if (here) found.push(...here[sort]);
      }
    }
    return found;
  }

  // Ways, areas or crests that meet a box, each once: long ones lie in several squares.
  across(box, step, sort) {
    const found = new Map();
    for (const key of this.keys(box, step)) {
      for (const one of this.loaded(...key)?.[sort] ?? []) if (meets(one.box, box)) found.set(one.id, one);
    }
    return [...found.values()].sort((one, other) => one.id - other.id);
  }

  // The whole map, as Leaflet wants it.
  get bounds() {
    const [left, low, right, high] = this.box;
    return new LatLngBounds([low, left], [high, right]);
  }

  // The hex at a place, fetched with its square where need be; nothing where the map has none.
  async find(q, r) {
    const [x, y] = this.lattice.center(q, r);
    const square = await this.square(1, squareOf(x, 1), squareOf(y, 1));
    const hex = square.byPlace.get(`${q},${r}`);
    if (hex) this.learn(hex.label, q, r);
    return hex;
  }

  at(x, y) {
    return this.find(...this.lattice.at(x, y));
  }

  // A label's place is told by whoever speaks of it: the ground that is not seen is not loaded.
  learn(label, q, r) {
    const [x, y] = this.lattice.center(q, r);
    this.places.set(label, { label, q, r, x, y });
  }

  learnAll(places) {
    Object.entries(places ?? {}).forEach(([label, place]) => this.learn(label, ...place));
  }

  // The centre of a hex by its label, or the middle of a hexside.
  point(label) {
    const [one, other] = label.split("|").map((name) => this.places.get(name));
    if (one && other) return [(one.x + other.x) / 2, (one.y + other.y) / 2];
    return one && [one.x, one.y];
  }

  outline(hex, size = 1) {
    return this.lattice.corners.map(([x, y]) => [hex.x + size * x, hex.y + size * y]);
  }
}

function boxOf(points) {
  const box = [Infinity, Infinity, -Infinity, -Infinity];
  for (const [x, y] of points) {
    box[0] = Math.min(box[0], x);
    box[1] = Math.min(box[1], y);
    box[2] = Math.max(box[2], x);
    box[3] = Math.max(box[3], y);
  }
  return box;
}

const meets = (a, b) => a[0] <= b[2] && a[2] >= b[0] && a[1] <= b[3] && a[3] >= b[1];

// Canvas tiles; `paint(context, box, scale, toPixels)` draws one, in units of the plane. They are
// painted a few a frame, so that the map keeps moving; until then those of the old zoom are seen.
// `prepare(box, scale)` fetches what painting wants, if anything is wanted.
export const Tiles = GridLayer.extend({
  options: { tileSize: TILE, updateWhenZooming: false, keepBuffer: 2, minZoom: FARTHEST },

  initialize(paint, options, prepare = () => null) {
    GridLayer.prototype.initialize.call(this, options);
    Object.assign(this, { paint, prepare, waiting: [] });
    this.on("tileunload", ({ tile }) => {
      tile.unloaded = true;
      this.waiting = this.waiting.filter((one) => one.tile !== tile);
    });
  },

  createTile(coords, done) {
    const tile = DomUtil.create("canvas", "ground-tile");
    const wait = () => {
      if (tile.unloaded) return;
      this.waiting.push({ tile, coords, done });
      if (this.waiting.length === 1) requestAnimationFrame(() => this.paintWaiting());
    };
    const scale = PLANE.scale(coords.z);
    const coming = this.prepare(this.boxOf(coords, scale), scale);
    if (coming) coming.then(wait, (error) => done(error, tile));
    else wait();
    return tile;
  },

  boxOf(coords, scale) {
    const [left, top] = [coords.x * TILE / scale, -coords.y * TILE / scale];
    return [left, top - TILE / scale, left + TILE / scale, top];
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
    const box = this.boxOf(coords, scale);
    const [left, top] = [box[0], box[3]];
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
    const step = stepOf(scale);
    const hexes = this.ground.in(box, step, "hexes");
    if (!hexes.length) return;
    context.lineJoin = context.lineCap = "round";
    this.terrain(context, hexes, scale, step);
    if (this.shown.artwork) this.artwork(context, box, scale, step);
    if (this.shown.levels) this.heights(context, hexes, step);
    if (this.shown.levels && scale >= 5) this.contours(context, box, scale);
    if (scale >= 6) this.grid(context, hexes, scale);
    if (this.shown.sides && scale >= 4) this.sides(context, box, scale);
    if (this.shown.paths) this.paths(context, box, scale, step);
    if (this.shown.artwork) this.crests(context, box, scale, step);
    if (this.shown.labels) this.words(context, box, hexes, scale, pixels);
  }

  terrain(context, hexes, scale, step) {
    const groups = Map.groupBy ? Map.groupBy(hexes, (hex) => hex.terrain) : groupBy(hexes);
    for (const [word, group] of groups) {
      this.trace(context, group, step);
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

  // From afar a hex is as large as those it stands for.
  trace(context, hexes, step = 1) {
    context.beginPath();
    const corners = this.ground.lattice.corners.map(([dx, dy]) => [step * dx, step * dy]);
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
  heights(context, hexes, step) {
    const { levels } = this.ground;
    context.fillStyle = this.looks.inks.height;
    for (const level of levels.slice(1)) {
      this.trace(context, hexes.filter((hex) => hex.level === level), step);
      context.globalAlpha = Math.min(0.36, 0.09 * (level - levels[0]));
      context.fill();
    }
    context.globalAlpha = 1;
  }

  contours(context, box, scale) {
    context.beginPath();
    for (const [[ax, ay], [bx, by]] of this.ground.in(box, 1, "contours")) {
      context.moveTo(ax, ay);
      context.lineTo(bx, by);
    }
    context.strokeStyle = this.looks.inks.contour;
    context.lineWidth = Math.max(0.035, 0.8 / scale);
    context.stroke();
  }

  artwork(context, box, scale, step) {
    for (const area of this.ground.across(box, step, "areas")) {
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
    for (const side of this.ground.in(box, 1, "sides")) {
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

  paths(context, box, scale, step) {
    for (const path of this.ground.across(box, step, "paths")) {
      context.beginPath();
      path.points.forEach(([x, y], n) => (n ? context.lineTo(x, y) : context.moveTo(x, y)));
      this.line(context, this.looks.stroke("paths", path.kind), scale);
    }
  }

  crests(context, box, scale, step) {
    for (const crest of this.ground.across(box, step, "crests")) {
      context.beginPath();
      crest.points.forEach(([x, y], n) => (n ? context.lineTo(x, y) : context.moveTo(x, y)));
      context.strokeStyle = this.looks.inks.crest;
      context.lineWidth = Math.max(0.06, 1 / scale);
      context.stroke();
    }
  }

  words(context, box, hexes, scale, pixels) {
    const { inks } = this.looks;
    const many = this.ground.levels.length > 1;
    const base = this.ground.levels[0];
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
    if (scale >= 12) this.marked(context, box, hexes, scale, pixels);
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
  marked(context, box, hexes, scale, pixels) {
    const here = new Map(hexes.map((hex) => [`${hex.q},${hex.r}`, hex]));
    const dots = new Map();
    for (const key of this.ground.keys(box, 1)) {
      const square = this.ground.loaded(...key);
      for (const { code, color, role, place } of square?.marked ?? []) {
        const hex = here.get(place);
        if (!hex || !square.own(hex)) continue;
        if (role === "at") {
          pixels(hex.x, hex.y - 0.45, () => this.word(context, code, 0.24 * scale, this.looks.inks.level, "700"));
          continue;
        }
        const n = dots.get(place) ?? 0;
        dots.set(place, n + 1);
        this.dot(context, [hex.x, hex.y], n, this.looks.dot(color), role === "intense");
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
