"""The API keeps what its description promises: no server errors, and answers of the described form."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
import schemathesis
import yaml
from flask import Flask
from hypothesis import HealthCheck, Phase, given, settings
from schemathesis import Case
from schemathesis.specs.openapi.checks import positive_data_acceptance
from sqlalchemy.engine import make_url

from app.referee.conformance import SUITE
from app.referee.questions import implemented_points, kinds
from app.web.guard import RECORD
from app.web.site import create_app
from db.database import make_engine
from db.rulesets import CODES
from db.settings import Settings
from tests.conftest import Databases, web_engine
from tests.rounds import rounds

SPINE = (SUITE / "css" / "css-7.1-sameB.yaml").read_text(encoding="utf-8")
RULINGS = "/api/v1/rulings"
YAML = "application/yaml"


@pytest.fixture(scope="module")
def web(databases: Databases) -> Any:
    """The whole app on a database of its own: what the API keeps, it keeps."""
    engine = make_engine(databases.make())
    yield create_app(Settings(log_level="error"), web_engine(engine))
    engine.dispose()


@schemathesis.serializer(RECORD)
def as_record(_: Any, value: Any) -> bytes:
    """A record of a game is sent as the text that it is."""
    return str(value).encode(errors="replace")


@pytest.fixture(scope="module")
def api_schema(web: Flask) -> Any:
    return schemathesis.openapi.from_wsgi("/api/docs/openapi.json", web)


def operations() -> list[tuple[str, str]]:
    """Every operation of the description, which needs no database."""
    offline = create_app(Settings(), make_engine(make_url("postgresql+psycopg:///nowhere")))
    paths = offline.api_doc["paths"]  # type: ignore[attr-defined]
    return [(method, path) for path, item in sorted(paths.items()) for method in item]


@pytest.mark.parametrize(("method", "path"), operations())
def test_an_operation_answers_as_described(api_schema: Any, method: str, path: str) -> None:
    operation = api_schema[path][method]

    @given(case=operation.as_strategy())
    @settings(
        max_examples=rounds(12, 200),
        deadline=None,
        derandomize=True,
        database=None,
        phases=[Phase.explicit, Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    def answers(case: Case) -> None:
        # a document of the right outer form may still name a hex that is not there
        excluded = [positive_data_acceptance] if method == "post" else []
        # asked in the same process, nothing takes a compressed answer apart
        case.call_and_validate(excluded_checks=excluded, headers={"Accept-Encoding": "identity"})

    answers()


# What the API answers


def test_the_description_is_openapi_3_1_and_browsable(web: Flask) -> None:
    client = web.test_client()
    description = client.get("/api/docs/openapi.json").json
    assert description["openapi"].startswith("3.1.")
    page = client.get("/api/docs/swagger")
    assert page.status_code == 200
    assert "https://" not in page.text, "it works offline"
    for used in re.findall(r'(?:src|href)="([^"]+)"', page.text):
        assert client.get(used).status_code == 200, used


@pytest.mark.parametrize(
    "content_type", [YAML, "text/yaml", "application/x-yaml", "text/yaml; charset=utf-8"]
)
def test_a_case_in_yaml_is_ruled_on_and_kept(web: Flask, content_type: str) -> None:
    client = web.test_client()
    answer = client.post(RULINGS, data=SPINE, content_type=content_type)
    assert answer.status_code == 200
    told = answer.json
    assert [next(iter(one["question"])) for one in told] == ["los", "trace", "range", "fan"]
    assert [one.get("ok") for one in told] == [True, True, True, None]
    for one in told:
        kept = client.get(f"{RULINGS}/{one['ruling']}").json
        for key in ("case", "question", "ruleset", "answer", "steps", "contested", "ruling"):
            assert kept[key] == one[key]
        assert kept["kind"] == next(iter(one["question"]))


def test_the_same_case_in_json_has_the_same_ids(web: Flask) -> None:
    client = web.test_client()
    document = yaml.safe_load(SPINE)
    by_yaml = client.post(RULINGS, data=SPINE, content_type="application/yaml").json
    by_json = client.post(RULINGS, json=document).json
    assert by_json == by_yaml
    before = client.get(RULINGS).json["total"]
    client.post(RULINGS, json=document)
    assert client.get(RULINGS).json["total"] == before


def test_a_kept_document_asked_again_gives_its_ruling(web: Flask) -> None:
    client = web.test_client()
    for one in client.post(RULINGS, data=SPINE, content_type=YAML).json:
        kept = client.get(f"{RULINGS}/{one['ruling']}").json
        [again] = client.post(RULINGS, json=kept["document"]).json
        assert again["ruling"] == one["ruling"]


def test_a_broken_case_is_a_problem_with_every_place(web: Flask) -> None:
    client = web.test_client()
    before = client.get(RULINGS).json["total"]
    answer = client.post(
        RULINGS, data=SPINE.replace("tropical_forest", "forst").replace("los:", "lost:"), content_type=YAML
    )
    assert answer.status_code == 422
    assert answer.content_type == "application/problem+json"
    ground, question = answer.json["problems"]
    assert ground["place"] == "map/hexes/22.79/terrain"
    assert ground["line"] == 9
    assert "forst" in ground["message"]
    assert question["place"].startswith("ask/1")
    assert "lost" in question["message"]
    assert client.get(RULINGS).json["total"] == before


@pytest.mark.parametrize(
    "document", [b"", b"\xff\xfe", b"[1, 2", b"{}", b"case: x", b"null", b"a: &x 1\nb: *x"]
)
def test_what_is_no_case_is_a_problem(web: Flask, document: bytes) -> None:
    for content_type in ("application/json", "application/yaml"):
        answer = web.test_client().post(RULINGS, data=document, content_type=content_type)
        assert answer.status_code == 422
        assert answer.json["problems"]


def test_a_case_that_is_too_large_is_refused(web: Flask) -> None:
    answer = web.test_client().post(
        RULINGS, data=b" " * (web.config["MAX_CONTENT_LENGTH"] + 1), content_type=YAML
    )
    assert answer.status_code == 413
    assert answer.content_type == "application/problem+json"


@pytest.mark.parametrize("id", ["0" * 20, "nonsense", "a" * 300, "%00", "%F0%9F%82%A1"])
def test_an_unknown_ruling_is_not_found(web: Flask, id: str) -> None:
    answer = web.test_client().get(f"{RULINGS}/{id}")
    assert answer.status_code == 404
    assert answer.content_type == "application/problem+json"


def test_a_kept_ruling_is_not_changed_over_http(web: Flask) -> None:
    client = web.test_client()
    id = client.post(RULINGS, data=SPINE, content_type=YAML).json[0]["ruling"]
    for method in ("put", "patch", "delete", "post"):
        assert getattr(client, method)(f"{RULINGS}/{id}").status_code == 405


def test_rulings_are_filtered_and_paged(web: Flask) -> None:
    client = web.test_client()
    client.post(RULINGS, data=SPINE, content_type=YAML)

    def found(**query: Any) -> Any:
        return client.get(RULINGS, query_string=query).json

    assert {one["kind"] for one in found(kind="los")["rulings"]} == {"los"}
    assert found(ruleset="fpb")["total"] == 0
    assert all("8.1" in one["rules"] for one in found(rule="8.1")["rulings"])
    assert found(text="two spines", kind="trace")["rulings"][0]["case"] == "css-7.1-sameB"
    assert found(text="no such words")["rulings"] == []
    pages = [found(per_page=1, page=page)["rulings"] for page in (1, 2)]
    assert len({one["ruling"] for page in pages for one in page}) == 2
    assert found(per_page=1, page=10**6)["rulings"] == []
    assert client.get(RULINGS, query_string={"per_page": 101}).status_code == 422


def test_the_questions_are_those_of_the_registry(web: Flask) -> None:
    client = web.test_client()
    told = {one["name"]: one for one in client.get("/api/v1/questions").json["questions"]}
    assert set(told) == {kind.name for kind in kinds()}
    assert told["range"]["rulesets"] == list(CODES)
    assert told["range"]["arguments"]["required"] == ["from", "to"]
    of_fpb = client.get("/api/v1/questions?ruleset=fpb").json["questions"]
    assert {"range", "trace"} <= {one["name"] for one in of_fpb}
    assert "los" not in {one["name"] for one in of_fpb}


@pytest.mark.parametrize("ruleset", CODES)
def test_contested_points_tell_which_are_implemented(web: Flask, ruleset: str) -> None:
    points = web.test_client().get(f"/api/v1/contested/{ruleset}").json["points"]
    assert [point["id"] for point in points] == [f"{ruleset}-{n}" for n in range(1, len(points) + 1)]
    implemented = {point["id"] for point in points if point["implemented"]}
    assert implemented == {point for point in implemented_points() if point.startswith(ruleset)}
    for point in points:
        assert point["default"] in point["readings"]


def test_an_unknown_ruleset_has_no_contested_points(web: Flask) -> None:
    assert web.test_client().get("/api/v1/contested/xyz").status_code == 404


def test_a_request_without_a_database_is_no_crash(web: Flask) -> None:
    nowhere = make_engine(make_url("postgresql+psycopg://nobody@/nothing?host=/nowhere"))
    client = create_app(Settings(log_level="error"), nowhere).test_client()
    answer = client.post(RULINGS, data=SPINE, content_type=YAML)
    assert answer.status_code == 503
    assert json.loads(answer.data)["title"] == "The database does not answer"
