-- needs: lattice/trace.sql, positions/place.sql, positions/state.sql, rulings/step.sql
-- Line of sight in ccp (Combat Commander: Pacific): 7.2, 16, 18.3, O24.4, O24.5, T81.4 to T99, F102.2.
--
-- The string goes from centre to centre; what it touches between the two end hexes counts.
-- `ccp._met` lists all that lines from one hex to several others meet there, a row a thing:
-- drawn areas, hexes taken as filled, smoke, blazes, crest lines, ground above the ends.
-- `ccp._told` judges and tells it in words; `ccp.los` takes the rows of one line and `ccp.fan`
-- the verdicts of many, so the two cannot disagree.
--
-- Exactness. Where the line enters and leaves a hex is a rational over the denominator of its
-- trace. Blown up by that denominator, those points are integers and the artwork stays on its
-- grid, so that ST_Relate of a piece of the line with an area decides without rounding.
--
-- Ties. Touching is enough (16.1): the edge of artwork, the side of a filled hex that the line
-- runs along, the corner of one that it meets; ccp-34 reads that otherwise for all but the
-- sides of smoke and blaze hexes, which count in any case (16.2.2, 16.3.4), and for crest
-- lines, which count when met. A side or corner of an end hex belongs to that hex. Artwork in
-- several hexes has in each the level of that hex's centre dot (T89.3.1); along a side an area
-- counts for each of the two hexes that it lies in. A line off the map is blocked.
--
-- Hills. Ground in a hex is as high as the centre dot, and on the far side of a crest line that
-- a probe to the dot crosses an odd number of times it is on the other side of that level. A
-- hex without a crest line is all of its own level; where two such hexes differ, the crest line
-- is taken to run along their side and to belong to the higher one.

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

create or replace function ccp._turn(ax numeric, ay numeric, bx numeric, by numeric, px numeric, py numeric)
returns integer
language sql immutable parallel safe
return sign((bx - ax) * (py - ay) - (by - ay) * (px - ax))::integer;

comment on function ccp._turn(numeric, numeric, numeric, numeric, numeric, numeric) is
'On which side of the line from a to b the point p lies: 1, -1, or 0 on it; exact.';

create or replace function ccp._high(
  map_id bigint, q integer, r integer, dot integer, floor integer, x bigint, y bigint, den bigint
)
returns boolean
language plpgsql stable parallel safe
set plan_cache_mode = force_generic_plan
as $$
declare
  outline public.geometry := lattice.hex(_high.q, _high.r);
  edge integer;
  crossings integer;
begin
  select min(crest.level)
  into edge
  from public.crest
  where crest.map_id = _high.map_id
    and crest.level >= _high.floor
    and crest.geom operator(public.&&) outline
    and public.st_relate(crest.geom, outline, 'T********');
  -- a higher line within ground that is high enough already does not matter
  if edge is null or (_high.dot >= _high.floor and edge > _high.floor) then
    return _high.dot >= _high.floor;
  end if;
  if exists (
    select
    from public.crest
    where crest.map_id = _high.map_id
      and crest.level = edge
      and crest.geom operator(public.&&) outline
      and public.st_intersects(
        public.st_makepoint(_high.x, _high.y), public.st_scale(crest.geom, _high.den, _high.den)
      )
  ) then
    return false;
  end if;
  select count(*)
  into crossings
  from public.crest
  cross join lateral public.st_dumpsegments(crest.geom) as segment
  cross join lateral (
    select
      1024 * _high.x::numeric as px,
      1024 * _high.y::numeric as py,
      1024 * _high.den::numeric * (3 * _high.q) as cx,
      1024 * _high.den::numeric * (2 * _high.r + _high.q) as cy,
      _high.den::numeric * (1024 * public.st_x(public.st_startpoint(segment.geom)))::bigint as ux,
      _high.den::numeric * (1024 * public.st_y(public.st_startpoint(segment.geom)))::bigint as uy,
      _high.den::numeric * (1024 * public.st_x(public.st_endpoint(segment.geom)))::bigint as vx,
      _high.den::numeric * (1024 * public.st_y(public.st_endpoint(segment.geom)))::bigint as vy
    -- once for each segment, not once for each use
    offset 0
  ) as at
  where crest.map_id = _high.map_id
    and crest.level = edge
    and crest.geom operator(public.&&) outline
    and segment.geom operator(public.&&) outline
    -- a vertex on the probe counts as on its left, so that a chain through it is counted once
    and (ccp._turn(at.px, at.py, at.cx, at.cy, at.ux, at.uy) >= 0)
    <> (ccp._turn(at.px, at.py, at.cx, at.cy, at.vx, at.vy) >= 0)
    and ccp._turn(at.ux, at.uy, at.vx, at.vy, at.px, at.py)
    * ccp._turn(at.ux, at.uy, at.vx, at.vy, at.cx, at.cy) < 0;
  return (_high.dot >= _high.floor) <> (crossings % 2 = 1);
