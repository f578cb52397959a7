"""Charts: the cells that the books print, what an owner fills in, and what a ruling says that it needs."""

from __future__ import annotations

import collections
import csv
import json
from pathlib import Path

import pytest
import sqlalchemy as sa
from sqlalchemy.engine import Connection, Engine

from app.referee.cases import rule_text
from app.referee.saved import save
from db import SightlineError
from db.backup import backup_database, restore_database
from db.charts import chart_needed, chart_states
from db.database import make_engine
from db.rulesets import CODES, Chart, read_ruleset
from db.rulesets.load import load_rulesets
from db.schema import upgrade
from importers.charts import import_chart, read_chart, remove_cells, write_template
from importers.documents import Problems
from tests.command_line import CommandLine
from tests.conftest import ROOT, Databases

CELL = "select value, source, rule from charts.cell(:ruleset, :chart, :row, :column)"


def cell(
    connection: Connection, ruleset: str, chart: str, row: object, column: object
) -> tuple[str | None, ...]:
    keys = {"ruleset": ruleset, "chart": chart, "row": str(row), "column": str(column)}
    return tuple(connection.execute(sa.text(CELL), keys).one())


@pytest.fixture
def write(tmp_path: Path):  # type: ignore[no-untyped-def]
    """A file with this text."""

    def written(text: str, name: str = "chart.csv") -> Path:
        path = tmp_path / name
        path.write_text(text, encoding="utf-8")
        return path

    return written


# What the books print


def test_the_results_table_of_fpb_is_the_one_that_was_read_off_the_book(
    connection: Connection, catalogue: Path
) -> None:
    compared = 0
    for line in (catalogue / "fpb_crt.tsv").read_text(encoding="utf-8").splitlines():
        words = line.split("\t")
        if words[0] == "LINE":
            _, number, _, differential, column = words
            assert cell(connection, "fpb", "combat_results_lines", number, differential)[0] == column, line
        elif words[0] == "RESULT":
            _, column, die, result = words[:4]
            assert cell(connection, "fpb", "combat_results_table", die, column)[0] == result, line
        else:
            continue
        compared += 1
    assert compared == 75 + 78


def test_the_lines_of_the_results_table_end_where_they_are_printed_to_end(connection: Connection) -> None:
    query = "select count(*) from charts.cell('fpb', 'combat_results_lines', '1', '-3')"
    assert connection.scalar(sa.text(query)) == 0
    assert cell(connection, "fpb", "combat_results_lines", 1, -2) == ("1", "printed", "8.2.1")


