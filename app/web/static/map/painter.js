// How the ground of a map looks: terrain, shores, slopes, ways and words, painted on canvas tiles.
import { meets, stepOf } from "./ground.js";
import { STEPS } from "./lattice.js";
import { pieces, traceWater, traceWay } from "./outlines.js";

const SOFT = 4; // pixels of a corner radius in which light and shade are painted, to be softened
const FLOWING = new Set(["river", "stream"]); // hexsides without corners
const DEEPENING = new Set(["sea", "ocean"]);
const FADING = [[3, 0.25], [2, 0.45], [1, 1]]; // of the water beyond a map: the farthest first, what is nearer upon it
const SHADING = 0.05; // how dark or light a degree of shade or light is
const NAMES = 8; // plane units around a tile within which names may be in each other's way
export const NAMED = 7; // pixels of a corner radius from which on anything is written
const SMALLEST = 8; // pixels of a word: below, nobody can read it
const [BELOW, ABOVE] = [-0.88, 0.89]; // between which a hex has its counters and its number: names end or begin here

export class GroundPainter {
  constructor(ground, looks) {
    this.ground = ground;
    this.looks = looks;
    this.shown = { patterns: true, sides: true, paths: true, artwork: true, levels: true, labels: true };
  }

  paint(context, box, scale, pixels) {
    const step = stepOf(scale);
    const hexes = this.ground.in(box, step, "hexes");
    const near = step === 1;
    if (!near) this.afar(context, this.ground.shores(box, step), step);
    if (!hexes.length) return;
    context.lineJoin = context.lineCap = "round";
    const wide = [box[0] - 2, box[1] - 2, box[2] + 2, box[3] + 2];
    const waters = near ? this.ground.lands(box).flatMap((land) => land.waters).filter(({ x, y }) => meets([x, y, x, y], wide)) : [];
    this.beyond(context, waters, box);
    this.terrain(context, hexes, scale, step);
    if (near) this.cutOff(context, [...hexes, ...waters], scale);
    if (near) this.depths(context, hexes);
    if (this.shown.artwork) this.artwork(context, box, scale, step);
    if (this.shown.levels) this.heights(context, hexes, step);
    if (this.shown.levels && near) this.slopes(context, hexes, box);
    if (this.shown.levels && scale >= 5) this.contours(context, box, scale);
    if (scale >= 6) this.grid(context, hexes, scale);
    if (near) this.coast(context, hexes, scale);
    if (this.shown.sides && scale >= 4) this.sides(context, box, scale);
    if (this.shown.paths) this.paths(context, box, scale, step);
    if (this.shown.artwork) this.crests(context, box, scale, step);
    if (scale >= 12) this.dots(context, box, hexes);
    if (0.2 * scale >= SMALLEST && this.shown.labels) this.features(context, box, hexes, scale, pixels);
  }

  features(context, box, hexes, scale, pixels) {
    const write = this.writer(context, this.named(box, scale), scale, pixels);
    for (const hex of hexes) {
      // a coast is seen
      const printed = hex.features.filter((word) => word !== "coast");
      if (printed.length) write(printed.join(" ").replaceAll("_", " "), hex.x, hex.y - 0.42, 0.2 * scale, this.looks.inks.level);
    }
  }

  // Where a shore ends the map: the water beyond, fading away.
  beyond(context, waters, box) {
    if (!waters.length) return;
    this.soft(context, box, (small) => {
      small.fillStyle = this.looks.terrain("sea");
      // what is nearer lies upon what is farther, so that no seams are seen
      for (const [depth, alpha] of FADING) {
        this.trace(small, waters.filter((water) => water.depth <= depth));
        small.globalAlpha = alpha;
        small.fill();
      }
    });
  }

