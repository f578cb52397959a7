-- needs: ddp/spots.sql, ddp/stack.sql, rulings/step.sql
-- Landing in ddp (D-Day at Peleliu): 5.1, 5.11, 5.2, 5.3.

create or replace function ddp._boxes(map_id bigint)
returns table (code text, feature bigint, n integer, dots text[])
language sql stable parallel safe rows 5
as $$
  select
    box.code,
    box.id,
    (box.attributes ->> 'order')::integer,
    array(select jsonb_array_elements_text(coalesce(box.attributes -> 'dots', '[]')))
  from public.map_feature as box
  where box.map_id = _boxes.map_id and box.kind = 'box'
  order by (box.attributes ->> 'order')::integer, box.code
$$;

comment on function ddp._boxes(bigint) is
'The beach landing boxes from north to south, with the positions whose fire dots they hold (2.1).';

create or replace function ddp._in_box(position_id bigint, box text)
returns table (code text, kind text, symbol text, steps integer, drifted boolean, checked boolean, acted boolean)
language sql stable parallel safe rows 6
as $$
  select
    unit.code,
    unit.kind,
    unit.attributes ->> 'symbol',
    (unit.attributes ->> 'steps')::integer,
    ddp._flag(unit.attributes, 'drifted'),
    ddp._flag(unit.attributes, 'checked'),
    ddp._flag(unit.attributes, 'acted')
  from public.unit
  where unit.position_id = _in_box.position_id
    and unit.side = 'us'
    and unit.attributes ->> 'box' = _in_box.box
  order by unit.code
$$;

comment on function ddp._in_box(bigint, text) is
'The US units that wait in a landing box (5.3).';

create or replace function ddp.landing(
  position_id bigint, box text, color text, symbol text, drift text, conditions jsonb default null, policy jsonb default null
)
returns setof rulings.ledger_step
language plpgsql stable rows 8
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
declare
  state positions.state;
  own record;
  beside text;
  hits boolean;
begin
  select * into state from positions.state(landing.position_id, landing.conditions, landing.policy);
  select * into own from ddp._boxes(state.map_id) as one where one.code = landing.box;
  return query
  select
    '5.1', null::text, spot.label,
    case when bool_or(not held.disrupted) then 'fires' else 'silent' end,
    format(
      '%s, %s: %s',
      spot.place, landing.color,
      case
        when bool_or(not held.disrupted) then 'an undisrupted unit is there'
        when count(held.code) > 0 then 'whoever is there is disrupted'
        else 'nobody is there'
      end
    ),
    null::text, spot.place, null::integer, null::jsonb
  from (
    select one.place, one.color, min(one.label) as label from ddp._spots(state.map_id) as one group by one.place, one.color
  ) as spot
  left join ddp._occupants(state) as held on spot.place = held.place
  where spot.place = any(own.dots) and spot.color = landing.color
  group by spot.place, spot.label
  order by spot.place;
  select exists (
    select
    from ddp._spots(state.map_id) as spot
    inner join ddp._occupants(state) as held on spot.q = held.q and spot.r = held.r
    where spot.place = any(own.dots) and spot.color = landing.color and not held.disrupted
  ) into hits;
  return query
  select
    case when one.kind in ('regimental_hq', 'infantry_hq') then '5.11' else '5.1' end,
    null::text,
    landing.box,
    'safe',
    case
      when one.drifted then format('%s has drifted here and is not checked', one.code)
      else format('%s is an HQ and is not checked', one.code)
    end,
    null::text, one.code, null::integer, null::jsonb
  from ddp._in_box(landing.position_id, landing.box) as one
  where one.drifted or one.kind in ('regimental_hq', 'infantry_hq')
  order by one.code;
  -- 5.1: left is north; without a box on that side, the other
  select coalesce(
    (
      select other.code from ddp._boxes(state.map_id) as other
      where other.n = own.n + case landing.drift when 'left' then -1 else 1 end
    ),
    (
      select other.code from ddp._boxes(state.map_id) as other
      where other.n = own.n + case landing.drift when 'left' then 1 else -1 end
    )
  ) into beside;
  return query
  select
    '5.1', null::text, landing.box,
    case when hits then 'hit' else 'no hit' end,
    case
      when hits then format('every unit with the %s loses a step', landing.symbol)
      else format('no undisrupted %s position fires into the box', landing.color)
    end,
    null::text, null::text, null::integer,
    jsonb_build_object(
      'fire', hits,
      'hit', coalesce(
        (
          select jsonb_agg(one.code order by one.code)
          from ddp._in_box(landing.position_id, landing.box) as one
          where hits and one.symbol = landing.symbol and not one.drifted
            and one.kind not in ('regimental_hq', 'infantry_hq')
        ),
        '[]'
      ),
      'drifters', coalesce(
        (
          select jsonb_agg(one.code order by one.code)
          from ddp._in_box(landing.position_id, landing.box) as one
          where landing.drift is not null and one.symbol = landing.symbol and not one.drifted
            and one.kind not in ('regimental_hq', 'infantry_hq')
        ),
        '[]'
      ),
      'beside', case when landing.drift is not null then beside end
    );
end
$$;

comment on function ddp.landing(bigint, text, text, text, text, jsonb, jsonb) is
'A landing check: which positions fire into the box, who is hit, who may drift, and to which box (5.1, 5.11). The verdict last.';

create or replace function ddp.landing_room(position_id bigint, box text)
returns setof rulings.ledger_step
language plpgsql stable rows 4
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
declare
  state positions.state;
begin
  select * into state from positions.state(landing_room.position_id, null, null);
  return query
  select
    '5.2', null::text, hex.label, case when here.n < 2 then 'room' else 'full' end,
    format('%s of two units are there', here.n),
    null::text, null::text, 2 * greatest(2 - here.n, 0)::integer,
    jsonb_build_object('label', hex.label, 'room', greatest(2 - here.n, 0))
  from ddp._boxes(state.map_id) as own
  inner join public.map_feature_hex as spot on own.feature = spot.feature and spot.role = 'at'
  inner join public.hex on hex.map_id = state.map_id and spot.q = hex.q and spot.r = hex.r
  cross join lateral (
    select count(*)::integer as n
    from ddp._us_units(state) as unit
    where unit.q = hex.q and unit.r = hex.r and ddp._stacks(unit.kind)
  ) as here
  where own.code = landing_room.box
  order by hex.label;
end
$$;

comment on function ddp.landing_room(bigint, text) is
'The beach hexes of a box, and for how many more units each has room (5.2).';
