-- needs: css/mover.sql, css/los.sql, positions/place.sql
-- What a step costs in css (Guam): 6.2.1, 6.2.2, 8.8.1, 12.4.1, 16.0. Points are counted in halves.
--
-- The printed numbers are rows of `terrain_effect`; here is when they hold. `css._best_way` tells a step's parts
-- one by one, for css.move; css.reach lays the same costs out over the map.

drop type if exists css.cost cascade;
create type css.cost as (
  way text,
  rule text,
  at text,
  effect text,
  note text,
  point text,
  halves integer
);

comment on type css.cost is
'A part of what a leg costs by one way, or that it is closed or not told.';
comment on column css.cost.way is 'terrain, the kind of path that is followed, or cave';

create or replace function css._terrain_costs(mobility text, tank boolean, readings jsonb)
returns table (terrain text, rule text, effect text, note text, point text, halves integer)
language sql stable parallel safe rows 14
as $$
  select
    terrain.code,
    coalesce(cost.rule, '6.2.1'),
    says.effect,
    case
      when says.effect = 'unknown' then format('what %s costs', replace(terrain.code, '_', ' '))
      when says.effect = 'cost' and cost.source = 'printed' then replace(terrain.code, '_', ' ')
      when says.effect = 'cost' then format('%s, by the %s''s chart', replace(terrain.code, '_', ' '), cost.source)
      when cost.word is null then 'a tank support weapon does not enter swamp'
      else format('%s is closed to %s units', replace(terrain.code, '_', ' '), _terrain_costs.mobility)
    end,
    case
      when terrain.code = 'sugar_cane' then 'css-54'
      when _terrain_costs.tank and terrain.code = 'swamp' then 'css-41'
    end,
    case when says.effect = 'cost' then cost.halves end
  from public.terrain
  left join public.terrain_effect as cost
    on cost.ruleset = 'css'
      and cost.feature = 'terrain'
      and cost.aspect = 'cost'
      and cost.mobility = _terrain_costs.mobility
      -- css-54 b: sugar cane is brush
      and cost.code = case
        when terrain.code = 'sugar_cane' and readings ->> 'css-54' = 'b' then 'brush' else terrain.code
      end
  cross join lateral (
    select
      case
        when cost.id is null then 'unknown'
        when cost.word is not null then 'forbids'
        -- 6.2.1, and css-41 b: with a tank it goes wherever it could without
        when _terrain_costs.tank and terrain.code = 'swamp' and readings ->> 'css-41' = 'a' then 'forbids'
        else 'cost'
      end as effect
  ) as says
  where terrain.ruleset = 'css'
$$;

comment on function css._terrain_costs(text, boolean, jsonb) is
'What each kind of terrain costs to enter off a road, that it is closed, or that its cost is not printed.';

create or replace function css._crossings(mobility text, heavy boolean, tank boolean)
returns table (kind text, along boolean, rule text, effect text, note text, point text, halves integer)
language sql stable parallel safe rows 14
as $$
  select
    cost.code,
    way.along,
    cost.rule,
    case when says.halves is null then 'forbids' else 'cost' end,
    case
      when says.halves is null and cost.word is null
        then format('no support weapon is carried over a %s off the road', replace(cost.code, '_', ' '))
      when says.halves is null then format('a %s is not crossed here', replace(cost.code, '_', ' '))
      when way.along and says.spared then format('a %s, crossed along the road', replace(cost.code, '_', ' '))
      else format('over a %s', replace(cost.code, '_', ' '))
    end,
    case when _crossings.tank and cost.code in ('steep_slope', 'ridge') then 'css-41' end,
    says.halves
  from public.terrain_effect as cost
  cross join (values (false), (true)) as way (along)
  cross join lateral (
    select
      coalesce(cost.condition like 'not along a road%', false) as spared,
      case
        when way.along and cost.condition like 'not along a road%' then 0
        -- 6.2.2: a Support Weapon is not carried over steep slopes and ridges off a road
        when not way.along and _crossings.heavy and cost.code in ('steep_slope', 'ridge') then null
        else cost.halves
      end as halves
  ) as says
  where cost.ruleset = 'css'
    and cost.feature = 'hexside'
    and cost.aspect = 'cost'
    and cost.mobility = _crossings.mobility
$$;

comment on function css._crossings(text, boolean, boolean) is
'What each kind of hexside adds off a road and along one, or that it is not crossed.';

