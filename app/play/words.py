"""What was done in a game, in words: the same at every door."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from app.play.actions import actions_of
from app.play.effects import SUBJECTS, after
from app.play.tables import awaited
from app.referee import words
from app.referee.rulings import Ruling, Step
from db.values import canonical
from importers.map_writing import flow

Tree = dict[str, Any]
STANDS = {
    "illegal_stood": "against the rules, and it stood",
    "overruled": "overruled",
    "contested": "another reading would change it",
}
"""What is said of an event that is not plainly legal."""
UNTOLD = ("allowed", "pending", "effects", "after")
"""Keys of an answer that are told otherwise."""


def ruling_of(ruleset: str, event: Tree) -> Ruling:
    """An event as the ruling that it was."""
    action, effects = event["action"], event.get("effects", [])
    return Ruling(
        ruleset=ruleset,
        kind=action,
        question={action: event.get("arguments", {})},
        answer={**event.get("answer", {}), "effects": effects, "after": after(effects)},
        steps=[
            Step(step["rule"], step.get("at"), step["effect"], step["note"], step.get("clause"))
            for step in event.get("steps", ())
        ],
        contested=event.get("contested", []),
        needs=[],
        policy={},
        question_kind=actions_of(ruleset).get(action),
    )


def sentence(ruleset: str, event: Tree) -> str:
    """What happened, as a sentence."""
    said = event.get("arguments", {})
    match event["action"]:
        case "begin":
            return _begun(said)
        case "undo" | "redo":
            numbers = words.series(sorted(event["undoes"]))
            several = "events" if len(event["undoes"]) > 1 else "event"
            return f"{'Takes back' if event['action'] == 'undo' else 'Does again what was undone by'} {several} {numbers}"
        case "set":
            return f"The referee sets {words.series(map(effect_in_words, event['effects']))}"
        case "abandon":
            return f"The referee abandons {said.get('abandoned')}"
    return words.verdict(ruling_of(ruleset, event))


def _begun(said: Tree) -> str:
    dice = "the server rolls" if said.get("dice") == "server" else "the table rolls and types"
    if "forked_from" in said:
        return f"Branched off from {said['forked_from']} after event {said['after']}; {dice}"
    begun = f"scenario {said['scenario']}" if "scenario" in said else f"a position on {said.get('map')}"
    return f"The game begins from {begun}; {dice}"


def event_line(ruleset: str, event: Tree) -> str:
    """An event in a line: number, who, what, and what came of it."""
    marks = [STANDS[event["legality"]]] if event["legality"] in STANDS else []
    if "struck_out_by" in event:
        marks.append(f"taken back by {event['struck_out_by']}")
    marked = f"  [{'; '.join(marks)}]" if marks else ""
    return f"{event['number']} {event['actor']} {event['action']}: {sentence(ruleset, event)}{marked}"


def event_lines(ruleset: str, event: Tree) -> list[str]:
    """What stands below an event's line: every rule, dice and where they came from, what changed, what was said."""
    ruling = ruling_of(ruleset, event)
    return [
        *(str(words.step_in_words(step)) for step in ruling.steps),
        *happenings(event),
        *(str(words.point_in_words(ruleset, point)) for point in event.get("contested", ())),
        *([f"note {event['note']}"] if event.get("note") else []),
        *(annotation_line(said) for said in event.get("annotations", ())),
    ]


def happenings(event: Tree) -> list[str]:
    """Dice, draws and choices of an event with where they came from, and what it changed."""
    return [
        *(f"rolled {_rolled(roll)}" for roll in event.get("rolls", ())),
        *(f"drew {_drawn(draw)}" for draw in event.get("draws", ())),
        *(
            f"{choice['by']} chose {_plainly(choice['value'])} for {choice['choice']}"
            for choice in event.get("choices", ())
        ),
        *(f"effect {effect_in_words(effect)}" for effect in event.get("effects", ())),
    ]


def annotation_line(said: Mapping[str, Any]) -> str:
    """What somebody said of an event afterwards."""
    ruling = f" (ruling {said['ruling']})" if said.get("ruling") else ""
    return f"said by {said['author']}: {said['text']}{ruling}"


def _rolled(roll: Tree) -> str:
    return f"{roll['roll']} for {roll['for']}: {words.in_words(roll['value'])}{_source(roll)}"


def _drawn(draw: Tree) -> str:
    source = draw.get("card", draw.get("draw"))
    return f"{canonical(draw['value'])} from {source} for {draw['for']}{_source(draw)}"


def _source(roll: Tree) -> str:
    """Where a die came from: the server's are derived for an event."""
    source, _, number = roll.get("from", "").partition(" ")
    if not source:
        return ""
    return f" ({source}, derived for event {number})" if number else f" ({source})"


def effect_in_words(effect: Tree) -> str:
    """What changes, in a few words, whom it is about first: unit 1/22, at 1404, depleted."""
    about = [key for key in SUBJECTS if key in effect][:1]
    keys = [*about, *(key for key in effect if key not in about)]
    return ", ".join(_changed(key.replace("_", " "), effect[key]) for key in keys)


def _changed(key: str, value: Any) -> str:
    if value is None or isinstance(value, bool):
        return key if value else f"{'no' if value is None else 'not'} {key}"
    if key == "conditions":
        return f"{key} {effect_in_words(value)}"
    return f"{key} {_plainly(value)}"


def _plainly(value: Any) -> str:
    """A value as somebody would type it."""
    return flow(value) if isinstance(value, dict | list | bool) else str(value)


def moment_in_words(now: Mapping[str, Any]) -> str:
    """Turn, phase and whose it is: turn 1, movement, us."""
    told = [f"turn {now['turn']}"] if "turn" in now else []
    told += [str(now[key]).replace("_", " ") for key in ("phase", "step", "active") if key in now]
    return ", ".join(told)


def waiting_in_words(pending: Tree) -> str:
    """What is awaited, and what may be answered."""
    prompt = pending["prompt"]
    offered = [_plainly(option) for option in prompt.get("options", ())]
    many = ", any of " if prompt.get("many") else ", one of "
    form = f", as {prompt['form']}" if "form" in prompt else ""
    return f"waits for {awaited(pending)}{many + ', '.join(offered) if offered else form}"


def known_so_far(pending: Tree) -> str:
    """What an action that waits has found out already: attack 4; defense 4."""
    told = {key: value for key, value in pending["answer"].items() if key not in UNTOLD}
    return words.answer_in_words(told, words.LISTED) if told else ""
