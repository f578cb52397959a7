-- needs: css/move.sql, css/events.sql, css/activation.sql
-- A move that is played, one step at a time in css (Guam): what a step costs and who may fire, what leaving and
-- entering do to DG, and what waits in the hex entered: 6.0, 6.1.1, 6.2.2, 8.6, 16.0, 23.0, 24.1, 25.0, 28.1.
--
-- `css.move` judges a whole way on paper; a game goes it hex by hex, and stops wherever somebody decides. Costs, bars
-- and watchers are those of `css.move`.

create or replace function css._first_purse(mover css.mover, trail boolean)
returns table (purse integer, steps rulings.move_step[])
language plpgsql stable rows 1
as $$
declare
  step rulings.move_step;
begin
  steps := array(select told from css._allowance_steps(mover, trail) as told);
  foreach step in array steps loop
    purse := coalesce(step.remaining, purse);
  end loop;
  return next;
end
$$;

comment on function css._first_purse(css.mover, boolean) is
'What a mover may spend before its first step, in halves, and why.';

create or replace function css.step(
  position_id bigint,
  unit text,
  "to" text,
  options jsonb default null,
  conditions jsonb default null,
  policy jsonb default null
)
returns setof rulings.ledger_step
language plpgsql stable rows 8
-- the plans take longer to make than to run: they are made once a session
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_variable
declare
  mover css.mover := css._mover(position_id, unit, options - array['purse', 'trail', 'n'], conditions, policy);
  trail constant boolean := coalesce((options ->> 'trail')::boolean, false);
  goal public.hex;
  leg css.leg;
  told rulings.move_step[] := '{}';
  toll css.cost[];
  shots rulings.move_step[] := '{}';
  purse integer := (options ->> 'purse')::integer;
  bar rulings.move_step;
  cost integer := 0;
begin
  select * into goal from public.hex where hex.map_id = mover.map_id and hex.label = "to";
  if goal.label is null then
    raise exception 'there is no hex % on the map', "to" using errcode = 'no_data_found';
  end if;
  select * into leg from css._legs(mover, array[mover.q, goal.q], array[mover.r, goal.r]);
  leg.n := coalesce((options ->> 'n')::integer, 1);
  if purse is null then
    select first.purse, first.steps into purse, told from css._first_purse(mover, trail) as first;
  else
    told := array(
      select row(held.rule, null, mover.label, 'forbids', held.note, null, null, null, null)::rulings.move_step
      from css._holds(position_id, mover.q, mover.r, mover.inside) as held
    );
  end if;
  told := told || array(select row(step.*, null, null, null)::rulings.move_step from css._step_bars(mover, leg) as step);
  toll := array(select part from css._toll(mover, leg, trail, purse) as part);
  told := told || array(
    select row(part.rule, null, part.at, part.effect, part.note, part.point, part.halves, null, null)::rulings.move_step
    from unnest(toll) as part
  );
  select coalesce(sum(part.halves), 0) into cost from unnest(toll) as part where part.effect = 'cost';
  select * into bar from unnest(told) as step where step.effect in ('forbids', 'unknown') order by step.effect limit 1;
  if bar.rule is null then
    shots := array(
      select step
      from css._op_fire_steps(mover, leg, array(select gunner from css._gunners(mover, array[leg]) as gunner)) as step
    );
  end if;
  return query
  select step.rule, step.clause, step.at, step.effect, step.note, step.point, step.by, step.halves, null::jsonb
  from unnest(told || shots) as step;
  return next css._sum(
    coalesce(bar.rule, '6.0'),
    case bar.effect when 'forbids' then 'refused' when 'unknown' then 'unknown' else 'legal' end,
    coalesce(bar.note, format('to %s', "to")),
    jsonb_build_object(
      'purse', purse - cost,
      'cost', cost,
      'way', toll[1].way,
      'inside', leg.next_inside,
      'fires', (
        select coalesce(jsonb_agg(jsonb_build_object('by', step.by, 'alert', step.effect = 'roll') order by step.by), '[]')
        from unnest(shots) as step
        where step.effect = 'opportunity fire' or (step.effect = 'roll' and step.rule = '12.5')
      )
    ),
    "to"
  );
