// The lie of the land as shapes, from a hex and its neighbours alone: rounded edges of terrain, the shore, the depth
// of the sea, slopes in light and shade. The same as app/drawing/outlines.py, in the display plane, where y goes up.
import { CORNERS, STEPS } from "./lattice.js";

export const WATER = new Set(["sea", "ocean", "shallow", "reef", "surf"]);
export const SHORE = new Set(["beach", "mangrove_swamp"]);
const DEEP = 3; // hexes from the shore within which the sea grows deeper
const LIGHT = [-0.5, -0.7]; // where light comes from, on a sheet with y down
const SHADES = 6;

// places before a hex, as a page is read, that may have its level written instead of it
const CROWN = [];
for (let dq = -3; dq <= 3; dq++) {
  for (let dr = -3; dr <= 3; dr++) {
    const down = 2 * dr + dq;
    if (Math.abs(dq + dr) <= 3 && (down < 0 || (down === 0 && dq < 0))) CROWN.push([dq, dr]);
  }
}

const middle = ([ax, ay], [bx, by]) => [(ax + bx) / 2, (ay + by) / 2];
const beside = ({ q, r }, step) => ({ q: q + STEPS[step % 6][0], r: r + STEPS[step % 6][1] });
const key = ({ q, r }) => `${q},${r}`;

// How the land lies in a square of the ground, which comes with a rim of hexes around it.
export class Land {
  constructor(square, side, rim) {
    Object.assign(this, { square, lattice: square.lattice });
    const low = [side * square.x - rim + 1, side * square.y - rim + 1];
    // what has its centre here and is not there is not on the map
    this.known = [...low, low[0] + side + 2 * rim - 2, low[1] + side + 2 * rim - 2];
    this.beyond = this.findBeyond();
    this.waters = [...this.beyond.values()].filter((water) => square.own(water));
    for (const water of this.waters) water.shape = this.shape(water);
  }

  shape(hex) {
    return { cuts: this.cuts(hex), shore: this.shore(hex), slopes: this.slopes(hex), depth: this.depth(hex), crowns: this.crowns(hex) };
  }

  terrain(place) {
    return this.square.byPlace.get(key(place))?.terrain ?? (this.beyond.has(key(place)) ? "sea" : undefined);
  }

  level(place) {
    return this.square.byPlace.get(key(place))?.level;
  }

  corners(hex) {
    const [x, y] = [3 * hex.q, 2 * hex.r + hex.q];
    return CORNERS.map(([dx, dy]) => this.lattice.place(x + dx, y + dy));
  }

  // Places outside the map that are sea, because a shore ends it, with how far from the shore they lie.
  findBeyond() {
    const found = new Map();
    const hexes = [...this.square.byPlace.values()];
    if (this.square.step > 1 || hexes.some((hex) => WATER.has(hex.terrain))) return found;
    const [left, low, right, high] = this.known;
    let edge = hexes.filter((hex) => SHORE.has(hex.terrain));
    for (let depth = 1; depth <= DEEP; depth++) {
      const next = [];
      for (const place of edge) {
        for (let step = 0; step < 6; step++) {
          const other = beside(place, step);
          const [x, y] = this.lattice.center(other.q, other.r);
          if (this.square.byPlace.has(key(other)) || found.has(key(other)) || x < left || x > right || y < low || y > high) continue;
          const water = { ...other, x, y, depth, terrain: "sea" };
          found.set(key(other), water);
          next.push(water);
        }
      }
      edge = next;
    }
    return found;
  }

  // The corners that are rounded off a hex, because both who meet it there are of one kind.
  cuts(hex) {
    const mine = this.terrain(hex);
    const corners = this.corners(hex);
    const around = STEPS.map((_, step) => this.terrain(beside(hex, step)));
    return corners.flatMap((corner, n) => {
      const [one, other] = [around[(n + 1) % 6], around[(n + 2) % 6]];
      if (one === undefined || other === undefined || mine === one || mine === other) return [];
      const wet = WATER.has(one) === WATER.has(other) && WATER.has(one) !== WATER.has(mine);
      if (one !== other && !wet) return [];
      return [{ ends: [middle(corners[(n + 5) % 6], corner), middle(corner, corners[(n + 1) % 6])], corner, terrain: [one, other] }];
    });
  }