  // The same from afar, where one hex stands for several.
  afar(context, shores, step) {
    context.fillStyle = this.looks.terrain("sea");
    for (const [reach, alpha] of [[4.5, 0.3], [3.5, 0.45], [2.5, 1]]) {
      context.beginPath();
      for (const { x, y } of shores) {
        context.moveTo(x + reach * step, y);
        context.arc(x, y, reach * step, 0, 2 * Math.PI);
      }
      context.globalAlpha = alpha;
      context.fill();
    }
    context.globalAlpha = 1;
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

  terrain(context, hexes, scale, step) {
    const groups = Map.groupBy ? Map.groupBy(hexes, (hex) => hex.terrain) : groupBy(hexes);
    for (const [word, group] of groups) {
      this.trace(context, group, step);
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
      for (const cut of hex.shape.cuts) {
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
      this.trace(context, hexes.filter((hex) => DEEPENING.has(hex.terrain) && hex.shape.depth === deep));
      context.globalAlpha = 0.14 * (deep - 1);
      context.fill();
    }
    context.globalAlpha = 1;
  }

  // The line between land and sea, with foam along it.
  coast(context, hexes, scale) {
    context.beginPath();
    for (const hex of hexes) {
      for (const [from, corner, to] of hex.shape.shore) {
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
      for (const { light, face } of hex.shape.slopes) {
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

  // From afar a hex is as large as those it stands for.
  trace(context, hexes, step = 1) {
    context.beginPath();
    const [[ax, ay], [bx, by], [cx, cy], [dx, dy], [ex, ey], [fx, fy]] = this.ground.lattice.corners.map(([x, y]) => [step * x, step * y]);
    // written out: most of the time of a tile is spent here
    for (const { x, y } of hexes) {
      context.moveTo(x + ax, y + ay);
      context.lineTo(x + bx, y + by);
      context.lineTo(x + cx, y + cy);
      context.lineTo(x + dx, y + dy);
      context.lineTo(x + ex, y + ey);
      context.lineTo(x + fx, y + fy);
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
          const other = hex.beside(dq, dr);
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
  heights(context, hexes, step) {
    const { levels } = this.ground;
    context.fillStyle = this.looks.inks.height;
    for (const level of levels.slice(1)) {
      this.trace(context, hexes.filter((hex) => hex.level === level), step);
      context.globalAlpha = Math.min(0.24, 0.06 * (level - levels[0]));
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

  paths(context, box, scale, step) {
    // those of a kind together, so that no casing crosses a way that it meets; the widest upon the others
    const kinds = Map.groupBy(this.ground.across(box, step, "paths"), ({ kind }) => kind);
    const strokes = [...kinds].map(([kind, ways]) => [this.looks.stroke("paths", kind), ways]);
    for (const [stroke, ways] of strokes.sort(([one], [other]) => one.width - other.width)) {
      context.beginPath();
      ways.forEach(({ points }) => traceWay(context, points));
      this.line(context, stroke, scale);
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

  // What is written, upon counters too: names, where they leave room for one another, and from 40 pixels a hex on numbers.
  words(context, box, scale, pixels) {
    if (!this.shown.labels) return;
    const { inks } = this.looks;
    const hexes = this.ground.in(box, stepOf(scale), "hexes");
    const names = scale >= NAMED ? this.named(box, scale) : [];
    const write = this.writer(context, names, scale, pixels);
    for (const hex of scale >= 20 ? hexes : []) {
      write(hex.label, hex.x, hex.y + 0.7, Math.max(SMALLEST, 0.2 * scale), inks.label);
      if (this.shown.levels && hex.level !== this.ground.levels[0] && hex.shape.crowns) write(`${hex.level}`, hex.x - 0.62, hex.y - 0.47, Math.max(SMALLEST, 0.24 * scale), inks.level, "700");
    }
    if (scale >= 20) this.codes(box, hexes, scale, write);
    for (const { text, x, y, size } of names.filter(({ field }) => meets(field, box))) pixels(x, y, () => this.word(context, text, size, inks.name, "600"));
  }

  // Writes whatever can be read and lies on no name.
  writer(context, names, scale, pixels) {
    context.textAlign = "center";
    context.textBaseline = "middle";
    return (text, x, y, size, ink, weight) => {
      if (size < SMALLEST || names.some(({ field }) => meets(field, fieldOf(text, x, y, size / scale)))) return;
      pixels(x, y, () => this.word(context, text, size, ink, weight));
    };
  }

  // Where names are written: below the counters of their hex, else above them; who finds no room has none, and hexes that
  // lie together and share a name have it once. Names are placed in the order of their hexes, those around a tile too, so
  // that every tile finds the same.
  named(box, scale) {
    const size = Math.max(0.26 * scale, 11);
    const half = 0.55 * size / scale;
    const around = [box[0] - NAMES, box[1] - NAMES, box[2] + NAMES, box[3] + NAMES];
    const placed = [];
    const named = this.ground.in(around, 1, "hexes").filter((hex) => hex.name).sort((one, other) => one.q - other.q || one.r - other.r);
    for (const [n, { name: text, x, y: middle }] of named.entries()) {
      if (named.slice(0, n).some((other) => other.name === text && Math.hypot(other.x - x, other.y - middle) < 2)) continue;
      for (const y of [middle + BELOW + half, middle + ABOVE + half]) {
        const field = fieldOf(text, x, y, size / scale);
        if (placed.some((other) => meets(other.field, field))) continue;
        placed.push({ text, x, y, size, field });
        break;
      }
    }
    return placed;
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
  dots(context, box, hexes) {
    const dots = new Map();
    for (const { hex, color, role } of this.marked(box, hexes)) {
      if (role === "at") continue;
      const n = dots.get(hex) ?? 0;
      dots.set(hex, n + 1);
      this.dot(context, [hex.x, hex.y], n, this.looks.dot(color), role === "intense");
    }
  }

  // Objectives, printed positions and other places that the map marks: at the left corner, beside counters.
  codes(box, hexes, scale, write) {
    for (const { hex, code, square, ...mark } of this.marked(box, hexes)) {
      if (square.writes({ code, ...mark }, hex)) write(code, hex.x - 0.74, hex.y, code.length > 2 ? 0.16 * scale : Math.max(SMALLEST, 0.24 * scale), this.looks.inks.level, "700");
    }
  }

  // What the map marks in some hexes, each with its hex.
  *marked(box, hexes) {
    const here = new Map(hexes.map((hex) => [`${hex.q},${hex.r}`, hex]));
    for (const key of this.ground.keys(box, 1)) {
      const square = this.ground.loaded(...key);
      for (const mark of square?.marked ?? []) {
        const hex = here.get(mark.place);
        if (hex && square.own(hex)) yield { ...mark, hex, square };
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

// What a word takes of the plane, its letters so high.
function fieldOf(text, x, y, size) {
  const [across, up] = [0.275 * size * text.length, 0.55 * size];
  return [x - across, y - up, x + across, y + up];
}
