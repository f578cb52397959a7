-- needs: fpb/costs.sql
-- Moves in fpb (Forgotten Pacific Battles), step by step: 5.1, 5.2, 5.3, 5.5, 6.1, 8.5, 10.6, 11.2, 12.0, 12.1, 12.2, 18.1.

create or replace function fpb._permission_steps(state positions.state, mover fpb.mover)
returns setof rulings.move_step
language sql stable rows 2
as $$
  select
    entry.rule,
    null,
    mover.label,
    entry.effect,
    entry.note,
    entry.point,
    null::integer,
    null::integer,
    mover.code
  from (
    select
      state.conditions ->> 'phase' as phase,
      state.conditions ->> 'active' as active,
      (state.conditions ->> 'turn')::integer as turn,
      unit.attributes as said,
      mover.mobility = 'leg' as leg,
      fpb._all_sea(hex.terrain, hex.features) as afloat,
      -- 11.2, 12.0: what was put ashore in this Movement Phase; a mobile unit has its own phase yet
      unit.attributes ->> 'landed' = 'movement' and coalesce(state.conditions ->> 'phase' <> 'mobile_movement', true)
      and (mover.mobility = 'leg' or state.conditions ->> 'phase' = 'movement') as landed
    from positions.counter(state.position_id, mover.code) as unit
    inner join public.hex on hex.map_id = state.map_id and hex.q = mover.q and hex.r = mover.r
  ) as now
  cross join lateral (
    values
    (1, now.active <> mover.side, '5.2', 'forbids', 'it is not its player turn', null),
    (
      2, now.phase not in ('movement', 'mobile_movement'),
      '5.2', 'forbids', 'units move in movement phases alone', null
    ),
    (
      3, now.phase = 'mobile_movement' and now.leg and not mover.landing,
      '5.5', 'forbids', 'leg units do not move in this phase', null
    ),
    (4, now.said ? 'moved', '5.2', 'forbids', 'it has moved in this player turn', null),
    (5, now.said ? 'advanced', '8.5', 'forbids', 'it advanced after combat in this player turn', null),
    (6, now.afloat, '12.1', 'forbids', 'from the sea it comes ashore by assault', null),
    (7, now.landed and now.turn is null, '11.2', 'unknown', 'the game turn', null),
    (8, now.landed and now.turn > 1, '11.2', 'forbids', 'it came ashore after all movement', null),
    (
      9, now.landed and now.turn = 1 and mover.zoned,
      '12.0', 'forbids', 'it landed in an enemy zone of control', null
    ),
    (
      10, now.landed and now.turn = 1 and now.leg and not mover.zoned,
      case state.readings ->> 'fpb-22' when 'a' then '12.0' else '11.2' end,
      case state.readings ->> 'fpb-22' when 'a' then 'passes' else 'forbids' end,
      case state.readings ->> 'fpb-22'
        when 'a' then 'the first to land move on' else 'no leg unit moves as it arrives'
      end,
      'fpb-22'
    )
  ) as entry (n, speaks, rule, effect, note, point)
  where entry.speaks
  order by entry.n
$$;

comment on function fpb._permission_steps(positions.state, fpb.mover) is
'What forbids a unit to move at all: phase, what it did in this player turn, how it came ashore (5.2, 5.5, 8.5, 11.2, 12.0).';

create or replace function fpb._allowance_steps(mover fpb.mover)
returns setof rulings.move_step
language sql immutable rows 2
as $$
  select
    '5.1',
    null,
    mover.label,
    coalesce(trim_scale(mover.halves / 2.0)::text, 'unknown'),
    case
      when mover.halves is null then format('the movement allowance of %s', mover.code)
      else 'the movement allowance of its counter'
    end,
    null,
    null::integer,
    mover.halves,
    mover.code
  union all
  select '11.2', null, mover.label, 'cost', 'it comes ashore', null, mover.spent, mover.halves - mover.spent, mover.code
  where mover.spent > 0
$$;

