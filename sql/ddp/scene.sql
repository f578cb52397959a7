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
  shore integer,
  attributes jsonb
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

drop type if exists ddp.ground cascade;
create type ddp.ground as (
  spots ddp.spot array,
  beach_q integer array,
  beach_r integer array,
  printed ddp.dot array,
  covering text array
);

comment on type ddp.ground is
'What a map says to the Japanese: position hexes, landing beach hexes, printed dots, and the positions that cover a beach.';

drop type if exists ddp.scene cascade;
create type ddp.scene as (
  state positions.state,
  ground ddp.ground,
  marines ddp.man array,
  sites ddp.site array,
  holders ddp.occupant array,
  dots ddp.dot array
);

comment on type ddp.scene is
'A position as the Japanese find it: US units, position hexes, Japanese units, and the dots into which undisrupted ones fire.';
comment on column ddp.scene.dots is 'By position and hex; their labels are left out';

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

create or replace function ddp._shores(map_id bigint)
returns ddp.ground
language plpgsql stable
as $$
#variable_conflict use_column
declare
  ground ddp.ground;
begin
  ground.spots := array(select spot from ddp._spots(_shores.map_id) as spot);
  select
    coalesce(array_agg(beach.q), '{}'),
    coalesce(array_agg(beach.r), '{}')
  into ground.beach_q, ground.beach_r
  from ddp._landing_beaches(_shores.map_id) as beach;
  return ground;
end
$$;

comment on function ddp._shores(bigint) is
'Position and landing beach hexes of a map, without the dots (2.1).';

create or replace function ddp._ground(map_id bigint)
returns ddp.ground
language plpgsql stable
as $$
#variable_conflict use_column
declare
  ground ddp.ground := ddp._shores(_ground.map_id);
begin
  ground.printed := array(
    select row(feature.code, dot.q, dot.r, null, min(dot.role))::ddp.dot
    from public.map_feature as feature
    inner join public.map_feature_hex as dot on dot.feature = feature.id and dot.role in ('intense', 'steady')
    where feature.map_id = _ground.map_id and feature.kind = 'position'
    group by feature.code, dot.q, dot.r
  );
  ground.covering := array(
    select distinct dot.place
    from unnest(ground.printed) as dot
    inner join unnest(ground.beach_q, ground.beach_r) as beach (q, r) on beach.q = dot.q and beach.r = dot.r
  );
  return ground;
end
$$;

comment on function ddp._ground(bigint) is
'What a map says to the Japanese, whoever stands on it (2.1, 13.4).';

create or replace function ddp._men(state positions.state, ground ddp.ground)
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
    beach.away,
    unit.attributes
  from public.unit
  left join public.hex on hex.map_id = unit.map_id and hex.q = unit.q and hex.r = unit.r
  left join lateral (
    select min(lattice.distance(beach.q, beach.r, unit.q, unit.r)) as away
    from unnest(ground.beach_q, ground.beach_r) as beach (q, r)
  ) as beach on true
  where unit.position_id = state.position_id
    and unit.side = 'us'
    and (unit.q is not null or unit.attributes ? 'box')
$$;

comment on function ddp._men(positions.state, ddp.ground) is
'Every US counter on the map or in a landing box, garrisons included, with what it says.';

create or replace function ddp._own_spots(spots ddp.spot[])
returns table (
  place text, feature bigint, id text, color text, provisional boolean, artillery boolean, mountaintop boolean,
  q integer, r integer, label text, terrain text, own text, west integer
)
language sql immutable rows 40
as $$
  select
    one.*,
    case
      when one.id = one.place
        then ddp._nth_id(one.place, (row_number() over (partition by one.place order by one.label))::integer)
      else one.id
    end,
    min(one.q) over (partition by one.place)
  from unnest(spots) as one
$$;

comment on function ddp._own_spots(ddp.spot[]) is
'Position hexes with the ID that each has of its own, and the westernmost column of its position (2.1, 12.0).';

create or replace function ddp._guns_destroyed(state positions.state, q integer, r integer)
returns boolean
language plpgsql stable
as $$
begin
  return exists (
    select
    from public.marker
    where marker.position_id = state.position_id
      and marker.kind = 'artillery_destroyed'
      and marker.q = _guns_destroyed.q
      and marker.r = _guns_destroyed.r
  );
end
$$;

comment on function ddp._guns_destroyed(positions.state, integer, integer) is
'Whether the guns of a hex are destroyed (6.51).';

