-- needs: lattice/cells.sql, positions/state.sql
-- Who holds what in ddp (D-Day at Peleliu): position hexes, their occupants, landing beaches: 2.1, 6.21, 11.2, 18.31.

create or replace function ddp._ridge(conditions jsonb)
returns boolean
language sql immutable parallel safe
return coalesce(conditions ->> 'scenario' = 'bloody_nose_ridge', false);

comment on function ddp._ridge(jsonb) is
'Whether Bloody Nose Ridge is played (18.0).';

create or replace function ddp._flag(attributes jsonb, name text)
returns boolean
language sql immutable parallel safe
return coalesce((attributes ->> name)::boolean, false);

comment on function ddp._flag(jsonb, text) is
'Whether a counter says something of itself.';

drop type if exists ddp.spot cascade;
create type ddp.spot as (
  place text,
  feature bigint,
  id text,
  color text,
  provisional boolean,
  artillery boolean,
  mountaintop boolean,
  q integer,
  r integer,
  label text,
  terrain text
);

comment on type ddp.spot is
'A hex of a Japanese position: the position by its key, the hex by its own ID (2.1).';

-- The fences (offset 0) keep a planner that knows no statistics yet from reading the whole map for every counter.
create or replace function ddp._spots(map_id bigint)
returns setof ddp.spot
language sql stable parallel safe rows 40
as $$
  select
    place.code,
    place.id,
    coalesce(place.attributes -> 'ids' ->> hex.label, place.code),
    place.attributes ->> 'color',
    ddp._flag(place.attributes, 'provisional'),
    ddp._flag(place.attributes, 'artillery'),
    ddp._flag(place.attributes, 'mountaintop'),
    spot.q,
    spot.r,
    hex.label,
    hex.terrain
  from public.map_feature as place
  cross join lateral (
    select
      part.q,
      part.r
    from public.map_feature_hex as part
    where part.feature = place.id and part.role = 'at'
    offset 0
  ) as spot
  cross join lateral (
    select
      ground.label,
      ground.terrain
    from public.hex as ground
    where ground.map_id = place.map_id and ground.q = spot.q and ground.r = spot.r
    offset 0
  ) as hex
  where place.map_id = _spots.map_id
    and place.kind = 'position'
$$;

comment on function ddp._spots(bigint) is
'Every hex of every Japanese position of a map, provisional ones too (2.1).';

create or replace function ddp._number(id text)
returns integer
language sql immutable parallel safe
return substring(id from '[0-9]+')::integer;

comment on function ddp._number(text) is
'The priority number of a position''s ID (2.1); null where it has none.';

drop type if exists ddp.occupant cascade;
create type ddp.occupant as (
  code text,
  fortification boolean,
  place text,
  id text,
  color text,
  provisional boolean,
  q integer,
  r integer,
  label text,
  disrupted boolean,
  revealed boolean,
  tank boolean,
  stance boolean,
  cave boolean,
  depth boolean,
  attributes jsonb
);

comment on type ddp.occupant is
'A Japanese unit on the map, or on Bloody Nose Ridge a fortification marker, and the position that it holds.';
comment on column ddp.occupant.place is 'The position by its key; null in no position';
comment on column ddp.occupant.stance is 'Whether it is in counterattack stance (13.4)';
comment on column ddp.occupant.depth is 'Whether it has depth, a counterattack marker on its depth side included (13.46)';