comment on function fpb._allowance_steps(fpb.mover) is
'What a unit may spend, and what coming ashore has cost it (5.1, 11.2).';

create or replace function fpb._terrain_steps(state positions.state, mover fpb.mover, leg fpb.leg)
returns setof rulings.move_step
language sql stable rows 3
as $$
  with part as (
    select
      key.*,
      hex.label,
      key.halves is not null and row_number() over (
        partition by key.plus is null order by key.halves desc nulls last, key.name collate "C"
      ) = 1 as dearest
    from public.hex
    cross join lateral fpb._terrains(hex.terrain, hex.features) as shown (code)
    inner join fpb._terrain_key(mover.mobility) as key on key.name = shown.code
    where hex.map_id = state.map_id and hex.q = leg.tq and hex.r = leg.tr
  )
  select
    part.rule,
    null,
    part.label,
    case when part.untold then 'unknown' else 'cost' end,
    case
      when part.untold then format('what %s costs', replace(part.name, '_', ' '))
      when part.source = 'printed' then replace(part.name, '_', ' ')
      else format('%s, by the %s''s chart', replace(part.name, '_', ' '), part.source)
    end,
    null,
    case
      when part.untold then null
      when part.word = 'all' then mover.halves
      else coalesce(part.halves, part.plus)
    end,
    null::integer,
    null
  from part
  where leg.way = 'terrain'
    and not leg.flat
    -- 5.4: of several terrains the dearest, and whatever is added
    and (part.untold or part.plus is not null or part.dearest or part.word = 'all')
    and part.word is distinct from 'prohibited'
  order by part.plus is not null, part.name collate "C"
$$;

comment on function fpb._terrain_steps(positions.state, fpb.mover, fpb.leg) is
'What the terrain of the hex entered costs off the road, part by part (5.4).';

create or replace function fpb._crossing_steps(
  state positions.state, mover fpb.mover, leg fpb.leg, goal fpb.ground, side fpb.crossing
)
returns setof rulings.move_step
language sql stable rows 3
as $$
  select
    entry.rule,
    null,
    entry.at,
    entry.effect,
    entry.note,
    entry.point,
    entry.halves,
    null::integer,
    null
  from (
    select
      positions.cell_label(state.map_id, leg.fq, leg.fr, leg.tq, leg.tr) as at,
      case side.path when 'road' then '5.4.1' else '5.4.2' end as rule,
      case when not goal.plain then 'fpb-28' end as point
  ) as cross_over
  cross join lateral (
    values
    (
      1, leg.way <> 'terrain' and not leg.flat, cross_over.rule, goal.label, 'cost', format('along the %s', leg.way),
      cross_over.point, side.rate
    ),
    (
      2, leg.way = 'terrain' and side.path is not null, cross_over.rule, cross_over.at, 'disregarded',
      format('the %s, in other than clear terrain', side.path), 'fpb-28', null
    ),
    (
      3, leg.way = 'terrain' and not leg.flat and leg.river and side.toll is not null, '5.4', cross_over.at, 'cost', 'over a river',
      null, side.toll
    ),
    (
      4, goal.disputed, '6.0', goal.label,
      case when goal.zoned then 'enemy zone' else 'no enemy zone' end,
      'an enemy without a zone of its own is beside it', 'fpb-3', null
    ),
    (
      5, goal.zoned and mover.fluid, case mover.mobility when 'leg' then '13.1' else '6.1' end, goal.label, 'cost',
      'half the allowance, for an enemy zone of control', 'fpb-4', leg.zone
    ),
    (
      6, leg.flat, '6.1', goal.label, 'disregarded', 'the terrain, which that half covers', 'fpb-4', null
    ),
    (
      7, leg.whole and leg.price is not null, '6.1', goal.label, 'cost',
      'the rest of the allowance, from one enemy zone to another', null, leg.price - leg.base
    ),
    (8, leg.ends, '6.1', goal.label, 'stops', 'a leg unit stops in an enemy zone of control', null, null)
  ) as entry (n, speaks, rule, at, effect, note, point, halves)
  where entry.speaks
  order by entry.n
