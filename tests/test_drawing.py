"""Drawings: every kind of every game can be drawn, what is drawn is all there, and colours can be told apart."""

from __future__ import annotations

import itertools
import math
import re
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from typing import Any, get_args

import pytest
from markupsafe import Markup
from sqlalchemy.engine import URL, Connection

from app.drawing import counter, describe, marker, miniature, svg
from app.drawing.board import COUNTER, HIGHEST, WIDEST
from app.drawing.counters import ICONS, SYMBOLS
from app.drawing.ground import stroke_sample, swatch
from app.drawing.miniature import FEW, HALF, units_of
from app.drawing.palette import (
    ANYONE,
    FIRE,
    HEXSIDES,
    MARKS,
    PATHS,
    PATTERNS,
    SIDES,
    SIGNS,
    TERRAIN,
    at_night,
    dark_inks,
    from_lab,
    lab,
    linear,
    stylesheet,
    written,
)
from app.referee.picture import window
from db.counters import MARKERS, UNITS, BobUnit, CcpUnit, CssUnit, DdpUnit, FpbUnit, Unit
from db.database import make_engine
from db.inventory import map_facts, maps, positions
from db.labels import Axial, Scheme
from db.map_draft import (
    GRID,
    AreaDraft,
    CrestDraft,
    FeatureDraft,
    HexDraft,
    MapDraft,
    PathDraft,
    vocabulary,
)
from db.position_draft import MarkerDraft, PositionDraft
from db.rulesets import CODES, printed, read_ruleset
from importers.cases import read_position
from importers.positions import write_position

NAMESPACE = "{http://www.w3.org/2000/svg}"
POINTED = Scheme(orientation="pointed")


def parsed(picture: Markup) -> ET.Element:
    """A drawing as XML, checked for what the content security policy and a page of many drawings need."""
    root = ET.fromstring(str(picture))
    assert root.tag == f"{NAMESPACE}svg"
    ids = [element.get("id") for element in root.iter() if element.get("id")]
    assert len(ids) == len(set(ids))
    for element in root.iter():
        assert element.get("style") is None
        assert element.tag not in (f"{NAMESPACE}style", f"{NAMESPACE}script")
        for value in element.attrib.values():
            if value.startswith("url("):
                assert value[5:-1] in ids, value
            assert "nan" not in value
            assert "inf" not in value
    return root


def titles(root: ET.Element) -> list[str]:
    return [element.text or "" for element in root.iter(f"{NAMESPACE}title")]


def texts(root: ET.Element) -> list[str]:
    return [element.text or "" for element in root.iter(f"{NAMESPACE}text")]


def plain(ruleset: str = "css", extent: tuple[str, str] = ("10.10", "14.14"), **board: Any) -> PositionDraft:
    """An empty position on plain ground."""
    words = vocabulary(ruleset)
    scheme = board.pop("scheme", words.scheme)
    hexes = {place: HexDraft(words.plain, words.base_level) for place in scheme.rectangle(*extent)}
    return PositionDraft(ruleset, MapDraft(ruleset, scheme, "test", hexes=hexes, **board))


def kinds_of(form: type[Unit]) -> list[str]:
    found: list[str] = []

    def collect(annotation: Any) -> None:
        for one in get_args(annotation):
            found.append(one) if isinstance(one, str) else collect(one)

    collect(form.model_fields["kind"].annotation)
    return found


# Whole positions


@pytest.fixture(scope="module")
def demo(demo_url: URL) -> Iterator[Connection]:
    engine = make_engine(demo_url)
    with engine.connect() as connection:
        yield connection
    engine.dispose()


def saved(connection: Connection, name: str) -> PositionDraft:
    text = write_position(connection, name).replace(name, "read-again", 1)
    return read_position(text, name, connection)


