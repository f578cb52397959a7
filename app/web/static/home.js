// The home page's living map: a line of sight, dragged from hex to hex and ruled on as it goes.
const SVG = "http://www.w3.org/2000/svg";
const section = document.querySelector(".living");
if (section) live(section.querySelector("svg.board"));

function live(board) {
  section.querySelector(".living-hint").hidden = false;
  const fields = new Map([...board.querySelectorAll(".field")].map((field) => [field.dataset.hex, field]));
  const layer = board.appendChild(document.createElementNS(SVG, "g"));
  layer.setAttribute("class", "asked-here");
  let from = null;
  let asked = null; // the last that was asked for
  let busy = null;

  const hexUnder = ({ clientX, clientY }) => document.elementFromPoint(clientX, clientY)?.closest(".field")?.dataset.hex;
  board.addEventListener("pointerdown", (event) => {
    from = hexUnder(event) ?? null;
    if (!from) return;
    event.preventDefault();
    board.setPointerCapture(event.pointerId);
    // what the server drew of another line goes
    board.querySelectorAll("[class^=mark-], .ray").forEach((drawn) => layer.contains(drawn) || drawn.remove());
    draw({ ends: [from], blocked: [], line: [] });
  });
  board.addEventListener("pointermove", (event) => {
    const to = from && hexUnder(event);
    if (!to || to === from) return;
    ask(from, to);
  });
  for (const end of ["pointerup", "pointercancel"]) board.addEventListener(end, () => (from = null));

  // One question at a time; the newest is asked when an answer is there.
  async function ask(start, to) {
    if (asked === `${start} ${to}`) return;
    asked = `${start} ${to}`;
    if (busy) return;
    const mine = asked;
    const address = new URL(section.dataset.page, location.href);
    address.search = new URLSearchParams({ tool: "los", from: `hex:${start}`, to: `hex:${to}` });
    section.querySelector("[data-open]").href = address.href;
    address.searchParams.set("part", "panel");
    busy = fetch(address);
    try {
      const answer = await busy;
      const page = new DOMParser().parseFromString(await answer.text(), "text/html");
      const ruling = page.querySelector("#ruling");
      if (ruling) show(ruling, [start, to]);
    } finally {
      busy = null;
    }
    if (asked !== mine) {
      const [newest, target] = asked.split(" ");
      asked = null;
      ask(newest, target);
    }
  }

  function show(ruling, ends) {
    const draws = JSON.parse(ruling.dataset.draws);
    draw({ ends, blocked: draws.blocked });
    const proof = ruling.querySelector(".proof");
    if (proof) section.querySelector(".living-proof").replaceChildren(proof);
  }

  const center = (label) => {
    const { x, y, width, height } = fields.get(label).getBBox();
    return [x + width / 2, y + height / 2];
  };

  function draw({ ends, blocked }) {
    layer.replaceChildren();
    for (const label of blocked) label.split("|").filter((one) => fields.has(one)).forEach((one) => outline(one, "mark-blocks", 10));
    ends.forEach((label) => outline(label, "mark-end", 10));
    if (ends.length === 2) {
      const d = `M${ends.map((label) => center(label).join(" ")).join("L")}`;
      stroke(d, "mark-casing", 14);
      stroke(d, blocked.length ? "mark-blocks" : "mark-answer", 7);
    }
  }

  function outline(label, mark, width) {
    stroke(fields.get(label).getAttribute("d"), "mark-casing", width + 6);
    stroke(fields.get(label).getAttribute("d"), mark, width);
  }

  function stroke(d, mark, width) {
    const path = layer.appendChild(document.createElementNS(SVG, "path"));
    for (const [name, value] of Object.entries({ d, class: mark, fill: "none", "stroke-width": width, "stroke-linejoin": "round", "stroke-linecap": "round" })) path.setAttribute(name, value);
  }
}
