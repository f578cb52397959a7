// The lattice in the display plane: y up, corner radius 1. A hex is (q, r); see db/labels.py.
const ROOT = Math.sqrt(0.75);
export const STEPS = [[0, -1], [1, -1], [1, 0], [0, 1], [-1, 1], [-1, 0]];
export const CORNERS = [[2, 0], [1, 1], [-1, 1], [-2, 0], [-1, -1], [1, -1]];

export class Lattice {
  // `pointed` maps are the lattice's picture turned by a quarter circle.
  constructor(pointed) {
    this.pointed = pointed;
    this.corners = CORNERS.map(([x, y]) => this.place(x, y));
  }

  place(x, y) {
    return this.pointed ? [-ROOT * y, -x / 2] : [x / 2, -ROOT * y];
  }

  center(q, r) {
    return this.place(3 * q, 2 * r + q);
  }

  // The hex under a point of the plane, rounded as cube coordinates are.
  at(px, py) {
    const [x, y] = this.pointed ? [-2 * py, -px / ROOT] : [2 * px, -py / ROOT];
    const q = x / 3;
    const r = (y - q) / 2;
    let [a, b, c] = [Math.round(q), Math.round(r), Math.round(-q - r)];
    const [da, db, dc] = [Math.abs(a - q), Math.abs(b - r), Math.abs(c + q + r)];
    if (da > db && da > dc) a = -b - c;
    else if (db > dc) b = -a - c;
    return [a, b];
  }

  // The neighbour that lies most nearly in a direction of the screen. Where two lie alike, a walk
  // goes to and fro between them, and so stays on its row.
  toward([q, r], dx, dy) {
    const ranked = STEPS.map(([dq, dr]) => {
      const [x, y] = this.center(dq, dr);
      return { place: [q + dq, r + dr], fit: x * dx + y * dy, up: this.pointed ? -x : y };
    }).sort((one, other) => other.fit - one.fit || other.up - one.up);
    const tied = Math.abs(ranked[0].fit - ranked[1].fit) < 1e-9;
    return ranked[tied && Math.abs(q % 2) === 1 ? 1 : 0].place;
  }

  // The two hexes of a hexside by its doubled cell.
  sideHexes(x, y) {
    const odd = (n) => Math.abs(n % 2);
    const dx = odd(x);
    const dy = dx === 0 ? odd(y) : -odd(y);
    return [[(x - dx) / 2, (y - dy) / 2], [(x + dx) / 2, (y + dy) / 2]];
  }

  // The two ends of the side that two neighbours share.
  side(one, other) {
    const [ax, ay] = this.center(...one);
    const [bx, by] = this.center(...other);
    const [mx, my] = [(ax + bx) / 2, (ay + by) / 2];
    const [nx, ny] = [-(by - ay) / (2 * Math.sqrt(3)), (bx - ax) / (2 * Math.sqrt(3))];
    return [[mx + nx, my + ny], [mx - nx, my - ny]];
  }
}