def test_every_counter_of_every_demo_position_is_drawn(demo: Connection) -> None:
    for entry in positions(demo):
        position = saved(demo, entry.name)
        drawn = parsed(svg(position, {}, window=False))
        told = titles(drawn)
        stacks: dict[Axial | None, int] = {}
        for code, (unit, place) in position.units.items():
            stacks[place] = stacks.get(place, 0) + 1
            if place is not None and stacks[place] <= 3:
                assert f"{code}: {describe(unit)}" in told, entry.name
        assert sum(
            title.split(" ")[0] in {m.kind.split("_")[0] for m in position.markers} for title in told
        ) >= len(position.markers)
        labels = {position.board.scheme.label(place) for place in position.board.hexes}
        assert labels <= set(texts(drawn))
        assert {ground.name for ground in position.board.hexes.values() if ground.name} <= set(texts(drawn))
        size = len(str(svg(position, {})))
        assert size < 300_000, "a drawing that a page can hold"


@pytest.mark.parametrize("ruleset", CODES)
def test_everything_a_map_can_have_is_drawn(ruleset: str) -> None:
    words = vocabulary(ruleset)
    position = plain(ruleset, extent=("10.10", "19.19") if ruleset == "css" else ("A1", "J9") if ruleset in ("ccp", "bob") else ("0101", "1009"))  # fmt: skip
    board = position.board
    places = list(board.hexes)
    for place, terrain in zip(places, words.terrain, strict=False):
        board.hexes[place] = HexDraft(terrain, words.base_level + 1, tuple(words.features), "Named & <odd>")
    for n, kind in enumerate(words.hexsides):
        place, other = places[3 * n], places[3 * n].beside(4)
        board.hexsides.add((place.q + other.q, place.r + other.r, kind))
    board.paths = [PathDraft(kind, (places[n], places[n].beside(4))) for n, kind in enumerate(words.paths)]
    corners = [(x * GRID, y * GRID) for x, y in places[0].corners]
    board.areas = [AreaDraft(terrain, (tuple(corners),)) for terrain in words.terrain]
    board.crests = [CrestDraft(1, tuple(corners[:3]))]
    board.features = {
        "B5": FeatureDraft("position", frozenset(places[:1]), frozenset(places[1:3]), frozenset(places[3:4]), {"color": "blue"}),
        "Reserve": FeatureDraft("box"),
    }  # fmt: skip
    position.markers = [MarkerDraft(kind, places[0]) for kind in MARKERS[ruleset]]
    drawn = parsed(svg(position, {}, window=False))
    classes = {word for element in drawn.iter() for word in (element.get("class") or "").split()}
    assert {f"fill-{terrain}" for terrain in words.terrain} <= classes
    assert {f"hexside-{kind}" for kind in words.hexsides} <= classes
    assert {f"path-{kind}" for kind in words.paths} <= classes
    assert "crest" in classes
    assert {"B5", "Named & <odd>"} <= set(texts(drawn))
    assert {feature.replace("_", " ") for feature in vocabulary(ruleset).features} <= set(titles(drawn))
    assert {kind.replace("_", " ") for kind in MARKERS[ruleset]} <= set(titles(drawn))


def test_what_a_ruling_marks_is_drawn() -> None:
    position = plain()
    at = position.board.scheme.hex
    marks = {
        at("10.10"): "end",
        at("13.13"): "end",
        at("11.11"): "line",
        at("12.12"): "blocks",
        at("14.14"): "answer",
    }
    bare = parsed(svg(position, {}))
    drawn = parsed(
        svg(
            position,
            marks,
            line=(at("10.10"), at("13.13")),
            path=[at("10.10"), at("10.11"), at("10.12")],
            costs={at("10.11"): "1½", at("14.10"): "<3>"},
        )
    )
    classes = [element.get("class") for element in drawn.iter()]
    for mark in MARKS:
        assert f"mark-{mark}" in classes
        assert f"mark-{mark}" not in [element.get("class") for element in bare.iter()]
    assert classes.count("ray") == 2
    assert {"1½", "<3>"} <= set(texts(drawn))