end
$$;

comment on function ccp._high(bigint, integer, integer, integer, integer, bigint, bigint, bigint) is
'Whether the ground of a hex at the point (x, y)/den is of a level or above it; on the crest line itself it is not.';

create or replace function ccp._falls(
  map_id bigint, q integer, r integer, floor integer, x bigint, y bigint, den bigint, qs integer[], rs integer[]
)
returns table (lower boolean, assumed boolean)
language sql stable parallel safe rows 1
as $$
  select
    within.low or beyond.low,
    beyond.low and not within.low and not beyond.drawn
  from (
    select not ccp._high(
      _falls.map_id, _falls.q, _falls.r, _falls.floor, _falls.floor, _falls.x, _falls.y, _falls.den
    ) as low
  ) as within
  cross join lateral (
    select
      coalesce(bool_and(not ccp._high(
        _falls.map_id, hex.q, hex.r, hex.level, _falls.floor, _falls.x, _falls.y, _falls.den
      )), false) as low,
      coalesce(bool_or(exists (
        select
        from public.crest
        where crest.map_id = _falls.map_id
          and crest.level = _falls.floor
          and public.st_intersects(crest.geom, hex.geom)
      )), false) as drawn
    from unnest(_falls.qs, _falls.rs) as next (q, r)
    inner join public.hex
      on hex.map_id = _falls.map_id
        and hex.q = next.q
        and hex.r = next.r
    where not within.low
  ) as beyond
$$;

comment on function ccp._falls(
  bigint, integer, integer, integer, bigint, bigint, bigint, integer[], integer[]
) is
'Whether a line that leaves a hex at (x, y)/den for the given hexes is below a level there (T89.3.2, F102.2.1).';

create or replace function ccp._end(position_id bigint, q integer, r integer, unit bigint)
returns table (
  label text, terrain text, level integer, height integer, aloft boolean, in_cave boolean, smoke integer
)
language sql stable parallel safe rows 1
as $$
  select
    hex.label,
    hex.terrain,
    hex.level::integer,
    -- O24.4, O24.5: an aircraft looks as if from a hill of level 5
    case when craft.aloft then 5 else hex.level::integer end,
    craft.aloft,
    -- F102.1: nobody but the Japanese is ever inside
    coalesce((unit.attributes ->> 'in_cave')::boolean and unit.side = 'japan', false),
    (
      select max(marker.value)::integer
      from public.marker
      where marker.position_id = _end.position_id
        and marker.q = _end.q
        and marker.r = _end.r
        and marker.kind = 'smoke'
    )
  from public.position
  inner join public.hex
    on hex.map_id = position.map_id
      and hex.q = _end.q
      and hex.r = _end.r
  left join public.unit on unit.id = _end.unit
  cross join lateral (
    select coalesce(unit.kind in ('aircraft', 'dive_bomber', 'fighter'), false) as aloft
  ) as craft
  where position.id = _end.position_id
$$;

comment on function ccp._end(bigint, integer, integer, bigint) is
'An end of a line: its hex, how high it looks from, whether it is inside a cave, the smoke in its hex.';

