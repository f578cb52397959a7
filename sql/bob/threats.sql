-- needs: bob/attacks.sql, rulings/step.sql
-- Who can hurt whoever is in a hex, in bob: every enemy who sees it, may fire now and reaches so far (6.0, 14.0, 31.1).
--
-- A shot is judged as an attack on that hex would be, but for who is in it: whoever comes there is meant.

create or replace function bob._threat_steps(state positions.state, firer positions.counter, hex text)
returns setof rulings.ledger_step
language plpgsql stable rows 1
as $$
#variable_conflict use_variable
declare
  shot bob.shot := bob._shot(state, firer.code, 'hex:' || hex, 'fire', null, null, null, '{}');
  steps rulings.ledger_step[];
  bar rulings.ledger_step;
  reach text;
begin
  steps := array(
    select step from bob._state_forbids(state, shot) as step
    union all
    select step from bob._ground_forbids(state, shot) as step
    union all
    select step from bob._range_forbids(state, shot) as step
    union all
    select step from bob._sight_steps(state, shot) as step
  );
  select step.* into bar from unnest(steps) as step where step.effect in ('forbids', 'blocked') limit 1;
  if found then
    return;
  end if;
  select step.* into bar from unnest(steps) as step where step.effect = 'unknown' limit 1;
  if found then
    return next row(bar.rule, null, hex, 'unknown', bar.note, bar.point, firer.code, null, null)::rulings.ledger_step;
    return;
  end if;
  reach := case when (shot.aim).away > shot.far then ', which is long range' else '' end;
  return next row(
    '6.0', null, hex, 'fires',
    format(
      '%s sees %s and reaches it with %s at range %s%s',
      firer.code, hex, bob._threat_arm(shot), (shot.aim).away, reach
    ),
    null, firer.code, null, jsonb_build_object('with', bob._threat_arm(shot), 'range', (shot.aim).away)
  )::rulings.ledger_step;
end
$$;

comment on function bob._threat_steps(positions.state, positions.counter, text) is
'Whether a unit could fire into a hex now: a row that tells so, or what would decide it; none where it could not.';

create or replace function bob._threat_arm(shot bob.shot)
returns text
language sql immutable parallel safe
return case shot.arm
  when 'v_gun' then 'its main gun'
  when 'mortar' then 'its mortar'
  else 'infantry fire'
end;

comment on function bob._threat_arm(bob.shot) is 'What a unit fires with, in words.';

create or replace function bob.threats(
  position_id bigint, hexes text[], side text, conditions jsonb default null, policy jsonb default null
)
returns setof rulings.ledger_step
language sql stable rows 20
as $$
  select step.*
  from positions.state(threats.position_id, threats.conditions, threats.policy) as state
  cross join lateral bob._counters(state) as firer
  cross join unnest(threats.hexes) with ordinality as asked (label, n)
  cross join lateral bob._threat_steps(state, firer, asked.label) as step
  where firer.side <> threats.side
    and firer.attributes ? 'fp'
    -- who stands there is in Melee with it, not under its fire
    and firer.label <> asked.label
  order by asked.n, (step.facts ->> 'range')::integer, step.by collate "C", step.rule
$$;

comment on function bob.threats(bigint, text[], text, jsonb, jsonb) is
'Every enemy of a side that can fire into one of some hexes (effect fires, by whom, facts: with what, at which range).';