def test_costs_stand_where_counters_and_ways_leave_room() -> None:
    position = plain()
    first, second, free, taken = map(position.board.scheme.hex, ("12.11", "12.12", "10.10", "13.13"))
    position.units["A"] = CssUnit(id="A", side="us", kind="infantry"), taken
    costs = {second: "2.5", free: "3", taken: "4"}
    drawn = parsed(svg(position, {}, path=[first, second], costs=costs))
    found = {text.text: float(text.get("x", 0)) for text in drawn.iter(f"{NAMESPACE}text")}
    [level] = [float(text.get("y", 0)) for text in drawn.iter(f"{NAMESPACE}text") if text.text == "2.5"]

    def center(place: Axial) -> tuple[float, float]:
        x, y = place.center
        return 50 * x, 50 * 3**0.5 * y

    assert found["2.5"] == center(second)[0]
    assert abs(level - 10 - (center(first)[1] + center(second)[1]) / 2) < 1, "on the side it enters by"
    assert found["3"] == center(free)[0]
    assert found["4"] <= center(taken)[0] - COUNTER / 2, "beside the counter"


def test_a_miniature_has_every_hex_every_way_and_who_stands_there(demo: Connection) -> None:
    for entry in maps(demo):
        facts = map_facts(demo, entry.name)
        drawn = parsed(miniature(demo, entry.name))
        colours = {path.get("stroke") for path in drawn}
        assert {TERRAIN[word].fill for word in facts.terrain} <= colours
        ground = [path for path in drawn if float(path.get("stroke-width", 0)) != 3]
        outlines = "".join(path.get("d", "") for path in ground)
        if entry.hexes <= FEW:
            assert outlines.count("z") == entry.hexes
        else:
            ends = re.findall(r"M\S+ (\S+?)V([-\d.]+)", outlines)
            rows = sum(float(low) - float(high) for high, low in ends) / (2 * HALF)
            assert abs(rows - entry.hexes) < 2
            assert len(miniature(demo, entry.name)) < 100_000
        assert len(drawn) - len(ground) == sum(facts.paths.values())
    standing = units_of(demo, "orange-dawn")
    drawn = parsed(miniature(demo, "orange-beach", standing))
    cards = [card.get("fill") for card in drawn.iter(f"{NAMESPACE}rect")]
    assert len(cards) == len({(unit.q, unit.r) for unit in standing})
    assert set(cards) == {SIDES["japan"].card, SIDES["us"].card}


def test_what_was_found_keeps_its_colours_and_the_rest_lies_under_a_veil() -> None:
    position = plain(extent=("10.10", "16.16"))
    at = position.board.scheme.hex
    few = {at("12.12"): "answer", at("12.13"): "blocks", at("12.14"): "end", at("12.15"): "line"}
    many = dict.fromkeys(position.board.scheme.rectangle("11.11", "13.13"), "answer")
    for marks, veiled in ((few, 0), (many, 1)):
        drawn = parsed(svg(position, marks))
        classes = [element.get("class") or "" for element in drawn.iter()]
        assert classes.count("map-veil") == veiled
        rims = [element for element in drawn.iter() if (element.get("class") or "").startswith("mark-")]
        assert rims
        assert {element.get("fill") for element in rims} == {"none"}, "a rim, never a tint"