create or replace function ddp._occupants(state positions.state, spots ddp.spot[])
returns setof ddp.occupant
language sql stable rows 20
as $$
  select
    held.code,
    held.fortification,
    spot.place,
    spot.id,
    spot.color,
    coalesce(spot.provisional, false),
    held.q,
    held.r,
    hex.label,
    ddp._flag(held.attributes, 'disrupted'),
    ddp._flag(held.attributes, 'revealed') or held.attributes ? 'counterattack',
    ddp._flag(held.attributes, 'tank'),
    held.attributes ? 'counterattack',
    ddp._flag(held.attributes, 'cave') or exists (
      select
      from public.marker
      where marker.position_id = state.position_id and marker.kind = 'cave' and marker.q = held.q and marker.r = held.r
    ),
    held.attributes ? 'depth' or coalesce((held.attributes -> 'counterattack' ->> 'depth')::boolean, held.attributes ? 'counterattack'),
    held.attributes
  from (
    select unit.code, false as fortification, unit.q, unit.r, unit.attributes
    from public.unit
    where unit.position_id = state.position_id and unit.side = 'japan' and unit.q is not null
    union all
    -- 18.31: a fortification marker holds its hex
    select 'fortification', true, marker.q, marker.r, marker.attributes
    from public.marker
    where marker.position_id = state.position_id and marker.kind = 'fortification' and ddp._ridge(state.conditions)
  ) as held
  cross join lateral (
    select ground.label
    from public.hex as ground
    where ground.map_id = state.map_id and ground.q = held.q and ground.r = held.r
    offset 0
  ) as hex
  left join unnest(spots) as spot on held.q = spot.q and held.r = spot.r
$$;

comment on function ddp._occupants(positions.state, ddp.spot[]) is
'Every Japanese unit on the map, and on Bloody Nose Ridge every fortification marker, with its position, of which the hexes are known.';

create or replace function ddp._occupants(state positions.state)
returns setof ddp.occupant
language plpgsql stable rows 20
as $$
#variable_conflict use_column
declare
  spots ddp.spot[] := array(select spot from ddp._spots(state.map_id) as spot);
begin
  return query
  select held.* from ddp._occupants(state, spots) as held;
end
$$;

comment on function ddp._occupants(positions.state) is
'Every Japanese unit on the map, and on Bloody Nose Ridge every fortification marker, with its position (18.31).';

create or replace function ddp._us_units(state positions.state)
returns setof positions.counter
language sql stable parallel safe rows 40
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
  cross join lateral (
    select ground.label
    from public.hex as ground
    where ground.map_id = unit.map_id and ground.q = unit.q and ground.r = unit.r
    offset 0
  ) as hex
  where unit.position_id = state.position_id
    and unit.side = 'us'
$$;

comment on function ddp._us_units(positions.state) is
'Every US unit on the map, garrisons included.';

create or replace function ddp._landing_beaches(map_id bigint)
returns setof public.hex
language sql stable parallel safe rows 15
as $$
  with boxed as materialized (
    select
      spot.q,
      spot.r
    from public.map_feature as box
    inner join public.map_feature_hex as spot on spot.feature = box.id
    where box.map_id = _landing_beaches.map_id and box.kind = 'box'
  )

  select hex.*
  from public.hex
  where hex.map_id = _landing_beaches.map_id
    -- 2.1: whatever adjoins a box
    and ('landing_beach' = any(hex.features) or (hex.q, hex.r) in (select boxed.q, boxed.r from boxed))
$$;

comment on function ddp._landing_beaches(bigint) is
'The US landing beach hexes: those marked so, and those that adjoin a landing box (2.1).';

create or replace function ddp._place_named(position_id bigint, name text)
returns text
language plpgsql stable parallel safe
as $$
#variable_conflict use_column
declare
  found_place text;
  of_map bigint := (select position.map_id from public.position where position.id = _place_named.position_id);
begin
  select spot.place into found_place
  from ddp._spots(of_map) as spot
  where spot.place = positions.spoken(name) or spot.id = positions.spoken(name)
  order by spot.place = positions.spoken(name) desc
  limit 1;
  if found_place is null then
    select spot.place into found_place
    from positions.place(_place_named.position_id, name) as place
    inner join ddp._spots(of_map) as spot on spot.q = place.q and spot.r = place.r
    limit 1;
  end if;
  return found_place;
end
$$;

comment on function ddp._place_named(bigint, text) is
'The position that is meant by its key, the ID of one of its hexes, a hex, or a unit in it; null where there is none.';

create or replace function ddp._asked_place(position_id bigint, name text)
returns text
language plpgsql stable parallel safe
as $$
declare
  found_place text := ddp._place_named(_asked_place.position_id, name);
begin
  if found_place is null then
    raise exception 'there is no Japanese position %', positions.spoken(name) using errcode = 'no_data_found';
  end if;
  return found_place;
end
$$;

comment on function ddp._asked_place(bigint, text) is
'The position that was asked about, or an error that says that there is none.';