end
$$;

comment on function css.step(bigint, text, text, jsonb, jsonb, jsonb) is
'One step of a move: what bars it, what it costs of what is left, and who may fire at it in the hex left (6.0, 8.6).';

create or replace function css.watched(
  position_id bigint, unit text, "to" text, conditions jsonb default null, policy jsonb default null
)
returns setof rulings.move_step
language plpgsql stable rows 2
as $$
#variable_conflict use_variable
declare
  mover css.mover := css._mover(position_id, unit, null, conditions, policy);
  goal public.hex;
  leg css.leg;
begin
  select * into goal from public.hex where hex.map_id = mover.map_id and hex.label = "to";
  select * into leg from css._legs(mover, array[mover.q, goal.q], array[mover.r, goal.r]);
  return query
  select *
  from css._op_fire_steps(mover, leg, array(select gunner from css._gunners(mover, array[leg]) as gunner));
end
$$;

comment on function css.watched(bigint, text, text, jsonb, jsonb) is
'Who may fire at a unit as it leaves its hex for the next, whatever it has to spend (8.6).';

create or replace function css._mine_dg(die integer, demolition integer)
returns integer
language sql immutable parallel safe
return greatest(die - demolition, 0) / 2;

comment on function css._mine_dg(integer, integer) is
'DG of mines: the die less what demolition teams placed, halved and rounded down; never less than none (28.1).';

create or replace function css.mines(
  position_id bigint, label text, die integer, conditions jsonb default null, policy jsonb default null
)
returns setof rulings.ledger_step
language plpgsql stable rows 3
as $$
#variable_conflict use_variable
declare
  state positions.state;
  field public.marker;
  cleared integer;
  dg integer;
begin
  select * into state from positions.state(position_id, conditions, policy);
  select marker.* into field
  from public.marker
  inner join public.hex on hex.map_id = marker.map_id and hex.q = marker.q and hex.r = marker.r
  where marker.position_id = position_id and marker.kind = 'mines' and hex.label = label;
  if field.id is null then
    return next css._sum('28.1', 'refused', 'no mines lie in the hex left', '{}', label);
    return;
  end if;
  cleared := coalesce((field.attributes ->> 'demolition')::integer, 0);
  dg := css._mine_dg(die, cleared);
  return next css._entry('28.1', null, '+' || die, 'the die', null, 2 * die, null, label);
  if cleared > 0 then
    return next css._entry(
      '28.3', null, '-' || cleared, 'what demolition teams placed', null, -2 * cleared, null, label
    );
  end if;
  if die < cleared then
    return next css._entry(
      '28.3', null, 'passes', 'the die is below what demolition teams placed', null, null, 'css-84', label
    );
    -- css-84: nothing is left of them, or they count below 0
    dg := case state.readings ->> 'css-84' when 'b' then floor((die - cleared) / 2.0) else dg end;
  end if;
  return next css._sum('28.1', dg || ' DG', 'halved, rounded down', jsonb_build_object('dg', dg), label);
end
$$;

comment on function css.mines(bigint, text, integer, jsonb, jsonb) is
'DG that mines put on those who leave a Beach hex (28.1, 28.3).';

create or replace function css.crossing(
  position_id bigint,
  codes text[],
  "to" text,
  mine_dg integer,
  op_fire_dg integer,
  told_apart boolean,
  inside boolean,
  conditions jsonb default null,
  policy jsonb default null
)
returns setof rulings.ledger_step
language plpgsql stable rows 4
as $$
#variable_conflict use_variable
declare
  state positions.state;
  mover css.mover;
  here integer;
  there integer;
  goal public.hex;
  carried integer;
  mines constant integer := coalesce(mine_dg, 0);
  shot constant integer := coalesce(op_fire_dg, 0);