def test_a_coast_is_stroked_and_hexsides_are_thinner_within_one_terrain() -> None:
    position = plain(extent=("10.10", "14.14"))
    board = position.board
    assert b"map-coast" not in ET.tostring(parsed(svg(position, {}))), "no sea, no coast"
    island = board.scheme.hex("12.12")
    for place in board.hexes:
        board.hexes[place] = HexDraft("clear" if place == island else "sea", 0)
    drawn = parsed(svg(position, {}))
    by_class: dict[str, list[ET.Element]] = {}
    for path in drawn.iter(f"{NAMESPACE}path"):
        by_class.setdefault(path.get("class") or "", []).append(path)
    [coast], [foam] = by_class["map-coast"], by_class["map-foam"]
    assert (coast.get("d") or "").count("Q") == 6, "once around the island, round at its corners"
    assert coast.get("d") == foam.get("d")
    within, between = by_class["map-grid"]
    assert float(within.get("stroke-width", 0)) < float(between.get("stroke-width", 0))
    # those of the rim of the map are beside nothing
    assert (between.get("d") or "").count("M") >= 6
    assert by_class["map-deep"], "the sea is darker away from land"


def test_a_place_of_many_hexes_is_named_once_and_not_where_the_hex_says_it() -> None:
    position = plain(extent=("10.10", "14.14"))
    board, at = position.board, position.board.scheme.hex
    board.hexes[at("12.12")] = HexDraft("clear", 1, (), "Airstrip")
    board.hexes[at("12.13")] = HexDraft("clear", 1, (), "Airstrip")
    board.hexes[at("14.14")] = HexDraft("clear", 1, ("victory",))
    area = frozenset(board.scheme.rectangle("10.10", "11.14"))
    board.features = {
        "Set-up": FeatureDraft("area", area),
        "Airstrip": FeatureDraft("objective", frozenset({at("12.12"), at("12.13")})),
        "victory 14.14": FeatureDraft("objective", frozenset({at("14.14")})),
        "B5": FeatureDraft("position", frozenset({at("13.12"), at("13.14")})),
    }
    written = texts(parsed(svg(position, {}, window=False)))
    assert {word: written.count(word) for word in (*board.features, "B5")} == {
        "Set-up": 1,
        "Airstrip": 1,
        "victory 14.14": 0,
        "B5": 2,
    }, "hexes that lie apart each have it"


def test_names_are_written_upon_counters() -> None:
    position = plain()
    place = position.board.scheme.hex("12.12")
    position.board.hexes[place] = HexDraft("clear", 1, (), "Here")
    position.units["A"] = CssUnit(id="A", side="us"), place
    drawn = str(svg(position, {}))
    assert drawn.index('class="counter"') < drawn.index(">Here<")


def test_no_name_is_written_on_another() -> None:
    position = plain("fpb", ("0101", "0909"))
    for label in ("0404", "0604", "0503"):
        place = position.board.scheme.hex(label)
        position.board.hexes[place] = HexDraft("clear", 1, (), f"The long beach of {label}")
    drawn = parsed(svg(position, {}))
    names = [element for element in drawn.iter() if (element.text or "").startswith("The long")]
    at = {element.text: (float(element.get("x") or 0), float(element.get("y") or 0)) for element in names}
    assert len(at) >= 2
    for (one, (x, y)), (other, (u, v)) in itertools.combinations(at.items(), 2):
        assert abs(y - v) > 24 or abs(x - u) > 14 * len(one), (one, other)


def test_a_line_ends_in_the_centres_of_its_hexes() -> None:
    for scheme in (vocabulary("fpb").scheme, POINTED):
        position = plain("fpb", ("0101", "0505"), scheme=scheme)
        one, other = scheme.hex("0202"), scheme.hex("0404")
        drawn = parsed(svg(position, {}, line=(one, other)))
        ray = next(element for element in drawn.iter() if element.get("class") == "ray")
        d = (ray.get("d") or "").removeprefix("M").split("L")
        ends = [tuple(float(number) for number in point.split()) for point in d]
        for place, end in zip((one, other), ends, strict=True):
            x, y = place.center
            # the display plane of sql/gis/plane.sql, in hundredths and with y down
            wanted = (-y * math.sqrt(0.75), x / 2) if scheme is POINTED else (x / 2, y * math.sqrt(0.75))
            assert end == pytest.approx([100 * number for number in wanted], abs=0.1)


