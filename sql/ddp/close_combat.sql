-- needs: lattice/cells.sql, positions/place.sql, ddp/communication.sql, ddp/move.sql, ddp/overnight.sql, ddp/spots.sql, ddp/weapons.sql, rulings/step.sql
-- Close combat in ddp (D-Day at Peleliu): the piles of 8.6, its colour, who begins, and where survivors go (8.62, 8.63, 8.64, 12.83, 13.44).

create or replace function ddp._fighters(state positions.state, q integer, r integer)
returns setof positions.counter
language sql stable parallel safe rows 3
as $$
  select unit.*
  from ddp._us_units(state) as unit
  where unit.q = _fighters.q
    and unit.r = _fighters.r
    -- 14.41: a garrison takes no part
    and unit.kind is distinct from 'garrison'
    and unit.kind is distinct from 'hero'
$$;

comment on function ddp._fighters(positions.state, integer, integer) is
'The US units that fight in a hex (8.6, 14.41).';

create or replace function ddp._fighting_steps(unit positions.counter)
returns integer
language sql immutable parallel safe
-- 10.22: a regimental HQ counts as one step
return case
  when unit.kind in ('regimental_hq', 'command_post') then 1
  else (unit.attributes ->> 'steps')::integer
end;

comment on function ddp._fighting_steps(positions.counter) is
'The steps with which a US unit fights in close combat (8.6, 10.22); null where they are not told.';

create or replace function ddp._us_pile(state positions.state, q integer, r integer, stance boolean)
returns setof rulings.ledger_step
language sql stable rows 4
as $$
  with side as materialized (
    select
      sum(ddp._fighting_steps(unit)) as steps,
      string_agg(unit.code, ', ' order by unit.code) as codes,
      bool_or('FT' = any(ddp._weapons(unit, 1))) as flamethrower,
      bool_or(ddp._flag(unit.attributes, 'hero')) as hero,
      min(unit.label) as label
    from ddp._fighters(state, _us_pile.q, _us_pile.r) as unit
  )

  select
    card.rule,
    null,
    side.label,
    'adds',
    card.note,
    null,
    'us',
    2 * card.number,
    null::jsonb
  from side
  cross join lateral (
    values
    (
      1,
      least(side.steps, 4)::integer,
      '8.6',
      format('%s steps%s: %s', side.steps, case when side.steps > 4 then ', of which four count' else '' end, side.codes)
    ),
    (2, case when side.flamethrower then 1 else 0 end, '8.6', 'a flamethrower'),
    (3, case when side.hero then 1 else 0 end, '10.14', 'a hero'),
    (4, case when stance then 1 else 0 end, '13.44', 'against a counterattack')
  ) as card (n, number, rule, note)
  where card.number > 0
  order by card.n
$$;

comment on function ddp._us_pile(positions.state, integer, integer, boolean) is
'The cards of the US pile, each with its reason (8.6, 10.14, 13.44).';

create or replace function ddp._depth_said(attributes jsonb)
returns jsonb
language sql immutable parallel safe
return case
  when attributes ? 'depth' and not ddp._flag(attributes -> 'depth', 'tactical') then attributes -> 'depth'
  when attributes ? 'counterattack' and coalesce((attributes -> 'counterattack' ->> 'depth')::boolean, true)
    then attributes -> 'counterattack'
end;

comment on function ddp._depth_said(jsonb) is
'The depth of a Japanese unit: its depth marker, or its counterattack marker on the depth side (13.46); null where it has none.';

create or replace function ddp._close_requires(attributes jsonb)
returns integer
language sql immutable parallel safe
return (
  select count(*)::integer
  from jsonb_array_elements_text(
    coalesce(attributes -> 'requires', '[]') || coalesce(ddp._depth_said(attributes) -> 'requires', '[]')
  ) as weapon (word)
  where weapon.word = 'CC'
);

comment on function ddp._close_requires(jsonb) is
'How often CC stands on a Japanese unit and its depth (8.6).';

