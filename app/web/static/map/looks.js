// How terrain, hexsides and paths look: the legend of a game, by day and by night.
const night = matchMedia("(prefers-color-scheme: dark)");

export class Looks {
  constructor(legend) {
    this.legend = legend;
    this.images = new Map();
    this.patterns = new Map();
  }

  static async load(address) {
    const looks = new Looks(await (await fetch(address)).json());
    await looks.drawImages();
    return looks;
  }

  get dark() {
    return night.matches;
  }

  onChange(redraw) {
    night.addEventListener("change", async () => {
      await this.drawImages();
      redraw();
    });
  }

  // Patterns are small SVG pictures; a canvas wants them loaded before it paints.
  async drawImages() {
    this.patterns.clear();
    await Promise.all(Object.entries(this.legend.terrain).map(async ([word, kind]) => {
      const { tile } = kind;
      if (!tile?.shapes) return;
      const image = new Image();
      const size = 4;
      image.src = "data:image/svg+xml," + encodeURIComponent(
        `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${tile.width} ${tile.height}" ` +
        `width="${tile.width * size}" height="${tile.height * size}" color="${this.ink(kind)}">${tile.shapes}</svg>`);
      try {
        await image.decode();
        this.images.set(word, image);
      } catch { /* a terrain without its pattern is still told by its colour */ }
    }));
  }

  side(kind) {
    return this.dark ? kind.dark : kind.light;
  }

  ink(kind) {
    return this.side(kind).ink;
  }

  // The colour of a terrain; of the sea, which may lie beyond any map, in every game.
  terrain(word) {
    const kind = this.legend.terrain[word];
    return kind ? this.side(kind).fill : this.inks.water;
  }

  // The pattern of a terrain for a canvas whose units are those of the plane, `scale` pixels each.
  pattern(context, word, scale) {
    const image = this.images.get(word);
    if (!image) return null;
    const key = `${word} ${scale}`;
    let found = this.patterns.get(key);
    if (!found) {
      const { width, height } = this.legend.terrain[word].tile;
      const small = document.createElement("canvas");
      small.width = Math.max(4, Math.round(width / 100 * scale));
      small.height = Math.max(4, Math.round(height / 100 * scale));
      small.getContext("2d").drawImage(image, 0, 0, small.width, small.height);
      found = context.createPattern(small, "repeat");
      found.setTransform(new DOMMatrix([width / 100 / small.width, 0, 0, -height / 100 / small.height, 0, 0]));
      this.patterns.set(key, found);
    }
    return found;
  }

  stroke(layer, word) {
    return this.legend[layer][word];
  }

  // The ink of a printed position and its fire dots.
  dot(word) {
    const { dots } = this.legend;
    return dots[word] ?? dots[""];
  }

  // Other colours of a map; the halo lets words and lines stand out from any ground.
  get inks() {
    const inks = this.side(this.legend.inks);
    return { ...inks, halo: `${inks.paper}bf` };
  }
}
