-- needs: lattice/cells.sql, positions/state.sql, ddp/spots.sql, ddp/fields.sql
-- The table before the Japanese act in ddp (D-Day at Peleliu), gathered once: who stands where, which position
-- hexes there are and how far each lies from US units and landing beaches, whose dots lie where.

drop type if exists ddp.man cascade;
create type ddp.man as (
  code text,
  side text,
  kind text,
  label text,
  q integer,
  r integer,
  terrain text,
  beach boolean,
  box text,
  steps integer,
  symbol text,
  strength integer,
  disrupted boolean,
  hero boolean,
  leader boolean,
  armored boolean,
  stepped boolean,
  under_fire boolean,
  crowded boolean,
  shore integer
);

comment on type ddp.man is
'A US unit with what its counter says, typed; in a landing beach hex, in a hex of seven steps, how far from a landing beach.';

drop type if exists ddp.site cascade;
create type ddp.site as (
  place text,
  id text,
  zone text,
  number integer,
  label text,
  q integer,
  r integer,
  terrain text,
  color text,
  guns boolean,
  mountaintop boolean,
  provisional boolean,
  west integer,
  covers boolean,
  held text,
  taken boolean,
  near integer,
  shore integer
);

comment on type ddp.site is
'A hex of a Japanese position: who holds it, whether US units or a garrison do, and how far US units and landing beaches are.';
comment on column ddp.site.guns is 'Whether it has artillery that is not destroyed (6.51)';
comment on column ddp.site.west is 'The westernmost column of its position (12.0)';
comment on column ddp.site.covers is 'Whether its position has fire dots in a landing beach hex (13.4)';

drop type if exists ddp.scene cascade;
create type ddp.scene as (
  state positions.state,
  marines ddp.man array,
  sites ddp.site array,
  holders ddp.occupant array,
  dots ddp.dot array
);

comment on type ddp.scene is
'A position as the Japanese find it: US units, position hexes, Japanese units, and the dots into which undisrupted ones fire.';

create or replace function ddp._nth_id(place text, n integer)
returns text
language sql immutable parallel safe
return case
  when split_part(place, '/', n) = '' then place
  -- B13/14 is B13 and B14
  when split_part(place, '/', n) ~ '^\d' then left(place, 1) || split_part(place, '/', n)
  else split_part(place, '/', n)
end;

comment on function ddp._nth_id(text, integer) is
'The ID of the nth hex of a position that tells no others: B4 is the second of B3/B4 (2.1).';

create or replace function ddp._men(state positions.state)
returns setof ddp.man
language sql stable rows 40
as $$
  select
    unit.code,
    unit.side,
    unit.kind,
    hex.label,
    unit.q,
    unit.r,
    hex.terrain,
    beach.away = 0,
    unit.attributes ->> 'box',
    (unit.attributes ->> 'steps')::integer,
    unit.attributes ->> 'symbol',
    (unit.attributes ->> 'strength')::integer,
    ddp._flag(unit.attributes, 'disrupted'),
    ddp._flag(unit.attributes, 'hero'),
    -- 10.0: heroes, infantry/HQs, regimental HQs and their command posts
    coalesce(unit.kind in ('hero', 'regimental_hq', 'command_post', 'infantry_hq'), false),
    coalesce(unit.kind in ('tank', 'amphibious_tank'), false),
    ddp._flag(unit.attributes, 'stepped'),
    ddp._flag(unit.attributes, 'action_under_fire'),
    -- 6.35
    unit.q is not null
    and sum((unit.attributes ->> 'steps')::integer) over (partition by unit.q, unit.r) >= 7,
    beach.away
  from public.unit
  left join public.hex on hex.map_id = unit.map_id and hex.q = unit.q and hex.r = unit.r
  left join lateral (
    select min(lattice.distance(beach.q, beach.r, unit.q, unit.r)) as away
    from ddp._landing_beaches(state.map_id) as beach
  ) as beach on true
  where unit.position_id = state.position_id
    and unit.side = 'us'
    and (unit.q is not null or unit.attributes ? 'box')
$$;

comment on function ddp._men(positions.state) is
'Every US counter on the map or in a landing box, garrisons included, with what it says.';

