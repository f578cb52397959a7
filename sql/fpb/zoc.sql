-- needs: lattice/cells.sql, positions/place.sql, positions/state.sql, rulings/step.sql
-- Zones of control in fpb (Forgotten Pacific Battles): 6.0, 12.3.
--
-- A zone is told by who exerts it. Whether a unit without a zone is given one by an enemy whose zone it
-- stands in is contested (fpb-3), and every hex says whether it hangs on that.

create or replace function fpb._exerts(unit positions.counter)
returns boolean
language sql immutable parallel safe
return coalesce((unit.attributes ->> 'zoc')::boolean, true) and unit.q is not null;

comment on function fpb._exerts(positions.counter) is
'Whether a unit has a zone of control: on the map, and its counter does not deny it (6.0).';

create or replace function fpb._units(state positions.state)
returns setof positions.counter
language sql stable parallel safe rows 30
as $$
  select
    unit.position_id,
    unit.map_id,
    unit.id,
    unit.code,
    unit.side,
    unit.kind,
    unit.q,
    unit.r,
    hex.label,
    unit.attributes
  from public.unit
  left join public.hex on hex.map_id = unit.map_id and hex.q = unit.q and hex.r = unit.r
  where unit.position_id = state.position_id
$$;

comment on function fpb._units(positions.state) is
'Every unit of a position, with the label of its hex.';

drop type if exists fpb.zone_hex cascade;
create type fpb.zone_hex as (
  side text,
  by text,
  q integer,
  r integer,
  label text,
  counts boolean,
  point text
);

comment on type fpb.zone_hex is
'A hex in the zone of control of a unit: whose, and whether it counts as fpb-3 is read, where it hangs on that.';

create or replace function fpb._zones(state positions.state)
returns setof fpb.zone_hex
language sql stable parallel safe rows 100
as $$
  with counter as materialized (
    select
      unit.code,
      unit.side,
      unit.q,
      unit.r,
      fpb._exerts(unit) as exerts
    from fpb._units(state) as unit
    where unit.q is not null
  )
  select
    counter.side,
    counter.code,
    hex.q,
    hex.r,
    hex.label,
    counter.exerts or state.readings ->> 'fpb-3' = 'b',
    case when not counter.exerts then 'fpb-3' end
  from counter
  cross join lateral lattice.neighbours(counter.q, counter.r) as beside
  inner join public.hex
    on hex.map_id = state.map_id and hex.q = beside.nq and hex.r = beside.nr
  where counter.exerts
    -- fpb-3 b: who stands in a zone has the enemy of that zone in its own
    or exists (
      select
      from counter as enemy
      where enemy.side <> counter.side and enemy.exerts and enemy.q = hex.q and enemy.r = hex.r
    )
$$;

comment on function fpb._zones(positions.state) is
'Every hex of every zone of control, by unit; those that only fpb-3 b gives are among them and do not count under a.';

create or replace function fpb._enemy_zones(state positions.state, unit positions.counter)
returns setof fpb.zone_hex
language sql stable parallel safe rows 100
as $$
  select zone.*
  from fpb._zones(state) as zone
  where zone.side <> unit.side
  union
  -- fpb-3 b: wherever it comes to stand, whom its own zone covers has it in theirs
  select
    enemy.side,
    enemy.code,
    hex.q,
    hex.r,
    hex.label,
    state.readings ->> 'fpb-3' = 'b',
    'fpb-3'
  from fpb._units(state) as enemy
  cross join lateral lattice.neighbours(enemy.q, enemy.r) as beside
  inner join public.hex
    on hex.map_id = state.map_id and hex.q = beside.nq and hex.r = beside.nr
  where enemy.side <> unit.side
    and enemy.q is not null
    and not fpb._exerts(enemy)
    and coalesce((unit.attributes ->> 'zoc')::boolean, true)
$$;

comment on function fpb._enemy_zones(positions.state, positions.counter) is
'The hexes where a unit is, or would be, in an enemy zone of control (6.0), each by every enemy that makes it so.';