def test_the_placement_of_fpb_is_the_one_that_was_read_off_the_book(
    connection: Connection, catalogue: Path
) -> None:
    with (catalogue / "fpb_placement.tsv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file, delimiter="\t"))
    assert len(rows) == 48
    for row in rows:
        key = f"{row['island'].lower()}/{row['row']}"
        for die in range(1, 7):
            assert cell(connection, "fpb", "random_placement", key, die)[0] == row[f"d{die}"], key
        strengths = [
            cell(connection, "fpb", "random_placement", key, part)[0]
            for part in ("attack", "defense", "movement")
        ]
        assert "-".join(str(part) for part in strengths) == row["unit_A-D-MA"], key


def test_a_better_differential_is_never_worse_on_any_line_or_die() -> None:
    """The book's table is monotone; a slip of the pen would not be."""
    worth = ["Ae", "(A)", "A3", "A2", "A1", "NE", "Ex", "D2", "D3", "De"]
    charts = read_ruleset("fpb").charts
    table = cells_of(charts["combat_results_table"])
    for die in "123456":
        results = [worth.index(table[die, str(column)]) for column in range(1, 14)]
        assert results == sorted(results)
    lines = cells_of(charts["combat_results_lines"])
    for line in "12345":
        columns = [int(lines[line, str(n)]) for n in range(-6, 11) if (line, str(n)) in lines]
        assert columns == sorted(columns)


def cells_of(chart: Chart) -> dict[tuple[str, str], str]:
    return {(row, column): found.value for row, column, found in chart.each_cell() if found.value is not None}


@pytest.mark.parametrize("code", CODES)
def test_every_cell_and_phase_cites_a_rule_of_its_book(connection: Connection, code: str) -> None:
    query = sa.text("""
        select cited.what from (
          select chart || ' ' || row_key || ' ' || column_key as what, ruleset, rule from chart_cell
          union all select path, ruleset, rule from phase
        ) as cited
        left join rule on rule.ruleset = cited.ruleset and rule.number = cited.rule
        where cited.ruleset = :code and rule.id is null
    """)
    assert connection.scalars(query, {"code": code}).all() == []


@pytest.mark.parametrize("code", CODES)
def test_a_chart_that_is_printed_has_all_its_cells(code: str) -> None:
    lacking = [
        f"{name} {row} {column}"
        for name, chart in read_ruleset(code).charts.items()
        for row, column, found in chart.each_cell()
        if chart.printed and found.value is None
    ]
    assert lacking == []


def test_orders_and_actions_of_a_ccp_nation_make_a_deck() -> None:
    manifest = cells_of(read_ruleset("ccp").charts["order_action_manifest"])
    sums: collections.Counter[tuple[str, str]] = collections.Counter()
    for (card, nation), count in manifest.items():
        sums[card.partition("/")[0], nation] += int(count)
    assert set(sums.values()) == {72}
    assert len(sums) == 6


@pytest.mark.parametrize("code", CODES)
def test_a_cost_that_a_chart_prints_is_the_one_of_the_terrain_data(code: str) -> None:
    """Two places tell some costs; they cannot drift apart."""
    ruleset = read_ruleset(code)
    kinds = ruleset.terrain.terrain | ruleset.terrain.hexsides | ruleset.terrain.paths
    for chart in ruleset.charts.values():
        for (row, column), value in cells_of(chart).items():
            if column in chart.costs and row in kinds:
                printed = kinds[row].cost.get(chart.costs[column], ())
                if printed:
                    assert value in {str(effect.value) for effect in printed}, f"{code} {row} {column}"


@pytest.mark.parametrize("code", CODES)
def test_a_sequence_of_play_is_told_in_order(connection: Connection, code: str) -> None:
    rows = connection.execute(sa.text("select * from charts.sequence(:code)"), {"code": code}).all()
    assert [row.n for row in rows] == list(range(1, len(rows) + 1))
    told: set[str] = set()
    for row in rows:
        parent = row.path.rpartition("/")[0]
        assert not parent or parent in told
        assert row.depth == row.path.count("/")
        told.add(row.path)


def test_us_moves_before_japan_in_fpb(rows) -> None:  # type: ignore[no-untyped-def]
    order = [path for (path,) in rows("select path from charts.sequence('fpb')")]
    assert order.index("us/mobile_combat") < order.index("japan/movement") < order.index("game_turn_end")


def test_a_cell_that_the_book_does_not_print_is_missing(rows) -> None:  # type: ignore[no-untyped-def]
    wanting = rows("select row_key, column_key from charts.missing('css', 'combat_results_table')")
    assert ("high_explosive", "2") in wanting
    assert ("high_explosive", "3") not in wanting
    assert len(wanting) == 32


# What an owner fills in


def test_an_owner_fills_a_chart_and_the_cells_answer(connection: Connection, write) -> None:  # type: ignore[no-untyped-def]
    text = write_template(connection, "css", "weather_table")
    assert text.splitlines()[:3] == ["chart,css,weather_table", "die,weather", "0,"]
    filled = text.replace("0,\n", "0,clear\n", 1).replace("9,\n", "9,tropical_storm\n")
    report = import_chart(connection, write(filled))
    assert (report.filled, report.unchanged, report.missing) == (2, 0, 9)
    assert cell(connection, "css", "weather_table", 9, "weather") == ("tropical_storm", "owner", "4.0")
    assert cell(connection, "css", "weather_table", 5, "weather")[:2] == (None, None)
    again = import_chart(connection, write(filled))
    assert (again.filled, again.unchanged) == (0, 2)


@pytest.mark.parametrize("form", ["csv", "yaml"])
@pytest.mark.parametrize("code", CODES)
def test_every_template_comes_back_without_a_change(
    connection: Connection,
    write,
    code: str,
    form: str,  # type: ignore[no-untyped-def]
) -> None:
    for state in chart_states(connection, code):
        if state.state == "words only":
            continue
        text = write_template(connection, code, state.chart, form)
        draft = read_chart(text.encode(), f"{state.chart}.{form}")
        told = cells_of(draft.form)
        assert {place: value for place, (value, _) in draft.cells.items()} == told, state.chart


def test_a_template_shows_what_was_filled_in_but_no_house_rule(connection: Connection, write) -> None:  # type: ignore[no-untyped-def]
    import_chart(connection, write("chart,css,weather_table\ndie,weather\n3,rain\n"))
    house = "chart,fpb,combat_results_table\ndie,1\n1,De\n"
    import_chart(connection, write(house), source="house")
    assert "\n3,rain\n" in write_template(connection, "css", "weather_table")
    assert "\n1,(A),A3," in write_template(connection, "fpb", "combat_results_table")


def test_rows_are_added_to_an_open_chart(connection: Connection, write) -> None:  # type: ignore[no-untyped-def]
    text = """\
ruleset: fpb
chart: support_markers
cells:
  us/artillery/3: {side: us, island: angaur, value: +3, type: artillery, single_use: no, count: 4}
  us/naval/10: {count: 1}
"""
    report = import_chart(connection, write(text, "markers.yaml"))
    assert report.filled == 7
    assert cell(connection, "fpb", "support_markers", "us/artillery/3", "value")[0] == "3"
    assert cell(connection, "fpb", "support_markers", "us/artillery/3", "single_use")[0] == "false"
    order = connection.scalars(
        sa.text(
            "select distinct on (row_n) row_key from charts.cell_in_force where chart = 'support_markers' order by row_n"
        )
    )
    assert list(order) == ["us/naval/10", "us/artillery/3"]


MISTAKES = {
    "no chart named": ("die,weather\n0,clear\n", "chart.csv:1: the first line names the game and the chart, such as: chart,css,weather_table"),
    "an unknown game": ("chart,cxs,weather_table\ndie,weather\n", "chart.csv:1: ruleset: unknown ruleset 'cxs' (did you mean css?)"),
    "an unknown chart": ("chart,css,wether_table\ndie,weather\n", "chart.csv:1: chart: unknown chart of css 'wether_table' (did you mean weather_table, weather_effects"),
    "a chart in words": ("chart,css,assault_sequence\nstep,what\n", "chart.csv:1: chart: the chart assault_sequence of css is told in words and has no cells"),
    "an unknown column": ("chart,css,weather_table\ndie,wether\n0,clear\n", "chart.csv:3: cells/0/wether: unknown key 'wether' (did you mean weather?)"),
    "a column twice": ("chart,css,weather_table\ndie,weather,weather\n0,clear,rain\n", "chart.csv:2: the column 'weather' is there twice"),
    "an unknown row": ("chart,css,weather_table\ndie,weather\n11,clear\n", "chart.csv:3: cells/11: unknown die '11' (did you mean 1 or 10?)"),
    "a row twice": ("chart,css,weather_table\ndie,weather\n1,clear\n1,rain\n", "chart.csv:4: cells/1: 1 is named twice, first on line 3"),
    "a row without a name": ("chart,css,weather_table\ndie,weather\n,clear\n", "chart.csv:3: cells: the row has no name: write the die in its first cell"),
    "too many cells": ("chart,css,weather_table\ndie,weather\n1,clear,rain\n", "chart.csv:3: cells/1: 3 cells in a table of 2 columns"),
    "an unknown word": ("chart,css,weather_table\ndie,weather\n1,raim\n", "chart.csv:3: cells/1/weather: 'raim' is not one of clear, rain, hot, tropical_storm (did you mean rain?)"),
    "no number": ("chart,css,division_displays\ndivision,troop_quality\n1 PMB,five\n", "chart.csv:3: cells/1 PMB/troop_quality: 'five' is not a whole number"),
    "a third of a point": ("chart,css,terrain_effects_chart\nterrain,leg\nsugar_cane,0.3\n", "chart.csv:3: cells/sugar_cane/leg: '0.3' is not a number of whole or half points, prohibited or all"),
    "no such cell": ("chart,fpb,terrain_key\nname,plus\nclear,1\n", "chart.csv:3: cells/clear/plus: the chart has no cell at clear, plus: leave it blank"),
    "what the book prints otherwise": ("chart,fpb,combat_results_table\ndie,1,2\n1,Ae,A3\n", "chart.csv:3: cells/1/1: the book prints '(A)' here (rule 8.2.1), not 'Ae': mend it, or import it as a house chart: --source house"),
    "a NUL": ("chart,css,weather_table\ndie,weather\n1,ra\0in\n", "chart.csv:3: a NUL character cannot be stored"),
}  # fmt: skip


@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_is_told_with_its_place(connection: Connection, write, name: str) -> None:  # type: ignore[no-untyped-def]
    text, told = MISTAKES[name]
    before = connection.scalar(sa.text("select count(*) from chart_cell"))
    path = write(text)
    with pytest.raises(Problems) as caught:
        import_chart(connection, path)
    assert str(caught.value).replace(str(path.parent) + "/", "").startswith(told)
    assert connection.scalar(sa.text("select count(*) from chart_cell")) == before


def test_all_mistakes_are_told_at_once_and_nothing_is_stored(connection: Connection, write) -> None:  # type: ignore[no-untyped-def]
    text = "chart,css,weather_table\ndie,weather\n0,clear\n1,raim\n12,rain\n3,hott\n"
    with pytest.raises(Problems) as caught:
        import_chart(connection, write(text))
    assert [problem.line for problem in caught.value.sorted()] == [4, 5, 6]
    assert cell(connection, "css", "weather_table", 0, "weather")[0] is None


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "the file is empty"),
        ("chart: weather_table\ncells: {}\n", "ruleset is missing"),
        ("ruleset: css\nchart: weather_table\ncells: [1]\n", "expected a mapping, found a list"),
        ("ruleset: css\nchart: weather_table\ncells: {0: {weather: [clear]}}\n", "expected one value, found a list"),
        ("ruleset: css\nchart: weather_table\ncells: {0: [clear, rain]}\n", "2 cells, but 1 columns"),
        ("ruleset: css\nchart: fortification_values\ncells: {bunker: -3}\n", "one cell, but 2 columns: defense, troop_quality"),
        ("ruleset: css\nchart: weather_table\nrows: {}\ncells: {}\n", "unknown key 'rows'"),
    ],
)  # fmt: skip
def test_a_mistake_of_a_yaml_file_is_told(connection: Connection, write, text: str, told: str) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(Problems, match=told.replace("(", r"\(")):
        import_chart(connection, write(text, "chart.yaml"))


