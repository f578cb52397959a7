-- needs: lattice/trace.sql, ccp/hills.sql
-- All that a ccp line of sight meets between its end hexes: 16.1 to 16.3, T81.4 to T99.
--
-- A row a thing: drawn areas, hexes taken as filled, smoke, blazes, crest lines, ground above the ends.
--
-- Exactness. Where the line enters and leaves a hex is a rational over the denominator of its
-- trace. Blown up by that denominator, those points are integers and the artwork stays on its
-- grid, so that ST_Relate of a piece of the line with an area decides without rounding.
--
-- The parts are put into one query (a row as an argument costs nothing there), so that a fan is
-- judged in one go.

drop type if exists ccp.cell cascade;
create type ccp.cell as (
  i integer,
  n integer,
  kind text,
  q integer,
  r integer,
  label text,
  terrain text,
  level integer,
  floor integer,
  enter bigint,
  leave bigint,
  den bigint,
  begun boolean,
  goes_on boolean,
  x1 bigint,
  y1 bigint,
  x2 bigint,
  y2 bigint,
  ray public.geometry
);

comment on type ccp.cell is
'A piece of a line in a hex between its ends: a hex, a side that it runs along (once for each of its hexes) or a corner.';
comment on column ccp.cell.begun is 'Whether its beginning is not on the side of the viewer''s hex, its end not on the target''s';
comment on column ccp.cell.x1 is 'Where the piece begins and ends, times den';

drop type if exists ccp.artwork cascade;
create type ccp.artwork as (
  q integer,
  r integer,
  what text,
  terrain text,
  area integer,
  value integer,
  geom public.geometry,
  covers boolean
);

comment on type ccp.artwork is
'An area or a crest line that has a part in a hex: its Hindrance or level, and whether it covers all of the hex.';

drop type if exists ccp.thing cascade;
create type ccp.thing as (
  i integer,
  n integer,
  kind text,
  q integer,
  r integer,
  label text,
  level integer,
  enter bigint,
  leave bigint,
  den bigint,
  what text,
  terrain text,
  area integer,
  value integer,
  inside boolean
);

comment on type ccp.thing is
'What a line meets in a cell, and whether more of it than the edge; null: nothing.';

drop type if exists ccp.obstacle cascade;
create type ccp.obstacle as (
  i integer,
  n integer,
  m integer,
  kind text,
  q integer,
  r integer,
  label text,
  level integer,
  enter bigint,
  leave bigint,
  den bigint,
  what text,
  terrain text,
  area integer,
  value integer,
  inside boolean,
  high integer,
  low integer,
  barrier integer,
  on_map boolean,
  place text,
  beside_lower boolean,
  past_own_level boolean,
  on_its_hill boolean
);

comment on type ccp.obstacle is
'A thing that a line meets, with what its judgement asks of the line and of its other cells.';
comment on column ccp.obstacle.m is 'Its place among the things of the cell';
comment on column ccp.obstacle.beside_lower is 'Whether it is in the hex next to the lower end (T89.4.1)';
comment on column ccp.obstacle.past_own_level is 'Whether the line passes ground as high as the lower end (ccp-33)';
comment on column ccp.obstacle.on_its_hill is 'Whether from the higher end to here all is its hill, without a break (ccp-33)';

create or replace function ccp._screens()
returns table (terrain text, hindrance integer)
language sql stable parallel safe rows 8
as $$
  select
    terrain.code,
    effect.halves / 2
  from public.terrain
  left join public.terrain_effect as effect
    on effect.ruleset = terrain.ruleset
      and effect.feature = 'terrain'
      and effect.code = terrain.code
      and effect.aspect = 'hindrance'
  where terrain.ruleset = 'ccp'
    and terrain.sight in ('blocks', 'hinders')
$$;

comment on function ccp._screens() is
'Terrain that bears on sight: a Hindrance with its number, an Obstacle without (T81.4).';