create or replace function css._roads(mobility text)
returns table (kind text, rule text, note text, halves integer)
language sql stable parallel safe rows 4
as $$
  select
    effect.code,
    effect.rule,
    format('along the %s', replace(effect.code, '_', ' ')),
    effect.halves
  from public.terrain_effect as effect
  where effect.ruleset = 'css'
    and effect.feature = 'path'
    and effect.aspect = 'cost'
    and effect.mobility = _roads.mobility
$$;

comment on function css._roads(text) is
'What a hex costs that is entered along each kind of path.';

create or replace function css._ground_at(
  position_id bigint, terrain text, features text[], q integer, r integer
)
returns text
language sql stable parallel safe
return case
  when exists (
    select
    from public.marker
    where marker.position_id = _ground_at.position_id
      and marker.q = _ground_at.q
      and marker.r = _ground_at.r
      and marker.kind = 'fire_cleared'
  ) then 'clear'
  else css._ground(terrain, features)
end;

comment on function css._ground_at(bigint, text, text[], integer, integer) is
'The ground of a hex in a position: a fire leaves clear ground (8.8.1), and a cave hex is rocky (6.3).';

create or replace function css._parts(mover css.mover, leg css.leg)
returns setof css.cost
language sql stable rows 6
as $$
  with place as materialized (
    select
      hex.label,
      positions.cell_label(mover.map_id, leg.q, leg.r, leg.next_q, leg.next_r) as side,
      css._ground_at(mover.position_id, hex.terrain, hex.features, hex.q, hex.r) as terrain
    from public.hex
    where hex.map_id = mover.map_id
      and hex.q = leg.next_q
      and hex.r = leg.next_r
  ),
  along as (
    select distinct path.kind
    from public.path
    cross join lateral generate_series(1, cardinality(path.qs) - 1) as link (n)
    where path.map_id = mover.map_id
      and path.qs[link.n] + path.qs[link.n + 1] = leg.q + leg.next_q
      and path.rs[link.n] + path.rs[link.n + 1] = leg.r + leg.next_r
  ),
  sides as (
    select hexside.kind
    from public.hexside
    where hexside.map_id = mover.map_id
      and hexside.x = leg.q + leg.next_q
      and hexside.y = leg.r + leg.next_r
  )
  select
    'terrain',
    cost.rule,
    place.label,
    cost.effect,
    cost.note,
    cost.point,
    cost.halves
  from place
  inner join css._terrain_costs(mover.mobility, mover.tank, mover.readings) as cost on cost.terrain = place.terrain
  union all
  select along.kind, road.rule, place.label, 'cost', road.note, null, road.halves
  from place
  cross join along
  inner join css._roads(mover.mobility) as road on road.kind = along.kind
  union all
  select way.name, cost.rule, place.side, cost.effect, cost.note, cost.point, cost.halves
  from place
  cross join sides
  cross join (select 'terrain' as name union all select along.kind from along) as way
  inner join css._crossings(mover.mobility, mover.heavy, mover.tank) as cost
    on cost.kind = sides.kind and cost.along = (way.name <> 'terrain')
$$;

comment on function css._parts(css.mover, css.leg) is
'What a leg to an adjacent hex costs, part by part, through the terrain and along each path there (6.2).';

create or replace function css._best_way(mover css.mover, leg css.leg, trail boolean)
returns setof css.cost
language sql stable rows 3
as $$
  with parts as materialized (
    select part.*
    from css._parts(mover, leg) as part
    where case
      when trail then part.way = 'trail'
      when mover.off_road then part.way = 'terrain'
      else true
    end
  ),
  best as (
    select parts.way
    from parts
    group by parts.way
    order by
      bool_or(parts.effect = 'forbids'),
      bool_or(parts.effect = 'unknown'),
      sum(parts.halves),
      -- 16.0: on a road it may be struck from the air, so that a road has to be worth it
      case when mover.tax > 0 then parts.way in ('paved_road', 'unpaved_road') else parts.way = 'terrain' end
    limit 1
  )
  select parts.*
  from parts
  inner join best on best.way = parts.way
  union all
  select
    best.way,
    '16.0',
    leg.next_label,
    'cost',
    'interdiction',
    case when mover.side = 'us' then 'css-57' end,
    mover.tax
  from best
  where mover.tax > 0
    and not exists (select from parts where parts.way = best.way and parts.effect <> 'cost')
$$;

comment on function css._best_way(css.mover, css.leg, boolean) is
'The parts of the cheapest way to take a leg: through the terrain, or along a road where there is one (6.2.1).';
