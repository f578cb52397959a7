-- needs: ddp/fields.sql, ddp/japanese_communication.sql, ddp/ways.sql, rulings/step.sql
-- Communication of either side in ddp (D-Day at Peleliu): 11.2, 11.21, 11.3, 11.31, 18.36.

create or replace function ddp._us_bars(state positions.state)
returns table (label text, rule text, why text, point text)
language sql stable parallel safe rows 100
as $$
  select distinct on (barred.label)
    barred.label,
    barred.rule,
    barred.why,
    barred.point
  from (
    select held.label, 1 as n, '11.3' as rule, format('%s is there', held.code) as why, null as point
    from ddp._occupants(state) as held
    union all
    select dot.label, 2, '11.31', format('in the field of fire of %s', dot.place), null
    from ddp._field_dots(state, 'us_communication') as dot
  ) as barred
  order by barred.label, barred.n, barred.why
$$;

comment on function ddp._us_bars(positions.state) is
'The hexes that no US communication path enters, each with the first reason (11.3, 11.31).';

create or replace function ddp._us_way(state positions.state, q integer, r integer)
returns text[]
language plpgsql stable parallel safe
as $$
#variable_conflict use_column
declare
  bars text[] := array(select bar.label from ddp._us_bars(state) as bar);
  own text := (select hex.label from public.hex where hex.map_id = state.map_id and hex.q = _us_way.q and hex.r = _us_way.r);
  grid ddp.grid;
  back integer[];
begin
  -- ddp-39 b: the first hex counts too
  if state.readings ->> 'ddp-39' = 'b'
    and exists (select from ddp._field_dots(state, 'us_communication') as dot where dot.q = _us_way.q and dot.r = _us_way.r)
  then
    return null;
  end if;
  grid := ddp._grid(state.map_id, bars);
  back := ddp._spread(grid, array[ddp._cell(grid, q, r)]);
  return (
    select found.way
    from (
      select ddp._way(grid, back, ddp._cell(grid, beach.q, beach.r)) as way
      from ddp._landing_beaches(state.map_id) as beach
      where back[ddp._cell(grid, beach.q, beach.r)] <> 0
    ) as found
    order by cardinality(found.way), found.way
    limit 1
  );
end
$$;

comment on function ddp._us_way(positions.state, integer, integer) is
'A shortest US communication path from a hex to a landing beach hex; null where there is none (11.3, ddp-39).';

create or replace function ddp._us_reachable(state positions.state)
returns table (label text)
language plpgsql stable parallel safe rows 200
as $$
#variable_conflict use_column
declare
  grid ddp.grid := ddp._cells(state.map_id, array(select bar.label from ddp._us_bars(state) as bar));
  none varbit := grid.cells & ~grid.cells;
  ashore varbit;
begin
  ashore := ddp._flooded(
    grid,
    (
      select coalesce(bit_or(set_bit(none, ddp._cell(grid, beach.q, beach.r) - 1, 1)), none)
      from ddp._landing_beaches(state.map_id) as beach
    ) & grid.cells
  );
  return query
  with beach as materialized (
    select one.label from ddp._landing_beaches(state.map_id) as one
  ),

  fire as materialized (
    select distinct dot.label from ddp._field_dots(state, 'us_communication') as dot
  )

  select hex.label
  from public.hex
  where hex.map_id = state.map_id
    -- ddp-39 b: the first hex counts too
    and (coalesce(state.readings ->> 'ddp-39' <> 'b', true) or hex.label not in (select fire.label from fire))
    and (
      hex.label in (select beach.label from beach)
      or exists (
        select
        from lattice.disc(hex.q, hex.r, 1) as cell
        where get_bit(ashore, ddp._cell(grid, cell.hq, cell.hr) - 1) = 1
      )
    );
end
$$;

comment on function ddp._us_reachable(positions.state) is
'Every hex that is in US communication, found at once (11.3, 11.31, ddp-39).';

create or replace function ddp._us_communication(state positions.state, q integer, r integer)
returns boolean
language sql stable parallel safe
-- 18.36
return ddp._ridge(state.conditions) or ddp._us_way(state, q, r) is not null;