$$;

comment on function fpb._crossing_steps(positions.state, fpb.mover, fpb.leg, fpb.ground, fpb.crossing) is
'What a step costs beside terrain: road or trail, river, enemy zone of control (5.4, 5.4.1, 5.4.2, 6.1, 13.1).';

create or replace function fpb._bar_steps(mover fpb.mover, leg fpb.leg, goal fpb.ground, spent integer, stopped text)
returns setof rulings.move_step
language sql immutable rows 1
as $$
  select
    entry.rule,
    entry.clause,
    goal.label,
    'forbids',
    entry.note,
    null,
    null::integer,
    null::integer,
    null
  from (
    values
    (1, leg.tq is null, '5.1', null, 'it is not beside the hex before'),
    (2, stopped is not null, '6.1', null, format('it stopped in %s', stopped)),
    (3, goal.enemy is not null, '5.2', 'd', format('%s, an enemy, is there', goal.enemy)),
    (4, goal.all_sea, '5.2', 'e', 'the open sea is prohibited'),
    (
      5, leg.shut and goal.enemy is null and not goal.all_sea,
      '5.2', 'e', 'hex or hexside is prohibited to it'
    ),
    (
      6, leg.whole and leg.base > mover.halves,
      '6.1', null, 'not even the whole allowance covers the terrain'
    ),
    (
      7, not coalesce(leg.shut, true) and stopped is null and leg.price > mover.halves - spent,
      '5.2', 'c', format(
        'it costs %s and %s is left', trim_scale(leg.price / 2.0), trim_scale((mover.halves - spent) / 2.0)
      )
    )
  ) as entry (n, speaks, rule, clause, note)
  where entry.speaks
  order by entry.n
$$;

comment on function fpb._bar_steps(fpb.mover, fpb.leg, fpb.ground, integer, text) is
'What forbids a step: nothing adjacent, an earlier stop, an enemy, prohibited terrain, too few points (5.2, 6.1).';

create or replace function fpb._end_steps(mover fpb.mover, goal fpb.ground, readings jsonb)
returns setof rulings.move_step
language sql immutable rows 1
as $$
  select
    entry.rule,
    null,
    goal.label,
    case when entry.allows then 'passes' else 'forbids' end,
    entry.note,
    entry.point,
    null::integer,
    null::integer,
    null
  from (select fpb._may_end(mover, goal, readings) as may, fpb._may_end(mover, goal, readings || '{"fpb-5": "b"}') as ever) as ends
  cross join lateral (
    values
    (goal.friends > 0 and not ends.ever, '5.3', false, 'a friend is there', null),
    (ends.ever and goal.friends > 0 and not mover.landing, '10.6', true, 'of the two one exerts no zone', null),
    (
      ends.ever and goal.friends > 0 and mover.landing,
      '11.2', ends.may, 'it lands, and a friend is there', 'fpb-5'
    )
  ) as entry (speaks, rule, allows, note, point)
  where entry.speaks
$$;

comment on function fpb._end_steps(fpb.mover, fpb.ground, jsonb) is
'Whether a move may end among friends (5.3, 10.6, 11.2).';