create or replace function ddp._sites(state positions.state)
returns setof ddp.site
language sql stable rows 40
as $$
  with beach as materialized (
    select beach.q, beach.r from ddp._landing_beaches(state.map_id) as beach
  ),

  unit as materialized (
    select
      unit.q,
      unit.r,
      unit.side,
      unit.kind is distinct from 'garrison' as counts
    from public.unit
    where unit.position_id = state.position_id
      and unit.q is not null
  )

  select
    spot.place,
    spot.own,
    left(spot.own, 1),
    ddp._number(spot.own),
    spot.label,
    spot.q,
    spot.r,
    spot.terrain,
    spot.color,
    spot.artillery and not exists (
      select
      from public.marker
      where marker.position_id = state.position_id
        and marker.kind = 'artillery_destroyed'
        and marker.q = spot.q
        and marker.r = spot.r
    ),
    spot.mountaintop,
    spot.provisional,
    spot.west,
    exists (
      select
      from public.map_feature_hex as dot
      inner join beach on beach.q = dot.q and beach.r = dot.r
      where dot.feature = spot.feature and dot.role in ('intense', 'steady')
    ),
    coalesce(
      (
        select min(holder.code)
        from public.unit as holder
        where holder.position_id = state.position_id
          and holder.side = 'japan'
          and holder.q = spot.q
          and holder.r = spot.r
      ),
      -- 18.31: a fortification alone counts as a unit
      (
        select marker.kind
        from public.marker
        where marker.position_id = state.position_id
          and marker.kind = 'fortification'
          and marker.q = spot.q
          and marker.r = spot.r
          and ddp._ridge(state.conditions)
        limit 1
      )
    ),
    exists (select from unit where unit.side = 'us' and unit.q = spot.q and unit.r = spot.r),
    (
      select min(lattice.distance(unit.q, unit.r, spot.q, spot.r))
      from unit
      where unit.side = 'us' and unit.counts
    ),
    (select min(lattice.distance(beach.q, beach.r, spot.q, spot.r)) from beach)
  from (
    select
      one.*,
      case
        when one.id = one.place
          then ddp._nth_id(one.place, (row_number() over (partition by one.place order by one.label))::integer)
        else one.id
      end as own,
      min(one.q) over (partition by one.place) as west
    from ddp._spots(state.map_id) as one
  ) as spot
$$;

comment on function ddp._sites(positions.state) is
'Every hex of every Japanese position: who holds it, and how far US units and landing beaches are.';

create or replace function ddp._fire_dots(state positions.state, holders ddp.occupant[])
returns setof ddp.dot
language plpgsql stable rows 100
as $$
#variable_conflict use_column
declare
  firing text[] := array(
    -- 6.4, 13.42, 13.43: an undisrupted unit that does not counterattack, in no provisional position
    select distinct holder.place
    from unnest(holders) as holder
    where holder.place is not null and not holder.disrupted and not holder.stance and not holder.provisional
  );
  wide text[] := array(
    select distinct holder.place
    from unnest(holders) as holder
    where holder.place = any(firing) and holder.tank and not holder.disrupted and not holder.stance
  );
  printed ddp.dot[];