comment on function ddp._us_communication(positions.state, integer, integer) is
'Whether a hex is in US communication (11.3, 18.36).';

create or replace function ddp._japanese_communication_steps(state positions.state, place text, labels text[])
returns setof rulings.ledger_step
language plpgsql stable rows 10
as $$
#variable_conflict use_column
declare
  holders ddp.occupant[] := array(select held from ddp._occupants(state) as held);
  grid ddp.grid := ddp._japanese_grid(state, holders);
  ridge boolean := ddp._ridge(state.conditions);
  starts integer[];
  links ddp.link[];
  in_zone boolean;
  holds boolean;
begin
  starts := array(
    select ddp._cell(grid, hex.q, hex.r)
    from public.hex
    where hex.map_id = state.map_id
      and hex.label = any(labels)
      -- held by US units alone: nothing is traced from there
      and (
        exists (select from unnest(holders) as held where held.q = hex.q and held.r = hex.r)
        or not exists (select from ddp._us_units(state) as unit where unit.q = hex.q and unit.r = hex.r)
      )
    order by hex.label
  );
  links := array(select link from ddp._links(state, holders, grid, place, starts) as link);
  in_zone := ridge and exists (
    select from ddp._held_places(state, holders) as held where held.label = any(labels) and held.zone
  );
  holds := case when ridge then in_zone or cardinality(links) > 0 else cardinality(links) >= 2 end;
  return query
  select
    '11.21',
    null::text,
    held.label,
    'negates',
    format('%s frees its own hex of US control', held.code),
    null::text,
    held.code,
    null::integer,
    null::jsonb
  from ddp._occupants(state) as held
  where not held.fortification
    and held.label = any(labels)
    and exists (select from ddp._controlled(state) as hex where hex.q = held.q and hex.r = held.r)
  order by held.label, held.code;
  return query
  select
    bar.rule,
    null::text,
    bar.label,
    'barred',
    bar.why,
    null::text,
    null::text,
    null::integer,
    null::jsonb
  from ddp._japanese_bars(state) as bar
  inner join public.hex on hex.map_id = state.map_id and hex.label = bar.label
  where exists (
    select
    from public.hex as own
    where own.map_id = state.map_id
      and own.label = any(labels)
      and lattice.distance(own.q, own.r, hex.q, hex.r) <= 1
  )
  order by bar.label;
  return query
  select
    case when ridge then '18.36' else '11.2' end,
    null::text,
    link.way[cardinality(link.way)],
    'reaches',
    format('%s over %s', link.place, array_to_string(link.way, ', ')),
    null::text,
    null::text,
    null::integer,
    null::jsonb
  from unnest(links) as link;
  return query
  select
    case when ridge then '18.36' else '11.2' end,
    null::text,
    labels[1],
    case when holds then 'in communication' else 'out of communication' end,
    case
      when in_zone then 'an occupied position in the Japanese Zone always is'
      when ridge and holds then 'a path leads to an occupied position in the Japanese Zone'
      when ridge then 'no path leads to an occupied position in the Japanese Zone'
      else format('paths lead to %s other occupied positions; two are wanted', cardinality(links))
    end,
    null::text,
    null::text,
    null::integer,
    jsonb_build_object(
      'in_communication', holds,
      'reaches', coalesce((select jsonb_agg(link.place order by link.place) from unnest(links) as link), '[]'),
      'paths', coalesce((select jsonb_object_agg(link.place, link.way) from unnest(links) as link), '{}')
    );
end
$$;

comment on function ddp._japanese_communication_steps(positions.state, text, text[]) is
'Japanese communication of a position or hex: what bars the hexes around it, what its paths reach, the verdict (11.2, 18.36).';

create or replace function ddp._us_communication_steps(state positions.state, spot_q integer, spot_r integer, label text)
returns setof rulings.ledger_step
language plpgsql stable rows 10
as $$
#variable_conflict use_column
declare
  ridge boolean := ddp._ridge(state.conditions);
  under_fire boolean;
  way text[];
