-- needs: bob/strips.sql, bob/hedgerows.sql
-- Hindering terrain in a line of sight of bob (Band of Brothers): 46.0, 46.1, 43.7.
--
-- Walls, roadblocks and dike roads are one Hindrance in all (46.1), along the thread as across
-- it. Growth counts hex by hex, by kind; along a spine the better Hindrance of the two hexes
-- counts for the target (46.0).

create or replace function bob._low_walls(
  state positions.state, strips bob.strip[], hexsides bob.hexside[]
)
returns table (mark numeric, label text, name text, level integer, beside_end boolean)
language sql stable parallel safe rows 2
as $$
  select
    hexside.mark,
    hexside.label,
    hexside.kind,
    hexside.level,
    hexside.beside_end
  from unnest(hexsides) as hexside
  where hexside.kind in ('wall', 'roadblock')
  union all
  select
    dike.mark,
    dike.label,
    'dike road',
    dike.level,
    false
  from (
    select distinct on (strip.n)
      strip.enter as mark,
      strip.label,
      strip.level
    from unnest(strips) as strip
    inner join public.path
      on path.map_id = state.map_id
        and path.kind = 'dike_road'
        and strip.label is not null
        and public.st_intersects(path.geom, lattice.center(strip.q, strip.r))
    order by strip.n, strip.level desc, strip.label, strip.enter
  ) as dike
$$;

comment on function bob._low_walls(positions.state, bob.strip[], bob.hexside[]) is
'The walls, roadblocks and dike roads that a thread meets.';

create or replace function bob._wall_steps(
  state positions.state, thread bob.thread, strips bob.strip[], hexsides bob.hexside[]
)
returns setof bob.obstacle
language sql stable parallel safe rows 2
as $$
  select
    wall.mark,
    case when wall.how <> 'counts' then '46.0' when wall.name = 'roadblock' then '43.7' else '46.1' end,
    wall.label,
    case when wall.how <> 'counts' then 'passes' when wall.nth = 1 then '1' else '0' end,
    case wall.how
      when 'end' then format('a %s of an end''s own hex is no Hindrance', wall.name)
      when 'levels' then format('a %s does not hinder between different levels', wall.name)
      when 'below' then format('a %s below both ends', wall.name)
      else format('a %s in the way; walls and dike roads are one Hindrance in all', wall.name)
    end,
    case
      when not wall.beside_end and thread.level = thread.to_level and wall.level < thread.high then 'bob-33'
    end,
    case when wall.how = 'counts' and wall.nth = 1 then 1 else 0 end
  from (
    select
      met.*,
      judged.how,
      row_number() over (partition by judged.how order by met.mark, met.label, met.name) as nth
    from bob._low_walls(state, strips, hexsides) as met
    cross join lateral (
      select
        case
          when met.beside_end then 'end'
          when thread.level <> thread.to_level then 'levels'
          when met.level < thread.high and state.readings ->> 'bob-33' = 'a' then 'below'
          else 'counts'
        end as how
    ) as judged
  ) as wall
$$;

comment on function bob._wall_steps(positions.state, bob.thread, bob.strip[], bob.hexside[]) is
'Walls, roadblocks and dike roads, of which the first hinders (46.0, 46.1, 43.7).';

drop type if exists bob.growth cascade;
create type bob.growth as (
  n integer,
  kind text,
  terrain text,
  label text,
  enter numeric,
  leave numeric,
  area integer,
  level integer,
  woods_hide boolean,
  crossed boolean
);

comment on type bob.growth is
'Growth that hinders, in one cell of a thread: grass, orchard or palm trees; crossed: the thread passes it.';

create or replace function bob._growth(state positions.state, strips bob.strip[])
returns setof bob.growth
language sql stable parallel safe rows 2
as $$
  select
    strip.n,
    strip.kind,
    strip.terrain,
    min(strip.label),
    min(strip.enter),
    max(strip.leave),
    min(strip.grass_area),
    max(strip.level),
    bool_or(strip.woods_hide),
    case
      when strip.terrain in ('orchard', 'palm_trees') then true
      when strip.terrain = 'kunai_grass' and state.readings ->> 'bob-3' <> 'a' then true
      when strip.kind = 'spine' then bool_or(strip.grass)
      else bool_or(strip.grass_on_both)
    end
  from (
    select
      beside.*,
      bool_and(beside.grass) over (partition by beside.n, beside.enter) as grass_on_both
    from unnest(strips) as beside
  ) as strip
  where strip.terrain in ('wheat_field', 'kunai_grass', 'orchard', 'palm_trees')
  group by strip.n, strip.kind, strip.terrain
$$;

comment on function bob._growth(positions.state, bob.strip[]) is
'The growth that a thread meets, a row for each cell and terrain.';

create or replace function bob._bearing(state positions.state, thread bob.thread, growth bob.growth)
returns text
language sql immutable parallel safe
return case
  when not growth.crossed then 'edge'
  when growth.terrain in ('wheat_field', 'kunai_grass') and thread.at_vehicle then 'vehicle'
  when thread.level = thread.to_level and growth.level < thread.high and state.readings ->> 'bob-33' = 'a'
    then 'below'
  when thread.level = thread.to_level then 'counts'
  when growth.terrain = 'kunai_grass' and state.readings ->> 'bob-3' = 'c' then 'counts'
  when growth.terrain in ('wheat_field', 'kunai_grass') then 'levels'
  when growth.woods_hide then 'counts'
  else 'over'