create or replace function ccp._met(
  position_id bigint, map_id bigint, aq integer, ar integer, tqs integer[], trs integer[], floors integer[]
)
returns table (
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
)
language sql stable parallel safe rows 500
as $$
  with goal as materialized (
    select
      target.i::integer as i,
      target.floor,
      public.st_makeline(lattice.center(_met.aq, _met.ar), lattice.center(target.q, target.r)) as ray,
      target.q,
      target.r,
      3 * _met.aq as x,
      2 * _met.ar + _met.aq as y,
      3 * (target.q - _met.aq) as dx,
      2 * (target.r - _met.ar) + target.q - _met.aq as dy,
      edge.first,
      edge.last
    from unnest(_met.tqs, _met.trs, _met.floors) with ordinality as target (q, r, floor, i)
    cross join lateral (
      select
        min(line.enter) as first,
        max(line.leave) as last
      from lattice.line(_met.aq, _met.ar, target.q, target.r) as line
    ) as edge
  ),
  cell as materialized (
    select
      goal.i,
      goal.floor,
      goal.ray,
      line.n::integer as n,
      line.kind,
      side.q,
      side.r,
      hex.label,
      hex.terrain,
      hex.level::integer as level,
      line.enter,
      line.leave,
      line.den,
      line.enter > goal.first as begun,
      line.leave < goal.last as goes_on,
      goal.x * line.den + goal.dx * line.enter as x1,
      goal.y * line.den + goal.dy * line.enter as y1,
      goal.x * line.den + goal.dx * line.leave as x2,
      goal.y * line.den + goal.dy * line.leave as y2
    from goal
    cross join lateral lattice.line(_met.aq, _met.ar, goal.q, goal.r) as line
    cross join lateral (values (1, line.q1, line.r1), (2, line.q2, line.r2)) as side (i, q, r)
    left join public.hex
      on hex.map_id = _met.map_id
        and hex.q = side.q
        and hex.r = side.r
    where line.kind in ('hex', 'spine', 'touch')
      and (side.i = 1 or line.kind = 'spine')
  ),
  ground as materialized (
    select distinct
      hex.q,
      hex.r,
      hex.terrain,
      hex.geom
    from cell
    inner join public.hex
      on hex.map_id = _met.map_id
        and hex.q = cell.q
        and hex.r = cell.r
  ),
  -- which artwork has a part in which hex, and whether it covers all of it
  overlap as materialized (
    select
      ground.q,
      ground.r,
      case when area.terrain = 'blaze' then 'blaze' else 'area' end as what,
      area.terrain,
      area.n as area,
      screen.hindrance as value,
      area.geom,
      public.st_covers(area.geom, ground.geom) as covers
    from ground
    inner join public.terrain_area as area
      on area.map_id = _met.map_id
        and public.st_intersects(area.geom, ground.geom)
    inner join ccp._screens() as screen on screen.terrain = area.terrain
    where public.st_relate(area.geom, ground.geom, 'T********')
    union all
    select
      ground.q,
      ground.r,
      'crest',
      null,
      crest.n,
      crest.level::integer,
      crest.geom,
      false
    from ground
    inner join public.crest
      on crest.map_id = _met.map_id
        and public.st_intersects(crest.geom, ground.geom)
    where public.st_relate(crest.geom, ground.geom, 'T********')
  ),
  drawn as materialized (
    select
      cell.i,
      cell.n,
      cell.q,
      cell.r,
      overlap.what,
      overlap.terrain,
      overlap.area,
      overlap.value,
      relation.matrix like '0%' or relation.matrix like '1%' as inside
    from cell
    inner join overlap
      on overlap.q = cell.q
        and overlap.r = cell.r
        and (overlap.what <> 'crest' or overlap.value >= cell.floor)
    cross join lateral (
      select
        public.st_makepoint(cell.x1, cell.y1) as start,
        public.st_makepoint(cell.x2, cell.y2) as finish,
        public.st_scale(overlap.geom, cell.den, cell.den) as geom
      where not (cell.kind = 'hex' and overlap.covers)
        and public.st_intersects(overlap.geom, cell.ray)
      union all
      select
        null,
        null,
        null
      where cell.kind = 'hex'
        and overlap.covers
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
  ),
  filled as (
    select
      cell.i,
      cell.n,
      cell.q,
      cell.r,
      cell.terrain,
      screen.hindrance as value,
      cell.kind = 'hex'
      or (cell.kind = 'spine' and count(*) over (partition by cell.i, cell.n, screen.hindrance is null) = 2) as inside
    from cell
    inner join ccp._screens() as screen on screen.terrain = cell.terrain and screen.terrain <> 'blaze'
    where not exists (
      select
      from overlap
      where overlap.q = cell.q
        and overlap.r = cell.r
        and overlap.terrain = cell.terrain
    )
  ),
  marked as (
    select
      cell.i,
      cell.n,
      cell.q,
      cell.r,
      marker.kind,
      max(marker.value)::integer as value,
      bool_and(cell.kind <> 'touch') as inside
    from cell
    inner join public.marker
      on marker.position_id = _met.position_id
        and marker.q = cell.q
        and marker.r = cell.r
        and marker.kind in ('smoke', 'blaze')
    group by cell.i, cell.n, cell.q, cell.r, marker.kind
    union
    select
      cell.i,
      cell.n,
      cell.q,
      cell.r,
      'blaze',
      null,
      cell.kind <> 'touch'
    from cell
    where cell.terrain = 'blaze'
  ),
  hill as (
    select
      cell.i,
      cell.n,
      cell.q,
      cell.r,
      cell.kind = 'hex' or (cell.kind = 'spine' and count(*) over (partition by cell.i, cell.n) = 2) as inside
    from cell
    left join (
      select
        overlap.q,
        overlap.r,
        max(overlap.value) as top
      from overlap
      where overlap.what = 'crest'
      group by overlap.q, overlap.r
    ) as crest
      on crest.q = cell.q
        and crest.r = cell.r
    left join (
      select distinct
        drawn.i,
        drawn.n,
        drawn.q,
        drawn.r
      from drawn
      where drawn.what = 'crest'
    ) as crossed
      on crossed.i = cell.i
        and crossed.n = cell.n
        and crossed.q = cell.q
        and crossed.r = cell.r
    where case
      when crossed.i is not null then false
      -- halfway through, where no crest line is met
      when crest.top >= cell.floor
        then ccp._high(
          _met.map_id, cell.q, cell.r, cell.level, cell.floor,
          cell.x1 + cell.x2, cell.y1 + cell.y2, 2 * cell.den
        )
      else cell.level >= cell.floor
    end
  ),
  thing as (
    select i, n, q, r, what, terrain, area, value, inside from drawn
    union all
    select i, n, q, r, 'fill', terrain, null, value, inside from filled
    union all
    select i, n, q, r, kind, null, null, value, inside from marked
    union all
    select i, n, q, r, 'hill', null, null, null, inside from hill
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
    thing.what,
    thing.terrain,
    thing.area,
    thing.value,
    thing.inside
  from cell
  left join thing
    on thing.i = cell.i
      and thing.n = cell.n
      and thing.q = cell.q
      and thing.r = cell.r
$$;

comment on function ccp._met(bigint, bigint, integer, integer, integer[], integer[], integer[]) is
'All that lines meet between their end hexes, a row a thing; ground and crest lines from each line''s floor up.';

create or replace function ccp._way(enter bigint, leave bigint, den bigint)
returns text
language sql immutable parallel safe
return case
  when enter = leave then format('at %s/%s of the way', enter / gcd(enter, den), den / gcd(enter, den))
  else format(
    'from %s/%s to %s/%s of the way',
    enter / gcd(enter, den), den / gcd(enter, den), leave / gcd(leave, den), den / gcd(leave, den)
  )
end;

comment on function ccp._way(bigint, bigint, bigint) is
'Where along the line something lies, as exact fractions of its length.';

create or replace function ccp._thing_name(
  what text, terrain text, area integer, value integer, label text, enter bigint, leave bigint, den bigint
)
returns text
language sql immutable parallel safe
return format(
  '%s in %s, %s',
  case what
    when 'area' then format('%s area %s', replace(terrain, '_', ' '), area)
    when 'fill' then replace(terrain, '_', ' ')
    when 'crest' then format('crest line %s of level %s', area, value)
    when 'hill' then 'higher ground'
    when 'smoke' then format('smoke of %s', value)
    else what
  end,
  label,
  ccp._way(enter, leave, den)
);

comment on function ccp._thing_name(text, text, integer, integer, text, bigint, bigint, bigint) is
'How a ruling names what a line meets: the artwork, its hex, and where along the line that is.';

create or replace function ccp._told(
  position_id bigint,
  aq integer,
  ar integer,
  viewer_unit bigint,
  tqs integer[],
  trs integer[],
  target_unit bigint,
  conditions jsonb,
  policy jsonb
)
returns table (
  i integer,
  stage integer,
  n integer,
  rule text,
  at text,
  effect text,
  note text,
  point text,
  range integer,
  hindrance integer
)
language sql stable rows 500
as $$
  with state as materialized (
    select
      game.map_id,
      coalesce((game.conditions ->> 'night')::boolean, false) as night,
      game.readings ->> 'ccp-7' as beside_hill,
      game.readings ->> 'ccp-33' as crest,
      game.readings ->> 'ccp-34' as graze
    from positions.state(_told.position_id, _told.conditions, _told.policy) as game
  ),
  viewer as materialized (
    select * from ccp._end(_told.position_id, _told.aq, _told.ar, _told.viewer_unit)
  ),
  goal as materialized (
    select
      wanted.i::integer as i,
      wanted.q,
      wanted.r,
      target.*,
      lattice.distance(_told.aq, _told.ar, wanted.q, wanted.r) as away,
      greatest(viewer.height, target.height) as high,
      least(viewer.height, target.height) as low,
      -- ground from here up stands in the way: above both ends, or as high as the higher (T89.3.2, T89.3.3)
      greatest(viewer.height, target.height) + case when viewer.height = target.height then 1 else 0 end as floor,
      -- Obstacles from here up bar the line (T89.4, ccp-7)
      case
        when state.beside_hill = 'b' and least(viewer.height, target.height) > 0
          then least(viewer.height, target.height)
        else greatest(viewer.height, target.height)
      end as barrier,
      edge.first,
      edge.last,
      edge.den
    from unnest(_told.tqs, _told.trs) with ordinality as wanted (q, r, i)
    cross join viewer
    cross join state
    cross join lateral ccp._end(_told.position_id, wanted.q, wanted.r, _told.target_unit) as target
    cross join lateral (
      select
        min(line.enter) as first,
        max(line.leave) as last,
        min(line.den) as den
      from lattice.line(_told.aq, _told.ar, wanted.q, wanted.r) as line
    ) as edge
  ),
  met as materialized (
    select
      met.*,
      goal.high,
      goal.low,
      goal.barrier,
      bool_or(met.label is not null) over line_cell as on_map,
      positions.side_label(min(met.label) over line_cell, max(met.label) over line_cell) as place,
      row_number() over (
        partition by met.i, met.n order by met.q, met.r, met.what, met.area
      ) as m,
      case
        when goal.height < viewer.height then met.leave = goal.last
        when goal.height > viewer.height then met.enter = goal.first
        else false
      end as beside_lower,
      bool_or(met.level = goal.low and met.kind <> 'touch') over (partition by met.i) as past_own_level,
      -- the hill of the higher end, without a break (ccp-33)
      coalesce(
        case
          when goal.height > viewer.height
            then bool_and(met.level = goal.high) over (
              partition by met.i order by met.n groups between 1 following and unbounded following
            )
          else bool_and(met.level = goal.high) over (
            partition by met.i order by met.n groups between unbounded preceding and 1 preceding
          )
        end,
        true
      ) as on_its_hill
    from state
    cross join viewer
    cross join lateral (
      select
        array_agg(goal.q order by goal.i) as tqs,
        array_agg(goal.r order by goal.i) as trs,
        array_agg(goal.floor order by goal.i) as floors
      from goal
    ) as wanted
    cross join lateral ccp._met(
      _told.position_id, state.map_id, _told.aq, _told.ar, wanted.tqs, wanted.trs, wanted.floors
    ) as met
    inner join goal on goal.i = met.i
    window line_cell as (partition by met.i, met.n)
  ),
  past as materialized (
    select
      met.i,
      bool_or(met.past_own_level and met.low > 0) as past_own_level
    from met
    group by met.i
  ),
  -- the slope at the edge of an end's own hex (T89.3.2, F102.2)
  slope as materialized (
    select
      goal.i,
      own.task,
      own.label,
      falls.lower,
      falls.assumed,
      coalesce(past.past_own_level, false) as past_own_level
    from goal
    cross join state
    cross join viewer
    left join past on past.i = goal.i
    cross join lateral (
      values
      ('cave', viewer.in_cave, true, viewer.level, viewer.label),
      ('cave', goal.in_cave, false, goal.level, goal.label),
      ('crest', viewer.height > goal.height and not viewer.aloft, true, viewer.level, viewer.label),
      ('crest', goal.height > viewer.height and not goal.aloft, false, goal.level, goal.label)
    ) as own (task, asked, at_start, level, label)
    cross join lateral (
      select
        array_agg(beyond.q) as qs,
        array_agg(beyond.r) as rs
      from (
        select
          side.q,
          side.r
        from lattice.line(_told.aq, _told.ar, goal.q, goal.r) as line
        cross join lateral (values (line.q1, line.r1), (line.q2, line.r2)) as side (q, r)
        where line.kind in ('hex', 'spine')
          and case when own.at_start then line.enter = goal.first else line.leave = goal.last end
        union
        select
          case when own.at_start then goal.q else _told.aq end,
          case when own.at_start then goal.r else _told.ar end
        where goal.away = 1
      ) as beyond
    ) as next
    cross join lateral (select case when own.at_start then goal.first else goal.last end as t) as leaves
    cross join lateral ccp._falls(
      state.map_id,
      case when own.at_start then _told.aq else goal.q end,
      case when own.at_start then _told.ar else goal.r end,
      own.level,
      3 * _told.aq * goal.den + 3 * (goal.q - _told.aq) * leaves.t,
      (2 * _told.ar + _told.aq) * goal.den + (2 * (goal.r - _told.ar) + goal.q - _told.aq) * leaves.t,
      goal.den,
      next.qs,
      next.rs
    ) as falls
    where own.asked
      and goal.away > 0
  ),
  judged as (
    select
      met.*,
      name.name,
      met.inside or met.what = 'crest' or state.graze = 'a' as touches,
      case
        when met.what in ('hill', 'crest')
          and met.high > met.low
          and met.low > 0
          and met.past_own_level
          and met.on_its_hill
          and met.level <= met.high
          and coalesce(met.value, met.level) = met.high
          then 'ccp-33'
        when met.what in ('area', 'fill') and met.value is null and met.low > 0 and met.level >= met.low
          and met.level < met.high
          then 'ccp-7'
        when not met.inside and met.what <> 'crest' then 'ccp-34'
      end as point,
      state.crest
    from met
    cross join state
    cross join lateral (
      select ccp._thing_name(met.what, met.terrain, met.area, met.value, met.label, met.enter, met.leave, met.den) as name
    ) as name
    where met.what is not null
      and met.label is not null
  ),
  ruled as materialized (
    select
      judged.*,
      case
        when not judged.touches then 'passes'
        when judged.what = 'blaze' then 'blocks'
        when judged.what = 'smoke' then judged.value::text
        when judged.what in ('hill', 'crest')
          then case when judged.point = 'ccp-33' and judged.crest = 'b' then 'passes' else 'blocks' end
        -- an Obstacle: T89.4, and the blind hex behind a lower one, T89.4.1
        when judged.value is null
          then case
            when judged.level >= judged.barrier then 'blocks'
            when judged.beside_lower and judged.level >= judged.low then 'blocks'
            else 'passes'
          end
        -- a Hindrance: T89.5
        when judged.level >= judged.high then judged.value::text
        else 'passes'
      end as effect
    from judged
  ),
  row_of as materialized (
    select
      goal.i,
      1 as stage,
      fact.n,
      fact.rule,
      fact.at,
      fact.effect,
      fact.note,
      null::text as point
    from goal
    cross join viewer
    cross join state
    cross join lateral (
      select exists (
        select
        from public.marker
        where marker.position_id = _told.position_id
          and marker.kind = 'starshell'
          and lattice.distance(marker.q, marker.r, goal.q, goal.r) <= 2
      ) as lit
    ) as light
    cross join lateral (
      values
      (
        goal.away = 0, 1, '16.1', goal.label, 'passes', 'both are in one hex, where no string is stretched'
      ),
      (
        viewer.aloft or goal.aloft, 2, 'O24.4', case when viewer.aloft then viewer.label else goal.label end,
        'passes', 'an aircraft is taken to be on a hill of level 5'
      ),
      -- T88: a gully hides from all that is neither adjacent nor higher
      (
        viewer.terrain = 'gully' and not viewer.aloft and goal.away > 0, 3, 'T88', viewer.label,
        case when goal.away = 1 or goal.height > viewer.level then 'passes' else 'blocks' end,
        case
          when goal.away = 1 then 'out of a gully an adjacent hex is seen'
          when goal.height > viewer.level then 'out of a gully higher ground is seen'
          else 'out of a gully only adjacent hexes and higher ground are seen'
        end
      ),
      (
        goal.terrain = 'gully' and not goal.aloft and goal.away > 0, 4, 'T88', goal.label,
        case when goal.away = 1 or viewer.height > goal.level then 'passes' else 'blocks' end,
        case
          when goal.away = 1 then 'a gully is seen into from an adjacent hex'
          when viewer.height > goal.level then 'a gully is seen into from above'
          else 'a gully is seen into only from adjacent hexes and higher ground'
        end
      ),
      (
        state.night and goal.away > 0, 7, case when light.lit then '7.2' else '18.3' end, goal.label,
        case when light.lit then 'passes' else goal.away::text end,
        case
          when light.lit then 'a starshell lights the target hex: night does not hinder'
          else format('night hinders by the range, %s', goal.away)
        end
      ),
      -- 16.3.4: smoke at the ends
      (
        viewer.smoke is not null and goal.away > 0, 8, '16.3.4', viewer.label, viewer.smoke::text,
        format('out of smoke of %s in %s', viewer.smoke, viewer.label)
      ),
      (
        goal.smoke is not null and goal.away > 0, 9, '16.3.4', goal.label, goal.smoke::text,
        format('into smoke of %s in %s', goal.smoke, goal.label)
      )
    ) as fact (holds, n, rule, at, effect, note)
    where fact.holds
    union all
    select
      slope.i,
      1,
      fact.n,
      fact.rule,
      slope.label,
      fact.effect,
      fact.note,
      fact.point
    from slope
    cross join state
    cross join lateral (
      values
      (
        slope.assumed, 5, 'T89.3.1', 'assumed',
        format('no crest line is drawn at %s: its hill is taken to end at its sides', slope.label), null
      ),
      (
        slope.task = 'cave', 6, 'F102.2.2', case when slope.lower then 'passes' else 'blocks' end,
        case
          when slope.lower then 'the line leaves the hex of the cave downslope'
          else 'the line leaves the hex of the cave upslope, where nobody inside sees or is seen'
        end,
        null
      ),
      (
        slope.task = 'crest' and slope.lower, 6, 'T89.3.2', 'passes',
        format('the line crosses the crest of %s before it leaves that hex', slope.label), null
      ),
      -- ccp-33: past a hill of the lower end's level
      (
        slope.task = 'crest' and not slope.lower, 6, 'T89.3.2',
        case when slope.past_own_level and state.crest = 'b' then 'passes' else 'blocks' end,
        case
          when slope.past_own_level and state.crest = 'b'
            then format('past a hill of the lower level %s is seen, though not its first Crest hex', slope.label)
          else format('the line is still on the hill of %s when it leaves that hex', slope.label)
        end,
        case when slope.past_own_level then 'ccp-33' end
      )
    ) as fact (holds, n, rule, effect, note, point)
    where fact.holds
    union all
    select
      met.i,
      2,
      100 * met.n,
      '16.1',
      met.place,
      case when met.on_map then 'graze' else 'blocks' end,
      case
        when not met.on_map then 'the line leaves the map'
        when met.kind = 'spine' then 'the line runs along this side'
        else 'the line meets this hex in a corner point only'
      end,
      null
    from met
    where met.m = 1
      and case when met.on_map then met.kind <> 'hex' else met.kind <> 'touch' end
    union all
    select
      ruled.i,
      2,
      100 * ruled.n + ruled.m::integer,
      fact.rule,
      ruled.label,
      fact.effect,
      fact.note,
      fact.point
    from ruled
    cross join lateral (
      values
      (
        true,
        case
          when not ruled.touches then '16.1'
          when ruled.what = 'blaze' then '16.2.2'
          when ruled.what = 'smoke' then '16.3.4'
          when ruled.what in ('hill', 'crest') then case when ruled.high = ruled.low then 'T89.3.3' else 'T89.3.2' end
          when ruled.value is not null then case when ruled.effect = 'passes' then 'T89.5' else '16.3' end
          when ruled.effect = 'blocks' and ruled.level < ruled.barrier then 'T89.4.1'
          when ruled.high > 0 then 'T89.4'
          else '16.2.1'
        end,
        ruled.effect,
        case
          when not ruled.touches then format('only the edge is met: %s', ruled.name)
          when ruled.what in ('hill', 'crest') then format('a hill: %s', ruled.name)
          when ruled.effect = 'passes' then format('seen over from above: %s', ruled.name)
          when ruled.what in ('area', 'fill') and ruled.value is null and ruled.level < ruled.barrier
            then format('a blind hex behind %s', ruled.name)
          else ruled.name
        end,
        ruled.point
      ),
      (
        ruled.what = 'fill' and ruled.effect <> 'passes',
        '16.1',
        'assumed',
        format('no %s is drawn in %s: it is taken as filled to its edges', replace(ruled.terrain, '_', ' '), ruled.label),
        null
      )
    ) as fact (holds, rule, effect, note, point)
    where fact.holds
  ),
  sum as (
    select
      goal.i,
      goal.label,
      goal.away,
      coalesce(bool_or(row_of.effect = 'blocks'), false) as stopped,
      coalesce(max(row_of.effect::integer) filter (where row_of.effect ~ '^[0-9]+$'), 0) as worst,
      count(*) filter (where row_of.effect ~ '^[0-9]+$') as hindrances
    from goal
    left join row_of on row_of.i = goal.i
    group by goal.i, goal.label, goal.away
  )
  select
    row_of.i,
    row_of.stage,
    row_of.n,
    row_of.rule,
    row_of.at,
    row_of.effect,
    row_of.note,
    row_of.point,
    goal.away,
    null::integer
  from row_of
  inner join goal on goal.i = row_of.i
  union all
  select
    sum.i,
    3,
    0,
    '16.3.3',
    sum.label,
    sum.worst::text,
    'of several hindrances only the largest counts',
    null,
    sum.away,
    null
  from sum
  where sum.hindrances > 1
  union all
  select
    sum.i,
    4,
    0,
    '16.1',
    sum.label,
    case when sum.stopped then 'blocked' else 'visible' end,
    case
      when sum.stopped then 'the line of sight is blocked'
      when sum.worst > 0 then format('the line of sight is hindered by %s', sum.worst)
      else 'nothing stops or hinders the line of sight'
    end,
    null,
    sum.away,
    sum.worst
  from sum
$$;

comment on function ccp._told(
  bigint, integer, integer, bigint, integer[], integer[], bigint, jsonb, jsonb
) is
'Every rule that speaks on lines from one place to several: in order of stage and n, the verdict in stage 4.';

create or replace function ccp.los(
  position_id bigint,
  "from" text,
  "to" text,
  conditions jsonb default null,
  policy jsonb default null
)
returns setof rulings.sight_step
language plpgsql stable rows 8
set plan_cache_mode = force_generic_plan
as $$
declare
  viewer record;
  target record;
begin
  select * into viewer from positions.place(los.position_id, los."from");
  select * into target from positions.place(los.position_id, los."to");
  if viewer.q is null or target.q is null then
    raise exception 'no line of sight from % to %: one of them is not on the map', los."from", los."to"
      using errcode = 'no_data_found';
  end if;
  return query
  select
    told.rule,
    null::text,
    told.at,
    told.effect,
    told.note,
    told.point,
    told.range,
    told.hindrance
  from ccp._told(
    los.position_id, viewer.q, viewer.r, viewer.unit, array[target.q], array[target.r], target.unit,
    los.conditions, los.policy
  ) as told
  order by told.stage, told.n, told.effect = 'assumed', told.rule, told.note;
end
$$;

comment on function ccp.los(bigint, text, text, jsonb, jsonb) is
'Whether one hex or unit sees another, and how hindered: a row for every rule that speaks, the verdict last.';