def test_teeth_point_to_the_lower_ground() -> None:
    position = plain()
    high, low = position.board.scheme.hex("12.12"), position.board.scheme.hex("12.13")
    position.board.hexes[high] = HexDraft("clear", 3)
    position.board.hexsides = {(high.q + low.q, high.r + low.r, "slope")}
    drawn = parsed(svg(position, {}))
    teeth = [element.get("d") or "" for element in drawn.iter() if element.get("class") == "hexside-slope"][1]
    assert teeth.count("M") > 2
    assert all(float(tooth.partition("l")[2].split()[1]) > 0 for tooth in teeth.split("M")[1:]), (
        "down is y up here"
    )


def test_the_window_holds_the_ends_and_is_not_too_large() -> None:
    position = plain(extent=("01.01", "60.60"))
    at = position.board.scheme.hex
    near = {at("30.30"): "end", at("32.30"): "end"}
    assert {position.board.scheme.label(place) for place in window(position, near)} >= {"28.28", "34.32"}
    assert len(window(position, near)) < 60
    far = {at("02.02"): "end", at("40.50"): "answer", at("02.58"): "answer"}
    shown = window(position, far, WIDEST, HIGHEST)
    assert at("02.02") in shown
    assert 0 < len(shown) <= WIDEST * HIGHEST
    assert len({place.q for place in shown}) <= WIDEST
    middle = {at("20.30"): "end", at("50.30"): "end", at("35.30"): "line"}
    assert at("35.30") in window(position, middle), "of a question that is too long the middle is kept"
    assert window(plain(), {}) == set(plain().board.hexes)


def test_a_drawing_of_a_part_says_so() -> None:
    position = plain(extent=("01.01", "60.60"))
    at = position.board.scheme.hex
    part = parsed(svg(position, {at("30.30"): "end"}))
    assert "of 3600 hexes" in (part.find(f"{NAMESPACE}desc").text or "")  # type: ignore[union-attr]
    assert "01.01" not in texts(part)
    assert "30.30" in texts(part)
    whole = parsed(svg(position, {at("30.30"): "end"}, window=False))
    assert "01.01" in texts(whole)
    # where a map is cut, roads and artwork are cut with it
    assert part.find(f"{NAMESPACE}mask") is not None
    assert whole.find(f"{NAMESPACE}mask") is None


# Counters


@pytest.mark.parametrize("ruleset", CODES)
def test_every_kind_of_unit_has_a_symbol_of_its_own_game(ruleset: str) -> None:
    side = {"ccp": "allied"}.get(ruleset, "us")
    pictures = {}
    for kind in kinds_of(UNITS[ruleset]):
        unit = UNITS[ruleset].model_validate({"id": "A", "side": side, "kind": kind})
        pictures[kind] = str(counter(unit, ruleset)).replace(kind.replace("_", " "), "")
        parsed(counter(unit, ruleset))
    alike = {("ambush", "decoy")}
    for (one, first), (other, second) in itertools.combinations(pictures.items(), 2):
        assert first != second or (one, other) in alike, (one, other)
    assert set(pictures) <= set(SYMBOLS)


@pytest.mark.parametrize("ruleset", CODES)
def test_every_kind_of_marker_has_a_picture(ruleset: str) -> None:
    for kind, says in MARKERS[ruleset].items():
        drawn = parsed(marker(kind, says.value and says.value[1], 2 if says.facing else None))
        assert kind in ICONS
        if says.value:
            assert str(says.value[1]) in texts(drawn)
        if says.facing:
            assert "side 2" in titles(drawn)[0]