create or replace function ccp._cells(map_id bigint, viewer ccp.line_end, line ccp.line)
returns setof ccp.cell
language sql stable parallel safe rows 20
as $$
  select
    line.i,
    passed.n::integer,
    passed.kind,
    side.q,
    side.r,
    hex.label,
    hex.terrain,
    hex.level::integer,
    line.floor,
    passed.enter,
    passed.leave,
    passed.den,
    passed.enter > line.first,
    passed.leave < line.last,
    3 * viewer.q * passed.den + 3 * (line.q - viewer.q) * passed.enter,
    (2 * viewer.r + viewer.q) * passed.den + (2 * (line.r - viewer.r) + line.q - viewer.q) * passed.enter,
    3 * viewer.q * passed.den + 3 * (line.q - viewer.q) * passed.leave,
    (2 * viewer.r + viewer.q) * passed.den + (2 * (line.r - viewer.r) + line.q - viewer.q) * passed.leave,
    line.ray
  from lattice.line(viewer.q, viewer.r, line.q, line.r) as passed
  cross join lateral (values (1, passed.q1, passed.r1), (2, passed.q2, passed.r2)) as side (i, q, r)
  left join public.hex
    on hex.map_id = _cells.map_id
      and hex.q = side.q
      and hex.r = side.r
  where passed.kind in ('hex', 'spine', 'touch')
    and (side.i = 1 or passed.kind = 'spine')
$$;

comment on function ccp._cells(bigint, ccp.line_end, ccp.line) is
'The cells of a line between its end hexes; one off the map has no label.';

create or replace function ccp._artwork(map_id bigint, q integer, r integer)
returns setof ccp.artwork
language sql stable parallel safe rows 2
as $$
  select
    hex.q,
    hex.r,
    case when area.terrain = 'blaze' then 'blaze' else 'area' end,
    area.terrain,
    area.n,
    screen.hindrance,
    area.geom,
    public.st_covers(area.geom, hex.geom)
  from public.hex
  inner join public.terrain_area as area
    on area.map_id = hex.map_id
      and public.st_intersects(area.geom, hex.geom)
  inner join ccp._screens() as screen on screen.terrain = area.terrain
  where hex.map_id = _artwork.map_id
    and hex.q = _artwork.q
    and hex.r = _artwork.r
    and public.st_relate(area.geom, hex.geom, 'T********')
  union all
  select
    hex.q,
    hex.r,
    'crest',
    null,
    crest.n,
    crest.level::integer,
    crest.geom,
    false
  from public.hex
  inner join public.crest
    on crest.map_id = hex.map_id
      and public.st_intersects(crest.geom, hex.geom)
  where hex.map_id = _artwork.map_id
    and hex.q = _artwork.q
    and hex.r = _artwork.r
    and public.st_relate(crest.geom, hex.geom, 'T********')
$$;

comment on function ccp._artwork(bigint, integer, integer) is
'Areas that bear on sight, and crest lines, of which a hex has a part.';

create or replace function ccp._meeting(cell ccp.cell, artwork ccp.artwork)
returns table (inside boolean)
language sql immutable parallel safe rows 1
as $$
  select relation.matrix like '0%' or relation.matrix like '1%'
  from (
    select
      public.st_makepoint(cell.x1, cell.y1) as start,
      public.st_makepoint(cell.x2, cell.y2) as finish,
      public.st_scale(artwork.geom, cell.den, cell.den) as geom
    where not (cell.kind = 'hex' and artwork.covers)
      and public.st_intersects(artwork.geom, cell.ray)
    union all
    select
      null,
      null,
      null
    where cell.kind = 'hex'
      and artwork.covers
  ) as blown_up
  cross join lateral (
    select
      case
        when blown_up.geom is null then '1'
        when cell.kind = 'touch' then public.st_relate(blown_up.start, blown_up.geom)
        else public.st_relate(public.st_makeline(blown_up.start, blown_up.finish), blown_up.geom)
      end as matrix
    -- once for each row, not once for each use
    offset 0
  ) as relation
  where relation.matrix not like 'FF%'
    -- an end of the piece counts unless it lies on the side of an end hex
    or (
      relation.matrix not like '___FF%'
      and (
        (cell.begun and public.st_intersects(blown_up.start, blown_up.geom))
        or (cell.goes_on and public.st_intersects(blown_up.finish, blown_up.geom))
      )
    )