create or replace function ddp._japanese_pile(state positions.state, enemy ddp.occupant, attacker text)
returns setof rulings.ledger_step
language sql stable rows 6
as $$
  select
    card.rule,
    null,
    enemy.label,
    case when card.number > 0 then 'adds' else 'none' end,
    card.note,
    card.point,
    'japan',
    2 * card.number,
    null::jsonb
  from (
    select
      coalesce((enemy.attributes ->> 'strength')::integer, 0)
      + coalesce((ddp._depth_said(enemy.attributes) ->> 'strength')::integer, 0) as strength,
      ddp._close_requires(enemy.attributes) as close,
      hex.terrain in ('mountain', 'coral', 'jungle') as rough,
      hex.terrain
    from public.hex
    where hex.map_id = state.map_id and hex.q = enemy.q and hex.r = enemy.r
  ) as said
  cross join lateral (
    select
      said.rough and (attacker <> 'japan' or coalesce(state.readings ->> 'ddp-55' <> 'b', true)) as rough,
      said.rough and attacker = 'japan' and not enemy.tank and not ddp._overnight(state.conditions) as disputed
  ) as ground
  cross join lateral (
    values
    (1, 1, '8.6', enemy.code, null),
    (2, case when ddp._depth_said(enemy.attributes) is not null then 1 else 0 end, '8.6', 'depth', null),
    (
      3,
      case when attacker = 'japan' and not enemy.stance then 1 else 0 end,
      case when enemy.stance then '13.44' else '8.6' end,
      'the Japanese attack',
      null
    ),
    (
      4,
      case when said.strength >= 4 then 1 else 0 end,
      '8.6',
      format('a strength of %s, terrain apart', said.strength),
      null
    ),
    (5, said.close, '8.6', format('close combat required %s', case said.close when 1 then 'once' else format('%s times', said.close) end), null),
    (
      6,
      case when ground.rough or enemy.tank or ddp._overnight(state.conditions) then 1 else 0 end,
      '8.6',
      concat_ws(
        ', ',
        case when said.rough then said.terrain end,
        case when enemy.tank then 'a tank' end,
        case when ddp._overnight(state.conditions) then 'by night' end
      ),
      case when ground.disputed then 'ddp-55' end
    )
  ) as card (n, number, rule, note, point)
  where card.number > 0 or card.point is not null
  order by card.n
$$;

comment on function ddp._japanese_pile(positions.state, ddp.occupant, text) is
'The cards of the Japanese pile, each with its reason (8.6, 13.44, ddp-55).';

create or replace function ddp._combat_color(state positions.state, enemy ddp.occupant, origin text)
returns text
language sql stable parallel safe
return coalesce(
  case when not enemy.provisional then enemy.color end,
  case when enemy.stance then enemy.attributes -> 'counterattack' ->> 'color' end,
  case when enemy.tank then enemy.attributes ->> 'color' end,
  (
    select spot.color
    from ddp._spots(state.map_id) as spot
    where spot.label = coalesce(origin, enemy.attributes ->> 'from')
    order by spot.place
    limit 1
  ),
  enemy.attributes ->> 'color'
);

comment on function ddp._combat_color(positions.state, ddp.occupant, text) is
'The colour that hits in a close combat: of the position, else of the marker or tank, else of where an assault came from (8.6, 8.64, 12.83, 13.44).';

create or replace function ddp.close_combat(
  position_id bigint,
  at text,
  attacker text,
  origin text default null,
  conditions jsonb default null,
  policy jsonb default null
)
returns setof rulings.ledger_step
language plpgsql stable rows 12
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
declare
  state positions.state;
  spot record;
  enemy ddp.occupant;
  fighters positions.counter[];
  steps rulings.ledger_step[];
  color text;
  beside text;