@pytest.mark.parametrize(
    ("unit", "ruleset", "shown", "words"),
    [
        (CssUnit(id="A/1", side="us", fire={"value": 6, "type": "indirect", "range": 18}, defense=-1, movement="4.5", posture="column"),
         "css", {"A/1", "6", "18", "−1", "4½", "I"}, "us infantry column"),
        (CssUnit(id="HQ", side="japan", kind="hq", command_range=5, in_cave=True),
         "css", {"HQ", "(5)", "CAVE"}, "japan hq in cave"),
        (CcpUnit(id="Lt", side="allied", kind="leader", fp=1, range=2, movement=5, morale=9, command=3, broken=True),
         "ccp", {"1", "2", "5", "9", "3", "BROKEN"}, "allied leader broken"),
        (CcpUnit(id="T", side="japan", kind="team", weapon={"name": "Mortar", "fp": 8, "range": (2, 10)}, suppressed=True, veteran=True),
         "ccp", {"Mortar 8/2–10", "Ø", "SUPP", "VET"}, "japan team suppressed veteran"),
        (FpbUnit(id="1/161", side="us", attack=4, defense=3, movement=6, depleted=True, zoc=False),
         "fpb", {"4-3-6", "DEPL", "NO ZOC"}, "us infantry depleted"),
        (BobUnit(id="G1", side="german", fp=(5, 7), melee_fp=6, range=4, casualty=(6, 3), suppression="full", concealed=2),
         "bob", {"5/7", "6", "4", "6/3", "FULL SUPP", "?"}, "german squad fully suppressed"),
        (DdpUnit(id="E", side="us", kind="engineer", strength=2, range=6, steps=2, symbol="star", weapons=("FT", "DE"), disrupted=True),
         "ddp", {"2", "6", "FT DE", "DISR"}, "us engineer disrupted"),
        (DdpUnit(id="J1", side="japan", strength=3, requires=("FL",), elite=True, tank=True, revealed=True),
         "ddp", {"3", "FL", "ELITE"}, "japan tank elite"),
    ],
    ids=lambda value: value if value in CODES else "",
)  # fmt: skip
def test_a_counter_shows_all_that_it_says(unit: Unit, ruleset: str, shown: set[str], words: str) -> None:
    drawn = parsed(counter(unit, ruleset))
    seen = {part for text in texts(drawn) for part in (text, *text.split())} | set(texts(drawn))
    assert shown <= seen, shown - seen
    assert describe(unit) == words
    assert titles(drawn) == [f"{unit.id}: {words}"]


def test_what_a_counter_does_not_say_is_not_drawn() -> None:
    drawn = parsed(counter(CssUnit(id="A", side="us"), "css"))
    assert set(texts(drawn)) == {"A", "I"}
    hidden = parsed(counter(DdpUnit(id="J", side="japan", tank=True), "ddp"))
    assert "?" in texts(hidden), "a unit that is not revealed shows no type"


def test_facings_are_six_and_turn_with_a_pointed_map() -> None:
    def wedge(facing: int, turn: int = 0) -> str:
        drawn = parsed(counter(BobUnit(id="A", side="us", facing=facing), "bob", turn))
        return next(t for e in drawn.iter() if "rotate" in (t := e.get("transform") or ""))

    assert len({wedge(facing) for facing in range(1, 7)}) == 6
    assert wedge(1).endswith("rotate(0)")
    assert wedge(4).endswith("rotate(180)")
    assert wedge(1, 90).endswith("rotate(90)")


def test_odd_names_stay_text() -> None:
    drawn = parsed(counter(CssUnit(id='<b>&"', side="us"), "css"))
    assert '<b>&"' in texts(drawn)


# Colours


def test_every_word_of_every_game_has_a_look() -> None:
    for ruleset in CODES:
        kinds = read_ruleset(ruleset).terrain
        assert set(kinds.terrain) <= set(TERRAIN)
        assert set(kinds.hexsides) <= set(HEXSIDES)
        assert set(kinds.paths) <= set(PATHS)
        assert set(vocabulary(ruleset).features) <= set(SIGNS) | set(TERRAIN)
    used = {word for ruleset in CODES for word in read_ruleset(ruleset).terrain.terrain}
    assert set(TERRAIN) == used, "no look without a terrain"
    assert {look.pattern for look in TERRAIN.values() if look.pattern} == set(PATTERNS)
    for word in TERRAIN:
        parsed(swatch(word))
    for kind, strokes in (("hexside", HEXSIDES), ("path", PATHS)):
        for word in strokes:
            parsed(stroke_sample(kind, word))