begin
  select * into state from positions.state(position_id, conditions, policy);
  mover := css._mover(position_id, codes[1], jsonb_build_object('with', to_jsonb(codes[2:])), conditions, policy);
  select * into goal from public.hex where hex.map_id = state.map_id and hex.label = "to";
  here := css._dg_at(position_id, mover.q, mover.r, mover.inside);
  there := css._dg_at(position_id, goal.q, goal.r, coalesce(inside, false));
  -- what was told apart does not lie on the hex yet
  carried := case
    when mine_dg is not null and state.readings ->> 'css-2' = 'b' then shot + mines
    else here + mines + case when told_apart then shot else 0 end
  end;
  carried := greatest(carried, 0);
  if here > 0 then
    return next css._entry(
      '6.1.1', null, '+' || here, 'DG of the hex left', null, 2 * here, case when mine_dg is not null then 'css-2' end,
      mover.label
    );
  end if;
  if shot > 0 and told_apart then
    return next css._entry('8.6', null, '+' || shot, 'DG of Opportunity Fire', null, 2 * shot, null, mover.label);
  end if;
  if mines <> 0 then
    return next css._entry('28.1', null, to_char(mines, 'SG9'), 'DG of mines', null, 2 * mines, null, mover.label);
  end if;
  if carried > 4 then
    return next css._entry(
      '10.2.3', null, 'eliminates', format('%s over DG4: as many units are lost', carried - 4), null, null, null,
      mover.label
    );
  end if;
  return next css._sum(
    '6.1.1', 'DG' || greatest(least(carried, 4), there), format('the worse of DG%s and DG%s', least(carried, 4), there),
    jsonb_build_object(
      'from', mover.label,
      'from_inside', mover.inside,
      'carried', least(carried, 4),
      'eliminated', greatest(carried - 4, 0),
      'here', here,
      'stay', css._friends(mover, mover.q, mover.r, mover.inside) > 0,
      'there', there,
      'dg', greatest(least(carried, 4), there),
      'stays_at', least(here + case when told_apart then shot else 0 end + 1, 4),
      'lost_by_staying', greatest(here + case when told_apart then shot else 0 end + 1 - 4, 0)
    ),
    "to"
  );
end
$$;

comment on function css.crossing(bigint, text[], text, integer, integer, boolean, boolean, jsonb, jsonb) is
'DG that movers carry from hex to hex, and what becomes of the two hexes (6.1.1, 10.2.3, 28.1, css-2).';

create or replace function css.purse_left(
  position_id bigint, purse integer, before integer, after integer, policy jsonb default null
)
returns integer
language sql stable
as $$
  select case
    when positions.readings(position_id, policy) ->> 'css-58' = 'b' then purse else css._dg_left(purse, before, after)
  end
$$;

comment on function css.purse_left(bigint, integer, integer, integer, jsonb) is
'Halves of a point that are left when DG grows in the middle of a move (10.2.3, css-58).';

-- What waits for who enters

create or replace function css.ambushers(
  position_id bigint, "to" text, conditions jsonb default null, policy jsonb default null
)
returns table (code text, division text, label text)
language sql stable rows 3
as $$
  select unit.code, unit.attributes ->> 'division', here.label
  from positions.state(position_id, conditions, policy) as state
  inner join public.hex as goal on goal.map_id = state.map_id and goal.label = "to"
  inner join public.unit on unit.position_id = state.position_id and unit.side = 'japan'
  inner join public.hex as here on here.map_id = unit.map_id and here.q = unit.q and here.r = unit.r
  where lattice.distance(unit.q, unit.r, goal.q, goal.r) = 1
    and css._is_unit(unit.kind)
    and unit.kind <> 'ambush'
    and unit.attributes ->> 'posture' = 'deployed'
    and exists (
      select
      from css.fire_zone(state.position_id, unit.code, conditions, policy) as zone
      where zone.arm = 'unit' and (zone.q, zone.r) = (goal.q, goal.r)
    )
  order by unit.code
$$;

comment on function css.ambushers(bigint, text, jsonb, jsonb) is
'Regular Deployed Japanese units beside a hex, with a Fire Zone on it, who may set an Ambush there (24.1).';

create or replace function css.ambush(
  position_id bigint, "to" text, by text, conditions jsonb default null, policy jsonb default null
)
returns setof rulings.ledger_step
language plpgsql stable rows 4
as $$
#variable_conflict use_variable
declare
  state positions.state;
  goal public.hex;
  terrain text;
  bar record;
  number text;