begin
  printed := array(
    select row(feature.code, dot.q, dot.r, hex.label, min(dot.role))::ddp.dot
    from public.map_feature as feature
    inner join public.map_feature_hex as dot on dot.feature = feature.id and dot.role in ('intense', 'steady')
    inner join public.hex on hex.map_id = dot.map_id and hex.q = dot.q and hex.r = dot.r
    where feature.map_id = state.map_id
      and feature.kind = 'position'
      and feature.code = any(firing)
    group by feature.code, dot.q, dot.r, hex.label
  );
  if cardinality(wide) > 0 then
    -- 13.1: a tank adds the hexes beside the printed field, its own apart
    printed := printed || array(
      select distinct row(dot.place, hex.q, hex.r, hex.label, 'extended')::ddp.dot
      from unnest(printed) as dot
      cross join lateral lattice.neighbours(dot.q, dot.r) as beside
      inner join public.hex on hex.map_id = state.map_id and hex.q = beside.nq and hex.r = beside.nr
      where dot.place = any(wide)
        and not exists (
          select from unnest(printed) as own
          where own.place = dot.place and own.q = hex.q and own.r = hex.r
        )
        and not exists (
          select from unnest(holders) as holder where holder.place = dot.place and holder.q = hex.q and holder.r = hex.r
        )
    );
  end if;
  return query
  select dot.*
  from unnest(printed) as dot
  -- smoke takes the dots of its position out of landing beach hexes
  where not (
    exists (
      select
      from public.marker
      inner join ddp._spots(state.map_id) as spot on spot.q = marker.q and spot.r = marker.r
      where marker.position_id = state.position_id and marker.kind = 'smoke' and spot.place = dot.place
    )
    and exists (select from ddp._landing_beaches(state.map_id) as beach where beach.q = dot.q and beach.r = dot.r)
  );
  return query
  -- the six hexes around a cave
  select holder.label, hex.q, hex.r, hex.label, 'steady'
  from unnest(holders) as holder
  cross join lateral lattice.neighbours(holder.q, holder.r) as beside
  inner join public.hex on hex.map_id = state.map_id and hex.q = beside.nq and hex.r = beside.nr
  where holder.cave and holder.place is null and not holder.disrupted;
end
$$;

comment on function ddp._fire_dots(positions.state, ddp.occupant[]) is
'The dots into which undisrupted units fire, as ddp._field_dots tells them for fire, from holders that are known already.';

create or replace function ddp._scene(position_id bigint, conditions jsonb default null, policy jsonb default null)
returns ddp.scene
language plpgsql stable
as $$
declare
  scene ddp.scene;
  state positions.state;
begin
  select * into state from positions.state(_scene.position_id, _scene.conditions, _scene.policy);
  scene.state := state;
  scene.marines := array(select man from ddp._men(state) as man);
  scene.sites := array(select site from ddp._sites(state) as site);
  scene.holders := array(select one from ddp._occupants(state) as one);
  scene.dots := array(select dot from ddp._fire_dots(state, scene.holders) as dot);
  return scene;
end
$$;

comment on function ddp._scene(bigint, jsonb, jsonb) is
'The table before the Japanese act, gathered once for every question about it.';

create or replace function ddp._marines(scene ddp.scene)
returns setof ddp.man
language sql immutable rows 40
as $$
  -- 14.41: a garrison is a marker, and no unit
  select man.*
  from unnest(scene.marines) as man
  where man.q is not null
    and man.kind is distinct from 'garrison'
$$;

comment on function ddp._marines(ddp.scene) is
'The US units on the map, garrisons apart.';

create or replace function ddp._to_marines(scene ddp.scene, q integer, r integer)
returns integer
language sql immutable
as $$
  select min(lattice.distance(marine.q, marine.r, _to_marines.q, _to_marines.r))
  from ddp._marines(scene) as marine
$$;

comment on function ddp._to_marines(ddp.scene, integer, integer) is
'Hexes to the nearest US unit; null where there is none on the map.';

create or replace function ddp._letters(conditions jsonb)
returns text[]
language sql stable
return case
  when ddp._ridge(conditions) then array['M', 'R', 'P', 'A', 'I']
  -- 20.1: another order; 16.0: at night an M is no letter
  when conditions ? 'letters' and jsonb_typeof(conditions -> 'letters') = 'array' then array(
    select letter from jsonb_array_elements_text(conditions -> 'letters') as letter
    where letter <> 'M' or (conditions ->> 'turn') is distinct from '13'
  )
  else array(
    -- the book prints them, so that its own cells are enough
    select cell.row_key
    from public.chart_cell as cell
    where cell.ruleset = 'ddp'
      and cell.chart = 'action_letters'
      and cell.source = 'printed'
      and (cell.value::integer <= (conditions ->> 'turn')::integer or conditions ->> 'turn' is null)
      and (cell.row_key <> 'M' or (conditions ->> 'turn') is distinct from '13')
  )
end;

comment on function ddp._letters(jsonb) is
'The action letters in force (12.0, 16.0, 18.35, 20.1); all of them where no turn is told.';