end;

comment on function bob._bearing(positions.state, bob.thread, bob.growth) is
'Whether growth counts as a Hindrance, or why not (46.0).';

create or replace function bob._growth_point(state positions.state, thread bob.thread, growth bob.growth)
returns text
language sql immutable parallel safe
return case
  when growth.terrain = 'kunai_grass'
    and (
      not growth.crossed
      or thread.level <> thread.to_level
      or growth.kind = 'spine'
      or state.readings ->> 'bob-3' <> 'a'
    )
    then 'bob-3'
  when thread.level = thread.to_level and growth.level < thread.high then 'bob-33'
end;

comment on function bob._growth_point(positions.state, bob.thread, bob.growth) is
'The contested point that growth on a thread turns on.';

create or replace function bob._hindrances(state positions.state, thread bob.thread, growths bob.growth[])
returns table (n integer, terrain text, class text, nth bigint)
language sql immutable parallel safe rows 2
as $$
  with counting as (
    select
      growth.n,
      growth.terrain,
      case growth.terrain when 'palm_trees' then 'palm' when 'orchard' then 'orchard' else 'grass' end as class
    from unnest(growths) as growth
    where bob._bearing(state, thread, growth) = 'counts'
  ),
  cell as (
    select
      counting.n,
      bool_or(counting.class = 'palm') as palm,
      bool_or(counting.class = 'orchard') as orchard,
      bool_or(counting.class = 'grass') as grass
    from counting
    group by counting.n
  ),
  -- 46.0: along a side the one that serves the target best; of grass and orchard, as they add up
  choice as (
    select pick.grass
    from (
      select
        count(*) filter (where cell.grass and not cell.palm and not cell.orchard) as grass,
        count(*) filter (where cell.orchard and not cell.palm and not cell.grass) as orchard,
        count(*) filter (where cell.grass and cell.orchard and not cell.palm) as either
      from cell
    ) as tally
    cross join lateral generate_series(0, tally.either) as pick (grass)
    order by (tally.grass + pick.grass + 1) / 2 + (tally.orchard + tally.either - pick.grass + 1) / 2 desc, pick.grass desc
    limit 1
  ),
  chosen as (
    select
      cell.n,
      case
        when cell.palm then 'palm'
        when not cell.grass then 'orchard'
        when not cell.orchard then 'grass'
        when row_number() over (partition by cell.palm, cell.grass, cell.orchard order by cell.n) <= choice.grass
          then 'grass'
        else 'orchard'
      end as class
    from cell
    cross join choice
  )
  select
    chosen.n,
    min(counting.terrain),
    chosen.class,
    row_number() over (partition by chosen.class order by chosen.n)
  from chosen
  inner join counting on counting.n = chosen.n and counting.class = chosen.class
  group by chosen.n, chosen.class
$$;

comment on function bob._hindrances(positions.state, bob.thread, bob.growth[]) is
'The growth that counts, one for each cell of a thread: of which class, and the how-manieth of it (46.0).';

create or replace function bob._growth_steps(state positions.state, thread bob.thread, growths bob.growth[])
returns setof bob.obstacle
language sql immutable parallel safe rows 2
as $$
  select
    growth.enter,
    '46.0',
    growth.label,
    case
      when counted.class = 'palm' and counted.nth > 1 then 'blocks'
      when counted.class = 'palm' or counted.nth % 2 = 1 then '1'
      when counted.class is not null then '0'
      when bearing.how = 'edge' and growth.kind = 'hex' then 'graze'
      else 'passes'
    end,
    replace(growth.terrain, '_', ' ')
    || case when counted.class is null then '' else coalesce(format(' area %s', growth.area), '') end
    || format(' in %s', growth.label)
    || case
      when counted.class = 'palm' and counted.nth > 1 then ', not the first palm trees: nothing beyond is seen, '
      when counted.class = 'palm' then ', '
      when counted.class is not null then format(', hex %s of its kind, ', counted.nth)
      when bearing.how = 'edge' then ': the thread does not cross its artwork'
      when bearing.how = 'vehicle' then ' does not hinder fire at a vehicle'
      when bearing.how = 'below' then ' lies below both ends'
      when bearing.how = 'levels' then ' does not hinder between different levels'
      when bearing.how = 'over' then ' is seen over'
      else ': the hex on the other side serves the target better'
    end
    || case when counted.class is null then '' else bob._way(growth.enter, growth.leave) end,
    bob._growth_point(state, thread, growth),
    case
      when counted.class is null then 0
      when counted.class = 'palm' then case when counted.nth = 1 then 1 else 0 end
      else (counted.nth % 2)::integer
    end
  from unnest(growths) as growth
  cross join lateral (select bob._bearing(state, thread, growth) as how) as bearing
  left join bob._hindrances(state, thread, growths) as counted
    on counted.n = growth.n and counted.terrain = growth.terrain
$$;

comment on function bob._growth_steps(positions.state, bob.thread, bob.growth[]) is
'Growth that a thread meets: what hinders, blocks, is grazed or does not count (46.0).';