begin
  select * into state from positions.state(close_combat.position_id, close_combat.conditions, close_combat.policy);
  select place.q, place.r, hex.label into spot
  from positions.place(close_combat.position_id, close_combat.at) as place
  inner join public.hex on hex.map_id = state.map_id and place.q = hex.q and place.r = hex.r;
  select held.* into enemy
  from ddp._occupants(state) as held
  where held.q = spot.q and held.r = spot.r
  order by held.fortification, held.code
  limit 1;
  fighters := array(select unit from ddp._fighters(state, spot.q, spot.r) as unit order by unit.code);
  if cardinality(fighters) = 0 or enemy.code is null then
    return query
    select
      '8.6', null::text, spot.label, 'no close combat',
      case when enemy.code is null then 'no Japanese unit is there' else 'no US unit is there that fights' end,
      null::text, null::text, null::integer,
      jsonb_build_object(
        'allowed', false, 'at', spot.label,
        'fighters', (select coalesce(jsonb_agg(unit.code), '[]') from unnest(fighters) as unit),
        'enemy', case when not enemy.fortification then enemy.code end
      );
    return;
  end if;
  if ddp._night(state.conditions) or ddp._fresh_morning(state.conditions) then
    return query
    select
      case when ddp._night(state.conditions) then '18.21' else '18.22' end,
      null::text, spot.label, 'no close combat', 'nobody fights at night, nor in a morning under the new command',
      null::text, null::text, null::integer,
      jsonb_build_object('allowed', false, 'at', spot.label, 'fighters', '[]'::jsonb, 'enemy', null);
    return;
  end if;
  color := ddp._combat_color(state, enemy, close_combat.origin);
  select min(unit.code) into beside
  from ddp._us_units(state) as unit
  where lattice.distance(unit.q, unit.r, spot.q, spot.r) = 1;
  steps := array(select step from ddp._us_pile(state, spot.q, spot.r, enemy.stance) as step)
  || array(select step from ddp._japanese_pile(state, enemy, close_combat.attacker) as step where not enemy.fortification);
  return query select * from unnest(steps);
  return query
  select
    '13.44', null::text, spot.label, 'us first', format('%s is adjacent to a counterattack', beside),
    null::text, beside, null::integer, null::jsonb
  where enemy.stance and beside is not null;
  return query
  select
    '2.21', null::text, spot.label, 'unknown', format('the steps of %s', unit.code),
    null::text, unit.code, null::integer, null::jsonb
  from unnest(fighters) as unit
  where ddp._fighting_steps(unit) is null;
  return query
  select
    '8.6', null::text, spot.label, 'piles',
    format(
      'US %s, Japan %s',
      coalesce((select sum(step.halves) / 2 from unnest(steps) as step where step.by = 'us'), 0),
      coalesce((select sum(step.halves) / 2 from unnest(steps) as step where step.by = 'japan'), 0)
    ),
    null::text, null::text, null::integer,
    jsonb_build_object(
      'allowed', true,
      'at', spot.label,
      'piles', jsonb_build_object(
        'us', coalesce((select sum(step.halves) / 2 from unnest(steps) as step where step.by = 'us'), 0),
        'japan', coalesce((select sum(step.halves) / 2 from unnest(steps) as step where step.by = 'japan'), 0)
      ),
      'first', case when enemy.stance and beside is not null then 'us' else 'japan' end,
      'color', color,
      'fighters', (select jsonb_agg(unit.code order by unit.code) from unnest(fighters) as unit),
      'enemy', case when not enemy.fortification then enemy.code end,
      'fortified', enemy.fortification or exists (
        select from ddp._occupants(state) as held where held.q = spot.q and held.r = spot.r and held.fortification
      ),
      'stance', enemy.stance,
      'tank', enemy.tank,
      'cave', enemy.cave,
      'elite', ddp._flag(enemy.attributes, 'elite'),
      'place', case when not enemy.provisional then enemy.place end
    );
end
$$;

comment on function ddp.close_combat(bigint, text, text, text, jsonb, jsonb) is
'The piles of a close combat card by card, its colour and who begins (8.6, 13.44): the verdict last.';

