"""What lies under a Conceal counter in bob, and in the FOW cup, is known to its own side only (15.0, 16.2)."""

from __future__ import annotations

from app.play.bob.views import seen

SQUAD = {
    "side": "japan",
    "kind": "squad",
    "at": "E5",
    "fp": [5, 3],
    "concealed": 2,
    "facing": 3,
    "used": True,
}
DECOY = {"side": "japan", "kind": "decoy", "at": "C5", "concealed": 2, "used": True}


def test_its_own_side_sees_a_counter_in_full() -> None:
    assert seen(SQUAD, "japan") == SQUAD
    assert seen(DECOY, "japan") == DECOY


def test_to_the_others_a_squad_and_a_decoy_under_conceal_counters_look_alike() -> None:
    for seat in ("us", "observer"):
        squad, decoy = seen(SQUAD, seat), seen(DECOY, seat)
        assert squad == {"side": "japan", "kind": "concealed", "at": "E5", "concealed": 2, "used": True}
        assert decoy == {**squad, "at": "C5"}


def test_without_a_conceal_counter_everybody_sees_it() -> None:
    open_squad = {**SQUAD, "concealed": 0}
    assert seen(open_squad, "us") == open_squad


def test_what_is_in_the_cup_is_not_seen() -> None:
    assert seen({"side": "japan", "kind": "squad", "status": "fow"}, "us") is None
    assert seen({"side": "japan", "kind": "satt"}, "us") is None
    assert seen({"side": "japan", "kind": "squad", "status": "fow"}, "japan") is not None