def dichromat(colour: str, kind: str) -> str:
    """A colour as somebody without red (protan) or green (deutan) cones sees it, after Viénot 1999."""
    red, green, blue = linear(colour)
    long = 17.8824 * red + 43.5161 * green + 4.11935 * blue
    middle = 3.45565 * red + 27.1554 * green + 3.86714 * blue
    short = 0.0299566 * red + 0.184309 * green + 1.46709 * blue
    if kind == "protan":
        long = 2.02344 * middle - 2.52581 * short
    else:
        middle = 0.494207 * long + 1.24827 * short
    return written(
        0.0809444479 * long - 0.130504409 * middle + 0.116721066 * short,
        -0.0102485335 * long + 0.0540193266 * middle - 0.113614708 * short,
        -0.000365296938 * long - 0.00412161469 * middle + 0.693511405 * short,
    )


def seen(colour: str, eye: str) -> str:
    return colour if eye == "usual" else dichromat(colour, eye)


def difference(one: str, other: str) -> float:
    return ciede2000(lab(one), lab(other))


def ciede2000(one: tuple[float, float, float], other: tuple[float, float, float]) -> float:
    (l1, a1, b1), (l2, a2, b2) = one, other
    mean = (math.hypot(a1, b1) + math.hypot(a2, b2)) / 2
    g = 0.5 * (1 - math.sqrt(mean**7 / (mean**7 + 25**7)))
    a1, a2 = (1 + g) * a1, (1 + g) * a2
    c1, c2 = math.hypot(a1, b1), math.hypot(a2, b2)
    h1, h2 = (math.degrees(math.atan2(b, a)) % 360 for a, b in ((a1, b1), (a2, b2)))
    dh = 0.0 if not c1 * c2 else (h2 - h1 + 180) % 360 - 180
    big_h = 2 * math.sqrt(c1 * c2) * math.sin(math.radians(dh / 2))
    light, chroma = (l1 + l2) / 2, (c1 + c2) / 2
    hue = h1 + h2 if not c1 * c2 else (h1 + dh / 2) % 360
    t = (
        1
        - 0.17 * math.cos(math.radians(hue - 30))
        + 0.24 * math.cos(math.radians(2 * hue))
        + 0.32 * math.cos(math.radians(3 * hue + 6))
        - 0.2 * math.cos(math.radians(4 * hue - 63))
    )
    sl = 1 + 0.015 * (light - 50) ** 2 / math.sqrt(20 + (light - 50) ** 2)
    sc, sh = 1 + 0.045 * chroma, 1 + 0.015 * chroma * t
    turn = 30 * math.exp(-(((hue - 275) / 25) ** 2))
    rt = -2 * math.sqrt(chroma**7 / (chroma**7 + 25**7)) * math.sin(math.radians(2 * turn))
    dl, dc, dhue = (l2 - l1) / sl, (c2 - c1) / sc, big_h / sh
    return math.sqrt(dl**2 + dc**2 + dhue**2 + rt * dc * dhue)


def contrast(one: str, other: str) -> float:
    """As WCAG counts it."""
    light = sorted(
        0.2126 * red + 0.7152 * green + 0.0722 * blue for red, green, blue in (linear(one), linear(other))
    )
    return (light[1] + 0.05) / (light[0] + 0.05)


def test_the_water_beyond_a_map_is_dark_at_night() -> None:
    """Of a game without a sea on its maps, too: it is the colour of the sea."""
    assert dark_inks()["water"] == at_night(TERRAIN["sea"]).fill
    assert lab(dark_inks()["water"])[0] < 45