$$;

comment on function ccp._meeting(ccp.cell, ccp.artwork) is
'Whether a cell of a line meets artwork in its hex, and more of it than the edge (16.1); no row where it does not.';

create or replace function ccp._rises(map_id bigint, cell ccp.cell, top integer)
returns boolean
language sql stable parallel safe
return case
  -- halfway through, where no crest line is met
  when top >= cell.floor
    then ccp._high(
      row(map_id, cell.x1 + cell.x2, cell.y1 + cell.y2, 2 * cell.den)::ccp.spot,
      cell.q, cell.r, cell.level, cell.floor
    )
  else cell.level >= cell.floor
end;

comment on function ccp._rises(bigint, ccp.cell, integer) is
'Whether a cell that meets no crest line is hill to a line; `top` is the highest crest line in its hex (T89.3).';

create or replace function ccp._things(state positions.state, viewer ccp.line_end, lines ccp.line[])
returns setof ccp.thing
language sql stable parallel safe rows 500
as $$
  with cell as materialized (
    select cell.*
    from unnest(lines) as line
    cross join lateral ccp._cells(state.map_id, viewer, line) as cell
  ),
  artwork as materialized (
    select artwork.*
    from (select distinct cell.q, cell.r from cell where cell.label is not null) as ground
    cross join lateral ccp._artwork(state.map_id, ground.q, ground.r) as artwork
  ),
  -- what the artwork tells of a whole hex
  ground as materialized (
    select
      artwork.q,
      artwork.r,
      array_agg(artwork.terrain) filter (where artwork.terrain is not null) as terrains,
      max(artwork.value) filter (where artwork.what = 'crest') as top
    from artwork
    group by artwork.q, artwork.r
  ),
  drawn as materialized (
    select
      cell.i,
      cell.n,
      cell.q,
      cell.r,
      artwork.what,
      artwork.terrain,
      artwork.area,
      artwork.value,
      meeting.inside
    from cell
    inner join artwork
      on artwork.q = cell.q
        and artwork.r = cell.r
        and (artwork.what <> 'crest' or artwork.value >= cell.floor)
    cross join lateral ccp._meeting(cell::ccp.cell, artwork::ccp.artwork) as meeting
  ),
  -- what is all over a hex
  filling as (
    select cell.i, cell.n, cell.kind, cell.q, cell.r, 'fill' as what, cell.terrain, screen.hindrance as value
    from cell
    inner join ccp._screens() as screen on screen.terrain = cell.terrain and screen.terrain <> 'blaze'
    left join ground on ground.q = cell.q and ground.r = cell.r
    where (cell.terrain = any(ground.terrains)) is not true
    union all
    select cell.i, cell.n, cell.kind, cell.q, cell.r, 'hill', null, null
    from cell
    left join ground on ground.q = cell.q and ground.r = cell.r
    left join (
      select distinct drawn.i, drawn.n, drawn.q, drawn.r
      from drawn
      where drawn.what = 'crest'
    ) as crossed on crossed.i = cell.i and crossed.n = cell.n and crossed.q = cell.q and crossed.r = cell.r
    where case when crossed.i is null then ccp._rises(state.map_id, cell::ccp.cell, ground.top) end
  ),
  mark as (
    select marker.q, marker.r, marker.kind, max(marker.value)::integer as value
    from public.marker
    where marker.position_id = state.position_id
      and marker.kind in ('smoke', 'blaze')
    group by marker.q, marker.r, marker.kind
    union
    select cell.q, cell.r, 'blaze', null
    from cell
    where cell.terrain = 'blaze'
  ),
  met as (
    select i, n, q, r, what, terrain, area, value, inside from drawn
    union all
    select
      i, n, q, r, what, terrain, null, value,
      -- along a side it counts as inside where both hexes are full of it
      kind = 'hex' or (kind = 'spine' and count(*) over (partition by i, n, what, value is null) = 2)
    from filling
    union all
    select cell.i, cell.n, cell.q, cell.r, mark.kind, null, null, mark.value, cell.kind <> 'touch'
    from cell
    inner join mark on mark.q = cell.q and mark.r = cell.r
  )
  select
    cell.i,
    cell.n,
    cell.kind,
    cell.q,
    cell.r,
    cell.label,
    cell.level,
    cell.enter,
    cell.leave,
    cell.den,
    met.what,
    met.terrain,
    met.area,
    met.value,
    met.inside
  from cell
  left join met on met.i = cell.i and met.n = cell.n and met.q = cell.q and met.r = cell.r