create or replace function ddp._sites(scene ddp.scene)
returns setof ddp.site
language sql stable rows 40
as $$
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
    spot.artillery and not ddp._guns_destroyed(scene.state, spot.q, spot.r),
    spot.mountaintop,
    spot.provisional,
    spot.west,
    spot.place = any((scene.ground).covering),
    (
      -- 18.31: a fortification alone counts as a unit
      select coalesce(min(holder.code) filter (where not holder.fortification), min(holder.code))
      from unnest(scene.holders) as holder
      where holder.q = spot.q and holder.r = spot.r
    ),
    marines.taken,
    marines.near,
    (
      select min(lattice.distance(beach.q, beach.r, spot.q, spot.r))
      from unnest((scene.ground).beach_q, (scene.ground).beach_r) as beach (q, r)
    )
  from ddp._own_spots((scene.ground).spots) as spot
  cross join lateral (
    select
      coalesce(bool_or(man.q = spot.q and man.r = spot.r), false) as taken,
      min(lattice.distance(man.q, man.r, spot.q, spot.r)) filter (where man.kind is distinct from 'garrison') as near
    from unnest(scene.marines) as man
    where man.q is not null
  ) as marines
$$;

comment on function ddp._sites(ddp.scene) is
'Every hex of every Japanese position: who holds it, and how far US units and landing beaches are.';

create or replace function ddp._fire_dots(state positions.state, ground ddp.ground, holders ddp.occupant[])
returns ddp.dot[]
language plpgsql stable
as $$
#variable_conflict use_column
declare
  firing text[];
  wide text[];
  caves boolean;
  smoked text[] := array(
    select spot.place
    from public.marker
    inner join unnest(ground.spots) as spot on spot.q = marker.q and spot.r = marker.r
    where marker.position_id = state.position_id and marker.kind = 'smoke'
  );
  dots ddp.dot[];
begin
  select
    -- 6.4, 13.42, 13.43: an undisrupted unit that does not counterattack, in no provisional position
    array_agg(holder.place) filter (where holder.place is not null and not holder.stance and not holder.provisional),
    array_agg(holder.place) filter (
      where holder.place is not null and not holder.stance and not holder.provisional and holder.tank
    ),
    coalesce(bool_or(holder.cave and holder.place is null), false)
  into firing, wide, caves
  from unnest(holders) as holder
  where not holder.disrupted;
  dots := array(select dot from unnest(ground.printed) as dot where dot.place = any(firing));
  if wide is not null then
    -- 13.1: a tank adds the hexes beside the printed field, its own apart
    dots := dots || array(
      select row(beside.place, beside.q, beside.r, null, 'extended')::ddp.dot
      from (
        select
          dot.place,
          step.nq as q,
          step.nr as r
        from unnest(dots) as dot
        cross join lateral lattice.neighbours(dot.q, dot.r) as step
        where dot.place = any(wide)
        except
        select own.place, own.q, own.r
        from unnest(dots) as own
        except
        select holder.place, holder.q, holder.r
        from unnest(holders) as holder
      ) as beside
    );
  end if;
  if cardinality(smoked) > 0 then
    -- smoke takes the dots of its position out of landing beach hexes
    dots := array(
      select dot
      from unnest(dots) as dot
      where dot.place <> all(smoked)
        or not exists (
          select from unnest(ground.beach_q, ground.beach_r) as beach (q, r) where beach.q = dot.q and beach.r = dot.r
        )
    );
  end if;
  if caves then
    -- the six hexes around a cave
    dots := dots || array(
      select row(holder.label, beside.nq, beside.nr, null, 'steady')::ddp.dot
      from unnest(holders) as holder
      cross join lateral lattice.neighbours(holder.q, holder.r) as beside
      where holder.cave and holder.place is null and not holder.disrupted
    );
  end if;
  return dots;
end
$$;

comment on function ddp._fire_dots(positions.state, ddp.ground, ddp.occupant[]) is
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
  scene.ground := ddp._ground(state.map_id);
  scene.marines := array(select man from ddp._men(state, scene.ground) as man);
  scene.holders := array(select one from ddp._occupants(state, (scene.ground).spots) as one);
  scene.sites := array(select site from ddp._sites(scene) as site);
  scene.dots := ddp._fire_dots(state, scene.ground, scene.holders);
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
language plpgsql immutable
as $$
begin
  return (
    select min(lattice.distance(marine.q, marine.r, _to_marines.q, _to_marines.r))
    from ddp._marines(scene) as marine
  );
end
$$;

comment on function ddp._to_marines(ddp.scene, integer, integer) is
'Hexes to the nearest US unit; null where there is none on the map.';

create or replace function ddp._letters(conditions jsonb)
returns text[]
language plpgsql stable
as $$
begin
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
end
$$;

comment on function ddp._letters(jsonb) is
'The action letters in force (12.0, 16.0, 18.35, 20.1); all of them where no turn is told.';