def test_what_was_filled_in_is_replaced_only_when_asked(connection: Connection, write) -> None:  # type: ignore[no-untyped-def]
    import_chart(connection, write("chart,css,weather_table\ndie,weather\n1,clear\n"))
    other = write("chart,css,weather_table\ndie,weather\n1,rain\n2,hot\n")
    with pytest.raises(Problems, match="is filled in as 'clear' already, not 'rain'"):
        import_chart(connection, other)
    assert cell(connection, "css", "weather_table", 2, "weather")[0] is None
    report = import_chart(connection, other, replace=True)
    assert (report.filled, report.replaced) == (1, 1)
    assert cell(connection, "css", "weather_table", 1, "weather")[0] == "rain"


def test_a_dry_run_changes_nothing(connection: Connection, write) -> None:  # type: ignore[no-untyped-def]
    path = write("chart,css,weather_table\ndie,weather\n1,rain\n")
    report = import_chart(connection, path, dry_run=True)
    assert (report.filled, report.dry_run) == (1, True)
    assert cell(connection, "css", "weather_table", 1, "weather")[0] is None


def test_a_house_chart_holds_against_the_book_and_says_so(connection: Connection, write) -> None:  # type: ignore[no-untyped-def]
    path = write("chart,fpb,combat_results_table\ndie,1,2\n1,De,A3\n")
    report = import_chart(connection, path, source="house")
    assert report.against_book == [{"row": "1", "column": "1", "printed": "(A)", "house": "De"}]
    assert report.unchanged == 1
    assert cell(connection, "fpb", "combat_results_table", 1, 1)[:2] == ("De", "house")
    assert cell(connection, "fpb", "combat_results_table", 1, 2)[:2] == ("A3", "printed")
    assert remove_cells(connection, "fpb", "combat_results_table", row="1") == 1
    assert cell(connection, "fpb", "combat_results_table", 1, 1)[:2] == ("(A)", "printed")