create or replace function fpb._zone_steps(state positions.state, unit text, side text)
returns setof rulings.ledger_step
language sql stable rows 10
as $$
  select
    '6.0',
    null,
    counter.label,
    case when fpb._exerts(counter) then 'exerts' else 'no zone' end,
    case
      when counter.q is null then format('%s is off the map', counter.code)
      when fpb._exerts(counter) then format('%s has the hexes around it', counter.code)
      else format('the counter of %s denies it a zone', counter.code)
    end,
    null,
    counter.code,
    null::integer,
    null::jsonb
  from fpb._units(state) as counter
  where counter.code = _zone_steps.unit or counter.side = _zone_steps.side
  order by counter.code
$$;

comment on function fpb._zone_steps(positions.state, text, text) is
'Of each unit whether it has a zone of control, and why not (6.0).';

create or replace function fpb._mutual_steps(zones fpb.zone_hex[])
returns setof rulings.ledger_step
language sql stable rows 2
as $$
  select
    '6.0',
    null,
    zone.label,
    case when zone.counts then 'exerts' else 'no zone' end,
    format('%s stands in the zone of an enemy here and has none of its own', zone.by),
    zone.point,
    zone.by,
    null::integer,
    null::jsonb
  from unnest(zones) as zone
  where zone.point is not null
  order by zone.by, zone.label collate "C"
$$;

comment on function fpb._mutual_steps(fpb.zone_hex[]) is
'Where a unit without a zone would have one, if being in a zone worked both ways (6.0, fpb-3).';

create or replace function fpb._reef_steps(state positions.state, side text)
returns setof rulings.ledger_step
language sql stable rows 1
as $$
  select
    '12.3',
    null,
    hex.label,
    'no zone',
    'an empty reef counts as a unit in an assault, and has no zone',
    null,
    null,
    null::integer,
    null::jsonb
  from public.marker
  inner join public.hex on hex.map_id = state.map_id and hex.q = marker.q and hex.r = marker.r
  where marker.position_id = state.position_id
    and marker.kind = 'assault_boat'
    and _reef_steps.side = 'japan'
    and (hex.terrain = 'reef' or 'reef' = any(hex.features))
    and not exists (
      select from public.unit
      where unit.position_id = state.position_id and unit.q = hex.q and unit.r = hex.r
    )
  order by hex.label collate "C"
$$;

comment on function fpb._reef_steps(positions.state, text) is
'Reefs that are assaulted as if they were Japanese units: they have no zone of control (12.3).';

create or replace function fpb.zoc(
  position_id bigint,
  unit text default null,
  side text default null,
  conditions jsonb default null,
  policy jsonb default null
)
returns setof rulings.ledger_step
language plpgsql stable rows 10
as $$
#variable_conflict use_variable
declare
  state positions.state;
  zones fpb.zone_hex[];
  hexes jsonb;
begin
  select * into state from positions.state(position_id, conditions, policy);
  if unit is not null then
    perform positions._asked_counter(position_id, unit);
  end if;
  zones := array(
    select zone from fpb._zones(state) as zone where zone.by = unit or zone.side = side
  );
  select jsonb_agg(distinct zone.label) into hexes from unnest(zones) as zone where zone.counts;
  return query select * from fpb._zone_steps(state, unit, side);
  return query select * from fpb._mutual_steps(zones);
  return query select * from fpb._reef_steps(state, side);
  return next row(
    '6.0',
    null,
    (select counter.label from positions.counter(position_id, unit) as counter),
    case when hexes is null then 'no zone' else 'zone' end,
    format('%s hexes', coalesce(jsonb_array_length(hexes), 0)),
    null,
    unit,
    null,
    jsonb_build_object('hexes', coalesce(hexes, '[]'))
    || case
      when side is null then '{}'
      else jsonb_build_object('by', (
        select coalesce(jsonb_object_agg(each.by, each.hexes), '{}')
        from (
          select
            zone.by,
            jsonb_agg(zone.label order by zone.label collate "C") as hexes
          from unnest(zones) as zone
          where zone.counts
          group by zone.by
        ) as each
      ))
    end
  )::rulings.ledger_step;
end
$$;

comment on function fpb.zoc(bigint, text, text, jsonb, jsonb) is
'The zone of control of a unit, or of all units of a side: who exerts it and who does not; the hexes last.';