begin
  select * into state from positions.state(position_id, conditions, policy);
  select * into goal from public.hex where hex.map_id = state.map_id and hex.label = "to";
  terrain := css._terrain_at(position_id, goal);
  for bar in
    select *
    from (
      values
      (
        coalesce(state.conditions -> 'ambush_tried' ? "to", false),
        'an Ambush was tried in this hex in this Activation'
      ),
      (css._held_by(position_id, 'us', goal.q, goal.r), 'Americans stand in the hex already'),
      (css._held_by(position_id, 'japan', goal.q, goal.r), 'Japanese stand in the hex already'),
      (
        by is not null and not exists (
          select from css.ambushers(position_id, "to", conditions, policy) as one where one.code = by
        ),
        'no regular Deployed unit with a Fire Zone on the hex stands beside it'
      ),
      (
        by is null and not exists (select from css.ambushers(position_id, "to", conditions, policy)),
        'no regular Deployed unit with a Fire Zone on the hex stands beside it'
      )
    ) as bars (holds, note)
    where bars.holds
  loop
    return next css._sum('24.1', 'refused', bar.note, '{}', "to");
    return;
  end loop;
  select cell.value into number from charts.cell('css', 'terrain_effects_chart', terrain, 'ambush') as cell;
  return next css._entry('24.1', null, 'needs', format('the Ambush number of %s', replace(terrain, '_', ' ')), null, null, null, "to");
  return next css._sum(
    '24.1', 'tried', 'a regular Deployed unit watches the hex',
    jsonb_build_object(
      'terrain', terrain,
      'number', number::integer,
      'natural', state.readings ->> 'css-59' = 'b',
      'payers', (
        select coalesce(jsonb_agg(distinct one.division order by one.division), '[]')
        from css.ambushers(position_id, "to", conditions, policy) as one
        where (by is null or one.code = by) and one.division is not null
      )
    ),
    "to"
  );
end
$$;

comment on function css.ambush(bigint, text, text, jsonb, jsonb) is
'Whether an Ambush may be tried in a hex, on what number, and who pays (24.1).';

create or replace function css.snipers_at(position_id bigint, label text)
returns table (at text, attributes jsonb, pinned boolean)
language sql stable rows 1
as $$
  select
    lair.label,
    marker.attributes,
    exists (
      select
      from public.marker as pin
      where pin.position_id = marker.position_id and pin.kind = 'pinned' and (pin.q, pin.r) = (goal.q, goal.r)
    )
  from public.marker
  inner join public.hex as lair on lair.map_id = marker.map_id and lair.q = marker.q and lair.r = marker.r
  inner join public.hex as goal on goal.map_id = marker.map_id and goal.label = snipers_at.label
  where marker.position_id = snipers_at.position_id
    and marker.kind = 'sniper'
    and lattice.distance(marker.q, marker.r, goal.q, goal.r) = 1
  order by lair.label
$$;

comment on function css.snipers_at(bigint, text) is
'Snipers beside a hex, whom an American who enters it triggers (25.0).';

create or replace function css.disband(
  position_id bigint, unit text, conditions jsonb default null, policy jsonb default null
)
returns setof rulings.ledger_step
language plpgsql stable rows 3
as $$
#variable_conflict use_variable
declare
  state positions.state;
  asked positions.counter := positions._asked_counter(position_id, unit);
  nearest record;
  bar record;
  at_night boolean;
  on_chit boolean;