EYES = ("usual", "protan", "deutan")


def test_the_difference_of_colours_is_that_of_its_authors() -> None:
    # two pairs of the test data that Sharma, Wu and Dalal published with the formula
    for one, other, wanted in (
        ((50.0, 2.6772, -79.7751), (50.0, 0.0, -82.7485), 2.0425),
        ((60.2574, -34.0099, 36.2677), (60.4626, -34.1751, 39.4387), 1.2644),
    ):
        assert ciede2000(one, other) == pytest.approx(wanted, abs=1e-4)


def test_a_colour_comes_back_from_lab() -> None:
    for colour in ("#000000", "#ffffff", "#86ad6c", "#c01818", "#8fbfdc"):
        assert from_lab(*lab(colour)) == colour


@pytest.mark.parametrize("eye", EYES)
@pytest.mark.parametrize("ruleset", CODES)
def test_terrains_that_share_a_pattern_differ_in_colour_for_everyone(ruleset: str, eye: str) -> None:
    looks = {word: TERRAIN[word] for word in read_ruleset(ruleset).terrain.terrain}
    for (one, first), (other, second) in itertools.combinations(looks.items(), 2):
        if first.pattern == second.pattern:
            for a, b in ((first, second), (at_night(first), at_night(second))):
                assert difference(seen(a.fill, eye), seen(b.fill, eye)) > 8, (one, other)


@pytest.mark.parametrize("eye", EYES)
def test_a_pattern_is_seen_upon_its_ground(eye: str) -> None:
    for word, look in TERRAIN.items():
        for drawn in (look, at_night(look)):
            if look.pattern:
                assert difference(seen(drawn.fill, eye), seen(drawn.ink, eye)) > 10, (word, drawn)


@pytest.mark.parametrize("eye", EYES)
def test_marks_can_be_told_apart_by_everyone(eye: str) -> None:
    dark = dark_inks()
    for one, other in itertools.combinations(MARKS, 2):
        # they differ in their outlines, too
        assert difference(seen(MARKS[one], eye), seen(MARKS[other], eye)) > 8, (one, other)
    assert all(contrast(dark[word], "#161a18") > 4.5 for word in MARKS)


def test_counters_are_readable() -> None:
    for paint in (*SIDES.values(), *FIRE.values(), ANYONE):
        assert contrast(paint.card, paint.ink) >= 4.5, paint
    assert (
        min(contrast(SIDES["japan"].card, SIDES[side].card) for side in ("us", "marine", "army", "navy")) > 3
    )


def test_sides_stand_apart_from_every_terrain() -> None:
    for side, paint in SIDES.items():
        for word, look in TERRAIN.items():
            assert difference(paint.card, look.fill) > 13, (side, word)


@pytest.mark.parametrize("ruleset", CODES)
def test_every_number_and_marker_of_a_counter_has_a_name_and_a_rule(ruleset: str) -> None:
    told = printed(ruleset)
    numbers = {rule.number for rule in read_ruleset(ruleset).rules}
    assert set(told.markers) == set(MARKERS[ruleset])
    assert {*told.markers.values(), *(value.rule for value in told.values.values())} <= numbers
    assert set(told.values) <= set(UNITS[ruleset].model_fields)


def test_the_stylesheet_darkens_every_class_that_a_drawing_has() -> None:
    sheet = stylesheet()
    assert sheet.startswith("@media screen and (prefers-color-scheme: dark)"), "paper stays light"
    wanted = [f".fill-{word} " for word in TERRAIN] + [f".ink-{word} " for word in TERRAIN]
    wanted += [f".hexside-{word} " for word in HEXSIDES] + [f".path-{word} " for word in PATHS]
    wanted += [f".mark-{word} " for word in MARKS] + [".map-label ", ".halo ", ".crest ", ".contour "]
    assert [word for word in wanted if word not in sheet] == []
    assert sheet.count("{") == sheet.count("}")