def test_what_is_read_at_the_table_goes_before_a_house_chart_and_not_before_the_book(
    connection: Connection,
) -> None:
    # as when a scenario with a house results table was installed
    import_chart(connection, ROOT / "db/rulesets/css/house/combat_results_table.yaml", source="house")
    shot = """
case: shot
title: A shot
ruleset: css
map: {{extent: ["20.76", "24.84"], fill: {{terrain: clear}}}}
units:
  - {{id: A, side: us, division: 3 MarDiv, kind: infantry, at: "22.80", posture: deployed, mobility: leg, fire: {{value: 5, type: small_arms}}}}
  - {{id: J, side: japan, division: 29 InfDiv, kind: infantry, at: "22.79", posture: deployed, mobility: leg, defense: 0}}
ask: [{{fire: {{by: [A], at: "22.79", rolls: [{die}]{read}}}}}]
"""
    found = [
        rule_text(connection, shot.format(die=die, read=read), "shot.yaml")[1][0].answer["crt"]
        for die, read in ((2, ""), (2, ", read: {combat_results_table: S}"), (3, ""))
    ]
    printed = cell(connection, "css", "combat_results_table", "small_arms", 3)
    assert found == ["2DG/R", "S", printed[0]]
    assert printed[1] == "printed"
    with pytest.raises(SightlineError, match="The results table has"):
        rule_text(connection, shot.format(die=3, read=", read: {combat_results_table: E}"), "shot.yaml")