$$;

comment on function ccp._things(positions.state, ccp.line_end, ccp.line[]) is
'All that lines meet between their end hexes, a row a thing; ground and crest lines from each line''s floor up.';

create or replace function ccp._obstacles(state positions.state, viewer ccp.line_end, lines ccp.line[])
returns setof ccp.obstacle
language sql stable parallel safe rows 500
as $$
  select
    thing.i,
    thing.n,
    (row_number() over (partition by thing.i, thing.n order by thing.q, thing.r, thing.what, thing.area))::integer,
    thing.kind,
    thing.q,
    thing.r,
    thing.label,
    thing.level,
    thing.enter,
    thing.leave,
    thing.den,
    thing.what,
    thing.terrain,
    thing.area,
    thing.value,
    thing.inside,
    line.high,
    line.low,
    line.barrier,
    bool_or(thing.label is not null) over line_cell,
    positions.side_label(min(thing.label) over line_cell, max(thing.label) over line_cell),
    case
      when line.height < viewer.height then thing.leave = line.last
      when line.height > viewer.height then thing.enter = line.first
      else false
    end,
    bool_or(thing.level = line.low and thing.kind <> 'touch') over (partition by thing.i),
    coalesce(
      case
        when line.height > viewer.height
          then bool_and(thing.level = line.high) over (
            partition by thing.i order by thing.n groups between 1 following and unbounded following
          )
        else bool_and(thing.level = line.high) over (
          partition by thing.i order by thing.n groups between unbounded preceding and 1 preceding
        )
      end,
      true
    )
  from ccp._things(state, viewer, lines) as thing
  inner join unnest(lines) as line on line.i = thing.i
  window line_cell as (partition by thing.i, thing.n)
$$;

comment on function ccp._obstacles(positions.state, ccp.line_end, ccp.line[]) is
'All that lines meet between their end hexes, each with what its judgement asks of the rest of the line.';

create or replace function ccp._way(enter bigint, leave bigint, den bigint)
returns text
language sql stable parallel safe
return case
  when enter = leave then format('at %s/%s of the way', enter / gcd(enter, den), den / gcd(enter, den))
  else format(
    'from %s/%s to %s/%s of the way',
    enter / gcd(enter, den), den / gcd(enter, den), leave / gcd(leave, den), den / gcd(leave, den)
  )
end;

comment on function ccp._way(bigint, bigint, bigint) is
'Where along the line something lies, as exact fractions of its length.';

create or replace function ccp._obstacle_name(obstacle ccp.obstacle)
returns text
language sql stable parallel safe
return format(
  '%s in %s, %s',
  case obstacle.what
    when 'area' then format('%s area %s', replace(obstacle.terrain, '_', ' '), obstacle.area)
    when 'fill' then replace(obstacle.terrain, '_', ' ')
    when 'crest' then format('crest line %s of level %s', obstacle.area, obstacle.value)
    when 'hill' then 'higher ground'
    when 'smoke' then format('smoke of %s', obstacle.value)
    else obstacle.what
  end,
  obstacle.label,
  ccp._way(obstacle.enter, obstacle.leave, obstacle.den)
);

comment on function ccp._obstacle_name(ccp.obstacle) is
'How a ruling names what a line meets: the artwork, its hex, and where along the line that is.';