begin
  select * into state from positions.state(position_id, conditions, policy);
  at_night := coalesce(state.conditions ->> 'turn' = 'night_2', (state.conditions ->> 'night')::integer = 2, false)
    and css._phase(state.conditions) = 'preparation';
  on_chit := coalesce(state.conditions ->> 'phase', 'action') = 'action'
    and css._chit(state.conditions) = 'direct_command'
    and coalesce(state.conditions #>> '{active,side}' = 'japan', true);
  select other.code, lattice.distance(other.q, other.r, asked.q, asked.r) as away
  into nearest
  from public.unit as other
  where other.position_id = position_id
    and other.q is not null
    and other.code <> unit
    and css._is_unit(other.kind)
  order by 2, 1
  limit 1;
  for bar in
    select *
    from (
      values
      ('24.3', asked.kind <> 'ambush' or asked.q is null, 'only Ambush Units on the map are disbanded', null),
      (
        '24.3', nearest.away <= 3,
        format('%s is %s hexes away: more than 3 are wanted', nearest.code, nearest.away), null
      ),
      (
        '4.0', state.readings ->> 'css-27' = 'a' and not at_night,
        'Ambush Units are disbanded in the second night turn', 'css-27'
      ),
      (
        '24.3', state.readings ->> 'css-27' = 'b' and not on_chit,
        'Ambush Units are disbanded on the Direct Command chit', 'css-27'
      ),
      (
        '24.3', state.readings ->> 'css-27' = 'c' and not on_chit and not at_night,
        'neither the second night turn nor the Direct Command chit', 'css-27'
      )
    ) as bars (rule, holds, note, point)
    where bars.holds
  loop
    return next css._entry(bar.rule, null, 'forbids', bar.note, unit, null, bar.point, asked.label);
    return next css._sum(bar.rule, 'refused', bar.note, '{}', asked.label);
    return;
  end loop;
  return next css._entry('24.3', null, 'passes', 'no Unit is within 3 hexes', unit, null, 'css-27', asked.label);
  return next css._sum(
    '24.3', 'disbanded', format('%s goes back to the pool', unit),
    jsonb_build_object(
      'free', at_night and state.readings ->> 'css-27' in ('a', 'c'),
      'payers', (
        select coalesce(jsonb_agg(display.name order by display.place), '[]')
        from css._displays(state) as display where display.side = 'japan'
      )
    ),
    asked.label
  );
end
$$;

comment on function css.disband(bigint, text, jsonb, jsonb) is
'Whether an Ambush Unit may be disbanded, when, and who pays for it (4.0 1E, 24.3, css-27).';

create or replace function css.sniper_gone(
  position_id bigint, at text, unit text, struck boolean, conditions jsonb default null, policy jsonb default null
)
returns setof rulings.ledger_step
language plpgsql stable rows 3
as $$
#variable_conflict use_variable
declare
  state positions.state;
  free text;
  entered boolean;
begin
  select * into state from positions.state(position_id, conditions, policy);
  -- 10.2.2: a Pinned marker holds for all in its hex
  select friend.code into free
  from public.hex as lair
  inner join public.unit as friend on friend.position_id = position_id and friend.side = 'us'
  where lair.map_id = state.map_id
    and lair.label = at
    and css._is_unit(friend.kind)
    and lattice.distance(lair.q, lair.r, friend.q, friend.r) = 1
    and not coalesce((friend.attributes ->> 'pinned')::boolean, false)
    and not exists (
      select
      from public.marker
      where marker.position_id = position_id
        and marker.kind in ('pinned', 'suppressed')
        and (marker.q, marker.r) = (friend.q, friend.r)
    )
  order by friend.code
  limit 1;
  -- css-6 b: who has entered a Pinned hex and was not hit is not Pinned
  entered := free is null and not struck;
  if entered then
    return next css._entry(
      '10.2.2', null, case state.readings ->> 'css-6' when 'b' then 'free' else 'pinned' end,
      'it has come into a Pinned hex', unit, null, 'css-6', at
    );
  end if;
  if free is null and entered and state.readings ->> 'css-6' = 'b' then
    free := unit;
  end if;
  return next css._entry(
    '25.0', null, case when free is null then 'stays' else 'leaves' end,
    case when free is null then 'all beside him are Pinned' else format('%s is beside him and not Pinned', free) end,
    free, null, null, at
  );
  return next css._sum(
    '25.0', case when free is null then 'stays' else 'removed' end,
    case when free is null then 'the Sniper stays' else 'the Sniper leaves' end,
    jsonb_build_object('removed', free is not null), at
  );
end
$$;

comment on function css.sniper_gone(bigint, text, text, boolean, jsonb, jsonb) is
'Whether a Sniper leaves: once an American Unit beside him is not Pinned (25.0, css-6).';