create or replace function fpb._entry_steps(state positions.state, side text, labels text[])
returns setof rulings.move_step
language sql stable rows 2
as $$
  select
    case entered.kind when 'landing_beach' then '12.0' else '18.1' end,
    null,
    entered.label,
    case
      when entered.kind is null then 'captures'
      when entered.kind = 'landing_beach' then 'removes'
      when state.readings ->> 'fpb-37' = 'a' or entered.value <> (state.conditions ->> 'turn')::integer then 'reverts'
      when entered.value is null or state.conditions ->> 'turn' is null then 'unknown'
      else 'stays'
    end,
    case
      when entered.kind is null then 'the US side captures the hex'
      when entered.kind = 'landing_beach' then 'a Japanese unit destroys the landing beach'
      when
        state.readings ->> 'fpb-37' = 'b'
        and (entered.value is null or state.conditions ->> 'turn' is null)
        then format('the game turn in which %s was captured', entered.label)
      else 'a Japanese unit enters a captured hex'
    end,
    case when entered.kind = 'captured' then 'fpb-37' end,
    null::integer,
    null::integer,
    null
  from (
    select
      step.label,
      marker.kind,
      marker.value,
      min(step.n) as n
    from unnest(_entry_steps.labels) with ordinality as step (label, n)
    inner join public.hex on hex.map_id = state.map_id and hex.label = step.label
    left join public.marker
      on marker.position_id = state.position_id
        and marker.q = hex.q
        and marker.r = hex.r
        and (marker.kind = 'captured' or (marker.kind = 'landing_beach' and _entry_steps.side = 'japan'))
    where case _entry_steps.side
      when 'japan' then marker.kind is not null
      -- 18.1: without a scenario nobody counts what is captured
      else marker.kind is null and state.conditions ->> 'scenario' is not null
    end
    group by step.label, marker.kind, marker.value
  ) as entered
  order by entered.n, entered.kind
$$;

comment on function fpb._entry_steps(positions.state, text, text[]) is
'What entering these hexes changes: captured by the US side, taken back, a landing beach lost (12.0, 18.1).';

create or replace function fpb.entry(
  position_id bigint, side text, labels text[], conditions jsonb default null, policy jsonb default null
)
returns setof rulings.move_step
language sql stable rows 2
as $$
  select step.*
  from positions.state(entry.position_id, entry.conditions, entry.policy) as state
  cross join lateral fpb._entry_steps(state, entry.side, entry.labels) as step
$$;

comment on function fpb.entry(bigint, text, text[], jsonb, jsonb) is
'What a unit of a side changes by entering hexes, however it does so: captures, landing beaches (12.0, 18.1).';

create or replace function fpb._leaving_steps(state positions.state, mover fpb.mover)
returns setof rulings.move_step
language sql stable rows 2
as $$
  select '12.2', null, mover.label, entry.effect, entry.note, null, null::integer, null::integer, entry.by
  from public.marker
  cross join lateral (
    select 1 as n, 'flips' as effect, 'the way to this hex is free' as note, null as by
    union all
    select 2, 'lands', format('%s comes ashore', unit.code), unit.code
    from fpb._units(state) as unit
    where unit.side = 'us' and unit.attributes ->> 'assaulting' = mover.label
  ) as entry
  where marker.position_id = state.position_id
    and marker.kind = 'assault_boat'
    and marker.q = mover.q
    and marker.r = mover.r
    and mover.side = 'japan'
  order by entry.n, entry.by
$$;

comment on function fpb._leaving_steps(positions.state, fpb.mover) is
'What a Japanese unit opens that moves out of an assault boat hex (12.2).';

create or replace function fpb._walk_steps(state positions.state, mover fpb.mover, path text[])
returns setof rulings.move_step
language plpgsql stable rows 20
as $$
declare
  step rulings.move_step;
  verdict rulings.move_step;
  grounds fpb.ground[];
  crossings fpb.crossing[];
  legs fpb.leg[];
  here fpb.ground;
  goal fpb.ground;
  leg fpb.leg;
  side fpb.crossing;
  spent integer := mover.spent;
  stopped text;
  told boolean := mover.halves is not null;
  barred boolean := false;
  entered text;