create or replace function ddp.withdrawal(
  position_id bigint, at text, origin text default null, conditions jsonb default null, policy jsonb default null
)
returns setof rulings.ledger_step
language plpgsql stable rows 3
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
declare
  state positions.state;
  spot record;
  home record;
  open jsonb;
begin
  select * into state from positions.state(withdrawal.position_id, withdrawal.conditions, withdrawal.policy);
  select place.q, place.r, hex.label into spot
  from positions.place(withdrawal.position_id, withdrawal.at) as place
  inner join public.hex on hex.map_id = state.map_id and place.q = hex.q and place.r = hex.r;
  select hex.q, hex.r into home from public.hex where hex.map_id = state.map_id and hex.label = withdrawal.origin;
  with beside as (
    select
      hex.label,
      case when home.q is not null then lattice.distance(hex.q, hex.r, home.q, home.r) else 0 end as away,
      home.q is null and ddp._us_communication(state, hex.q, hex.r) as talks
    from lattice.neighbours(spot.q, spot.r) as step
    inner join public.hex on hex.map_id = state.map_id and step.nq = hex.q and step.nr = hex.r
    where hex.terrain not in ('shallow', 'sea')
      and not exists (select from ddp._occupants(state) as held where held.q = hex.q and held.r = hex.r)
      and not ddp._is_blocked(state.position_id, state.map_id, spot.q, spot.r, hex.q, hex.r)
  ),

  ranked as (
    select beside.label, rank() over (order by beside.away, beside.talks desc) as n from beside
  )

  select jsonb_agg(ranked.label order by ranked.label) into open from ranked where ranked.n = 1;
  return query
  select
    case when home.q is null then '8.63' else '8.62' end,
    null::text,
    spot.label,
    case when open is null then 'no way out' else 'leaves' end,
    case
      when open is null then 'no adjacent land hex is free'
      when home.q is null then 'to an adjacent land hex, one in US communication before others'
      else 'to the adjacent land hex nearest to where they came from'
    end,
    null::text,
    null::text,
    null::integer,
    jsonb_build_object('open', coalesce(open, '[]'));
end
$$;

comment on function ddp.withdrawal(bigint, text, text, jsonb, jsonb) is
'The hexes to which US units leave a close combat: nearest to where they came from, or in US communication (8.62, 8.63).';

create or replace function ddp.refuge(
  position_id bigint, at text, conditions jsonb default null, policy jsonb default null
)
returns setof rulings.ledger_step
language plpgsql stable rows 2
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
declare
  state positions.state;
  spot record;
  found_label text;
begin
  select * into state from positions.state(refuge.position_id, refuge.conditions, refuge.policy);
  select place.q, place.r, hex.label into spot
  from positions.place(refuge.position_id, refuge.at) as place
  inner join public.hex on hex.map_id = state.map_id and place.q = hex.q and place.r = hex.r;
  select one.label into found_label
  from ddp._spots(state.map_id) as one
  where not one.provisional
    and not exists (select from ddp._occupants(state) as held where held.q = one.q and held.r = one.r)
    and not exists (select from ddp._us_units(state) as unit where unit.q = one.q and unit.r = one.r)
  order by
    lattice.distance(one.q, one.r, spot.q, spot.r),
    (
      select min(lattice.distance(one.q, one.r, unit.q, unit.r)) from ddp._us_units(state) as unit
    ),
    ddp._number(one.id) nulls last,
    one.id
  limit 1;
  return query
  select
    '8.64', null::text, found_label, case when found_label is null then 'nowhere' else 'refuge' end,
    case when found_label is null then 'no position is free' else format('%s is the nearest free position', found_label) end,
    null::text, null::text, null::integer, jsonb_build_object('to', found_label);
end
$$;

comment on function ddp.refuge(bigint, text, jsonb, jsonb) is
'The nearest free position to which a Japanese unit goes that survives outside one: then nearest to a US unit, then lowest number (8.64, 13.2).';