def test_a_house_that_returns_to_the_book_leaves_nothing(connection: Connection, write) -> None:  # type: ignore[no-untyped-def]
    import_chart(connection, write("chart,fpb,combat_results_table\ndie,1\n1,De\n"), source="house")
    import_chart(
        connection, write("chart,fpb,combat_results_table\ndie,1\n1,(A)\n"), source="house", replace=True
    )
    assert cell(connection, "fpb", "combat_results_table", 1, 1)[:2] == ("(A)", "printed")
    assert connection.scalar(sa.text("select count(*) from chart_cell where source = 'house'")) == 0


def test_a_newer_book_goes_before_an_owner_and_the_contradiction_is_told(
    connection: Connection, write
) -> None:  # type: ignore[no-untyped-def]
    """An owner filled a cell; a later version prints another value there."""
    import_chart(connection, write("chart,css,weather_table\ndie,weather\n1,rain\n"))
    connection.execute(
        sa.text("update chart_cell set value = 'hot' where chart = 'weather_table' and row_key = '1' and source = 'printed'")
    )  # fmt: skip
    assert cell(connection, "css", "weather_table", 1, "weather")[:2] == ("hot", "printed")
    told = connection.execute(sa.text("select * from charts.contradictions('css')")).one()
    assert (told.row_key, told.printed, told.source, told.value) == ("1", "hot", "owner", "rain")