  // The coast at a land hex: curves from a side's middle around a corner to the next side's.
  shore(hex) {
    if (WATER.has(hex.terrain)) return [];
    const corners = this.corners(hex);
    const wet = STEPS.map((_, step) => WATER.has(this.terrain(beside(hex, step))));
    return corners.flatMap((corner, n) => {
      const [before, after] = [wet[(n + 1) % 6], wet[(n + 2) % 6]];
      const start = middle(corners[(n + 5) % 6], corner);
      if (before && after) return [[start, corner, middle(corner, corners[(n + 1) % 6])]];
      const [water, land] = [beside(hex, n + 1), beside(hex, n + 2)];
      if (!before || this.terrain(land) === undefined) return [];
      return [[start, corner, middle(this.lattice.center(water.q, water.r), this.lattice.center(land.q, land.r))]];
    });
  }

  // How far a place of the sea is from land, at most `DEEP`; 0 on land.
  depth(hex) {
    if (hex.depth !== undefined || !WATER.has(hex.terrain)) return hex.depth ?? 0;
    let ring = [hex];
    for (let far = 1; far < DEEP; far++) {
      ring = ring.flatMap((place) => STEPS.map((_, step) => beside(place, step)));
      if (ring.some((place) => { const word = this.terrain(place); return word !== undefined && !WATER.has(word); })) return far;
    }
    return DEEP;
  }

  // Faces of a hex with their light (above 0) or shade, as far as the ground is not level there.
  slopes(hex) {
    const around = STEPS.map((_, step) => this.level(beside(hex, step)));
    if (hex.level === undefined || around.every((level) => level === undefined || level === hex.level)) return [];
    const corners = this.corners(hex);
    const heights = corners.map((_, n) => mean([hex.level, around[(n + 1) % 6], around[(n + 2) % 6]]));
    return corners.flatMap((corner, n) => {
      const face = [[hex.x, hex.y], corner, corners[(n + 1) % 6]];
      const light = lit(face, [hex.level, heights[n], heights[(n + 1) % 6]], this.lattice.pointed);
      return light ? [{ light, face }] : [];
    });
  }

  // Whether a level is written here: at the upper end of ground that is level, not in all of it.
  crowns(hex) {
    return CROWN.every(([dq, dr]) => this.level({ q: hex.q + dq, r: hex.r + dr }) !== hex.level);
  }
}

function mean(levels) {
  const known = levels.filter((level) => level !== undefined);
  return known.reduce((sum, level) => sum + level, 0) / known.length;
}

// How much a face is turned to the light: degrees of light above 0, of shade below.
function lit([[ax, ay], [bx, by], [cx, cy]], [a, b, c]) {
  const area = (bx - ax) * (cy - ay) - (cx - ax) * (by - ay);
  const east = ((b - a) * (cy - ay) - (c - a) * (by - ay)) / area;
  const north = ((c - a) * (bx - ax) - (b - a) * (cx - ax)) / area;
  const light = -(east * LIGHT[0] - north * LIGHT[1]);
  return Math.max(-SHADES, Math.min(SHADES, Math.round(light * SHADES)));
}

// A corner that neighbours take, as pieces of one terrain each: `draw(terrain, trace)`.
export function pieces({ ends: [one, other], corner, terrain }) {
  if (terrain[0] === terrain[1]) return [[terrain[0], one, corner, other, corner]];
  const peak = middle(middle(one, corner), middle(corner, other));
  return [[terrain[0], one, corner, peak, middle(one, corner)], [terrain[1], other, corner, peak, middle(other, corner)]];
}

// A way from hex to hex without its corners.
export function traceWay(context, points) {
  context.moveTo(...points[0]);
  points.slice(1, -1).forEach((corner, n) => {
    if (n === 0) context.lineTo(...middle(points[0], corner));
    context.quadraticCurveTo(...corner, ...middle(corner, points[n + 2]));
  });
  context.lineTo(...points.at(-1));
}

// Water along hexsides: a curve around a corner where two sides meet, straight to it where one ends or three do.
export function traceWater(context, sides) {
  const meeting = new Map();
  for (const { ends: [one, other] } of sides) {
    for (const corner of [one, other]) {
      const name = corner.map((value) => Math.round(value * 1000)).join();
      if (!meeting.has(name)) meeting.set(name, { corner, middles: [] });
      meeting.get(name).middles.push(middle(one, other));
    }
  }
  for (const { corner, middles } of meeting.values()) {
    if (middles.length === 2) {
      context.moveTo(...middles[0]);
      context.quadraticCurveTo(...corner, ...middles[1]);
    } else {
      for (const from of middles) {
        context.moveTo(...from);
        context.lineTo(...corner);
      }
    }
  }
}
