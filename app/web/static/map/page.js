// The map page: Leaflet over our own canvas tiles, the panel, and one cursor for mouse and keys.
import { Control, DomEvent, DomUtil, Layer, Map as LeafletMap } from "../vendor/leaflet/leaflet-src.esm.js";
import { Counters } from "./counters.js";
import { Explainer } from "./explain.js";
import { Gestures } from "./gestures.js";
import { DOUBLING, FARTHEST, Ground, PLANE, Tiles, stepOf } from "./ground.js";
import { Lattice } from "./lattice.js";
import { Looks } from "./looks.js";
import { Overlay } from "./overlay.js";
import { GroundPainter, NAMED } from "./painter.js";
import { Panel } from "./panel.js";

const NEAREST = 26; // zoom: a corner radius of 90 pixels

// Hide the counters, fit the whole map, magnify.
const ViewButtons = Control.extend({
  options: { position: "topleft" },

  initialize(ground, counters) {
    Object.assign(this, { ground, counters });
  },

  onAdd(map) {
    const bar = DomUtil.create("div", "leaflet-bar view-buttons");
    const button = (text, title, act) => {
      const made = DomUtil.create("button", "", bar);
      Object.assign(made, { type: "button", textContent: text, title });
      made.setAttribute("aria-label", title);
      DomEvent.on(made, "click", () => act(made));
      return made;
    };
    button("▢", "Hide the counters", (made) => {
      const hidden = map.getContainer().classList.toggle("bare");
      made.setAttribute("aria-pressed", String(hidden));
    });
    button("⤢", "The whole map", () => map.fitBounds(this.ground.bounds, { padding: [8, 8] }));
    button("⌕", "Magnify", () => map.setZoom(Math.min(map.getZoom() + DOUBLING, NEAREST)));
    DomEvent.disableClickPropagation(bar);
    return bar;
  },
});

const element = document.getElementById("map");
const panel = new Panel(document.getElementById("panel"), document.getElementById("counters"), document.getElementById("said"));

panel.say("Loading the map …");
try {
  await start();
  element.dataset.ready = "";
  panel.say(panel.verdict);
} catch (error) {
  panel.say(`${error.message} Reload the page to try again.`);
  throw error;
}

async function start() {
  const { api, legend, orientation, bounds, levels } = element.dataset;
  const ground = new Ground(api, new Lattice(orientation === "pointed"), JSON.parse(bounds), JSON.parse(levels));
  const looks = await Looks.load(legend);
  // until now the server's drawing was seen in its place
  document.querySelector(".drawn").remove();
  element.hidden = false;
  const map = new LeafletMap(element, {
    crs: PLANE, keyboard: false, attributionControl: false, minZoom: FARTHEST, maxZoom: NEAREST, zoomSnap: 1, zoomDelta: 2, wheelPxPerZoomLevel: 25,
    maxBounds: ground.bounds.pad(0.4), fadeAnimation: false,
  });
  map.fitBounds(ground.bounds, { padding: [8, 8] });
  map.setMinZoom(map.getZoom() - 2);
  const painter = new GroundPainter(ground, looks);
  const load = (box, scale) => ground.load(box, stepOf(scale));
  const tiles = new Tiles((...tile) => painter.paint(...tile), {}, load);
  // upon the counters and the rims of what was found
  Object.assign(map.createPane("words").style, { zIndex: 655, pointerEvents: "none" });
  const words = new Tiles((...tile) => painter.words(...tile), { pane: "words", blank: (scale) => scale < NAMED }, load).addTo(map);
  const painted = new Promise((resolve) => tiles.once("load", resolve));
  tiles.on("tileerror", ({ error }) => panel.say(`${error.message} Reload the page to try again.`));
  tiles.addTo(map);
  const counters = new Counters(map, ground, panel.counters);
  const overlay = new Overlay(map, ground, looks, counters);
  const explainer = new Explainer(map, ground, counters);
  const gestures = new Gestures(map, ground, counters, overlay, panel, explainer);
  new ViewButtons(ground, counters).addTo(map);
  looks.onChange(() => {
    tiles.redraw();
    words.redraw();
    gestures.show(true);
  });
  addLayerSwitches(map, painter, [tiles, words], counters);
  gestures.listen();
  gestures.show(true);
  gestures.frame();
  await painted;
}

function addLayerSwitches(map, painter, painted, counters) {
  const names = { patterns: "Patterns", sides: "Hexsides", paths: "Ways", artwork: "Artwork and crests", levels: "Levels", labels: "Labels" };
  const Switch = Layer.extend({
    initialize(key) { this.key = key; },
    onAdd() { this.set(true); },
    onRemove() { this.set(false); },
    set(shown) {
      if (painter.shown[this.key] === shown) return;
      painter.shown[this.key] = shown;
      painted.forEach((tiles) => tiles.redraw());
    },
  });
  const switches = Object.fromEntries(Object.entries(names).map(([key, name]) => [name, new Switch(key).addTo(map)]));
  new Control.Layers(null, { ...switches, Units: counters.units, Markers: counters.markers }).addTo(map);
}