def test_what_an_upgrade_leaves_without_a_place_is_told(connection: Connection, write) -> None:  # type: ignore[no-untyped-def]
    import_chart(connection, write("chart,css,weather_table\ndie,weather\n1,rain\n"))
    connection.execute(
        sa.text(
            "delete from chart_cell where chart = 'weather_table' and row_key = '1' and source = 'printed'"
        )
    )
    told = connection.execute(sa.text("select chart, row_key, value from charts.strays('css')")).all()
    assert [tuple(row) for row in told] == [("weather_table", "1", "rain")]


@pytest.fixture
def filled(own_engine: Engine, write) -> Engine:  # type: ignore[no-untyped-def]
    """A database in which an owner and a house have filled cells, and a chart that the files do not have."""
    with own_engine.begin() as connection:
        import_chart(connection, write("chart,css,weather_table\ndie,weather\n1,rain\n"))
        import_chart(connection, write("chart,fpb,combat_results_table\ndie,1\n1,De\n"), source="house")
        connection.execute(
            sa.text(
                "insert into chart (ruleset, code, title, rule, printed) values ('css', 'gone', 'Gone', '4.0', false)"
            )
        )
        connection.execute(
            sa.text("insert into chart_cell values ('css', 'gone', 'a', 'b', 'owner', 1, 'mine', '4.0')")
        )  # fmt: skip
    return own_engine


def filled_cells(engine: Engine) -> list[tuple[object, ...]]:
    query = "select chart, row_key, column_key, value, source from chart_cell where source <> 'printed' order by 1"
    with engine.connect() as connection:
        return [tuple(row) for row in connection.execute(sa.text(query))]


OURS = [
    ("combat_results_table", "1", "1", "De", "house"),
    ("gone", "a", "b", "mine", "owner"),
    ("weather_table", "1", "weather", "rain", "owner"),
]


def test_an_upgrade_keeps_what_was_filled_in_and_writes_the_book_anew(filled: Engine) -> None:
    with filled.begin() as connection:
        connection.execute(sa.text("update chart_cell set value = 'XX' where source = 'printed'"))
        connection.execute(sa.text("update schema_state set rulesets = ''"))
        upgrade(connection, lambda step: None)
    assert filled_cells(filled) == OURS
    with filled.connect() as connection:
        assert connection.scalar(sa.text("select count(*) from chart_cell where value = 'XX'")) == 0
        assert cell(connection, "fpb", "combat_results_table", 6, 13)[:2] == ("Ex", "printed")


def test_a_backup_keeps_what_was_filled_in(filled: Engine, databases: Databases, tmp_path: Path) -> None:
    backup_database(filled.url, tmp_path / "charts.dump")
    other = databases.make()
    restore_database(other, tmp_path / "charts.dump", lambda step: None)
    engine = make_engine(other)
    assert filled_cells(engine) == OURS
    engine.dispose()


# Rulings and charts


CANE = """
case: css-cane
title: Into the cane
ruleset: css
cites: ["6.2.1"]
map:
  extent: ["10.10", "12.12"]
  fill: clear
  hexes: {"11.11": sugar_cane}
units:
  - {id: A, side: us, at: "11.10", mobility: leg, movement: 5, posture: column}
ask:
  - move: {unit: A, path: ["11.11"]}
"""