begin
  grounds := array(
    select ground
    from (
      select array_agg(distinct array[hex.q, hex.r]) as cells
      from public.hex
      where hex.map_id = state.map_id and (hex.label = any(path) or hex.label = mover.label)
    ) as way
    cross join lateral (
      select array_agg(cells[i][1]) as qs, array_agg(cells[i][2]) as rs
      from (select way.cells, generate_subscripts(way.cells, 1) as i) as each
    ) as split
    cross join lateral fpb._ground(state, mover, split.qs, split.rs) as ground
  );
  crossings := array(select crossing from fpb._crossings(state, mover) as crossing);
  legs := array(select one from fpb._legs(state, mover, grounds, crossings) as one);
  select * into here from unnest(grounds) as ground where ground.label = mover.label;
  goal := here;
  foreach entered in array path loop
    select ground.* into goal from unnest(grounds) as ground where ground.label = entered;
    select one.* into leg from unnest(legs) as one
    where one.fq = here.q and one.fr = here.r and one.tq = goal.q and one.tr = goal.r;
    select one.* into side from unnest(crossings) as one
    where one.x = here.q + goal.q and one.y = here.r + goal.r;
    if leg.tq is not null and not leg.shut and stopped is null then
      return query select * from fpb._terrain_steps(state, mover, leg);
      return query select * from fpb._crossing_steps(state, mover, leg, goal, side);
    end if;
    for step in select * from fpb._bar_steps(mover, leg, goal, spent, stopped) loop
      barred := true;
      return next step;
    end loop;
    exit when barred;
    told := told and leg.price is not null;
    spent := spent + coalesce(leg.price, 0);
    here := goal;
    stopped := case when leg.ends then goal.label end;
  end loop;
  if not barred then
    for step in select * from fpb._end_steps(mover, goal, state.readings) loop
      barred := barred or step.effect = 'forbids';
      return next step;
    end loop;
  end if;
  verdict.rule := '5.1';
  verdict.at := goal.label;
  verdict.effect := case when barred then 'illegal' when told then 'legal' else 'unknown' end;
  verdict.note := case
    when barred and here.label is distinct from goal.label then format('it gets no farther than %s', here.label)
    when barred then 'it cannot end there'
    when told then 'the points suffice'
    else 'what would decide it is not told'
  end;
  if told then
    verdict.halves := spent;
    verdict.remaining := mover.halves - spent;
  end if;
  return next verdict;
end
$$;

comment on function fpb._walk_steps(positions.state, fpb.mover, text[]) is
'A way hex by hex with what each step costs and what stops it, and the verdict.';

create or replace function fpb.move(
  position_id bigint,
  unit text,
  path text[],
  options jsonb default '{}',
  conditions jsonb default null,
  policy jsonb default null
)
returns setof rulings.move_step
language plpgsql stable rows 20
as $$
#variable_conflict use_variable
declare
  state positions.state;
  mover fpb.mover;
  way text[];
  first rulings.move_step[];
  walk rulings.move_step[];
  verdict rulings.move_step;
begin
  select * into state from positions.state(position_id, conditions, policy);
  mover := fpb._mover(state, unit);
  -- the hex it stands in may come first
  way := case when path[1] = mover.label then path[2:] else path end;
  first := array(select step from fpb._permission_steps(state, mover) as step);
  walk := array(select step from fpb._walk_steps(state, mover, way) as step);
  verdict := walk[cardinality(walk)];
  walk := walk[:cardinality(walk) - 1];
  return query select * from unnest(first);
  return query select * from fpb._allowance_steps(mover);
  if exists (select from unnest(first) as step where step.effect = 'forbids') then
    select step.rule, step.note into verdict.rule, verdict.note
    from unnest(first) as step where step.effect = 'forbids' limit 1;
    verdict.effect := 'illegal';
    verdict.at := coalesce(way[1], mover.label);
    verdict.halves := mover.spent;
    verdict.remaining := mover.halves - mover.spent;
  else
    return query select * from unnest(walk);
    if verdict.effect <> 'illegal' then
      if cardinality(way) > 0 then
        return query select * from fpb._leaving_steps(state, mover);
      end if;
      return query select * from fpb._entry_steps(state, mover.side, way);
      if exists (select from unnest(first) as step where step.effect = 'unknown') then
        verdict.effect := 'unknown';
        verdict.note := 'what would decide it is not told';
      end if;
    end if;
  end if;
  return next verdict;
end
$$;

comment on function fpb.move(bigint, text, text[], jsonb, jsonb, jsonb) is
'A way hex by hex: what each step costs, what stops or forbids it, what it captures; the verdict last.';