begin
  under_fire := exists (
    select from ddp._field_dots(state, 'us_communication') as dot where dot.q = spot_q and dot.r = spot_r
  );
  way := case when not ridge then ddp._us_way(state, spot_q, spot_r) end;
  return query
  select
    '11.31',
    null::text,
    label,
    case when state.readings ->> 'ddp-39' = 'b' then 'barred' else 'passes' end,
    'the hex itself lies in a Japanese field of fire',
    'ddp-39',
    null::text,
    null::integer,
    null::jsonb
  where under_fire and not ridge;
  return query
  select distinct
    bar.rule,
    null::text,
    bar.label,
    'barred',
    bar.why,
    null::text,
    null::text,
    null::integer,
    null::jsonb
  from ddp._us_bars(state) as bar
  inner join public.hex on hex.map_id = state.map_id and hex.label = bar.label
  where not ridge
    and (way is null or lattice.distance(spot_q, spot_r, hex.q, hex.r) = 1)
    and bar.label <> _us_communication_steps.label
  order by 3;
  return query
  select distinct
    field.rule,
    null::text,
    field.label,
    case when field.active then 'active' else 'inactive' end,
    format('%s: %s', field.place, field.note),
    point.point,
    null::text,
    null::integer,
    null::jsonb
  from ddp._fields(state, 'us_communication') as field
  cross join lateral unnest(field.points) as point (point)
  where not ridge
  order by 3, 6;
  return query
  select
    case when ridge then '18.36' else '11.3' end,
    null::text,
    label,
    case when ridge or way is not null then 'in communication' else 'out of communication' end,
    case
      when ridge then 'US units always are on Bloody Nose Ridge'
      when way is not null then format('over %s', array_to_string(way, ', '))
      else 'no path to a landing beach hex keeps clear of Japanese units and their fields'
    end,
    null::text,
    null::text,
    null::integer,
    jsonb_build_object(
      'in_communication', ridge or way is not null,
      'reaches', case when way is null then '[]' else jsonb_build_array(way[cardinality(way)]) end,
      'paths', case when way is null then '{}' else jsonb_build_object(way[cardinality(way)], way) end
    );
end
$$;

comment on function ddp._us_communication_steps(positions.state, integer, integer, text) is
'US communication of a hex: what bars its paths, the way that is found, the verdict (11.3, 11.31, 18.36).';

create or replace function ddp.communication(
  position_id bigint, name text, side text default 'japan', conditions jsonb default null, policy jsonb default null
)
returns setof rulings.ledger_step
language plpgsql stable rows 10
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
declare
  state positions.state;
  spot record;
  own text;
  labels text[];
begin
  select * into state from positions.state(communication.position_id, communication.conditions, communication.policy);
  select
    place.q,
    place.r,
    hex.label
  into spot
  from positions.place(communication.position_id, communication.name) as place
  inner join public.hex on hex.map_id = state.map_id and hex.q = place.q and hex.r = place.r;
  own := ddp._place_named(communication.position_id, communication.name);
  if spot.label is null and own is null then
    perform ddp._asked_place(communication.position_id, communication.name);
  end if;
  -- a position by its key: all its hexes; by an ID, a hex or a unit: that hex
  labels := case
    when spot.label is not null then array[spot.label]
    else
      array(
        select one.label
        from ddp._spots(state.map_id) as one
        where one.place = own and (one.place = communication.name or one.id = communication.name)
        order by one.label
      )
  end;
  if communication.side = 'japan' then
    return query select * from ddp._japanese_communication_steps(state, own, labels);
  else
    select hex.q, hex.r, hex.label into spot from public.hex where hex.map_id = state.map_id and hex.label = labels[1];
    return query select * from ddp._us_communication_steps(state, spot.q, spot.r, spot.label);
  end if;
end
$$;

comment on function ddp.communication(bigint, text, text, jsonb, jsonb) is
'Whether a position or hex is in the communication of a side, what it reaches and over which paths. The verdict last.';