def test_a_ruling_names_the_chart_that_it_needs_and_the_command_that_fills_it(connection: Connection) -> None:
    _, [ruling] = rule_text(connection, CANE, "cane.yaml")
    [need] = ruling.as_dict()["needs"]
    assert need["chart"] == "what sugar cane costs"
    assert need["table"] == "terrain_effects_chart"
    assert need["fill"] == "sightline charts template css terrain_effects_chart"


def test_a_cost_that_an_owner_fills_in_is_ruled_by_and_named(connection: Connection, write) -> None:  # type: ignore[no-untyped-def]
    path = write("chart,css,terrain_effects_chart\nterrain,leg\nsugar_cane,2\n")
    import_chart(connection, path)
    _, [ruling] = rule_text(connection, CANE, "cane.yaml")
    assert (ruling.answer["legal"], ruling.answer["cost"]) == (True, 2)
    assert any(step.note == "sugar cane, by the owner's chart" for step in ruling.steps)
    load_rulesets(connection)
    assert rule_text(connection, CANE, "cane.yaml")[1][0].answer["cost"] == 2
    remove_cells(connection, "css", "terrain_effects_chart")
    assert rule_text(connection, CANE, "cane.yaml")[1][0].answer["legal"] is None


def test_a_ruling_by_a_filled_chart_is_kept_beside_the_one_before(connection: Connection, write) -> None:  # type: ignore[no-untyped-def]
    case, [before] = rule_text(connection, CANE, "cane.yaml")
    save(connection, case, [before])
    import_chart(connection, write("chart,css,terrain_effects_chart\nterrain,leg\nsugar_cane,2\n"))
    case, [after] = rule_text(connection, CANE, "cane.yaml")
    save(connection, case, [after])
    assert before.id != after.id
    remove_cells(connection, "css", "terrain_effects_chart")
    case, [again] = rule_text(connection, CANE, "cane.yaml")
    save(connection, case, [again])
    assert again.id == before.id


def test_a_house_cost_stands_in_the_place_of_the_printed_one(connection: Connection, write) -> None:  # type: ignore[no-untyped-def]
    query = sa.text(
        "select halves, source from terrain_effect where ruleset = 'fpb' and code = 'jungle' and mobility = 'leg'"
    )
    import_chart(connection, write("chart,fpb,terrain_key\nname,leg\njungle,2.5\n"), source="house")
    assert [tuple(row) for row in connection.execute(query)] == [(5, "house")]
    remove_cells(connection, "fpb", "terrain_key")
    assert [tuple(row) for row in connection.execute(query)] == [(6, "printed")]


def test_a_chart_is_needed_by_its_own_name() -> None:
    assert chart_needed("fpb", "terrain_key") == "terrain_key"
    assert chart_needed("css", "assault_sequence") is None
    assert chart_needed("css", "the movement allowance of A") is None


# The command line


@pytest.fixture(scope="module")
def sightline(databases: Databases) -> CommandLine:
    return CommandLine(databases.make())


def test_charts_are_listed_with_what_is_missing(sightline: CommandLine) -> None:
    told = sightline("charts", "list", "fpb", "--json").json
    found = {entry["chart"]: entry for entry in told}
    assert found["combat_results_table"]["state"] == "complete"
    assert found["combat_results_table"]["cells"] == 78
    assert found["terrain_key"]["state"] == "partly"
    assert found["game_turn_record_track"]["state"] == "empty"
    assert sightline("charts", "list", "fbp").status == 2


def test_a_chart_is_shown_as_a_table(sightline: CommandLine) -> None:
    told = sightline("charts", "show", "fpb", "combat_results_table")
    assert told.lines[0].split("\t") == [
        "1",
        "(A)",
        "A3",
        "A2",
        "NE",
        "Ex",
        "Ex",
        "D2",
        "D2",
        "D2",
        "D3",
        "De",
        "De",
        "De",
    ]
    unfilled = sightline("charts", "show", "css", "combat_results_table")
    assert unfilled.lines[1].split("\t")[:5] == [
        "high_explosive",
        "2DG/S (example)",
        "DG/R* (example)",
        "?",
        "2DG/R (example)",
    ]
    assert "sightline charts template css combat_results_table" in unfilled.err
    as_json = sightline("charts", "show", "fpb", "terrain_key", "--json").json
    assert {
        "row": "jungle",
        "column": "leg",
        "value": "3",
        "source": "printed",
        "rule": "5.4",
        "example": True,
    } in as_json["cells"]


