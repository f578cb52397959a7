// The ground of a map: fetched square by square as far as it is seen, found by place; and tiles to paint it on.
import { CRS, DomUtil, GridLayer, LatLngBounds, extend } from "../vendor/leaflet/leaflet-src.esm.js";
import { STEPS } from "./lattice.js";
import { Land, SHORE, WATER } from "./outlines.js";

const SIDE = 64; // plane units of a square of ground; from afar as many times the step
const RIM = 6; // plane units around a square whose hexes come with it
const CELL = 8; // of a cell of a square's index
const KEPT = 300; // squares that are kept; the ones longest unused go first
const FINE = 4; // pixels of a corner radius: with fewer, one hex stands for several,
const COARSE = 2; // whose own radius has at least so many
const COARSEST = 256;
const TILE = 256; // pixels: a small one is painted within a frame
const BUDGET = 8; // milliseconds of a frame for painting, of all layers together
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

// A hex, with what its neighbours make of it.
class Hex {
  #square;
  #shape;

  constructor(square, told) {
    this.#square = square;
    Object.assign(this, told);
  }

  get shape() {
    return (this.#shape ??= this.#square.land.shape(this));
  }

  beside(dq, dr) {
    return this.#square.byPlace.get(`${this.q + dq},${this.r + dr}`);
  }
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

  get land() {
    return (this.lie ??= new Land(this, SIDE, RIM));
  }

  // Whether it tells of no water: then a shore ends the map.
  get isDry() {
    return (this.dry ??= ![...this.byPlace.values()].some((hex) => WATER.has(hex.terrain)));
  }

  // The hex at a place, if it belongs here and not to the rim.
  own(hex) {
    return squareOf(hex.x, this.step) === this.x && squareOf(hex.y, this.step) === this.y;
  }

  // Whether the code of a marked place is written in a hex: once for hexes that lie together, and not where the words of
  // the hex, or the name of one nearby, say it already. As `_told` of `app/drawing/ground.py`.
  writes({ code, role }, hex) {
    if (role !== "at" || this.names.has(code)) return false;
    const told = new Set([hex.label, ...hex.features]);
    if (code.split(" ").every((word) => told.has(word))) return false;
    return !BEFORE.some(([dq, dr]) => this.lies.has(`${code} ${hex.q + dq},${hex.r + dr}`));
  }

  get names() {
    return (this.called ??= new Set([...this.byPlace.values()].map((hex) => hex.name)));
  }

  get lies() {
    return (this.lying ??= new Set(this.marked.filter(({ role }) => role === "at").map(({ code, place }) => `${code} ${place}`)));
  }

  addHex(q, r, label, terrain, level, features, name) {
    const [x, y] = this.lattice.center(q, r);
    const hex = new Hex(this, { label, q, r, x, y, terrain, level, features: features ?? [], name });
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

const BEFORE = [[-1, 0], [-1, 1], [0, -1]]; // to the neighbours that come first in the order of places
const FADED = 5; // hexes from a shore within which the water beyond it fades away
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

  // How the land lies in the squares that a box meets, as far as they are there.
  lands(box) {
    return this.keys(box, 1).map((key) => this.loaded(...key)?.land).filter(Boolean);
  }

  // Shores that end the map in or near a box.
  shores(box, step) {
    const wide = [box[0] - FADED * step, box[1] - FADED * step, box[2] + FADED * step, box[3] + FADED * step];
    if (!this.keys(wide, step).every((key) => this.loaded(...key)?.isDry ?? true)) return [];
    return this.in(wide, step, "hexes").filter((hex) => SHORE.has(hex.terrain));
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

export const meets = (a, b) => a[0] <= b[2] && a[2] >= b[0] && a[1] <= b[3] && a[3] >= b[1];

// Tiles that wait to be painted, of all layers.
const waiting = [];
let woken = false;

function wake() {
  if (!woken) requestAnimationFrame(paintWaiting);
  woken = true;
}

function paintWaiting() {
  woken = false;
  const until = performance.now() + BUDGET;
  while (waiting.length) {
    const { layer, tile, coords, done } = waiting.shift();
    layer.paintTile(tile, coords);
    done(null, tile);
    if (performance.now() >= until) break;
  }
  if (waiting.length) wake();
}

function forget(tile) {
  const at = waiting.findIndex((one) => one.tile === tile);
  if (at >= 0) waiting.splice(at, 1);
}

// Canvas tiles; `paint(context, box, scale, toPixels)` draws one, in units of the plane. They are
// painted a few a frame, so that the map keeps moving; until then those of the old zoom are seen.
// `prepare(box, scale)` fetches what painting wants, if anything is wanted; where `blank(scale)` there is nothing to paint.
export const Tiles = GridLayer.extend({
  options: { tileSize: TILE, updateWhenZooming: false, keepBuffer: 2, minZoom: FARTHEST },

  initialize(paint, options, prepare = () => null) {
    GridLayer.prototype.initialize.call(this, options);
    Object.assign(this, { paint, prepare });
    this.on("tileunload", ({ tile }) => {
      tile.unloaded = true;
      forget(tile);
    });
  },

  createTile(coords, done) {
    const tile = DomUtil.create("canvas", "ground-tile");
    if (this.options.blank?.(PLANE.scale(coords.z))) {
      // Leaflet wants to have the tile before it is told of it
      setTimeout(() => done(null, tile));
      return tile;
    }
    const wait = () => {
      if (tile.unloaded) return;
      waiting.push({ layer: this, tile, coords, done });
      wake();
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