@pytest.mark.parametrize("code", CODES)
def test_every_chart_is_shown_by_a_command(sightline: CommandLine, code: str) -> None:
    for name, chart in read_ruleset(code).charts.items():
        shown = sightline("charts", "show", code, name, "--json").json
        printed = [cell for cell in chart.each_cell() if cell[2].value is not None]
        known = [cell for cell in shown["cells"] if cell["value"] is not None]
        assert (shown["chart"], len(known)) == (name, len(printed))


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("show", "css", "wether_table"), "Did you mean weather_table"),
        (("template", "css", "assault_sequence"), "told in words and has no cells"),
        (("template", "xyz", "weather_table"), "There is no ruleset 'xyz'"),
    ],
)
def test_what_is_not_there_is_told_with_a_remedy(
    sightline: CommandLine, words: tuple[str, ...], told: str
) -> None:
    answer = sightline("charts", *words)
    assert answer.status == 2
    assert told in answer.err


def test_a_chart_is_written_filled_checked_and_taken_back(sightline: CommandLine, tmp_path: Path) -> None:
    file = tmp_path / "vulnerability.csv"
    assert sightline("charts", "template", "ccp", "fortification_vulnerability", "-o", file).status == 0
    assert sightline("charts", "template", "ccp", "fortification_vulnerability", "-o", file).status == 2
    file.write_text(file.read_text().replace("8,\n", "8,7\n").replace("12,\n", "12,9\n"))
    dry = sightline("charts", "import", file, "--dry-run")
    assert "nothing was changed" in dry.err
    report = sightline("charts", "import", file, "--json").json
    assert (report["filled"], report["missing"]) == (2, 3)
    assert "8\t7 (owner)" in sightline("charts", "show", "ccp", "fortification_vulnerability").lines
    checked = sightline("charts", "check", "ccp", "--json")
    assert checked.status == 1
    wanting = {entry["chart"]: entry for entry in json.loads(checked.out)["missing"]}
    assert wanting["fortification_vulnerability"]["missing"] == 3
    assert wanting["fate_cards"]["fill"] == "sightline charts template ccp fate_cards"
    assert "hand_size" not in wanting
    refused = sightline("charts", "remove", "ccp", "fortification_vulnerability", typed="n\n")
    assert refused.status == 2
    taken = sightline("charts", "remove", "ccp", "fortification_vulnerability", "--row", "8", "--yes")
    assert "took back 1 cells" in taken.err
    assert sightline("charts", "remove", "ccp", "fortification_vulnerability", "--yes").status == 0


def test_a_file_that_contradicts_the_book_is_refused_and_told(sightline: CommandLine, tmp_path: Path) -> None:
    file = tmp_path / "boats.csv"
    file.write_text("chart,fpb,assault_boat_limits\nisland,boats\nguam,4\ntinian,3\n")
    told = sightline("charts", "import", file)
    assert told.status == 2
    assert "boats.csv:3: cells/guam/boats: the book prints '3' here (rule 18.2), not '4'" in told.err
    house = sightline("charts", "import", file, "--source", "house")
    assert house.status == 0
    assert "guam\tboats\t3\t4" in house.lines
    assert "1 cells hold as house rules" in house.err
    checked = json.loads(sightline("charts", "check", "fpb", "--json").out)
    assert [entry["source"] for entry in checked["otherwise"]] == ["house"]
    assert (
        sightline("charts", "remove", "fpb", "assault_boat_limits", "--source", "house", "--yes").status == 0
    )
